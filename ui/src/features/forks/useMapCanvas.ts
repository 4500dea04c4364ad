/** A canvas element that stays in sight while its place scrolls, drawn at most once a frame. */
import { type RefObject, useEffect, useRef } from "react";
import { draw, type Palette, paletteOf, type Scene } from "./draw-fork-map";

export function useMapCanvas(
  scroller: RefObject<HTMLDivElement | null>,
  scene: Scene,
): RefObject<HTMLCanvasElement | null> {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawSoon = useRef<() => void>(() => {});
  const shown = useRef(scene);
  useEffect(() => {
    const [element, area] = [canvas.current, scroller.current];
    const pen = element?.getContext("2d");
    if (!element || !area || !pen) return;
    let palette: Palette = paletteOf(element);
    let frame = 0;
    const paint = () => {
      frame = 0;
      const ratio = window.devicePixelRatio;
      const names = element.previousElementSibling?.clientWidth ?? 0;
      const width = Math.max(1, area.clientWidth - names - 1);
      const height = Math.max(1, area.clientHeight);
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (element.width !== w || element.height !== h) {
        [element.width, element.height] = [w, h];
        element.style.width = `${width}px`;
        element.style.height = `${height}px`;
      }
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      const view = { x: area.scrollLeft, y: area.scrollTop, width, height };
      element.dataset["drawn"] = String(draw(pen, shown.current, view, palette));
    };
    const soon = () => {
      frame ||= requestAnimationFrame(paint);
    };
    drawSoon.current = soon;
    soon();
    area.addEventListener("scroll", soon, { passive: true });
    const sizes = new ResizeObserver(soon);
    sizes.observe(area);
    const themes = new MutationObserver(() => {
      palette = paletteOf(element);
      soon();
    });
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      cancelAnimationFrame(frame);
      area.removeEventListener("scroll", soon);
      sizes.disconnect();
      themes.disconnect();
    };
  }, [scroller]);
  useEffect(() => {
    shown.current = scene;
    drawSoon.current();
  }, [scene]);
  return canvas;
}
