import { describe, expect, it } from "vitest";
import { crc32, graphInPng, graphInSvg, pngWithGraph, svgWithGraph } from "./carried";

/** One transparent pixel. */
const PIXEL = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="),
  (letter) => letter.charCodeAt(0),
);
const TEXT = '{"format":"superstep/1","name":"图 & <b> \\u0000","nodes":{}}\r\n';

describe("a PNG file", () => {
  it("carries the text and stays a picture: every chunk has its checksum, the pixels are the same", () => {
    const whole = pngWithGraph(PIXEL, TEXT);
    expect(graphInPng(whole)).toEqual({ is: "graph", text: TEXT });
    const chunks: string[] = [];
    const view = new DataView(whole.buffer);
    for (let at = 8; at < whole.length;) {
      const length = view.getUint32(at);
      chunks.push(String.fromCharCode(...whole.subarray(at + 4, at + 8)));
      expect(view.getUint32(at + 8 + length)).toBe(crc32(whole.subarray(at + 4, at + 8 + length)));
      at += length + 12;
    }
    expect(chunks).toEqual(["IHDR", "iTXt", "IDAT", "IEND"]);
  });

  it("says when there is none", () => {
    expect(graphInPng(PIXEL)).toEqual({ is: "none" });
  });

  it("is read from a part of a buffer", () => {
    const whole = pngWithGraph(PIXEL, TEXT);
    const behind = new Uint8Array(whole.length + 3);
    behind.set(whole, 3);
    expect(graphInPng(behind.subarray(3))).toEqual({ is: "graph", text: TEXT });
  });

  it("is damaged when a byte of the text, a length or its end is not what it was", () => {
    const whole = pngWithGraph(PIXEL, TEXT);
    const changed = (at: number, byte: number) => {
      const copy = whole.slice();
      copy[at] = byte;
      return graphInPng(copy);
    };
    expect(changed(33 + 8 + 14, 0x7e), "a letter").toEqual({ is: "damaged" });
    expect(changed(33, 0xff), "a length of gigabytes").toEqual({ is: "damaged" });
    expect(changed(33 + 8 + 10, 1), "a compressed text, which could be of any size").toEqual({
      is: "damaged",
    });
    expect(graphInPng(whole.subarray(0, 40))).toEqual({ is: "damaged" });
    expect(graphInPng(whole.subarray(0, 8))).toEqual({ is: "damaged" });
    expect(graphInPng(new Uint8Array(0))).toEqual({ is: "damaged" });
    // Any part of a file ends, whatever it says.
    for (let at = 0; at < whole.length; at += 1)
      expect(["none", "damaged", "graph"]).toContain(changed(at, 0x80).is);
  });

  it("is damaged when its text is not UTF-8", () => {
    const whole = pngWithGraph(PIXEL, "??");
    const at = 33 + 8 + 14;
    whole.set([0xc3, 0x28], at);
    new DataView(whole.buffer).setUint32(at + 2, crc32(whole.subarray(37, at + 2)));
    expect(graphInPng(whole)).toEqual({ is: "damaged" });
  });
});

describe("an SVG file", () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="1"><title>T</title></svg>';

  it("carries the text in its metadata", () => {
    const whole = svgWithGraph(svg, TEXT);
    expect(whole).toMatch(/^<svg .*<metadata>.*<\/metadata><\/svg>$/s);
    expect(whole).not.toContain("<b>");
    expect(graphInSvg(whole)).toEqual({ is: "graph", text: TEXT });
  });

  it("is read as other programs write it again", () => {
    const other = svgWithGraph(svg, '{"a":"é"}')
      .replace("é", "&#233;")
      .replaceAll('"a"', "&quot;&#x61;&quot;");
    expect(graphInSvg(other)).toEqual({ is: "graph", text: '{"a":"é"}' });
  });

  it("says when there is none, and when it cannot be read", () => {
    expect(graphInSvg(svg)).toEqual({ is: "none" });
    const whole = svgWithGraph(svg, "{}");
    for (const text of [
      whole.replace("{}", "&bomb;"),
      whole.replace("{}", "<script>alert(1)</script>"),
      whole.replace("{}", "&#9999999;"),
      whole.slice(0, whole.indexOf("{}")),
      "<superstep:graph",
    ])
      expect(graphInSvg(text), text).toEqual({ is: "damaged" });
  });
});
