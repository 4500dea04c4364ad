/** What an edge does, in a sentence. */
import { edgeOf, END, isObject, START, type Json } from "../../document/types";
import { listed } from "../../lib/intl";
import { t, tn } from "../../lib/texts";

export function nodeText(name: string): string {
  if (name === START) return t("forms.start");
  if (name === END) return t("forms.end");
  return name;
}

/** `a`, `a and b`, `a, b and c`. */
function listText(names: readonly string[]): string {
  if (names.length <= 1) return names[0] ?? "";
  return `${listed(names.slice(0, -1))} ${t("forms.edge.and")} ${names.at(-1)}`;
}

export function edgeSentence(record: Json | undefined): string {
  const edge = edgeOf(record);
  const from = listText(edge.sources.map(nodeText));
  const to = listText(edge.targets.map(nodeText));
  const expression = edge.expression === undefined || edge.expression === "" ? "…" : edge.expression;
  switch (edge.form) {
    case "plain":
      return edge.sources[0] === START
        ? t("forms.edge.says.start", { to })
        : t("forms.edge.says.plain", { from, to });
    case "when":
      return t("forms.edge.says.when", { from, to, expression });
    case "limit":
      return t("forms.edge.says.limit", { from, to });
    case "join":
      return tn("forms.edge.says.join.one", "forms.edge.says.join.many", edge.sources.length, { from, to });
    case "each": {
      const as = isObject(record) && typeof record["as"] === "string" ? record["as"] : "item";
      return t("forms.edge.says.each", { from, to, expression, as });
    }
    case "route": {
      const otherwise = edge.paths.find((path) => path.label === null);
      return otherwise === undefined
        ? t("forms.edge.says.routeNoDefault", { from, expression })
        : t("forms.edge.says.route", { from, expression, otherwise: nodeText(otherwise.to) });
    }
  }
}
