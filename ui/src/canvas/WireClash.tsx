/** While a wire is drawn: that the node under it would write what another node of the same step writes, and what to do. */
import { useConnection } from "@xyflow/react";
import { TriangleAlert } from "lucide-react";
import { useEffect, useMemo } from "react";
import { clashOf } from "../document/clashes";
import { canConnect } from "../document/edits";
import { doc } from "../document/store";
import { usageOf } from "../document/usage";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { knownKinds } from "./kinds";
import { scene } from "./scene";
import { setCanvas } from "./store";
import type { ViewHub } from "./view";

interface Drawn {
  readonly from: string;
  readonly to: string;
  /** Where the wire ends, in the graph. */
  readonly x: number;
  readonly y: number;
}

/** Reading who uses which key of a larger graph would be felt while the wire is drawn; Problems says it afterwards. */
const MOST_NODES = 2000;

export function WireClash({ hub }: { hub: ViewHub }) {
  const drawn = useConnection(({ inProgress, fromHandle, toNode, fromNode, to: at }): Drawn | null => {
    if (!inProgress || !fromNode || !at) return null;
    // Only the plain port's wires are always followed; a port of a way leads to one of them.
    if (fromHandle?.id !== null && fromHandle?.id !== undefined) return null;
    const under: string | null = toNode?.id ?? scene.nodeAt(at);
    if (under === null || under === fromNode.id) return null;
    const [from, to] = fromHandle?.type === "target" ? [under, fromNode.id] : [fromNode.id, under];
    return { from: String(from), to: String(to), x: at.x, y: at.y };
  });
  // Who uses which key does not change while a wire is drawn.
  const drawing = drawn !== null;
  const usage = useMemo(
    () => (drawing && doc.names("node").length <= MOST_NODES ? usageOf(doc, knownKinds()) : null),
    [drawing],
  );
  const { from = "", to = "" } = drawn ?? {};
  const clash = useMemo(
    () =>
      usage === null || !canConnect(from, to) || scene.ports(from).ports.length > 0
        ? null
        : clashOf(doc, usage, from, to),
    [usage, from, to],
  );
  useEffect(() => {
    setCanvas({ clash: clash !== null });
    return () => setCanvas({ clash: false });
  }, [clash]);
  if (clash === null || drawn === null) return null;
  const { x, y, zoom } = hub.viewport;
  return (
    <div
      className="absolute top-0 left-0 z-20 flex max-w-76 gap-2 py-1.5 px-2.5 border border-failed rounded-md bg-surface-2 text-xs pointer-events-none"
      style={{ transform: `translate(${drawn.x * zoom + x + 18}px, ${drawn.y * zoom + y + 18}px)` }}
      role="status"
      data-testid={shellIds.wireClash}
    >
      <TriangleAlert size={14} className="mt-0.5 shrink-0 text-failed" aria-hidden />
      <span>
        <b className="block font-semibold">{t("canvas.clash.title", { ...clash })}</b>
        {t("canvas.clash.text", { ...clash })}
      </span>
    </div>
  );
}
