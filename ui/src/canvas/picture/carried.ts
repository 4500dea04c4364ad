/**
 * The graph inside a picture of it: a text chunk of a PNG file, the metadata of an SVG file. Pictures come from anywhere,
 * so what is read here is bounded, never executed and never parsed as XML.
 */

/** What a picture holds: the text of a graph, nothing of ours, or something that cannot be read. */
export type Carried =
  { readonly is: "graph"; readonly text: string } | { readonly is: "none" } | { readonly is: "damaged" };

const NONE: Carried = { is: "none" };
const DAMAGED: Carried = { is: "damaged" };

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const KEYWORD = "superstep";
/** Keyword, its end, no compression, no language, no translated keyword. */
const ITXT_HEAD = [...new TextEncoder().encode(KEYWORD), 0, 0, 0, 0, 0];

export const isPng = (bytes: Uint8Array): boolean => SIGNATURE.every((byte, at) => bytes[at] === byte);

let table: Uint32Array | null = null;

function crcTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, n) => {
    let crc = n;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
    return crc;
  });
}

/** The checksum of a PNG chunk: over its type and data. */
export function crc32(bytes: Uint8Array): number {
  table ??= crcTable();
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

function chunk(type: string, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(data.length + 12);
  const view = new DataView(whole.buffer);
  view.setUint32(0, data.length);
  whole.set(new TextEncoder().encode(type), 4);
  whole.set(data, 8);
  view.setUint32(data.length + 8, crc32(whole.subarray(4, data.length + 8)));
  return whole;
}

/** The end of the chunk IHDR, which every PNG begins with. */
const AFTER_HEADER = 8 + 12 + 13;

/** A PNG file with the text of its graph, in an iTXt chunk behind the header. */
export function pngWithGraph(png: Uint8Array, text: string): Uint8Array<ArrayBuffer> {
  const told = new TextEncoder().encode(text);
  const data = new Uint8Array(ITXT_HEAD.length + told.length);
  data.set(ITXT_HEAD);
  data.set(told, ITXT_HEAD.length);
  const added = chunk("iTXt", data);
  const whole = new Uint8Array(png.length + added.length);
  whole.set(png.subarray(0, AFTER_HEADER));
  whole.set(added, AFTER_HEADER);
  whole.set(png.subarray(AFTER_HEADER), AFTER_HEADER + added.length);
  return whole;
}

export function graphInPng(bytes: Uint8Array): Carried {
  if (!isPng(bytes)) return DAMAGED;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const latin = new TextDecoder("latin1");
  for (let at = SIGNATURE.length; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    const end = at + 12 + length;
    if (end > bytes.length) return DAMAGED;
    const type = latin.decode(bytes.subarray(at + 4, at + 8));
    if (type === "IEND") return NONE;
    if (type === "iTXt" && latin.decode(bytes.subarray(at + 8, at + 9 + KEYWORD.length)) === `${KEYWORD}\0`) {
      const data = bytes.subarray(at + 8, end - 4);
      const whole = crc32(bytes.subarray(at + 4, end - 4)) === view.getUint32(end - 4);
      return whole && ITXT_HEAD.every((byte, index) => data[index] === byte)
        ? textOf(data.subarray(ITXT_HEAD.length))
        : DAMAGED;
    }
    at = end;
  }
  // It ends before its end chunk.
  return DAMAGED;
}

function textOf(bytes: Uint8Array): Carried {
  try {
    return { is: "graph", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return DAMAGED;
  }
}

const OPENING = '<superstep:graph xmlns:superstep="urn:superstep:graph">';
const CLOSING = "</superstep:graph>";
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** An SVG drawing with the text of its graph, in its metadata. */
export function svgWithGraph(svg: string, text: string): string {
  const escaped = text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    // A parser may change them otherwise.
    .replaceAll("\r", "&#13;");
  const at = svg.lastIndexOf("</svg>");
  return `${svg.slice(0, at)}<metadata>${OPENING}${escaped}${CLOSING}</metadata>${svg.slice(at)}`;
}

export function graphInSvg(svg: string): Carried {
  const name = svg.indexOf("<superstep:graph");
  if (name < 0) return NONE;
  const from = svg.indexOf(">", name) + 1;
  const to = svg.indexOf(CLOSING, from);
  if (from === 0 || to < 0) return DAMAGED;
  const told = svg.slice(from, to);
  if (told.includes("<")) return DAMAGED;
  let known = true;
  const text = told.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{1,8}));/gi,
    (whole, decimal, hex, entity) => {
      const code = decimal ? Number(decimal) : hex ? Number.parseInt(String(hex), 16) : null;
      const letter =
        code === null ? ENTITIES[String(entity)] : code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
      if (letter === undefined) known = false;
      return letter ?? String(whole);
    },
  );
  return known ? { is: "graph", text } : DAMAGED;
}
