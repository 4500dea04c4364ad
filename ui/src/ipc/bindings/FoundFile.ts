import type { TextMatch } from "./TextMatch";

export type FoundFile = { path?: string, place: string, graphId?: string, name: string, version: string, matches: Array<TextMatch>, };
