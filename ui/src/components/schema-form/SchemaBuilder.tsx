/**
 * Makes a JSON Schema without writing JSON: a type, and for objects their fields. It changes only the keywords it shows
 * and keeps the others; a schema that is beyond it is edited as JSON.
 */
import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { t, type TextKey } from "../../lib/texts";
import { Button } from "../Button";
import { Checkbox } from "../Checkbox";
import { IconButton } from "../IconButton";
import { JsonEditor } from "../JsonEditor";
import { Select } from "../Select";
import { Tabs } from "../Tabs";
import { TextField } from "../TextField";
import type { Json } from "./json";
import type { Schema } from "./schema";
import { groupClass, itemClass, itemsClass } from "../recipes";

export type SchemaType = "any" | "string" | "enum" | "number" | "integer" | "boolean" | "array" | "object";

const TYPES: readonly [SchemaType, TextKey][] = [
  ["string", "forms.builder.string"],
  ["enum", "forms.builder.enum"],
  ["integer", "forms.builder.integer"],
  ["number", "forms.builder.number"],
  ["boolean", "forms.builder.boolean"],
  ["array", "forms.builder.array"],
  ["object", "forms.builder.object"],
  ["any", "forms.builder.any"],
];

/** The type of a schema in the builder's words; null when the builder cannot show it. */
export function builderType(schema: Json): SchemaType | null {
  if (schema === true) return "any";
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return null;
  if (["oneOf", "anyOf", "allOf", "not", "if", "$ref", "const"].some((keyword) => keyword in schema))
    return null;
  if (Array.isArray(schema.enum))
    return schema.enum.every((option: Json) => typeof option === "string") ? "enum" : null;
  if (schema.type === undefined) return "properties" in schema ? "object" : "any";
  return TYPES.some(([type]) => type === schema.type && type !== "enum" && type !== "any")
    ? schema.type
    : null;
}

const OF_TYPE: Record<SchemaType, readonly string[]> = {
  any: [],
  string: ["minLength", "maxLength", "pattern", "format"],
  enum: [],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  boolean: [],
  array: ["items", "minItems", "maxItems", "uniqueItems"],
  object: ["properties", "required", "additionalProperties", "minProperties", "maxProperties"],
};
const TYPED = new Set([...Object.values(OF_TYPE).flat(), "type", "enum"]);

/** The schema with another type: what only the old type understands goes, texts and unknown fields stay. */
function withType(schema: Schema, type: SchemaType): Schema {
  const kept = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !TYPED.has(keyword) || OF_TYPE[type].includes(keyword)),
  ) as Schema;
  if (type === "any") return kept;
  if (type === "enum") return { type: "string", ...kept, enum: schema.enum ?? [] };
  if (type === "object" && kept.properties === undefined) return { type, ...kept, properties: {} };
  return { type, ...kept };
}

export interface TypeSelectProps {
  schema: Json;
  onChange(schema: Schema): void;
  label?: string;
  disabled?: boolean | undefined;
}

/** The type of a schema as a choice. */
export function TypeSelect({ schema, onChange, label, disabled }: TypeSelectProps) {
  const type = builderType(schema);
  return (
    <Select
      {...(label !== undefined && { "aria-label": label })}
      value={type ?? "custom"}
      disabled={disabled}
      options={[
        ...(type === null ? [{ value: "custom" as const, label: t("forms.builder.custom") }] : []),
        ...TYPES.map(([value, key]) => ({ value, label: t(key) })),
      ]}
      onChange={(next) => {
        if (next !== "custom")
          onChange(withType(typeof schema === "object" && schema !== null ? schema : {}, next as SchemaType));
      }}
    />
  );
}

