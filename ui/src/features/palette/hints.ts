/** What people look for among the nodes that is no node here: where it is instead, and the way there. */
import { nodeOf, NOTE } from "../../document/types";
import { doc } from "../../document/store";
import { t } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import type { Findable } from "./ranking";

const HINTS = ["retry", "cache", "timeout", "guardrail", "start"] as const;
type Hint = (typeof HINTS)[number];

export interface HintEntry extends Findable {
  readonly id: string;
  readonly group: string;
  readonly icon: string;
  run(): void;
}

/** Goes to a setting that every node has: of the selected one, or else says which to select. */
function showSetting(hint: Hint, pointer: string): void {
  const { selection, focusField, showTab } = useSession.getState();
  const [name, ...others] = selection.nodes;
  const record = name === undefined || others.length > 0 ? undefined : doc.get(`node:${name}`);
  if (name === undefined || record === undefined || nodeOf(record).kind === NOTE) {
    showToast({ tone: "info", text: t(`forms.hint.${hint}`), detail: t(`forms.hint.${hint}.text`) });
    return;
  }
  showTab("right", "inspector", "design");
  focusField(`node:${name}`, pointer);
}

const GO: Readonly<Record<Hint, () => void>> = {
  retry: () => showSetting("retry", "/retry"),
  cache: () => showSetting("cache", "/cache"),
  timeout: () => showSetting("timeout", "/timeout"),
  guardrail: () => runCommand("invariants.add"),
  start: () => runCommand("graph.code"),
};

/** The hints, found by the words that people have for them. */
export function hintEntries(): HintEntry[] {
  return HINTS.map((hint) => ({
    id: `hint:${hint}`,
    group: t("forms.hint.group"),
    title: t(`forms.hint.${hint}`),
    text: t(`forms.hint.${hint}.text`),
    words: t(`forms.hint.${hint}.words`).split(","),
    icon: "wrench",
    // Before a kind that is called so as well: what it does is something else.
    used: 5,
    run: GO[hint],
  }));
}
