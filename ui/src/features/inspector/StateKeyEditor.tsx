/** The name of a state key in a node's settings, and the key that is made of a name which no key has. */
import { Plus } from "lucide-react";
import { Button } from "../../components/Button";
import { Combobox } from "../../components/Combobox";
import type { FieldEditorProps } from "../../components/schema-form/SchemaForm";
import { addKey } from "../../document/key-edits";
import { edit } from "../../document/edit";
import type { JsonObject } from "../../document/types";
import { t } from "../../lib/texts";
import { typeWords } from "../../components/schema-form/types";
import { itemsClass } from "../../components/recipes";

/** What a new key is when the field asks for no type. */
const TEXT: JsonObject = { type: "string" };

/** A way to make the key `name`; null when there is one, or when it cannot be one. */
function making(name: string, keys: FieldEditorProps["stateKeys"], schema: JsonObject) {
  if (!/^[A-Za-z_]\w*$/.test(name) || keys.some((key) => key.name === name)) return null;
  return {
    label: t("forms.editor.makeKey", { name, type: typeWords(schema) }),
    run: () => void edit(t("forms.edit.addKey", { name }), (document) => addKey(document, name, schema)),
  };
}

/** A button that makes the key that was named; a name is often written before the key exists. */
export function MakeKey({
  name,
  keys,
  schema = TEXT,
}: {
  name: string;
  keys: FieldEditorProps["stateKeys"];
  schema?: JsonObject;
}) {
  const make = making(name, keys, schema);
  if (make === null) return null;
  return (
    <div className="empty:hidden">
      <Button size="small" icon={<Plus size={13} aria-hidden />} onClick={make.run}>
        {make.label}
      </Button>
    </div>
  );
}

export function StateKeyEditor({ schema, value, onChange, stateKeys, readOnly, onBlur }: FieldEditorProps) {
  const name = typeof value === "string" ? value : "";
  const wanted = schema["x-key"] ?? TEXT;
  return (
    <div className={itemsClass} onBlur={onBlur}>
      <Combobox
        mono
        choose
        value={name}
        disabled={readOnly}
        onChange={(next) => onChange(next === "" ? undefined : next)}
        placeholder={t("forms.editor.chooseKey")}
        emptyText={t("forms.editor.noKey")}
        items={stateKeys.map((key) => ({ value: key.name, hint: key.type, description: key.description }))}
        make={making(name, stateKeys, wanted)}
      />
      {!readOnly && <MakeKey name={name} keys={stateKeys} schema={wanted} />}
    </div>
  );
}
