/** Editors that fields ask for by `x-editor` in every form. */
import { isError } from "../Field";
import type { Expected } from "../code/expression-types";
import { ExpressionField } from "../ExpressionField";
import { TemplateField } from "../TemplateField";
import { MessagesEditor } from "./MessagesEditor";
import type { FieldEditorProps, FormEditors } from "./form";
import { Enlarged } from "./Enlarged";
import { placeholderOf } from "./placeholder";

/** What the expressions of settings give that have these names in every kind. */
const EXPECTED: Readonly<Record<string, Expected>> = {
  when: { is: "condition" },
  items: { is: "value", schema: { type: "array" } },
};

function ExpressionEditor(props: FieldEditorProps) {
  const { schema, value, onChange, stateKeys, variables, readOnly, problems, onBlur, pointer } = props;
  const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
  return (
    <Enlarged {...props} text={text} mode="expression">
      <ExpressionField
        value={text}
        onChange={(text) => onChange(text === "" ? undefined : text)}
        keys={stateKeys}
        variables={variables}
        expected={EXPECTED[pointer.slice(pointer.lastIndexOf("/") + 1)]}
        readOnly={readOnly}
        placeholder={placeholderOf(schema)}
        error={problems.find(isError)?.message}
        onBlur={onBlur}
      />
    </Enlarged>
  );
}

function TemplateEditor(props: FieldEditorProps) {
  const { schema, value, onChange, stateKeys, variables, readOnly, problems, onBlur } = props;
  const text = typeof value === "string" ? value : "";
  return (
    <Enlarged {...props} text={text} mode="template">
      <TemplateField
        value={text}
        onChange={(text) => onChange(text === "" ? undefined : text)}
        keys={stateKeys}
        variables={variables}
        readOnly={readOnly}
        placeholder={placeholderOf(schema)}
        error={problems.find(isError)?.message}
        onBlur={onBlur}
      />
    </Enlarged>
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
