export type ReadVisits = { threadId: string, node: string, checkpointId?: string, tip?: string, };
