// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { doc } from "../document/store";
import { END } from "../document/types";
import { useSession } from "../state/session";
import { PORT_Y } from "./geometry";
import { scene } from "./scene";
import { setCanvas, useCanvas } from "./store";
import { beginHead, endMove, endWire } from "./wiring";

beforeEach(() => {
  const assign = { kind: "assign", config: {} };
  doc.reset([
    { id: "doc", value: {} },
    { id: "node:propose", value: assign },
    { id: "node:review", value: assign },
    { id: "node:pay", value: assign },
    { id: "layout:propose", value: [0, 0] },
    { id: "layout:review", value: [400, 0] },
    { id: "layout:pay", value: [400, 300] },
    { id: "edge:propose->review", value: { from: "propose", to: "review" } },
    { id: "edge:pay->review", value: { from: "pay", to: "review" } },
  ]);
  useSession.getState().select({});
  setCanvas({ lines: [] });
  endWire();
});

/** So far before the border of the card that the arrow leads to. */
const before = (far: number) => ({ x: (scene.rect("review")?.x ?? 0) - far, y: PORT_Y });

describe("the head of an arrow", () => {
  it.each([2, 6, 12])("is gripped %i px before its card, and moves its wire", (far) => {
    useSession.getState().select({ edges: ["propose->review"] });
    expect(beginHead("review", before(far))).toBe(true);
    const { wiring } = useCanvas.getState();
    expect(wiring?.carried.map(({ edge }) => edge)).toEqual(["propose->review"]);
    endMove(wiring?.carried ?? [], "out", "pay", null);
    expect(doc.edgesFrom("propose").map((edge) => doc.get(`edge:${edge}`))).toEqual([
      { from: "propose", to: "pay" },
    ]);
  });

  it("is one of several: of none that is selected, the one on top", () => {
    expect(beginHead("review", before(5))).toBe(true);
    expect(useCanvas.getState().wiring?.carried).toHaveLength(1);
  });

  it("is not where the port draws a new wire, nor before a card without an arrow", () => {
    expect(beginHead("review", before(0))).toBe(false);
    expect(beginHead("review", before(-4))).toBe(false);
    expect(beginHead("propose", { x: -6, y: PORT_Y })).toBe(false);
    expect(beginHead(END, { x: -6, y: PORT_Y })).toBe(false);
  });
});
