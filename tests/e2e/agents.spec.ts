/** Graphs of agents: who answers for their models is chosen for a run, and their names may change. */
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { expect, test } from "./superstep";

/** A model server that counts its answers. */
async function listen(): Promise<{ server: Server; address: string; asked: () => number }> {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      asked += 1;
      const chunk = (delta: object, end: string | null) =>
        `data: ${JSON.stringify({
          id: `answer-${asked}`,
          object: "chat.completion.chunk",
          created: 1,
          model: "small",
          choices: [{ index: 0, delta, finish_reason: end }],
        })}\n\n`;
      response.setHeader("content-type", "text/event-stream");
      response.end(
        `${chunk({ role: "assistant", content: `Answer ${asked} of the office.` }, null)}${chunk({}, "stop")}data: [DONE]\n\n`,
      );
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no address");
  return { server, address: `127.0.0.1:${address.port}`, asked: () => asked };
}

test("a connection answers for the scripted models of a run, and of whatever continues it", async ({ app, page }) => {
  const { server, address, asked } = await listen();
  try {
    const connections = { office: { provider: "openai", base_url: `http://${address}/v1/` } };
    writeFileSync(join(app["data"], "models.json"), JSON.stringify({ connections }));
    await app.openExample("chat");
    await app.id("run-with-input").click();
    await app.id("run-models").click();
    const scripted = app.id("run-models-scripted");
    await scripted.fill("office");
    await page.getByRole("option", { name: /office::/ }).click();
    await scripted.press("End");
    await scripted.pressSequentially("small");
    await expect(app.id("run-models")).toContainText("office::small replaces the scripted models");
    await app.id("run-start").click();
    await expect(app.id("trust")).toContainText("office");
    await app.id("trust-allow").click();
    await app.status("done");
    expect(asked()).toBe(1);

    // The next turn is for the thread to say, in this window and after a restart.
    await expect(app.id("result")).toContainText("Answer 1 of the office.");
    await expect(app.id("thread-models")).toContainText("office::small replaces the scripted models");
    await app.crash();
    await app.openExample("chat");
    await app.id("use-debug").click();
    await app.id("thread").first().click();
    await expect(app.id("thread-models")).toContainText("office::small");
    await app.id("run-with-input").click();
    await expect(app.id("run-models")).toContainText("office::small");
    const message = app.id("run-form").getByRole("textbox").first();
    await message.fill("And then?");
    await app.id("run-start").click();
    // The turn before it is done as well.
    await expect.poll(asked, { timeout: 30_000 }).toBe(2);
    await app.status("done");

    // A person may take it back.
    await app.id("thread-models").getByRole("button", { name: "Change" }).click();
    await app.id("run-models-scripted").fill("");
    await page.keyboard.press("Escape");
    await app.id("run-with-input").click();
    await expect(app.id("run-models")).toContainText("as set in the graph");
    await expect(message, "the next message is still to be written").toHaveValue("");
    await message.fill("Once more?");
    await app.id("run-start").click();
    await app.status("done");
    expect(asked(), "the script answered").toBe(2);
    await expect(app.id("thread-models")).toHaveCount(0);
  } finally {
    server.close();
  }
});

test("a node that hand-offs name is renamed with them, and deleting says what still names it", async ({ app, page }) => {
  await app.openExample("service-desk");
  await app.node("billing").click();
  await page.keyboard.press("F2");
  await app.id("node-rename").fill("accounts");
  await page.keyboard.press("Enter");
  await expect(app.node("accounts")).toBeVisible();

  // It runs as before: the tool, the key that takes the name and the choice at the start all say the new one.
  await app.id("run-with-input").click();
  await app.id("run-samples").click();
  await page.getByRole("menuitem", { name: "An invoice" }).click();
  await app.id("run-start").click();
  await app.status("done");
  await app.showState();
  await expect(app.key("active")).toContainText("accounts");

  // One step back, and everything has its old name.
  await app.id("use-design").click();
  await page.keyboard.press("Control+z");
  await expect(app.node("billing")).toBeVisible();
  await expect(app.id("redo")).toBeEnabled();
  await app.node("billing").click();
  await page.keyboard.press("Delete");
  await expect(page.getByText("Settings still refer to what was deleted: billing")).toBeVisible();
  await expect(page.getByText(/In sales\. See the list of problems/)).toBeVisible();
});
