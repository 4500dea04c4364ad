/** One node: its name, its settings from the kind's schema, and what the debugger knows of it. */
import { CircleOff, Copy, FlaskConical, MoreHorizontal, Trash2, Workflow } from "lucide-react";
import { memo, useCallback, useId, useMemo, useState, type ComponentType } from "react";
import { Badge } from "../../components/Badge";
import { deleteEverywhere, renameEverywhere, toggleEverywhere } from "../../canvas/records";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { Field } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import { JsonEditor } from "../../components/JsonEditor";
import { KindIcon } from "../../components/KindIcon";
import { Menu } from "../../components/Menu";
import type { Schema } from "../../components/schema-form/schema";
import { SchemaForm } from "../../components/schema-form/SchemaForm";
import { useSame } from "../../components/stable";
import { TextArea, TextField } from "../../components/TextField";
import { disabledOf } from "../../document/disabled";
import { nodeNameProblem, setField, setRecord } from "../../document/edits";
import { doc, useRecord, useDiagnosticsAtRest } from "../../document/store";
import { edit, sealHistory } from "../../document/edit";
import { flush, openGraph } from "../../document/open-graph";
import { isObject, nodeOf, NOTE, type Json } from "../../document/types";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { rpc } from "../../ipc/client";
import { formsIds, structureIds } from "../../lib/testIds";
import { t, type TextKey } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { shortcutOf } from "../../state/keymap";
import { makesItsKey, quickFixOf } from "../../document/quick-fixes";
import { useSession } from "../../state/session";
import { beginPlace, leaveField, useCalm } from "../../state/reduced-motion";
import { askForTest } from "../../state/node-test";
import { showProblem } from "../../state/toasts";
import { InvariantsSection } from "../invariants";
import { DisabledNotice } from "./DisabledNotice";
import { PinNotice } from "./PinNotice";
import { SecretsOfText } from "../secrets";
import { PythonSettings } from "../settings";
import { PolicySection } from "./PolicySection";
import { VariantsMenu } from "./VariantsMenu";
import { EDITORS } from "./editors";
import { LargeEditor } from "./LargeEditor";
import { LiveValue } from "./LiveValue";
import { useContextVariables, useKeyInfos } from "./keys";
import { problemsOf } from "./problems";
import { inspectorHeadClass, sectionClass } from "../../components/recipes";

const NAME_PROBLEMS: Record<"empty" | "reserved" | "sign" | "taken", TextKey> = {
  empty: "forms.outline.nameEmpty",
  reserved: "forms.outline.nameReserved",
  sign: "forms.outline.nameSign",
  taken: "forms.outline.nameTaken",
};

/** A part of the inspector that another feature draws: the shell puts it in. */
export type NodeSection = ComponentType<{ nodeId: string }>;

