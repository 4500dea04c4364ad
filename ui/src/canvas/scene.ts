/** The one scene of the open document. */
import { doc } from "../document/store";
import { useSession } from "../state/session";
import { cardsOf } from "./kinds";
import { Scene } from "./window";

export const scene = new Scene(doc);

let kinds = useSession.getState().appInfo?.kinds;
const follow = () => {
  const next = useSession.getState().appInfo?.kinds;
  if (next === kinds || !next) return;
  kinds = next;
  scene.setCards(cardsOf(next));
};
if (kinds) scene.setCards(cardsOf(kinds));
useSession.subscribe(follow);
