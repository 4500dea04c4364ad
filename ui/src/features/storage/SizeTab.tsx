/** What everything takes: totals, threads by size, and for one thread its keys and how it grew. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { TriangleAlert } from "lucide-react";
import { useRef, type KeyboardEvent } from "react";
import { EmptyState } from "../../components/EmptyState";
import { Spinner } from "../../components/Spinner";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { KeySize } from "../../ipc/bindings/KeySize";
import type { LensView } from "../../ipc/bindings/LensView";
import type { ThreadSize } from "../../ipc/bindings/ThreadSize";
import { rpc } from "../../ipc/client";
import { bytes, count } from "../../lib/intl";
import { storageIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useStorageAsked } from "../../state/storage";
import { areaOf } from "./growth-chart";
import { byOwner } from "./key-sizes";
import { useAnswer } from "../../debugger/model/useAnswer";
import { hintClass } from "../../components/recipes";
import { cx } from "../../components/cx";

const ROW = 34;

export function SizeTab() {
  const lens = useStorageAsked((asked) => asked.lens);
  const usage = useAnswer("usage", (signal) => rpc("storage.usage", { limit: 0 }, signal));
  if (usage.problem) return <ProblemNote problem={usage.problem} onRetry={usage.again} />;
  if (!usage.value) return <Spinner label={t("storage.loading")} />;
  const { threads, total, ofThreads, ofStore, free, shared } = usage.value;
  if (total === 0 && ofStore === 0) {
    return <EmptyState title={t("storage.size.none")}>{t("storage.size.noneText")}</EmptyState>;
  }
  return (
    <>
      <dl className="grid shrink-0 grid-cols-5 gap-2 [&>div]:py-2 [&>div]:px-2.5 [&>div]:rounded-md [&>div]:bg-surface-0 [&_dt]:text-2xs/inherit [&_dt]:text-text-2 [&_dd]:text-base/inherit [&_dd]:font-semibold tabular-nums">
        <Total name={t("storage.size.total")} value={bytes(usage.value.bytes)} />
        <Total name={t("storage.size.threads")} value={count(total)} />
        <Total name={t("storage.size.store")} value={bytes(ofStore)} />
        <Total name={t("storage.size.free")} value={bytes(free)} />
        <Total name={t("storage.size.shared")} value={bytes(shared)} />
      </dl>
      <div className="grid flex-1 grid-cols-[minmax(240px,1fr)_minmax(300px,1.2fr)] gap-3 min-h-0">
        <ThreadList threads={threads} more={total - threads.length} whole={ofThreads} selected={lens} />
        <div className="min-h-0 overflow-y-auto">
          {lens === null ? (
            <p className={cx(hintClass, "p-2")}>{t("storage.lens.choose")}</p>
          ) : (
            <Lens threadId={lens} />
          )}
        </div>
      </div>
    </>
  );
}

function Total({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface ListProps {
  threads: readonly ThreadSize[];
  more: number;
  whole: number;
  selected: string | null;
}

function ThreadList({ threads, more, whole, selected }: ListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: threads.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
  });
  const largest = Math.max(1, threads[0]?.bytes ?? 1);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = threads.findIndex((thread) => thread.threadId === selected);
    const to = { ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), Home: 0, End: threads.length - 1 }[
      event.key
    ];
    const next = to === undefined ? undefined : threads[to];
    if (!next) return;
    event.preventDefault();
    useStorageAsked.setState({ lens: next.threadId });
    rows.scrollToIndex(threads.indexOf(next));
  };
  return (
    <div
      ref={scroller}
      className="min-h-0 overflow-y-auto"
      role="listbox"
      tabIndex={0}
      aria-label={t("storage.size.list")}
      aria-activedescendant={selected === null ? undefined : `storage-${selected}`}
      onKeyDown={onKeyDown}
    >
      <div className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((item) => {
          const thread = threads[item.index];
          if (!thread) return null;
          return (
            <div
              key={thread.threadId}
              id={`storage-${thread.threadId}`}
              role="option"
              aria-selected={thread.threadId === selected}
              className="absolute inset-x-0 grid grid-cols-[1fr_40px_64px] items-center gap-2 px-2 rounded-md text-sm/inherit hover:bg-surface-3 aria-selected:bg-accent-soft"
              style={{ top: item.start, height: ROW }}
              data-testid={storageIds.thread}
              onClick={() => useStorageAsked.setState({ lens: thread.threadId })}
            >
              <span className="truncate" title={thread.title}>
                {thread.title}
              </span>
              <span
                className="h-1.5 rounded-[3px] [background:linear-gradient(var(--accent),var(--accent))_0_0/var(--part)_100%_no-repeat_var(--surface-4)]"
                aria-hidden
                style={{ "--part": `${(100 * thread.bytes) / largest}%` } as React.CSSProperties}
              />
              <span
                className="text-right text-xs/inherit text-text-2 tabular-nums"
                title={`${tn("storage.size.checkpointsOne", "storage.size.checkpoints", thread.checkpoints)} · ${Math.round((100 * thread.bytes) / Math.max(1, whole))} %`}
              >
                {bytes(thread.bytes)}
              </span>
            </div>
          );
        })}
      </div>
      {more > 0 && (
        <p className={cx(hintClass, "p-2")}>{tn("storage.size.moreOne", "storage.size.more", more)}</p>
      )}
    </div>
  );
}

function Lens({ threadId }: { threadId: string }) {
  const lens = useAnswer(threadId, (signal) => rpc("storage.lens", { threadId }, signal));
  if (lens.problem) return <ProblemNote problem={lens.problem} onRetry={lens.again} />;
  if (!lens.value) return <Spinner label={t("storage.loading")} />;
  const { own, engine } = byOwner(lens.value.keys);
  return (
    <>
      <p className="text-sm/inherit tabular-nums">
        <strong>{bytes(lens.value.bytes)}</strong>
        {" · "}
        {tn("storage.size.checkpointsOne", "storage.size.checkpoints", lens.value.checkpoints)}
      </p>
      <Growth lens={lens.value} />
      <table className="w-full border-collapse text-xs/inherit [&_:is(th,td)]:py-1 [&_:is(th,td)]:px-1.5 [&_:is(th,td)]:text-right [&_:is(th,td)]:font-normal [&_:is(th,td):first-child]:text-left [&_:is(th,td):first-child]:wrap-anywhere [&_thead_th]:text-text-2 [&_thead_th]:border-b [&_thead_th]:border-b-line tabular-nums">
        <caption className="sr-only">{t("storage.lens.keys")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("storage.lens.key")}</th>
            <th scope="col">{t("storage.lens.versions")}</th>
            <th scope="col">{t("storage.lens.now")}</th>
            <th scope="col">{t("storage.lens.bytes")}</th>
          </tr>
        </thead>
        <tbody>
          {own.map((key) => (
            <KeyRow key={key.key} usage={key} />
          ))}
          <EngineRow keys={engine} />
        </tbody>
      </table>
    </>
  );
}

function KeyRow({ usage }: { usage: KeySize }) {
  return (
    <>
      <tr data-testid={storageIds.key}>
        <th scope="row">
          <code>{usage.key}</code>
        </th>
        <td>{t("storage.lens.times", { n: count(usage.versions) })}</td>
        <td>{bytes(usage.now)}</td>
        <td>{bytes(usage.bytes)}</td>
      </tr>
      {usage.hint !== undefined && (
        <tr>
          <td
            colSpan={4}
            className="flex gap-1.5 pt-0! pb-2! leading-4 text-asking [&_svg]:mt-0.5 [&_svg]:shrink-0"
          >
            <TriangleAlert size={13} aria-hidden />
            <span>{t(`storage.lens.${usage.hint}`)}</span>
          </td>
        </tr>
      )}
    </>
  );
}

/** What the engine keeps for itself, in one line: there is a key for each node, and nobody can change them. */
function EngineRow({ keys }: { keys: readonly KeySize[] }) {
  if (keys.length === 0) return null;
  const sum = (part: "versions" | "now" | "bytes") => keys.reduce((all, key) => all + key[part], 0);
  return (
    <tr title={keys.map((key) => key.key).join("\n")}>
      <th scope="row" className="text-2xs/inherit text-text-3">
        {tn("storage.lens.engineOne", "storage.lens.engine", keys.length)}
      </th>
      <td>{t("storage.lens.times", { n: count(sum("versions")) })}</td>
      <td>{bytes(sum("now"))}</td>
      <td>{bytes(sum("bytes"))}</td>
    </tr>
  );
}

