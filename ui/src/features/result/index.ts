/** The result of a run, and the reader for long values. */
export { Reader } from "./Reader";
export { ResultTab } from "./ResultTab";
