/**
 * Words by the pointer while a wire is drawn: that it is refused, and why; or that the node under it would write what
 * another node of the same step writes.
 */
import { useConnection } from "@xyflow/react";
import { Ban, TriangleAlert } from "lucide-react";
import { useEffect, useMemo } from "react";
import { clashOf } from "../document/parallel-writers";
import { canConnect } from "../document/edits";
import { doc } from "../document/store";
import { usageOf } from "../document/usage";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { announce } from "../state/announce";
import { knownKinds } from "./kinds";
import { scene } from "./scene";
import { setCanvas, useCanvas, type RefusalWords } from "./store";
import { wireHintClass } from "./recipes";
import type { ViewHub } from "./view";

/** From the pointer to the words, and the room that these take at most. */
const BESIDE = 18;
const ROOM = { width: 304, height: 100 };

interface Drawn {
  readonly from: string;
  readonly to: string;
  readonly under: string;
  /** Only the plain port's wires are always followed; a port of a way leads to one of them. */
  readonly plain: boolean;
  /** Where the wire ends, in the graph. */
  readonly x: number;
  readonly y: number;
}

/** Reading who uses which key of a larger graph would be felt while the wire is drawn; Problems says it afterwards. */
const MOST_NODES = 2000;

function useDrawn(): Drawn | null {
  return useConnection(({ inProgress, fromHandle, toNode, fromNode, to: at }): Drawn | null => {
    if (!inProgress || !fromNode || !at) return null;
    const under: string | null = toNode?.id ?? scene.nodeAt(at);
    if (under === null || under === fromNode.id) return null;
    const [from, to] = fromHandle?.type === "target" ? [under, fromNode.id] : [fromNode.id, under];
    const plain = fromHandle?.id === null || fromHandle?.id === undefined;
    return { from: String(from), to: String(to), under: String(under), plain, x: at.x, y: at.y };
  });
}

/** What two nodes would both write; null for nothing. */
function useClash(drawn: Drawn | null): RefusalWords | null {
  // Who uses which key does not change while a wire is drawn.
  const drawing = drawn !== null;
  const usage = useMemo(
    () => (drawing && doc.names("node").length <= MOST_NODES ? usageOf(doc, knownKinds()) : null),
    [drawing],
  );
  const { from = "", to = "", plain = false } = drawn ?? {};
  return useMemo(() => {
    if (usage === null || !plain || !canConnect(from, to) || scene.ports(from).ports.length > 0) return null;
    const clash = clashOf(doc, usage, from, to);
    return (
      clash && { title: t("canvas.clash.title", { ...clash }), text: t("canvas.clash.text", { ...clash }) }
    );
  }, [usage, from, to, plain]);
}

export function WireHint({ hub }: { hub: ViewHub }) {
  const drawn = useDrawn();
  const wiring = useCanvas((state) => state.wiring);
  const refusal = (drawn && wiring?.refusal(drawn.under)) ?? null;
  const clash = useClash(wiring?.carried.length === 0 ? drawn : null);
  const words = refusal ?? clash;
  const said = words?.title;
  useEffect(() => {
    setCanvas({ refusing: said !== undefined });
    if (said !== undefined) announce(said);
    return () => setCanvas({ refusing: false });
  }, [said]);
  if (!words || drawn === null) return null;
  const { viewport, size } = hub;
  const at = { x: drawn.x * viewport.zoom + viewport.x, y: drawn.y * viewport.zoom + viewport.y };
  const left = at.x + BESIDE + ROOM.width > size.width;
  const above = at.y + BESIDE + ROOM.height > size.height;
  const Icon = refusal === null ? TriangleAlert : Ban;
  return (
    <div
      className={wireHintClass}
      style={{
        transform: `translate(${at.x + (left ? -BESIDE : BESIDE)}px, ${at.y + (above ? -BESIDE : BESIDE)}px)`,
        translate: `${left ? "-100%" : "0"} ${above ? "-100%" : "0"}`,
      }}
      data-testid={refusal === null ? shellIds.wireClash : shellIds.wireRefused}
    >
      <Icon size={14} className="mt-0.5 shrink-0 text-failed" aria-hidden />
      <span>
        <b className="block font-semibold">{words.title}</b>
        {words.text}
      </span>
    </div>
  );
}
