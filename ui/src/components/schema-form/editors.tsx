/** Editors that fields ask for by `x-editor` in every form. */
import { ExpressionField } from "../ExpressionField";
import { TemplateField } from "../TemplateField";
import { MessagesEditor } from "./MessagesEditor";
import type { FieldEditorProps, FormEditors } from "./form";
import { placeholderOf } from "./absent";

function ExpressionEditor({
  schema,
  value,
  onChange,
  stateKeys,
  variables,
  readOnly,
  problems,
  onBlur,
}: FieldEditorProps) {
  return (
    <ExpressionField
      value={typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)}
      onChange={(text) => onChange(text === "" ? undefined : text)}
      keys={stateKeys}
      variables={variables}
      readOnly={readOnly}
      placeholder={placeholderOf(schema)}
      error={problems[0]?.message}
      onBlur={onBlur}
    />
  );
}

function TemplateEditor({
  schema,
  value,
  onChange,
  stateKeys,
  variables,
  readOnly,
  problems,
  onBlur,
}: FieldEditorProps) {
  return (
    <TemplateField
      value={typeof value === "string" ? value : ""}
      onChange={(text) => onChange(text === "" ? undefined : text)}
      keys={stateKeys}
      variables={variables}
      readOnly={readOnly}
      placeholder={placeholderOf(schema)}
      error={problems[0]?.message}
      onBlur={onBlur}
    />
  );
}

function MessagesFieldEditor({ value, onChange, readOnly }: FieldEditorProps) {
  return <MessagesEditor value={value} onChange={onChange} readOnly={readOnly} />;
}

export const BUILT_IN: FormEditors = {
  expression: ExpressionEditor,
  template: TemplateEditor,
  messages: MessagesFieldEditor,
};
