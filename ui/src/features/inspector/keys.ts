/** The state keys of the open document as editors want them: name, type in words, what is inside. */
import { useMemo } from "react";
import type { KeyInfo, Variable } from "../../components/code/jinja";
import { typeText } from "../../components/schema-form/types";
import { doc, useDocumentVersion } from "../../document/store";
import { edgeOf, isObject, type Json } from "../../document/types";
import { t } from "../../lib/texts";

/** A schema's type in a few words. */
export function typeWords(schema: Json | undefined): string {
  if (!isObject(schema)) return t("forms.type.any");
  if (schema["reducer"] === "add_messages") return t("forms.keys.messages");
  if (Array.isArray(schema["enum"]))
    return schema["enum"].map(String).slice(0, 3).join(" | ") + (schema["enum"].length > 3 ? " | …" : "");
  const type = schema["type"];
  if (Array.isArray(type)) return type.map((each) => typeText(String(each))).join(t("forms.check.or"));
  if (type === "array" && isObject(schema["items"]) && typeof schema["items"]["type"] === "string") {
    return t("forms.keys.listOf", { type: typeText(schema["items"]["type"]) });
  }
  return typeof type === "string" ? typeText(type) : t("forms.type.any");
}

function fieldsOf(schema: Json | undefined, depth: number): KeyInfo[] | undefined {
  if (depth > 3 || !isObject(schema) || !isObject(schema["properties"])) return undefined;
  return Object.entries(schema["properties"]).map(([name, property]) => infoOf(name, property, depth + 1));
}

function infoOf(name: string, schema: Json | undefined, depth = 0): KeyInfo {
  const description =
    isObject(schema) && typeof schema["description"] === "string" ? schema["description"] : undefined;
  return { name, type: typeWords(schema), description, fields: fieldsOf(schema, depth) };
}

/** All keys; for a node that is sent items, also the name that the item has there. */
export function useKeyInfos(node?: string): readonly KeyInfo[] {
  const version = useDocumentVersion();
  return useMemo(() => {
    void version;
    const keys = doc.names("key").map((name) => infoOf(name, doc.get(`key:${name}`)));
    if (node === undefined) return keys;
    for (const edge of doc.edgesTo(node)) {
      const record = doc.get(`edge:${edge}`);
      if (!isObject(record) || edgeOf(record).form !== "each") continue;
      const sent = [record["as"], ...(isObject(record["with"]) ? Object.keys(record["with"]) : [])];
      for (const name of sent) {
        if (typeof name === "string" && name !== "" && !keys.some((key) => key.name === name)) {
          keys.push({ name, type: t("forms.keys.sent"), description: t("forms.keys.sentHelp") });
        }
      }
    }
    return keys;
  }, [version, node]);
}

const NONE: readonly Variable[] = [];

/** What expressions see beside the state: the fields of the run context, where the graph declares any. */
export function useContextVariables(): readonly Variable[] {
  const version = useDocumentVersion();
  return useMemo(() => {
    void version;
    const fields = doc.head["context"];
    if (!isObject(fields) || Object.keys(fields).length === 0) return NONE;
    const inside = Object.entries(fields).map(([name, schema]) => infoOf(name, schema));
    return [{ name: "context", type: t("forms.keys.context"), fields: inside }];
  }, [version]);
}
