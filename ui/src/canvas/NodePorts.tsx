/** The named ports of a card: a row for each way in which the run may go on, its dot on the right side. */
import { Handle, Position } from "@xyflow/react";
import { memo, useSyncExternalStore, type ReactNode } from "react";
import { nodeName } from "../debugger/parts/format";
import { useWayOverlay } from "../debugger/overlay/overlay";
import { setExpression } from "../document/edge-edits";
import { ERROR_PORT } from "../document/error-ways";
import { allPorts, type Port, type Ports, renameWay } from "../document/ports";
import { edit } from "../document/edit";
import { useDiagnostics } from "../document/store";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import { addAfter } from "./adding";
import { type CardBody, portRowY } from "./geometry";
import { LabelEditor, onScreen } from "./LabelEditor";
import {
  errorPortClass,
  hiddenPortClass,
  portCaptionClass,
  portLabelClass,
  portRowClass,
  portRowsClass,
  waysClass,
} from "./recipes";
import { scene } from "./scene";
import { lineSelected, selectLine } from "./line-selection";
import { cx } from "../components/cx";
import { setCanvas, useCanvas } from "./store";
import type { Line } from "./lines";

/** The named ports of a node of the open document. */
export function usePorts(name: string): Ports {
  return useSyncExternalStore(
    (listener) => scene.subscribe(listener),
    () => scene.ports(name),
  );
}

/** The rows without what can be done to them, for graphs that are only looked at. */
export function PortRows(all: Ports) {
  const { expression } = all;
  const ports = allPorts(all);
  if (ports.length === 0) return null;
  return (
    <div className={portRowsClass}>
      {expression && <span className={portCaptionClass}>{expression.text}</span>}
      {ports.map((port) => (
        <PortRow key={port.id} port={port}>
          <span className={portLabelClass}>{port.title}</span>
        </PortRow>
      ))}
    </div>
  );
}

function PortRow({ port, children }: { port: Port; children: ReactNode }) {
  return (
    <div
      className={portRowClass}
      data-open={port.to === null || undefined}
      data-else={(port.label === null && port.id !== ERROR_PORT) || undefined}
      data-error={port.id === ERROR_PORT || undefined}
    >
      {children}
    </div>
  );
}

/** The dots of the ports; children of the card itself, whose side they stand on. */
export function PortHandles({ name, ports, body }: { name: string; ports: readonly Port[]; body: CardBody }) {
  return ports.map((port, index) => (
    <Handle
      key={port.id}
      id={port.id}
      type="source"
      position={Position.Right}
      className={cx(port.to === null && "port-open", port.id === ERROR_PORT && errorPortClass)}
      style={{ top: portRowY(body, index) }}
      title={t("canvas.port.hint", { label: port.title })}
      onClick={(event) => {
        event.stopPropagation();
        addAfter(name, port.id, { x: event.clientX, y: event.clientY });
      }}
      data-testid={shellIds.wayPort(name, port.id)}
    />
  ));
}

/** The port of a failure that leads nowhere yet: at the lower edge of the card while it is pointed at or selected. */
export function ErrorHandle({ name }: { name: string }) {
  const point = scene.portPoint(name, ERROR_PORT);
  const rect = scene.rect(name);
  if (!point || !rect) return null;
  return (
    <Handle
      id={ERROR_PORT}
      type="source"
      position={Position.Bottom}
      className={cx(errorPortClass, hiddenPortClass)}
      style={{ left: point.x - rect.x, top: point.y - rect.y, bottom: "auto" }}
      title={t("canvas.port.error.hint")}
      onClick={(event) => {
        event.stopPropagation();
        addAfter(name, ERROR_PORT, { x: event.clientX, y: event.clientY });
      }}
      data-testid={shellIds.wayPort(name, ERROR_PORT)}
    >
      <span className="absolute top-2.5 left-1/2 -translate-x-1/2 rounded-[3px] bg-canvas px-0.5 text-[10px]/3.5 text-failed whitespace-nowrap pointer-events-none">
        {t("canvas.port.error.branch")}
      </span>
    </Handle>
  );
}

export const NodePorts = memo(function NodePorts({ name, ports }: { name: string; ports: Ports }) {
  const all = allPorts(ports);
  const small = useCanvas((state) => state.small);
  if (all.length === 0) return null;
  const { expression } = ports;
  return (
    <>
      {small && <Ways name={name} ports={all} />}
      {/* A press here is for the line of a way, not for the card around it. */}
      <div
        className={`${portRowsClass} pointer-events-none [&_button]:pointer-events-auto [&_input]:pointer-events-auto`}
        onClick={(event) => event.stopPropagation()}
        onDoubleClick={(event) => event.stopPropagation()}
      >
        {expression && <Expression {...expression} />}
        {all.map((port) => (
          <PortRow key={port.id} port={port}>
            <PortLabel name={name} port={port} />
          </PortRow>
        ))}
      </div>
    </>
  );
});

