/** Variants of a node's settings: kept under names, switched by a menu. */
import { ChevronDown, Layers } from "lucide-react";
import { memo, useCallback, useEffect, useState } from "react";
import { create } from "zustand";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { Menu, type MenuEntry } from "../../components/Menu";
import { TextField } from "../../components/TextField";
import { doc, useDocumentPart, useRecord } from "../../document/store";
import { edit } from "../../document/edit";
import { nodeOf, NOTE } from "../../document/types";
import { deleteVariant, keepVariant, renameVariant, takeVariant, variantsOf } from "../../document/variants";
import { structureIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";

/** What is being named: a new variant of a node, or one that has a name. */
interface Naming {
  readonly node: string;
  readonly from: string | null;
}

const useNaming = create<{ readonly naming: Naming | null }>(() => ({ naming: null }));
const ask = (node: string, from: string | null) => useNaming.setState({ naming: { node, from } });
const done = () => useNaming.setState({ naming: null });

const take = (node: string, name: string) =>
  edit(t("variants.edit.take", { name, node }), (document) => takeVariant(document, node, name));

const keep = (node: string, name: string) =>
  edit(t("variants.edit.keep", { name, node }), (document) => keepVariant(document, node, name));

/** The node that is selected alone and has settings. */
function selectedNode(): string | null {
  const [node, ...others] = useSession.getState().selection.nodes;
  if (node === undefined || others.length > 0) return null;
  const record = doc.get(`node:${node}`);
  return record === undefined || nodeOf(record).kind === NOTE ? null : node;
}

export const VariantsMenu = memo(function VariantsMenu({ node }: { node: string }) {
  const read = useCallback(() => variantsOf(doc.get(`node:${node}`)), [node]);
  const { names, taken, changed } = useDocumentPart(read);
  const label =
    taken === null ? t("variants.title") : changed ? t("variants.changed", { name: taken }) : taken;
  const entries: MenuEntry[] = [
    ...names.map((name): MenuEntry => ({
      id: `take ${name}`,
      label: name,
      checked: name === taken,
      run: () => take(node, name),
    })),
    ...(names.length > 0 ? [{ id: "own", separator: true } as const] : []),
    ...(taken !== null && changed
      ? [{ id: "keep", label: t("variants.update", { name: taken }), run: () => keep(node, taken) }]
      : []),
    { id: "new", label: t("variants.new"), run: () => ask(node, null) },
    ...(taken !== null
      ? [
          { id: "rename", label: t("variants.rename", { name: taken }), run: () => ask(node, taken) },
          {
            id: "delete",
            label: t("variants.delete", { name: taken }),
            danger: true,
            run: () =>
              edit(t("variants.edit.delete", { name: taken, node }), (document) =>
                deleteVariant(document, node, taken),
              ),
          },
        ]
      : []),
  ];
  return (
    <div className="-mb-1 flex justify-end">
      <Menu
        align="end"
        entries={entries}
        trigger={
          <Button
            size="small"
            variant="ghost"
            icon={<Layers size={13} aria-hidden />}
            title={t("variants.help")}
            data-testid={structureIds.variants}
          >
            <span className="flex items-center gap-1">
              <span className="max-w-50 truncate">{label}</span>
              <ChevronDown size={13} aria-hidden />
            </span>
          </Button>
        }
      />
    </div>
  );
});

/** Commands of variants, and the question for a name. */
export function VariantDialogs() {
  const naming = useNaming((state) => state.naming);
  useEffect(
    () =>
      registerCommands([
        {
          id: "variant.new",
          title: t("variants.new"),
          group: t("structure.group"),
          enabled: () => selectedNode() !== null,
          run: () => {
            const node = selectedNode();
            if (node !== null) ask(node, null);
          },
        },
        {
          id: "variant.next",
          title: t("variants.next"),
          group: t("structure.group"),
          enabled: () => variantsOf(doc.get(`node:${selectedNode()}`)).names.length > 0,
          run: () => {
            const node = selectedNode();
            if (node === null) return;
            const { names, taken } = variantsOf(doc.get(`node:${node}`));
            const next = names[(names.indexOf(taken ?? "") + 1) % names.length];
            if (next !== undefined) take(node, next);
          },
        },
      ]),
    [],
  );
  return naming === null ? null : <NameDialog key={`${naming.node} ${naming.from}`} {...naming} />;
}

function NameDialog({ node, from }: Naming) {
  const [name, setName] = useState(from ?? "");
  const { names } = variantsOf(useRecord(`node:${node}`));
  const wanted = name.trim();
  const isTaken = wanted !== from && names.includes(wanted);
  const confirm = () => {
    if (wanted === "" || isTaken) return;
    if (from === null) keep(node, wanted);
    else if (wanted !== from)
      edit(t("variants.edit.rename", { name: from, node }), (document) =>
        renameVariant(document, node, from, wanted),
      );
    done();
  };
  return (
    <Dialog
      open
      onClose={done}
      title={from === null ? t("variants.newTitle") : t("variants.renameTitle")}
      description={from === null ? t("variants.newText", { node }) : undefined}
      size="small"
      data-testid={structureIds.variantNaming}
      actions={
        <>
          <Button onClick={done}>{t("forms.cancel")}</Button>
          <Button variant="primary" disabled={wanted === "" || isTaken} onClick={confirm}>
            {from === null ? t("variants.save") : t("variants.renameTitle")}
          </Button>
        </>
      }
    >
      <Field label={t("variants.name")} error={isTaken ? t("variants.taken", { name: wanted }) : undefined}>
        <TextField
          value={name}
          onChange={setName}
          onCommit={confirm}
          data-testid={structureIds.variantName}
        />
      </Field>
    </Dialog>
  );
}
