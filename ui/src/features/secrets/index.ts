/** Secrets: named values that graphs refer to, entered where a node needs them. */
export { SecretDialog } from "./SecretDialog";
export { SecretNameEditor } from "./SecretNameEditor";
export { SecretSettings } from "./SecretSettings";
export { SecretsOfText } from "./SecretsOfText";
