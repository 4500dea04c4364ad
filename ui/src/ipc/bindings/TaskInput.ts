import type { ValueView } from "./ValueView";
export type TaskInput = { "kind": "packet", "value": ValueView } | { "kind": "state", "value": { [key in string]: ValueView } };
