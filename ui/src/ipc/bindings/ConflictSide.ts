import type { Record } from "./Record";

export type ConflictSide = { name: string, records: Array<Record>, };
