import type { FoundFile } from "./FoundFile";
import type { SkippedFile } from "./SkippedFile";

export type TextFound = { files: Array<FoundFile>, searched: number, skipped: Array<SkippedFile>, cut: boolean, cancelled: boolean, };
