/** How far a walk over all threads is, what it could not evaluate, and what ends it. */
import { Square } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../components/Button";
import { hintClass } from "../../components/recipes";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import { count } from "../../lib/intl";
import { queryIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import type { Walker } from "./walk";

interface Props<Row> {
  walk: Walker<Row>;
  /** What was found, in words. */
  found: string;
  onAgain(): void;
  /** The answer as text, for a report; it is given how many threads were searched. */
  text?(searched: string): string;
  children?: ReactNode;
}

export function WalkProgress<Row>({ walk, found, onAgain, text, children }: Props<Row>) {
  const { state, rows, searched, total, unknown, reason, problem } = walk.use();
  if (state === "idle" || problem) return null;
  const walked = [
    state === "done"
      ? tn("query.allOne", "query.all", total)
      : t("query.progress", { n: count(searched), total: count(total) }),
    ...(state === "stopped" ? [t("query.stopped")] : []),
    ...(state === "full" ? [t("query.full")] : []),
  ].join(" · ");
  const left = reason === null ? [] : [tn("query.unknownOne", "query.unknown", unknown)];
  return (
    <footer className="flex min-h-7 shrink-0 items-center gap-2 border-t border-line pt-2 text-xs text-text-2">
      <span
        className="min-w-0 flex-1 truncate tabular-nums"
        role="status"
        data-state={state}
        data-testid={queryIds.progress}
      >
        {found} · {walked}
      </span>
      {children}
      {reason !== null && (
        <span className={hintClass} title={reason} data-testid={queryIds.unknown}>
          {left}
        </span>
      )}
      {text && rows.length > 0 && <CopyAnswer text={() => text([walked, ...left].join(" · "))} />}
      {state === "running" ? (
        <Button
          size="small"
          icon={<Square size={12} aria-hidden />}
          onClick={walk.stop}
          data-testid={queryIds.stop}
        >
          {t("query.stop")}
        </Button>
      ) : (
        <Button size="small" variant="ghost" onClick={onAgain}>
          {t("query.again")}
        </Button>
      )}
    </footer>
  );
}
