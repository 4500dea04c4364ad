/** A server that is added or changed: an address or a command, a name that follows from it, and its variables or headers. */
import { useState } from "react";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { hintClass } from "../../components/recipes";
import { TextField } from "../../components/TextField";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { McpServer } from "../../ipc/bindings/McpServer";
import type { McpVariable } from "../../ipc/bindings/McpVariable";
import { rpc } from "../../ipc/client";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { commandLine, suggestedName, typedServer } from "./command-line";
import { takeServers } from "./useServers";
import { VariableRows } from "./VariableRows";

interface ServerFormProps {
  /** The server that is changed; a new one without it. */
  readonly server?: McpServer | undefined;
  readonly taken: readonly string[];
  /** It was opened by hand, or takes the place of what has the focus. */
  readonly autoFocus: boolean;
  onClose(): void;
  onSaved(name: string): void;
}

const lineOf = (server: McpServer | undefined) =>
  server?.url ?? (server?.command === undefined ? "" : commandLine(server.command, server.args));

export function ServerForm({ server, taken, autoFocus, onClose, onSaved }: ServerFormProps) {
  const [text, setText] = useState(() => lineOf(server));
  const [own, setOwn] = useState<string | null>(server?.name ?? null);
  const [rows, setRows] = useState<McpVariable[]>(() => server?.variables ?? []);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const typed = typedServer(text);
  const name = (own ?? suggestedName(typed)).trim();
  const inUse = name !== server?.name && taken.includes(name);
  const complete = typed !== null && name !== "" && !inUse;
  // What the file has written out comes back when what was typed in its place is deleted.
  const kept = (row: McpVariable): McpVariable =>
    row.value === "" && server?.variables.some((old) => old.name === row.name && old.value === undefined)
      ? { name: row.name }
      : row;
  const save = async () => {
    const graphId = useSession.getState().graphId;
    if (graphId === null || typed === null || !complete || busy) return;
    setBusy(true);
    const variables = rows.filter((row) => row.name.trim() !== "" || (row.value ?? "") !== "");
    try {
      takeServers(await rpc("mcp.save", { graphId, name, args: [], ...typed, variables }));
      onSaved(name);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  return (
    <div
      className="flex flex-col gap-2.5 p-2.5 border border-line rounded-md bg-surface-2"
      onKeyDown={(event) => {
        // Menus and dialogs that were opened from here are in its tree, and not inside of it.
        if (!event.currentTarget.contains(event.target as Node)) return;
        if (event.key === "Enter" && event.target instanceof HTMLInputElement) {
          event.preventDefault();
          void save();
        } else if (event.key === "Escape") {
          event.stopPropagation();
          onClose();
        }
      }}
      data-testid={safetyIds.serverForm}
    >
      <Field label={t("servers.how")} description={t("servers.howHelp")}>
        <TextField
          mono
          autoFocus={autoFocus}
          value={text}
          onChange={setText}
          placeholder="npx -y @modelcontextprotocol/server-everything"
          data-testid={safetyIds.serverHow}
        />
      </Field>
      {server === undefined && (
        <Field
          label={t("servers.name")}
          error={inUse ? [{ severity: "error", message: t("servers.taken", { name }) }] : []}
        >
          <TextField mono value={own ?? name} onChange={setOwn} data-testid={safetyIds.serverName} />
        </Field>
      )}
      <VariableRows
        rows={rows}
        headers={typed !== null && "url" in typed}
        onChange={(next) => setRows(next.map(kept))}
      />
      {problem && <ProblemNote problem={problem} />}
      <p className={hintClass}>{t("servers.asks")}</p>
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={onClose}>
          {t("forms.cancel")}
        </Button>
        <Button
          size="small"
          variant="primary"
          disabled={!complete}
          busy={busy}
          onClick={() => void save()}
          data-testid={safetyIds.serverDone}
        >
          {t(server === undefined ? "servers.addAndConnect" : "servers.saveAndConnect")}
        </Button>
      </div>
    </div>
  );
}
