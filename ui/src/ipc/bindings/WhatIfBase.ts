import type { ValueView } from "./ValueView";
export type WhatIfBase = { checkpointId: string, followed: boolean, output: Record<string, ValueView> };
