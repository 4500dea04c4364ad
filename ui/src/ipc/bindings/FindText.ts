import type { TextQuery } from "./TextQuery";

export type FindText = { graphId: string, query: TextQuery, everywhere: boolean, replacement?: string, work?: string, };