export function NodeInspector({ name, LastRun }: { name: string; LastRun?: NodeSection | undefined }) {
  const recordId = `node:${name}`;
  const record = useRecord(recordId);
  const diagnostics = useDiagnosticsAtRest(recordId);
  const calm = useCalm(name);
  const kinds = useSession((state) => state.appInfo?.kinds);
  const keys = useKeyInfos(name);
  const allKeys = useKeyInfos();
  const variables = useContextVariables();
  const node = nodeOf(record);
  const kind = kinds?.find((each) => each.kind === node.kind);
  // A note is there to be read.
  const runs = node.kind !== NOTE;

  const errors = useMemo(
    () =>
      diagnostics
        .filter((each) => each.pointer?.startsWith("/config") === true)
        .map((each) => ({
          pointer: (each.pointer ?? "").slice("/config".length),
          message: each.message,
          remedy: each.remedy,
          severity: calm(each.pointer ?? "") ? ("hint" as const) : each.severity,
          action: makesItsKey(each) ? undefined : quickFixOf(each.code, each),
        })),
    [diagnostics, calm],
  );
  const reveal = useSession(({ pendingFocus }) =>
    pendingFocus?.record === recordId ? (pendingFocus.pointer ?? "").replace(/^\/config/, "") : null,
  );
  const workplace = useMemo(
    () => ({
      node: name,
      began: (pointer: string) => beginPlace(`node:${name}`, `/config${pointer}`),
      LiveValue,
      Large: LargeEditor,
      Secrets: SecretsOfText,
    }),
    [name],
  );
  const leave = useCallback((pointer: string) => leaveField(name, `/config${pointer}`), [name]);
  const set = useCallback(
    (pointer: string, value: Json | undefined, what: string) =>
      void edit(
        t("forms.edit.field", { what, name }),
        (document) => setField(document, recordId, pointer, value),
        { merge: `${recordId}${pointer}` },
      ),
    [name, recordId],
  );
  const others = problemsOf(
    diagnostics,
    (pointer) =>
      !/^\/(config\/|retry|timeout|cache|defer|fallback|effect|concurrency|max_visits|disabled|summary|invariants)/.test(
        pointer,
      ) &&
      pointer !== "/title" &&
      pointer !== "/description",
  ).map((problem) => (calm("") ? { ...problem, severity: "hint" as const } : problem));
  const { config: _config, title, description, ...policy } = isObject(record) ? record : {};
  // Its sections are drawn again when theirs changes: not all of them for each key in one of the settings.
  const ways = useSame(policy);

  if (record === undefined) return null;
  const isDisabled = disabledOf(record) !== null;
  return (
    <div onBlur={sealHistory}>
      <section className={sectionClass}>
        <Head name={name} kind={node.kind} icon={kind?.icon ?? "box"} runs={runs} isDisabled={isDisabled} />
        <p className="flex items-baseline gap-2 text-xs/[17px] text-text-2">
          <Badge>{kind?.title ?? node.kind}</Badge>
          <span>{kind?.summary ?? t("forms.inspector.unknownKind", { kind: node.kind })}</span>
        </p>
        {isDisabled && <DisabledNotice name={name} />}
        <PinNotice name={name} />
        {kind?.inside === true && <OpenInside node={name} />}
        {others.length > 0 && (
          <Field error={others} pointer="">
            {null}
          </Field>
        )}
        <Words
          name={name}
          title={typeof title === "string" ? title : ""}
          description={typeof description === "string" ? description : ""}
          set={set}
        />
      </section>

      <section className={sectionClass} data-testid={formsIds.inspectorConfig}>
        {runs && <VariantsMenu node={name} />}
        {kind === undefined ? (
          <Field
            label={t("forms.inspector.config")}
            description={t("forms.inspector.unknownKindHelp")}
            pointer="/config"
          >
            <JsonEditor
              value={node.config}
              onChange={(next) => set("/config", next ?? {}, t("forms.inspector.config"))}
            />
          </Field>
        ) : (
          <SchemaForm
            schema={kind.configSchema as Schema}
            value={node.config}
            onChange={(next: Json | undefined) =>
              set("/config", next ?? {}, changedField(node.config, next) ?? t("forms.inspector.config"))
            }
            errors={errors}
            stateKeys={keys}
            variables={variables}
            editors={EDITORS}
            check="never"
            title={t("forms.inspector.config")}
            pointerPrefix="/config"
            reveal={reveal}
            workplace={workplace}
            onLeave={leave}
          />
        )}
      </section>

      {node.config["language"] === "python" && (
        <section className={sectionClass}>
          <PythonSettings />
        </section>
      )}
      {runs && (
        <PolicySection key={name} name={name} record={ways} diagnostics={diagnostics} keys={keys} set={set} />
      )}

      {runs && <InvariantsSection key={`invariants ${name}`} record={recordId} keys={allKeys} />}

      {LastRun && runs && (
        <div className={sectionClass}>
          <LastRun nodeId={name} />
        </div>
      )}
    </div>
  );
}

interface HeadProps {
  name: string;
  kind: string;
  icon: string;
  runs: boolean;
  isDisabled: boolean;
}

/** Its name, and what is done with it as a whole. */
const Head = memo(function Head({ name, kind, icon, runs, isDisabled }: HeadProps) {
  const kinds = useSession((state) => state.appInfo?.kinds);
  const take = (to: NodeKind) => {
    const recordId = `node:${name}`;
    const record = doc.get(recordId);
    if (to.kind === kind || !isObject(record)) return;
    const config = carried(nodeOf(record).config, to.defaults, to.configSchema);
    edit(t("forms.edit.kind", { name }), (document) =>
      setRecord(document, recordId, { ...record, kind: to.kind, config }),
    );
  };
  return (
    <header className={inspectorHeadClass}>
      <span className="flex items-center justify-center text-text-2 shrink-0 size-7">
        <KindIcon icon={icon} size={18} />
      </span>
      <NodeName name={name} />
      {runs && (
        <IconButton
          size="small"
          label={t("debug.test")}
          onClick={() => askForTest(name)}
          data-testid={formsIds.askForTest}
        >
          <FlaskConical size={14} />
        </IconButton>
      )}
      {runs && (
        <IconButton
          size="small"
          label={t(isDisabled ? "disabled.enable" : "disabled.disable")}
          shortcut={shortcutOf("edit.disable")}
          pressed={isDisabled}
          data-testid={structureIds.disable}
          onClick={() => toggleEverywhere([name])}
        >
          <CircleOff size={14} />
        </IconButton>
      )}
      <IconButton
        size="small"
        label={t("forms.inspector.duplicate")}
        shortcut={shortcutOf("edit.duplicate")}
        onClick={() => {
          useSession.getState().select({ nodes: [name] });
          runCommand("edit.duplicate");
        }}
      >
        <Copy size={14} />
      </IconButton>
      <IconButton
        size="small"
        variant="danger"
        label={t("forms.inspector.delete")}
        shortcut={shortcutOf("edit.delete")}
        data-testid={formsIds.inspectorDelete}
        onClick={() => {
          deleteEverywhere(t("forms.edit.delete", { name }), { nodes: [name] });
        }}
      >
        <Trash2 size={14} />
      </IconButton>
      {kinds !== undefined && (
        <Menu
          align="end"
          trigger={
            <IconButton size="small" label={t("forms.inspector.changeKind")}>
              <MoreHorizontal size={14} />
            </IconButton>
          }
          entries={() => [
            { id: "heading", heading: t("forms.inspector.changeKind") },
            ...kinds.map((each) => ({
              id: each.kind,
              label: each.title,
              icon: <KindIcon icon={each.icon} size={14} />,
              checked: each.kind === kind,
              run: () => take(each),
            })),
          ]}
        />
      )}
    </header>
  );
});

