import { describe, expect, it } from "vitest";
import { t } from "../../lib/texts";
import { controlsFor, type Situation } from "./controls";

const at = (more: Partial<Situation>): Situation => ({
  graphOpen: true,
  isText: false,
  errors: 0,
  threadId: "t",
  status: "done",
  elsewhere: false,
  past: false,
  asksHere: false,
  next: [],
  pendingEdits: false,
  onlyRead: false,
  ...more,
});

describe("what the run buttons do", () => {
  it("runs nothing on threads of another program", () => {
    for (const status of ["done", "asking", "failed", "paused"] as const) {
      const controls = controlsFor(at({ status, next: ["a"], onlyRead: true }));
      expect(controls.primaryOff).toMatch(/another program/);
      expect(controls.stepOff).toMatch(/another program/);
    }
    const past = controlsFor(at({ past: true, next: ["a"], onlyRead: true }));
    expect(past.primary).toBe("now");
    expect(past.primaryOff).toBeNull();
    expect(past.replayOff).toMatch(/another program/);
  });
  it.each([
    ["no thread", at({ threadId: null, status: undefined }), "run"],
    ["a finished thread", at({ status: "done" }), "run"],
    ["a paused thread", at({ status: "paused", next: ["a"] }), "continue"],
    ["a failed thread", at({ status: "failed", next: ["a"] }), "continue"],
    ["a stopped thread", at({ status: "stopped", next: ["a"] }), "continue"],
    ["a thread that asks", at({ status: "asking", next: ["a"] }), "answer"],
    ["the past of a finished thread", at({ past: true, next: ["a"] }), "now"],
    ["the past of a thread that asks", at({ past: true, status: "asking", next: ["a"] }), "now"],
    ["the end of another branch that asks", at({ past: true, asksHere: true, next: ["a"] }), "answer"],
  ])("%s", (_name, situation, primary) => {
    const controls = controlsFor(situation);
    expect(controls.primary).toBe(primary);
    expect(controls.primaryOff).toBeNull();
  });

  it("offers to take over a thread that another program runs", () => {
    const controls = controlsFor(at({ status: "running", elsewhere: true }));
    expect([controls.primary, controls.primaryOff, controls.stopOff]).toEqual(["takeOver", null, null]);
    expect(controls.stepOff).not.toBeNull();
    expect(controlsFor(at({ status: "running", elsewhere: true, past: true })).primary).toBe("now");
    expect(controlsFor(at({ status: "paused", elsewhere: true })).primary).toBe("continue");
  });

  it("lets a running thread only be stopped", () => {
    const controls = controlsFor(at({ status: "running" }));
    expect(controls.primaryOff).not.toBeNull();
    expect(controls.stepOff).not.toBeNull();
    expect(controls.stopOff).toBeNull();
  });

  it("has nothing to stop when nothing runs", () => {
    expect(controlsFor(at({})).stopOff).not.toBeNull();
  });

  it("does not step over a question", () => {
    expect(controlsFor(at({ status: "asking" })).stepOff).not.toBeNull();
  });

  it("replays from the past only, and not what leads nowhere", () => {
    expect(controlsFor(at({ past: true, next: ["a"] })).replayOff).toBeNull();
    expect(controlsFor(at({ past: true, next: undefined })).replayOff).toBeNull();
    expect(controlsFor(at({ past: true, next: [] })).replayOff).not.toBeNull();
    expect(controlsFor(at({ next: ["a"] })).replayOff).not.toBeNull();
    expect(controlsFor(at({ past: true, next: ["a"], status: "running" })).replayOff).not.toBeNull();
    expect(controlsFor(at({ past: true, next: ["a"], pendingEdits: true })).replayOff).not.toBeNull();
  });

  it("leads back to now whatever the thread does, and does not step there", () => {
    const controls = controlsFor(at({ past: true, status: "running", pendingEdits: true }));
    expect(controls).toMatchObject({ primary: "now", primaryOff: null, past: true });
    expect(controls.stepOff).not.toBeNull();
  });

  it("asks to apply or discard edits before the thread goes on, but not before a new run", () => {
    expect(controlsFor(at({ status: "paused", pendingEdits: true })).primaryOff).not.toBeNull();
    expect(controlsFor(at({ status: "done", pendingEdits: true })).primaryOff).toBeNull();
  });

  it("is open with errors in the document, and leads to them", () => {
    expect(controlsFor(at({ errors: 2 }))).toMatchObject({ blocked: true, primaryOff: null });
    expect(controlsFor(at({ graphOpen: false })).primaryOff).not.toBeNull();
  });

  it("runs nothing beside a file that is opened as text, and still answers and leads back", () => {
    const text = t("debug.off.text");
    expect(controlsFor(at({ isText: true }))).toMatchObject({
      primary: "run",
      primaryOff: text,
      stepOff: text,
    });
    expect(controlsFor(at({ isText: true, status: "paused" })).primaryOff).toBe(text);
    expect(controlsFor(at({ isText: true, status: "asking" })).primaryOff).toBeNull();
    expect(controlsFor(at({ isText: true, past: true })).primaryOff).toBeNull();
  });
});
