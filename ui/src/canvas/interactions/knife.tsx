/** Alt and drag over the empty canvas cuts every line that the stroke crosses, as one undo step. */
import { useEffect, useRef, useState, type RefObject } from "react";
import { deleteThings, type Point } from "../../document/edits";
import { edit } from "../../document/edit";
import { tn } from "../../lib/texts";
import { scene } from "../scene";
import { linesCut } from "./hit";

interface KnifeProps {
  readonly root: RefObject<HTMLDivElement | null>;
  /** Where the stroke begins, in screen pixels. */
  readonly from: Point;
  readonly onEnd: () => void;
}

/** Does this press begin a cut? */
export function beginsCut(event: { altKey: boolean; button: number; target: EventTarget }): boolean {
  return (
    event.altKey &&
    event.button === 0 &&
    event.target instanceof Element &&
    event.target.closest(".react-flow__pane") !== null
  );
}

/** One stroke, from the press to the release; Escape gives it up. */
export function Knife({ root, from, onEnd }: KnifeProps) {
  const [stroke, setStroke] = useState<readonly Point[]>([from]);
  const end = useRef(onEnd);
  end.current = onEnd;
  useEffect(() => {
    let points: readonly Point[] = [from];
    const move = (event: PointerEvent) => {
      points = [...points, { x: event.clientX, y: event.clientY }];
      setStroke(points);
    };
    const up = () => {
      if (root.current) cut(linesCut(root.current, points));
      end.current();
    };
    const escape = (event: KeyboardEvent) => {
      if (event.key === "Escape") end.current();
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
    window.addEventListener("keydown", escape);
    return () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      window.removeEventListener("keydown", escape);
    };
  }, [root, from]);

  const box = root.current?.getBoundingClientRect();
  if (!box) return null;
  const points = stroke.map((point) => `${point.x - box.left},${point.y - box.top}`).join(" ");
  return (
    <svg
      className="absolute inset-0 pointer-events-none z-8 size-full [&_polyline]:fill-none [&_polyline]:stroke-failed [&_polyline]:stroke-2 [&_polyline]:[stroke-linecap:round]"
      aria-hidden
    >
      <polyline points={points} />
    </svg>
  );
}

function cut(ids: readonly string[]): void {
  const edges: string[] = [];
  const paths: { edge: string; part: string }[] = [];
  for (const id of ids) {
    const line = scene.line(id);
    if (!line) continue;
    if (line.form === "route" || line.form === "join") paths.push({ edge: line.edge, part: line.part });
    else edges.push(line.edge);
  }
  if (ids.length === 0) return;
  edit(tn("canvas.edit.cut.one", "canvas.edit.cut.many", ids.length), (doc) =>
    deleteThings(doc, { edges, paths }),
  );
}
