/** A thread becomes a test: it is played once, and a person chooses what must come again. */
import { Plus, X } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { Checkbox } from "../../components/Checkbox";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { IconButton } from "../../components/IconButton";
import { helpClass } from "../../components/recipes";
import { Spinner } from "../../components/Spinner";
import { TextField } from "../../components/TextField";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { askMakeTest, askTests, useAsked, type TestedThread } from "../../debugger/state/asked";
import { flush } from "../../document/open-graph";
import type { TestDifference } from "../../ipc/bindings/TestDifference";
import type { TestMade } from "../../ipc/bindings/TestMade";
import { rpc } from "../../ipc/client";
import { testsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { stopJob, withJob } from "../../state/jobs";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { fieldOf, keyOf, placeOf } from "./place";
import { loadTests } from "./store";

export function MakeTestDialog() {
  const asked = useAsked((store) => store.makeTest);
  return asked === null ? null : (
    <Make key={`${asked.threadId} ${asked.checkpointId ?? ""}`} thread={asked} />
  );
}

const close = () => askMakeTest(null);

function Make({ thread }: { thread: TestedThread }) {
  const graphId = useSession((session) => session.graphId);
  const [made, setMade] = useState<TestMade | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (graphId === null) return;
    let going: string | null = null;
    let isOver = false;
    void withJob(
      async (work) => {
        await flush();
        return rpc("test.make", {
          ...placeIn(thread),
          graphId,
          holds: [],
          leaveOut: false,
          write: false,
          work,
        });
      },
      (work) => (going = work),
    ).then(
      (shown) => !isOver && setMade(shown),
      (thrown: unknown) => !isOver && setProblem(asProblem(thrown)),
    );
    return () => {
      isOver = true;
      if (going !== null) stopJob(going);
    };
  }, [thread, graphId, tries]);
  const title = t("tests.make.title", { title: thread.title });
  if (graphId !== null && made !== null)
    return <Choices thread={thread} graphId={graphId} made={made} title={title} />;
  return (
    <Dialog
      open
      onClose={close}
      title={title}
      description={t("tests.make.text")}
      size="medium"
      actions={<Button onClick={close}>{t("forms.cancel")}</Button>}
      data-testid={testsIds.make}
    >
      {problem ? (
        <ProblemNote
          problem={problem}
          onRetry={() => {
            setProblem(null);
            setTries(tries + 1);
          }}
        />
      ) : (
        <div className="grid min-h-24 place-items-center">
          <Spinner label={t("tests.make.playing")} />
        </div>
      )}
    </Dialog>
  );
}

const placeIn = ({ threadId, checkpointId }: TestedThread) => ({
  threadId,
  ...(checkpointId !== undefined && { checkpointId }),
});

interface ChoicesProps {
  thread: TestedThread;
  graphId: string;
  made: TestMade;
  title: string;
}

