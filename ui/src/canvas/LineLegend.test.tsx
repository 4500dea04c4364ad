// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { AppProviders } from "../components/AppProviders";
import { t } from "../lib/texts";
import { LineLegend } from "./LineLegend";
import { meaningOf } from "./lines";

afterEach(cleanup);

it("tells what is always followed from what may be", () => {
  expect((["plain", "when", "route", "each", "join", "error"] as const).map(meaningOf)).toEqual([
    "fixed",
    "possible",
    "possible",
    "each",
    "join",
    "error",
  ]);
});

it("lists every kind of line, each drawn in its own way", async () => {
  render(
    <AppProviders>
      <LineLegend />
    </AppProviders>,
  );
  fireEvent.click(screen.getByRole("button", { name: t("wires.legend") }));
  const rows = await screen.findAllByRole("listitem");
  expect(rows.map((row) => row.dataset["means"])).toEqual([
    "fixed",
    "possible",
    "each",
    "join",
    "error",
    "said",
    "seen",
    "unknown",
    "taken",
  ]);
  const drawings = rows.map((row) => row.querySelector("svg")?.innerHTML);
  expect(new Set(drawings).size).toBe(rows.length);
});
