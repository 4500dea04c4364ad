/** Texts about wires while they are drawn, moved, hidden: what fits, what is refused, what a line means. */
export const wires = {
  "wires.search.after": "Usual after {kind}",
  "wires.search.before": "Usual before {kind}",
  "wires.search.error": "Usual on error",
};
