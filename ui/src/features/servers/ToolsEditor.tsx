/** Which tools of an MCP server may be called: all of them, or those that are ticked. */
import { Checkbox } from "../../components/Checkbox";
import { hintClass, itemsClass } from "../../components/recipes";
import { useForm } from "../../components/schema-form/form";
import type { FieldEditorProps } from "../../components/schema-form/SchemaForm";
import { TextArea } from "../../components/TextField";
import { pointerGet } from "../../document/pointer";
import { useRecord } from "../../document/store";
import { nodeOf } from "../../document/types";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useServers } from "./useServers";

export function ToolsEditor({ value, onChange, pointer, readOnly, onBlur }: FieldEditorProps) {
  const { workplace } = useForm();
  const record = useRecord(`node:${workplace?.node ?? ""}`);
  const { tools } = useServers();
  const server = pointerGet(nodeOf(record).config, pointer.replace(/\/[^/]*$/, "/server"));
  const offered = tools.get(typeof server === "string" ? server : "");
  const chosen = Array.isArray(value)
    ? value.filter((name): name is string => typeof name === "string")
    : null;
  if (offered === undefined)
    return (
      <div className={itemsClass} onBlur={onBlur}>
        <TextArea
          mono
          minRows={1}
          readOnly={readOnly}
          value={(chosen ?? []).join("\n")}
          placeholder={t("servers.tools.all")}
          onChange={(text) => {
            const names = text.split("\n").filter((name) => name.trim() !== "");
            onChange(text === "" ? undefined : names);
          }}
        />
        <p className={hintClass}>{t("servers.tools.connect")}</p>
      </div>
    );
  const names = offered.map((tool) => tool.name);
  // Tools that the server does not offer (any more) stay visible, to be taken out.
  const gone = (chosen ?? []).filter((name) => !names.includes(name));
  const put = (name: string, on: boolean) => {
    const before = chosen ?? names;
    const next = on ? [...before, name] : before.filter((other) => other !== name);
    onChange(names.every((each) => next.includes(each)) && gone.length === 0 ? undefined : next);
  };
  return (
    <div
      className="flex flex-col gap-0.5 max-h-60 overflow-y-auto py-0.5 px-2 border border-line rounded-md bg-surface-2"
      role="group"
      onBlur={onBlur}
      data-testid={safetyIds.serverTools}
    >
      {[
        ...offered,
        ...gone.map((name) => ({ name, description: t("forms.editor.gone"), readsOnly: false })),
      ].map(({ name, description, readsOnly }) => (
        <Checkbox
          key={name}
          checked={chosen === null || chosen.includes(name)}
          disabled={readOnly}
          onChange={(on) => put(name, on)}
        >
          <span className="font-mono text-xs/inherit">{name}</span>{" "}
          <span className="text-text-3" title={description}>
            {readsOnly ? `${t("servers.tools.reads")} · ` : ""}
            {description?.split("\n")[0]?.slice(0, 120)}
          </span>
        </Checkbox>
      ))}
    </div>
  );
}
