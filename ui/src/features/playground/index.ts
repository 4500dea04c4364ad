/** The prompt playground: a model's request, changed and sent again by itself. */
export { PlaygroundDialog } from "./PlaygroundDialog";
