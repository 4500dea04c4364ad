import { expect, it } from "vitest";
import { stillListed } from "./search";

const has =
  (...records: string[]) =>
  (record: string) =>
    records.includes(record);
const parcel = { what: "key", name: "parcel", was: "order" } as const;

it("the list of uses goes back with an undone rename, and on with the redone one", () => {
  expect(stillListed(parcel, has("key:parcel"), 3)).toBe(parcel);
  const order = stillListed(parcel, has("key:order"), 0);
  expect(order).toEqual({ what: "key", name: "order", was: "parcel" });
  expect(stillListed(order!, has("key:parcel"), 0)).toEqual(parcel);
});

it("is of nothing when an undo took the name and its uses", () => {
  expect(stillListed({ what: "key", name: "order" }, has(), 0)).toBeNull();
  expect(stillListed(parcel, has(), 0)).toBeNull();
  const left = { what: "key", name: "order" } as const;
  expect(stillListed(left, has(), 2), "what still names it is worth seeing").toBe(left);
});
