/** The tests of the open graph: run one or all, see where one came out otherwise, and accept that. */
import { Ban, Circle, CircleCheck, CircleX, FlaskConical, Play, Square } from "lucide-react";
import { useEffect, useRef, type KeyboardEvent } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { helpClass } from "../../components/recipes";
import { Spinner } from "../../components/Spinner";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { askTests, useAsked } from "../../debugger/state/asked";
import type { TestDifference } from "../../ipc/bindings/TestDifference";
import type { TestEntry } from "../../ipc/bindings/TestEntry";
import { duration } from "../../lib/intl";
import { testsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { placeOf, textOf } from "./place";
import { acceptTest, loadTests, openTest, runTests, stopTests, useTests, type Outcome } from "./store";

export function TestsDialog() {
  const asked = useAsked((store) => store.tests);
  return asked ? <Tests /> : null;
}

function Tests() {
  const graphId = useSession((session) => session.graphId);
  const list = useTests((store) => store.list);
  const problem = useTests((store) => store.problem);
  const outcomes = useTests((store) => store.outcomes);
  const going = useTests((store) => store.going);
  const rows = useRef<HTMLUListElement>(null);
  useEffect(() => void loadTests(graphId), [graphId]);
  const tests = list?.tests ?? [];
  const readable = tests.filter((test) => test.error === undefined).map((test) => test.name);
  const known = tests.filter((test) => outcomes.has(test.name));
  const passed = known.filter((test) => outcomes.get(test.name)?.result?.passed === true).length;
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    const heads = [...(rows.current?.querySelectorAll<HTMLButtonElement>("[data-head]") ?? [])];
    const at = heads.indexOf(document.activeElement as HTMLButtonElement);
    heads[Math.max(0, Math.min(heads.length - 1, at + by))]?.focus();
    event.preventDefault();
  };
  return (
    <Dialog
      open
      onClose={() => askTests(false)}
      title={t("tests.title")}
      size="large"
      data-testid={testsIds.dialog}
    >
      <div className="flex h-[min(560px,calc(100vh-130px))] min-h-0 flex-col gap-2">
        {problem ? (
          <ProblemNote problem={problem} onRetry={() => void loadTests(graphId)} />
        ) : list === null ? (
          <div className="grid min-h-0 flex-1 place-items-center">
            <Spinner />
          </div>
        ) : tests.length === 0 ? (
          <EmptyState icon={<FlaskConical size={20} aria-hidden />} title={t("tests.none")}>
            {t(list.folder === undefined ? "tests.noFile" : "tests.noneText")}
          </EmptyState>
        ) : (
          <>
            <div className="flex min-h-7 items-center gap-2">
              <Button
                size="small"
                icon={<Play size={13} aria-hidden />}
                disabled={going !== null || readable.length === 0}
                focusableWhenDisabled
                onClick={() => void runTests(readable)}
                data-testid={testsIds.runAll}
              >
                {t("tests.runAll")}
              </Button>
              {going !== null && (
                <Button
                  size="small"
                  icon={<Square size={13} aria-hidden />}
                  onClick={stopTests}
                  data-testid={testsIds.stop}
                >
                  {t("tests.stop")}
                </Button>
              )}
              <span
                className="min-w-0 flex-1 truncate text-xs text-text-2"
                role="status"
                data-testid={testsIds.summary}
              >
                {going !== null
                  ? t("tests.running", { name: going.name, done: going.place, total: going.of })
                  : known.length > 0
                    ? tn("tests.summaryOne", "tests.summary", known.length, { passed })
                    : ""}
              </span>
            </div>
            <ul
              ref={rows}
              className="min-h-0 flex-1 overflow-y-auto"
              aria-label={t("tests.title")}
              onKeyDown={onKeyDown}
              data-testid={testsIds.list}
            >
              {tests.map((test) => (
                <Row
                  key={test.name}
                  test={test}
                  outcome={outcomes.get(test.name)}
                  isGoing={going?.name === test.name}
                  isBusy={going !== null}
                />
              ))}
            </ul>
          </>
        )}
      </div>
    </Dialog>
  );
}

interface RowProps {
  test: TestEntry;
  outcome: Outcome | undefined;
  isGoing: boolean;
  isBusy: boolean;
}

