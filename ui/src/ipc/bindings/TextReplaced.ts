import type { ReplacedFile } from "./ReplacedFile";
import type { SkippedFile } from "./SkippedFile";

export type TextReplaced = { files: Array<ReplacedFile>, skipped: Array<SkippedFile>, cancelled: boolean, };
