/** Asks what selected nodes are called as a block, and whether one of that name is updated. */
import { Info, TriangleAlert } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { create } from "zustand";
import { knownKinds } from "../../canvas/kinds";
import { MiniGraph } from "../../canvas/MiniGraph";
import { isFrame, withHeld } from "../../canvas/notes";
import { scene } from "../../canvas/scene";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { TextArea, TextField } from "../../components/TextField";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { blockOf, planBlock, type BlockPlan, type BlockText } from "../../document/block";
import { blockPath, listBlocks, saveBlock, useBlocks } from "../../document/block-files";
import { openGraph } from "../../document/open-graph";
import { doc } from "../../document/store";
import { usageOf } from "../../document/usage";
import type { Record } from "../../ipc/bindings/Record";
import { rpc } from "../../ipc/client";
import { listed } from "../../lib/intl";
import { structureIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { registerCommand } from "../../state/commands";
import { useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";
import { folderOrSay, selectedNodes } from "./actions";

interface Asked {
  readonly folder: string;
  readonly plan: BlockPlan;
  /** The proposal: what a single frame is called. */
  readonly name: string;
}

const useAsked = create<{ readonly asked: Asked | null }>(() => ({ asked: null }));
const close = () => useAsked.setState({ asked: null });

/** What lies in a selected frame belongs to it. */
function askBlock(): void {
  const folder = folderOrSay(t("blocks.save.draftHelp"));
  if (folder === null) return;
  const selected = selectedNodes();
  const frames = selected.filter((name) => isFrame(doc, name));
  const plan = planBlock(doc, withHeld(scene, selected), usageOf(doc, knownKinds()));
  useAsked.setState({ asked: { folder, plan, name: frames.length === 1 ? (frames[0] ?? "") : "" } });
  void listBlocks(folder);
}

export function BlockDialog() {
  const asked = useAsked((state) => state.asked);
  useEffect(
    () =>
      registerCommand({
        id: "graph.saveBlock",
        title: t("blocks.save"),
        group: t("structure.group"),
        enabled: () => useSession.getState().use === "design" && selectedNodes().length > 0,
        run: askBlock,
      }),
    [],
  );
  return asked && <SaveBlock asked={asked} />;
}

const NO_TEXT: BlockText = { name: "", description: "" };
const recordsOf = (plan: BlockPlan, text: BlockText) =>
  blockOf(doc, plan, text, (name) => scene.position(name));

const noteClass = "mt-3 flex gap-2 text-xs text-text-2 [&>svg]:mt-0.5 [&>svg]:shrink-0";

function SaveBlock({ asked: { folder, plan, name: proposed } }: { asked: Asked }) {
  const [name, setName] = useState(proposed);
  const [written, setDescription] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const blocks = useBlocks((state) => state.blocks);
  const path = blockPath(folder, name);
  const there = blocks.find((block) => block.path === path);
  const description = written ?? there?.description ?? "";
  const unnamed = !/[\p{L}\p{N}]/u.test(name);
  const text = { name: name.trim(), description: description.trim() };
  const picture = useMemo(() => recordsOf(plan, NO_TEXT), [plan]);
  const confirm = () => {
    setBusy(true);
    setProblem(null);
    saveBlock(folder, text, recordsOf(plan, text), there !== undefined).then(
      () => {
        close();
        showToast({
          tone: "done",
          text: t(there ? "blocks.save.updated" : "blocks.save.done", { name: text.name }),
          detail: t("blocks.save.where"),
          action: {
            label: t("structure.extract.open"),
            run: () => void rpc("graph.open", { path }).then(openGraph, showProblem),
          },
        });
      },
      (thrown: unknown) => {
        setProblem(asProblem(thrown));
        setBusy(false);
        void listBlocks(folder);
      },
    );
  };
  return (
    <FormDialog
      onClose={close}
      title={t("blocks.save.title")}
      description={tn("blocks.save.one", "blocks.save.many", plan.nodes.length)}
      save={t(there ? "blocks.save.update" : "blocks.save.confirm")}
      isDone={!unnamed}
      busy={busy}
      onSave={confirm}
      saveTestId={structureIds.blockConfirm}
      data-testid={structureIds.block}
    >
      <div className="flex flex-col gap-3">
        <div className="h-28 rounded-md border border-line bg-canvas p-2">
          <MiniGraph records={picture as Record[]} />
        </div>
        <Field
          label={t("blocks.save.name")}
          error={unnamed && name !== "" ? t("blocks.save.nameProblem") : undefined}
        >
          <TextField value={name} onChange={setName} data-testid={structureIds.blockName} />
        </Field>
        <Field label={t("blocks.save.description")} description={t("blocks.save.descriptionHelp")}>
          <TextArea
            value={description}
            onChange={setDescription}
            maxRows={4}
            data-testid={structureIds.blockDescription}
          />
        </Field>
      </div>
      {plan.keys.length > 0 && (
        <p className="mt-3 text-xs text-text-3 wrap-anywhere">
          {t("palette.keys", { names: listed(plan.keys) })}
        </p>
      )}
      {plan.outside.length > 0 && (
        <p className={noteClass} data-testid={structureIds.blockOutside}>
          <Info size={14} aria-hidden />
          {t("blocks.save.outside", { names: listed(plan.outside.map((node) => `“${node}”`)) })}
        </p>
      )}
      {there && (
        <p className={noteClass} data-testid={structureIds.blockExists}>
          <TriangleAlert size={14} className="text-asking" aria-hidden />
          {t("blocks.save.exists", { name: there.name })}
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
    </FormDialog>
  );
}
