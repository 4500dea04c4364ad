import { expect, it } from "vitest";
import type { ItemUse } from "../../ipc/bindings/ItemUse";
import { itemAt } from "./uses";

const at = (minute: number) => `2026-01-01T10:0${minute}:00.000Z`;
const use = (minute: number, action: ItemUse["action"], value?: unknown) =>
  ({
    at: at(minute),
    action,
    ...(value !== undefined && { value: { value } }),
  }) as unknown as ItemUse;

it("is what it is now, when it was not written since", () => {
  expect(itemAt({ updatedAt: at(2) }, [use(1, "written", 1)], at(2))).toEqual({ kind: "same" });
});

it("is what a step last recorded before the moment, whatever came later", () => {
  const uses = [use(5, "written", 3), use(3, "read", 2), use(1, "written", 1)];
  const item = { updatedAt: at(5) };
  expect(itemAt(item, uses, at(4))).toEqual({ kind: "use", use: uses[1] });
  expect(itemAt(item, [...uses].reverse(), at(2))).toEqual({ kind: "use", use: uses[2] });
  const removed = use(2, "removed");
  expect(itemAt(item, [...uses, removed], at(2))).toEqual({ kind: "use", use: removed });
});

it("is not known, when it was written since and nothing was recorded before", () => {
  expect(itemAt({ updatedAt: at(5) }, [use(5, "written", 3)], at(1))).toEqual({ kind: "unknown" });
});
