/**
 * Dragging a checkpoint onto a node of the canvas: what runs next there is replayed, as "Replay from here" does, which
 * asks about what would work again. A node that does not run next says where it does.
 */
import { type PointerEvent, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { cx } from "../../components/cx";
import { isInside } from "../../debugger/model/nested";
import { nodeList } from "../../debugger/parts/format";
import { useOnlyRead } from "../../debugger/model/only-read";
import { replay } from "../../debugger/run/actions";
import type { ForkGraph, ForkNode } from "../../debugger/timeline/forks";
import { forksIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showToast } from "../../state/toasts";

/** A hand that trembles does not drag. */
const LEAST = 5;

interface Dragging {
  readonly node: ForkNode;
  readonly x: number;
  readonly y: number;
  /** The node of the canvas under the pointer. */
  readonly over: { readonly name: string; readonly box: DOMRect } | null;
}

function canvasNodeAt(x: number, y: number): Dragging["over"] {
  // The nodes of a nested graph are not those that a checkpoint of the thread leads to.
  if (isInside()) return null;
  const card = document.elementFromPoint(x, y)?.closest<HTMLElement>(".react-flow__node");
  const name = card?.dataset["id"];
  return card && name !== undefined ? { name, box: card.getBoundingClientRect() } : null;
}

/** The moment nearest to a checkpoint on its branch at which a node runs next: later ones first. */
function whereNext(node: ForkNode, name: string): ForkNode | undefined {
  const runs = ({ checkpoint }: ForkNode) => checkpoint.next.includes(name);
  const after = node.chain.nodes.slice(node.at).find(runs);
  if (after) return after;
  for (let at = node.parent; at; at = at.parent) if (runs(at)) return at;
  return undefined;
}

function drop(threadId: string, { node, over }: Dragging): void {
  if (!over) return;
  const { checkpoint } = node;
  if (checkpoint.next.includes(over.name)) {
    void replay(threadId, checkpoint.id);
    return;
  }
  const other = whereNext(node, over.name);
  const step = other?.checkpoint.step ?? 0;
  showToast({
    tone: "info",
    text: t("forks.drop.refused", { node: over.name, n: checkpoint.step }),
    detail: other ? t("forks.drop.nearest", { n: step }) : t("forks.drop.nowhere"),
    ...(other && {
      action: {
        label: t("forks.drop.instead", { n: step }),
        run: () => void replay(threadId, other.checkpoint.id),
      },
    }),
  });
}

export function useDragOnto(threadId: string, graph: ForkGraph) {
  const pressed = useRef<{ node: ForkNode; x: number; y: number } | null>(null);
  const [dragging, setDragging] = useState<Dragging | null>(null);
  const justEnded = useRef(false);
  const cancel = () => {
    pressed.current = null;
    setDragging(null);
  };
  const isDragging = dragging !== null;
  useEffect(() => {
    if (!isDragging) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      justEnded.current = true;
      cancel();
    };
    window.addEventListener("keydown", onKey, true);
    return () => window.removeEventListener("keydown", onKey, true);
  }, [isDragging]);
  return {
    dragging,
    press(event: PointerEvent, node: ForkNode) {
      justEnded.current = false;
      // Nothing of another program's threads is replayed here.
      if (useOnlyRead.getState().onlyRead) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      pressed.current = { node, x: event.clientX, y: event.clientY };
    },
    /** Answers whether something is dragged. */
    move(event: PointerEvent): boolean {
      const from = pressed.current;
      if (!from) return false;
      const far = Math.hypot(event.clientX - from.x, event.clientY - from.y) >= LEAST;
      if (!dragging && !far) return true;
      // The thread may have been built again meanwhile.
      const node = graph.node(from.node.checkpoint.id);
      if (!node) cancel();
      else
        setDragging({
          node,
          x: event.clientX,
          y: event.clientY,
          over: canvasNodeAt(event.clientX, event.clientY),
        });
      return true;
    },
    release() {
      pressed.current = null;
      if (!dragging) return;
      justEnded.current = true;
      drop(threadId, dragging);
      setDragging(null);
    },
    cancel,
    /** The click that follows a drag is none. */
    ended(): boolean {
      const was = justEnded.current;
      justEnded.current = false;
      return was;
    },
  };
}

/** What dropping it would do, beside the pointer; the node it would be dropped on has a frame. */
export function Ghost({ node, x, y, over }: Dragging) {
  const { step, next } = node.checkpoint;
  const fits = over !== null && next.includes(over.name);
  const text =
    over === null
      ? next.length === 0
        ? t("forks.drop.end", { n: step })
        : t("forks.drop.aim", { n: step, nodes: nodeList(next) })
      : t(fits ? "forks.drop.replay" : "forks.drop.refused", { n: step, node: over.name });
  return createPortal(
    <>
      {over && (
        <div
          className={cx(
            "pointer-events-none fixed z-70 rounded-lg border-2",
            fits ? "border-accent" : "border-dashed border-line-field",
          )}
          style={{
            left: over.box.left - 4,
            top: over.box.top - 4,
            width: over.box.width + 8,
            height: over.box.height + 8,
          }}
          aria-hidden
        />
      )}
      <div
        className={cx(
          "pointer-events-none fixed z-80 max-w-72 rounded-lg border bg-surface-2 px-2 py-1 text-xs shadow-popup",
          fits ? "border-accent text-text" : "border-line text-text-2",
        )}
        style={{ left: Math.min(x + 14, window.innerWidth - 296), top: y + 14 }}
        role="status"
        data-testid={forksIds.ghost}
        data-fits={fits || undefined}
      >
        {text}
      </div>
    </>,
    document.body,
  );
}
