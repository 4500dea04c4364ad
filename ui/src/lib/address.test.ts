import { expect, it } from "vitest";
import { isAddress, joinAddress, namesSchema, splitAddress, withSchema } from "./address";

it("distinguishes addresses from paths", () => {
  for (const text of [
    "postgres://h/d",
    " langgraph:postgres://u:p@h/d",
    "postgresql://h",
    "langgraph:/data/a.sqlite",
    "mongodb+srv://u:p@h/d",
  ])
    expect(isAddress(text), text).toBe(true);
  for (const text of ["/data/a.sqlite", "a.json", "C:\\a.json", "C://a.json", "", "langgraph"])
    expect(isAddress(text), text).toBe(false);
});

it("takes the password out of an address and puts it in again", () => {
  for (const [whole, address, password] of [
    ["postgres://u:secret@h:5432/d", "postgres://u@h:5432/d", "secret"],
    ["langgraph:postgres://u:a%40b%2F@h/d?schema=x", "langgraph:postgres://u@h/d?schema=x", "a@b/"],
    ["postgres://u:se@c:r/e?t@h/d", "postgres://u@h/d", "se@c:r/e?t"],
    ["postgres://u:100%@h/d", "postgres://u@h/d", "100%"],
  ] as const) {
    expect(splitAddress(whole)).toEqual({ address, password });
    expect(splitAddress(joinAddress(address, password))).toEqual({ address, password });
  }
  for (const none of ["postgres://u@h/d", "postgres://h/d", "/data/a.sqlite", "postgres://u:p"]) {
    expect(splitAddress(none)).toEqual({ address: none, password: "" });
  }
  // Nobody is there whose password it would be.
  expect(joinAddress("postgres://h/d", "secret")).toBe("postgres://h/d");
  expect(joinAddress("postgres://u@h/d", "")).toBe("postgres://u@h/d");
});

it("names the schema behind the address", () => {
  expect(namesSchema("postgres://u:p?schema=x@h/d")).toBe(false);
  expect(namesSchema("postgres://u@h/d?sslmode=require&schema=x")).toBe(true);
  expect(withSchema("postgres://u@h/d", "two words")).toBe("postgres://u@h/d?schema=two%20words");
  expect(withSchema("postgres://u@h/d?sslmode=require", "b")).toBe(
    "postgres://u@h/d?sslmode=require&schema=b",
  );
});
