/** The run context that the graph declares: its fields, each with a name, a type, a default and a description. */
import { ChevronDown, ChevronRight, Plus, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import {
  cardBodyClass,
  cardClass,
  cardHeadClass,
  cardTitleClass,
  cardToggleClass,
  helpClass,
  itemsClass,
  sectionClass,
  sectionTitleClass,
} from "../../components/recipes";
import type { Schema } from "../../components/schema-form/schema";
import { NameField, TypeDetails, TypeSelect } from "../../components/schema-form/SchemaBuilder";
import { TextArea } from "../../components/TextField";
import { putContextField, removeContextField, renameContextField } from "../../document/context-sets";
import { edit } from "../../document/edit";
import { isObject, type Json, type JsonObject } from "../../document/types";
import type { Diagnostic } from "../../ipc/bindings/Diagnostic";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { DefaultField } from "../state-schema";
import { problemsOf } from "./problems";

interface ContextSectionProps {
  readonly head: JsonObject;
  readonly problems: readonly Diagnostic[];
}

export function ContextSection({ head, problems }: ContextSectionProps) {
  const [open, setOpen] = useState<string | null>(null);
  const fields = isObject(head["context"]) ? head["context"] : {};
  const names = Object.keys(fields);
  const add = () => {
    let name = t("forms.schema.newField");
    for (let n = 2; Object.hasOwn(fields, name); n += 1) name = `${t("forms.schema.newField")}${n}`;
    edit(t("forms.context.edit.add", { name }), (doc) => putContextField(doc, name, { type: "string" }));
    setOpen(name);
  };
  return (
    <section className={sectionClass} data-testid={formsIds.contextSection}>
      <div className={sectionTitleClass}>
        <h3>{t("forms.context.title")}</h3>
        <Button
          size="small"
          icon={<Plus size={13} aria-hidden />}
          onClick={add}
          data-testid={formsIds.contextAdd}
        >
          {t("forms.schema.add")}
        </Button>
      </div>
      <p className={helpClass}>{t("forms.context.help", { field: "context.NAME" })}</p>
      {names.map((name) => {
        const isOpen = open === name;
        return (
          <div key={name} className={cardClass} data-pointer={pointerOf(name)}>
            <div className={cardHeadClass}>
              <button
                type="button"
                className={cardToggleClass}
                aria-expanded={isOpen}
                onClick={() => setOpen(isOpen ? null : name)}
              >
                {isOpen ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
                <span className={cardTitleClass}>{name}</span>
              </button>
              <IconButton
                size="small"
                label={t("forms.schema.removeEntry", { name })}
                onClick={() =>
                  edit(t("forms.context.edit.remove", { name }), (doc) => removeContextField(doc, name))
                }
              >
                <X size={13} />
              </IconButton>
            </div>
            {isOpen && (
              <ContextField
                name={name}
                record={fields[name] ?? null}
                taken={(other) => other !== name && Object.hasOwn(fields, other)}
                problems={problems}
                onRenamed={setOpen}
              />
            )}
          </div>
        );
      })}
    </section>
  );
}

const pointerOf = (name: string): string => `/context/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;

interface ContextFieldProps {
  readonly name: string;
  readonly record: Json;
  readonly problems: readonly Diagnostic[];
  taken(name: string): boolean;
  onRenamed(to: string): void;
}

function ContextField({ name, record, problems, taken, onRenamed }: ContextFieldProps) {
  const schema: JsonObject = isObject(record) ? record : {};
  const { default: _default, description, ...type } = schema;
  const put = (next: JsonObject, what: string) =>
    edit(t("forms.edit.field", { what, name }), (doc) => putContextField(doc, name, next), {
      merge: `doc${pointerOf(name)} ${what}`,
    });
  const withField = (field: string, value: Json | undefined): JsonObject => {
    const { [field]: _old, ...rest } = schema;
    return value === undefined ? rest : { ...schema, [field]: value };
  };
  // A default of the old type would be an error that nobody asked for.
  const putType = (next: Schema) =>
    put(
      { ...(next as JsonObject), ...(description !== undefined && { description }) },
      t("forms.state.type"),
    );
  return (
    <div className={cardBodyClass}>
      <Field
        label={t("forms.state.name")}
        description={t("forms.context.renameHelp")}
        error={problemsOf(problems, (pointer) => pointer === pointerOf(name))}
      >
        <NameField
          name={name}
          taken={taken}
          onRename={(to) => {
            edit(t("forms.context.edit.rename", { name }), (doc) => renameContextField(doc, name, to));
            onRenamed(to);
          }}
          label={t("forms.state.name")}
        />
      </Field>
      <Field label={t("forms.state.type")}>
        <div className={itemsClass}>
          <TypeSelect schema={type as Schema} onChange={putType} />
          <TypeDetails
            schema={type as Schema}
            onChange={(next) =>
              put(
                {
                  ...(next as JsonObject),
                  ...(description !== undefined && { description }),
                  ...(schema["default"] !== undefined && { default: schema["default"] }),
                },
                t("forms.state.type"),
              )
            }
          />
        </div>
      </Field>
      <DefaultField
        record={schema}
        schema={type as Schema}
        none={t("forms.context.required")}
        error={[]}
        onChange={(next) => put(withField("default", next), t("forms.state.default"))}
      />
      <Field label={t("forms.state.description")}>
        <TextArea
          minRows={1}
          value={typeof description === "string" ? description : ""}
          placeholder={t("forms.context.descriptionPlaceholder")}
          onChange={(next) =>
            put(withField("description", next === "" ? undefined : next), t("forms.state.description"))
          }
        />
      </Field>
    </div>
  );
}
