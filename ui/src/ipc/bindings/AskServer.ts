export type AskServer = { graphId: string, server: string, };
