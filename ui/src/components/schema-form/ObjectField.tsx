/** Members of an object: those that the schema names, and others by name. */
import { useState } from "react";
import { Plus, X } from "lucide-react";
import { t } from "../../lib/texts";
import { Button } from "../Button";
import { Field, type FieldProblem } from "../Field";
import { IconButton } from "../IconButton";
import { Select } from "../Select";
import { TextField } from "../TextField";
import { useStable } from "../stable";
import { useForm, beginning, type FieldProps } from "./form";
import { absentText } from "./placeholder";
import { Drawer } from "./Drawer";
import { Member } from "./Member";
import { arranged, countSet } from "./layout";
import { shownProperties } from "./layout";
import { controlFor } from "./control";
import { escapeToken, type Json } from "./json";
import { secretTexts } from "./secret-texts";
import { labelOf } from "./labels";
import type { Schema } from "./schema";
import { cardBodyClass, fieldCardClass, cardHeadClass, groupClass, itemsClass } from "../recipes";

export function ObjectField({
  schema,
  properties,
  extra,
  value,
  onChange,
  pointer,
  required,
  bare = false,
  shownLabel,
  problems,
}: FieldProps & {
  properties: [string, Schema][];
  extra: Schema | null;
  shownLabel: string | undefined;
  problems: FieldProblem[];
}) {
  const form = useForm();
  const object: Record<string, Json> =
    typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const known = new Set(properties.map(([name]) => name));
  const others = Object.keys(object).filter((name) => !known.has(name) && object[name] !== undefined);
  const readOnly = form.readOnly || schema.readOnly === true;

  const set = useStable((name: string, next: Json) => {
    const changed = { ...object };
    if (next === undefined) delete changed[name];
    else changed[name] = next;
    onChange(changed);
  });
  const rename = (from: string, to: string) => {
    if (to === from || to in object) return;
    // The order of fields is kept: a rename is not a move.
    onChange(
      Object.fromEntries(Object.entries(object).map(([name, item]) => [name === from ? to : name, item])),
    );
  };
  const addEntry = () => {
    let name = t("forms.schema.newField");
    for (let n = 2; name in object; n += 1) name = `${t("forms.schema.newField")}${n}`;
    onChange({ ...object, [name]: extra === null ? "" : beginning(form, extra) });
  };

  // Of some fields only one may be there: it is chosen, not added beside the others.
  const oneOf = schema["x-one-of"] ?? [];
  const chosen = oneOf.filter((name) => object[name] !== undefined);
  const rivals =
    chosen.length > 1
      ? []
      : properties
          .filter(([name]) => oneOf.includes(name))
          .map(([name, property]): [string, Schema] => {
            const control = controlFor(property, form.root);
            return [
              name,
              control.kind === "nullable" ? { ...control.inner, title: property.title } : property,
            ];
          });
  const choose = (name: string) => {
    const property = rivals.find(([rival]) => rival === name)?.[1];
    const rest = Object.fromEntries(Object.entries(object).filter(([other]) => !oneOf.includes(other)));
    onChange(property === undefined ? rest : { ...rest, [name]: beginning(form, property) });
  };
  const field = ([name, property]: [string, Schema], bareField = false) => (
    <Member
      key={name}
      schema={bareField ? ({ ...property, title: undefined } as unknown as Schema) : property}
      value={object[name]}
      at={name}
      put={set}
      pointer={`${pointer}/${escapeToken(name)}`}
      name={name}
      required={bareField || (schema.required?.includes(name) ?? false)}
      bare={bareField}
    />
  );

  const layout = arranged(schema, shownProperties(properties, object));
  /** Adds to the list that a group is named after, while there is nothing in it and its items are of one form. */
  const firstOf = ({ title, fields }: (typeof layout.groups)[number]): (() => void) | undefined => {
    const [name, property] = fields.find((entry) => labelOf(...entry) === title) ?? [];
    if (name === undefined || property === undefined) return undefined;
    const control = controlFor(property, form.root);
    const held = object[name];
    if (control.kind !== "array" || (Array.isArray(held) && held.length > 0)) return undefined;
    const { items } = control;
    if (items["x-begin"] !== undefined || controlFor(items, form.root).kind === "variants") return undefined;
    return () => {
      form.workplace?.began?.(`${pointer}/${escapeToken(name)}/0`);
      set(name, [beginning(form, items)]);
    };
  };
  const isRival = (name: string) => rivals.some(([rival]) => rival === name);
  const choice = rivals.length > 0 && (
    <Field key="x-one-of" label={t("forms.schema.oneOf")}>
      <div className={itemsClass}>
        <Select
          value={chosen[0] ?? ""}
          disabled={readOnly}
          options={[
            ...(chosen.length === 0 ? [{ value: "", label: t("forms.notSet"), absent: true }] : []),
            ...rivals.map(([name, property]) => ({ value: name, label: labelOf(name, property) })),
          ]}
          onChange={(name) => {
            if (name !== chosen[0]) choose(name);
          }}
        />
        {rivals.filter(([name]) => name === chosen[0]).map((rival) => field(rival, true))}
      </div>
    </Field>
  );
  // The choice stands where the first of its fields would.
  const firstRival = layout.front.findIndex(([name]) => isRival(name));
  const front = layout.front.map((entry, index) =>
    index === firstRival ? choice : isRival(entry[0]) ? null : field(entry),
  );

  const body = (
    <>
      {properties.length === 0 && others.length === 0 && extra === null && (
        <p className="text-xs/inherit text-text-3">{t("forms.schema.noFields")}</p>
      )}
      {front}
      {firstRival < 0 && choice}
      {others.map((name, index) => (
        <EntryField
          // The place, not the name: renaming must not take the focus away.
          key={index}
          name={name}
          schema={extra ?? {}}
          value={object[name]}
          put={set}
          onRename={(to) => rename(name, to)}
          onRemove={() => set(name, undefined)}
          pointer={`${pointer}/${escapeToken(name)}`}
          readOnly={readOnly}
          taken={(to) => to !== name && to in object}
        />
      ))}
      {extra !== null && !readOnly && (
        <div>
          <Button size="small" icon={<Plus size={13} aria-hidden />} onClick={addEntry}>
            {t("forms.schema.addEntry")}
          </Button>
        </div>
      )}
      {layout.groups.length > 0 && (
        <div className="flex flex-col min-w-0 last:[&>section]:border-b-0">
          {layout.groups.map((group) => {
            const at = group.fields.map(([name]) => `${pointer}/${escapeToken(name)}`);
            const below = (place: string | null) =>
              place !== null && at.some((own) => place === own || place.startsWith(`${own}/`));
            const texts = group.fields.map(([name, property]) =>
              secretTexts(property, object[name], form.root),
            );
            return (
              <Drawer
                key={group.title}
                title={group.title}
                onAdd={readOnly ? undefined : firstOf(group)}
                set={countSet(group.fields, object)}
                invalid={at.some((own) => form.isInvalid(own))}
                asked={below(form.reveal)}
                closed={
                  form.workplace !== undefined && (
                    <form.workplace.Secrets text={texts.join("\n")} readOnly={readOnly} offers={false} />
                  )
                }
              >
                {() => group.fields.map((entry) => field(entry))}
              </Drawer>
            );
          })}
        </div>
      )}
    </>
  );

  if (bare) {
    return (
      <div className="flex flex-col gap-3 min-w-0" data-pointer={form.pointerPrefix + pointer}>
        {body}
        {problems.length > 0 && <Field error={problems}>{null}</Field>}
      </div>
    );
  }
  // An optional object that is not there is one line; its fields come with the first value.
  if (value === undefined && !required) {
    return (
      <Field
        label={shownLabel}
        description={schema.description}
        error={problems}
        pointer={form.pointerPrefix + pointer}
        aside={
          readOnly ? undefined : (
            <Button
              size="small"
              icon={<Plus size={13} aria-hidden />}
              onClick={() => onChange(beginning(form, schema))}
            >
              {t("forms.schema.add")}
            </Button>
          )
        }
      >
        <span className="text-xs/inherit text-text-3">{absentText(schema)}</span>
      </Field>
    );
  }
  const fold = schema["x-fold"];
  if (fold !== undefined) {
    const isAsked =
      form.reveal !== null && (form.reveal === pointer || form.reveal.startsWith(`${pointer}/`));
    return (
      <Drawer
        title={`${shownLabel ?? ""}${required ? " *" : ""}`}
        set={countSet(shownProperties(properties, object), object)}
        invalid={form.isInvalid(pointer)}
        asked={isAsked || fold === "open"}
      >
        {() => (
          <div className="flex flex-col gap-3 min-w-0" data-pointer={form.pointerPrefix + pointer}>
            {schema.description !== undefined && (
              <p className="text-xs/inherit text-text-3 text-pretty">{schema.description}</p>
            )}
            {body}
            {problems.length > 0 && <Field error={problems}>{null}</Field>}
          </div>
        )}
      </Drawer>
    );
  }
  return (
    <Field
      label={shownLabel}
      description={schema.description}
      required={required}
      error={problems}
      pointer={form.pointerPrefix + pointer}
      aside={
        !required && !readOnly ? (
          <IconButton
            size="small"
            label={t("forms.schema.clear", { name: shownLabel ?? "" })}
            onClick={() => onChange(undefined)}
          >
            <X size={13} />
          </IconButton>
        ) : undefined
      }
    >
      <div className={groupClass} role="group" aria-label={shownLabel}>
        {body}
      </div>
    </Field>
  );
}

