/** The graph for other programs: a picture, a Mermaid drawing, and the file as it would be saved. */
import { useEffect, useState } from "react";
import { create } from "zustand";
import { Dialog } from "../../components/Dialog";
import { Spinner } from "../../components/Spinner";
import { Tabs } from "../../components/Tabs";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { Pre } from "../../debugger/parts/Pre";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { useAnswer } from "../../debugger/model/useAnswer";
import { flush } from "../../document/open-graph";
import { rpc } from "../../ipc/client";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { hintClass } from "../../components/recipes";
import { copyPicture, savePicture } from "./picture";
import { PictureTab } from "./PictureTab";
import { cx } from "../../components/cx";

const TEXTS = ["mermaid", "json"] as const;
const FORMS = ["picture", ...TEXTS] as const;
type Form = (typeof FORMS)[number];

const useShown = create<{ readonly open: boolean }>(() => ({ open: false }));

export function ExportDialog() {
  const open = useShown((shown) => shown.open);
  const graphId = useSession((session) => session.graphId);
  useEffect(
    () =>
      registerCommands([
        {
          id: "graph.export",
          title: t("forms.export.open"),
          group: t("forms.files.group"),
          enabled: () => useSession.getState().graphId !== null,
          run: () => useShown.setState({ open: true }),
        },
        {
          id: "graph.copyPicture",
          title: t("picture.copy"),
          group: t("forms.files.group"),
          enabled: () => useSession.getState().graphId !== null,
          run: () => void copyPicture(),
        },
        ...(["png", "svg"] as const).map((form) => ({
          id: `graph.savePicture.${form}`,
          title: t("picture.saveCommand", { form: form.toUpperCase() }),
          group: t("forms.files.group"),
          enabled: () => useSession.getState().graphId !== null,
          run: () => void savePicture(form),
        })),
      ]),
    [],
  );
  if (!open || graphId === null) return null;
  return <Export graphId={graphId} />;
}

function Export({ graphId }: { graphId: string }) {
  const [form, setForm] = useState<Form>("picture");
  return (
    <Dialog
      open
      onClose={() => useShown.setState({ open: false })}
      title={t("forms.export.title")}
      size="medium"
      data-testid={formsIds.exportDialog}
    >
      <Tabs
        look="segmented"
        label={t("forms.export.form")}
        value={form}
        onChange={(next) => setForm(next as Form)}
        tabs={FORMS.map((id) => ({ id, label: t(`forms.export.${id}`) }))}
      />
      {form === "picture" ? <PictureTab /> : <TextTab graphId={graphId} form={form} />}
    </Dialog>
  );
}

function TextTab({ graphId, form }: { graphId: string; form: (typeof TEXTS)[number] }) {
  // One reading for each opening: the dialog keeps the graph from being changed.
  const [opened] = useState(() => Date.now());
  const exported = useAnswer(`${graphId}/${opened}`, async (signal) => {
    await flush();
    return rpc("graph.export", { graphId }, signal);
  });
  const text = exported.value?.[form].trimEnd() ?? "";
  return (
    <>
      <div className="flex items-center justify-between gap-2">
        <p className={cx(hintClass, "py-2")}>{t(`forms.export.${form}Help`)}</p>
        {exported.value && <CopyButton text={text} label={t("forms.export.copy")} />}
      </div>
      {exported.loading && <Spinner label={t("debug.loading")} />}
      {exported.problem && <ProblemNote problem={exported.problem} onRetry={exported.again} />}
      {exported.value && (
        <Pre height="tall" tone="plain" data-testid={formsIds.exportText}>
          {text}
        </Pre>
      )}
    </>
  );
}
