/** The field that names an MCP server: chosen among those of the project, added to them in place, and tried. */
import { Pencil, Plug, Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { Combobox } from "../../components/Combobox";
import { hintClass, itemsClass } from "../../components/recipes";
import type { FieldEditorProps } from "../../components/schema-form/SchemaForm";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { useDocumentState } from "../../document/store";
import type { McpServer } from "../../ipc/bindings/McpServer";
import { safetyIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { ServerForm } from "./ServerForm";
import { ServerLogin } from "./ServerLogin";
import { askServer, useServers } from "./useServers";

const how = (server: McpServer) => server.url ?? [server.command, ...server.args].join(" ");

export function ServerEditor({ value, onChange, readOnly, onBlur }: FieldEditorProps) {
  const saved = useDocumentState((state) => state.path !== null);
  const { list, problem, tools, failed, asking } = useServers();
  const [opened, setForm] = useState<"add" | "edit" | "none" | null>(null);
  const [focused, setFocused] = useState(false);
  const named = typeof value === "string" ? value : "";
  // With none to choose from there is one thing to do; where somebody is about to choose, they type on in the form.
  const first = saved && !readOnly && list !== null && list.servers.length === 0 && named === "";
  const form = opened === null && first ? "add" : opened === "none" ? null : opened;
  const known = list?.servers.find((server) => server.name === named);
  const offered = tools.get(named);
  const wrong = failed.get(named);
  return (
    <div
      className={itemsClass}
      onFocus={() => setFocused(true)}
      onBlur={() => {
        setFocused(false);
        onBlur();
      }}
    >
      {!(first && form === "add") && (
        <Combobox
          mono
          choose
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
      )}
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
      {known?.url !== undefined && !readOnly && <ServerLogin key={named} server={known} />}
      {saved && !readOnly && form === null && (
        <div className="flex flex-wrap gap-2">
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
          {known !== undefined && known.problem === undefined && (
            <Button
              size="small"
              icon={<Pencil size={13} aria-hidden />}
              onClick={() => setForm("edit")}
              data-testid={safetyIds.serverEdit}
            >
              {t("servers.edit")}
            </Button>
          )}
          <Button
            size="small"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => setForm("add")}
            data-testid={safetyIds.serverAdd}
          >
            {t("servers.add")}
          </Button>
        </div>
      )}
      {form !== null && (
        <ServerForm
          server={form === "edit" ? known : undefined}
          taken={(list?.servers ?? []).map((server) => server.name)}
          autoFocus={opened !== null || focused}
          onClose={() => setForm(first ? "none" : null)}
          onSaved={(name) => {
            setForm(null);
            onChange(name);
            void askServer(name);
          }}
        />
      )}
    </div>
  );
}
