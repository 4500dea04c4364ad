/** Shows the place of a record: on the canvas, and its field in the panel that has it. */
import { sectionOf } from "../document/types";
import { useSession } from "../state/session";
import { focusEdge, focusNode } from "./actions";

export function goToRecord(record: string, pointer: string | null): void {
  const session = useSession.getState();
  if (session.use === "approve") session.setUse("design");
  const place = sectionOf(record);
  if (place?.section === "key" && session.use !== "design") session.setUse("design");
  if (place?.section === "node" || place?.section === "layout") focusNode(place.name);
  if (place?.section === "edge") focusEdge(place.name);
  session.focusField(record, pointer);
  if (place?.section === "key") session.showTab("left", "keys", "design");
  else session.showTab("right", "inspector", useSession.getState().use);
}
