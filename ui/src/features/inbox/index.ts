/** Answering questions: the inbox of all threads, and the banner over the canvas for the selected one. */
export { AnswerBanner } from "./AnswerBanner";
export { InboxPage } from "./InboxPage";
