import type { ReplaceIn } from "./ReplaceIn";
import type { TextQuery } from "./TextQuery";

export type ReplaceText = { query: TextQuery, replacement: string, files: Array<ReplaceIn>, work?: string, };
