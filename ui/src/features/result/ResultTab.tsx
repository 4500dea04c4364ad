/**
 * What a run came to, first of all: the keys that are its result as people read them, then what else it changed, and
 * which keys have no value in one line.
 */
import { BookOpen } from "lucide-react";
import { useMemo } from "react";
import { EmptyState } from "../../components/EmptyState";
import { Fold } from "../../components/Fold";
import { IconButton } from "../../components/IconButton";
import { useCheckpoints, useLive, useRuns, useThread } from "../../debugger/model/runStore";
import type { Loaded } from "../../debugger/model/snapshots";
import { lastRun } from "../../debugger/model/status";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { nodeList, plain } from "../../debugger/parts/format";
import { json } from "../../debugger/parts/Pre";
import { Summary } from "../../debugger/parts/Summary";
import { outputOf, resultKeys, shapeOf, stepsOfRun } from "../../debugger/result/result";
import { useReader } from "../../debugger/result/reader";
import { isPast } from "../../debugger/run/situation";
import { useKeyValue } from "../../debugger/state/useKeyValue";
import { useRecord } from "../../document/store";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { ResultValue } from "./ResultValue";

/** What the run did, in the author's words, at the checkpoint where it ended. */
function useRunSummary({ threadId, checkpointId }: Loaded["place"]): string | undefined {
  const run = lastRun(useThread(threadId), useLive(threadId));
  const past = useRuns((store) => isPast({ threadId, checkpointId }, store));
  return past || run?.status !== "done" ? undefined : run.summary;
}

export function ResultTab({ loaded, onState }: { loaded: Loaded; onState(): void }) {
  const { view, place } = loaded;
  const pages = useCheckpoints(place.threadId);
  const record = useRecord("doc");
  const summary = useRunSummary(place);
  const { main, also, unset } = useMemo(
    () => resultKeys(view.keys, outputOf(record), stepsOfRun(pages?.list ?? [], view.checkpoint?.id)),
    [view, record, pages],
  );
  return (
    <div className="min-h-0 flex-1 overflow-y-auto pb-4" data-testid={debugIds.result}>
      {summary !== undefined && <Summary text={summary} className="mx-3 mb-2" />}
      {main.length === 0 && (
        <EmptyState compact title={t("result.none")}>
          {t("result.noneText")}
        </EmptyState>
      )}
      {main.map((key) => (
        <ResultKey key={key.key} loaded={loaded} view={key} />
      ))}
      {also.length > 0 && (
        <p className="border-t border-line px-3 py-2 text-xs text-text-2" data-testid={debugIds.resultAlso}>
          {t("result.also")}{" "}
          {also.map((key) => (
            <button
              key={key.key}
              type="button"
              className="mr-1.5 max-w-full truncate rounded-sm align-bottom hover:bg-surface-3"
              onClick={onState}
            >
              <span className="font-mono text-text">{key.key}</span> {brief(key)}
            </button>
          ))}
        </p>
      )}
      {unset.length > 0 && (
        <div className="border-t border-line">
          <Fold
            small
            head={tn("result.unsetOne", "result.unset", unset.length)}
            data-testid={debugIds.stateUnset}
          >
            {() => (
              <p className="px-3 pb-2 pl-7 font-mono text-xs text-text-2 wrap-anywhere">
                {listed(unset.map((key) => key.key))}
              </p>
            )}
          </Fold>
        </div>
      )}
    </div>
  );
}

/** The value when it is short, otherwise how much there is. */
function brief(key: KeyView): string {
  const { value } = key;
  if (!value) return "";
  if (value.kind === "array" || value.kind === "object") return `(${value.length})`;
  return plain(value.value ?? value.head, 24);
}

function ResultKey({ loaded, view }: { loaded: Loaded; view: KeyView }) {
  const { value, loading, problem } = useKeyValue(loaded, view);
  const shape = useMemo(
    () => (value === undefined ? undefined : shapeOf(value, view.reducer)),
    [value, view.reducer],
  );
  const open = () => useReader.getState().show(loaded, view);
  return (
    <section
      className="border-t border-line px-3 pt-1 pb-3 first:border-t-0"
      aria-label={view.key}
      data-testid={debugIds.resultKey}
      data-key={view.key}
      data-shape={shape?.type}
    >
      <header className="flex h-7 items-center gap-1.5">
        <h3 className="min-w-0 shrink truncate font-mono text-xs font-semibold">{view.key}</h3>
        {view.writers.length > 0 && (
          <span className="min-w-0 shrink-[2] truncate text-2xs text-text-2">
            {t("debug.by", { nodes: nodeList(view.writers) })}
          </span>
        )}
        <span className="ml-auto inline-flex shrink-0">
          <IconButton size="small" label={t("result.open")} onClick={open} data-testid={debugIds.resultOpen}>
            <BookOpen size={14} aria-hidden />
          </IconButton>
          {value !== undefined && (
            <CopyButton
              text={() => (typeof value === "string" ? value : json(value))}
              label={t("debug.copyValue")}
            />
          )}
        </span>
      </header>
      {shape ? (
        <div className="text-sm [&_.markdown]:text-text">
          <ResultValue
            shape={shape}
            size={view.value?.bytes ?? 0}
            {...((view.value?.bytes ?? 0) > LONG && { onAll: open })}
          />
        </div>
      ) : (
        <p className="text-xs text-text-2">{problem ?? (loading ? t("debug.loading") : "")}</p>
      )}
    </section>
  );
}

/** What is longer than this is read in the reader, not in a column. */
const LONG = 6000;
