import { beforeEach, describe, expect, it, vi } from "vitest";
import { reveal } from "./reveal";
import { ViewHub } from "./view";
import { fitView, type Size, type Viewport } from "./viewport";

const bounds = { x: 0, y: 0, width: 1000, height: 400 };
const large: Size = { width: 1200, height: 800 };
const small: Size = { width: 600, height: 500 };
const whole = (size: Size) => fitView(bounds, size);

let hub: ViewHub;
/** What React Flow does: takes the view, and reports it. */
function canvas(size: Size): void {
  hub.place = (viewport: Viewport) => hub.set(viewport, hub.size);
  hub.set(hub.viewport, size);
}

beforeEach(() => {
  hub = new ViewHub();
  canvas(large);
});

describe("the view of a canvas that changes its size", () => {
  it("is fitted again as long as nobody has moved it", () => {
    hub.fit(whole);
    expect(hub.shows(bounds)).toBe(true);
    canvas(small);
    expect(hub.viewport).toEqual(whole(small));
    expect(hub.shows(bounds)).toBe(true);
    canvas(large);
    expect(hub.viewport).toEqual(whole(large));
  });

  it("stays where a person has put it", () => {
    hub.fit(whole);
    hub.moved();
    canvas(small);
    expect(hub.viewport).toEqual(whole(large));
    expect(hub.shows(bounds)).toBe(false);
    hub.fit(whole);
    hub.centre({ x: 500, y: 200 }, 2);
    const before = hub.viewport;
    canvas(large);
    expect(hub.viewport).toEqual(before);
    expect(hub.fitted).toBe(false);
  });

  it("shows what a panel that opens would cover, whether a person has moved it or not", () => {
    const cover = { x: 900, y: 100, width: 100, height: 50 };
    for (const byHand of [false, true]) {
      canvas(large);
      hub.fit(whole);
      if (byHand) hub.centre({ x: 500, y: 200 }, 1);
      hub.hold(() => reveal(hub, cover, true));
      canvas({ ...large, width: 700 });
      expect(hub.shows(cover), String(byHand)).toBe(true);
      expect(hub.viewport.zoom, "nothing becomes smaller").toBe(1);
    }
  });

  it("is held for the panel that opens next and for no other, and not for one that stays away", () => {
    const cover = { x: 900, y: 100, width: 100, height: 50 };
    hub.fit(whole);
    const show = vi.fn(() => reveal(hub, cover, true));
    hub.hold(show);
    // However long a drag keeps the panel from opening; another height of the canvas is none.
    canvas({ ...large, height: 700 });
    expect(show).not.toHaveBeenCalled();
    canvas({ ...large, width: 700 });
    expect(show).toHaveBeenCalledOnce();
    canvas(small);
    expect(show).toHaveBeenCalledOnce();
    expect(hub.viewport).toEqual(whole(small));
    canvas(large);
    hub.hold(show);
    hub.hold(null);
    canvas(small);
    expect(show).toHaveBeenCalledOnce();
  });

  it("is fitted again to what has another size, unless a person has moved it", () => {
    let wide = 1;
    hub.fit((size) => whole({ width: size.width / wide, height: size.height }));
    const before = hub.viewport;
    wide = 2;
    hub.refit();
    expect(hub.viewport).not.toEqual(before);
    hub.move({ x: 3, y: 4, zoom: 1 });
    hub.refit();
    expect(hub.viewport).toEqual({ x: 3, y: 4, zoom: 1 });
  });

  it("has nothing to fit before it has a size", () => {
    const none = new ViewHub();
    none.fit(whole);
    expect(none.fitted).toBe(false);
  });
});

describe("a graph that has just been opened", () => {
  const centre = { x: 500, y: 200 };

  it("is where it will be shown, before it is shown there", () => {
    hub.open(whole);
    expect(hub.middle()).toEqual(centre);
    expect(hub.viewport, "nothing is drawn elsewhere").toEqual({ x: 0, y: 0, zoom: 1 });
    hub.fit(whole);
    expect(hub.next).toBe(hub.viewport);
    expect(hub.middle()).toEqual(centre);
  });

  it("is so on a canvas whose size is not known yet", () => {
    const unmeasured = new ViewHub();
    unmeasured.open(whole);
    expect(unmeasured.middle().x).toBeCloseTo(centre.x);
    expect(unmeasured.middle().y).toBeCloseTo(centre.y);
  });

  it("is where a person moved the view to", () => {
    hub.open(whole);
    hub.centre({ x: 0, y: 0 });
    expect(hub.middle().x).toBeCloseTo(0);
    expect(hub.middle().y).toBeCloseTo(0);
  });
});
