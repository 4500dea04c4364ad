export type McpServer = { name: string, command?: string, args: Array<string>, url?: string, problem?: string, };
