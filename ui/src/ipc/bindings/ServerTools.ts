import type { ServerTool } from "./ServerTool";
export type ServerTools = { tools: Array<ServerTool>, };
