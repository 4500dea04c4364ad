/** The way of a failure: where the run goes on, or who does the work, when the last attempt of a node has failed. */
import { ArrowRight, Trash2 } from "lucide-react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import {
  inspectorEdgeNameClass,
  inspectorHeadClass,
  inspectorSentenceClass,
  sectionClass,
} from "../../components/recipes";
import { deleteThings, setField } from "../../document/edits";
import { errorEdge, errorWayOf } from "../../document/error-ways";
import { edit, sealHistory } from "../../document/edit";
import { useRecord, useDiagnosticsAtRest } from "../../document/store";
import { isObject, type Json } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { shortcutOf } from "../../state/keymap";
import { useSession } from "../../state/session";
import { nodeText } from "./describe";
import { useKeyInfos } from "./keys";
import { Fallback } from "./PolicySection";

export function ErrorWayInspector({ name }: { name: string }) {
  const recordId = `node:${name}`;
  const record = useRecord(recordId);
  const diagnostics = useDiagnosticsAtRest(recordId);
  const keys = useKeyInfos();
  const way = errorWayOf(record);
  if (!isObject(record) || way === null) return null;
  const set = (pointer: string, value: Json | undefined, what: string) =>
    edit(t("forms.edit.field", { what, name }), (document) => setField(document, recordId, pointer, value), {
      merge: `${recordId}${pointer}`,
    });
  const to = way.to === null ? "…" : nodeText(way.to);
  return (
    <div onBlur={sealHistory}>
      <section className={sectionClass}>
        <header className={inspectorHeadClass}>
          <h2 className={inspectorEdgeNameClass}>
            {name} <ArrowRight size={14} aria-label={t("forms.edge.to")} /> {to}
          </h2>
          <IconButton
            size="small"
            variant="danger"
            label={t("forms.inspector.deleteEdge")}
            shortcut={shortcutOf("edit.delete")}
            onClick={() => {
              const doomed = { edges: [errorEdge(name)] };
              if (edit(t("forms.edit.deleteEdge"), (document) => deleteThings(document, doomed)))
                useSession.getState().select({});
            }}
          >
            <Trash2 size={14} />
          </IconButton>
        </header>
        <p className={inspectorSentenceClass} data-testid={formsIds.edgeSentence}>
          {t(`forms.errorWay.says.${way.how}`, { name, to })}
        </p>
      </section>
      <section className={sectionClass}>
        <Fallback name={name} record={record} diagnostics={diagnostics} keys={keys} set={set} />
        <div>
          <Button size="small" onClick={() => useSession.getState().select({ nodes: [name] })}>
            {t("forms.errorWay.node", { name })}
          </Button>
        </div>
      </section>
    </div>
  );
}
