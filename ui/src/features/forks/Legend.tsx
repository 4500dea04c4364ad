/** What the marks of the fork map mean. */
import { useEffect, useRef } from "react";
import { t } from "../../lib/texts";
import { paletteOf } from "./draw-fork-map";
import { shape, SHAPES, type Shape } from "./shapes";

export function Legend() {
  return (
    <div className="flex flex-col gap-2 text-xs">
      <ul className="grid grid-cols-2 gap-x-4 gap-y-1">
        {SHAPES.map(({ shape: kind, text }) => (
          <li key={kind} className="flex items-center gap-2">
            <Mark kind={kind} />
            {t(text)}
          </li>
        ))}
      </ul>
      <p className="text-2xs text-text-2">{t("forks.legendWay")}</p>
      <p className="text-2xs text-text-2">{t("forks.legendDrag")}</p>
    </div>
  );
}

const SIZE = 18;

function Mark({ kind }: { kind: Shape }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const element = canvas.current;
    const pen = element?.getContext("2d");
    if (!element || !pen) return;
    const ratio = window.devicePixelRatio;
    element.width = element.height = SIZE * ratio;
    pen.scale(ratio, ratio);
    const colors = paletteOf(element);
    const tone =
      { error: colors.failed, question: colors.asking, stop: colors.paused, bookmark: colors.accent }[
        kind as string
      ] ?? colors.branches[0];
    shape(pen, kind, SIZE / 2, SIZE / 2, tone ?? colors.text, colors.surface);
  }, [kind]);
  return <canvas ref={canvas} className="size-4.5 shrink-0" aria-hidden />;
}
