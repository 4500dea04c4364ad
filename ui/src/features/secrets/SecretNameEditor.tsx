/** The field that names a secret or environment variable: known names are offered, and a value is entered in place. */
import { useState } from "react";
import { Combobox } from "../../components/Combobox";
import { hintClass, itemsClass } from "../../components/recipes";
import type { FieldEditorProps } from "../../components/schema-form/SchemaForm";
import { t } from "../../lib/texts";
import { MissingSecrets } from "./MissingSecrets";
import { isSecretName } from "./references";
import { SecretDialog } from "./SecretDialog";
import { secretOf, useSecrets } from "./useSecrets";
import { useSettled } from "./useSettled";

export function SecretNameEditor({ value, onChange, readOnly, onBlur }: FieldEditorProps) {
  const [making, setMaking] = useState(false);
  const name = typeof value === "string" ? value : "";
  const typed = useSettled(name);
  const names = isSecretName(typed) ? [typed] : [];
  const { list } = useSecrets(names);
  const from = typed === name ? secretOf(list, name)?.from : undefined;
  return (
    <div className={itemsClass} onBlur={onBlur}>
      <Combobox
        mono
        value={name}
        disabled={readOnly}
        onChange={(next) => onChange(next === "" ? undefined : next)}
        placeholder="STRIPE_KEY"
        emptyText={t("secrets.none")}
        // A name that has no value is listed because it is in this field.
        items={(list?.secrets ?? [])
          .filter((secret) => secret.from !== undefined || secret.name === name)
          .map((secret) => ({
            value: secret.name,
            hint: t(secret.from === undefined ? "secrets.from.none" : `secrets.from.${secret.from}`),
          }))}
        make={{ label: t("secrets.newEllipsis"), run: () => setMaking(true) }}
      />
      {from !== undefined && <p className={hintClass}>{t(`secrets.uses.${from}`)}</p>}
      <MissingSecrets names={names} />
      {making && (
        <SecretDialog
          suggested={isSecretName(name) ? name : undefined}
          onClose={() => setMaking(false)}
          onSaved={onChange}
        />
      )}
    </div>
  );
}
