/**
 * A person's own LangGraph program, opened like a graph: allowed, drawn as its builder has it, run with an input from the form,
 * watched, stopped, asked and answered, and read again when its file has changed.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test, type Superstep } from "./superstep";

const PYTHON =
  process.env.SUPERSTEP_CONFORMANCE_PYTHON ?? resolve(import.meta.dirname, "../../target/conformance/venv/bin/python");

test.skip(
  !existsSync(PYTHON),
  `There is no Python with LangGraph at ${PYTHON}; \`./dev test\` installs it, and SUPERSTEP_CONFORMANCE_PYTHON names another one.`,
);

const PROGRAM = `
import asyncio, os
from typing_extensions import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class Order(TypedDict, total=False):
    amount: int
    answer: str
    paid: bool


class Payment(TypedDict, total=False):
    paid: bool


async def price(state):
    while state["amount"] < 0 and not os.path.exists("go"):
        await asyncio.sleep(0.02)
    return {"amount": state["amount"] + 1}


def review(state):
    return {"answer": interrupt({"question": f"Pay {state['amount']}?"})}


def choose(state):
    return "pay" if state["answer"] == "yes" else "end"


def charge(state):
    return {"paid": True}


pay = StateGraph(Payment).add_node("charge", charge).add_edge(START, "charge").compile()
builder = StateGraph(Order).add_node("price", price).add_node("review", review).add_node("pay", pay)
builder.add_edge(START, "price").add_edge("price", "review")
builder.add_conditional_edges("review", choose, {"pay": "pay", "end": END})
graph = builder.compile()
`;

/** Writes the program and opens it on the start screen, as somebody does who has never allowed it. */
async function attach(app: Superstep, page: Page): Promise<string> {
  const file = app.writeText("program/agent.py", PROGRAM);
  const { settings } = await app.rpc<{ settings: object }>("app.info", {});
  await app.rpc("settings.set", { ...settings, python: PYTHON });
  await app.open();
  await app.id("start-seen").click();
  await app.id("file-path").fill(`${file}:graph`);
  await page.keyboard.press("Enter");
  await expect(app.id("trust")).toContainText(PYTHON);
  // A program can do anything, so it is not chosen beforehand.
  await app.id(`trust-want-program-${PYTHON}`).focus();
  await page.keyboard.press("Space");
  await app.id("trust-allow").click();
  await expect(app.id("seen")).toContainText("agent.py:graph", { timeout: 60_000 });
  return file;
}

/** Runs the graph with an amount, from the form. */
async function run(app: Superstep, amount: number): Promise<void> {
  await app.id("run-with-input").click();
  await app.id("run-form").getByLabel("amount").fill(String(amount));
  await app.id("run-start").click();
}

test("a LangGraph program is drawn, run, asked and reloaded in the window", async ({ app, page }) => {
  const file = await attach(app, page);
  for (const name of ["price", "review", "pay"]) await expect(app.node(name)).toBeVisible();
  await expect(app.node("price")).toContainText("agent.py:19");
  for (const label of ["pay", "end"]) await expect(app.id("canvas").getByText(label, { exact: true }).first()).toBeVisible();

  // Where is the code of this node?
  await app.node("review").click();
  await expect(app.id("seen-place")).toContainText("review · agent.py:25");

  await run(app, 41);
  await app.status("asking");
  await expect(app.node("price")).toHaveAttribute("data-state", "done");
  await expect(app.node("review")).toHaveAttribute("data-state", "asking");
  await expect(page.getByTestId("thread")).toHaveCount(1);
  await app.picture("attached", ["light", "dark"]);
  await expect(app.id("answer-form")).toContainText("Pay 42?");
  await app.id("answer-form").getByRole("textbox").first().fill('"yes"');
  await app.id("answer-submit").click();
  await app.status("done");
  await expect(app.node("pay")).toHaveAttribute("data-state", "done");
  await app.showState();
  await expect(app.key("paid")).toContainText("true");
  // What did it look like then?
  await app.checkpoint(1, "loop").click();
  await expect(app.id("past")).toBeVisible();
  await page.getByRole("button", { name: /Back to now/ }).click();

  // A run that goes on and on is stopped, and goes on where it was.
  await run(app, -5);
  await app.status("running");
  await expect(app.node("price")).toHaveAttribute("data-state", "running");
  await app.id("run-stop").click();
  await app.status("stopped");
  app.writeText("program/go", "");
  await app.id("run").click();
  await app.status("asking");

  // Its file changes: that is said, and a press reads it again. Threads stay.
  app.writeText("program/agent.py", PROGRAM.replace('.add_node("pay", pay)', '.add_node("pay", pay).add_node("refund", charge)'));
  await expect(app.id("seen")).toContainText("A file has changed");
  await app.id("seen-reload").click();
  await expect(app.node("refund")).toBeVisible();
  await expect(page.getByTestId("thread")).toHaveCount(2);

  // What cannot be imported is said with its line, and the graph stays.
  app.writeText("program/agent.py", "import nothing_of_that_name\n");
  await app.id("seen-reload").click();
  await expect(app.id("toast").filter({ hasText: `${file}, line 1` })).toContainText("nothing_of_that_name");
  await expect(app.node("refund")).toBeVisible();
});

test("a LangGraph program is stopped by a condition, edited, forked and run again in the window", async ({ app, page }) => {
  const file = await attach(app, page);

  // The dots of every graph, with a condition.
  await app.node("review").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Conditional breakpoint…" }).click();
  const condition = app.id("breakpoint-condition").locator(".cm-content, textarea, input").first();
  await condition.click();
  await page.keyboard.type("state.amuont > 5");
  await app.id("breakpoint-save").click();
  await expect(app.id("breakpoint-dialog")).toContainText("Did you mean amount?");
  await condition.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("state.amount > 5");
  await app.id("breakpoint-save").click();
  await expect(app.id("breakpoint")).toContainText("if state.amount > 5");
  await run(app, 1);
  await app.status("asking");
  await run(app, 41);
  await app.status("paused");
  await expect(app.id("stop-reason")).toContainText("Before review");

  // An edit as the node that ran, with what would run next.
  await app.showState();
  await app.key("amount").hover();
  await app.key("amount").getByTestId("state-edit").click();
  await app.id("state-edit-field").locator("input, textarea").first().fill("7");
  await app.id("state-edit-done").click();
  await expect(app.id("edit-preview")).toContainText("review");
  await app.id("edit-apply").click();
  await expect(app.checkpoint(2, "update")).toBeVisible();
  await app.id("run").click();
  await app.status("asking");
  await expect(app.id("answer-form")).toContainText("Pay 7?");

  // What went wrong on a page is not said on the next one.
  app.writeText("program/agent.py", "import nothing_of_that_name\n");
  await app.id("seen-reload").click();
  const said = app.id("toast").filter({ hasText: `${file}, line 1` });
  await expect(said).toContainText("nothing_of_that_name");
  await page.waitForTimeout(600);
  await app.id("use-approve").click();
  await expect(said).toHaveCount(0);
});
