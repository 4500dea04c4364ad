/** The keys of the state: what they hold, how updates join, and which nodes and edges use them. */
import {
  Braces,
  ArrowDownToLine,
  ArrowUpFromLine,
  ChevronDown,
  ChevronRight,
  CircleAlert,
  MoveDown,
  MoveUp,
  Plus,
  Trash2,
  TriangleAlert,
} from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { focusEdge, focusNode } from "../../canvas/actions";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { ConfirmDialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { Field } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import { JsonEditor } from "../../components/JsonEditor";
import { initialValue } from "../../components/schema-form/initial";
import { typeText } from "../../components/schema-form/types";
import type { Schema } from "../../components/schema-form/schema";
import { builderType, NameField, TypeDetails, TypeSelect } from "../../components/schema-form/SchemaBuilder";
import { SchemaForm } from "../../components/schema-form/SchemaForm";
import { Select } from "../../components/Select";
import { Switch } from "../../components/Switch";
import { TextArea } from "../../components/TextField";
import { deleteThings, setField, setRecord } from "../../document/edits";
import { renameKey } from "../../document/key-edits";
import { doc, useDiagnostics, useDocumentVersion, useIds, useRecord } from "../../document/store";
import { edit, sealHistory } from "../../document/edit";
import { isObject, sectionOf, type Json, type JsonObject } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { t, tn, type TextKey } from "../../lib/texts";
import { light } from "../../document/lit";
import { useSession } from "../../state/session";
import { addStateKey } from "./add-key";
import { moveKey } from "./reorder";
import { usageOf, type Usage } from "../../document/usage";
import { askRename } from "../../document/rename-question";
import { usesOfKey } from "../../document/uses";
import { showTypes } from "./TypesDialog";
import { InvariantsSection } from "../invariants";
import { itemsClass, linkClass, panelBarClass, panelClass } from "../../components/recipes";

const NO_USE: Usage = { readers: [], writers: [] };

/** Reducers, with the types they can join. */
const REDUCERS: readonly [name: string, types: readonly string[] | null][] = [
  ["overwrite", null],
  ["add", ["number", "integer", "string", "array"]],
  ["multiply", ["number", "integer"]],
  ["min", ["number", "integer"]],
  ["max", ["number", "integer"]],
  ["and", ["boolean"]],
  ["or", ["boolean"]],
  ["append", ["array"]],
  ["union", ["array"]],
  ["add_messages", ["array"]],
  ["merge", ["object"]],
];

/** How long a value lasts; what does not name a channel is kept. */
const CHANNELS = ["kept", "ephemeral", "any", "topic", "untracked"] as const;

export function StatePanel() {
  const names = useIds("key");
  const selected = useSession((state) => state.selection.key);
  const select = useSession((state) => state.select);
  const kinds = useSession((state) => state.appInfo?.kinds);
  const pending = useSession((state) => state.pendingFocus);
  const version = useDocumentVersion();
  const usage = useMemo(() => {
    void version;
    return usageOf(doc, kinds ?? []);
  }, [version, kinds]);
  const panel = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<string | null>(null);
  const shown = hovered ?? selected;
  useEffect(() => light(shown === null ? null : (usage.get(shown) ?? null)), [shown, usage]);
  useEffect(() => () => light(null), []);

  useEffect(() => {
    const place = pending === null ? null : sectionOf(pending.record);
    if (pending === null || place?.section !== "key") return;
    const session = useSession.getState();
    if (session.selection.key !== place.name) session.select({ key: place.name });
    const frame = requestAnimationFrame(() => {
      const card = panel.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(place.name)}"]`);
      // Without a pointer the key itself is meant: its name is the first field of its card.
      const { pointer } = pending;
      const field =
        (pointer === null
          ? null
          : card?.querySelector<HTMLElement>(`[data-pointer="${CSS.escape(pointer)}"]`)) ?? card;
      const control =
        field?.querySelector<HTMLElement>("input, textarea, [role=combobox], .cm-content") ??
        field?.querySelector<HTMLElement>("button");
      control?.focus({ preventScroll: true });
      // A key that has just been added is still to be named.
      if (pointer === null && control instanceof HTMLInputElement) control.select();
      card?.scrollIntoView({ block: "nearest" });
      session.clearPendingFocus();
    });
    return () => cancelAnimationFrame(frame);
  }, [pending]);

  if (names.length === 0) {
    return (
      <EmptyState
        compact
        title={t("forms.state.none")}
        action={
          <Button
            variant="primary"
            icon={<Plus size={14} aria-hidden />}
            onClick={addStateKey}
            data-testid={formsIds.addKey}
          >
            {t("forms.state.add")}
          </Button>
        }
      >
        {t("forms.state.noneHelp")}
      </EmptyState>
    );
  }
  return (
    <div className={panelClass} ref={panel} data-testid={formsIds.statePanel} onBlur={sealHistory}>
      <div className={panelBarClass}>
        <Button
          size="small"
          icon={<Plus size={13} aria-hidden />}
          onClick={addStateKey}
          data-testid={formsIds.addKey}
        >
          {t("forms.state.add")}
        </Button>
        <span className="flex-1" />
        <Button
          size="small"
          variant="ghost"
          icon={<Braces size={13} aria-hidden />}
          title={t("forms.types.open")}
          onClick={() => showTypes()}
        >
          {t("forms.types.button")}
        </Button>
      </div>
      <ul
        className="flex-1 min-h-0 overflow-x-hidden overflow-y-auto px-2 pb-3"
        aria-label={t("forms.state.keys")}
      >
        {names.map((name, index) => (
          <KeyRow
            key={index}
            name={name}
            first={index === 0}
            last={index === names.length - 1}
            open={selected === name}
            usage={usage.get(name) ?? NO_USE}
            onToggle={() => select({ key: selected === name ? null : name })}
            onHover={(on) => setHovered(on ? name : null)}
          />
        ))}
      </ul>
    </div>
  );
}

