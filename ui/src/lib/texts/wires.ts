/** Texts about wires while they are drawn, moved, hidden: what fits, what is refused, what a line means. */
export const wires = {
  "wires.search.after": "Usual after {kind}",
  "wires.search.before": "Usual before {kind}",
  "wires.search.error": "Usual on error",
  "wires.refused.into-start": "Nothing leads to Start",
  "wires.refused.into-start.text": "Every run begins there. Drop the wire on another node.",
  "wires.refused.from-end": "Nothing leads on from End",
  "wires.refused.from-end.text": "Every run is over there. Drop the wire on another node.",
  "wires.refused.start-end": "Start cannot lead to End directly",
  "wires.refused.start-end.text": "Add a node between them.",
  "wires.refused.note": "{node} is a note",
  "wires.refused.note.text": "Runs do not come to notes. Drop the wire on a node.",
  "wires.refused.exists": "{from} leads to {to} already",
  "wires.refused.exists.text": "One edge is enough. To follow it under a condition only, change that edge.",
  "wires.refused.own-error": "{from} cannot handle its own error",
  "wires.refused.own-error.text":
    "Drop the wire on another node. To try again, use Retry on failure in its settings.",
};
