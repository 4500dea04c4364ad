/** Talking to a graph below its messages: a message is the next turn, an edited one another branch of it. */
import { expect, test } from "./superstep";

const chat = {
  format: "superstep/1",
  name: "Small talk",
  state: { messages: { type: "array", reducer: "add_messages" } },
  nodes: {
    answer: {
      kind: "model",
      config: {
        model: "scripted",
        messages: "messages",
        into: "messages",
        pace_ms: 0,
        script: [{ say: "You said {{ state.messages[-1].content }}, the {{ state.messages | length }}th." }],
      },
    },
  },
  edges: [
    { from: "__start__", to: "answer" },
    { from: "answer", to: "__end__" },
  ],
  layout: { __start__: [40, 100], answer: [200, 90], __end__: [480, 100] },
};

test("a message is sent from the conversation, and said otherwise on a branch", async ({ app, page }) => {
  await app.openGraph(chat);
  await app.id("use-debug").click();
  await app.id("bottom-bar").or(app.id("panel-bottom")).locator('[data-testid="tab-messages"]').click();
  const say = async (text: string) => {
    await app.id("chat-text").fill(text);
    await page.keyboard.press("Enter");
    await app.status("done");
    await expect(app.id("messages")).toContainText(`You said ${text}`);
  };
  await say("hello");
  await say("tea");
  await say("milk");
  const humans = app.id("messages").locator('[data-testid="message"][data-role="human"]');
  await expect(humans).toHaveCount(3);
  await expect(humans.first().getByTestId("turn-edit"), "nothing is before the first").toHaveCount(0);

  await humans.nth(1).getByTestId("turn-edit").click();
  await expect(app.id("chat-text")).toHaveValue("tea");
  await say("coffee");
  await expect(humans).toHaveText([/hello/, /coffee/]);
  await expect(humans.nth(1).getByTestId("turn-branches")).toContainText("2 of 2");
  await app.picture("chat", ["light", "dark"]);
  await humans.nth(1).getByRole("button", { name: "Previous branch of this message" }).click();
  await expect(humans).toHaveText([/hello/, /tea/, /milk/]);
  await expect(humans.nth(1).getByTestId("turn-branches")).toContainText("1 of 2");
  await humans.nth(1).getByRole("button", { name: "Next branch of this message" }).click();
  await expect(humans).toHaveText([/hello/, /coffee/]);

  // An empty message is not sent; Shift Enter begins a line.
  await app.id("chat-text").fill("");
  await expect(app.id("chat-send")).toBeDisabled();
  await app.id("chat-text").fill("two");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("lines");
  await expect(app.id("chat-text")).toHaveValue("two\nlines");
});
