/** Which way of a node a wire takes that was drawn from its plain port. */
import { PointMenu, type MenuEntry } from "../components/Menu";
import { doc } from "../document/store";
import { t } from "../lib/texts";
import { scene } from "./scene";
import { setCanvas, useCanvas, type Choice } from "./store";
import { waysOf } from "./ways";

function entriesOf({ node, to, choose }: Choice): MenuEntry[] {
  return [
    { id: "title", heading: t("canvas.choice.title") },
    ...waysOf(doc, node, to).flatMap(({ id, label, leaving }): MenuEntry[] => [
      ...(id === "always" ? [{ id: "line", separator: true } as const] : []),
      {
        id,
        label,
        run: () => {
          const meant = leaving(to);
          choose(meant);
          if (meant.way !== "new") return;
          // A new way has the name of where it leads until it is given another.
          const lines = doc.edgesFrom(node).flatMap((edge) => scene.linesOf(edge));
          const line = lines.find((each) => each.label === meant.label);
          if (line) setCanvas({ labelEdit: { line: line.id, what: "label" } });
        },
      },
    ]),
  ];
}

export function WaysMenu() {
  const choice = useCanvas((state) => state.choice);
  return (
    <PointMenu
      at={choice?.at ?? null}
      entries={choice ? entriesOf(choice) : []}
      onClose={() => setCanvas({ choice: null })}
    />
  );
}
