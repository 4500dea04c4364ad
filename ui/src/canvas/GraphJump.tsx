/** A way that a node may go without an edge: dashed, and not to be grabbed, because a setting of the node says it. */
import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { useWayOverlay } from "../debugger/overlay/overlay";
import { t } from "../lib/texts";
import { curve, detour, isBack } from "./geometry";
import type { Point } from "../document/edits";
import { headPath } from "./lines";
import type { Jump } from "../document/node-references";

interface JumpData extends Record<string, unknown> {
  readonly jump: Jump;
  /** Height of the lane when it goes back. */
  readonly lane: number;
  /** Keeps the two directions apart. */
  readonly inset: number;
}

export type JumpEdge = Edge<JumpData, "jump">;

const HALF_PORT = 5;
const NO_WAY = { from: "", to: "" };

export const GraphJump = memo(function GraphJump({ id, data, ...ends }: EdgeProps<JumpEdge>) {
  const jump = data?.jump;
  const overlay = useWayOverlay(jump ?? NO_WAY);
  if (!jump) return null;
  const from = { x: ends.sourceX - HALF_PORT, y: ends.sourceY };
  const to = { x: ends.targetX + HALF_PORT, y: ends.targetY };
  if (jump.how === "unknown") return <UnknownJump jump={jump} from={from} />;
  const path = isBack(from, to) ? detour(from, to, data.lane, data.inset) : curve(from, to);
  const state = overlay.active ? "active" : overlay.times > 0 ? "taken" : "idle";
  return (
    <g className="line line-jump" data-state={state} data-how={jump.how} data-testid={id}>
      <title>{t(`canvas.jump.${jump.how}`, { from: jump.from, to: jump.to })}</title>
      <BaseEdge id={id} path={path} interactionWidth={12} className="line-path" />
      <path className="line-head" d={headPath(to)} />
    </g>
  );
});

/** A program that goes somewhere, nobody knows where: a short way with a question mark at its end. */
function UnknownJump({ jump, from }: { jump: Jump; from: Point }) {
  const end = { x: from.x + 34, y: from.y - 26 };
  return (
    <g className="line line-jump" data-how="unknown" data-state="idle" data-testid={jump.id}>
      <title>{t("canvas.jump.unknown", { from: jump.from })}</title>
      <path
        className="line-path"
        d={`M${from.x},${from.y} C${from.x + 18},${from.y} ${end.x - 18},${end.y} ${end.x},${end.y}`}
      />
      <circle className="fill-canvas stroke-edge" cx={end.x + 8} cy={end.y} r={8} />
      <text className="fill-text-2 text-2xs font-semibold" x={end.x + 8} y={end.y + 4} textAnchor="middle">
        ?
      </text>
    </g>
  );
}
