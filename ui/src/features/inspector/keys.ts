/** The state keys of the open document as editors want them: name, type in words, what is inside. */
import { useCallback, useMemo } from "react";
import { namesOf, typeOf } from "../../components/code/expression-types";
import { keyInfoOf } from "../../components/code/key-infos";
import type { KeyInfo, Variable } from "../../components/code/jinja";
import { doc, useDocumentPart, useRecord } from "../../document/store";
import { edgeOf, isObject, type Json } from "../../document/types";
import { t } from "../../lib/texts";

/** All keys; for a node that is sent items, also the name that the item has there. */
export function useKeyInfos(node?: string): readonly KeyInfo[] {
  const read = useCallback(() => {
    const keys = doc.names("key").map((name) => keyInfoOf(name, doc.get(`key:${name}`)));
    if (node === undefined) return keys;
    const names = namesOf(keys);
    for (const edge of doc.edgesTo(node)) {
      const record = doc.get(`edge:${edge}`);
      const { form, expression } = edgeOf(record);
      if (!isObject(record) || form !== "each") continue;
      const item = typeOf(expression ?? "", names).items;
      const given = isObject(record["with"]) ? record["with"] : {};
      const sent: [Json | undefined, unknown][] = [
        [record["as"], item],
        ...Object.entries(given).map(([name, value]): [string, unknown] => [
          name,
          typeof value === "string" ? typeOf(value, names) : undefined,
        ]),
      ];
      for (const [name, schema] of sent) {
        if (typeof name !== "string" || name === "" || keys.some((key) => key.name === name)) continue;
        const { fields, items, schema: own } = keyInfoOf(name, schema);
        const known =
          own === undefined || Object.keys(own).length === 0 ? {} : { fields, items, schema: own };
        keys.push({ name, type: t("forms.keys.sent"), description: t("forms.keys.sentHelp"), ...known });
      }
    }
    return keys;
  }, [node]);
  return useDocumentPart(read);
}

const NONE: readonly Variable[] = [];

/** What expressions see beside the state: the fields of the run context, where the graph declares any. */
export function useContextVariables(): readonly Variable[] {
  const head = useRecord("doc");
  return useMemo(() => {
    const fields = isObject(head) ? head["context"] : undefined;
    if (!isObject(fields) || Object.keys(fields).length === 0) return NONE;
    const inside = Object.entries(fields).map(([name, schema]) => keyInfoOf(name, schema));
    return [{ name: "context", type: t("forms.keys.context"), fields: inside }];
  }, [head]);
}
