/** Editors for the `x-editor` hints of node kinds: key names, assignments, code, schemas, folders. */
import { Braces, FolderOpen, Plus, X } from "lucide-react";
import { memo, useEffect, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { Checkbox } from "../../components/Checkbox";
import type { Expected } from "../../components/code/expression-types";
import type { KeyInfo } from "../../components/code/jinja";
import { CodeEditor } from "../../components/CodeEditor";
import { Combobox } from "../../components/Combobox";
import { ExpressionField } from "../../components/ExpressionField";
import { isError } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import { InlineCode } from "../../components/InlineCode";
import { JsonEditor } from "../../components/JsonEditor";
import { Enlarged } from "../../components/schema-form/Enlarged";
import { escapeToken } from "../../components/schema-form/json";
import type { Schema } from "../../components/schema-form/schema";
import { useForm } from "../../components/schema-form/form";
import { SchemaBuilder } from "../../components/schema-form/SchemaBuilder";
import type { FieldEditor, FieldEditorProps, FormEditors } from "../../components/schema-form/SchemaForm";
import { useSame, useStable } from "../../components/stable";
import { Tabs } from "../../components/Tabs";
import { declaredWays, routeLabels } from "../../document/ports";
import { nestedGraphOf, openNestedGraph } from "../../document/nested-graphs";
import { doc, useDocumentState, useDocumentVersion } from "../../document/store";
import { openGraph } from "../../document/open-graph";
import { isObject, nodeOf } from "../../document/types";
import { useSession } from "../../state/session";
import { rpc } from "../../ipc/client";
import { hasEnding, joinPath, resolvePath, splitPath } from "../../lib/path";
import { t } from "../../lib/texts";
import { showProblem } from "../../state/toasts";
import { ModelEditor } from "../connections";
import { SecretNameEditor } from "../secrets";
import { ServerEditor, ToolsEditor, useServers } from "../servers";
import { showTypes } from "../state-schema";
import { ChoicesEditor } from "./ChoicesEditor";
import { parametersOf, toolNames } from "./tool-calls";
import { MakeKey, StateKeyEditor } from "./StateKeyEditor";
import { cardBodyClass, cardClass, cardHeadClass, itemsClass, problemsClass } from "../../components/recipes";
import { cx } from "../../components/cx";

function StateKeysEditor({ value, onChange, stateKeys, readOnly }: FieldEditorProps) {
  const chosen: string[] = Array.isArray(value)
    ? value.filter((key): key is string => typeof key === "string")
    : [];
  // Names that are no keys (any more) stay visible, to be taken out.
  const all = [
    ...stateKeys.map((key) => key.name),
    ...chosen.filter((name) => !stateKeys.some((key) => key.name === name)),
  ];
  if (all.length === 0) return <p className="text-xs/inherit text-text-3">{t("forms.editor.noKeys")}</p>;
  return (
    <div
      className="flex flex-col max-h-50 overflow-y-auto py-0.5 px-2 border border-line rounded-md bg-surface-2"
      role="group"
    >
      {all.map((name) => (
        <Checkbox
          key={name}
          checked={chosen.includes(name)}
          disabled={readOnly}
          onChange={(on) => {
            const next = on ? [...chosen, name] : chosen.filter((other) => other !== name);
            onChange(next.length === 0 ? undefined : next);
          }}
        >
          <span className="font-mono text-xs/inherit">{name}</span>{" "}
          <span className="text-text-3">
            {stateKeys.find((key) => key.name === name)?.type ?? t("forms.editor.gone")}
          </span>
        </Checkbox>
      ))}
    </div>
  );
}

const NO_KEYS: FieldEditorProps["stateKeys"] = [];

/** Key → expression, or a literal. */
const AssignmentsEditor: FieldEditor = function AssignmentsEditor({
  value,
  onChange,
  stateKeys,
  readOnly,
  pointer,
  schema,
  ...rest
}: FieldEditorProps) {
  const { workplace } = useForm();
  useDocumentVersion();
  const set = isObject(value) ? value : {};
  const names = Object.keys(set);
  const taking = schema["x-names"] === "tool" ? parametersOf(doc, workplace?.node ?? "", pointer) : undefined;
  const known = useSame(taking ?? (schema["x-names"] === "tool" ? NO_KEYS : stateKeys));
  const free = known.filter((key) => !(key.name in set));
  const put = useStable((name: string, next: unknown) => onChange({ ...set, [name]: next }));
  const rename = useStable((from: string, to: string) => {
    if (to === from || to in set || to === "") return;
    onChange(Object.fromEntries(Object.entries(set).map(([key, item]) => [key === from ? to : key, item])));
  });
  const remove = useStable((name: string) =>
    onChange(Object.fromEntries(Object.entries(set).filter(([key]) => key !== name))),
  );
  const onBlur = useStable(rest.onBlur);
  const taken = useSame(names);
  return (
    <div className={itemsClass}>
      {names.length === 0 && <p className="text-xs/inherit text-text-3">{t("forms.editor.noAssignments")}</p>}
      {names.map((name, index) => (
        <Assignment
          key={index}
          name={name}
          item={set[name]}
          taken={taken}
          put={put}
          rename={rename}
          remove={remove}
          pointer={pointer}
          names={known}
          stateKeys={stateKeys}
          variables={rest.variables}
          problemsAt={rest.problemsAt}
          readOnly={readOnly}
          onBlur={onBlur}
        />
      ))}
      {!readOnly && (
        <div>
          <Button
            size="small"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => {
              const usual = schema["x-names"] === "tool" ? "argument" : "key";
              let name = free[0]?.name ?? usual;
              for (let n = 2; name in set; n += 1) name = `${usual}_${n}`;
              put(name, "");
            }}
          >
            {t("forms.editor.addAssignment")}
          </Button>
        </div>
      )}
    </div>
  );
};
AssignmentsEditor.nested = true;

