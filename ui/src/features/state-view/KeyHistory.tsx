/** The steps that wrote a key: old and new value, the node, numbers as a line, and the first step at which a condition held. */
import { ArrowLeft, OctagonPause, SearchCheck } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { useRuns } from "../../debugger/model/runStore";
import type { Place } from "../../debugger/model/snapshots";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import { plain } from "../../debugger/parts/format";
import { asProblem } from "../../debugger/parts/problem";
import { addBreakpoint } from "../../debugger/run/breakpoint-dialog";
import { placeText } from "../../debugger/run/breakpoint-text";
import { setBreakpoint } from "../../debugger/run/breakpoints";
import {
  breakCondition,
  conditionOf,
  historyText,
  type Point,
  points,
  writerText,
} from "../../debugger/state/key-history";
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";
import type { KeyHistory as Answer } from "../../ipc/bindings/KeyHistory";
import type { KeyWrite } from "../../ipc/bindings/KeyWrite";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { rpc } from "../../ipc/client";
import { fullTime } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";

const go = (checkpointId: string) => useSession.getState().setCursor({ checkpointId });

/** Stops runs when the key is written so that the condition holds; without one the dialog asks for it. */
async function stopOn(key: string, text: string, refuse: (why: string | null) => void): Promise<void> {
  const condition = breakCondition(text);
  if (condition === "") {
    addBreakpoint({ when: "key", key });
    return;
  }
  const point: Breakpoint = {
    id: crypto.randomUUID(),
    node: "",
    enabled: true,
    when: "key",
    key,
    condition,
  };
  try {
    await rpc("breakpoint.check", { point });
  } catch (thrown) {
    refuse(asProblem(thrown).message);
    return;
  }
  refuse(null);
  setBreakpoint(point);
  showToast({ tone: "done", text: t("debug.history.stops", { place: placeText(point), condition }) });
}

