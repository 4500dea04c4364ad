/** What a state key is: name, type, reducer, default, lifetime and invariants, with who uses it. */
import { ArrowDownToLine, ArrowUpFromLine, MoveDown, MoveUp, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { ConfirmDialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import type { Schema } from "../../components/schema-form/schema";
import { NameField, TypeDetails, TypeSelect } from "../../components/schema-form/SchemaBuilder";
import { Select } from "../../components/Select";
import { TextArea } from "../../components/TextField";
import { renameKeyEverywhere } from "../../canvas/records";
import { deleteThings, setField, setRecord } from "../../document/edits";
import { doc, useIds } from "../../document/store";
import { edit } from "../../document/edit";
import type { Json, JsonObject } from "../../document/types";
import type { Diagnostic } from "../../ipc/bindings/Diagnostic";
import { withLangGraph } from "../../lib/langgraph";
import { t, tn, type TextKey } from "../../lib/texts";
import { useSession } from "../../state/session";
import { moveKey } from "./reorder";
import type { Usage } from "../../document/usage";
import { InvariantsSection } from "../invariants";
import { itemsClass } from "../../components/recipes";
import { REDUCERS, CHANNELS } from "./reducers";
import { DefaultField } from "./DefaultField";
import { recordText, KeyUsers } from "./KeyUsers";

export function KeyEditor({
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
  problems: readonly Diagnostic[];
}) {
  const recordId = `key:${name}`;
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
          onRename={(to) => renameKeyEverywhere(name, to)}
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
        description={withLangGraph(t(`forms.reducer.${reducer}.help` as TextKey), "reducer", reducer)}
        error={at("/reducer")}
        pointer="/reducer"
      >
        <Select
          value={reducer}
          options={reducers.map(([value]) => ({
            value,
            label: t(`forms.reducer.${value}` as TextKey),
            description: withLangGraph(t(`forms.reducer.${value}.help` as TextKey), "reducer", value),
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
        description={withLangGraph(t(`forms.channel.${channel}.help` as TextKey), "channel", channel)}
        error={at("/channel")}
        pointer="/channel"
      >
        <Select
          value={channel}
          options={channels.map((value) => ({
            value,
            label: t(`forms.channel.${value}` as TextKey),
            description: withLangGraph(t(`forms.channel.${value}.help` as TextKey), "channel", value),
          }))}
          onChange={(next) => set("/channel", next === "kept" ? undefined : next, t("forms.state.channel"))}
        />
      </Field>
      <InvariantsSection record={recordId} keys={keys} inside />
      <KeyUsers
        title={t("forms.state.writers")}
        records={usage.writers}
        none={t("forms.state.noWriters")}
        icon={<ArrowDownToLine size={13} aria-hidden />}
      />
      <KeyUsers
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
