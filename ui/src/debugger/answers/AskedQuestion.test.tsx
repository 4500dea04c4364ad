// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { debugIds } from "../../lib/testIds";
import { headline } from "./asked-effect";
import { QuestionText } from "./AskedQuestion";

afterEach(cleanup);

describe("a question", () => {
  it("of ordinary length is shown whole", () => {
    render(<QuestionText text={"Pay **30**?\nIt is *late*."} compact={false} />);
    expect(screen.getByText("30").tagName).toBe("STRONG");
    expect(screen.getByText("late").tagName).toBe("EM");
    expect(screen.queryByTestId(debugIds.wholeQuestion)).toBeNull();
  });

  it("without an end is cut, and shown as it was written on demand", () => {
    for (const text of [`Pay?\n${"*a* ".repeat(5000)}end`, `${"*a* ".repeat(5000)}end`]) {
      const { container } = render(<QuestionText text={text} compact={false} />);
      expect(container.textContent.length).toBeLessThan(6000);
      expect(container.textContent).not.toContain("end");
      fireEvent.click(screen.getByTestId(debugIds.wholeQuestion));
      expect(container.querySelector("pre")!.textContent).toContain("*a* end");
      cleanup();
    }
  });

  it("has a short headline", () => {
    const asked = (text: string) => headline({ value: null, text });
    expect(asked("Pay?\nmore")).toBe("Pay?");
    expect(asked("x".repeat(100_000))).toBe(`${"x".repeat(200)}…`);
  });
});