interface AssignmentProps extends Pick<
  FieldEditorProps,
  "pointer" | "stateKeys" | "variables" | "readOnly" | "problemsAt" | "onBlur"
> {
  name: string;
  item: unknown;
  /** Names that may be set: keys of the state, or the parameters of what is called. */
  names: FieldEditorProps["stateKeys"];
  /** Names that are set. */
  taken: readonly string[];
  put(name: string, item: unknown): void;
  rename(from: string, to: string): void;
  remove(name: string): void;
}

const Assignment = memo(function Assignment({
  name,
  item,
  names,
  taken,
  put,
  rename,
  remove,
  pointer,
  stateKeys,
  variables,
  readOnly,
  problemsAt,
  onBlur,
}: AssignmentProps) {
  // Others give names to the graph or the tool that is called, which are not keys of this state.
  const setsKeys = pointer === "/set" || pointer === "/output";
  const literal = typeof item !== "string";
  const problems = problemsAt(`${pointer}/${escapeToken(name)}`);
  return (
    <div
      className={cx(cardClass, "[&>:first-child]:p-1")}
      data-pointer={`/config${pointer}/${escapeToken(name)}`}
    >
      <div className={cardHeadClass}>
        <KeyName name={name} keys={names} taken={taken} readOnly={readOnly} rename={rename} />
        <Tabs
          look="segmented"
          label={t("forms.editor.valueOf", { name })}
          value={literal ? "value" : "expression"}
          onChange={(next) => {
            if (next === "value" && !literal) put(name, literalOf(item));
            if (next === "expression" && literal) put(name, JSON.stringify(item) ?? "none");
          }}
          tabs={[
            { id: "expression", label: t("forms.editor.expression"), disabled: readOnly },
            { id: "value", label: t("forms.editor.value"), disabled: readOnly },
          ]}
        />
        {!readOnly && (
          <IconButton
            size="small"
            label={t("forms.schema.removeEntry", { name })}
            onClick={() => remove(name)}
          >
            <X size={13} />
          </IconButton>
        )}
      </div>
      <div className={cardBodyClass}>
        {literal ? (
          <JsonEditor
            value={item}
            onChange={(next) => {
              // A text would be taken for an expression; as a literal it has to be one.
              if (next !== undefined) put(name, typeof next === "string" ? JSON.stringify(next) : next);
            }}
            readOnly={readOnly}
            minLines={1}
            aria-label={t("forms.editor.valueOf", { name })}
          />
        ) : (
          <Enlarged
            schema={{ title: name }}
            text={item}
            mode="expression"
            onChange={(next) => put(name, next ?? "")}
            stateKeys={stateKeys}
            variables={variables}
            readOnly={readOnly}
            problems={problems}
          >
            <ExpressionField
              value={item}
              onChange={(next) => put(name, next)}
              keys={stateKeys}
              variables={variables}
              expected={setsKeys ? takenBy(stateKeys.find((key) => key.name === name)) : undefined}
              readOnly={readOnly}
              error={problems.find(isError)?.message}
              onBlur={onBlur}
              aria-label={t("forms.editor.valueOf", { name })}
            />
          </Enlarged>
        )}
        {problems.length > 0 && (
          <ul className={problemsClass}>
            {problems.map((problem) => (
              <li key={problem.message} data-severity={problem.severity ?? "error"}>
                <span>
                  <InlineCode text={problem.message} />{" "}
                  <span className="text-text-2">
                    <InlineCode text={problem.remedy ?? ""} />
                  </span>
                </span>
              </li>
            ))}
          </ul>
        )}
        {setsKeys && <MakeKey name={name} keys={stateKeys} />}
      </div>
    </div>
  );
});

