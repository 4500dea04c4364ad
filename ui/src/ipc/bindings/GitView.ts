import type { GitState } from "./GitState";
import type { Problem } from "./Problem";
import type { Record } from "./Record";

export type GitView = { state: GitState, branch?: string, commit?: string, records?: Array<Record>, problem?: Problem, };
