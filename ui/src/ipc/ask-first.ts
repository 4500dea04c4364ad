/** Asks the host the first question. To be imported before anything else: the answer comes while the rest is set up. */
import { askFirst } from "./first-question";

const query = new URLSearchParams(window.location.search);
// A bench needs no host, and a fake one is put in its place first.
if (!query.has("bench") && !query.has("fake")) askFirst();
