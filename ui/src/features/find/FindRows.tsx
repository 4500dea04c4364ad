/** The rows of what was found: graphs, records, and lines with the match marked. Only those in view are mounted. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { FileJson, Replace, ReplaceAll } from "lucide-react";
import { useEffect, useRef, type KeyboardEvent } from "react";
import { Badge } from "../../components/Badge";
import { IconButton } from "../../components/IconButton";
import { KindIcon } from "../../components/KindIcon";
import { kindOf } from "../../canvas/kinds";
import { findIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { followRows, goToHit } from "./navigate";
import { recordLabel } from "./places";
import { askReplace } from "./replace";
import type { Hit, Row } from "./rows";
import { useFind } from "./search";

const HEIGHT = { file: 28, record: 26, hit: 24 } as const;

const rowClass =
  "flex h-full w-full min-w-0 items-center gap-1.5 pr-2 text-left text-xs hover:bg-surface-3 focus-visible:-outline-offset-2 data-at:bg-accent-soft";

export function FindRows({ rows }: { rows: readonly Row[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const at = useFind((state) => state.at);
  const replacing = useFind((state) => state.replacing && state.usesOf === null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => HEIGHT[rows[index]?.kind ?? "hit"],
    getItemKey: (index) => rows[index]?.id ?? index,
    paddingEnd: 8,
    overscan: 12,
  });
  useEffect(() => {
    followRows(rows);
    return () => followRows([]);
  }, [rows]);
  useEffect(() => {
    const place = rows.findIndex((row) => row.id === at);
    if (place >= 0) virtual.scrollToIndex(place, { align: "auto" });
  }, [at, rows, virtual]);

  /** Up and down walk the rows; the list mounts more of them as the focus scrolls it. */
  const walk = (event: KeyboardEvent) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const mounted = [...(scroller.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])].sort(
      (a, b) => Number(a.dataset["row"]) - Number(b.dataset["row"]),
    );
    const here = mounted.indexOf(document.activeElement as HTMLElement);
    const next = mounted[here + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <div
      className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto"
      ref={scroller}
      onKeyDown={walk}
      role="group"
      aria-label={t("find.results")}
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          return (
            <div
              key={item.key}
              className="group absolute inset-x-0 flex items-center"
              style={{ top: item.start, height: item.size }}
            >
              <RowView row={row} index={item.index} at={at === row.id} replacing={replacing} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  readonly row: Row;
  readonly index: number;
  readonly at: boolean;
  readonly replacing: boolean;
}

function RowView({ row, index, at, replacing }: RowProps) {
  if (row.kind === "file") {
    const { file, hits } = row;
    const first = hits[0];
    return (
      <>
        <button
          type="button"
          className={`${rowClass} pl-2.5 font-semibold`}
          data-row={index}
          onClick={() => first && void goToHit(first, null)}
          data-testid={findIds.file(index)}
        >
          <FileJson size={14} className="shrink-0 text-text-3" aria-hidden />
          <span className="truncate">{file.name}</span>
          <span className="min-w-0 truncate font-normal text-text-3">{file.place}</span>
          <Count of={hits} />
        </button>
        {replacing && <ReplaceGroup hits={hits} index={index} label={t("find.replaceFile")} />}
      </>
    );
  }
  if (row.kind === "record") return <RecordRow row={row} index={index} at={at} replacing={replacing} />;
  return <HitRow row={row} index={index} at={at} replacing={replacing} />;
}

function RecordRow({ row, index, at, replacing }: RowProps & { row: Row & { kind: "record" } }) {
  const [first] = row.hits;
  if (!first) return null;
  const kind = first.kind === undefined ? undefined : kindOf(first.kind);
  return (
    <>
      <button
        type="button"
        className={`${rowClass} pl-6`}
        data-row={index}
        data-at={at || undefined}
        onClick={() => void goToHit({ ...first, pointer: null }, row.id)}
        data-testid={findIds.record(index)}
      >
        {kind && <KindIcon icon={kind.icon} size={14} />}
        <span className="truncate font-medium">{recordLabel(first.record)}</span>
        {first.disabled && <Badge>{t("disabled.badge")}</Badge>}
        {first.shown !== null && <Count of={row.hits} />}
      </button>
      {replacing && <ReplaceGroup hits={row.hits} index={index} label={t("find.replaceNode")} />}
    </>
  );
}

function HitRow({ row, index, at, replacing }: RowProps & { row: Row & { kind: "hit" } }) {
  const { hit } = row;
  const place = hit.line > 1 ? t("find.at", { where: hit.label, n: hit.line }) : hit.label;
  return (
    <>
      <button
        type="button"
        className={`${rowClass} pl-9`}
        data-row={index}
        data-at={at || undefined}
        onClick={() => void goToHit(hit, row.id)}
        data-testid={findIds.match(index)}
      >
        <span className="w-36 shrink-0 truncate text-text-3 max-[1100px]:w-24" title={place}>
          {hit.role !== null && <span className="mr-1 text-text-2">{t(`find.role.${hit.role}`)}</span>}
          {place}
        </span>
        <Line hit={hit} replacing={replacing} />
      </button>
      {replacing && !hit.named && (
        <IconButton
          size="small"
          className="mr-1"
          label={t("find.replaceOne")}
          onClick={() => askReplace([hit])}
          data-testid={findIds.replaceOne(index)}
        >
          <Replace size={13} aria-hidden />
        </IconButton>
      )}
    </>
  );
}

/** The line with its match; what it would become stands behind it. */
function Line({ hit, replacing }: { hit: Hit; replacing: boolean }) {
  if (hit.shown === null) return null;
  const { before, text, after } = hit.shown;
  const changes = replacing && hit.replaced !== null;
  return (
    <span className="min-w-0 flex-1 truncate font-mono text-2xs/inherit" title={`${before}${text}${after}`}>
      {/* The match is in view however much stands before it. */}
      {before.length > 40 ? `…${before.slice(-40)}` : before}
      <mark
        className="rounded-[3px] bg-asking-soft px-0.5 text-text data-changes:bg-failed-soft data-changes:line-through"
        data-changes={changes || undefined}
      >
        {text}
      </mark>
      {changes && <ins className="rounded-[3px] bg-done-soft px-0.5 no-underline">{hit.replaced}</ins>}
      {after}
      {replacing && hit.named && <span className="ml-2 font-sans text-text-3">{t("find.named")}</span>}
    </span>
  );
}

function Count({ of }: { of: readonly Hit[] }) {
  return (
    <span className="min-w-4 shrink-0 rounded-lg bg-surface-4 px-1 text-center text-2xs font-normal text-text-2 tabular-nums">
      {of.length}
    </span>
  );
}

function ReplaceGroup({ hits, index, label }: { hits: readonly Hit[]; index: number; label: string }) {
  const wanted = hits.filter(({ named }) => !named);
  if (wanted.length === 0) return null;
  return (
    <IconButton
      size="small"
      className="mr-1"
      label={label}
      onClick={() => askReplace(wanted)}
      data-testid={findIds.replaceGroup(index)}
    >
      <ReplaceAll size={13} aria-hidden />
    </IconButton>
  );
}
