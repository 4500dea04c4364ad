// @vitest-environment jsdom
import type { KeyboardEvent } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { InputWalk, walkOf } from "./walk-inputs";

async function* list(...values: string[]): AsyncGenerator<string> {
  yield* values;
}

describe("InputWalk", () => {
  it("goes back and forth, and gives back what was typed", async () => {
    const walk = new InputWalk(() => list("third", "second", "first"));
    expect(await walk.move(-1, "half a wo"), "nothing is later than what is typed").toBeNull();
    expect(await walk.move(1, "half a wo")).toBe("third");
    expect(await walk.move(1, "third")).toBe("second");
    expect(await walk.move(1, "second")).toBe("first");
    expect(await walk.move(1, "first"), "nothing is earlier").toBeNull();
    expect(walk.at).toBe(3);
    expect(await walk.move(-1, "first")).toBe("second");
    expect(await walk.move(-1, "second")).toBe("third");
    expect(await walk.move(-1, "third")).toBe("half a wo");
    expect(walk.at).toBe(0);
  });

  it("keeps what was changed on the way", async () => {
    const walk = new InputWalk(() => list("second", "first"));
    await walk.move(1, "");
    expect(await walk.move(1, "second, changed")).toBe("first");
    expect(await walk.move(-1, "first, changed")).toBe("second, changed");
    expect(await walk.move(1, "second, changed")).toBe("first, changed");
    await walk.move(-1, "first, changed");
    expect(await walk.move(-1, "second, changed")).toBe("");
  });

  it("passes over the newest input when it stands there already, and reads anew after a run", async () => {
    const said = ["b", "a"];
    const walk = new InputWalk(() => list(...said));
    expect(await walk.move(1, "b")).toBe("a");
    walk.end();
    expect(walk.at).toBe(0);
    said.unshift("c");
    expect(await walk.move(1, "")).toBe("c");
  });

  it("stays where it is when reading fails, and a second key waits for the first", async () => {
    let broken = true;
    async function* source(): AsyncGenerator<string> {
      if (broken) throw new Error("gone");
      yield "a";
    }
    const walk = new InputWalk(source);
    await expect(walk.move(1, "typed")).rejects.toThrow("gone");
    expect(walk.at).toBe(0);
    broken = false;
    const [first, second] = await Promise.all([walk.move(1, "typed"), walk.move(1, "typed")]);
    expect([first, second]).toEqual(["a", null]);
    expect(await walk.move(-1, "a")).toBe("typed");
  });
});

describe("walkOf", () => {
  afterEach(() => document.body.replaceChildren());

  function press<T extends HTMLElement>(target: T, key: string, more: Partial<KeyboardEvent> = {}) {
    document.body.append(target);
    return walkOf({ key, target, defaultPrevented: false, ...more } as unknown as KeyboardEvent);
  }
  function area(value: string, from: number, to = from): HTMLTextAreaElement {
    const field = document.createElement("textarea");
    field.value = value;
    field.setSelectionRange(from, to);
    return field;
  }

  it("takes the arrows of a line of text, alone", () => {
    expect(press(document.createElement("input"), "ArrowUp")).toBe(1);
    expect(press(document.createElement("input"), "ArrowDown")).toBe(-1);
    expect(press(document.createElement("input"), "ArrowLeft")).toBeNull();
    expect(press(document.createElement("input"), "ArrowUp", { ctrlKey: true })).toBeNull();
    expect(press(document.createElement("input"), "ArrowUp", { defaultPrevented: true })).toBeNull();
    const list = document.createElement("input");
    list.setAttribute("role", "combobox");
    expect(press(list, "ArrowDown"), "a list opens with it").toBeNull();
    expect(press(document.createElement("button"), "ArrowUp")).toBeNull();
  });

  it("leaves the arrows to a text of several lines until its first and last place", () => {
    expect(press(area("one\ntwo", 5), "ArrowUp")).toBeNull();
    expect(press(area("one\ntwo", 0), "ArrowUp")).toBe(1);
    expect(press(area("one\ntwo", 0), "ArrowDown")).toBeNull();
    expect(press(area("one\ntwo", 7), "ArrowDown")).toBe(-1);
    expect(press(area("one\ntwo", 0, 3), "ArrowUp"), "a selection is let go first").toBeNull();
    expect(press(area("one", 2), "ArrowUp")).toBe(1);
  });
});
