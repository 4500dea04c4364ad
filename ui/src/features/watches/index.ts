/** Expressions with their value at the moment that is shown. */
export { WatchList } from "./WatchList";