function Row({ test, outcome, isGoing, isBusy }: RowProps) {
  const open = useTests((store) => store.open === test.name);
  const result = outcome?.result;
  const state =
    test.error !== undefined
      ? t("tests.unreadable")
      : outcome === undefined
        ? t("tests.notRun")
        : t(result?.passed === true ? "tests.passed" : "tests.failed");
  const parts = [
    tn("tests.inputsOne", "tests.inputs", test.inputs),
    ...(test.answers > 0 ? [tn("tests.answersOne", "tests.answers", test.answers)] : []),
  ];
  return (
    <li
      className="border-b border-line"
      data-testid={testsIds.row(test.name)}
      data-state={stateOf(test, outcome)}
    >
      <div className="flex items-center gap-1 pr-1 hover:bg-surface-3">
        <button
          type="button"
          data-head
          className="flex min-h-10 min-w-0 flex-1 items-center gap-2 px-2 text-left"
          aria-expanded={open}
          onClick={() => openTest(open ? null : test.name)}
        >
          {isGoing ? <Spinner /> : <Mark test={test} outcome={outcome} />}
          <span className="min-w-0 flex-1">
            <span className="block truncate text-sm">{test.name}</span>
            <span className="block truncate text-2xs text-text-3">
              {[...(test.about === "" ? [] : [test.about]), ...(test.error === undefined ? parts : [])].join(
                " · ",
              )}
            </span>
          </span>
          <span className="shrink-0 text-2xs tabular-nums text-text-2">
            {state}
            {result !== undefined && ` · ${duration(result.millis)}`}
          </span>
        </button>
        <IconButton
          size="small"
          label={t("tests.runOne", { name: test.name })}
          disabled={isBusy || test.error !== undefined}
          onClick={() => void runTests([test.name])}
          data-testid={testsIds.runOne(test.name)}
        >
          <Play size={13} aria-hidden />
        </IconButton>
      </div>
      {open && <Why test={test} outcome={outcome} />}
    </li>
  );
}

const stateOf = (test: TestEntry, outcome: Outcome | undefined): string =>
  test.error !== undefined
    ? "unreadable"
    : outcome === undefined
      ? "unknown"
      : outcome.result?.passed === true
        ? "passed"
        : "failed";

function Mark({ test, outcome }: Pick<RowProps, "test" | "outcome">) {
  const state = stateOf(test, outcome);
  if (state === "passed") return <CircleCheck size={15} className="shrink-0 text-done" aria-hidden />;
  if (state === "failed") return <CircleX size={15} className="shrink-0 text-failed" aria-hidden />;
  if (state === "unreadable") return <Ban size={15} className="shrink-0 text-failed" aria-hidden />;
  return <Circle size={15} className="shrink-0 text-text-3" aria-hidden />;
}

/** Why a test failed: the first place that differs, and how many more there are. */
function Why({ test, outcome }: Pick<RowProps, "test" | "outcome">) {
  if (test.error !== undefined)
    return <ProblemNote problem={{ code: "invalid-request", message: test.error }} />;
  if (outcome?.problem !== undefined) return <ProblemNote problem={outcome.problem} />;
  const result = outcome?.result;
  const first = result?.differences[0];
  if (result === undefined || first === undefined) return null;
  const more = result.differences.length - 1;
  return (
    <div className="flex flex-col gap-2 px-2 pb-3">
      <Difference difference={first} />
      {more > 0 && (
        <details>
          <summary className="text-xs text-text-2">{tn("tests.moreOne", "tests.more", more)}</summary>
          <div className="mt-2 flex flex-col gap-2">
            {result.differences.slice(1).map((difference) => (
              <Difference key={difference.at} difference={difference} />
            ))}
          </div>
        </details>
      )}
      {result.acceptable ? (
        <div className="flex flex-wrap items-center gap-2">
          <Button size="small" onClick={() => void acceptTest(test.name)} data-testid={testsIds.accept}>
            {t("tests.accept")}
          </Button>
          <span className={helpClass}>{t("tests.acceptHelp")}</span>
        </div>
      ) : (
        <p className={helpClass}>{t("tests.notAcceptable")}</p>
      )}
    </div>
  );
}

function Difference({ difference }: { difference: TestDifference }) {
  const show = (node: string) => {
    askTests(false);
    useSession.getState().select({ nodes: [node] });
  };
  const value = (title: string, text: string, testId: string) => (
    <div className="min-w-0 flex-1">
      <div className="text-2xs font-semibold text-text-3">{title}</div>
      <pre
        className="select-text max-h-40 overflow-auto rounded-sm bg-surface-2 px-2 py-1 font-mono text-2xs/4 whitespace-pre-wrap wrap-anywhere"
        data-testid={testId}
      >
        {text}
      </pre>
    </div>
  );
  return (
    <div className="flex flex-col gap-1" data-testid={testsIds.difference} data-at={difference.at}>
      <div className="flex flex-wrap items-center gap-2 text-xs font-medium">
        <span className="wrap-anywhere">{placeOf(difference)}</span>
        {difference.by.map(({ node }) => (
          <Button key={node} size="small" variant="ghost" onClick={() => show(node)}>
            {t("tests.showNode", { node })}
          </Button>
        ))}
      </div>
      <div className="flex gap-2">
        {value(t("tests.expected"), textOf(difference.expected), testsIds.expected)}
        {value(t("tests.found"), textOf(difference.found), testsIds.found)}
      </div>
    </div>
  );
}
