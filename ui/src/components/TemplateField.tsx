/** Text with `{{ }}` in it. The menu puts a state key where the cursor is. */
import { Braces } from "lucide-react";
import { memo, useRef } from "react";
import { t } from "../lib/texts";
import { CodeEditor, type CodeEditorHandle, type CodeEditorProps } from "./CodeEditor";
import type { KeyInfo } from "./code/jinja";
import { IconButton } from "./IconButton";
import { Menu } from "./Menu";
import { useStable } from "./stable";

export interface TemplateFieldProps extends Pick<
  CodeEditorProps,
  | "onCommit"
  | "onFocus"
  | "onBlur"
  | "placeholder"
  | "readOnly"
  | "variables"
  | "minLines"
  | "maxLines"
  | "aria-label"
  | "data-testid"
> {
  value: string;
  onChange(value: string): void;
  keys: readonly KeyInfo[];
  error?: string | undefined;
}

export function TemplateField({ value, onChange, keys, error, placeholder, ...rest }: TemplateFieldProps) {
  const editor = useRef<CodeEditorHandle>(null);
  const insert = useStable((text: string) => editor.current?.insert(text));
  return (
    <div className="group/template relative">
      <CodeEditor
        {...rest}
        ref={editor}
        mode="template"
        value={value}
        onChange={onChange}
        keys={keys}
        invalid={error !== undefined && error !== ""}
        placeholder={placeholder ?? t("forms.code.templatePlaceholder")}
      />
      {keys.length > 0 && rest.readOnly !== true && (
        <div className="absolute top-0.75 right-0.75 rounded-sm bg-surface-2 opacity-0 group-focus-within/template:opacity-100 group-hover/template:opacity-100 has-data-popup-open:opacity-100">
          <KeyMenu keys={keys} insert={insert} />
        </div>
      )}
    </div>
  );
}

interface KeyMenuProps {
  keys: readonly KeyInfo[];
  insert(text: string): void;
}

const KeyMenu = memo(function KeyMenu({ keys, insert }: KeyMenuProps) {
  return (
    <Menu
      align="end"
      trigger={
        // Not on the way to the next field: keys are offered while one types.
        <IconButton label={t("forms.code.insertKey")} size="small" tabIndex={-1}>
          <Braces size={13} />
        </IconButton>
      }
      entries={[
        { id: "heading", heading: t("forms.code.insertKey") },
        ...keys.map((key) => ({
          id: key.name,
          label: `${key.name}  ·  ${key.type}`,
          run: () => insert(`{{ state.${key.name} }}`),
        })),
      ]}
    />
  );
});
