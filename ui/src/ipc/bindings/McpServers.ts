import type { McpServer } from "./McpServer";
export type McpServers = { file: string, servers: Array<McpServer>, };
