/** The value of one secret: entered, replaced or removed, and never shown. */
import { useState } from "react";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { hintClass } from "../../components/recipes";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { KeptSecret } from "../../ipc/bindings/KeptSecret";
import type { SecretList } from "../../ipc/bindings/SecretList";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showToast } from "../../state/toasts";
import { isSecretName } from "./references";
import { SecretField } from "./SecretField";
import { removeSecret, saveSecret, secretOf, useSecrets } from "./useSecrets";
import { useSettled } from "./useSettled";

/** Shorter values are in too many texts to be taken out of them. */
const SHORTEST = 6;
const PLACES: readonly KeptSecret[] = ["keychain", "untilClosed"];

export interface SecretFormProps {
  list: SecretList;
  /** The secret; without one, it is given a name here. */
  name?: string | undefined;
  /** What a new one may be called. */
  suggested?: string | undefined;
  onClose(): void;
  onSaved(name: string): void;
}

export function SecretForm({ list, name: fixed, suggested, onClose, onSaved }: SecretFormProps) {
  const noKeychain = list.keychainProblem;
  const [own, setOwn] = useState(fixed ?? suggested ?? "");
  const [value, setValue] = useState("");
  const [keep, setKeep] = useState<KeptSecret>(noKeychain === undefined ? "keychain" : "untilClosed");
  const [busy, setBusy] = useState<"save" | "remove" | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const name = own.trim();
  const settled = useSettled(name);
  const asked = useSecrets(isSecretName(settled) ? [settled] : []).list;
  const known = secretOf(asked ?? list, name);
  const complete = isSecretName(name) && value.trim() !== "";
  const attempt = async (what: "save" | "remove") => {
    setBusy(what);
    setProblem(null);
    try {
      if (what === "save") await saveSecret(name, value, keep);
      else await removeSecret(name);
      showToast({ tone: "done", text: t(what === "save" ? "secrets.saved" : "secrets.removed", { name }) });
      onSaved(name);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(null);
    }
  };
  return (
    <form
      className="flex flex-col gap-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        // A form around this one is not sent with it.
        event.stopPropagation();
        if (complete && busy === null) void attempt("save");
      }}
      data-testid={safetyIds.secretForm}
    >
      {fixed === undefined && (
        <Field
          label={t("secrets.name")}
          description={t("secrets.nameHelp")}
          error={
            name === "" || isSecretName(name) ? [] : [{ severity: "error", message: t("secrets.nameSign") }]
          }
        >
          <TextField
            mono
            autoFocus={own === ""}
            value={own}
            onChange={setOwn}
            placeholder="STRIPE_KEY"
            data-testid={safetyIds.secretName}
          />
        </Field>
      )}
      <Field
        label={t("secrets.value")}
        description={t(known?.kept === true ? "secrets.valueReplaces" : "secrets.valueHelp")}
      >
        <SecretField autoFocus={own !== ""} value={value} onChange={setValue} />
      </Field>
      {value.trim() !== "" && value.trim().length < SHORTEST && (
        <p className={hintClass} role="note">
          {t("secrets.short", { n: SHORTEST })}
        </p>
      )}
      <Field label={t("secrets.keep")}>
        <Select
          value={keep}
          onChange={setKeep}
          options={PLACES.map((place) => ({
            value: place,
            label: t(`secrets.keep.${place}`),
            disabled: place === "keychain" && noKeychain !== undefined,
          }))}
        />
      </Field>
      {noKeychain !== undefined && (
        <p className={hintClass} role="note">
          {t("secrets.noKeychain", { problem: noKeychain })}
        </p>
      )}
      {known?.from === "environment" && (
        <p className={hintClass} role="note">
          {t("secrets.environmentFirst", { name })}
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
      <div className="flex justify-end gap-2 pt-1">
        {known?.kept === true && (
          <Button
            variant="danger"
            className="mr-auto"
            busy={busy === "remove"}
            onClick={() => void attempt("remove")}
            data-testid={safetyIds.secretRemove}
          >
            {t("secrets.remove")}
          </Button>
        )}
        <Button onClick={onClose}>{t("forms.cancel")}</Button>
        <Button
          type="submit"
          variant="primary"
          disabled={!complete}
          busy={busy === "save"}
          data-testid={safetyIds.secretSave}
        >
          {t("secrets.save")}
        </Button>
      </div>
    </form>
  );
}
