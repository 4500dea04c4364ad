import { describe, expect, it } from "vitest";
import {
  expressionNotices,
  namesAt,
  namesOf,
  templateNotices,
  typeOf,
  type Expected,
} from "./expression-types";
import { infoAt, placeOf, suggestionsAt } from "./jinja";
import { fieldsOfValue, keyInfoOf } from "./key-infos";
import { parseExpression } from "./parse-expression";
import { noticeWords } from "./type-words";
import { pathAt } from "./hover";

const order = {
  type: "object",
  properties: {
    total: { type: "number", description: "With taxes" },
    lines: { type: "array", items: { type: "object", properties: { sku: { type: "string" } } } },
  },
  additionalProperties: false,
};
const keys = [
  keyInfoOf("count", { type: "integer" }),
  keyInfoOf("name", { type: "string" }),
  keyInfoOf("maybe", { type: ["string", "null"] }),
  keyInfoOf("done", { type: "boolean" }),
  keyInfoOf("category", { type: "string", enum: ["billing", "tech"] }),
  keyInfoOf("tags", { type: "array", items: { type: "string" } }),
  keyInfoOf("order", order),
  keyInfoOf("orders", { type: "array", items: order }),
  keyInfoOf("open", { type: "object", properties: { a: { type: "string" } } }),
  keyInfoOf("messages", { reducer: "add_messages" }),
  keyInfoOf("any", {}),
];
const names = namesOf(keys, [
  "item",
  { name: "context", type: "", fields: [keyInfoOf("user", { type: "string" })] },
]);
const said = (text: string, expected: Expected | null = null) =>
  expressionNotices(text, names, expected).map(noticeWords);

describe("typeOf", () => {
  it.each([
    ["state.count", { type: "integer" }],
    ["state.count + 1", { type: "number" }],
    ["state.count / 2", { type: "number" }],
    ["-state.count", { type: "number" }],
    ["state.name", { type: "string" }],
    ["state['name']", { type: "string" }],
    ["'a' ~ state.count", { type: "string" }],
    ["state.order.total", order.properties.total],
    ["state.orders[0].lines", order.properties.lines],
    ["state.orders|map(attribute='total')", { type: "array", items: order.properties.total }],
    ["state.orders|first", order],
    ["(state.tags|sort)[0]", { type: "string" }],
    ["state.tags[1:]", { type: "array", items: { type: "string" } }],
    ["state.tags|length", { type: "integer" }],
    ["state.tags|join(', ')|upper", { type: "string" }],
    ["state.count > 1 and not state.done", { type: "boolean" }],
    ["state.name is defined", { type: "boolean" }],
    ["state.name is startingwith 'a'", { type: "boolean" }],
    ["'a' in state.tags", { type: "boolean" }],
    ["state.name if state.done else 'none'", { type: "string" }],
    ["state.name if state.done else 1", { type: ["string", "number"] }],
    ["state.maybe|default('x')", { type: ["string", "null"] }],
    ["[1, 2]", { type: "array", items: { type: "number" } }],
    ["{'a': 1}", { type: "object" }],
    ["range(3)", { type: "array", items: { type: "integer" } }],
    ["state.messages", { type: "array", items: { type: "object" } }],
    ["context.user", { type: "string" }],
    ["state.any.x", {}],
    ["state.name.upper()", {}],
    ["item.x + 1", {}],
    ["state.", {}],
    ["state.a b", {}],
    ["'unclosed", {}],
  ])("%s", (text, schema) => expect(typeOf(text, names)).toEqual(schema));
});

