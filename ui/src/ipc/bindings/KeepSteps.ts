
export type KeepSteps = { graphId: string, rev: number, steps: any, };
