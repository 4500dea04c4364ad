export type SaveServer = { graphId: string, name: string, command?: string, args: Array<string>, url?: string, };
