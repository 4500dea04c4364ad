/** Where a text stands, in words: the record, the field by the form's labels, and which sort of text it is. */
import { labelOf } from "../../components/schema-form/labels";
import { resolve, type Schema } from "../../components/schema-form/schema";
import { edgeOf, isObject, NOTE, sectionOf } from "../../document/types";
import { doc } from "../../document/store";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { listed } from "../../lib/intl";
import { t, type TextKey } from "../../lib/texts";

export type Where = "names" | "prompts" | "expressions" | "code" | "notes" | "settings";
export const WHERES: readonly Where[] = ["names", "prompts", "expressions", "code", "notes", "settings"];

const tokens = (pointer: string) =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

interface Field {
  readonly labels: readonly string[];
  /** The innermost editor on the way. */
  readonly editor: string | undefined;
}

/** The fields on the way to a pointer of a kind's settings; a field with several forms is looked for in each. */
function fieldAt(root: Schema, pointer: string): Field {
  const labels: string[] = [];
  let editor: string | undefined;
  let at: Schema = resolve(root, root);
  for (const token of tokens(pointer)) {
    const forms = [at, ...[...(at.anyOf ?? []), ...(at.oneOf ?? [])].map((form) => resolve(form, root))];
    const holder = forms.find((form) => form.properties?.[token] !== undefined);
    if (holder) {
      at = resolve(holder.properties?.[token], root);
      labels.push(labelOf(token, at));
    } else {
      const list = /^\d+$/.test(token) ? forms.find((form) => form.items !== undefined) : undefined;
      const map = forms.find((form) => isObject(form.additionalProperties));
      at = resolve(list?.items ?? map?.additionalProperties, root);
      labels.push(list ? String(Number(token) + 1) : token);
    }
    editor = at["x-editor"] ?? editor;
  }
  return { labels, editor };
}

const OF_EDGE: Readonly<Record<string, TextKey>> = {
  when: "find.field.condition",
  route: "find.field.route",
  each: "find.field.each",
  with: "find.field.with",
  paths: "find.field.label",
};
const OF_NODE: Readonly<Record<string, TextKey>> = {
  name: "find.field.name",
  title: "find.field.title",
  description: "find.field.description",
};

export interface Place {
  readonly record: string;
  readonly pointer: string | null;
  readonly kind?: string | undefined;
  readonly named?: boolean | undefined;
}

/** The field in words, and the sort of its text. */
export function placeOf(place: Place, kinds: readonly NodeKind[]): { label: string; where: Where } {
  const { record, pointer, kind } = place;
  const first = tokens(pointer ?? "")[0] ?? "name";
  const section = sectionOf(record)?.section;
  if (pointer === null) return { label: t("find.field.name"), where: "names" };
  if (section === "edge") {
    const key = OF_EDGE[first];
    return {
      label: key ? t(key) : labelOf(first, {}),
      where: first === "paths" ? "names" : key ? "expressions" : "settings",
    };
  }
  if (section === "node" && first === "config") {
    const schema: unknown = kinds.find((each) => each.kind === kind)?.configSchema;
    const { labels, editor } = fieldAt(isObject(schema) ? schema : {}, pointer.slice("/config".length));
    return { label: labels.join(" · "), where: kind === NOTE ? "notes" : whereOf(editor) };
  }
  const key = OF_NODE[first];
  if (key) return { label: t(key), where: first === "description" ? "settings" : "names" };
  return { label: tokens(pointer).join(" · "), where: "settings" };
}

function whereOf(editor: string | undefined): Where {
  if (editor === "code") return "code";
  if (editor === "expression" || editor === "assignments") return "expressions";
  return editor === "template" || editor === "text" ? "prompts" : "settings";
}

const readable = (name: string) =>
  name.replaceAll("__start__", t("forms.start")).replaceAll("__end__", t("forms.end"));

/** The record in words. */
export function recordLabel(record: string): string {
  const place = sectionOf(record);
  switch (place?.section) {
    case "node":
      return place.name;
    case "key":
      return t("find.record.key", { name: place.name });
    case "edge": {
      const { sources, targets } = edgeOf(doc.get(record));
      const name =
        sources.length > 0 && targets.length > 0
          ? `${listed(sources)} → ${listed(targets)}`
          : place.name.replace("->", " → ");
      return t("find.record.edge", { name: readable(name) });
    }
    default:
      return t("find.record.graph");
  }
}