/** Values of an enum, one after the other. */
function EnumValues({
  values,
  onChange,
  readOnly = false,
}: {
  values: string[];
  onChange(values: string[]): void;
  readOnly?: boolean;
}) {
  const [draft, setDraft] = useState("");
  const add = () => {
    const value = draft.trim();
    if (value === "" || values.includes(value)) return;
    onChange([...values, value]);
    setDraft("");
  };
  return (
    <div className="flex flex-wrap gap-1 min-h-7 py-0.75 px-1 border border-line-field rounded-md bg-surface-2 min-w-0 focus-within:border-focus focus-within:outline-1 focus-within:outline-focus">
      {values.map((value) => (
        <span
          key={value}
          className="inline-flex items-center gap-0.5 h-5 pr-1 pl-1.5 rounded-sm bg-surface-4 font-mono text-xs/inherit max-w-full truncate [&>button]:inline-flex [&>button]:p-0.5 [&>button]:rounded-[3px] [&>button]:text-text-3 [&>button]:shrink-0 [&>button:hover]:text-text [&>button:hover]:bg-surface-3"
        >
          {value}
          {!readOnly && (
            <button
              type="button"
              aria-label={t("forms.builder.removeValue", { value })}
              onClick={() => onChange(values.filter((other) => other !== value))}
            >
              <X size={11} aria-hidden />
            </button>
          )}
        </span>
      ))}
      {!readOnly && (
        <input
          className="outline-none flex-1 min-w-20 h-5 px-1 bg-transparent text-xs/inherit"
          aria-label={t("forms.builder.addValue")}
          placeholder={t("forms.builder.addValue")}
          spellCheck={false}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={add}
          onKeyDown={(event) => {
            if (event.key === "Enter" || event.key === ",") {
              event.preventDefault();
              add();
            } else if (event.key === "Backspace" && draft === "" && values.length > 0)
              onChange(values.slice(0, -1));
          }}
        />
      )}
    </div>
  );
}

export interface SchemaBuilderProps {
  value: Json;
  onChange(schema: Json): void;
  readOnly?: boolean;
  /** What to show while there is no schema. */
  emptyText?: string;
}

export function SchemaBuilder({ value, onChange, readOnly = false, emptyText }: SchemaBuilderProps) {
  const [view, setView] = useState<"form" | "json">("form");
  if (value === undefined || value === null) {
    return (
      <div className={itemClass}>
        <span className="flex-1 min-w-0 text-xs/inherit text-text-3">{emptyText ?? t("forms.notSet")}</span>
        {!readOnly && (
          <Button
            size="small"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => onChange({ type: "string" })}
          >
            {t("forms.schema.set")}
          </Button>
        )}
      </div>
    );
  }
  const type = builderType(value);
  return (
    <div className={itemsClass}>
      <div className="flex gap-1 min-w-0 items-center">
        <div className="flex-1 min-w-0">
          <TypeSelect
            schema={value}
            onChange={onChange}
            label={t("forms.builder.type")}
            disabled={readOnly}
          />
        </div>
        <Tabs
          look="segmented"
          label={t("forms.schema.switch")}
          value={type === null ? "json" : view}
          onChange={(next) => setView(next === "json" ? "json" : "form")}
          tabs={[
            { id: "form", label: t("forms.schema.form"), disabled: type === null },
            { id: "json", label: t("forms.schema.json") },
          ]}
        />
        {!readOnly && (
          <IconButton size="small" label={t("forms.builder.clear")} onClick={() => onChange(undefined)}>
            <X size={13} />
          </IconButton>
        )}
      </div>
      {view === "json" || type === null ? (
        <JsonEditor
          value={value}
          onChange={(next) => onChange(next ?? undefined)}
          readOnly={readOnly}
          aria-label={t("forms.schema.json")}
        />
      ) : (
        <TypeDetails schema={value} onChange={onChange} readOnly={readOnly} />
      )}
    </div>
  );
}

/** What belongs to a type: the values of an enum, the items of a list, the fields of an object. */
export function TypeDetails({
  schema,
  onChange,
  readOnly = false,
}: {
  schema: Schema;
  onChange(schema: Schema): void;
  readOnly?: boolean;
}) {
  const type = builderType(schema);
  if (type === "enum") {
    return (
      <EnumValues
        values={(schema.enum ?? []).map(String)}
        onChange={(values) => onChange({ ...schema, enum: values })}
        readOnly={readOnly}
      />
    );
  }
  if (type === "array") {
    const items = typeof schema.items === "object" ? schema.items : {};
    return (
      <div className={groupClass}>
        <div className={itemClass}>
          <span className="text-xs/7 text-text-3">{t("forms.builder.of")}</span>
          <div className="flex-1 min-w-0">
            <TypeSelect
              schema={items}
              label={t("forms.builder.itemType")}
              disabled={readOnly}
              onChange={(next) => {
                const { items: _items, ...beside } = schema;
                onChange(Object.keys(next).length === 0 ? (beside as Schema) : { ...schema, items: next });
              }}
            />
          </div>
        </div>
        {["enum", "object"].includes(builderType(items) ?? "") && (
          <TypeDetails
            schema={items}
            onChange={(next) => onChange({ ...schema, items: next })}
            readOnly={readOnly}
          />
        )}
      </div>
    );
  }
  if (type === "object") return <ObjectFields schema={schema} onChange={onChange} readOnly={readOnly} />;
  return null;
}