export function KeyHistory({ place, name, onClose }: { place: Place; name: string; onClose(): void }) {
  const [read, setRead] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [condition, setCondition] = useState("");
  const [first, setFirst] = useState<KeyWrite | null | undefined>(undefined);
  const { threadId, checkpointId } = place;
  const head = useRuns((store) => store.checkpoints.get(threadId)?.list[0]?.id);
  const shown = useRuns((store) => store.shown?.view.checkpoint?.id);
  const asked = { threadId, key: name, limit: 0, ...(checkpointId !== null && { checkpointId }) };
  useEffect(() => {
    const abort = new AbortController();
    rpc("thread.keyHistory", asked, abort.signal).then(
      (answer) => {
        setRead(answer);
        setProblem(null);
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(thrown).message);
      },
    );
    return () => abort.abort();
    // A run that goes on writes again.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [threadId, checkpointId, name, head]);

  const older = () => {
    const last = read?.writes.at(-1);
    if (!read || !last) return;
    rpc("thread.keyHistory", { ...asked, before: last.checkpointId }).then(
      (answer) => setRead({ ...answer, writes: [...read.writes, ...answer.writes] }),
      (thrown: unknown) => setProblem(asProblem(thrown).message),
    );
  };
  const find = () => {
    const firstWhere = conditionOf(condition);
    if (firstWhere === "") return;
    rpc("thread.keyHistory", { ...asked, limit: 1, firstWhere }).then(
      (answer) => {
        setProblem(null);
        setFirst(answer.first ?? null);
        if (answer.first) go(answer.first.checkpointId);
      },
      (thrown: unknown) => {
        setFirst(undefined);
        setProblem(asProblem(thrown).message);
      },
    );
  };
  const foundText =
    first === undefined
      ? undefined
      : first
        ? t("debug.history.found", { step: first.step })
        : t("debug.history.notFound");
  return (
    <section
      className="flex min-h-0 flex-1 flex-col"
      aria-label={t("debug.history.of", { key: name })}
      data-testid={debugIds.keyHistory}
    >
      <header className="flex shrink-0 items-center gap-2 px-2 pb-2">
        <Button size="small" variant="ghost" icon={<ArrowLeft size={14} aria-hidden />} onClick={onClose}>
          {t("debug.state")}
        </Button>
        <h3 className="min-w-0 truncate font-mono text-xs font-semibold">{name}</h3>
        {read && (
          <span className="shrink-0 text-2xs text-text-2 tabular-nums">
            {tn("debug.history.writesOne", "debug.history.writes", read.total)}
          </span>
        )}
        {read && read.writes.length > 0 && (
          <span className="ml-auto">
            <CopyAnswer text={() => historyText(name, threadId, read, foundText)} />
          </span>
        )}
      </header>
      <div className="shrink-0 px-3 pb-2">
        <TextField
          mono
          value={condition}
          onChange={(next) => {
            setCondition(next);
            setFirst(undefined);
          }}
          onCommit={find}
          placeholder={t("debug.history.firstWhereExample")}
          aria-label={t("debug.history.firstWhere")}
          data-testid={debugIds.keyFirst}
          prefix={
            <span className="flex items-center gap-1 font-sans text-xs">
              <SearchCheck size={13} aria-hidden />
              {t("debug.history.firstWhere")}
            </span>
          }
        />
        <Button
          size="small"
          variant="ghost"
          className="mt-1 -ml-1"
          icon={<OctagonPause size={13} aria-hidden />}
          onClick={() => void stopOn(name, condition, setProblem)}
          data-testid={debugIds.keyStop}
        >
          {t(conditionOf(condition) === "" ? "debug.history.stop" : "debug.history.stopWhere")}
        </Button>
        {foundText !== undefined && (
          <p className="pt-1 text-xs text-text-2" role="status">
            {foundText}
          </p>
        )}
        {problem !== null && (
          <p className="pt-1 text-xs text-failed" role="alert">
            {problem}
          </p>
        )}
      </div>
      {read && <Chart drawn={points(read.writes)} shown={shown} />}
      <ul className="min-h-0 flex-1 overflow-y-auto pb-4">
        {!read && problem === null && <li className="px-3 text-xs text-text-2">{t("debug.loading")}</li>}
        {read?.writes.length === 0 && <li className="px-3 text-xs text-text-2">{t("debug.history.none")}</li>}
        {read?.writes.map((write) => (
          <Row key={write.checkpointId} write={write} shown={write.checkpointId === shown} />
        ))}
        {read?.more && (
          <li className="px-2 pt-1">
            <Button size="small" variant="ghost" onClick={older}>
              {t("debug.history.older")}
            </Button>
          </li>
        )}
      </ul>
    </section>
  );
}

const text = (view: ValueView | undefined): string =>
  view === undefined ? t("debug.state.notSet") : plain(view.value ?? view.head ?? null, 200);

function Row({ write, shown }: { write: KeyWrite; shown: boolean }) {
  return (
    <li>
      <button
        type="button"
        aria-current={shown || undefined}
        title={fullTime(write.at)}
        className="flex w-full flex-col gap-0.5 border-t border-l-2 border-line border-l-transparent px-3 py-1.5 text-left text-xs hover:bg-surface-3 aria-current:border-l-accent aria-current:bg-accent-soft"
        onClick={() => go(write.checkpointId)}
        data-testid={debugIds.keyWrite}
        data-step={write.step}
      >
        <span className="flex gap-2 text-2xs text-text-2">
          <span className="font-semibold tabular-nums">{t("debug.stepN", { n: write.step })}</span>
          <span className="min-w-0 truncate">{writerText(write)}</span>
        </span>
        <span className="line-clamp-2 wrap-anywhere">
          {write.change !== "appended" && (
            <>
              {write.before === undefined ? (
                <span className="text-text-3">{text(write.before)}</span>
              ) : (
                <del className="bg-diff-remove decoration-failed">{text(write.before)}</del>
              )}
              <span className="text-text-3"> → </span>
            </>
          )}
          <ins className="bg-diff-add no-underline">{text(write.after)}</ins>
        </span>
      </button>
    </li>
  );
}

const HEIGHT = 44;

/** Numbers as a line; the moment that is shown is the filled dot. */
function Chart({ drawn, shown }: { drawn: readonly Point[]; shown: string | undefined }) {
  if (drawn.length === 0) return null;
  const at = ({ x, y }: Point) => `${(x * 100).toFixed(2)},${(4 + y * (HEIGHT - 8)).toFixed(2)}`;
  const [low, high] = drawn.reduce(
    ([least, most], { value }) => [Math.min(least, value), Math.max(most, value)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  const here = drawn.find(({ id }) => id === shown);
  return (
    <div className="flex shrink-0 gap-2 px-3 pb-2">
      <div className="relative min-w-0 flex-1">
        <svg
          className="block h-11 w-full overflow-visible"
          viewBox={`0 0 100 ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t("debug.history.chart", { low, high })}
        >
          <polyline
            points={drawn.map(at).join(" ")}
            className="fill-none stroke-accent stroke-[1.5]"
            vectorEffect="non-scaling-stroke"
          />
        </svg>
        {here && (
          <span
            className="absolute size-2 -translate-1/2 rounded-full bg-accent"
            style={{ left: `${here.x * 100}%`, top: 4 + here.y * (HEIGHT - 8) }}
          />
        )}
      </div>
      <span className="flex flex-col justify-between text-2xs text-text-2 tabular-nums">
        <span>{high}</span>
        <span>{low}</span>
      </span>
    </div>
  );
}
