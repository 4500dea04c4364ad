import type { Problem } from "./Problem";

export type SkippedFile = { path: string, problem: Problem, };