describe("what is surely wrong", () => {
  it.each([
    [
      'state.count == "3"',
      '`state.count` (whole number) and `"3"` (text) are of different types and never equal.',
    ],
    ["state.name > 3", "`state.name` (text) and `3` (whole number) are of different types and never equal."],
    [
      "state.tags == 'a'",
      "`state.tags` (list of text) and `'a'` (text) are of different types and never equal.",
    ],
    ["state.category == 'bilng'", '`state.category` is one of "billing", "tech".'],
    ["'x' != state.category", '`state.category` is one of "billing", "tech".'],
    ["state.count + 'x'", "`+` does not go with `state.count` (whole number) and `'x'` (text)."],
    ["state.name - 1", "`-` does not go with `state.name` (text) and `1` (whole number)."],
    ["'a' in state.count", "`in` needs a list, a text or an object; this is `state.count` (whole number)."],
    ["state.order.totl", "`state.order` has no field `totl`, only total, lines."],
    ["state.orders.total", "`state.orders` (list of object) has no field `total`."],
    [
      "state.done and state.count == 'a'",
      "`state.count` (whole number) and `'a'` (text) are of different types and never equal.",
    ],
  ])("%s", (text, words) => expect(said(text)).toEqual([words]));

  it.each([
    ["state.count == 3.5"],
    ["state.count == none"],
    ["state.maybe == 3"],
    ["state.any == 'x'"],
    ["state.done == 1"],
    ["state.category == 'tech'"],
    ["state.category == state.name"],
    ["state.category == none"],
    ["state.name + 'x'"],
    ["state.name * 2"],
    ["'%s' % state.count"],
    ["state.open.b"],
    ["state.unknown == 3"],
    ["state.name.upper() == 3"],
    ["item == 3 and item == 'x'"],
    ["state.count|string == '3'"],
    ["state.name|int > 3"],
    ["state.count == "],
    [""],
  ])("says nothing of %s", (text) => expect(said(text)).toEqual([]));

  const list: Expected = { is: "value", schema: { type: "array" } };
  const tech: Expected = { is: "value", schema: { type: "string", enum: ["billing", "tech"] } };
  it.each<[string, Expected, string[]]>([
    ["state.count", list, ["This gives “whole number”; “list” is wanted here."]],
    ["state.tags|length", list, ["This gives “whole number”; “list” is wanted here."]],
    ["state.tags", list, []],
    ["state.any", list, []],
    ["state.maybe", list, []],
    ["range(4)", list, []],
    ["'other'", tech, ['The value is one of "billing", "tech".']],
    ["'tech'", tech, []],
    ["state.name", tech, []],
    ["1 + 2", tech, ["This gives “number”; “billing | tech” is wanted here."]],
    ["'billing'", { is: "condition" }, ["This is the same in every state."]],
    ["true", { is: "condition" }, []],
    ["state.name", { is: "condition" }, []],
  ])("%s in its place", (text, expected, words) => expect(said(text, expected)).toEqual(words));

  it("is found where it stands, also in templates", () => {
    const text =
      "Dear {{ state.name }}, {% if state.count == '3' %}{{ state.order.x }}{% endif %} {# state.order.y #}";
    expect(templateNotices(text, names).map(({ from, to }) => text.slice(from, to))).toEqual([
      "state.count == '3'",
      "x",
    ]);
    expect(templateNotices("{{ state.count == ", names)).toEqual([]);
  });

  it("knows the items of loops, and only inside of them", () => {
    const text =
      "{% for o in state.orders %}{{ o.nope }}{% for k, v in state.any|items %}{{ k.x }}{% endfor %}{% endfor %}{{ o.nope }}";
    expect(templateNotices(text, names).map(noticeWords)).toEqual([
      "`o` has no field `nope`, only total, lines.",
    ]);
    expect(namesAt(text, text.indexOf("o.nope"), names).get("o")).toEqual(order);
    expect(namesAt(text, text.length, names).get("o")).toBeUndefined();
    const set = "{% set sum = state.count + 1 %}{{ sum == 'a' }}";
    expect(templateNotices(set, names)).toHaveLength(1);
  });
});

describe("completion and hover", () => {
  const offered = (text: string) =>
    suggestionsAt(placeOf(text, text.length, false), keys).map(
      ({ label, detail }) => `${label}: ${detail ?? ""}`,
    );
  it("goes into objects and the items of lists, with types", () => {
    expect(offered("state.order.")).toEqual(["total: number", "lines: list of object"]);
    expect(offered("state.orders[0].")).toEqual(["total: number", "lines: list of object"]);
    expect(offered("state.orders[0].lines[2].")).toEqual(["sku: text"]);
    expect(offered("state.order.lines.")).toEqual([]);
    expect(offered("state.any.")).toEqual([]);
  });
  it("names what a value holds where no schema does", () => {
    expect(fieldsOfValue({ id: 3, "not a name": 1, tags: [], gone: null })).toEqual([
      { name: "id", type: "whole number" },
      { name: "tags", type: "list" },
      { name: "gone", type: "nothing (null)" },
    ]);
    expect(fieldsOfValue([1, 2])).toEqual([]);
    expect(fieldsOfValue("text")).toEqual([]);
  });
  it("knows the name under the pointer", () => {
    const text = "state.order.total > 1";
    expect(pathAt(text, text.indexOf("der"), false)).toEqual({ path: ["state", "order"], from: 6, to: 11 });
    expect(pathAt(text, text.indexOf("tal"), false)).toEqual({
      path: ["state", "order", "total"],
      from: 12,
      to: 17,
    });
    expect(pathAt(text, text.length, false)).toBeNull();
    expect(pathAt("Dear state.name", 12, true)).toBeNull();
    expect(infoAt(["state", "order", "total"], keys)).toMatchObject({
      type: "number",
      description: "With taxes",
    });
    expect(infoAt(["state", "orders", "[]", "total"], keys)).toMatchObject({ type: "number" });
    expect(infoAt(["state", "any", "x"], keys)).toBeNull();
  });
});

describe("parseExpression", () => {
  it.each([
    "a +",
    "a b",
    "a..b",
    "(a",
    "a)",
    "[1,",
    "not",
    "a if",
    "a | ",
    "{a}",
    "@",
    "is defined",
    "a[",
    "f(,)",
  ])("gives no tree for %s", (text) => expect(parseExpression(text)).toBeNull());
  it("ends with what nobody writes by hand", () => {
    expect(parseExpression("(".repeat(5000) + "1" + ")".repeat(5000))).toBeNull();
    expect(parseExpression("[".repeat(5000))).toBeNull();
    expect(parseExpression(Array.from({ length: 5000 }, () => "1").join(" + "))).toBeNull();
    const long = Array.from({ length: 1900 }, () => "1").join(" + ");
    expect(typeOf(long, names)).toEqual({ type: "number" });
  });
});
