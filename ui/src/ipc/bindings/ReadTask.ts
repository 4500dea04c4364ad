export type ReadTask = { threadId: string, checkpointId: string, ns?: string, taskId: string, };
