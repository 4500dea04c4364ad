/** Small things over the canvas: what an empty graph says, the card that is being dragged in, the wire that waits for the search. */
import { ViewportPortal } from "@xyflow/react";
import { Workflow } from "lucide-react";
import { Button } from "../components/Button";
import { EmptyState } from "../components/EmptyState";
import { ERROR_PORT } from "../document/error-ways";
import { useDocumentState, useIds } from "../document/store";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { runCommand } from "../state/commands";
import { shortcutOf } from "../state/keymap";
import { curve, HEAD, NODE_WIDTH, portOf } from "./geometry";
import { kindOf } from "./kinds";
import { scene } from "./scene";
import { useCanvas } from "./store";

const STEPS = [
  "canvas.empty.step1",
  "canvas.empty.step2",
  "canvas.empty.step3",
  "canvas.empty.step4",
] as const;

export function EmptyCanvas() {
  const none = useIds("node").length === 0;
  const search = useCanvas((state) => state.search !== null);
  const seen = useDocumentState((state) => state.seen !== null);
  if (!none || search || seen) return null;
  return (
    <div
      className="absolute inset-0 z-3 grid place-items-center pointer-events-none [&_button]:pointer-events-auto"
      data-testid={shellIds.canvasEmpty}
    >
      <EmptyState
        icon={<Workflow size={22} aria-hidden />}
        title={t("canvas.empty.title")}
        action={
          <Button
            variant="primary"
            shortcut={shortcutOf("edit.addNode")}
            onClick={() => runCommand("edit.addNode")}
          >
            {t("canvas.empty.action")}
          </Button>
        }
      >
        <ol className="flex flex-col gap-1 pt-1.5 text-left" data-testid={shellIds.firstSteps}>
          {STEPS.map((step, index) => (
            <li key={step} className="flex gap-2">
              <span className="w-3 shrink-0 text-right font-semibold text-text-3 tabular-nums">
                {index + 1}
              </span>
              {t(step)}
            </li>
          ))}
        </ol>
      </EmptyState>
    </div>
  );
}

export function Ghost() {
  const ghost = useCanvas((state) => state.ghost);
  if (!ghost) return null;
  return (
    <ViewportPortal>
      <div
        className="absolute grid place-items-center border border-dashed border-accent rounded-lg bg-accent-soft/70 text-accent-text text-sm/inherit font-semibold pointer-events-none"
        style={{
          transform: `translate(${ghost.place.x}px, ${ghost.place.y}px)`,
          width: NODE_WIDTH,
          height: HEAD,
        }}
      >
        {kindOf(ghost.kind)?.title ?? ghost.kind}
      </div>
    </ViewportPortal>
  );
}

export function WireGhost() {
  const search = useCanvas((state) => state.search);
  const rect = search?.wire ? scene.rect(search.wire.node) : undefined;
  if (!search?.wire || !rect) return null;
  const { node, side, leaving } = search.wire;
  const port =
    side === "out"
      ? (scene.portPoint(
          node,
          leaving?.way === "port" ? leaving.id : leaving?.way === "error" ? ERROR_PORT : null,
        ) ?? portOf(rect, "out"))
      : portOf(rect, "in");
  const path = search.wire.side === "out" ? curve(port, search.place) : curve(search.place, port);
  return (
    <ViewportPortal>
      <svg
        className="pointer-events-none absolute size-px overflow-visible [&_path]:fill-none [&_path]:stroke-accent [&_path]:stroke-2"
        aria-hidden
      >
        <path d={path} />
      </svg>
    </ViewportPortal>
  );
}
