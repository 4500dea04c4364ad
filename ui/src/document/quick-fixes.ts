/** What can be done at once about a problem, by the code of a diagnostic or the class of a failure. */
import { disabledOf, toggleDisabled } from "./disabled";
import { setField } from "./edits";
import { likelyKind } from "./likely-kind";
import { doc } from "./store";
import { edit } from "./edit";
import { isObject, nodeOf, sectionOf, type JsonObject } from "./types";
import { addKey } from "./key-edits";
import type { GraphDocument } from "./document";
import { pointerGet } from "./pointer";
import type { Diagnostic } from "../ipc/bindings/Diagnostic";
import type { Schema } from "../components/schema-form/schema";
import { typeWords } from "../components/schema-form/types";
import { routeByWays, routeKey } from "./routes";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import { showSettings, type SettingsTab } from "../state/settings";

export interface QuickFix {
  readonly label: string;
  run(): void;
}

const TABS: Readonly<Record<string, SettingsTab & ("connections" | "secrets" | "general")>> = {
  "unknown-model": "connections",
  ModelSetupError: "connections",
  ModelAuthError: "connections",
  ModelConnectionError: "connections",
  "python-missing": "general",
  "missing-variable": "secrets",
  SecretMissingError: "secrets",
};

/** What is known of a problem besides its code: where it stands, and the words of its text. */
export type Told = Pick<Diagnostic, "record" | "pointer" | "texts">;

const NAME = /^[A-Za-z_]\w*$/;

/** The name that a problem is about, from a place of its text. */
function nameIn({ texts }: Told, pattern: string, place: string): string | undefined {
  const { message } = texts ?? {};
  const name = message?.pattern.startsWith(pattern) ? message.args[place] : undefined;
  return typeof name === "string" && NAME.test(name) ? name : undefined;
}

/** What a key is of that a list is taken from; of any other nothing is known, and most are texts. */
const takesList = (pointer: string): boolean => /\/(items|each)$/.test(pointer);

/** What the kind of a node says of the setting that a problem is at; nothing for settings within others. */
function fieldOf({ record, pointer }: Told): Schema | undefined {
  const { kind } = nodeOf(doc.get(record));
  const kinds = useSession.getState().appInfo?.kinds ?? [];
  const schema = kinds.find((each) => each.kind === kind)?.configSchema as Schema | undefined;
  const [, name] = /^\/config\/(\w+)$/.exec(pointer ?? "") ?? [];
  const field = name === undefined ? undefined : schema?.properties?.[name];
  return typeof field === "object" ? field : undefined;
}

/** Does the field itself offer to make the key that it names? */
export const makesItsKey = (told: Told): boolean => fieldOf(told)?.["x-editor"] === "state-key";

/** The settings of a node on the way to a place of them. */
const TOOL = /^\/config\/tools\/\d+(?=\/)/;

/** Changes of the record that a problem belongs to. */
const EDITS: Readonly<Record<string, (name: string, told: Told) => QuickFix | undefined>> = {
  "unknown-key": (_name, told) => {
    const key = nameIn(told, "There is no state key `{key}`", "key");
    if (key === undefined || doc.has(`key:${key}`)) return undefined;
    const schema = fieldOf(told)?.["x-key"] ?? { type: takesList(told.pointer ?? "") ? "array" : "string" };
    return {
      label: t("forms.editor.makeKey", { name: key, type: typeWords(schema) }),
      run: () =>
        void edit(t("forms.edit.addKey", { name: key }), (document) => addKey(document, key, schema)),
    };
  },
  "unknown-argument": (_name, told) => {
    const name = nameIn(told, "The request uses the argument `{name}`", "name");
    const tool = TOOL.exec(told.pointer ?? "")?.[0];
    if (name === undefined || tool === undefined) return undefined;
    return {
      label: t("forms.mend.parameter", { name }),
      run: () =>
        void edit(t("forms.edit.parameter", { name }), (document) =>
          setField(
            document,
            told.record,
            `${tool}/parameters`,
            withParameter(document, told.record, tool, name),
          ),
        ),
    };
  },
  "node-disabled": (name) =>
    disabledOf(doc.get(`node:${name}`)) === null
      ? undefined
      : {
          label: t("disabled.enable"),
          run: () => void edit(t("disabled.edit.on"), (document) => toggleDisabled(document, [name])),
        },
  "unknown-kind": (name) => {
    const meant = likelyKind(
      useSession.getState().appInfo?.kinds ?? [],
      nodeOf(doc.get(`node:${name}`)).kind,
    );
    return (
      meant && {
        label: t("forms.mend.kind", { kind: meant.title }),
        // Its settings stay: those that the kind does not know are named, and nothing is lost.
        run: () =>
          void edit(t("forms.edit.kind", { name }), (document) =>
            setField(document, `node:${name}`, "/kind", meant.kind),
          ),
      }
    );
  },
  "router-every-way": (name) => ({
    label: t("forms.mend.routeByWays", { key: routeKey(doc, name) }),
    run: () => void edit(t("forms.edit.routeByWays"), (document) => routeByWays(document, name)),
  }),
};

/** The parameters of a tool with one more, a text. */
function withParameter(document: GraphDocument, record: string, tool: string, name: string): JsonObject {
  const found = pointerGet(document.get(record) ?? {}, `${tool}/parameters`);
  const before: JsonObject = isObject(found) ? found : { type: "object" };
  const properties = isObject(before["properties"]) ? before["properties"] : {};
  return { ...before, properties: { ...properties, [name]: { type: "string" } } };
}

/** What may be done about a problem; nothing for most problems. */
export function quickFixOf(code: string, told?: Told): QuickFix | undefined {
  const name = told === undefined ? undefined : sectionOf(told.record)?.name;
  if (told !== undefined && name !== undefined && EDITS[code]) return EDITS[code](name, told);
  const tab = TABS[code];
  return (
    tab && {
      label: t(`settings.mend.${tab}`),
      run: () => showSettings(tab),
    }
  );
}
