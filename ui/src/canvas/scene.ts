/** The one scene of the open document. */
import { doc, useDocumentState } from "../document/store";
import type { NodeKind } from "../ipc/bindings/NodeKind";
import { useSpoken } from "../state/language";
import { useSession } from "../state/session";
import { cardsOf } from "./kinds";
import { namingKinds } from "../document/node-references";
import { Scene } from "./window";

export const scene = new Scene(doc);

const show = (known: readonly NodeKind[], shown = scene) => {
  shown.setCards(cardsOf(known));
  shown.setLeading(namingKinds(known));
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

useSpoken.subscribe(() => scene.relabel());

let { leads } = useDocumentState.getState();
useDocumentState.subscribe((state) => {
  if (state.leads === leads) return;
  ({ leads } = state);
  scene.setDynamicTargets(leads);
});

/** The open graph without what this window folds, for what leaves it. */
export function unfolded<T>(draw: (whole: Scene) => T): T {
  const whole = new Scene(doc);
  try {
    if (kinds) show(kinds, whole);
    whole.setDynamicTargets(leads);
    return draw(whole);
  } finally {
    whole.dispose();
  }
}
