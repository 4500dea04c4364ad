/** Settings: connections to model servers. A key goes into the system's keychain or stays in a variable. */
import { Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { ConfirmDialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { IconButton } from "../../components/IconButton";
import { Spinner } from "../../components/Spinner";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { ConnectionList } from "../../ipc/bindings/ConnectionList";
import type { ConnectionView } from "../../ipc/bindings/ConnectionView";
import { rpc } from "../../ipc/client";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showProblem, showToast } from "../../state/toasts";
import { useAnswer } from "../../debugger/model/useAnswer";
import { ConnectionForm } from "./ConnectionForm";
import { PriceSettings } from "./PriceSettings";
import { hintClass } from "../../components/recipes";
import { cx } from "../../components/cx";

export function ConnectionSettings() {
  const read = useAnswer("connections", (signal) => rpc("connections.list", {}, signal), true);
  const [changed, setChanged] = useState<ConnectionList | null>(null);
  const [editing, setEditing] = useState<ConnectionView | "new" | null>(null);
  const [removing, setRemoving] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const list = changed ?? read.value;
  if (read.problem && list === null) return <ProblemNote problem={read.problem} onRetry={read.again} />;
  if (list === null) return <Spinner label={t("trust.loading")} />;
  const remove = async (name: string) => {
    setBusy(true);
    try {
      setChanged(await rpc("connections.remove", { name }));
      showToast({ tone: "done", text: t("connections.removed", { name }) });
    } catch (problem) {
      showProblem(problem);
    } finally {
      setBusy(false);
      setRemoving(null);
    }
  };
  if (editing !== null)
    return (
      <ConnectionForm
        key={editing === "new" ? "" : editing.name}
        list={list}
        connection={editing === "new" ? null : editing}
        onClose={() => setEditing(null)}
        onSaved={(next, name) => {
          setChanged(next);
          setEditing(null);
          showToast({ tone: "done", text: t("connections.saved", { name }) });
        }}
      />
    );
  return (
    <div
      className="flex flex-col gap-2.5 [&>button]:self-start [&_li]:flex [&_li]:min-h-8 [&_li]:items-center [&_li]:gap-2"
      data-testid={safetyIds.connections}
    >
      <p className={hintClass}>{t("connections.text")}</p>
      {list.connections.length === 0 ? (
        <EmptyState compact title={t("connections.none")}>
          {t("connections.noneText")}
        </EmptyState>
      ) : (
        <ul>
          {list.connections.map((connection) => (
            <li key={connection.name} data-testid={safetyIds.connection(connection.name)}>
              <span className="font-semibold wrap-anywhere">{connection.name}</span>
              <span className="flex flex-1 flex-wrap gap-y-0 gap-x-2 min-w-0 text-xs/inherit text-text-2 wrap-anywhere">
                {connection.provider}
                {connection.baseUrl !== undefined && <code>{connection.baseUrl}</code>}
              </span>
              <KeyBadge connection={connection} />
              <IconButton
                size="small"
                label={t("connections.edit", { name: connection.name })}
                onClick={() => setEditing(connection)}
              >
                <Pencil size={14} />
              </IconButton>
              <IconButton
                size="small"
                label={t("connections.remove", { name: connection.name })}
                onClick={() => setRemoving(connection.name)}
              >
                <Trash2 size={14} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      <Button
        icon={<Plus size={14} aria-hidden />}
        onClick={() => setEditing("new")}
        data-testid={safetyIds.addConnection}
      >
        {t("connections.add")}
      </Button>
      <p className={cx(hintClass, "select-text")}>{t("connections.file", { file: list.file })}</p>
      <ConfirmDialog
        open={removing !== null}
        title={t("connections.remove.title", { name: removing ?? "" })}
        text={t("connections.remove.text")}
        confirm={t("connections.remove.do")}
        busy={busy}
        onCancel={() => setRemoving(null)}
        onConfirm={() => removing !== null && void remove(removing)}
      />
      <PriceSettings />
    </div>
  );
}

function KeyBadge({ connection: { key, hasKey } }: { connection: ConnectionView }) {
  if (key.type === "usual" && !hasKey) return null;
  return (
    <Badge tone={hasKey ? "done" : "asking"}>{t(hasKey ? "connections.hasKey" : "connections.noKey")}</Badge>
  );
}
