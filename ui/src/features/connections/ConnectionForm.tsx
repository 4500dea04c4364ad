/** One connection: what it is, where its key is, and whether its server answers. */
import { useState } from "react";
import { Button } from "../../components/Button";
import { Combobox } from "../../components/Combobox";
import { Field } from "../../components/Field";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import type { ConnectionKey } from "../../ipc/bindings/ConnectionKey";
import type { ConnectionList } from "../../ipc/bindings/ConnectionList";
import type { ConnectionTested } from "../../ipc/bindings/ConnectionTested";
import type { ConnectionView } from "../../ipc/bindings/ConnectionView";
import type { SaveConnection } from "../../ipc/bindings/SaveConnection";
import { rpc } from "../../ipc/client";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { hintClass } from "../../components/recipes";

/** Models that are listed after a test. */
const SHOWN = 8;

type KeyType = ConnectionKey["type"];

export interface ConnectionFormProps {
  list: ConnectionList;
  connection: ConnectionView | null;
  onClose(): void;
  onSaved(list: ConnectionList, name: string): void;
}

export function ConnectionForm({ list, connection, onClose, onSaved }: ConnectionFormProps) {
  const noKeychain = list.keychainProblem;
  const [name, setName] = useState(connection?.name ?? "");
  const [provider, setProvider] = useState(connection?.provider ?? "openai");
  const [url, setUrl] = useState(connection?.baseUrl ?? "");
  const [keyType, setKeyType] = useState<KeyType>(
    connection?.key.type ?? (noKeychain === undefined ? "keychain" : "variable"),
  );
  const [variable, setVariable] = useState(connection?.key.type === "variable" ? connection.key.name : "");
  const [secret, setSecret] = useState("");
  const [tested, setTested] = useState<ConnectionTested | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [busy, setBusy] = useState<"test" | "save" | null>(null);

  const usual = list.providers.find((known) => known.name === provider)?.variable;
  const stored = connection?.key.type === "keychain" && connection.hasKey;
  const complete =
    name.trim() !== "" &&
    (keyType !== "variable" || variable.trim() !== "") &&
    (keyType !== "keychain" || secret !== "" || stored);
  const request = (): SaveConnection => ({
    name: name.trim(),
    ...(connection !== null && { previous: connection.name }),
    provider,
    ...(url.trim() !== "" && { baseUrl: url.trim() }),
    key: keyType === "variable" ? { type: "variable", name: variable.trim() } : { type: keyType },
    ...(keyType === "keychain" && secret !== "" && { secret }),
  });
  const attempt = async (what: "test" | "save") => {
    setBusy(what);
    setProblem(null);
    setTested(null);
    try {
      if (what === "test") setTested(await rpc("connections.test", request()));
      else onSaved(await rpc("connections.save", request()), name.trim());
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setBusy(null);
    }
  };
  const keys: KeyType[] = ["keychain", "variable", "usual"];
  const keyHelp =
    keyType === "keychain"
      ? t("connections.key.keychainHelp")
      : keyType === "usual"
        ? usual === undefined || url.trim() !== ""
          ? t("connections.key.noneHelp")
          : t("connections.key.usualHelp", { variable: usual })
        : undefined;
  return (
    <form
      className="flex flex-col gap-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        if (complete) void attempt("save");
      }}
    >
      <Field
        label={t("connections.name")}
        description={t("connections.nameHelp", { name: name.trim() || "NAME" })}
      >
        <TextField
          value={name}
          onChange={setName}
          placeholder="my-server"
          data-testid={safetyIds.connectionName}
        />
      </Field>
      <Field label={t("connections.provider")} description={t("connections.providerHelp")}>
        <Combobox
          choose
          value={provider}
          onChange={setProvider}
          items={list.providers.map((known) => ({ value: known.name }))}
        />
      </Field>
      <Field label={t("connections.url")} description={t("connections.urlHelp")}>
        <TextField
          mono
          value={url}
          onChange={setUrl}
          placeholder="http://127.0.0.1:8000/v1/"
          data-testid={safetyIds.connectionUrl}
        />
      </Field>
      <Field label={t("connections.key")} {...(keyHelp !== undefined && { description: keyHelp })}>
        <Select
          value={keyType}
          onChange={setKeyType}
          options={keys.map((value) => ({
            value,
            label: t(`connections.key.${value}`),
            disabled: value === "keychain" && noKeychain !== undefined,
          }))}
        />
      </Field>
      {noKeychain !== undefined && (
        <p className={hintClass} role="note">
          {t("connections.noKeychain", { problem: noKeychain })}
        </p>
      )}
      {keyType === "variable" && (
        <Field label={t("connections.variable")}>
          <TextField
            mono
            value={variable}
            onChange={setVariable}
            placeholder={usual ?? "MY_SERVER_KEY"}
            data-testid={safetyIds.connectionVariable}
          />
        </Field>
      )}
      {keyType === "keychain" && (
        <Field label={t("connections.secret")} {...(stored && { description: t("connections.key.keep") })}>
          <TextField
            type="password"
            autoComplete="off"
            value={secret}
            onChange={setSecret}
            data-testid={safetyIds.connectionSecret}
          />
        </Field>
      )}
      {problem && <ProblemNote problem={problem} />}
      {tested && <Tested tested={tested} />}
      <div className="flex justify-end gap-2 pt-1">
        <Button onClick={onClose}>{t("forms.cancel")}</Button>
        <Button
          disabled={!complete}
          busy={busy === "test"}
          onClick={() => void attempt("test")}
          data-testid={safetyIds.testConnection}
        >
          {t("connections.test")}
        </Button>
        <Button
          type="submit"
          variant="primary"
          disabled={!complete}
          busy={busy === "save"}
          data-testid={safetyIds.saveConnection}
        >
          {t("connections.save")}
        </Button>
      </div>
    </form>
  );
}

function Tested({ tested }: { tested: ConnectionTested }) {
  const more = tested.models.length - SHOWN;
  return (
    <div
      className="py-2 px-3 rounded-md bg-done-soft text-sm/inherit wrap-anywhere data-[works=false]:bg-failed-soft select-text"
      data-works={tested.works}
      role="status"
      data-testid={safetyIds.tested}
    >
      <p>{tested.message}</p>
      {tested.models.length > 0 && (
        <p>
          {t("connections.models")}:{" "}
          {tested.models.slice(0, SHOWN).map((model) => (
            <code key={model}>{model} </code>
          ))}
          {more > 0 && t("connections.moreModels", { n: more })}
        </p>
      )}
    </div>
  );
}
