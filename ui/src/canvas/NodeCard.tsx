/**
 * A node as a card of fixed measure: glyph, name, kind, up to three rows of what it does, and over it the state of the
 * moment. Every state has a shape and a glyph of its own besides its colour. Subscribes to nothing but its own record,
 * problems and overlay.
 */
import { Handle, Position, type NodeProps } from "@xyflow/react";
import {
  Check,
  CircleHelp,
  CircleOff,
  Clock,
  CornerDownRight,
  LoaderCircle,
  Play,
  TriangleAlert,
  X,
} from "lucide-react";
import { memo, useEffect, useRef, useState, useSyncExternalStore, type CSSProperties } from "react";
import { KindIcon } from "../components/KindIcon";
import { useNodeOverlay, type NodeOverlay } from "../debugger/overlay/overlay";
import { disabledOf } from "../document/disabled";
import { nodeNameProblem } from "../document/edits";
import { allPorts } from "../document/ports";
import { doc, useDiagnostics, useRecord } from "../document/store";
import { ATTACHED, END, GRAPH, nodeOf, SEEN, START } from "../document/types";
import { duration } from "../lib/intl";
import { gitIds, shellIds, structureIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { useCalm } from "../state/reduced-motion";
import { useChange } from "../document/changes";
import { useLitRole, type LitRole } from "../document/highlighted-key";
import { useSession } from "../state/session";
import { showToast } from "../state/toasts";
import { addAfter } from "./adding";
import { ExpandButton } from "./ExpandButton";
import { HeatBadge } from "./HeatBadge";
import { HiddenMark } from "./HiddenWires";
import { cardRows, PORT_Y, portsHeight } from "./geometry";
import { nameRoom } from "./name-pieces";
import { cardWords, NodeName } from "./NodeName";
import { ErrorHandle, NodePorts, PortHandles, usePorts } from "./NodePorts";
import { renameEverywhere } from "./records";
import { useKind } from "./kinds";
import { scene } from "./scene";
import { NodeShield } from "./NodeShield";
import { StaleBadge } from "./StaleBadge";
import { setCanvas, useCanvas } from "./store";
import { useRefused } from "./wiring";
import { boundOf } from "./lines";
import {
  cardClass,
  cardHeadClass,
  cardIconClass,
  cardSubClass,
  cardWordsClass,
  disabledMarkClass,
  endPillClass,
} from "./recipes";
import { PinMark } from "./PinMark";
import { cx } from "../components/cx";

const cardBreakClass =
  "absolute -top-1.5 size-3 rounded-full border-2 border-canvas bg-failed in-data-[drawing=middle]:[scale:min(var(--unzoom),2.5)]";
const cardNoteClass =
  "absolute top-[calc(100%+4px)] left-0 right-0 py-0.75 px-2 rounded-md text-2xs/[15px] pointer-events-none overflow-hidden";

const NO_ROWS: readonly string[] = [];
const PORT_STYLE = { top: PORT_Y };

export const NodeCard = memo(function NodeCard({ id, selected }: NodeProps) {
  const record = useRecord(`node:${id}`);
  const node = nodeOf(record);
  const kind = useKind(node.kind);
  const overlay = useNodeOverlay(id);
  const renaming = useCanvas((state) => state.renaming === id);
  const lit = useLitRole(id);
  const quiet = useSession((state) => state.use === "debug" && state.cursor.threadId !== null);
  const rows = cardRows(node, kind?.card ?? NO_ROWS);
  const ports = usePorts(id);
  const disabled = disabledOf(record) !== null;
  const refused = useRefused(id);
  // Stays from then on: a wire that is drawn from it leaves the card.
  const [pointed, setPointed] = useState(false);
  const all = allPorts(ports);
  const kindTitle = kind?.title ?? kindOfOthers(node);
  const words = cardWords(id, node, kindTitle || t("canvas.node.noKind"));
  const body = { rows: rows.length, ports: all.length, caption: ports.expression !== null };
  return (
    <div
      className={cardClass}
      data-state={overlay.state}
      data-selected={selected || undefined}
      data-quiet={(quiet && overlay.state === "idle" && overlay.runs === 0) || undefined}
      data-group={kind?.group ?? "unknown"}
      data-lit={lit ?? undefined}
      data-disabled={disabled || undefined}
      data-refused={refused || undefined}
      data-testid={shellIds.node(id)}
      style={cardStyle(words.large, portsHeight(body), rows.length)}
      aria-label={t("canvas.node.label", {
        name: id,
        kind: kindTitle,
        state: disabled ? t("disabled.badge") : stateText(overlay),
      })}
      onPointerEnter={() => setPointed(true)}
    >
      <Handle
        type="target"
        position={Position.Left}
        style={PORT_STYLE}
        data-testid={shellIds.port(id, "in")}
      />
      <OutPort name={id} style={PORT_STYLE} />
      <PortHandles name={id} ports={all} body={body} />
      {ports.error === null && (pointed || selected) && <ErrorHandle name={id} />}
      <div className={cardHeadClass}>
        <span className={cardIconClass}>
          <KindIcon icon={kind?.icon ?? "box"} />
        </span>
        <div className={cardWordsClass}>
          {renaming ? (
            <NameEditor name={id} />
          ) : (
            <NodeName name={words.large} data-testid={shellIds.nodeName(id)} />
          )}
          <span className={cardSubClass}>
            <span className="min-w-0 truncate">{words.small}</span>
            <span className="flex flex-none gap-1.25">
              <Bound name={id} most={boundOf(record)} />
              <Counts overlay={overlay} />
            </span>
          </span>
        </div>
        <StateMark overlay={overlay} />
        {node.kind === GRAPH && <ExpandButton name={id} />}
      </div>
      <CardRows rows={rows} />
      <NodePorts name={id} ports={ports} />
      <ProblemBadge name={id} />
      <NodeShield name={id} record={record} />
      {disabled ? <DisabledMark /> : <PinMark name={id} />}
      <HeatBadge name={id} />
      <HiddenMark name={id} />
      <StaleBadge name={id} />
      {lit !== null && lit !== "none" && <LitMark role={lit} />}
      <ChangeMark name={id} />
      {overlay.breakBefore && (
        <span className={cx(cardBreakClass, "-left-1.5")} title={t("canvas.break.before")} />
      )}
      {overlay.breakAfter && (
        <span className={cx(cardBreakClass, "-right-1.5")} title={t("canvas.break.after")} />
      )}
      {overlay.state === "running" && overlay.text ? (
        <div className={cx(cardNoteClass, "flex items-end max-h-9 bg-running-soft text-text wrap-anywhere")}>
          <span>{overlay.text.slice(-160)}</span>
        </div>
      ) : overlay.state === "failed" && overlay.error ? (
        <div className={cx(cardNoteClass, "line-clamp-2 bg-failed-soft text-failed")}>{overlay.error}</div>
      ) : null}
    </div>
  );
});

/** What stands for the kind of a node of another program: its place in an attached one, where that is known. */
function kindOfOthers({ kind, config }: ReturnType<typeof nodeOf>): string {
  if (kind === SEEN) return t("seen.kind");
  if (kind !== ATTACHED) return kind;
  const place = config["at"] ?? config["module"];
  return typeof place === "string" ? place : t("seen.function");
}

/** What the classes of a card count with: the height of its ports, and the lines and the width of its name. */
export function cardStyle(name: string, ports: number, rows: number): CSSProperties {
  const lines = rows > 1 ? 2 : 1;
  return {
    "--ports": `${ports}px`,
    "--lines": lines,
    "--name": `${nameRoom(name, lines)}px`,
  } as CSSProperties;
}

/** The port that every wire may leave from; a click adds what comes next. */
function OutPort({ name, style }: { name: string; style?: CSSProperties }) {
  return (
    <Handle
      type="source"
      position={Position.Right}
      {...(style && { style })}
      title={t("canvas.port.next")}
      onClick={(event) => {
        event.stopPropagation();
        addAfter(name, null, { x: event.clientX, y: event.clientY });
      }}
      data-testid={shellIds.port(name, "out")}
    />
  );
}

export function stateText(overlay: NodeOverlay): string {
  return overlay.state === "idle" ? "" : t(`canvas.state.${overlay.state}`);
}

export const MARKS = {
  next: Play,
  waiting: Clock,
  running: LoaderCircle,
  done: Check,
  rerouted: CornerDownRight,
  failed: X,
  asking: CircleHelp,
} as const;

/** What the node does, in up to three rows. */
export function CardRows({ rows }: { rows: ReturnType<typeof cardRows> }) {
  if (rows.length === 0) return null;
  return (
    <div className="px-2.5 in-data-[drawing=middle]:hidden in-data-disabled:opacity-50">
      {rows.map((row, index) => (
        <div
          key={index}
          className="h-4.5 text-2xs/4.5 text-text-2 truncate data-[role=code]:font-mono data-[role=code]:text-[10.5px] data-[role=into]:font-mono data-[role=into]:text-[10.5px] data-[role=into]:text-text-3 in-data-quiet:text-text-3"
          data-role={row.role}
        >
          {row.role === "into" && <span className="mr-1.25">→</span>}
          {row.text}
        </div>
      ))}
    </div>
  );
}

/** The mark of a state; in the middle drawing on the card's corner, where it takes no room from the name. */
export function StateMark({ overlay }: { overlay: NodeOverlay }) {
  if (overlay.state === "idle") return null;
  const Mark = MARKS[overlay.state];
  return (
    <span
      className="flex-none grid place-items-center rounded-full size-5 in-data-[drawing=middle]:absolute in-data-[drawing=middle]:top-0 in-data-[drawing=middle]:right-0 in-data-[drawing=middle]:translate-x-1/2 in-data-[drawing=middle]:-translate-y-1/2 in-data-[drawing=middle]:bg-surface-2 in-data-[drawing=middle]:size-[calc(16px*var(--unzoom))] in-data-[drawing=middle]:[&_svg]:size-[calc(12px*var(--unzoom))] data-[state=next]:text-running data-[state=next]:border-[1.5px] data-[state=next]:border-running data-[state=waiting]:text-running data-[state=running]:text-running data-[state=running]:[&_svg]:animate-spin data-[state=done]:text-done data-[state=rerouted]:text-failed data-[state=failed]:text-surface-2 data-[state=failed]:bg-failed! data-[state=failed]:rounded-sm data-[state=asking]:text-surface-2 data-[state=asking]:bg-asking!"
      data-state={overlay.state}
      title={stateText(overlay)}
    >
      <Mark size={overlay.state === "next" ? 11 : 14} strokeWidth={2.5} aria-hidden />
    </span>
  );
}

export function Counts({ overlay }: { overlay: NodeOverlay }) {
  if (overlay.runs === 0 && overlay.millis === undefined) return null;
  return (
    <span className="flex-none inline-flex gap-1.25 text-text-2 [&_b]:font-semibold tabular-nums">
      {overlay.runs > 1 && <b data-testid={shellIds.cardRuns}>×{overlay.runs}</b>}
      {overlay.millis !== undefined && <span>{duration(overlay.millis)}</span>}
    </span>
  );
}

/** How often a run may come here, when no line that leads back says it. */
function Bound({ name, most }: { name: string; most: number | null }) {
  const shown = useSyncExternalStore(
    (listener) => scene.subscribe(listener),
    () => most !== null && !scene.boundShown(name),
  );
  return shown && most !== null ? (
    <span className="tabular-nums" title={t("canvas.bound.hint")} data-testid={shellIds.bound(name)}>
      {t("canvas.bound", { most })}
    </span>
  ) : null;
}

/** What the node does with the key that is shown: a filled mark writes it, a ring reads it. */
function LitMark({ role }: { role: LitRole }) {
  return (
    <span
      className="absolute -top-2 left-2 in-data-[drawing=middle]:origin-bottom-left in-data-[drawing=middle]:[scale:min(var(--unzoom),1.8)] inline-flex items-center gap-1 h-4 px-1.5 rounded-lg border border-accent bg-surface-2 text-[10px] font-semibold text-accent-text data-[role=writes]:bg-accent data-[role=writes]:text-on-accent data-[role=both]:bg-accent data-[role=both]:text-on-accent"
      data-role={role}
      data-testid={shellIds.lit}
    >
      {t(`canvas.lit.${role}`)}
    </span>
  );
}

/** Says how the node differs from the last commit, while that is shown. */
function ChangeMark({ name }: { name: string }) {
  const change = useChange(`node:${name}`);
  if (change === null) return null;
  return (
    <span
      className="absolute -bottom-2 left-2 in-data-[drawing=middle]:origin-bottom-left in-data-[drawing=middle]:[scale:min(var(--unzoom),1.8)] inline-flex h-4 items-center rounded-lg border border-asking bg-asking-soft px-1.5 text-[10px] font-semibold text-asking data-[change=added]:border-done data-[change=added]:bg-done-soft data-[change=added]:text-done"
      data-change={change}
      data-testid={gitIds.badge}
    >
      {t(`git.change.${change}`)}
    </span>
  );
}

/** Says that runs pass the node by; in the middle drawing the sign alone. */
export function DisabledMark() {
  return (
    <span className={disabledMarkClass} title={t("disabled.badgeHelp")} data-testid={structureIds.disabled}>
      <CircleOff size={11} strokeWidth={2.5} aria-hidden />
      <span className="in-data-[drawing=middle]:hidden">{t("disabled.badge")}</span>
    </span>
  );
}

function ProblemBadge({ name }: { name: string }) {
  // That a node is disabled has a mark of its own.
  const problems = useDiagnostics(`node:${name}`).filter(({ pointer }) => pointer !== "/disabled");
  const calm = useCalm(name);
  if (problems.length === 0) return null;
  const failed = problems.some((problem) => problem.severity === "error" && !calm(problem.pointer ?? ""));
  const waits = problems.every((problem) => calm(problem.pointer ?? ""));
  return <ProblemMark tone={failed ? "failed" : waits ? "hint" : "asking"} problems={problems} />;
}

interface ProblemMarkProps {
  readonly tone: "failed" | "asking" | "hint";
  readonly problems: readonly { readonly message: string }[];
}

/** On the corner of a card, the number of its problems, which it says. */
export function ProblemMark({ tone, problems }: ProblemMarkProps) {
  const words = problems.map((problem) => problem.message).join("\n");
  return (
    <span
      className="absolute -top-2 right-2.5 in-data-[drawing=middle]:right-[calc(9px*var(--unzoom))] in-data-[drawing=middle]:origin-top-right in-data-[drawing=middle]:[scale:min(var(--unzoom),1.8)] inline-flex items-center gap-0.75 h-4 px-1.25 rounded-lg text-[10px] font-semibold text-surface-2 data-[tone=failed]:bg-failed data-[tone=asking]:bg-asking data-[tone=hint]:bg-text-3"
      data-tone={tone}
      title={words}
    >
      <TriangleAlert size={11} strokeWidth={2.5} aria-hidden />
      {problems.length > 1 && <span className="tabular-nums">{problems.length}</span>}
    </span>
  );
}

/** The name, edited in place. What it may not be is reported before it is lost. */
export function NameEditor({ name }: { name: string }) {
  const input = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  const finish = (next: string | null) => {
    if (done.current) return;
    done.current = true;
    setCanvas({ renaming: null });
    const wanted = next?.trim();
    if (wanted === undefined || wanted === name) return;
    const problem = nodeNameProblem(doc, wanted, name);
    if (problem) {
      showToast({ tone: "problem", text: t(`canvas.name.${problem}`, { name: wanted }) });
      return;
    }
    renameEverywhere(name, wanted);
  };
  return (
    <input
      ref={input}
      className="outline-none w-full h-4.5 -mt-px -mx-1 px-0.75 rounded-[3px] border border-accent bg-surface-2 text-sm/inherit font-semibold nodrag nopan"
      defaultValue={name}
      spellCheck={false}
      aria-label={t("canvas.name")}
      onBlur={(event) => finish(event.currentTarget.value)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") finish(event.currentTarget.value);
        if (event.key === "Escape") finish(null);
      }}
      onDoubleClick={(event) => event.stopPropagation()}
      data-testid={shellIds.nodeRename}
    />
  );
}

/** The entry and the end of the graph. */
export const EndPill = memo(function EndPill({ id, selected }: NodeProps) {
  const overlay = useNodeOverlay(id);
  const refused = useRefused(id);
  return (
    <div
      className={endPillClass}
      data-end={id === START ? "start" : "end"}
      data-state={overlay.state}
      data-refused={refused || undefined}
      data-selected={selected || undefined}
      data-testid={shellIds.node(id)}
      aria-label={t(id === START ? "canvas.start.hint" : "canvas.end.hint")}
      title={t(id === START ? "canvas.start.hint" : "canvas.end.hint")}
    >
      {id === END ? (
        <Handle type="target" position={Position.Left} data-testid={shellIds.port(id, "in")} />
      ) : (
        <OutPort name={id} />
      )}
      {t(id === START ? "canvas.start" : "canvas.end")}
    </div>
  );
});