/** The size over the checkpoints, as an area; what each part added is in its tooltip. */
function Growth({ lens }: { lens: LensView }) {
  const { growth } = lens;
  if (growth.length < 2) return null;
  const { path, line } = areaOf(growth.map((point) => point.total));
  return (
    <figure
      className="mt-2 mb-3 [&_svg]:block [&_svg]:w-full [&_svg]:h-21 [&_svg]:rounded-md [&_svg]:bg-surface-0 [&_figcaption]:pt-1 [&_figcaption]:text-2xs/inherit [&_figcaption]:text-text-3"
      data-testid={storageIds.growth}
    >
      <svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img" aria-label={t("storage.lens.growth")}>
        <path d={path} className="fill-accent-soft" />
        <path d={line} className="fill-none stroke-accent stroke-[1.5]" vectorEffect="non-scaling-stroke" />
        {growth.map((point, index) => (
          <rect
            key={point.checkpointId}
            x={(100 * index) / growth.length}
            width={100 / growth.length}
            y={0}
            height={30}
            className="fill-transparent hover:fill-accent/18"
          >
            <title>
              {t("storage.lens.point", {
                step: point.step,
                total: bytes(point.total),
                bytes: bytes(point.bytes),
              })}
            </title>
          </rect>
        ))}
      </svg>
      <figcaption>{t("storage.lens.growth")}</figcaption>
    </figure>
  );
}