/** What a key takes, where it is set and no reducer makes something else of it; a key without a type takes all. */
function takenBy(key: KeyInfo | undefined): Expected | undefined {
  const schema = key?.schema as
    (Schema & { readonly reducer?: unknown; readonly channel?: unknown }) | undefined;
  const isSet = (schema?.reducer ?? "overwrite") === "overwrite" && schema?.channel !== "topic";
  return schema && isSet ? { is: "value", schema } : undefined;
}

/** An expression that is plain data, as that data; anything else begins as null. */
function literalOf(expression: unknown): unknown {
  if (typeof expression !== "string") return expression ?? null;
  try {
    return JSON.parse(expression);
  } catch {
    return null;
  }
}

interface KeyNameProps {
  name: string;
  keys: FieldEditorProps["stateKeys"];
  taken: readonly string[];
  readOnly: boolean;
  rename(from: string, to: string): void;
}

const KeyName = memo(function KeyName({ name, keys, taken, readOnly, rename }: KeyNameProps) {
  const [draft, setDraft] = useState<string | null>(null);
  return (
    <div
      className="flex-1 min-w-0"
      onBlur={() => {
        if (draft !== null) rename(name, draft.trim());
        setDraft(null);
      }}
    >
      <Combobox
        mono
        choose
        aria-label={t("forms.editor.keyToSet")}
        value={draft ?? name}
        disabled={readOnly}
        onChange={(next) => {
          setDraft(next);
          // Chosen from the list: at once. Typed: when the field is left.
          if (keys.some((key) => key.name === next) && !taken.includes(next)) {
            rename(name, next);
            setDraft(null);
          }
        }}
        items={keys
          .filter((key) => key.name === name || !taken.includes(key.name))
          .map((key) => ({ value: key.name, hint: key.type }))}
      />
    </div>
  );
});

function CodeFieldEditor(props: FieldEditorProps) {
  const { schema, value, onChange, stateKeys, readOnly, problems, onBlur } = props;
  const language = schema["x-language"] === "python" ? "python" : "javascript";
  const text = typeof value === "string" ? value : "";
  return (
    <div className={itemsClass}>
      <Enlarged {...props} text={text} mode={language}>
        <CodeEditor
          mode={language}
          lineNumbers
          minLines={8}
          maxLines={28}
          value={text}
          onChange={onChange}
          keys={stateKeys}
          readOnly={readOnly}
          invalid={problems.some(isError)}
          onBlur={onBlur}
        />
      </Enlarged>
      <div className="empty:hidden">
        <Button
          size="small"
          variant="ghost"
          icon={<Braces size={13} aria-hidden />}
          onClick={() => showTypes(language)}
        >
          {t("forms.types.open")}
        </Button>
      </div>
    </div>
  );
}

function SchemaEditor({ value, onChange, readOnly }: FieldEditorProps) {
  return <SchemaBuilder value={value} onChange={onChange} readOnly={readOnly} />;
}

/** A folder beside the graph file; the ones that are there are offered. */
function FolderEditor({ value, onChange, readOnly }: FieldEditorProps) {
  const path = useDocumentState((state) => state.path);
  const [folders, setFolders] = useState<string[]>([]);
  const dir = useMemo(() => path?.replace(/[\\/][^\\/]*$/, "") ?? null, [path]);
  useEffect(() => {
    if (dir === null) return;
    const abort = new AbortController();
    rpc("files.list", { dir }, abort.signal).then(
      (listing) => setFolders(listing.entries.filter((entry) => entry.isDir).map((entry) => entry.name)),
      () => {
        // The name can still be written; whether it exists is reported by the diagnostics.
      },
    );
    return () => abort.abort();
  }, [dir]);
  return (
    <Combobox
      mono
      choose
      value={typeof value === "string" ? value : ""}
      disabled={readOnly}
      onChange={(next) => onChange(next === "" ? undefined : next)}
      items={(dir === null ? [] : folders).map((folder) => ({ value: folder }))}
      emptyText={dir === null ? t("forms.editor.saveFirst") : t("forms.editor.noFolder")}
    />
  );
}

