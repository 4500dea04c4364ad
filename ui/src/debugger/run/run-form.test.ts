// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { useSession } from "../../state/session";
import { newThread, runForm, showRunForm } from "./run-form";

const select = (threadId: string) => useSession.getState().setCursor({ threadId });

beforeEach(() => {
  runForm.close();
  select("first");
});

it("the form of a new thread makes room for the thread that begins, however it is selected", () => {
  newThread();
  expect(runForm.isOpen()).toBe(true);
  select("begun");
  expect(runForm.isOpen(), "its state is shown, and why it stopped").toBe(false);
});

it("the form of a thread is open for that thread, at all its moments", () => {
  showRunForm();
  useSession.getState().setCursor({ checkpointId: "c1" });
  expect(runForm.isOpen()).toBe(true);
  select("second");
  expect(runForm.isOpen()).toBe(false);
  showRunForm();
  runForm.close();
  expect(runForm.isOpen()).toBe(false);
});
