/** The query desk: moments of all threads, by words and conditions. */
export { QueryDialog } from "./QueryDialog";