function Choices({ thread, graphId, made, title }: ChoicesProps) {
  const inKey = (key: string) => made.differences.find((difference) => keyOf(difference) === key);
  const inField = (field: string) => made.differences.find((difference) => fieldOf(difference) === field);
  // What no choice takes away: the thread does something else when it is played.
  const never = made.differences.find(
    (difference) =>
      keyOf(difference) === null &&
      !["status", "nodes", "questions", "error"].includes(fieldOf(difference) ?? ""),
  );
  const [name, setName] = useState(made.name);
  const [about, setAbout] = useState(made.about);
  const [status, setStatus] = useState(inField("status") === undefined);
  const [nodes, setNodes] = useState(inField("nodes") === undefined);
  const [questions, setQuestions] = useState(inField("questions") === undefined);
  const [keys, setKeys] = useState<ReadonlySet<string>>(
    () => new Set(made.keys.map(({ key }) => key).filter((key) => inKey(key) === undefined)),
  );
  const [holds, setHolds] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const save = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const written = await rpc("test.make", {
        ...placeIn(thread),
        graphId,
        name,
        about,
        mustHold: { status, nodes, questions, keys: [...keys] },
        holds: holds.map((expression) => expression.trim()).filter((expression) => expression !== ""),
        leaveOut: false,
        write: true,
      });
      close();
      void loadTests(graphId);
      showToast({
        tone: "done",
        text: t("tests.make.made", { name: written.name }),
        action: { label: t("tests.make.show"), run: () => askTests(true) },
      });
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  const parts = [
    tn("tests.inputsOne", "tests.inputs", made.inputs),
    ...(made.answers > 0 ? [tn("tests.answersOne", "tests.answers", made.answers)] : []),
    ...(made.edits > 0 ? [tn("tests.editsOne", "tests.edits", made.edits)] : []),
    ...(made.recorded > 0 ? [tn("tests.recordedOne", "tests.recorded", made.recorded)] : []),
  ];
  return (
    <FormDialog
      title={title}
      description={parts.join(" · ")}
      size="medium"
      onClose={close}
      save={t("tests.make.save")}
      isDone={name.trim() !== "" && never === undefined}
      busy={busy}
      onSave={() => void save()}
      saveTestId={testsIds.makeSave}
      className="gap-3"
      data-testid={testsIds.make}
    >
      {problem && <ProblemNote problem={problem} />}
      {never && (
        <ProblemNote
          problem={{ code: "test-differs", message: t("tests.make.never", { place: placeOf(never) }) }}
        />
      )}
      <Field label={t("tests.make.name")} required>
        <TextField value={name} onChange={setName} data-testid={testsIds.makeName} />
      </Field>
      <Field label={t("tests.make.about")}>
        <TextField value={about} onChange={setAbout} data-testid={testsIds.makeAbout} />
      </Field>
      <fieldset className="flex flex-col">
        <legend className="text-xs font-medium text-text-2">{t("tests.make.what")}</legend>
        {made.differences.length > 0 && <p className={helpClass}>{t("tests.make.differsText")}</p>}
        <Checkbox checked={status} onChange={setStatus} data-testid={testsIds.makeStatus}>
          {made.status === undefined
            ? t("tests.make.statusUnknown")
            : t("tests.make.status", { status: made.status })}
          <Differs difference={inField("status") ?? inField("error")} />
        </Checkbox>
        <Checkbox checked={nodes} onChange={setNodes} data-testid={testsIds.makePath}>
          {tn("tests.make.pathOne", "tests.make.path", made.nodes.length)}
          <Differs difference={inField("nodes")} />
        </Checkbox>
        {made.questions > 0 && (
          <Checkbox checked={questions} onChange={setQuestions} data-testid={testsIds.makeQuestions}>
            {tn("tests.make.questionsOne", "tests.make.questions", made.questions)}
            <Differs difference={inField("questions")} />
          </Checkbox>
        )}
        {made.keys.map(({ key }) => (
          <Checkbox
            key={key}
            checked={keys.has(key)}
            onChange={(ticked) => {
              const next = new Set(keys);
              if (ticked) next.add(key);
              else next.delete(key);
              setKeys(next);
            }}
            data-testid={testsIds.makeKey(key)}
          >
            <code>{key}</code>
            <Differs difference={inKey(key)} />
          </Checkbox>
        ))}
      </fieldset>
      {made.notes.map((note) => (
        <p key={note} className={helpClass}>
          {note}
        </p>
      ))}
      <div className="flex flex-col gap-1">
        <span className="text-xs font-medium text-text-2">{t("tests.make.holds")}</span>
        {holds.map((expression, place) => (
          <div key={place} className="flex items-center gap-1">
            <TextField
              mono
              className="min-w-0 flex-1"
              value={expression}
              placeholder={t("tests.make.holdsExample")}
              aria-label={t("tests.at.holds", { n: place + 1 })}
              onChange={(text) => setHolds(holds.map((one, index) => (index === place ? text : one)))}
            />
            <IconButton
              size="small"
              label={t("tests.make.removeHolds")}
              onClick={() => setHolds(holds.filter((_, index) => index !== place))}
            >
              <X size={13} aria-hidden />
            </IconButton>
          </div>
        ))}
        <div>
          <Button
            size="small"
            variant="ghost"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => setHolds([...holds, ""])}
            data-testid={testsIds.makeAddHolds}
          >
            {t("tests.make.addHolds")}
          </Button>
        </div>
      </div>
    </FormDialog>
  );
}

function Differs({ difference }: { difference: TestDifference | undefined }) {
  if (difference === undefined) return null;
  const nodes = difference.by.map(({ node, kind }) => `${node} (${kind})`).join(", ");
  return (
    <span className="ml-2 text-2xs text-asking">
      {nodes === "" ? t("tests.make.differs") : t("tests.make.differsBy", { nodes })}
    </span>
  );
}
