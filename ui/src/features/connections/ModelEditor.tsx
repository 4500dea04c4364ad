/** The field that names a model: suggestions, the models of the person's connections, and a connection added in place. */
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { Combobox, namesPart } from "../../components/Combobox";
import { itemsClass } from "../../components/recipes";
import type { FieldEditorProps } from "../../components/schema-form/SchemaForm";
import { placeholderOf } from "../../components/schema-form/placeholder";
import { useAnswer } from "../../debugger/model/useAnswer";
import type { ConnectionList } from "../../ipc/bindings/ConnectionList";
import { rpc } from "../../ipc/client";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showToast } from "../../state/toasts";
import { ConnectionForm } from "./ConnectionForm";

export function ModelEditor({ schema, value, onChange, readOnly, onBlur }: FieldEditorProps) {
  const read = useAnswer("connections", (signal) => rpc("connections.list", {}, signal), true);
  const [changed, setChanged] = useState<ConnectionList | null>(null);
  const [adding, setAdding] = useState(false);
  const list = changed ?? read.value;
  const text = typeof value === "string" ? value : "";
  const examples = Array.isArray(schema.examples) ? schema.examples.map(String) : [];
  return (
    <div className={itemsClass} onBlur={onBlur}>
      <Combobox
        choose={namesPart(text)}
        value={text}
        disabled={readOnly}
        onChange={(next) => onChange(next === "" ? undefined : next)}
        placeholder={placeholderOf(schema)}
        items={[
          ...(list?.connections ?? []).map(({ name, provider }) => ({
            value: `${name}::`,
            hint: provider,
            description: t("connections.ofYours"),
          })),
          ...examples.map((example) => ({ value: example })),
        ]}
      />
      {!readOnly && !adding && list !== null && (
        <div>
          <Button
            size="small"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => setAdding(true)}
            data-testid={safetyIds.addConnection}
          >
            {t("connections.add")}
          </Button>
        </div>
      )}
      {adding && list !== null && (
        <div className="p-2.5 border border-line rounded-md bg-surface-2">
          <ConnectionForm
            list={list}
            connection={null}
            onClose={() => setAdding(false)}
            onSaved={(next, name) => {
              setChanged(next);
              setAdding(false);
              onChange(`${name}::`);
              showToast({ tone: "done", text: t("connections.saved", { name }) });
            }}
          />
        </div>
      )}
    </div>
  );
}
