/** Says over the canvas that the graph is what threads of another program show of it, and what can be done about that. */
import { Bug, Eye, Plug, RotateCw } from "lucide-react";
import { CopyButton } from "../debugger/parts/CopyButton";
import { Button } from "../components/Button";
import { Tooltip } from "../components/Tooltip";
import { useDocumentState, useRecord } from "../document/store";
import { nodeOf } from "../document/types";
import type { AttachedView } from "../ipc/bindings/AttachedView";
import { fileOf } from "../lib/path";
import { shellIds } from "../lib/testIds";
import { t, tn } from "../lib/texts";
import { runCommand } from "../state/commands";
import { useSession } from "../state/session";

const noteClass =
  "absolute bottom-13 left-2 z-10 flex max-w-[calc(100%-16px)] flex-wrap items-center gap-1.5 rounded-lg border border-line bg-surface-1 py-0.5 pr-0.5 pl-2 text-xs/inherit text-text-2";

/** Says which program is attached, where the code of the selected node is, and that a file has changed. */
function AttachedNote({ program }: { program: AttachedView }) {
  const selected = useSession((session) => session.selection.nodes);
  const record = useRecord(`node:${selected[0] ?? ""}`);
  const { config } = nodeOf(record);
  const { at, path, line, function: name } = config;
  const place = selected.length === 1 && typeof at === "string" && typeof path === "string";
  const langgraph = program.langgraph ?? "?";
  const release = program.server
    ? t("seen.attachedAt", { langgraph, server: program.interpreter })
    : t("seen.attachedWith", { langgraph, python: program.python, interpreter: program.interpreter });
  return (
    <div className={noteClass} role="note" data-testid={shellIds.seen}>
      <Plug size={13} aria-hidden />
      <Tooltip label={release}>
        <span tabIndex={0} className="max-w-80 truncate">
          {program.server ? program.named : fileOf(program.named)}
        </span>
      </Tooltip>
      {place && (
        <span className="flex items-center" data-testid={shellIds.seenPlace}>
          <span className="max-w-80 truncate font-mono" title={`${path}:${String(line)}`}>
            {`${String(name)} · ${at}`}
          </span>
          <CopyButton path text={`${path}:${String(line)}`} label={t("seen.copyPlace")} />
        </span>
      )}
      {program.lacking.length > 0 && (
        <Tooltip label={program.lacking.join("\n")}>
          <span tabIndex={0} className="underline decoration-dotted underline-offset-2">
            {t("seen.lacking")}
          </span>
        </Tooltip>
      )}
      {program.changed && <span className="text-asking">{t("seen.changed")}</span>}
      <Button
        size="small"
        variant="ghost"
        icon={<RotateCw size={12} aria-hidden />}
        onClick={() => runCommand("program.reload")}
        data-testid={shellIds.seenReload}
      >
        {t("seen.reload")}
      </Button>
      <Button
        size="small"
        variant="ghost"
        icon={<Bug size={12} aria-hidden />}
        onClick={() => runCommand("program.debug")}
        data-testid={shellIds.seenDebug}
      >
        {t("seen.debug")}
      </Button>
    </div>
  );
}

export function SeenNote() {
  const seen = useDocumentState((state) => state.seen);
  const graphId = useDocumentState((state) => state.graphId);
  if (seen === null) return null;
  const shown = seen.graphs.find((graph) => graph.graphId === graphId);
  if (shown?.attached === true && seen.attached) return <AttachedNote program={seen.attached} />;
  const laid = shown?.laid;
  const all = seen.looked >= seen.threads;
  return (
    <div className={noteClass} role="note" data-testid={shellIds.seen}>
      <Eye size={13} aria-hidden />
      <Tooltip label={t("seen.help")}>
        <span tabIndex={0}>
          {seen.sorting
            ? t("seen.first", { looked: seen.looked })
            : all
              ? tn("seen.allOne", "seen.all", seen.threads)
              : t("seen.some", { looked: seen.looked, n: seen.threads })}
        </span>
      </Tooltip>
      {!all && (
        <Button
          size="small"
          variant="ghost"
          onClick={() => runCommand("graph.seenMore")}
          data-testid={shellIds.seenMore}
        >
          {t("seen.more")}
        </Button>
      )}
      {seen.sealed !== undefined && (
        <>
          <span className="text-failed" data-testid={shellIds.seenSealed}>
            {t(`seen.sealed.${seen.sealed}`)}
          </span>
          <Button
            size="small"
            variant="ghost"
            onClick={() => runCommand("graph.seenKey")}
            data-testid={shellIds.seenKey}
          >
            {t("seen.key")}
          </Button>
        </>
      )}
      {laid ? (
        <>
          <span
            className={laid.problem === undefined ? "max-w-80 truncate" : "max-w-80 truncate text-failed"}
            title={laid.problem ?? laid.path}
            data-testid={shellIds.seenLaid}
          >
            {laid.problem === undefined
              ? t("seen.lay.on", { file: fileOf(laid.path), found: laid.found, nodes: laid.nodes })
              : t("seen.lay.broken", { file: fileOf(laid.path) })}
          </span>
          {laid.problem === undefined && (
            <Button
              size="small"
              variant="ghost"
              onClick={() => runCommand("graph.layNames")}
              data-testid={shellIds.seenNames}
            >
              {t("seen.lay.names")}
            </Button>
          )}
          <Button
            size="small"
            variant="ghost"
            onClick={() => runCommand("graph.layOff")}
            data-testid={shellIds.seenOff}
          >
            {t("seen.lay.off")}
          </Button>
        </>
      ) : (
        <Button
          size="small"
          variant="ghost"
          onClick={() => runCommand("graph.seenOwn")}
          data-testid={shellIds.seenOwn}
        >
          {t("seen.own")}
        </Button>
      )}
    </div>
  );
}
