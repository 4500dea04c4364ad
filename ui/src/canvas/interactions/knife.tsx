/** Alt and drag over the empty canvas cuts every line that the stroke crosses, as one undo step. */
import { useEffect, useState, type RefObject } from "react";
import { deleteThings, type Point } from "../../document/edits";
import { edit } from "../../document/store";
import { tn } from "../../lib/texts";
import { scene } from "../scene";
import { linesCut } from "./hit";

export function Knife({ root }: { root: RefObject<HTMLDivElement | null> }) {
  const [stroke, setStroke] = useState<readonly Point[] | null>(null);
  useEffect(() => {
    const element = root.current;
    if (!element) return;
    let points: Point[] | null = null;
    const down = (event: PointerEvent) => {
      const target = event.target as Element;
      if (!event.altKey || event.button !== 0 || !target.closest(".react-flow__pane")) return;
      // React Flow must not begin a marquee for the same press.
      event.stopPropagation();
      event.preventDefault();
      points = [{ x: event.clientX, y: event.clientY }];
      window.addEventListener("pointermove", move);
      window.addEventListener("pointerup", up, { once: true });
      window.addEventListener("keydown", escape);
    };
    const move = (event: PointerEvent) => {
      if (!points) return;
      points = [...points, { x: event.clientX, y: event.clientY }];
      setStroke(points);
    };
    const escape = (event: KeyboardEvent) => {
      if (event.key === "Escape") end();
    };
    const end = () => {
      points = null;
      setStroke(null);
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      window.removeEventListener("keydown", escape);
    };
    const up = () => {
      if (points && points.length > 1) cut(linesCut(element, points));
      end();
    };
    const block = (event: MouseEvent) => {
      if (event.altKey && (event.target as Element).closest(".react-flow__pane")) event.stopPropagation();
    };
    element.addEventListener("pointerdown", down, true);
    element.addEventListener("mousedown", block, true);
    return () => {
      end();
      element.removeEventListener("pointerdown", down, true);
      element.removeEventListener("mousedown", block, true);
    };
  }, [root]);

  if (!stroke || !root.current) return null;
  const box = root.current.getBoundingClientRect();
  const points = stroke.map((point) => `${point.x - box.left},${point.y - box.top}`).join(" ");
  return (
    <svg className="knife" aria-hidden>
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
  edit(tn("canvas.edit.cut.one", "canvas.edit.cut.many", ids.length), (doc) => deleteThings(doc, { edges, paths }));
}
