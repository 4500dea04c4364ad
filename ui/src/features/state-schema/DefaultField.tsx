/** What a state key or a field of the run context begins with, when it begins with something. */
import { Field } from "../../components/Field";
import { JsonEditor } from "../../components/JsonEditor";
import { initialValue } from "../../components/schema-form/initial";
import type { Schema } from "../../components/schema-form/schema";
import { builderType } from "../../components/schema-form/SchemaBuilder";
import { SchemaForm } from "../../components/schema-form/SchemaForm";
import { Switch } from "../../components/Switch";
import type { Json, JsonObject } from "../../document/types";
import { t } from "../../lib/texts";

export function DefaultField({
  record,
  schema,
  error,
  none = t("forms.state.noDefault"),
  onChange,
}: {
  record: JsonObject;
  schema: Schema;
  error: { message: string; remedy: string; severity: "error" | "warning" }[];
  /** What it means that there is none. */
  none?: string;
  onChange(value: Json | undefined): void;
}) {
  const has = record["default"] !== undefined;
  const simple = ["string", "integer", "number", "boolean", "enum"].includes(builderType(schema) ?? "");
  return (
    <Field
      label={t("forms.state.default")}
      description={has ? undefined : none}
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
