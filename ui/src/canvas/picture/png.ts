/** An SVG drawing as PNG. */
import mono from "@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2?url";
import sans from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2?url";
import type { Drawn } from "./svg";

/** Pixels of the file for one of the drawing, when a canvas can hold that many. */
const SCALE = 2;
/** Below this the names cannot be read any more. */
const LEAST = 0.5;
/** What every browser's canvas can hold. */
const MAX_SIDE = 16_384;
const MAX_PIXELS = 120_000_000;

/** The scale at which a drawing becomes a PNG; null when it would be too large or too coarse. */
export function pngScale({ width, height }: Pick<Drawn, "width" | "height">): number | null {
  const scale = Math.min(
    SCALE,
    MAX_SIDE / Math.max(width, height),
    Math.sqrt(MAX_PIXELS / Math.max(1, width * height)),
  );
  return scale < LEAST ? null : Math.floor(scale * 100) / 100;
}

let faces: Promise<string> | null = null;

/** The fonts of the window as part of a style sheet: a picture is drawn without those of the page. */
async function readFaces(): Promise<string> {
  const face = async (family: string, url: string) =>
    `@font-face{font-family:"${family}";font-weight:100 900;src:url(${await dataUrl(url)}) format("woff2")}`;
  const both = [face("Inter Variable", sans), face("JetBrains Mono Variable", mono)];
  return (await Promise.all(both)).join("");
}

async function dataUrl(url: string): Promise<string> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return `data:font/woff2;base64,${base64(new Uint8Array(await answer.arrayBuffer()))}`;
}

export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

/** The drawing with its fonts inside; without them where they cannot be read, in the nearest fonts of the system. */
export async function withFonts({ svg }: Drawn): Promise<string> {
  faces ??= readFaces();
  const css = await faces.catch(() => {
    faces = null;
    return "";
  });
  return svg.replace("<style>", `<style>${css}`);
}

/** Draws a PNG; null when the drawing is too large for one, or no memory is left for it. */
export async function pngOf(drawn: Drawn): Promise<Blob | null> {
  const scale = pngScale(drawn);
  if (scale === null) return null;
  const url = URL.createObjectURL(new Blob([await withFonts(drawn)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(drawn.width * scale);
    canvas.height = Math.round(drawn.height * scale);
    const paper = canvas.getContext("2d");
    if (!paper) return null;
    paper.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}
