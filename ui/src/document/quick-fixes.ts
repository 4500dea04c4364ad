/** What can be done at once about a problem, by the code of a diagnostic or the class of a failure. */
import { disabledOf, toggleDisabled } from "./disabled";
import { setField } from "./edits";
import { likelyKind } from "./likely-kind";
import { doc } from "./store";
import { edit } from "./edit";
import { nodeOf, sectionOf } from "./types";
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

/** Changes of the record that a problem belongs to. */
const EDITS: Readonly<Record<string, (name: string) => QuickFix | undefined>> = {
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
        // Its settings stay: those that the kind does not know are told, and nothing is lost.
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

/** What may be done about a problem of `record`; nothing for most problems. */
export function quickFixOf(code: string, record?: string): QuickFix | undefined {
  const name = record === undefined ? undefined : sectionOf(record)?.name;
  if (name !== undefined && EDITS[code]) return EDITS[code](name);
  const tab = TABS[code];
  return (
    tab && {
      label: t(`settings.mend.${tab}`),
      run: () => showSettings(tab),
    }
  );
}
