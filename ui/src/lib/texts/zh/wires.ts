/** Chinese texts about wires while they are drawn, moved, hidden: what fits, what is refused, what a line means. */
import type { wires as english } from "../wires";

export const wires: Record<keyof typeof english, string> = {
  "wires.search.after": "常接在“{kind}”之后",
  "wires.search.before": "常放在“{kind}”之前",
  "wires.search.error": "常用于出错时",
};
