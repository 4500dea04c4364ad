/**
 * The input of a run: a form made from the state schema, or JSON; the document's sample inputs; and whether it begins a
 * thread or is the next turn of the selected one. What was typed stays until something else is run.
 */
import { BookOpen, ChevronDown, ChevronRight, CircleAlert, Play, StepForward } from "lucide-react";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { Menu } from "../../components/Menu";
import { Tabs } from "../../components/Tabs";
import { doc, useDocumentVersion } from "../../document/store";
import { filledByNodes } from "../../document/inputs";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { isPast } from "./situation";
import { runForm } from "./run-form";
import { startWithInput, type Step } from "./start";
import { isObject } from "../parts/diff";
import { EarlierButtons, useEarlierInputs } from "./EarlierInputs";
import {
  inputFor,
  inputKeysOf,
  inputSchema,
  isConversation,
  isEmptyInput,
  mainKeys,
  missingKeys,
  nextTurn,
  samplesOf,
  spoken,
  useRunInput,
  withMessage,
} from "./run-input";
import { RunContext } from "./RunContext";
import { contextSchema } from "./run-context";
import { RunLabelsFold } from "./RunLabels";
import { RunModelsFold } from "./RunModels";
import { useRuns, useThread } from "../model/runStore";
import { useStatus } from "../model/status";
import { cannotRun, useOnlyRead } from "../model/only-read";
import { ManyFields } from "../parts/ManyFields";
import { useControls } from "./useControls";

