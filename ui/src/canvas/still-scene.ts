/** The scene of a graph that is only looked at. */
import { GraphDocument, type DocumentRecord } from "../document/document";
import { moveNodes } from "../document/edits";
import { arrange } from "./arrange";
import { cardsOf, knownKinds } from "./kinds";
import { Scene } from "./window";

/** Records as what is where; arranged when nobody has placed their nodes. */
export async function sceneOf(records: readonly DocumentRecord[]): Promise<Scene> {
  const document = new GraphDocument();
  document.reset(records);
  const scene = new Scene(document);
  scene.setCards(cardsOf(knownKinds()));
  if (document.names("layout").length === 0) document.apply(moveNodes(document, await arrange(scene)));
  return scene;
}
