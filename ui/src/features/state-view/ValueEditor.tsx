/** The editor of one value, under its row: a typed field where the declared type has one, otherwise text or JSON. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { JsonEditor } from "../../components/JsonEditor";
import { SchemaForm } from "../../components/schema-form/SchemaForm";
import { Tabs } from "../../components/Tabs";
import { TextArea } from "../../components/TextField";
import { isObject, readablePath } from "../../debugger/parts/diff";
import { doc } from "../../document/store";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

interface Props {
  view: KeyView;
  pointer: string;
  value: unknown;
  onDone(value: unknown): void;
  onCancel(): void;
}

export function ValueEditor({ view, pointer, value, onDone, onCancel }: Props) {
  const [draft, setDraft] = useState(value);
  const [valid, setValid] = useState(true);
  const schema = pointer === "" ? declaredSchema(view.key) : undefined;
  const typed =
    schema !== undefined &&
    (Array.isArray(schema.enum) ||
      (["boolean", "integer", "number", "object"].includes(String(schema.type)) &&
        (schema.type !== "object" || isObject(schema.properties))));
  const [look, setLook] = useState<"field" | "text" | "json">(
    typed ? "field" : typeof value === "string" ? "text" : "json",
  );
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const field = box.current?.querySelector<HTMLElement>(
      look === "json"
        ? "[contenteditable=true]"
        : "textarea, input:not([type=hidden]), [role=combobox], [role=switch], [contenteditable=true]",
    );
    field?.focus();
    if (field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement) field.select();
  }, [look]);
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      onCancel();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && valid) {
      event.preventDefault();
      onDone(draft);
    }
  };
  const looks = [
    ...(typed ? [{ id: "field", label: t("debug.form") }] : []),
    ...(typeof draft === "string" ? [{ id: "text", label: t("debug.text") }] : []),
    { id: "json", label: t("debug.json") },
  ];
  return (
    <div
      role="treeitem"
      aria-level={2}
      aria-selected
      className="border-y border-line-strong bg-surface-2 px-3 py-2"
      onKeyDown={onKeyDown}
      onClick={(event) => event.stopPropagation()}
      data-testid={debugIds.editField}
    >
      <div className="mb-1 flex items-center gap-2">
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-text-2">{`${view.key}${suffix(pointer)}`}</span>
        {looks.length > 1 && (
          <Tabs
            look="segmented"
            label={t("debug.input.as")}
            value={look}
            onChange={(next) => setLook(next as typeof look)}
            tabs={looks}
          />
        )}
      </div>
      <div ref={box}>
        {look === "field" && schema ? (
          <SchemaForm schema={schema} value={draft} onChange={setDraft} jsonSwitch={false} />
        ) : look === "text" ? (
          <TextArea
            mono
            value={typeof draft === "string" ? draft : ""}
            onChange={setDraft}
            minRows={1}
            maxRows={12}
            aria-label={view.key}
          />
        ) : (
          <JsonEditor
            value={draft}
            onChange={setDraft}
            onValidity={setValid}
            {...(schema && { schema })}
            minLines={2}
            maxLines={14}
            aria-label={view.key}
          />
        )}
      </div>
      <div className="mt-2 flex items-center gap-2">
        <Button
          size="small"
          variant="primary"
          shortcut="Mod+Enter"
          disabled={!valid || draft === undefined}
          onClick={() => onDone(draft)}
          data-testid={debugIds.editDone}
        >
          {t("debug.edit.done")}
        </Button>
        <Button size="small" variant="ghost" shortcut="Esc" onClick={onCancel}>
          {t("debug.cancel")}
        </Button>
      </div>
    </div>
  );
}

const suffix = (pointer: string): string => {
  const path = readablePath(pointer);
  return path === "" ? "" : path.startsWith("[") ? path : `.${path}`;
};

/** The key's JSON Schema in the open document, without what belongs to the channel. */
function declaredSchema(key: string): Record<string, unknown> | undefined {
  const record = doc.get(`key:${key}`);
  if (!isObject(record)) return undefined;
  const { reducer: _reducer, channel: _channel, default: _default, ...schema } = record;
  return schema;
}
