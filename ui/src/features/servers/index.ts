/** MCP servers of a graph's project, in the forms that need them. */
export { ServerEditor } from "./ServerEditor";
export { ToolsEditor } from "./ToolsEditor";
export { useServers } from "./useServers";
