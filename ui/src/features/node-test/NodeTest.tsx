/**
 * Runs one node by itself, with the state of the checkpoint that is shown or with values that are typed here. Nothing of
 * it is kept; what the node does outside of the graph it really does.
 */
import { BookOpen, FlaskConical, Square } from "lucide-react";
import { memo, useCallback, useEffect, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { Menu } from "../../components/Menu";
import type { Json } from "../../components/schema-form/json";
import type { Schema } from "../../components/schema-form/schema";
import { SchemaForm } from "../../components/schema-form/SchemaForm";
import { Spinner } from "../../components/Spinner";
import { Switch } from "../../components/Switch";
import { AskedForm } from "../../debugger/answers/AskedForm";
import { isObject } from "../../debugger/parts/diff";
import { Exchanges } from "../../debugger/exchanges/Exchanges";
import { Pre } from "../../debugger/parts/Pre";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { contextFor } from "../../debugger/run/run-context";
import { RunContext } from "../../debugger/run/RunContext";
import { inputSchema, samplesOf } from "../../debugger/run/run-input";
import { chosenModels, useRunModels } from "../../debugger/run/run-models";
import { RunModelsFold } from "../../debugger/run/RunModels";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { StatusMark, statusText } from "../../debugger/parts/StatusMark";
import { doc, useDocumentPart } from "../../document/store";
import { nodeOf } from "../../document/types";
import type { NodeTested } from "../../ipc/bindings/NodeTested";
import { rpc } from "../../ipc/client";
import { duration } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { useTestAsked } from "../../state/node-test";
import { trusted } from "../../state/trust";
import { mentioned, useTestStates } from "./test-states";
import { TaskOutcome } from "./TaskOutcome";

export const NodeTest = memo(function NodeTest({ nodeId }: { nodeId: string }) {
  const box = useRef<HTMLDetailsElement>(null);
  // What it needs is drawn when it is first opened, and kept then: what came of a test stays.
  const [opened, setOpened] = useState(false);
  // Asked for from the head of the inspector, which may be screens away.
  const asked = useTestAsked((store) => store.node === nodeId);
  useEffect(() => {
    if (!asked || !box.current) return;
    if (!opened) {
      setOpened(true);
      return;
    }
    box.current.open = true;
    box.current.scrollIntoView({ block: "start" });
    box.current.querySelector("summary")?.focus({ preventScroll: true });
    useTestAsked.setState({ node: null });
  }, [asked, opened]);
  return (
    <details
      ref={box}
      className="node-test"
      data-testid={debugIds.nodeTest}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) setOpened(true);
      }}
    >
      <summary className="text-xs font-semibold text-text-2">{t("debug.test")}</summary>
      {opened && <Test nodeId={nodeId} />}
    </details>
  );
});