export function RunForm() {
  const version = useDocumentVersion();
  const graph = useSession((session) => session.graphKey) ?? "";
  const cursor = useSession((session) => session.cursor);
  const thread = useThread(cursor.threadId);
  const status = useStatus(cursor.threadId);
  const past = useRuns((store) => isPast(cursor, store));
  const { drafts, target, setDraft, setTarget } = useRunInput();
  const controls = useControls();
  const [fits, setValid] = useState(true);
  const [contextFits, setContextFits] = useState(true);
  const valid = fits && (contextFits || contextSchema(doc.head) === null);
  const asked = useSyncExternalStore(runForm.subscribe, runForm.missing);
  const fields = useRef<HTMLDivElement>(null);
  const [busy, setBusy] = useState(false);

  const [all, setAll] = useState(false);
  const kinds = useSession((session) => session.appInfo?.kinds);
  const { whole, samples, keys, input, filled } = useMemo(() => {
    void version;
    const keys = doc.names("key").map((name) => {
      const value = doc.get(`key:${name}`);
      return [name, isObject(value) ? value : {}] as const;
    });
    const input = inputKeysOf(doc.head);
    const filled = filledByNodes(doc, kinds ?? []);
    return { whole: inputSchema(keys, input), samples: samplesOf(doc.head), keys, input, filled };
  }, [version, kinds]);
  // A conversation begins with a message, so there is a field for one.
  const value = withMessage(keys, inputFor(drafts, graph, samples));
  const names = keys.map(([name]) => name);
  const first = mainKeys(names, input, samples, value, filled);
  const hidden = names.length - first.length;
  const shownKeys = all || input ? undefined : first.join("\n");
  const schema = useMemo(
    () => (shownKeys === undefined ? whole : inputSchema(keys, shownKeys.split("\n"))),
    [whole, keys, shownKeys],
  );

  // A conversation goes on with the thread; anything else usually starts again.
  const conversation = isConversation(keys);
  useEffect(
    () => setTarget(conversation && cursor.threadId !== null ? "thread" : "new"),
    [conversation, cursor.threadId, setTarget],
  );

  const onThread = target === "thread" && cursor.threadId !== null;
  const onlyRead = useOnlyRead(cannotRun);
  // A program chooses its models itself, and its threads have no tags of ours.
  const attached = useOnlyRead((store) => store.attached !== null);
  const offOnThread =
    status === "running"
      ? t("debug.off.running")
      : status === "asking" && !past
        ? t("debug.off.answerFirst")
        : null;
  const off = onlyRead ? t("debug.off.onlyRead") : onThread ? offOnThread : null;
  // A graph may run from its defaults, also one that keeps messages; but usually a first message is meant to be sent.
  const empty = conversation && isEmptyInput(value);
  const blocked = controls.blocked || off !== null || !valid;
  const reason = controls.blocked
    ? t("debug.off.errors")
    : (off ?? (!valid ? t("debug.input.invalid") : empty ? t("debug.input.empty") : null));
  // Something was to run with nothing in the form: what is missing is reported here and at the fields, and the first of them
  // takes the focus. The form may have been opened for it.
  const missing = asked > 0 && isEmptyInput(value) ? missingKeys(keys, first) : NO_KEYS;
  const errors = missing.map((name) => ({
    pointer: `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    message: t(conversation ? "debug.input.missingMessageHere" : "debug.input.missingHere"),
    severity: "warning" as const,
  }));
  useEffect(() => {
    const form = fields.current;
    if (asked === 0 || form === null) return;
    const control =
      form.querySelector<HTMLElement>(
        "[data-pointer] :is(textarea, input:not([type=hidden], [aria-hidden=true]), .cm-content)",
      ) ?? form.querySelector<HTMLElement>("[data-control] button");
    control?.focus();
  }, [asked]);
  const earlier = useEarlierInputs<Record<string, unknown>>(
    "form",
    (input) => input,
    prune(value),
    (input) => setDraft(graph, input),
  );
  const start = async (step?: Step) => {
    if (blocked) return;
    setBusy(true);
    const begun = await startWithInput(spoken(value), { step, target: onThread ? "thread" : "new" });
    setBusy(false);
    if (begun) earlier.end();
    // One turn follows the other: what came of this one is shown, and the next message is still to be written.
    if (begun && conversation) setDraft(graph, nextTurn(keys, value));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Keys in a dialog that a field opens are not for the form behind it.
    if (!event.currentTarget.contains(event.target as Node)) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void start();
    } else if (fields.current?.contains(event.target as Node)) earlier.onKeyDown(event);
  };

  if (keys.length === 0 && contextSchema(doc.head) === null) {
    return (
      <EmptyState
        title={t(onlyRead ? "trace.none" : attached ? "debug.input.none" : "debug.input.noKeys")}
        action={
          !onlyRead && (
            <Button
              variant="primary"
              icon={<Play size={14} aria-hidden />}
              disabled={controls.blocked}
              onClick={() => void startWithInput({})}
            >
              {t("debug.run")}
            </Button>
          )
        }
      >
        {onlyRead ? t("debug.off.onlyRead") : t(attached ? "debug.input.noneText" : "debug.input.noKeysText")}
      </EmptyState>
    );
  }

  return (
    <div
      className="flex min-h-0 flex-1 flex-col short:flex-[1_0_auto]"
      onKeyDown={onKeyDown}
      data-testid={debugIds.runForm}
    >
      {missing.length > 0 && (
        <p
          key={asked}
          className="flex gap-2 bg-asking-soft px-3 py-2 text-xs"
          role="alert"
          data-testid={debugIds.inputMissing}
        >
          <CircleAlert size={14} className="mt-px shrink-0 text-asking" aria-hidden />
          <span className="min-w-0 [overflow-wrap:anywhere]">{missingText(conversation, missing)}</span>
        </p>
      )}
      <div ref={fields} className="min-h-0 flex-1 overflow-y-auto px-3 py-3 short:flex-[1_0_8rem]">
        <ManyFields
          schema={schema}
          value={value}
          onChange={(next: unknown) => {
            runForm.filled();
            if (isObject(next)) setDraft(graph, prune(next));
            setValid(isObject(next) || next === undefined);
          }}
          onValidity={setValid}
          errors={errors}
          title={
            <span className="flex items-center gap-1">
              {samples.length > 0 ? (
                <Menu
                  trigger={
                    <Button
                      size="small"
                      variant="ghost"
                      icon={<BookOpen size={13} aria-hidden />}
                      data-testid={debugIds.samples}
                    >
                      {t("debug.input.samples")}
                    </Button>
                  }
                  entries={samples.map((sample, index) => ({
                    id: `sample-${index}`,
                    label: sample.name,
                    run: () => setDraft(graph, sample.input),
                  }))}
                />
              ) : (
                t("debug.input")
              )}
              <EarlierButtons earlier={earlier} />
            </span>
          }
        />
        <RunContext onValidity={setContextFits} />
        {hidden > 0 && !input && (
          <Button
            size="small"
            variant="ghost"
            className="mt-3"
            icon={all ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
            aria-expanded={all}
            onClick={() => setAll(!all)}
          >
            {all ? t("debug.input.fewer") : tn("debug.input.moreOne", "debug.input.more", hidden)}
          </Button>
        )}
      </div>
      <div className="flex flex-col gap-2 border-t border-line px-3 py-2">
        {thread && (
          <Tabs
            look="segmented"
            label={t("debug.input.where")}
            value={target}
            onChange={(next) => setTarget(next === "thread" ? "thread" : "new")}
            tabs={[
              { id: "new", label: t("debug.input.newThread") },
              {
                id: "thread",
                label: past ? t("debug.input.fromHere") : t("debug.input.nextTurn"),
                title: t("debug.input.onThread", { title: thread.title }),
              },
            ]}
          />
        )}
        {!attached && (
          <>
            <RunModelsFold threadId={onThread ? cursor.threadId : null} />
            <RunLabelsFold threadId={onThread ? cursor.threadId : null} />
          </>
        )}
        <div className="flex flex-wrap items-center gap-2">
          <Button
            variant="primary"
            icon={<Play size={14} aria-hidden />}
            shortcut="Mod+Enter"
            disabled={blocked}
            busy={busy}
            onClick={() => void start()}
            data-testid={debugIds.startRun}
          >
            {t("debug.run")}
          </Button>
          <Button
            icon={<StepForward size={14} aria-hidden />}
            disabled={blocked || busy}
            onClick={() => void start("over")}
            data-testid={debugIds.startStep}
          >
            {t("debug.input.firstStep")}
          </Button>
        </div>
        {reason !== null && <p className="text-xs text-text-2">{reason}</p>}
      </div>
    </div>
  );
}

const NO_KEYS: readonly string[] = [];

/** What is missing of an input, in words. */
function missingText(conversation: boolean, keys: readonly string[]): string {
  if (conversation) return t("debug.input.missingMessage");
  const named = [...keys];
  const last = named.pop() ?? "";
  return t("debug.input.missing", {
    keys: named.length > 0 ? t("debug.input.missingOr", { keys: listed(named), last }) : last,
  });
}

/** A key that the form has cleared is not part of the input. */
function prune(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));
}
