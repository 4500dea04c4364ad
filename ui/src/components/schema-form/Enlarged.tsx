/** A field of text or code with what the place around the form adds: a large editor, and what the text gives. */
import { Maximize2 } from "lucide-react";
import { memo, useState, type KeyboardEvent, type ReactNode } from "react";
import { t } from "../../lib/texts";
import type { Mode } from "../code/options";
import { isError } from "../Field";
import { IconButton } from "../IconButton";
import { useForm, type FieldEditorProps } from "./form";

type Props = Pick<
  FieldEditorProps,
  "schema" | "onChange" | "stateKeys" | "variables" | "readOnly" | "problems"
> & {
  text: string;
  mode: Mode;
  children: ReactNode;
};

export function Enlarged({
  schema,
  text,
  mode,
  onChange,
  stateKeys,
  variables,
  readOnly,
  problems,
  children,
}: Props) {
  const { workplace } = useForm();
  const [open, setOpen] = useState(false);
  if (workplace === undefined) return children;
  const { Large, LiveValue, node } = workplace;
  const valid = !problems.some(isError);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || open) return;
    event.preventDefault();
    event.stopPropagation();
    setOpen(true);
  };
  return (
    <div className="group/large min-w-0" onKeyDownCapture={onKeyDown}>
      <div className="relative min-w-0">
        {children}
        <div className="absolute right-0.75 bottom-0.75 rounded-sm bg-surface-2 opacity-0 group-focus-within/large:opacity-100 group-hover/large:opacity-100">
          <OpenLarge setOpen={setOpen} />
        </div>
      </div>
      {(mode === "expression" || mode === "template") && (
        <LiveValue text={text} template={mode === "template"} valid={valid} />
      )}
      {open && (
        <Large
          node={node}
          title={schema.title ?? ""}
          mode={mode}
          text={text}
          onChange={onChange}
          stateKeys={stateKeys}
          variables={variables}
          readOnly={readOnly}
          problems={problems}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

const OpenLarge = memo(function OpenLarge({ setOpen }: { setOpen(open: boolean): void }) {
  return (
    <IconButton
      size="small"
      // Not on the way to the next field: its key works in the text itself.
      tabIndex={-1}
      label={t("forms.large.open")}
      shortcut="Mod+Enter"
      onClick={() => setOpen(true)}
    >
      <Maximize2 size={12} />
    </IconButton>
  );
});
