/** What graphs may touch: asking, showing, taking back. */
export { TrustDialogs } from "./TrustDialogs";
export { TrustSettings } from "./TrustSettings";
