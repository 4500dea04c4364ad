/** What an expression or a template gives with the last run's state, below its field. It never waits for typing. */
import { useEffect, useState } from "react";
import { InlineCode } from "../../components/InlineCode";
import { brief } from "../../components/schema-form/json";
import type { LiveValueProps } from "../../components/schema-form/form";
import { useRunContext } from "../../debugger/run/run-context";
import type { Evaluated } from "../../ipc/bindings/Evaluated";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { rpc } from "../../ipc/client";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { useLastState } from "./last-state";
import { isConstant, seesMore } from "./expression-text";

/** Rest after the last key before it is evaluated, and before a failure is reported. */
const PAUSE_MS = 300;
const PATIENCE_MS = 1200;
const LENGTH = 400;

export function LiveValue({ text, template, valid }: LiveValueProps) {
  const graphId = useSession((session) => session.graphId);
  const graphKey = useSession((session) => session.graphKey);
  const last = useLastState();
  const context = useRunContext((store) => (graphKey === null ? undefined : store.given[graphKey]));
  const [shown, setShown] = useState<{ readonly of: string; readonly answer: Evaluated } | null>(null);
  const [patient, setPatient] = useState(true);
  const nothing = graphId === null || text.trim() === "" || !valid || isConstant(text, template);
  useEffect(() => {
    setPatient(true);
    if (nothing) return;
    const abort = new AbortController();
    const pause = setTimeout(() => {
      rpc(
        "expression.evaluate",
        {
          graphId,
          text,
          template,
          state: last?.state ?? {},
          variables: context === undefined ? {} : { context },
          ...(last?.at && { at: last.at }),
        },
        abort.signal,
      ).then(
        (answer) => setShown({ of: text, answer }),
        () => {
          // The line is a help; without it the field works as well.
        },
      );
    }, PAUSE_MS);
    const patience = setTimeout(() => setPatient(false), PATIENCE_MS);
    return () => {
      abort.abort();
      clearTimeout(pause);
      clearTimeout(patience);
    };
  }, [nothing, graphId, text, template, last, context]);

  if (nothing) return null;
  if (shown === null) return ROOM;
  const { value, message } = shown.answer;
  if (value === undefined) {
    // Without a run or a sample the state is empty, and names beside the state have no value here.
    if (shown.of !== text || patient || last === null || seesMore(text)) return ROOM;
    return (
      <p className={LINE} data-testid={formsIds.liveValue}>
        <span className="min-w-0 line-clamp-2">
          <InlineCode text={message ?? ""} />
        </span>
        <span className="ml-auto shrink-0">{last.label}</span>
      </p>
    );
  }
  const words = wordsOf(value, template);
  return (
    <p className={LINE} data-testid={formsIds.liveValue} data-old={shown.of !== text || undefined}>
      <span className="min-w-0 font-mono truncate" title={words}>
        = {words}
      </span>
      <span className="ml-auto shrink-0">{last?.label ?? t("forms.live.defaults")}</span>
    </p>
  );
}

const LINE =
  "flex items-baseline gap-2 pt-1 px-0.5 text-2xs/[15px] text-text-3 data-old:opacity-60 select-text";

/** The line's room is kept, so that what stands below stays under the pointer. */
const ROOM = (
  <p className={LINE} aria-hidden>
    {"\u00a0"}
  </p>
);

function wordsOf(value: ValueView, template: boolean): string {
  if (value.value === undefined && value.head !== undefined) return `${value.head}…`;
  if (typeof value.value !== "string") return brief(value.value, LENGTH);
  const text = value.value.slice(0, LENGTH);
  return template ? text : JSON.stringify(text);
}
