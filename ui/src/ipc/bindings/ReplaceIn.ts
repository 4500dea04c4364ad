import type { MatchPlace } from "./MatchPlace";

export type ReplaceIn = { graphId?: string, path?: string, version: string, only?: Array<MatchPlace>, };
