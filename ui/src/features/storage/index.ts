/** What threads take, what is removed of them, and which database they are kept in. */
export { StorageDialogs } from "./StorageDialogs";
export { Working } from "./JobProgress";
