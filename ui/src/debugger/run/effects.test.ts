import { beforeEach, describe, expect, it, vi } from "vitest";
import type { EffectList } from "../../ipc/bindings/EffectList";
import type { EffectView } from "../../ipc/bindings/EffectView";
import { replaceHost } from "../../ipc/client";
import { fakeHost } from "../../test/fakeHost";
import {
  chosen,
  decideEffects,
  defaultChoice,
  defaultChoices,
  effectKey,
  optionsOf,
  settleEffects,
  toRequest,
  useEffectsAsked,
} from "./effects";

let list: EffectList;
replaceHost(fakeHost(new Map(), { "run.effects": () => list }));

const effect = (node: string, more: Partial<EffectView> = {}): EffectView => ({
  node,
  path: [],
  kind: "tool",
  times: 1,
  lastAt: "2026-01-01T00:00:00Z",
  state: "done",
  checkpointId: "c",
  reusable: true,
  ...more,
});

beforeEach(() => {
  list = { effects: [], questionsLeft: 0 };
  useEffectsAsked.setState({ asked: null });
});

describe("what is chosen before anybody chooses", () => {
  it.each([
    ["a change that must not be repeated", effect("n", { effect: "once" }), "reuse"],
    ["one that may be repeated", effect("n", { effect: "idempotent" }), "reuse"],
    ["one of which nothing is said", effect("n"), "stop"],
    ["one that failed", effect("n", { effect: "once", state: "failed", reusable: false }), "stop"],
    ["one that did not end", effect("n", { effect: "idempotent", state: "begun", reusable: false }), "stop"],
    ["one without a result", effect("n", { effect: "idempotent", reusable: false }), "stop"],
  ])("%s", (_name, each, choice) => {
    expect(defaultChoice(each)).toBe(choice);
    expect(optionsOf(each)).toContain(choice);
  });

  it("offers a result only where one was recorded", () => {
    expect(optionsOf(effect("n", { reusable: false }))).not.toContain("reuse");
  });

  it("is never to work again", () => {
    const effects = [effect("a", { effect: "once" }), effect("b"), effect("c", { reusable: false })];
    expect(chosen(effects, defaultChoices(effects), "again")).toEqual([]);
  });
});

describe("what the run is given", () => {
  it("is each node's choice by its name", () => {
    const effects = [effect("a", { effect: "once" }), effect("b")];
    const choices = { ...defaultChoices(effects), [effectKey(effects[1] as EffectView)]: "ask" as const };
    expect(toRequest(effects, choices)).toEqual({ a: "reuse", b: "ask" });
  });

  it("is the more careful choice for nodes of one name in different graphs", () => {
    const [inner, outer] = [effect("a", { path: ["sub"] }), effect("a")];
    const choices = { [effectKey(inner)]: "again", [effectKey(outer)]: "stop" } as const;
    expect(toRequest([inner, outer], choices)).toEqual({ a: "stop" });
    expect(toRequest([outer, inner], choices)).toEqual({ a: "stop" });
  });
});

describe("settling", () => {
  it("goes on at once when nothing would work again", async () => {
    list = { effects: [], questionsLeft: 2 };
    expect(await settleEffects({ threadId: "t" }, "replay")).toEqual({ questionsLeft: 2 });
    expect(useEffectsAsked.getState().asked).toBeNull();
  });

  it("asks, and gives the choices or that the person does not go on", async () => {
    list = { effects: [effect("pay", { effect: "once" })], questionsLeft: 1 };
    const first = settleEffects({ threadId: "t", checkpointId: "c" }, "replay", 3);
    await vi.waitFor(() => expect(useEffectsAsked.getState().asked?.step).toBe(3));
    decideEffects(defaultChoices(list.effects));
    expect(await first).toEqual({ effects: { pay: "reuse" }, questionsLeft: 0 });
    expect(useEffectsAsked.getState().asked, "the dialog is closed").toBeNull();

    const second = settleEffects({ threadId: "t" }, "continue");
    await vi.waitFor(() => expect(useEffectsAsked.getState().asked).not.toBeNull());
    decideEffects(null);
    expect(await second).toBeNull();
  });
});
