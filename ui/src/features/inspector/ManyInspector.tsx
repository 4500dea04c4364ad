/** Several things at once: put them in line, delete them. */
import {
  AlignCenterHorizontal,
  AlignCenterVertical,
  AlignEndHorizontal,
  AlignEndVertical,
  AlignHorizontalSpaceAround,
  AlignStartHorizontal,
  AlignStartVertical,
  AlignVerticalSpaceAround,
  Blocks,
  CircleOff,
  Frame,
  Trash2,
  Workflow,
} from "lucide-react";
import type { Arrangement } from "../../canvas/align";
import { deleteEverywhere } from "../../canvas/records";
import { align } from "../../canvas/selection-commands";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { listed } from "../../lib/intl";
import { t, tn } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { shortcutOf } from "../../state/keymap";
import { nodeText } from "./describe";
import { Exchange } from "./Exchange";
import {
  inspectorEdgeNameClass,
  inspectorSentenceClass,
  sectionClass,
  sectionTitleClass,
} from "../../components/recipes";

const WAYS: [Arrangement, typeof AlignStartVertical][] = [
  ["left", AlignStartVertical],
  ["center", AlignCenterVertical],
  ["right", AlignEndVertical],
  ["top", AlignStartHorizontal],
  ["middle", AlignCenterHorizontal],
  ["bottom", AlignEndHorizontal],
  ["across", AlignHorizontalSpaceAround],
  ["down", AlignVerticalSpaceAround],
];

const TOGETHER = [
  { id: "graph.extract", text: "structure.extract", Icon: Workflow },
  { id: "graph.saveBlock", text: "blocks.save", Icon: Blocks },
  { id: "edit.frame", text: "notes.frame", Icon: Frame },
  { id: "edit.disable", text: "disabled.toggle", Icon: CircleOff },
] as const;

export function ManyInspector({ nodes, edges }: { nodes: readonly string[]; edges: readonly string[] }) {
  const count = listed(
    [
      nodes.length > 0 && tn("forms.many.node", "forms.many.nodes", nodes.length),
      edges.length > 0 && tn("forms.many.edge", "forms.many.edges", edges.length),
    ].filter((part) => part !== false),
  );
  return (
    <div>
      <section className={sectionClass}>
        <h2 className={inspectorEdgeNameClass}>{t("forms.many.title", { count })}</h2>
        {nodes.length > 0 && (
          <p className={inspectorSentenceClass}>
            {listed(nodes.map(nodeText).slice(0, 12))}
            {nodes.length > 12 ? " …" : ""}
          </p>
        )}
      </section>
      {nodes.length === 2 && nodes[0] !== undefined && nodes[1] !== undefined && (
        <Exchange nodes={[nodes[0], nodes[1]]} />
      )}
      {nodes.length > 1 && (
        <section className={sectionClass}>
          <h3 className={sectionTitleClass}>{t("forms.many.arrange")}</h3>
          <div className="flex flex-wrap gap-1" role="group" aria-label={t("forms.many.arrange")}>
            {WAYS.map(([way, Icon]) => (
              <IconButton
                key={way}
                variant="secondary"
                label={t(`forms.many.${way}`)}
                shortcut={shortcutOf(`align.${way}`)}
                onClick={() => align(way)}
              >
                <Icon size={15} />
              </IconButton>
            ))}
          </div>
        </section>
      )}
      {nodes.length > 1 && (
        <section className={sectionClass}>
          <h3 className={sectionTitleClass}>{t("structure.together")}</h3>
          <div className="flex flex-wrap gap-2">
            {TOGETHER.map(({ id, text, Icon }) => (
              <Button
                key={id}
                icon={<Icon size={14} aria-hidden />}
                shortcut={shortcutOf(id) || undefined}
                onClick={() => runCommand(id)}
              >
                {t(text)}
              </Button>
            ))}
          </div>
        </section>
      )}
      <section className={sectionClass}>
        <div>
          <Button
            variant="danger"
            icon={<Trash2 size={14} aria-hidden />}
            shortcut={shortcutOf("edit.delete")}
            onClick={() => deleteEverywhere(t("forms.many.delete", { count }), { nodes, edges })}
          >
            {t("forms.many.delete", { count })}
          </Button>
        </div>
      </section>
    </div>
  );
}
