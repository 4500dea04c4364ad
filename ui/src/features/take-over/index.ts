/** The question whether a thread is taken over from the program that runs it. */
export { TakeOverDialog } from "./TakeOverDialog";
