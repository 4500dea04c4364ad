export { HelpDialogs } from "./HelpDialogs";
