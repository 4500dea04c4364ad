export type JoinWait = { came: Array<string>, missing: Array<string>, };