function EntryField({
  name,
  schema,
  value,
  put,
  onRename,
  onRemove,
  pointer,
  readOnly,
  taken,
}: {
  name: string;
  schema: Schema;
  value: Json;
  put(name: string, value: Json): void;
  onRename(to: string): void;
  onRemove(): void;
  pointer: string;
  readOnly: boolean;
  taken(name: string): boolean;
}) {
  const [draft, setDraft] = useState<string | null>(null);
  const bad = draft !== null && (draft.trim() === "" || taken(draft));
  const finish = () => {
    if (draft !== null && !bad) onRename(draft);
    setDraft(null);
  };
  return (
    <div className={fieldCardClass}>
      <div className={cardHeadClass}>
        <TextField
          mono
          aria-label={t("forms.schema.entryName")}
          aria-invalid={bad || undefined}
          value={draft ?? name}
          onChange={setDraft}
          onBlur={finish}
          onCommit={finish}
          readOnly={readOnly}
        />
        {!readOnly && (
          <IconButton size="small" label={t("forms.schema.removeEntry", { name })} onClick={onRemove}>
            <X size={13} />
          </IconButton>
        )}
      </div>
      <div className={cardBodyClass}>
        <Member
          schema={schema}
          value={value}
          at={name}
          put={put}
          pointer={pointer}
          name={name}
          required
          bare
          label={name}
        />
      </div>
    </div>
  );
}
