export type Visit = { checkpointId: string, step: number, };
