/**
 * Breakpoints of the open graph: read from the session, in the shape that a run is started with. They belong to the
 * person who debugs, not to the document, so they live in the session and never dirty the file.
 */
import { useSession } from "../state/session";
import type { Breakpoint } from "./overlay-model";
