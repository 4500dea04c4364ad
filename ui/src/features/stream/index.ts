/** What comes over the stream, and the conversation. */
export { MessagesPanel } from "./MessagesPanel";
export { StreamPanel } from "./StreamPanel";
