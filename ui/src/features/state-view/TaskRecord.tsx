/** What a task read, and why its edges led where they did, taken or not. */
import { CornerDownRight, Minus } from "lucide-react";
import { nodeList, nodeName, plain } from "../../debugger/parts/format";
import { doc } from "../../document/store";
import { edgeOf } from "../../document/types";
import type { DecisionView } from "../../ipc/bindings/DecisionView";
import type { MemoryUseView } from "../../ipc/bindings/MemoryUseView";
import type { RecordedValueView } from "../../ipc/bindings/RecordedValueView";
import type { TaskRecordView } from "../../ipc/bindings/TaskRecordView";
import { bytes } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { readsText } from "../../debugger/state/provenance";

export function TaskRecord({ record }: { record: TaskRecordView }) {
  return (
    <section className="mt-1" data-testid={debugIds.taskRecord}>
      <h4 className="font-semibold text-text-2">{t("debug.decisions")}</h4>
      {record.pinned === true ? (
        <p className="text-text-2">{t("pins.task")}</p>
      ) : (
        <p className="text-text-2">{readsText(record.reads)}</p>
      )}
      <ul className="mt-1 flex flex-col gap-1.5">
        {record.decisions.map((decision, index) => (
          <Decision key={`${index} ${decision.edge ?? ""}`} decision={decision} />
        ))}
      </ul>
      {record.memory && <TaskMemory uses={record.memory} cut={record.memoryCut === true} />}
    </section>
  );
}

/** What it did with items of long-term memory, in order. */
function TaskMemory({ uses, cut }: { uses: readonly MemoryUseView[]; cut: boolean }) {
  return (
    <ul
      className="mt-1 flex flex-col gap-0.5"
      aria-label={t("debug.memory")}
      data-testid={debugIds.taskMemory}
    >
      {uses.map((use, index) => (
        <li key={index} className="wrap-anywhere" data-action={use.action}>
          {t(`debug.memory.${use.action}`, { item: [...use.namespace, use.key].join("/") })}
          {use.action !== "removed" && (
            <span className="font-mono text-text-2">
              {" "}
              {use.value === undefined ? t("debug.memory.absent") : shown(use.value)}
            </span>
          )}
        </li>
      ))}
      {cut && <li className="text-text-2">{t("debug.memory.cut")}</li>}
    </ul>
  );
}

function Decision({ decision }: { decision: DecisionView }) {
  const taken = decision.to.length > 0;
  const Mark = taken ? CornerDownRight : Minus;
  return (
    <li
      className={`rounded-sm px-2 py-1 ${taken ? "bg-accent-soft" : "bg-surface-3"}`}
      data-testid={debugIds.decision}
      data-edge={decision.edge}
      data-taken={taken}
    >
      <p className="flex items-center gap-1 font-medium">
        <Mark size={12} className="shrink-0" aria-hidden />
        {headline(decision)}
      </p>
      {decision.expression !== undefined && (
        <p className="font-mono wrap-anywhere">
          {decision.expression}
          {decision.result && (
            <>
              <span className="text-text-3"> → </span>
              <b>{shown(decision.result)}</b>
            </>
          )}
        </p>
      )}
      {decision.expression === undefined && decision.result && (
        <p className="font-mono">→ {shown(decision.result)}</p>
      )}
      {decision.conditions.map((tried) => (
        <p key={tried.label} className={`font-mono wrap-anywhere ${tried.held ? "" : "text-text-2"}`}>
          {tried.label}: {tried.expression ?? t("debug.decisions.otherwise")}
          <span className="text-text-3"> → </span>
          {String(tried.held)}
        </p>
      ))}
      {othersOf(decision).map(({ label, to }) => (
        <p key={label} className="font-mono text-text-2 wrap-anywhere" data-testid={debugIds.decisionOther}>
          {t("debug.decisions.other", { label, node: nodeName(to) })}
        </p>
      ))}
      {decision.values.map(({ key, value }) => (
        <p key={key} className="font-mono text-text-2 wrap-anywhere">
          {key} = {shown(value)}
        </p>
      ))}
      {decision.cut === true && <p className="text-text-2">{t("debug.state.moreChanges")}</p>}
    </li>
  );
}

/** The ways of a routing edge that its expression did not give, as the drawing has them now. */
function othersOf({ edge, expression, to }: DecisionView): readonly { label: string; to: string }[] {
  const record = edge === undefined || expression === undefined ? undefined : doc.get(`edge:${edge}`);
  if (record === undefined) return [];
  const { form, paths } = edgeOf(record);
  if (form !== "route") return [];
  return paths.flatMap((path) =>
    to.includes(path.to) ? [] : [{ label: path.label ?? t("debug.decisions.otherwise"), to: path.to }],
  );
}

/** The nodes that an edge of the drawing leads to, where the drawing still has it. */
function drawn(id: string): string | null {
  const record = doc.get(`edge:${id}`);
  if (record === undefined) return null;
  const { targets } = edgeOf(record);
  return targets.length === 0 ? null : nodeList(targets);
}

function headline(decision: DecisionView): string {
  const nodes = nodeList(decision.to.map(nodeName));
  if (decision.packets > 0) return t("debug.decisions.packets", { n: decision.packets, nodes });
  if (decision.to.length > 0) return t("debug.decisions.to", { nodes });
  if (decision.edge === undefined) return t("debug.decisions.node");
  return t("debug.decisions.not", { nodes: drawn(decision.edge) ?? decision.edge });
}

export const shown = (value: RecordedValueView): string =>
  value.size !== undefined
    ? bytes(value.size)
    : value.value === undefined
      ? t("debug.decisions.large")
      : plain(value.value, 200);
