/**
 * The branch of the cursor as one line to drag along: every view follows. Ticks are drawn on a canvas element, so a
 * branch of thousands of checkpoints costs one draw.
 */
import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from "react";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

interface Props {
  /** Oldest first. */
  branch: readonly string[];
  byId: ReadonlyMap<string, CheckpointView>;
  /** null is now. */
  at: string | null;
  onMove(checkpointId: string | null): void;
}

const INSET = 10;

export function Scrubber({ branch, byId, at, onMove }: Props) {
  const track = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const index = at === null ? branch.length - 1 : branch.indexOf(at);

  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => {
      const { clientWidth: width, clientHeight: height } = element;
      const ratio = window.devicePixelRatio;
      element.width = Math.max(1, width * ratio);
      element.height = Math.max(1, height * ratio);
      const pen = element.getContext("2d");
      if (!pen) return;
      pen.scale(ratio, ratio);
      const styles = getComputedStyle(element);
      const color = (name: string) => styles.getPropertyValue(name);
      const x = (position: number) =>
        branch.length < 2 ? width - INSET : INSET + (position / (branch.length - 1)) * (width - 2 * INSET);
      const middle = height / 2;
      pen.lineWidth = 2;
      pen.strokeStyle = color("--line-strong");
      line(pen, x(0), x(branch.length - 1), middle);
      pen.strokeStyle = color("--accent");
      if (index >= 0) line(pen, x(0), x(index), middle);
      const room = (width - 2 * INSET) / Math.max(1, branch.length - 1);
      for (const [position, id] of branch.entries()) {
        const checkpoint = byId.get(id);
        const marked =
          checkpoint !== undefined &&
          (checkpoint.failed > 0 || checkpoint.questions > 0 || checkpoint.source !== "loop");
        if (room < 3 && !marked) continue;
        pen.fillStyle =
          checkpoint && checkpoint.failed > 0
            ? color("--failed")
            : checkpoint && checkpoint.questions > 0
              ? color("--asking")
              : position <= index
                ? color("--accent")
                : color("--line-field");
        pen.beginPath();
        pen.arc(x(position), middle, marked ? 3.5 : 2.5, 0, Math.PI * 2);
        pen.fill();
      }
      if (index >= 0) {
        pen.fillStyle = color("--surface-2");
        pen.strokeStyle = color("--accent");
        pen.lineWidth = 2.5;
        pen.beginPath();
        pen.arc(x(index), middle, 6, 0, Math.PI * 2);
        pen.fill();
        pen.stroke();
      }
    };
    draw();
    const sizes = new ResizeObserver(draw);
    sizes.observe(element);
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      sizes.disconnect();
      themes.disconnect();
    };
  }, [branch, byId, index]);

  const go = (position: number) => {
    const to = Math.max(0, Math.min(branch.length - 1, position));
    const id = branch[to];
    if (id !== undefined && (to !== index || (at !== null && to === branch.length - 1)))
      onMove(to === branch.length - 1 ? null : id);
  };
  const fromPointer = (event: PointerEvent) => {
    const box = track.current?.getBoundingClientRect();
    if (!box || branch.length === 0) return;
    const share = (event.clientX - box.left - INSET) / Math.max(1, box.width - 2 * INSET);
    go(Math.round(share * (branch.length - 1)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = {
      ArrowLeft: index - 1,
      ArrowDown: index - 1,
      ArrowRight: index + 1,
      ArrowUp: index + 1,
      Home: 0,
      End: branch.length - 1,
      PageDown: index - 10,
      PageUp: index + 10,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  const step = byId.get(branch[index] ?? "")?.step;
  return (
    <div
      ref={track}
      role="slider"
      tabIndex={0}
      aria-label={t("debug.timeline.scrubber")}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, branch.length - 1)}
      aria-valuenow={Math.max(0, index)}
      aria-valuetext={at === null ? t("debug.now") : t("debug.stepN", { n: step ?? "?" })}
      className="h-6 min-w-24 flex-1 cursor-ew-resize touch-none rounded-md"
      data-testid={debugIds.scrubber}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        fromPointer(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) fromPointer(event);
      }}
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} className="pointer-events-none block h-full w-full" />
    </div>
  );
}

function line(pen: CanvasRenderingContext2D, from: number, to: number, y: number): void {
  pen.beginPath();
  pen.moveTo(from, y);
  pen.lineTo(to, y);
  pen.stroke();
}
