export type NestedCheckpointRef = { ns: string, checkpointId: string, };
