/** Connections to model servers. */
export { ConnectionSettings } from "./ConnectionSettings";
export { ModelEditor } from "./ModelEditor";
export { PriceDialog } from "./PriceDialog";