/** A graph file of the project, seen from this graph's folder: written, chosen, or opened. */
function GraphFileEditor({ value, onChange, readOnly }: FieldEditorProps) {
  const path = useDocumentState((state) => state.path);
  const [files, setFiles] = useState<string[]>([]);
  const [busy, setBusy] = useState(false);
  const named = typeof value === "string" ? value : "";
  const dir = useMemo(() => (path === null ? null : splitPath(path).dir), [path]);
  useEffect(() => {
    if (dir === null) return;
    const abort = new AbortController();
    void graphFiles(dir, path, abort.signal).then(
      (found) => setFiles(found),
      () => {
        // The name can still be written; whether it is a graph is reported by the diagnostics.
      },
    );
    return () => abort.abort();
  }, [dir, path]);
  const open = async () => {
    if (dir === null) return;
    setBusy(true);
    const [node] = useSession.getState().selection.nodes;
    const path = resolvePath(dir, named);
    // The graph of a tool, or of one that is not the node's own, is opened as from a list.
    if (node !== undefined && nestedGraphOf(node) === path) await openNestedGraph(node);
    else await rpc("graph.open", { path }).then(openGraph, showProblem);
    setBusy(false);
  };
  return (
    <div className={itemsClass}>
      <Combobox
        mono
        choose
        value={named}
        disabled={readOnly}
        onChange={(next) => onChange(next === "" ? undefined : next)}
        items={files.map((file) => ({ value: file }))}
        emptyText={dir === null ? t("forms.editor.saveFirst") : t("forms.editor.noGraphFile")}
      />
      {dir !== null && named !== "" && (
        <div className="empty:hidden">
          <Button
            size="small"
            icon={<FolderOpen size={13} aria-hidden />}
            busy={busy}
            onClick={() => void open()}
          >
            {t("forms.editor.openGraph")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Files beside this graph and in the folders beside it. */
async function graphFiles(dir: string, own: string | null, signal: AbortSignal): Promise<string[]> {
  const json = (name: string) => hasEnding(name, "json") && !name.startsWith(".");
  const here = await rpc("files.list", { dir }, signal);
  const folders = here.entries.filter((entry) => entry.isDir).slice(0, 50);
  const inside = await Promise.all(
    folders.map(async (folder) => {
      const listing = await rpc("files.list", { dir: joinPath(dir, folder.name) }, signal);
      return listing.entries
        .filter((entry) => !entry.isDir && json(entry.name))
        .map((entry) => `${folder.name}/${entry.name}`);
    }),
  );
  return [
    ...here.entries.filter((entry) => !entry.isDir && json(entry.name)).map((entry) => entry.name),
    ...inside.flat(),
  ].filter((file) => joinPath(dir, file) !== own);
}

/** The name of a tool that the node may call: its own, those of its tools node, and those that its servers were seen to offer. */
function ToolNameEditor({ value, onChange, readOnly, onBlur }: FieldEditorProps) {
  useDocumentVersion();
  const { workplace } = useForm();
  const { tools } = useServers();
  const names = toolNames(doc, workplace?.node ?? "", tools);
  return (
    <div onBlur={onBlur}>
      <Combobox
        mono
        choose
        value={typeof value === "string" ? value : ""}
        disabled={readOnly}
        onChange={onChange}
        emptyText={t("forms.editor.noTool")}
        items={names.map((name) => ({ value: name }))}
      />
    </div>
  );
}

/** The label of a way: those that the routes of the node lead by, and those of its other settings. */
function WayEditor({ value, onChange, readOnly, onBlur }: FieldEditorProps) {
  useDocumentVersion();
  const { workplace } = useForm();
  const own = typeof value === "string" ? value : "";
  const node = workplace?.node ?? "";
  const declared = declaredWays(doc.get(`node:${node}`)).map(({ label }) => label);
  const labels = [...new Set([...declared, ...routeLabels(doc, node)])].filter((label) => label !== own);
  return (
    <div onBlur={onBlur}>
      <Combobox
        choose
        value={own}
        disabled={readOnly}
        onChange={(next) => onChange(next === "" ? undefined : next)}
        items={labels.map((label) => ({ value: label }))}
      />
    </div>
  );
}

/** A node of the graph, of the kind that the schema names. */
function NodeEditor({ schema, value, onChange, readOnly, onBlur }: FieldEditorProps) {
  useDocumentVersion();
  const kind = schema["x-kind"];
  const nodes = doc
    .names("node")
    .map((name) => ({ name, node: nodeOf(doc.get(`node:${name}`)) }))
    .filter(({ node }) => kind === undefined || node.kind === kind);
  return (
    <div onBlur={onBlur}>
      <Combobox
        mono
        value={typeof value === "string" ? value : ""}
        disabled={readOnly}
        onChange={(next) => onChange(next === "" ? undefined : next)}
        placeholder={t("forms.editor.chooseNode")}
        choose
        emptyText={t("forms.editor.noNode")}
        items={nodes.map(({ name }) => ({ value: name }))}
      />
    </div>
  );
}

export const EDITORS: FormEditors = {
  node: NodeEditor,
  "state-key": StateKeyEditor,
  "state-keys": StateKeysEditor,
  assignments: AssignmentsEditor,
  code: CodeFieldEditor,
  schema: SchemaEditor,
  folder: FolderEditor,
  "graph-file": GraphFileEditor,
  choices: ChoicesEditor,
  model: ModelEditor,
  secret: SecretNameEditor,
  tool: ToolNameEditor,
  way: WayEditor,
  "mcp-server": ServerEditor,
  "mcp-tools": ToolsEditor,
};
