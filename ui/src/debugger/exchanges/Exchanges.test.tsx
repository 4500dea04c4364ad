// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { AppProviders } from "../../components/AppProviders";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { debugIds } from "../../lib/testIds";
import { Exchanges } from "./Exchanges";
import { concerns } from "./useExchanges";

afterEach(cleanup);

const exchange: ExchangeView = {
  taskId: "a",
  model: "openai::gpt-4o-mini",
  address: "http://127.0.0.1:1/v1/",
  at: 0,
  millis: 1200,
  request: { messages: [{ role: "user", content: "Hi" }] },
  response: '{"delta":"Hello"}\n',
  ended: "done",
  tokens: { input: 3, output: 4 },
  cost: { amount: 0.25, currency: "USD" },
};

test("an exchange shows what it took, and on demand its request and its answer", () => {
  render(
    <AppProviders>
      <Exchanges exchanges={[exchange, { ...exchange, ended: "failed" }]} />
    </AppProviders>,
  );
  const [row, failed] = screen.getAllByTestId(debugIds.exchange);
  expect(row?.textContent).toContain("3 tokens in, 4 out");
  expect(row?.textContent).toContain("0.25\u202fUSD");
  expect(failed?.textContent).toContain("failed");
  expect(screen.queryByTestId(debugIds.exchangeText)).toBeNull();
  fireEvent.click(screen.getAllByRole("button", { expanded: false })[0]!);
  expect(screen.getByTestId(debugIds.exchangeText).textContent).toContain('"content": "Hi"');
  fireEvent.click(screen.getByTestId("tab-response"));
  expect(screen.getByTestId(debugIds.exchangeText).textContent).toBe('{\n  "delta": "Hello"\n}');
});

test("a task that asked no model shows nothing", () => {
  const { container } = render(<Exchanges exchanges={[]} />);
  expect(container.textContent).toBe("");
});

test("they are read again when their task, a nested graph or the run went on", () => {
  const ended = { type: "within", threadId: "t", ns: "work:1", next: [] } as const;
  expect(concerns({ ...ended, next: [] }, "t", "a")).toBe(true);
  expect(concerns({ ...ended, next: [] }, "u", "a")).toBe(false);
});