interface WordsProps {
  name: string;
  title: string;
  description: string;
  set(pointer: string, value: Json | undefined, what: string): void;
}

/** What it is called on its card, and what is said of it. */
const Words = memo(function Words({ name, title, description, set }: WordsProps) {
  return (
    <>
      <Field label={t("forms.inspector.title")} pointer="/title">
        <TextField
          value={title}
          placeholder={name}
          onChange={(next) => set("/title", next === "" ? undefined : next, t("forms.inspector.title"))}
        />
      </Field>
      <Field label={t("forms.inspector.description")} pointer="/description">
        <TextArea
          value={description}
          minRows={1}
          placeholder={t("forms.inspector.descriptionPlaceholder")}
          onChange={(next) =>
            set("/description", next === "" ? undefined : next, t("forms.inspector.description"))
          }
        />
      </Field>
    </>
  );
});

/** A kind that draws a graph from its settings shows that graph: as a draft, to be looked at, or kept and changed. */
function OpenInside({ node }: { node: string }) {
  const graphId = useSession((session) => session.graphId);
  const [busy, setBusy] = useState(false);
  if (graphId === null) return null;
  const open = async () => {
    setBusy(true);
    try {
      await flush();
      openGraph(await rpc("graph.new", { name: node, inside: { graphId, node } }));
    } catch (thrown) {
      showProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <p>
      <Button
        size="small"
        icon={<Workflow size={13} aria-hidden />}
        busy={busy}
        onClick={() => void open()}
        data-testid={formsIds.openInside}
      >
        {t("forms.inspector.openInside")}
      </Button>
    </p>
  );
}

/** Settings for another kind: its defaults, and what the old settings have under the same names. */
function carried(config: Record<string, Json>, defaults: Json, schema: Json): Record<string, Json> {
  const names = isObject(schema) && isObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const kept = Object.fromEntries(Object.entries(config).filter(([name]) => names.includes(name)));
  return { ...(isObject(defaults) ? defaults : {}), ...kept };
}

/** The field that differs, for the name of the undo step. */
function changedField(before: Record<string, Json>, after: Json | undefined): string | null {
  if (!isObject(after)) return null;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const name of names) if (before[name] !== after[name]) return name;
  return null;
}

function NodeName({ name }: { name: string }) {
  const [draft, setDraft] = useState<string | null>(null);
  const errorId = useId();
  const problem = draft === null ? null : nodeNameProblem(doc, draft.trim(), name);
  const finish = () => {
    const next = draft?.trim() ?? name;
    setDraft(null);
    if (next === name || nodeNameProblem(doc, next, name) !== null) return;
    renameEverywhere(name, next);
  };
  return (
    <div className="flex-1 min-w-0">
      <input
        className="outline-none w-full h-7 px-1.5 border border-transparent rounded-md bg-transparent text-base/inherit font-semibold hover:border-line-strong focus:border-focus focus:bg-surface-2 focus:outline-solid focus:outline-1 focus:outline-focus aria-invalid:border-failed aria-invalid:outline-failed"
        aria-label={t("forms.inspector.name")}
        aria-invalid={problem !== null || undefined}
        aria-describedby={problem === null ? undefined : errorId}
        data-testid={formsIds.inspectorName}
        spellCheck={false}
        value={draft ?? name}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            finish();
          } else if (event.key === "Escape") {
            event.stopPropagation();
            setDraft(null);
          }
        }}
      />
      {problem !== null && (
        <p className="pt-0.5 px-1.5 text-xs text-failed" id={errorId} role="alert">
          {t(NAME_PROBLEMS[problem])}
        </p>
      )}
    </div>
  );
}

/** What is shown for the entry and the exit, which have no settings. */
export function TerminalInspector({ name }: { name: string }) {
  const start = name === "__start__";
  return (
    <EmptyState
      compact
      icon={<KindIcon icon={name} size={20} />}
      title={start ? t("forms.start") : t("forms.end")}
    >
      {start ? t("forms.inspector.startHelp") : t("forms.inspector.endHelp")}
    </EmptyState>
  );
}
