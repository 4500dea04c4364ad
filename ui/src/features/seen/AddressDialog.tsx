/**
 * The address of a server's database: without the password, which has a field of its own; and its schema, where several fit. Or
 * that of a LangGraph server.
 */
import { useEffect, useRef, useState } from "react";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { rpc } from "../../ipc/client";
import {
  isAddress,
  isServerAddress,
  joinAddress,
  namesSchema,
  splitAddress,
  withSchema,
} from "../../lib/address";
import { shellIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { openPlace } from "../../debugger/run/seen";

interface AddressDialogProps {
  /** What was typed elsewhere. */
  readonly begun: string;
  /** Open it at once. */
  readonly go: boolean;
  onClose(): void;
}

export function AddressDialog({ begun, go, onClose }: AddressDialogProps) {
  const [{ address, password }, setTyped] = useState(() => splitAddress(begun));
  const [schemas, setSchemas] = useState<readonly string[]>([]);
  const [schema, setSchema] = useState<string>();
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [busy, setBusy] = useState(false);
  const live = useRef(true);
  useEffect(() => {
    live.current = true;
    return () => {
      live.current = false;
    };
  }, []);

  const type = (typed: { address: string; password: string }) => {
    setTyped(typed);
    setSchemas([]);
    setSchema(undefined);
    setProblem(null);
  };
  const open = async () => {
    setBusy(true);
    setProblem(null);
    try {
      let url = joinAddress(address, password);
      if (schema !== undefined) url = withSchema(url, schema);
      else if (!isServerAddress(url) && !namesSchema(url)) {
        const found = (await rpc("storage.schemas", { url })).schemas;
        if (found.length > 1) {
          if (live.current) setSchemas(found);
          return;
        }
      }
      // Who has closed the dialog meanwhile does not want it any more.
      if (!live.current) return;
      await openPlace(url);
      onClose();
    } catch (thrown) {
      if (live.current) setProblem(asProblem(thrown));
    } finally {
      if (live.current) setBusy(false);
    }
  };
  const begin = useRef(go ? open : null);
  useEffect(() => {
    const run = begin.current;
    begin.current = null;
    void run?.();
  }, []);

  const chosen = schemas.length === 0 || schema !== undefined;
  return (
    <FormDialog
      title={t("seen.address.title")}
      description={t("seen.address.help")}
      size="medium"
      save={t("seen.address.open")}
      saveTestId={shellIds.addressOpen}
      isDone={isAddress(address) && chosen}
      busy={busy}
      onSave={() => void open()}
      onClose={onClose}
      className="gap-3"
      data-testid={shellIds.address}
    >
      <Field label={t("seen.address.url")}>
        <TextField
          mono
          autoFocus
          value={address}
          // A password that comes with the address goes where it is not seen.
          onChange={(next) => {
            const split = splitAddress(next);
            type(split.password === "" ? { address: next, password } : split);
          }}
          placeholder="postgres://reader@localhost:5432/app"
          data-testid={shellIds.addressText}
        />
      </Field>
      {isServerAddress(address) ? (
        <p className="text-xs text-text-2">{t("seen.address.server", { key: "?x-api-key=${NAME}" })}</p>
      ) : (
        <Field label={t("seen.address.password")} description={t("seen.address.private")}>
          <TextField
            type="password"
            value={password}
            onChange={(next) => type({ address, password: next })}
            data-testid={shellIds.addressPassword}
          />
        </Field>
      )}
      {schemas.length > 0 && (
        <Field label={t("seen.address.schema")} description={t("seen.address.several")}>
          <Select
            value={schema}
            options={schemas.map((name) => ({ value: name, label: name }))}
            onChange={setSchema}
            data-testid={shellIds.addressSchema}
          />
        </Field>
      )}
      {problem && <ProblemNote problem={problem} />}
    </FormDialog>
  );
}
