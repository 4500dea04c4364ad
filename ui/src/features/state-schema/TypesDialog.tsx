/** The types of the state, to be copied into the editor in which a program for the graph is written. */
import { useEffect, useState } from "react";
import { create } from "zustand";
import { Dialog } from "../../components/Dialog";
import { Spinner } from "../../components/Spinner";
import { Tabs } from "../../components/Tabs";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { Pre } from "../../debugger/parts/Pre";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { flush } from "../../document/open-graph";
import type { ProgramLanguage } from "../../ipc/bindings/ProgramLanguage";
import { rpc } from "../../ipc/client";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { useAnswer } from "../../debugger/model/useAnswer";
import { hintClass } from "../../components/recipes";
import { cx } from "../../components/cx";

const LANGUAGES: readonly ProgramLanguage[] = ["python", "javascript"];

const useAsked = create<{ readonly language: ProgramLanguage | null }>(() => ({ language: null }));

/** Shows the types for a language; Python unless another one is chosen. */
export const showTypes = (language: ProgramLanguage = "python"): void => useAsked.setState({ language });

export function TypesDialog() {
  const language = useAsked((asked) => asked.language);
  const graphId = useSession((session) => session.graphId);
  useEffect(
    () =>
      registerCommands([
        {
          id: "graph.types",
          title: t("forms.types.open"),
          group: t("forms.types.group"),
          enabled: () => useSession.getState().graphId !== null,
          run: () => showTypes(),
        },
      ]),
    [],
  );
  if (language === null || graphId === null) return null;
  return <Types graphId={graphId} language={language} />;
}

function Types({ graphId, language }: { graphId: string; language: ProgramLanguage }) {
  // One reading for each opening: the dialog keeps the graph from being changed.
  const [opened] = useState(() => Date.now());
  const types = useAnswer(`${graphId}/${language}/${opened}`, async (signal) => {
    await flush();
    return rpc("graph.types", { graphId, language }, signal);
  });
  const text = types.value?.text.trimEnd() ?? "";
  return (
    <Dialog
      open
      onClose={() => useAsked.setState({ language: null })}
      title={t("forms.types.title")}
      size="medium"
      data-testid={formsIds.stateTypes}
    >
      <Tabs
        look="segmented"
        label={t("forms.types.language")}
        value={language}
        onChange={(next) => showTypes(next as ProgramLanguage)}
        tabs={LANGUAGES.map((id) => ({ id, label: t(`forms.types.${id}`) }))}
        aside={types.value && <CopyButton text={text} label={t("forms.types.copy")} />}
      />
      <p className={cx(hintClass, "py-2")}>{t("forms.types.help")}</p>
      {types.loading && <Spinner label={t("debug.loading")} />}
      {types.problem && <ProblemNote problem={types.problem} onRetry={types.again} />}
      {types.value && (
        <Pre height="tall" tone="plain" data-testid={formsIds.stateTypesText}>
          {text}
        </Pre>
      )}
    </Dialog>
  );
}
