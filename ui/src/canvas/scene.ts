/** The one scene of the open document. */
import { doc, useDocumentState } from "../document/store";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { useSession } from "../state/session";
import { cardsOf } from "./kinds";
import { namingKinds } from "../document/node-references";
import { Scene } from "./window";

export const scene = new Scene(doc);

const show = (known: readonly NodeKind[]) => {
  scene.setCards(cardsOf(known));
  scene.setLeading(namingKinds(known));
};

let kinds = useSession.getState().appInfo?.kinds;
const follow = () => {
  const next = useSession.getState().appInfo?.kinds;
  if (next === kinds || !next) return;
  kinds = next;
  show(next);
};
if (kinds) show(kinds);
useSession.subscribe(follow);

let { leads } = useDocumentState.getState();
useDocumentState.subscribe((state) => {
  if (state.leads === leads) return;
  ({ leads } = state);
  scene.setDynamicTargets(leads);
});