function ObjectFields({
  schema,
  onChange,
  readOnly,
}: {
  schema: Schema;
  onChange(schema: Schema): void;
  readOnly: boolean;
}) {
  const properties = schema.properties ?? {};
  const names = Object.keys(properties);
  const required = new Set(schema.required ?? []);
  const id = useId();
  const put = (next: Record<string, Schema | boolean>, needs: ReadonlySet<string>) => {
    const { required: _required, ...beside } = schema;
    const list = Object.keys(next).filter((name) => needs.has(name));
    onChange({ ...beside, properties: next, ...(list.length > 0 && { required: list }) } as Schema);
  };
  const add = () => {
    let name = t("forms.schema.newField");
    for (let n = 2; name in properties; n += 1) name = `${t("forms.schema.newField")}${n}`;
    put({ ...properties, [name]: { type: "string" } }, new Set([...required, name]));
    requestAnimationFrame(() => {
      const input = document.getElementById(`${id}${names.length}`)?.querySelector("input");
      input?.focus();
      input?.select();
    });
  };
  return (
    <div className={groupClass}>
      {names.map((name, index) => {
        const property = typeof properties[name] === "object" ? properties[name] : {};
        return (
          <div key={index} id={`${id}${index}`} className={itemsClass}>
            <div className={itemClass}>
              <div className="flex-1 min-w-0">
                <NameField
                  name={name}
                  taken={(other) => other !== name && other in properties}
                  readOnly={readOnly}
                  onRename={(to) =>
                    put(
                      Object.fromEntries(
                        Object.entries(properties).map(([key, item]) => [key === name ? to : key, item]),
                      ),
                      new Set([...required].map((key) => (key === name ? to : key))),
                    )
                  }
                />
              </div>
              <div className="flex-1 min-w-0">
                <TypeSelect
                  schema={property}
                  label={t("forms.builder.typeOf", { name })}
                  disabled={readOnly}
                  onChange={(next) => put({ ...properties, [name]: next }, required)}
                />
              </div>
              {!readOnly && (
                <div className="flex shrink-0 pt-0.75">
                  <IconButton
                    size="small"
                    label={t("forms.schema.removeEntry", { name })}
                    onClick={() =>
                      put(
                        Object.fromEntries(Object.entries(properties).filter(([key]) => key !== name)),
                        required,
                      )
                    }
                  >
                    <X size={13} />
                  </IconButton>
                </div>
              )}
            </div>
            <TypeDetails
              schema={property}
              onChange={(next) => put({ ...properties, [name]: next }, required)}
              readOnly={readOnly}
            />
            <Checkbox
              checked={required.has(name)}
              disabled={readOnly}
              onChange={(on) =>
                put(
                  properties,
                  new Set(on ? [...required, name] : [...required].filter((key) => key !== name)),
                )
              }
            >
              {t("forms.builder.required")}
            </Checkbox>
          </div>
        );
      })}
      {!readOnly && (
        <div>
          <Button size="small" icon={<Plus size={13} aria-hidden />} onClick={add}>
            {t("forms.schema.addEntry")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** A name that is committed when the field is left, so that half a name never replaces a field. */
export function NameField({
  name,
  taken,
  onRename,
  readOnly = false,
  label,
}: {
  name: string;
  taken(name: string): boolean;
  onRename(to: string): void;
  readOnly?: boolean;
  label?: string;
}) {
  const [draft, setDraft] = useState<string | null>(null);
  const bad = draft !== null && (draft.trim() === "" || taken(draft.trim()));
  const finish = () => {
    if (draft !== null && !bad && draft.trim() !== name) onRename(draft.trim());
    setDraft(null);
  };
  return (
    <TextField
      mono
      aria-label={label ?? t("forms.schema.entryName")}
      {...(bad && { "aria-invalid": true })}
      value={draft ?? name}
      onChange={setDraft}
      onBlur={finish}
      onCommit={finish}
      onKeyDown={(event) => {
        if (event.key === "Escape" && draft !== null) {
          event.stopPropagation();
          setDraft(null);
        }
      }}
      readOnly={readOnly}
    />
  );
}
