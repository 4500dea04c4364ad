/** The field that names an MCP server: chosen among those of the project, added to them in place, and tried. */
import { Plug, Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { Combobox } from "../../components/Combobox";
import { Field } from "../../components/Field";
import { hintClass, itemsClass } from "../../components/recipes";
import type { FieldEditorProps } from "../../components/schema-form/SchemaForm";
import { TextField } from "../../components/TextField";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { useDocumentState } from "../../document/store";
import type { McpServer } from "../../ipc/bindings/McpServer";
import { rpc } from "../../ipc/client";
import { safetyIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { useSession } from "../../state/session";
import { suggestedName, typedServer } from "./command-line";
import { askServer, takeServers, useServers } from "./useServers";

const how = (server: McpServer) => server.url ?? [server.command, ...server.args].join(" ");

export function ServerEditor({ value, onChange, readOnly, onBlur }: FieldEditorProps) {
  const saved = useDocumentState((state) => state.path !== null);
  const { list, problem, tools, failed, asking } = useServers();
  const [adding, setAdding] = useState(false);
  const named = typeof value === "string" ? value : "";
  const known = list?.servers.find((server) => server.name === named);
  const offered = tools.get(named);
  const wrong = failed.get(named);
  return (
    <div className={itemsClass} onBlur={onBlur}>
      <Combobox
        mono
        value={named}
        disabled={readOnly}
        onChange={onChange}
        placeholder={t("servers.choose")}
        emptyText={t(saved ? "servers.none" : "servers.saveFirst")}
        items={(list?.servers ?? []).map((server) => ({
          value: server.name,
          description: server.problem ?? how(server),
        }))}
      />
      {!saved && !readOnly && (
        <div>
          <Button size="small" onClick={() => runCommand("graph.save")} data-testid={safetyIds.serverSave}>
            {t("servers.save")}
          </Button>
        </div>
      )}
      {problem && <ProblemNote problem={problem} />}
      {wrong && <ProblemNote problem={wrong} />}
      {offered && (
        <p className={hintClass} role="status" data-testid={safetyIds.serverWorks}>
          {tn("servers.works.one", "servers.works.many", offered.length)}
        </p>
      )}
      {saved && !readOnly && !adding && (
        <div className="flex gap-2">
          {known !== undefined && (
            <Button
              size="small"
              icon={<Plug size={13} aria-hidden />}
              busy={asking === named}
              onClick={() => void askServer(named)}
              data-testid={safetyIds.serverConnect}
            >
              {t("servers.connect")}
            </Button>
          )}
          <Button
            size="small"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => setAdding(true)}
            data-testid={safetyIds.serverAdd}
          >
            {t("servers.add")}
          </Button>
        </div>
      )}
      {adding && (
        <NewServer
          taken={(list?.servers ?? []).map((server) => server.name)}
          onClose={() => setAdding(false)}
          onAdded={(name) => {
            setAdding(false);
            onChange(name);
            void askServer(name);
          }}
        />
      )}
    </div>
  );
}

interface NewServerProps {
  readonly taken: readonly string[];
  onClose(): void;
  onAdded(name: string): void;
}

/** A server to be added: an address or a command, and a name that follows from it until another is typed. */
function NewServer({ taken, onClose, onAdded }: NewServerProps) {
  const [text, setText] = useState("");
  const [own, setOwn] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const typed = typedServer(text);
  const name = (own ?? suggestedName(typed)).trim();
  const inUse = taken.includes(name);
  const complete = typed !== null && name !== "" && !inUse;
  const add = async () => {
    const graphId = useSession.getState().graphId;
    if (graphId === null || typed === null || !complete) return;
    setBusy(true);
    try {
      takeServers(await rpc("mcp.save", { graphId, name, args: [], ...typed }));
      onAdded(name);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  return (
    <div
      className="flex flex-col gap-2.5 p-2.5 border border-line rounded-md bg-surface-2"
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          void add();
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
          autoFocus
          value={text}
          onChange={setText}
          placeholder="npx -y @modelcontextprotocol/server-everything"
          data-testid={safetyIds.serverHow}
        />
      </Field>
      <Field
        label={t("servers.name")}
        error={inUse ? [{ severity: "error", message: t("servers.taken", { name }) }] : []}
      >
        <TextField mono value={own ?? name} onChange={setOwn} data-testid={safetyIds.serverName} />
      </Field>
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
          onClick={() => void add()}
          data-testid={safetyIds.serverDone}
        >
          {t("servers.addAndConnect")}
        </Button>
      </div>
    </div>
  );
}
