/** Finds texts in the open graph or its folder, replaces them, and lists the uses of a key or node. */
import { ArrowLeft, PencilLine, Search, SearchX, Square } from "lucide-react";
import { useEffect, useMemo } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { panelClass } from "../../components/recipes";
import { Spinner } from "../../components/Spinner";
import { usesOf } from "../../document/rename";
import { doc, useDocumentState, useDocumentVersion } from "../../document/store";
import { disabledOf } from "../../document/disabled";
import { nodeOf, sectionOf } from "../../document/types";
import type { TextFound } from "../../ipc/bindings/TextFound";
import { listed } from "../../lib/intl";
import { splitPath } from "../../lib/path";
import { findIds } from "../../lib/testIds";
import { problemText, t, tn } from "../../lib/texts";
import { useJobs } from "../../state/jobs";
import { useSession } from "../../state/session";
import { knownKinds } from "../../canvas/kinds";
import { askRename } from "../../document/rename-question";
import { useAround } from "./around";
import { FindBar } from "./FindBar";
import { FindRows } from "./FindRows";
import { foundRows, hitsIn, hitsOfUses, nodeHits, NO_FILTERS, passes, rowsOfUses, type Row } from "./rows";
import { search, stillListed, stopSearch, useFind } from "./search";

/** A text that is being typed is looked for when it rests so long. */
const REST_MS = 180;

const kindOfRecord = (record: string) =>
  sectionOf(record)?.section === "node" ? nodeOf(doc.get(record)).kind : undefined;

/** Searches again when what is asked for, or the graph, is another one. */
function useSearching(): void {
  const query = useFind((state) => state.query);
  const everywhere = useFind((state) => state.everywhere);
  const replacing = useFind((state) => state.replacing);
  const replacement = useFind((state) => state.replacement);
  const graphId = useSession((state) => state.graphId);
  const rev = useDocumentState((state) => state.rev);
  useEffect(() => {
    const timer = setTimeout(() => void search(), REST_MS);
    return () => clearTimeout(timer);
  }, [query, everywhere, replacing, replacement, graphId, rev]);
}

export function FindPanel() {
  useSearching();
  const named = useFind((state) => state.usesOf);
  return (
    <div className={panelClass} data-testid={findIds.panel}>
      {named === null ? <Matches /> : <Uses />}
    </div>
  );
}

function Matches() {
  const found = useFind((state) => state.found);
  const problem = useFind((state) => state.problem);
  const filters = useFind((state) => state.filters);
  const text = useFind((state) => state.query.text);
  const everywhere = useFind((state) => state.everywhere);
  const work = useFind((state) => state.work);
  const version = useDocumentVersion();
  const path = useDocumentState((state) => state.path);
  const around = useAround();
  const filtering = filters.nodes !== "any" || filters.kind !== null;
  const rows = useMemo((): Row[] => {
    if (text !== "") return foundRows(found?.files ?? [], filters, around);
    if (!filtering) return [];
    void version;
    const nodes = doc.names("node").map((name) => {
      const record = doc.get(`node:${name}`);
      return { name, kind: nodeOf(record).kind, disabled: disabledOf(record) !== null };
    });
    const hits = nodeHits(nodes, { graphId: around.graphId, path });
    return rowsOfUses(hits.filter((hit) => passes(hit, { ...filters, where: "any" }, around)));
  }, [found, filters, around, text, filtering, version, path]);
  const hits = useMemo(() => hitsIn(rows), [rows]);
  return (
    <>
      <FindBar hits={hits} />
      {problem !== null ? (
        <p className="px-3 py-1 text-xs text-failed" role="alert">
          {problem.message} <span className="text-text-2">{problem.remedy}</span>
        </p>
      ) : text === "" && !filtering ? (
        <EmptyState compact icon={<Search size={20} />} title={t("find.idle")}>
          {t("find.idleHelp")}
        </EmptyState>
      ) : (
        <>
          <Status found={text === "" ? null : found} rows={rows} hits={hits.length} />
          {rows.length > 0 ? (
            <FindRows rows={rows} />
          ) : (
            work === null &&
            (text === "" || found !== null) && (
              <EmptyState compact icon={<SearchX size={20} />} title={t("find.none")}>
                {t(everywhere ? "find.noneHelp.folder" : "find.noneHelp.graph")}
              </EmptyState>
            )
          )}
        </>
      )}
    </>
  );
}

