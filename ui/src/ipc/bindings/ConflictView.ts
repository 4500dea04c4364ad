import type { ConflictSide } from "./ConflictSide";
import type { Record } from "./Record";

export type ConflictView = { ours: ConflictSide, theirs: ConflictSide, base?: Array<Record>, };
