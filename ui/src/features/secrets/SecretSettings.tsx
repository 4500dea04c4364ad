/** Settings: secrets by name, where their values come from, and a form for new values. */
import { Pencil, Plus, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { ConfirmDialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { hintClass } from "../../components/recipes";
import { Spinner } from "../../components/Spinner";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showProblem, showToast } from "../../state/toasts";
import { SecretForm } from "./SecretForm";
import { referenceTo } from "./references";
import { readSecretsAgain, removeSecret, useSecrets } from "./useSecrets";

export function SecretSettings() {
  const { list, problem } = useSecrets();
  const [editing, setEditing] = useState<{ readonly name?: string } | null>(null);
  const [removing, setRemoving] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  // The graph may have come to want others since its fields were shown.
  useEffect(readSecretsAgain, []);
  if (problem) return <ProblemNote problem={problem} onRetry={readSecretsAgain} />;
  if (list === null) return <Spinner label={t("trust.loading")} />;
  const remove = async (name: string) => {
    setBusy(true);
    try {
      await removeSecret(name);
      showToast({ tone: "done", text: t("secrets.removed", { name }) });
    } catch (thrown) {
      showProblem(thrown);
    } finally {
      setBusy(false);
      setRemoving(null);
    }
  };
  if (editing !== null)
    return (
      <>
        <h3 className="pb-2.5 text-xs/inherit font-semibold text-text-2">
          {editing.name === undefined ? t("secrets.new") : t("secrets.valueOf", { name: editing.name })}
        </h3>
        <SecretForm
          list={list}
          name={editing.name}
          onClose={() => setEditing(null)}
          onSaved={() => setEditing(null)}
        />
      </>
    );
  return (
    <div
      className="flex flex-col gap-2.5 [&>button]:self-start [&_li]:flex [&_li]:min-h-8 [&_li]:items-center [&_li]:gap-2"
      data-testid={safetyIds.secrets}
    >
      <p className={hintClass}>{t("secrets.text", { reference: referenceTo("NAME") })}</p>
      {list.keychainProblem !== undefined && (
        <p className={cx(hintClass, "select-text")} role="note">
          {t("secrets.noKeychain", { problem: list.keychainProblem })}
        </p>
      )}
      {list.secrets.length === 0 ? (
        <EmptyState compact title={t("secrets.none")}>
          {t("secrets.noneText")}
        </EmptyState>
      ) : (
        <ul>
          {list.secrets.map(({ name, from, kept }) => (
            <li key={name} data-testid={safetyIds.secret(name)}>
              <span className="flex-1 min-w-0 font-mono text-xs/inherit wrap-anywhere">{name}</span>
              <Badge tone={from === undefined ? "asking" : "done"}>
                {t(from === undefined ? "secrets.from.none" : `secrets.from.${from}`)}
              </Badge>
              <IconButton
                size="small"
                label={t(kept ? "secrets.replace" : "secrets.enterFor", { name })}
                onClick={() => setEditing({ name })}
              >
                <Pencil size={14} />
              </IconButton>
              <IconButton
                size="small"
                label={t("secrets.removeFor", { name })}
                disabled={!kept}
                onClick={() => setRemoving(name)}
              >
                <Trash2 size={14} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <Button
        icon={<Plus size={14} aria-hidden />}
        onClick={() => setEditing({})}
        data-testid={safetyIds.secretAdd}
      >
        {t("secrets.add")}
      </Button>
      <p className={cx(hintClass, "select-text")}>{t("secrets.file", { file: list.file })}</p>
      <ConfirmDialog
        open={removing !== null}
        title={t("secrets.remove.title", { name: removing ?? "" })}
        text={t("secrets.remove.text")}
        confirm={t("secrets.remove")}
        busy={busy}
        onCancel={() => setRemoving(null)}
        onConfirm={() => removing !== null && void remove(removing)}
      />
    </div>
  );
}
