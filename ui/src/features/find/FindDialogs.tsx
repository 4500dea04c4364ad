/** The commands of finding and renaming, and the questions that they ask. */
import { useEffect } from "react";
import { goToRecord } from "../../canvas/go-to";
import { ConfirmDialog } from "../../components/Dialog";
import { useDocumentState } from "../../document/store";
import { t, tn } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { aroundNow } from "./around";
import { step } from "./navigate";
import { askRename } from "../../document/rename-question";
import { RenameDialog } from "./RenameDialog";
import { askReplace, replace, useReplaceQuestion } from "./replace";
import { foundRows, hitsIn } from "./rows";
import { openFind, useFind } from "./search";
import { keyHere, symbolHere } from "./symbol";

const hasGraph = () => useDocumentState.getState().graphId !== null;
const designing = () => hasGraph() && useSession.getState().use === "design";

/** What the cursor is on; says so when it is on nothing that has a name. */
function wanted() {
  const named = symbolHere();
  if (!named) showToast({ tone: "info", text: t("find.nothingNamed"), detail: t("find.nothingNamedHelp") });
  return named;
}

function replaceEverything(): void {
  const { found, filters } = useFind.getState();
  askReplace(hitsIn(foundRows(found?.files ?? [], filters, aroundNow())));
}

function registerFindCommands(): () => void {
  const group = t("find.group");
  const found = () => hasGraph() && useFind.getState().found !== null;
  return registerCommands([
    {
      id: "find.open",
      title: t("find.open"),
      group,
      enabled: hasGraph,
      run: () => openFind({ everywhere: false, replacing: false }),
    },
    {
      id: "find.project",
      title: t("find.project"),
      group,
      enabled: hasGraph,
      run: () => openFind({ everywhere: useDocumentState.getState().path !== null }),
    },
    {
      id: "find.replace",
      title: t("find.replaceCommand"),
      group,
      enabled: hasGraph,
      run: () => openFind({ everywhere: useDocumentState.getState().path !== null, replacing: true }),
    },
    {
      id: "find.replaceAll",
      title: t("find.replaceAll"),
      group,
      enabled: () => found() && useFind.getState().replacing,
      run: replaceEverything,
    },
    { id: "find.next", title: t("find.next"), group, enabled: hasGraph, run: () => step(1) },
    { id: "find.previous", title: t("find.previous"), group, enabled: hasGraph, run: () => step(-1) },
    {
      id: "find.definition",
      title: t("find.definition"),
      group,
      enabled: hasGraph,
      run: () => {
        const named = wanted();
        if (named) goToRecord(`${named.what}:${named.name}`, null);
      },
    },
    {
      id: "find.uses",
      title: t("find.uses"),
      group,
      enabled: hasGraph,
      run: () => {
        const named = wanted();
        if (!named) return;
        const session = useSession.getState();
        if (session.use === "approve") session.setUse("design");
        session.showTab("bottom", "find", useSession.getState().use);
        useFind.setState({ usesOf: named, at: null });
      },
    },
    {
      id: "find.rename",
      title: t("find.renameCommand"),
      group,
      enabled: () => designing() && keyHere() !== null,
      run: () => {
        const named = keyHere();
        if (named) askRename(named);
      },
    },
  ]);
}

export function FindDialogs() {
  useEffect(registerFindCommands, []);
  const question = useReplaceQuestion((state) => state.question);
  return (
    <>
      <RenameDialog />
      {question && (
        <ConfirmDialog
          open
          danger={false}
          title={tn("find.confirm.one", "find.confirm.many", question.hits.length, {
            files: question.graphs,
          })}
          text={
            <>
              <p>{t("find.confirm.files")}</p>
              <ul className="mt-2 max-h-48 overflow-y-auto font-mono text-2xs">
                {question.files.map((file) => (
                  <li key={file} className="wrap-anywhere">
                    {file}
                  </li>
                ))}
              </ul>
            </>
          }
          confirm={t("find.confirm.do")}
          onConfirm={() => void replace(question.hits)}
          onCancel={() => useReplaceQuestion.setState({ question: null })}
        />
      )}
    </>
  );
}
