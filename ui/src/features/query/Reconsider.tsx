/** What an edge would have decided with another expression, at all its stored decisions: a draft that is kept or dropped. */
import { GitCompareArrows, X } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { ExpressionField } from "../../components/ExpressionField";
import { IconButton } from "../../components/IconButton";
import { helpClass, sectionClass, sectionTitleClass } from "../../components/recipes";
import { openMoment } from "../../debugger/run/open-moment";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { setExpression } from "../../document/edge-edits";
import { edit } from "../../document/edit";
import { useIds } from "../../document/store";
import type { ChangedDecision } from "../../ipc/bindings/ChangedDecision";
import { rpc } from "../../ipc/client";
import { count } from "../../lib/intl";
import { queryIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { ledText, reconsiderText } from "./report";
import { createWalk } from "./walk";
import { WalkProgress } from "./SearchProgress";

const walk = createWalk<ChangedDecision>();
/** Lines that are shown below the field. */
const LINES = 200;

export function Reconsider({ id, expression }: { id: string; expression: string }) {
  const [draft, setDraft] = useState<string | null>(null);
  if (draft === null)
    return (
      <section className={sectionClass}>
        <div>
          <Button
            size="small"
            icon={<GitCompareArrows size={13} aria-hidden />}
            onClick={() => setDraft(expression)}
            data-testid={queryIds.reconsider}
          >
            {t("reconsider.open")}
          </Button>
        </div>
      </section>
    );
  return <Asking id={id} expression={expression} draft={draft} onDraft={setDraft} />;
}

interface AskingProps {
  id: string;
  expression: string;
  draft: string;
  onDraft(draft: string | null): void;
}

function Asking({ id, expression, draft, onDraft }: AskingProps) {
  const graphId = useSession((session) => session.graphId);
  const names = useIds("key");
  const keys = useMemo(() => names.map((name) => ({ name, type: "", description: undefined })), [names]);
  const [asked, setAsked] = useState<string | null>(null);
  const { rows, sums, state, problem } = walk.use();
  const text = draft.trim();
  useEffect(() => {
    void walk.start(null);
    return walk.stop;
  }, []);
  const ask = () => {
    if (graphId === null || text === "") return;
    setAsked(text);
    void walk.start(async (after) => {
      const answer = await rpc("edge.reconsider", {
        graphId,
        edge: id,
        expression: text,
        limit: 0,
        ...(after !== undefined && { after }),
      });
      const { changed, progress, decisions, notRecorded } = answer;
      return { rows: changed, progress, sums: { decisions, notRecorded } };
    });
  };
  const use = () => {
    const what = t("forms.edit.field", { what: t("reconsider.expression"), name: t("forms.edit.theEdge") });
    if (edit(what, (document) => setExpression(document, id, text))) onDraft(null);
  };
  const { decisions = 0, notRecorded = 0 } = sums;
  const threads = new Set(rows.map(({ threadId }) => threadId)).size;
  const isAnswered = asked === text && state !== "idle" && !problem;
  const answer =
    decisions === 0 && state === "done"
      ? t("reconsider.none")
      : t("reconsider.answer", {
          n: count(rows.length),
          all: count(decisions),
          threads: tn("reconsider.thread", "reconsider.threads", threads),
        });
  const left =
    notRecorded > 0 ? [tn("reconsider.notRecordedOne", "reconsider.notRecorded", notRecorded)] : [];
  return (
    <section className={sectionClass} data-testid={queryIds.reconsiderPanel}>
      <div className={sectionTitleClass}>
        <h3>{t("reconsider.title")}</h3>
        <IconButton size="small" label={t("reconsider.close")} onClick={() => onDraft(null)}>
          <X size={13} aria-hidden />
        </IconButton>
      </div>
      <p className={helpClass}>{t("reconsider.help")}</p>
      <ExpressionField
        autoFocus
        value={draft}
        onChange={onDraft}
        onCommit={ask}
        keys={keys}
        tellsUnknownKeys
        aria-label={t("reconsider.expression")}
        data-testid={queryIds.reconsiderField}
      />
      <div className="flex flex-wrap gap-2">
        <Button size="small" onClick={ask} disabled={text === ""} data-testid={queryIds.reconsiderAsk}>
          {t("reconsider.ask")}
        </Button>
        <Button
          size="small"
          variant="primary"
          onClick={use}
          disabled={text === "" || text === expression.trim()}
          data-testid={queryIds.reconsiderUse}
        >
          {t("reconsider.use")}
        </Button>
      </div>
      {problem && <ProblemNote problem={problem} onRetry={ask} />}
      {isAnswered && (
        <p className="text-sm font-semibold" role="status" data-testid={queryIds.reconsiderAnswer}>
          {answer}
        </p>
      )}
      {isAnswered && left.length > 0 && <p className={helpClass}>{left}</p>}
      {isAnswered && rows.length > 0 && (
        <ul className="max-h-72 overflow-y-auto" aria-label={t("reconsider.changed")}>
          {rows.slice(0, LINES).map((row) => (
            <li key={`${row.threadId} ${row.checkpointId}`}>
              <button
                type="button"
                className="flex w-full flex-col rounded-md px-2 py-1 text-left text-xs hover:bg-surface-3"
                onClick={() => void openMoment({ threadId: row.threadId, checkpointId: row.checkpointId })}
                data-testid={queryIds.decision}
              >
                <span className="flex gap-2">
                  <span className="min-w-0 flex-1 truncate font-medium">{row.title}</span>
                  <span className="shrink-0 text-text-2 tabular-nums">
                    {t("debug.stepN", { n: row.step })}
                  </span>
                </span>
                <span className="truncate text-2xs text-text-2">
                  <del className="decoration-failed">{ledText(row.was)}</del> → {ledText(row.now)}
                </span>
              </button>
            </li>
          ))}
          {rows.length > LINES && (
            <li className="px-2 text-2xs text-text-3">{t("reconsider.more", { n: rows.length - LINES })}</li>
          )}
        </ul>
      )}
      {isAnswered && (
        <WalkProgress
          walk={walk}
          found={tn("reconsider.decision", "reconsider.decisions", decisions)}
          onAgain={ask}
          text={(searched) =>
            reconsiderText(
              { edge: id, was: expression, draft: text, answer: [answer, ...left, searched] },
              rows,
            )
          }
        />
      )}
    </section>
  );
}
