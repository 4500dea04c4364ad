import type { PatchOp } from "./PatchOp";

export type ReplacedFile = { path?: string, graphId?: string, name: string, matches: number, ops: Array<PatchOp>, rev: number, };
