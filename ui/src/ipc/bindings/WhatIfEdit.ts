import type { PatchOp } from "./PatchOp";
export type WhatIfEdit = { ops: Array<PatchOp> };
