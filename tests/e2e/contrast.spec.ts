/** High contrast: the colours of the system alone, and more contrast in our own. What colours say stays visible. */
import type { Locator } from "@playwright/test";
import { expect, test, type Superstep } from "./superstep";

const style = (at: Locator, property: string) => at.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);

/** A colour of the system as the browser computes it. */
const system = (app: Superstep, name: string) =>
  app.page.evaluate((colour) => {
    const probe = document.createElement("i");
    probe.style.cssText = `forced-color-adjust: none; color: ${colour}`;
    document.body.append(probe);
    const computed = getComputedStyle(probe).color;
    probe.remove();
    return computed;
  }, name);

test("in the colours of the system, wires, selection, focus and states are seen", async ({ app, page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await app.openExample("refund-desk");
  const [text, canvas, highlight] = await Promise.all(["CanvasText", "Canvas", "Highlight"].map((name) => system(app, name)));
  expect(text).not.toBe(canvas);
  await app.node("propose").click();
  expect(await style(app.node("propose"), "outline-color"), "what is selected").toBe(highlight);
  expect(await style(app.node("draft"), "outline-style"), "and what is not").toBe("none");
  const wire = page.locator(".react-flow__edge .line-path").first();
  expect(await style(wire, "stroke"), "wires are drawn in the colour of texts").toBe(text);
  expect(await style(app.id("use-design"), "outline-style"), "the chosen use is more than a surface").toBe("solid");
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("combobox")).toBeFocused();
  await expect(page.locator("[role=option][aria-selected=true]").first()).toHaveCSS("outline-style", "solid");
  await page.keyboard.press("Escape");
  await app.picture("forced-design", ["light", "dark"]);

  await app.id("use-debug").click();
  await app.id("run").click();
  await app.status("asking");
  // Two states differ by their sign, not by colours that the system does not have.
  const mark = (name: string) => app.node(name).evaluate((card) => `${card.dataset["state"]} ${card.querySelectorAll("svg").length}`);
  expect(await mark("review")).toMatch(/^asking/);
  expect(await mark("propose")).toMatch(/^done/);
  expect(await style(app.node("review"), "outline-style")).toBe("solid");
  await app.picture("forced-debug", ["light", "dark"]);
  // Back in our own colours at once, drawings included.
  await page.emulateMedia({ forcedColors: "none" });
  expect(await style(wire, "stroke")).not.toBe(text);
});

test("with more contrast texts and lines are darker, or lighter", async ({ app, page }) => {
  await app.openExample("refund-desk");
  const token = (name: string) => page.evaluate((property) => getComputedStyle(document.documentElement).getPropertyValue(property), name);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
    const before = await Promise.all(["--text-3", "--line", "--edge"].map(token));
    await page.emulateMedia({ colorScheme, contrast: "more" });
    const after = await Promise.all(["--text-3", "--line", "--edge"].map(token));
    for (const [at, value] of after.entries()) expect(value, `${colorScheme} ${at}`).not.toBe(before[at]);
    await app.node("propose").click();
    await app.picture(`contrast-${colorScheme}`, [colorScheme]);
    await page.emulateMedia({ contrast: "no-preference" });
  }
});
