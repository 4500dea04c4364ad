/** Answers that are offered as buttons: the label first; what it answers is the label, until it is made something else. */
import { Plus, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { JsonEditor } from "../../components/JsonEditor";
import { Field } from "../../components/Field";
import type { FieldEditor, FieldEditorProps } from "../../components/schema-form/SchemaForm";
import { TextField } from "../../components/TextField";
import { isObject, type Json, type JsonObject } from "../../document/types";
import { t } from "../../lib/texts";
import { itemsClass } from "../../components/recipes";
import { relabelled } from "./choices";

export const ChoicesEditor: FieldEditor = function ChoicesEditor({
  value,
  onChange,
  pointer,
  readOnly,
  problemsAt,
  onBlur,
}: FieldEditorProps) {
  const choices: Json[] = Array.isArray(value) ? value : [];
  const list = useRef<HTMLDivElement>(null);
  // The row that was added is the one to type in.
  const [added, setAdded] = useState(0);
  useEffect(() => {
    if (added === 0) return;
    const inputs = list.current?.querySelectorAll<HTMLInputElement>("[data-choice] input");
    inputs?.item(inputs.length - 1)?.focus();
  }, [added]);
  const put = (index: number, next: Json) =>
    onChange(choices.map((choice, at) => (at === index ? next : choice)));
  const remove = (index: number) => {
    const rest = choices.filter((_, at) => at !== index);
    onChange(rest.length === 0 ? undefined : rest);
  };
  const add = () => {
    onChange([...choices, { label: "", value: "" }]);
    setAdded((n) => n + 1);
  };
  return (
    <div className={itemsClass} ref={list} onBlur={onBlur}>
      {choices.map((item, index) => (
        <Choice
          // The place: relabelling must not take the focus away.
          key={index}
          choice={isObject(item) ? item : {}}
          number={index + 1}
          pointer={`${pointer}/${index}`}
          problemsAt={problemsAt}
          readOnly={readOnly}
          onChange={(next) => put(index, next)}
          onRemove={() => remove(index)}
          onEnter={add}
        />
      ))}
      {!readOnly && (
        <div>
          <Button size="small" icon={<Plus size={13} aria-hidden />} onClick={add}>
            {t("forms.choices.add")}
          </Button>
        </div>
      )}
    </div>
  );
};
ChoicesEditor.nested = true;

function Choice({
  choice,
  number,
  pointer,
  problemsAt,
  readOnly,
  onChange,
  onRemove,
  onEnter,
}: {
  choice: JsonObject;
  number: number;
  pointer: string;
  problemsAt: FieldEditorProps["problemsAt"];
  readOnly: boolean;
  onChange(next: JsonObject): void;
  onRemove(): void;
  onEnter(): void;
}) {
  const label = typeof choice["label"] === "string" ? choice["label"] : "";
  const about = typeof choice["description"] === "string" ? choice["description"] : "";
  const other = choice["value"] !== label;
  const [open, setOpen] = useState(other || about !== "");
  return (
    <Field
      error={[
        ...problemsAt(pointer),
        ...problemsAt(`${pointer}/label`),
        ...problemsAt(`${pointer}/value`),
        ...problemsAt(`${pointer}/description`),
      ]}
      pointer={`/config${pointer}`}
    >
      <div className="flex items-center gap-1" data-choice>
        <TextField
          className="flex-1 min-w-0"
          aria-label={t("forms.choices.label", { n: number })}
          placeholder={t("forms.choices.placeholder")}
          value={label}
          readOnly={readOnly}
          onChange={(next) => onChange(relabelled(choice, next))}
          onCommit={onEnter}
        />
        <Button size="small" variant="ghost" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t("forms.choices.more")}
        </Button>
        {!readOnly && (
          <IconButton
            size="small"
            label={t("forms.schema.removeEntry", { name: label || String(number) })}
            onClick={onRemove}
          >
            <X size={13} />
          </IconButton>
        )}
      </div>
      {open && (
        <div className="flex flex-col gap-2 mt-1.5 mb-1 pl-2.5 border-l-2 border-line">
          <Field label={t("forms.choices.value")} description={t("forms.choices.valueHelp")}>
            <JsonEditor
              value={choice["value"]}
              minLines={1}
              readOnly={readOnly}
              aria-label={t("forms.choices.value")}
              onChange={(next: Json | undefined) => {
                if (next !== undefined) onChange({ ...choice, value: next });
              }}
            />
          </Field>
          <Field label={t("forms.choices.description")}>
            <TextField
              value={about}
              readOnly={readOnly}
              onChange={(next) => {
                const { description: _, ...rest } = choice;
                onChange(next === "" ? rest : { ...rest, description: next });
              }}
            />
          </Field>
        </div>
      )}
    </Field>
  );
}
