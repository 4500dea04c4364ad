/**
 * The card of a node that is expanded in place: what stands on it by itself, and under that the graph that it runs, to
 * look at. A double-click opens that graph at the node under the pointer.
 */
import type { NodeProps } from "@xyflow/react";
import { TriangleAlert } from "lucide-react";
import { memo, type CSSProperties } from "react";
import { InlineCode } from "../components/InlineCode";
import { useInsideOverlay } from "../debugger/overlay/inside-overlay";
import type { Overlay } from "../debugger/overlay/overlay-model";
import { useDiagnostics } from "../document/store";
import { structureIds } from "../lib/testIds";
import { problemText, t, tn } from "../lib/texts";
import { type DrawnInside, type Inside, useInsides } from "./expansions";
import { PAD } from "./inside-size";
import { MiniGraph } from "./MiniGraph";
import { NodeCard } from "./NodeCard";
import { scene } from "./scene";
import { StillParts } from "./StillCanvas";
import { drawingAt } from "./viewport";

/** With more nodes than this only the shape of a graph is drawn. */
const MOST_NODES = 150;
/** Names that are drawn larger than that would fit no card. */
const LARGEST = 2.6;

export const ExpandedCard = memo(function ExpandedCard(props: NodeProps) {
  const { id, selected } = props;
  const inside = useInsides((all) => all[id]);
  return (
    <div
      className="flex size-full flex-col rounded-lg bg-surface-1 outline outline-line-strong data-selected:outline-2 data-selected:outline-accent"
      data-selected={selected || undefined}
      data-expanded
    >
      <div className="relative z-1 w-full flex-none" style={{ height: scene.sizeOf(id).height }}>
        <NodeCard {...props} />
      </div>
      {inside?.drawn && <InsideGraph node={id} drawn={inside.drawn} />}
      {inside?.problem && <Refused node={id} problem={inside.problem} />}
    </div>
  );
});

const insideClass =
  "relative mx-auto flex-none [&_[data-inner]]:pointer-events-auto [&_[data-inner]:hover>*]:border-line-field";

function InsideGraph({ node, drawn }: { node: string; drawn: DrawnInside }) {
  const { size, name, nodes } = drawn;
  const overlay = useInsideOverlay(node);
  return (
    <div
      className={insideClass}
      style={{ ...size, margin: `${PAD}px auto`, "--outer-unzoom": "var(--unzoom, 1)" } as CSSProperties}
      role="group"
      aria-label={tn("expand.label.one", "expand.label.many", nodes.length, { graph: name })}
      title={t("expand.hint")}
      data-testid={structureIds.inside(node)}
    >
      {nodes.length > MOST_NODES ? (
        <MiniGraph records={drawn.records} />
      ) : (
        <Drawn drawn={drawn} overlay={overlay} />
      )}
    </div>
  );
}

/** As large as the drawing is at its scale; what is small shows names alone, at a size that can be read. */
const Drawn = memo(function Drawn({ drawn, overlay }: { drawn: DrawnInside; overlay: Overlay }) {
  const { scale, extent } = drawn;
  const style = {
    transform: `scale(${scale}) translate(${-(extent?.x ?? 0)}px, ${-(extent?.y ?? 0)}px)`,
    "--unzoom": `min(calc(var(--outer-unzoom) / ${scale}), ${LARGEST})`,
  } as CSSProperties;
  return (
    <div
      className="absolute top-0 left-0 origin-top-left"
      style={style}
      data-drawing={drawingAt(scale) === "near" ? undefined : "middle"}
    >
      <StillParts scene={drawn.scene} overlay={overlay} graph={drawn.path} />
    </div>
  );
});

/** Why there is nothing to draw, and what to do: what is wrong with the node's settings says it best. */
function Refused({ node, problem }: { node: string; problem: NonNullable<Inside["problem"]> }) {
  const known = useDiagnostics(`node:${node}`).find(
    ({ severity, pointer }) => severity === "error" && (pointer ?? "").startsWith("/config/graph"),
  );
  const { message, remedy } = known ?? problemText(problem);
  return (
    <div
      className="m-auto flex w-80 gap-2 px-3 text-xs text-text-2"
      role="note"
      data-testid={structureIds.insideProblem(node)}
    >
      <TriangleAlert size={14} className="mt-0.5 flex-none text-asking" aria-hidden />
      <p className="line-clamp-5 min-w-0 wrap-anywhere">
        <InlineCode text={message} />{" "}
        {remedy !== undefined && (
          <span className="text-text">
            <InlineCode text={remedy} />
          </span>
        )}
      </p>
    </div>
  );
}