const names = (paths: readonly { readonly path: string }[]) => {
  const shown = paths.slice(0, 3).map(({ path }) => splitPath(path).name);
  return paths.length > 3 ? listed([...shown, "…"]) : listed(shown);
};

function Status({ found, rows, hits }: { found: TextFound | null; rows: readonly Row[]; hits: number }) {
  const work = useFind((state) => state.work);
  const progress = useJobs((state) => (work === null ? undefined : state.going.get(work)));
  const graphs = rows.filter((row) => row.kind === "file").length;
  const records = rows.filter((row) => row.kind === "record").length;
  return (
    <p
      className="flex shrink-0 flex-wrap items-center gap-x-2 gap-y-0.5 px-3 py-1 text-2xs text-text-2 tabular-nums"
      role="status"
      data-testid={findIds.status}
    >
      {work !== null && (
        <>
          <Spinner size={12} label={t("find.running")} />
          <span>
            {progress && progress.total > 0
              ? t("find.runningOf", { done: progress.done, total: progress.total })
              : t("find.running")}
          </span>
          <Button
            size="small"
            variant="ghost"
            icon={<Square size={11} aria-hidden />}
            onClick={stopSearch}
            data-testid={findIds.stop}
          >
            {t("find.stop")}
          </Button>
        </>
      )}
      {found === null ? (
        <span>{tn("find.nodeCount.one", "find.nodeCount.many", records)}</span>
      ) : (
        <>
          <span>
            {tn("find.count.one", "find.count.many", hits)}
            {graphs > 0 && ` ${tn("find.inGraphs.one", "find.inGraphs.many", graphs)}`}
          </span>
          {found.cut && <span className="text-asking">{t("find.cut")}</span>}
          {found.cancelled && <span className="text-asking">{t("find.cancelled")}</span>}
          {found.skipped.length > 0 && (
            <span
              className="text-asking wrap-anywhere"
              title={found.skipped
                .map(({ path, problem }) => `${path}: ${problemText(problem).message}`)
                .join("\n")}
            >
              {tn("find.skipped.one", "find.skipped.many", found.skipped.length, {
                files: names(found.skipped),
              })}
            </span>
          )}
        </>
      )}
    </p>
  );
}

function Uses() {
  const named = useFind((state) => state.usesOf);
  const version = useDocumentVersion();
  const leads = useDocumentState((state) => state.leads);
  const path = useDocumentState((state) => state.path);
  const { kinds, graphId } = useAround();
  const rows = useMemo(() => {
    void version;
    if (named === null) return [];
    const uses = usesOf(doc, knownKinds(), leads, named);
    return rowsOfUses(hitsOfUses(uses, { graphId, path }, kindOfRecord, kinds));
  }, [named, version, leads, kinds, graphId, path]);
  const count = hitsIn(rows).filter(({ role }) => role !== "definition").length;
  useEffect(() => {
    if (named === null) return;
    const next = stillListed(named, (record) => doc.has(record), count);
    if (next !== named) useFind.setState({ usesOf: next });
  }, [named, version, count]);
  if (named === null) return null;
  return (
    <>
      <header
        className="flex shrink-0 flex-wrap items-center gap-2 px-2 py-1.5 text-xs"
        data-testid={findIds.usesHead}
      >
        <Button
          size="small"
          variant="ghost"
          icon={<ArrowLeft size={13} aria-hidden />}
          onClick={() => useFind.setState({ usesOf: null, filters: NO_FILTERS })}
          data-testid={findIds.usesBack}
        >
          {t("find.usesBack")}
        </Button>
        <h3 className="min-w-0 font-semibold wrap-anywhere">
          {t(`find.usesOf.${named.what}`, { name: named.name })}
        </h3>
        <span className="text-text-3 tabular-nums" role="status">
          {count}
        </span>
        <span className="flex-1" />
        <Button
          size="small"
          icon={<PencilLine size={13} aria-hidden />}
          onClick={() => askRename(named)}
          data-testid={findIds.usesRename}
        >
          {t("find.renameCommand")}
        </Button>
      </header>
      {count === 0 && (
        <p className="px-3 pb-1 text-xs text-text-2">
          {t("find.usesNone")}. {t("find.usesNoneHelp")}
        </p>
      )}
      <FindRows rows={rows} />
    </>
  );
}
