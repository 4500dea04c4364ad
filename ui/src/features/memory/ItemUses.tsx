/** Below an item of long-term memory: what it was at the moment that the debugger shows, and the steps that used it. */
import { Button } from "../../components/Button";
import { Spinner } from "../../components/Spinner";
import { useRuns } from "../../debugger/model/runStore";
import { nodeName, plain } from "../../debugger/parts/format";
import { openMoment } from "../../debugger/run/open-moment";
import { runForm } from "../../debugger/run/run-form";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { ItemUse } from "../../ipc/bindings/ItemUse";
import type { ItemView } from "../../ipc/bindings/ItemView";
import type { RecordedValueView } from "../../ipc/bindings/RecordedValueView";
import { bytes, fullTime } from "../../lib/intl";
import { memoryIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { itemAt, useUses } from "./uses";

interface Props {
  readonly item: ItemView;
  /** A step was opened. */
  onOpened(): void;
}

export function ItemUses({ item, onOpened }: Props) {
  const read = useUses(item.namespace, item.key);
  const { uses, busy, more } = read;
  return (
    <section className="flex flex-col gap-1.5 border-t border-line pt-2" aria-label={t("memory.uses")}>
      <AtMoment item={item} uses={uses} busy={busy} />
      <h3 className="flex items-center gap-2 text-xs font-semibold">
        {t("memory.uses")}
        {busy && <Spinner label={t("memory.uses.reading")} />}
      </h3>
      {read.problem && <ProblemNote problem={read.problem} />}
      {!busy && !read.problem && uses.length === 0 && (
        <p className="text-xs text-text-2">
          {tn("memory.uses.noneOne", "memory.uses.none", read.searched)} {t("memory.uses.since")}
        </p>
      )}
      <ul className="flex flex-col" data-testid={memoryIds.uses}>
        {uses.map((use) => (
          <li key={`${use.taskId} ${use.action} ${use.at}`}>
            <Use use={use} onOpened={onOpened} />
          </li>
        ))}
      </ul>
      {more && !busy && (
        <Button size="small" variant="ghost" onClick={read.readMore}>
          {t("memory.uses.more")}
        </Button>
      )}
    </section>
  );
}

function Use({ use, onOpened }: { use: ItemUse; onOpened(): void }) {
  return (
    <button
      type="button"
      className="flex w-full flex-col gap-0.5 rounded-sm px-2 py-1 text-left text-xs hover:bg-surface-3"
      title={fullTime(use.at)}
      onClick={() => {
        onOpened();
        const taskId = use.within.length === 0 ? use.taskId : null;
        runForm.close();
        useSession.getState().showTab("right", "state", "debug");
        void openMoment({ threadId: use.threadId, checkpointId: use.checkpointId, taskId });
      }}
      data-testid={memoryIds.use}
      data-action={use.action}
    >
      <span className="flex min-w-0 items-baseline gap-x-2">
        <span className={use.action === "written" || use.action === "removed" ? "font-semibold" : ""}>
          {t(`memory.uses.${use.action}`, { node: [...use.within, use.node].map(nodeName).join(" › ") })}
        </span>
        <span className="tabular-nums text-2xs text-text-2">{t("debug.stepN", { n: use.step })}</span>
        <span className="ml-auto min-w-0 truncate text-2xs text-text-3">{use.title}</span>
      </span>
      {use.action !== "removed" && (
        <code className="truncate text-2xs text-text-2">{recorded(use.value)}</code>
      )}
    </button>
  );
}

/** A value as a step has recorded it. */
function recorded(value: RecordedValueView | undefined): string {
  if (value === undefined) return t("memory.uses.absent");
  if (value.value !== undefined) return plain(value.value, 200);
  return value.size === undefined
    ? t("memory.uses.huge")
    : t("memory.uses.large", { size: bytes(value.size), hash: (value.hash ?? "").slice(0, 8) });
}

/** What the item was when the moment that the debugger shows came to be. */
function AtMoment({ item, uses, busy }: { item: ItemView; uses: readonly ItemUse[]; busy: boolean }) {
  const moment = useRuns((store) => store.shown?.view.checkpoint);
  if (moment === undefined || moment === null) return null;
  const known = itemAt(item, uses, moment.at);
  if (known.kind !== "same" && busy) return null;
  return (
    <div
      className="rounded-sm bg-surface-3 px-2 py-1.5 text-xs"
      data-testid={memoryIds.atMoment}
      data-known={known.kind}
    >
      <p className="text-text-2" title={fullTime(moment.at)}>
        {t("memory.at", { n: moment.step })}
      </p>
      {known.kind === "same" && <p>{t("memory.at.same")}</p>}
      {known.kind === "unknown" && <p>{t("memory.at.unknown")}</p>}
      {known.kind === "use" && (
        <>
          <code className="wrap-anywhere">
            {known.use.action === "removed" ? t("memory.uses.absent") : recorded(known.use.value)}
          </code>
          <p className="text-text-2">
            {t(`memory.at.${known.use.action}`, {
              node: nodeName(known.use.node),
              when: fullTime(known.use.at),
            })}
          </p>
        </>
      )}
    </div>
  );
}
