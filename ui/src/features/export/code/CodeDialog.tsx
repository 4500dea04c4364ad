/** "Use from code": programs that run the open graph, ready to be copied. */
import { useEffect, useState } from "react";
import { create } from "zustand";
import { Button } from "../../../components/Button";
import { cx } from "../../../components/cx";
import { Dialog } from "../../../components/Dialog";
import { hintClass } from "../../../components/recipes";
import { Tabs } from "../../../components/Tabs";
import { CopyButton } from "../../../debugger/parts/CopyButton";
import { Pre } from "../../../debugger/parts/Pre";
import { useRunContext } from "../../../debugger/run/run-context";
import { inputFor, samplesOf, useRunInput } from "../../../debugger/run/run-input";
import { doc, useGraphMeta } from "../../../document/store";
import type { JsonObject } from "../../../document/types";
import { structureIds } from "../../../lib/testIds";
import { t } from "../../../lib/texts";
import { registerCommands, runCommand } from "../../../state/commands";
import { useSession } from "../../../state/session";
import { codeFacts, type CodeFacts } from "./facts";
import { pythonCode } from "./python";
import { rustCode } from "./rust";
import { shellCode } from "./shell";
import { typescriptCode } from "./typescript";

/** The programs, in the order of the tabs. */
const PROGRAMS = {
  shell: shellCode,
  python: pythonCode,
  typescript: typescriptCode,
  rust: rustCode,
} satisfies Record<string, (facts: CodeFacts) => string>;

type Language = keyof typeof PROGRAMS;
const LANGUAGES = Object.keys(PROGRAMS) as Language[];

/** The language is kept while the window is open. */
const useShown = create<{ readonly open: boolean; readonly language: Language }>(() => ({
  open: false,
  language: "shell",
}));

export function CodeDialog() {
  const open = useShown((shown) => shown.open);
  const graphKey = useSession((session) => session.graphKey);
  useEffect(
    () =>
      registerCommands([
        {
          id: "graph.code",
          title: t("code.open"),
          group: t("forms.files.group"),
          enabled: () => useSession.getState().graphId !== null,
          run: () => useShown.setState({ open: true }),
        },
      ]),
    [],
  );
  if (!open || graphKey === null) return null;
  return <Code graphKey={graphKey} />;
}

function Code({ graphKey }: { graphKey: string }) {
  const language = useShown((shown) => shown.language);
  const { path, dirty } = useGraphMeta();
  // The dialog keeps the graph and its run form from being changed.
  const [facts] = useState(() => ({
    input: inputFor(useRunInput.getState().drafts, graphKey, samplesOf(doc.head)) as JsonObject,
    context: useRunContext.getState().given[graphKey] as JsonObject | undefined,
  }));
  const text = PROGRAMS[language](codeFacts(doc, path ?? undefined, facts));
  return (
    <Dialog
      open
      onClose={() => useShown.setState({ open: false })}
      title={t("code.title")}
      description={t("code.help")}
      size="large"
      data-testid={structureIds.code}
    >
      {(path === null || dirty) && (
        <p className="flex items-center gap-2 pb-2 text-xs text-warning" role="status">
          {t(path === null ? "code.draft" : "code.changed")}
          <Button size="small" onClick={() => void runCommand("graph.save")}>
            {t("code.save")}
          </Button>
        </p>
      )}
      <Tabs
        look="segmented"
        label={t("code.language")}
        value={language}
        onChange={(next) => useShown.setState({ language: next as Language })}
        tabs={LANGUAGES.map((id) => ({ id, label: t(`code.${id}`) }))}
      />
      <div className="flex items-center justify-between gap-2">
        <p className={cx(hintClass, "py-2")}>{t(`code.${language}Help`)}</p>
        <CopyButton text={text} label={t("code.copy")} />
      </div>
      <Pre height="tall" tone="plain" data-testid={structureIds.codeText}>
        {text}
      </Pre>
    </Dialog>
  );
}