function Test({ nodeId }: { nodeId: string }) {
  const graphId = useSession((session) => session.graphId);
  const graphKey = useSession((session) => session.graphKey) ?? "";
  const cursor = useSession((session) => session.cursor);
  const place = `${graphKey}\n${nodeId}`;
  const state = useTestStates((kept) => kept.states[place]);
  const keep = useTestStates((kept) => kept.keep);
  const [fromCheckpoint, setFromCheckpoint] = useState(true);
  const [all, setAll] = useState(false);
  const [valid, setValid] = useState(true);
  const [contextValid, setContextValid] = useState(true);
  const [tested, setTested] = useState<NodeTested | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [answers, setAnswers] = useState<readonly unknown[]>([]);
  const [running, setRunning] = useState<string | null>(null);
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);

  const read = useCallback(() => {
    const keys = doc.names("key").map((name) => {
      const value = doc.get(`key:${name}`);
      return [name, isObject(value) ? value : {}] as const;
    });
    const names = keys.map(([name]) => name);
    const uses = mentioned(nodeOf(doc.get(`node:${nodeId}`)).config, names);
    const first = all || uses.length === 0 ? names : uses;
    return {
      schema: inputSchema(keys, first),
      hidden: names.length - first.length,
      samples: samplesOf(doc.head),
    };
  }, [nodeId, all]);
  const { schema, hidden, samples } = useDocumentPart(read);

  if (graphId === null) return null;
  const onThread = cursor.threadId !== null;
  // As the run form has it: of the thread whose state it takes, or of the next one.
  const modelsOf = fromCheckpoint ? cursor.threadId : null;
  const test = async (given: readonly unknown[]) => {
    const work = `test-${crypto.randomUUID()}`;
    setRunning(work);
    const models = chosenModels(useRunModels.getState(), graphKey, modelsOf);
    setProblem(null);
    try {
      const answer = await trusted(() =>
        rpc("node.test", {
          graphId,
          node: nodeId,
          state: state ?? {},
          answers: [...given],
          work,
          ...contextFor(doc.head, graphKey),
          ...(models && { models }),
          ...(fromCheckpoint && cursor.threadId !== null
            ? {
                at: {
                  threadId: cursor.threadId,
                  ...(cursor.checkpointId === null ? {} : { checkpointId: cursor.checkpointId }),
                },
              }
            : {}),
        }),
      );
      if (!alive.current) return;
      setTested(answer);
      setAnswers(given);
    } catch (thrown) {
      if (!alive.current) return;
      setTested(null);
      setProblem(asProblem(thrown));
    } finally {
      if (alive.current) setRunning(null);
    }
  };

  return (
    <div className="mt-2 flex flex-col gap-2">
      <p className="text-xs text-text-2">{t("debug.test.help")}</p>
      {onThread && (
        <label className="flex items-center justify-between gap-2 text-sm">
          {t("debug.test.fromCheckpoint")}
          <Switch
            checked={fromCheckpoint}
            onChange={setFromCheckpoint}
            aria-label={t("debug.test.fromCheckpoint")}
          />
        </label>
      )}
      <SchemaForm
        schema={schema as Schema}
        value={(state ?? {}) as Json}
        onChange={(next) => keep(place, isObject(next) ? next : {})}
        onValidity={setValid}
        title={
          samples.length > 0 ? (
            <Menu
              trigger={
                <Button size="small" variant="ghost" icon={<BookOpen size={13} aria-hidden />}>
                  {t("debug.test.samples")}
                </Button>
              }
              entries={samples.map((sample, index) => ({
                id: `sample-${index}`,
                label: sample.name,
                run: () => {
                  setFromCheckpoint(false);
                  setAll(true);
                  keep(place, sample.input);
                },
              }))}
            />
          ) : onThread && fromCheckpoint ? (
            t("debug.test.instead")
          ) : (
            t("debug.test.state")
          )
        }
      />
      {hidden > 0 && (
        <Button size="small" variant="ghost" onClick={() => setAll(true)}>
          {tn("debug.input.moreOne", "debug.input.more", hidden)}
        </Button>
      )}
      <RunContext onValidity={setContextValid} />
      <RunModelsFold threadId={modelsOf} nodeId={nodeId} />
      {running === null ? (
        <Button
          icon={<FlaskConical size={14} />}
          disabled={!valid || !contextValid}
          onClick={() => void test([])}
          data-testid={debugIds.nodeTestRun}
        >
          {t("debug.test.run")}
        </Button>
      ) : (
        <div className="flex items-center justify-between gap-2 text-sm">
          <Spinner label={t("debug.test.running")} />
          <Button
            size="small"
            icon={<Square size={12} />}
            onClick={() => void rpc("work.cancel", { work: running })}
          >
            {t("debug.test.stop")}
          </Button>
        </div>
      )}
      {problem && <ProblemNote problem={problem} />}
      {tested && (
        <Outcome
          key={answers.length}
          tested={tested}
          busy={running !== null}
          onAnswer={async (answer) => {
            await test([...answers, answer]);
            return null;
          }}
        />
      )}
    </div>
  );
}

function Outcome({
  tested,
  busy,
  onAnswer,
}: {
  tested: NodeTested;
  busy: boolean;
  onAnswer(answer: unknown): Promise<ShownProblem | null>;
}) {
  const { task } = tested;
  return (
    <div data-testid={debugIds.nodeTestResult} aria-live="polite">
      <p className="tabular-nums flex items-center gap-2 text-sm">
        <StatusMark status={task.status} size={14} />
        {statusText(task.status)}
        {task.millis !== undefined && <span className="text-text-2">{duration(task.millis)}</span>}
      </p>
      {tested.text !== "" && (
        <>
          <div className="mt-2 text-xs text-text-2">{t("debug.test.said")}</div>
          <Pre height="short" tone="plain" prose>
            {tested.text}
          </Pre>
        </>
      )}
      {tested.emitted.length > 0 && (
        <>
          <div className="mt-2 text-xs text-text-2">{t("debug.test.emitted")}</div>
          <Pre height="short" tone="plain">
            {tested.emitted.map((value) => (isLog(value) ? value.log : JSON.stringify(value))).join("\n")}
            {tested.more > 0 && `\n${t("debug.test.more", { n: tested.more })}`}
          </Pre>
        </>
      )}
      <TaskOutcome task={task} />
      <Exchanges exchanges={tested.exchanges} />
      {tested.asked !== undefined && (
        <div className="mt-2 flex flex-col gap-2">
          <div className="text-xs text-text-2">{t("debug.test.asks")}</div>
          <AskedForm asked={tested.asked} answering={busy} onAnswer={onAnswer} compact />
        </div>
      )}
    </div>
  );
}

function isLog(value: unknown): value is { log: string } {
  return isObject(value) && typeof value["log"] === "string";
}
