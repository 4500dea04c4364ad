/** The settings dialog, and the part of it that a form shows in place. */
export { PythonSettings } from "./PythonSettings";
export { SettingsDialog } from "./SettingsDialog";
