import type { RunModels } from "./RunModels";
export type WhatIfRow = { name?: string, values?: Record<string, any>, asNode?: string, input?: any, settings?: Record<string, any>, model?: string, models?: RunModels, graph?: any };