/** The ways of a card whose rows are too low to be read. */
function Ways({ name, ports }: { name: string; ports: readonly Port[] }) {
  return (
    <ul className={waysClass} aria-hidden data-testid={shellIds.ways(name)}>
      {ports.map((port) => (
        <Way key={port.id} name={name} port={port} />
      ))}
    </ul>
  );
}

function Way({ name, port }: { name: string; port: Port }) {
  const line = lineOf(port.edge, port.part);
  const overlay = useWayOverlay({ from: name, to: port.to ?? "", ...(line && { id: line.id }) });
  const taken = port.to !== null && overlay.times > 0;
  return (
    <li
      className="flex justify-between gap-3 data-taken:font-semibold data-taken:text-text"
      data-taken={taken || undefined}
    >
      <span>{port.title}</span>
      {port.to !== null && <span className="text-text-3">→ {nodeName(port.to)}</span>}
    </li>
  );
}

/** The expression that chooses among the ways. */
function Expression({ edge, part, text }: { edge: string; part: string; text: string }) {
  const line = lineOf(edge, part);
  const id = line?.id ?? "";
  const editing = useCanvas((state) => state.labelEdit?.line === id && state.labelEdit.what === "caption");
  if (editing)
    return (
      <LabelEditor
        value={text}
        className="h-5 w-full"
        style={ROW_TEXT}
        onDone={(next) => edit(t("canvas.edit.condition"), (document) => setExpression(document, edge, next))}
      />
    );
  return (
    <button
      type="button"
      className={`${portCaptionClass} nodrag nopan`}
      data-line={id}
      title={t("canvas.caption.hint", { expression: text })}
      onClick={(event) => line && selectLine(line, event.shiftKey || event.ctrlKey || event.metaKey, true)}
      onDoubleClick={() => setCanvas({ labelEdit: { line: id, what: "caption" } })}
      data-testid={shellIds.edgeCaption(edge, part)}
    >
      {text === "" ? t("canvas.label.empty") : text}
    </button>
  );
}

/** As large as a row of ports has room for. */
const ROW_TEXT = { fontSize: `min(${onScreen(11)}, 16px)` };

function lineOf(edge: string | null, part: string): Line | undefined {
  return edge === null ? undefined : scene.linesOf(edge).find((line) => line.part === part);
}

function PortLabel({ name, port }: { name: string; port: Port }) {
  const line = lineOf(port.edge, port.part);
  const id = line?.id ?? shellIds.wayPort(name, port.id);
  const overlay = useWayOverlay({ from: name, to: port.to ?? "", ...(line && { id: line.id }) });
  const editing = useCanvas((state) => state.labelEdit?.line === id && state.labelEdit.what === "label");
  const lines = useCanvas((state) => state.lines);
  const edges = useSession((state) => state.selection.edges);
  const problems = useDiagnostics(`edge:${port.edge ?? ""}`);
  const failed = problems.some(({ severity }) => severity === "error");
  if (editing && port.label !== null)
    return (
      <LabelEditor
        value={port.title}
        className="h-5 w-full text-right"
        style={ROW_TEXT}
        onDone={(next) =>
          edit(t("canvas.edit.label"), (document) => renameWay(document, name, port.id, next))
        }
      />
    );
  return (
    <button
      type="button"
      className={`${portLabelClass} nodrag nopan`}
      data-line={line?.id}
      data-selected={(line && lineSelected(line, edges, lines)) || undefined}
      data-taken={(port.to !== null && overlay.times > 0) || undefined}
      data-failed={(port.edge !== null && failed) || undefined}
      title={
        port.id === ERROR_PORT
          ? t("canvas.port.error.hint")
          : port.label === null
            ? t("canvas.label.default")
            : port.to === null
              ? t("canvas.port.open", { label: port.title })
              : port.title
      }
      onClick={(event) => line && selectLine(line, event.shiftKey || event.ctrlKey || event.metaKey)}
      onDoubleClick={() => port.label !== null && setCanvas({ labelEdit: { line: id, what: "label" } })}
      data-testid={line ? shellIds.edgeLabel(line.edge, line.part) : shellIds.wayLabel(name, port.id)}
    >
      {port.title}
    </button>
  );
}
