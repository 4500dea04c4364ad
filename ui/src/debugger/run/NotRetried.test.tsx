// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { useSession } from "../../state/session";
import { NotRetried } from "./NotRetried";

afterEach(cleanup);

it("says why a node was not tried again and leads to its retry setting", () => {
  render(<NotRetried node="pay" reason="`CodeError` is not retried." />);
  fireEvent.click(screen.getByRole("button"));
  const { selection, pendingFocus } = useSession.getState();
  expect(selection.nodes).toEqual(["pay"]);
  expect(pendingFocus).toMatchObject({ record: "node:pay", pointer: "/retry" });
});

it("has no way to a setting of a nested graph, which is not open, and nothing without a reason", () => {
  const { container, rerender } = render(<NotRetried node="pay" reason="It is not retried." nested />);
  expect(screen.queryByRole("button")).toBeNull();
  rerender(<NotRetried node="pay" reason={undefined} />);
  expect(container.textContent).toBe("");
});
