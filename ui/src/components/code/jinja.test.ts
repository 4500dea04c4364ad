import { describe, expect, it } from "vitest";
import { keyUses, openBracket, placeOf, renameKeyUses, suggestionsAt } from "./jinja";

const keys = [
  { name: "request", type: "text" },
  { name: "customer", type: "object", fields: [{ name: "email", type: "text" }] },
];

/** The place of the `^` in a text. */
function at(marked: string, template = false) {
  const position = marked.indexOf("^");
  return placeOf(marked.replace("^", ""), position, template);
}

describe("placeOf", () => {
  it("knows what is being written in an expression", () => {
    expect(at("state.re^")).toMatchObject({ at: "member", path: ["state"], from: 6, word: "re" });
    expect(at("state.customer.e^")).toMatchObject({ at: "member", path: ["state", "customer"] });
    expect(at("state.a | up^")).toMatchObject({ at: "filter", word: "up" });
    expect(at("state.a is not de^")).toMatchObject({ at: "test", word: "de" });
    expect(at("st^")).toMatchObject({ at: "name", word: "st" });
    expect(at("'state.^'")).toEqual({ at: "nowhere" });
  });

  it("tells code from text in a template", () => {
    expect(at("Dear state.^", true)).toMatchObject({ at: "text" });
    expect(at("Dear {{ state.^ }}", true)).toMatchObject({ at: "member" });
    expect(at("{{ a }} then ^", true)).toMatchObject({ at: "text" });
    expect(at("{% f^ %}", true)).toMatchObject({ at: "statement", word: "f" });
    expect(at("{% if state.^ %}", true)).toMatchObject({ at: "member" });
    expect(at("{# state.^ #}", true)).toEqual({ at: "nowhere" });
    expect(at('{{ "}}" ~ state.^ }}', true), "a delimiter in a string does not end the code").toMatchObject({
      at: "member",
    });
  });
});

describe("suggestionsAt", () => {
  it("offers what stands beside the state, and what is inside", () => {
    const variables = ["old", { name: "context", type: "object", fields: [{ name: "user", type: "text" }] }];
    const found = (marked: string) =>
      suggestionsAt(at(marked), keys, variables).map(({ label, kind }) => `${kind} ${label}`);
    expect(found("context.^")).toEqual(["field user"]);
    expect(found("old.^")).toEqual([]);
    expect(found("co^")).toEqual(
      expect.arrayContaining(["variable old", "variable context", "field context.user", "key state.request"]),
    );
  });

  const labels = (marked: string, template = false) =>
    suggestionsAt(at(marked, template), keys).map((each) => each.label);
  it("offers keys with their fields, and only what fits", () => {
    expect(labels("state.^")).toEqual(["request", "customer"]);
    expect(labels("state.customer.^")).toEqual(["email"]);
    expect(labels("other.^")).toEqual([]);
    expect(labels("state.request | ^")).toContain("upper");
    expect(labels("state.request | ^")).not.toContain("request");
    expect(labels("^")).toContain("state.request");
    expect(labels("Hello ^", true)).toContain("{{ state.request }}");
  });
});

describe("keyUses", () => {
  it("finds both ways of naming a key, and nothing in strings, comments or longer names", () => {
    const found = keyUses(`state.a + state["b c"] + 'state.no' + mystate.x + obj.state.y`, false);
    expect(found.map((use) => use.key)).toEqual(["a", "b c"]);
    expect(
      keyUses("state.a {{ state.b }} {# state.c #} {% if state.d %}", true).map((use) => use.key),
    ).toEqual(["b", "d"]);
  });
});

describe("renameKeyUses", () => {
  it("renames in place and keeps the rest", () => {
    expect(renameKeyUses("state.a + state.ab + state['a'].x", "a", "total", false)).toBe(
      "state.total + state.ab + state['total'].x",
    );
    expect(renameKeyUses("state.a in text, {{ state.a|upper }}", "a", "b", true)).toBe(
      "state.a in text, {{ state.b|upper }}",
    );
  });
  it("writes a name that is no identifier in brackets", () => {
    expect(renameKeyUses("state.a + 1", "a", "due date", false)).toBe('state["due date"] + 1');
  });
});

describe("openBracket", () => {
  it("finds what has no partner", () => {
    expect(openBracket("(a + [b)", false)).toMatchObject({ from: 7 });
    expect(openBracket("a == 'x", false)).toMatchObject({ from: 5, what: "'" });
    expect(openBracket("a[')']", false)).toBeNull();
    expect(openBracket("Hi {{ state.a", true)).toMatchObject({ from: 3, what: "{{" });
    expect(openBracket("Hi {{ state.a }}", true)).toBeNull();
  });
});
