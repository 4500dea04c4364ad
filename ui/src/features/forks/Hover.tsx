/** What is under the pointer, beside it: what the step did and what it changed, read after a moment of rest. */
import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { plain } from "../../debugger/parts/format";
import type { ForkGraph, ForkNode } from "../../debugger/timeline/forks";
import type { KeyView } from "../../ipc/bindings/KeyView";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { rpc } from "../../ipc/client";
import { fullTime, listed } from "../../lib/intl";
import { forksIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { foldedText, labelsOf, stepText } from "./descriptions";

const REST_MS = 220;
/** Keys that are shown. */
const MOST = 6;
const WIDTH = 320;

interface Props {
  readonly threadId: string;
  readonly graph: ForkGraph;
  readonly node: ForkNode;
  /** Steps that it is folded with. */
  readonly folded: number;
  readonly x: number;
  readonly y: number;
}

function useChanges(threadId: string, checkpointId: string): readonly KeyView[] | null {
  const [changes, setChanges] = useState<{ of: string; keys: readonly KeyView[] } | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      rpc("thread.snapshot", { threadId, checkpointId }, abort.signal).then(
        ({ keys }) => setChanges({ of: checkpointId, keys: keys.filter(({ change }) => change !== "same") }),
        // What is under the pointer is shown without its values.
        () => {},
      );
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [threadId, checkpointId]);
  return changes?.of === checkpointId ? changes.keys : null;
}

const shortValue = (view: ValueView | undefined): string =>
  view === undefined ? "–" : view.value === undefined ? `${view.head ?? view.kind}…` : plain(view.value, 60);

export function Hover({ threadId, graph, node, folded, x, y }: Props) {
  const { checkpoint } = node;
  const changes = useChanges(threadId, checkpoint.id);
  const left = Math.max(8, Math.min(x + 14, window.innerWidth - WIDTH - 8));
  const above = y > window.innerHeight / 2;
  return createPortal(
    <div
      className="pointer-events-none fixed z-70 flex flex-col gap-1 rounded-lg border border-line bg-surface-2 px-2.5 py-2 text-xs text-text shadow-popup"
      style={{
        left,
        maxWidth: WIDTH,
        ...(above ? { bottom: window.innerHeight - y + 14 } : { top: y + 16 }),
      }}
      data-testid={forksIds.hover}
    >
      <p className="font-medium">{[stepText(checkpoint.step), ...labelsOf(graph, node)].join(" · ")}</p>
      <p className="text-2xs text-text-3">
        {fullTime(checkpoint.at)}
        {folded > 1 && ` · ${foldedText(folded)}`}
      </p>
      {changes === null ? (
        checkpoint.updated.length > 0 && (
          <p className="text-2xs text-text-2">
            {t("forks.item.changed", { keys: listed(checkpoint.updated) })}
          </p>
        )
      ) : changes.length === 0 ? (
        <p className="text-2xs text-text-2">{t("forks.changes.none")}</p>
      ) : (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2 text-2xs">
          {changes.slice(0, MOST).map((key) => (
            <div key={key.key} className="contents">
              <dt className="font-medium text-text-2">{key.key}</dt>
              <dd className="truncate font-mono">
                {key.change !== "added" && <span className="text-text-3">{shortValue(key.previous)} → </span>}
                {shortValue(key.value)}
              </dd>
            </div>
          ))}
          {changes.length > MOST && (
            <dt className="col-span-2 text-text-3">
              {t("forks.changes.more", { n: changes.length - MOST })}
            </dt>
          )}
        </dl>
      )}
    </div>,
    document.body,
  );
}
