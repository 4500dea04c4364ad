import type { JoinWait } from "./JoinWait";
import type { Visit } from "./Visit";
export type VisitsView = { total: number, at: number, here?: Visit, previous?: Visit, next?: Visit, first?: Visit, last?: Visit, counted?: number, waits: Array<JoinWait>, };
