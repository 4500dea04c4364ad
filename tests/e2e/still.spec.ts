/**
 * Nothing moves under the pointer: while a run goes on by itself, a press that was aimed at a control hits that control. What
 * comes by itself where something else was takes no press at once.
 */
import { expect, test, type Superstep } from "./superstep";

/** A question leads to each way that a run can take. */
const stations = {
  format: "superstep/1",
  name: "Stations",
  state: { what: { type: "string" } },
  nodes: {
    gate: { kind: "ask", config: { question: "Which one?", choices: ["waits", "fails", "ends"].map((value) => ({ label: value, value })), into: "what" } },
    // A longer one would be put aside, as a question is; this one begins again each time that it ends.
    waits: { kind: "delay", config: { seconds: "20" } },
    fails: { kind: "code", config: { source: "throw new Error('There is no paper')" } },
    ends: { kind: "assign", config: { set: { what: "'done'" } } },
  },
  edges: [
    { from: "__start__", to: "gate" },
    { from: "gate", route: "state.what", paths: { waits: "waits", fails: "fails", ends: "ends" } },
    { from: "waits", to: "waits", when: "state.what == 'waits'" },
    { from: "waits", to: "__end__", when: "state.what != 'waits'" },
    { from: "fails", to: "__end__" },
    { from: "ends", to: "__end__" },
  ],
};

const PLACES = [
  ["use-design"],
  ["use-debug"],
  ["use-approve"],
  ["run"],
  ["run-with-input"],
  // One stands for the other while the thread runs.
  ["run-step", "run-pause"],
  ["run-step-into"],
  ["run-stop"],
  ["palette-button"],
] as const;

async function places(app: Superstep): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const ids of PLACES) {
    const [first, second = first] = ids;
    const box = await app.id(first).or(app.id(second)).boundingBox();
    found[first] = box === null ? "gone" : [box.x, box.y, box.width, box.height].map((each) => Math.round(each)).join(" ");
  }
  return found;
}

/** How high the tabs of the moment stand, which is below nothing that comes and goes. */
async function heightOfTabs(app: Superstep): Promise<number[]> {
  const tabs = app.id("state-inspector").locator('[data-testid^="tab-"]');
  return tabs.evaluateAll((all) => all.map((tab) => Math.round(tab.getBoundingClientRect().top)));
}

/** A new thread that waits at the question. */
async function begin(app: Superstep): Promise<void> {
  await app.id("thread-new").click();
  await app.id("run-start").click();
  await app.status("asking");
}

for (const size of [
  { width: 1024, height: 700 },
  { width: 1440, height: 900 },
])
  test(`the buttons of a run stay where they are at ${size.width} × ${size.height}`, async ({ app, page }) => {
    await page.setViewportSize(size);
    await app.openGraph(stations);
    await app.id("use-debug").click();
    const before = await places(app);
    await app.id("run").click();
    await app.status("asking");
    expect(await places(app), "asking").toEqual(before);
    await expect(app.id("answer-choice").first()).toBeVisible();
    await expect(app.id("state-inspector").locator('[data-testid^="tab-"]')).toHaveCount(3);
    const tabs = await heightOfTabs(app);
    const goOn = async (way: string, status: string) => {
      await app.id("answer-choice").filter({ hasText: way }).click();
      await app.status(status);
      expect(await places(app), way).toEqual(before);
      expect(await heightOfTabs(app), way).toEqual(tabs);
    };
    await goOn("waits", "running");
    await app.id("run-stop").click();
    await expect(app.id("run-status")).not.toHaveAttribute("data-status", "running");
    expect(await places(app), "stopped").toEqual(before);
    await app.picture("still-stopped", ["light", "dark"]);
    if ((await app.id("unfold-left").count()) > 0) await app.id("unfold-left").click();
    await begin(app);
    await goOn("fails", "failed");
    await begin(app);
    await goOn("ends", "done");
  });

test("what comes by itself takes no press in its first moments", async ({ app, page }) => {
  await app.openGraph(stations);
  await app.id("use-debug").click();
  await page.evaluate(() => {
    const seen: Record<string, string[]> = {};
    Object.assign(window, { seen });
    const parts = ["run-problem", "answer-form"];
    new MutationObserver((changes) => {
      for (const added of changes.flatMap(({ addedNodes }) => [...addedNodes]))
        for (const part of parts) {
          if (!(added instanceof HTMLElement)) continue;
          const found = added.dataset["testid"] === part ? added : added.querySelector<HTMLElement>(`[data-testid="${part}"]`);
          if (!found) continue;
          const open = [...found.querySelectorAll("button")].filter((each) => !each.disabled && each.closest("[data-answer], .mt-2") !== null);
          seen[part] = [...(seen[part] ?? []), open.map((each) => each.innerText).join(", ")];
        }
    }).observe(document.body, { childList: true, subtree: true });
  });
  await app.id("run").click();
  await app.status("asking");
  await app.id("answer-choice").filter({ hasText: "fails" }).click();
  await app.status("failed");
  await expect(app.id("run-problem").getByRole("button", { name: "Try again" })).toBeEnabled();
  const seen = await page.evaluate(() => (window as unknown as { seen: Record<string, string[]> }).seen);
  expect(seen).toEqual({ "answer-form": [""], "run-problem": [""] });
});

test("a new thread shows where it stopped, not the form that it began with", async ({ app, page }) => {
  await app.openExample("counter");
  await app.id("use-debug").click();
  await app.node("increment").click();
  await page.keyboard.press("F9");
  await expect(app.id("breakpoint")).toContainText("increment");
  for (const threads of [1, 2]) {
    await app.id("thread-new").click();
    await expect(app.id("run-form").locator("input, textarea, button").first()).toBeVisible();
    await app.id("run-form").locator("input, textarea").first().press("Control+Enter");
    await app.status("paused");
    await expect(app.id("thread")).toHaveCount(threads);
    await expect(app.id("run-form")).toHaveCount(0);
    await expect(app.id("stop-reason")).toContainText("increment");
  }
  // Nor does the form stay for a thread that is chosen in its place.
  await app.id("thread-new").click();
  await expect(app.id("run-form")).toBeVisible();
  await app.id("thread").last().click();
  await expect(app.id("stop-reason")).toContainText("increment");
  await expect(app.id("run-form")).toHaveCount(0);
});
