export type ServerTool = { name: string, description?: string, readsOnly: boolean, };
