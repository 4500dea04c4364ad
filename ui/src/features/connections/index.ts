/** Connections to model servers. */
export { ConnectionSettings } from "./ConnectionSettings";
