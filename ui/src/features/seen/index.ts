/** Threads of a LangGraph program: opening them on a server, finding them on a graph of our own, copying them. */
export { SeenDialogs } from "./SeenDialogs";