interface KeyRowProps {
  name: string;
  first: boolean;
  last: boolean;
  open: boolean;
  usage: Usage;
  onToggle(): void;
  onHover(on: boolean): void;
}

function typeBadge(key: JsonObject): string {
  const type = builderType(key);
  if (type === "enum") return t("forms.builder.enum");
  if (typeof key["type"] === "string") return typeText(key["type"]);
  return t("forms.type.any");
}

function KeyRow({ name, first, last, open, usage, onToggle, onHover }: KeyRowProps) {
  const recordId = `key:${name}`;
  const record = useRecord(recordId);
  const problems = useDiagnostics(recordId);
  const key = isObject(record) ? record : {};
  const reducer = typeof key["reducer"] === "string" ? key["reducer"] : "overwrite";
  const users = usage.readers.length + usage.writers.length;
  const failed = problems.some((problem) => problem.severity === "error");
  return (
    <li
      className="data-open:mt-0.5 data-open:mb-1.5 data-open:border data-open:border-line data-open:rounded-md data-open:bg-surface-1"
      data-key={name}
      data-open={open || undefined}
    >
      <button
        type="button"
        className="flex items-center gap-1.5 w-full min-h-7 pr-1.5 pl-0.5 rounded-md text-left hover:bg-surface-3 focus-visible:-outline-offset-2 [&>svg]:text-text-3 [&>svg]:shrink-0 in-data-open:rounded-t-md in-data-open:rounded-b-none in-data-open:bg-surface-3"
        aria-expanded={open}
        onClick={onToggle}
        onPointerEnter={() => onHover(true)}
        onPointerLeave={() => onHover(false)}
        onFocus={() => onHover(true)}
        onBlur={() => onHover(false)}
        data-testid={formsIds.stateKey(name)}
      >
        {open ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
        <span className="flex-1 min-w-0 font-mono text-xs/inherit truncate">{name}</span>
        {problems.length > 0 && (
          <Badge
            tone={failed ? "failed" : "warning"}
            icon={failed ? <CircleAlert size={11} aria-hidden /> : <TriangleAlert size={11} aria-hidden />}
            title={problems.map((problem) => problem.message).join("\n")}
          >
            {problems.length}
          </Badge>
        )}
        <span className="text-2xs/inherit text-text-3 whitespace-nowrap shrink-0">{typeBadge(key)}</span>
        {reducer !== "overwrite" && <Badge mono>{reducer}</Badge>}
        {typeof key["channel"] === "string" && (
          <Badge tone="paused" mono>
            {key["channel"]}
          </Badge>
        )}
        {users === 0 && <Badge title={t("forms.state.unusedHelp")}>{t("forms.state.unused")}</Badge>}
      </button>
      {open && (
        <KeyEditor name={name} record={key} usage={usage} first={first} last={last} problems={problems} />
      )}
    </li>
  );
}

function KeyEditor({
  name,
  record,
  usage,
  first,
  last,
  problems,
}: {
  name: string;
  record: JsonObject;
  usage: Usage;
  first: boolean;
  last: boolean;
  problems: ReturnType<typeof useDiagnostics>;
}) {
  const recordId = `key:${name}`;
  const kinds = useSession((state) => state.appInfo?.kinds);
  const [deleting, setDeleting] = useState(false);
  const names = useIds("key");
  const keys = useMemo(
    () => names.map((each) => ({ name: each, type: "", description: undefined })),
    [names],
  );
  const set = (pointer: string, value: Json | undefined, what: string) =>
    edit(t("forms.edit.field", { what, name }), (document) => setField(document, recordId, pointer, value), {
      merge: `${recordId}${pointer}`,
    });
  const put = (next: JsonObject, what: string) =>
    edit(t("forms.edit.field", { what, name }), (document) => setRecord(document, recordId, next));
  const at = (...pointers: string[]) =>
    problems
      .filter((problem) => pointers.includes(problem.pointer ?? ""))
      .map(({ message, remedy, severity }) => ({ message, remedy, severity }));
  const rest = problems
    .filter(
      (problem) =>
        !["/type", "/reducer", "/default", "/enum", "/channel"].includes(problem.pointer ?? "") &&
        problem.pointer?.startsWith("/invariants") !== true,
    )
    .map(({ message, remedy, severity }) => ({ message, remedy, severity }));

  const reducer = typeof record["reducer"] === "string" ? record["reducer"] : "overwrite";
  const type = typeof record["type"] === "string" ? record["type"] : null;
  const channel = typeof record["channel"] === "string" ? record["channel"] : "kept";
  const channels = CHANNELS.filter(
    (value) => value !== "topic" || channel === "topic" || type === null || type === "array",
  );
  const {
    reducer: _reducer,
    channel: _channel,
    default: _default,
    description: _description,
    invariants: _invariants,
    ...schema
  } = record;
  const reducers = REDUCERS.filter(
    ([value, types]) => value === reducer || types === null || type === null || types.includes(type),
  );
  const rename = (to: string) => {
    // What programs make of it is proposed and not done.
    if (usesOfKey(doc, kinds ?? [], name).some((use) => use.program)) askRename({ what: "key", name }, to);
    else if (
      edit(t("forms.edit.rename", { from: name, to }), (document) =>
        renameKey(document, name, to, kinds ?? []),
      )
    ) {
      useSession.getState().select({ key: to });
    }
  };
  const users = [...new Set([...usage.writers, ...usage.readers])];
  const remove = () => {
    setDeleting(false);
    edit(t("forms.edit.delete", { name }), (document) => deleteThings(document, { keys: [name] }));
    useSession.getState().select({});
  };

  return (
    <div className="flex flex-col gap-3 p-2.5">
      {rest.length > 0 && (
        <Field error={rest} pointer="">
          {null}
        </Field>
      )}
      <Field
        label={t("forms.state.name")}
        description={users.length > 0 ? t("forms.state.renameHelp") : undefined}
      >
        <NameField
          name={name}
          taken={(other) => other !== name && doc.has(`key:${other}`)}
          onRename={rename}
          label={t("forms.state.name")}
        />
      </Field>
      <Field label={t("forms.state.type")} error={at("/type", "/enum")} pointer="/type">
        <div className={itemsClass}>
          <TypeSelect
            schema={schema}
            onChange={(next) => {
              const wasMessages = reducer === "add_messages";
              const fits = REDUCERS.find(([value]) => value === reducer)?.[1];
              const joins =
                fits === null ||
                fits === undefined ||
                next.type === undefined ||
                fits.includes(String(next.type));
              put(
                {
                  ...(next as JsonObject),
                  ...(record["description"] !== undefined && { description: record["description"] }),
                  // A reducer that cannot join the new type would be an error that nobody asked for.
                  ...(record["reducer"] !== undefined &&
                    joins &&
                    !(wasMessages && next.type !== "array") && { reducer: record["reducer"] }),
                  ...(record["invariants"] !== undefined && { invariants: record["invariants"] }),
                  ...(record["channel"] !== undefined &&
                    (channel !== "topic" || next.type === "array") && { channel: record["channel"] }),
                },
                t("forms.state.type"),
              );
            }}
          />
          <TypeDetails
            schema={schema as Schema}
            onChange={(next) => put({ ...(next as JsonObject), ...picked(record) }, t("forms.state.type"))}
          />
        </div>
      </Field>
      <Field
        label={t("forms.state.reducer")}
        description={t(`forms.reducer.${reducer}.help` as TextKey)}
        error={at("/reducer")}
        pointer="/reducer"
      >
        <Select
          value={reducer}
          options={reducers.map(([value]) => ({
            value,
            label: t(`forms.reducer.${value}` as TextKey),
            description: t(`forms.reducer.${value}.help` as TextKey),
          }))}
          onChange={(next) =>
            set("/reducer", next === "overwrite" ? undefined : next, t("forms.state.reducer"))
          }
        />
      </Field>
      <DefaultField
        record={record}
        schema={schema as Schema}
        error={at("/default")}
        onChange={(next) => set("/default", next, t("forms.state.default"))}
      />
      <Field label={t("forms.state.description")} pointer="/description">
        <TextArea
          minRows={1}
          value={typeof record["description"] === "string" ? record["description"] : ""}
          placeholder={t("forms.state.descriptionPlaceholder")}
          onChange={(next) =>
            set("/description", next === "" ? undefined : next, t("forms.state.description"))
          }
        />
      </Field>
      <Field
        label={t("forms.state.channel")}
        description={t(`forms.channel.${channel}.help` as TextKey)}
        error={at("/channel")}
        pointer="/channel"
      >
        <Select
          value={channel}
          options={channels.map((value) => ({
            value,
            label: t(`forms.channel.${value}` as TextKey),
            description: t(`forms.channel.${value}.help` as TextKey),
          }))}
          onChange={(next) => set("/channel", next === "kept" ? undefined : next, t("forms.state.channel"))}
        />
      </Field>
      <InvariantsSection record={recordId} keys={keys} inside />
      <Users
        title={t("forms.state.writers")}
        records={usage.writers}
        none={t("forms.state.noWriters")}
        icon={<ArrowDownToLine size={13} aria-hidden />}
      />
      <Users
        title={t("forms.state.readers")}
        records={usage.readers}
        none={t("forms.state.noReaders")}
        icon={<ArrowUpFromLine size={13} aria-hidden />}
      />
      <div className="flex items-center gap-0.5 [&>:last-child]:ml-auto">
        <IconButton
          size="small"
          label={t("forms.state.up", { name })}
          disabled={first}
          onClick={() => edit(t("forms.state.move"), (document) => moveKey(document, name, -1))}
        >
          <MoveUp size={13} />
        </IconButton>
        <IconButton
          size="small"
          label={t("forms.state.down", { name })}
          disabled={last}
          onClick={() => edit(t("forms.state.move"), (document) => moveKey(document, name, 1))}
        >
          <MoveDown size={13} />
        </IconButton>
        <Button
          size="small"
          variant="danger"
          icon={<Trash2 size={13} aria-hidden />}
          onClick={() => (users.length > 0 ? setDeleting(true) : remove())}
        >
          {t("forms.state.delete")}
        </Button>
      </div>
      <ConfirmDialog
        open={deleting}
        title={t("forms.state.deleteTitle", { name })}
        text={
          <>
            <p>{tn("forms.state.deleteText.one", "forms.state.deleteText.many", users.length)}</p>
            <ul className="mt-1.5 pl-4.5 list-disc">
              {users.slice(0, 12).map((user) => (
                <li key={user}>{recordText(user)}</li>
              ))}
              {users.length > 12 && <li>…</li>}
            </ul>
          </>
        }
        confirm={t("forms.state.delete")}
        onCancel={() => setDeleting(false)}
        onConfirm={remove}
      />
    </div>
  );
}

/** The parts of a key that are not its type. */
function picked(record: JsonObject): JsonObject {
  return Object.fromEntries(
    ["description", "reducer", "channel", "default", "invariants"].flatMap((field) =>
      record[field] === undefined ? [] : [[field, record[field]]],
    ),
  );
}

function DefaultField({
  record,
  schema,
  error,
  onChange,
}: {
  record: JsonObject;
  schema: Schema;
  error: { message: string; remedy: string; severity: "error" | "warning" }[];
  onChange(value: Json | undefined): void;
}) {
  const has = record["default"] !== undefined;
  const simple = ["string", "integer", "number", "boolean", "enum"].includes(builderType(schema) ?? "");
  return (
    <Field
      label={t("forms.state.default")}
      description={has ? undefined : t("forms.state.noDefault")}
      error={error}
      pointer="/default"
      aside={
        <Switch
          aria-label={t("forms.state.hasDefault")}
          checked={has}
          onChange={(on) => onChange(on ? (initialValue(schema) as Json) : undefined)}
        />
      }
    >
      {has &&
        (simple ? (
          <SchemaForm
            schema={{ ...schema, title: t("forms.state.default"), description: "" }}
            value={record["default"]}
            jsonSwitch={false}
            onChange={(next: Json | undefined) => onChange(next ?? (schema.type === "string" ? "" : 0))}
          />
        ) : (
          <JsonEditor
            aria-label={t("forms.state.default")}
            value={record["default"]}
            onChange={(next: Json | undefined) => {
              if (next !== undefined) onChange(next);
            }}
          />
        ))}
    </Field>
  );
}

function recordText(record: string): string {
  const place = sectionOf(record);
  if (place === null) return record;
  return place.section === "edge" ? t("forms.problems.edge", { name: place.name }) : place.name;
}

function Users({
  title,
  records,
  none,
  icon,
}: {
  title: string;
  records: readonly string[];
  none: string;
  icon: React.ReactNode;
}) {
  return (
    <div className="[&_button]:text-left [&_button]:wrap-anywhere [&_h4]:flex [&_h4]:items-center [&_h4]:gap-1.25 [&_h4]:text-xs/inherit [&_h4]:font-medium [&_h4]:text-text-2 [&_ul]:flex [&_ul]:flex-wrap [&_ul]:gap-x-2.5 [&_ul]:gap-y-0.5 [&_ul]:text-xs/inherit">
      <h4>
        {icon} {title}
      </h4>
      {records.length === 0 ? (
        <span className="text-xs/inherit text-text-3">{none}</span>
      ) : (
        <ul>
          {records.map((record) => {
            const place = sectionOf(record);
            return (
              <li key={record}>
                <button
                  type="button"
                  className={linkClass}
                  onClick={() => {
                    const session = useSession.getState();
                    if (place?.section === "node") {
                      session.select({ nodes: [place.name], key: session.selection.key });
                      focusNode(place.name);
                    } else if (place?.section === "edge") {
                      session.select({ edges: [place.name], key: session.selection.key });
                      focusEdge(place.name);
                    }
                  }}
                >
                  {recordText(record)}
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
