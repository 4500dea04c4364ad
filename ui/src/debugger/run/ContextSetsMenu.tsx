/** Values of the run context that the graph keeps under names: chosen from a menu, which also saves, renames and deletes. */
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { Menu, type MenuEntry } from "../../components/Menu";
import { TextField } from "../../components/TextField";
import {
  contextSetsOf,
  deleteContextSet,
  keepContextSet,
  LONGEST_NAME,
  MOST_SETS,
  renameContextSet,
} from "../../document/context-sets";
import { edit } from "../../document/edit";
import { same } from "../../document/patch";
import { useRecord } from "../../document/store";
import { isObject, type JsonObject } from "../../document/types";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { chooseContextSet, giveContext, useRunContext } from "./run-context";

interface ContextSetsMenuProps {
  readonly graph: string;
  /** What the form holds. */
  readonly given: Readonly<Record<string, unknown>>;
}

export function ContextSetsMenu({ graph, given }: ContextSetsMenuProps) {
  const head = useRecord("doc");
  const last = useRunContext((store) => store.chosen[graph]);
  // The set that is being renamed, or null for a new one.
  const [naming, setNaming] = useState<{ readonly from: string | null } | null>(null);
  const sets = contextSetsOf(isObject(head) ? head : {});
  const chosen = sets.find(({ name }) => name === last);
  const values = given as JsonObject;
  const keep = (name: string) => {
    edit(t("debug.context.edit.keep", { name }), (document) => keepContextSet(document, name, values));
    chooseContextSet(graph, name);
  };
  const rename = (from: string, to: string) => {
    edit(t("debug.context.edit.rename", { name: from }), (document) => renameContextSet(document, from, to));
    chooseContextSet(graph, to);
  };
  const changed = chosen !== undefined && !same(chosen.values, values);
  const entries: MenuEntry[] = sets.map(({ name, values }): MenuEntry => ({
    id: `set ${name}`,
    label: name,
    checked: name === chosen?.name,
    run: () => {
      giveContext(graph, values);
      chooseContextSet(graph, name);
    },
  }));
  if (sets.length > 0) entries.push({ id: "own", separator: true });
  if (changed)
    entries.push({
      id: "update",
      label: t("debug.context.update", { name: chosen.name }),
      run: () => keep(chosen.name),
    });
  const full = sets.length >= MOST_SETS;
  entries.push({
    id: "save",
    label: full ? t("debug.context.tooMany", { n: MOST_SETS }) : t("debug.context.saveAs"),
    disabled: full,
    run: () => setNaming({ from: null }),
  });
  if (chosen !== undefined) {
    const { name } = chosen;
    entries.push(
      { id: "rename", label: t("debug.context.rename", { name }), run: () => setNaming({ from: name }) },
      {
        id: "delete",
        label: t("debug.context.delete", { name }),
        danger: true,
        run: () =>
          edit(t("debug.context.edit.delete", { name }), (document) => deleteContextSet(document, name)),
      },
    );
  }
  const label = chosen === undefined ? t("debug.context.sets") : chosen.name;
  return (
    <>
      <Menu
        entries={entries}
        trigger={
          <Button
            size="small"
            variant="ghost"
            title={t("debug.context.help")}
            data-testid={debugIds.contextSets}
          >
            <span className="flex items-center gap-1">
              <span className="max-w-40 truncate">
                {changed ? t("debug.context.changed", { name: label }) : label}
              </span>
              <ChevronDown size={13} aria-hidden />
            </span>
          </Button>
        }
      />
      {naming !== null && (
        <NameDialog
          from={naming.from}
          taken={sets.map(({ name }) => name)}
          onClose={() => setNaming(null)}
          onNamed={(name) => {
            setNaming(null);
            if (naming.from === null) keep(name);
            else if (name !== naming.from) rename(naming.from, name);
          }}
        />
      )}
    </>
  );
}

interface NameDialogProps {
  /** The name of a set that has one. */
  readonly from: string | null;
  readonly taken: readonly string[];
  onClose(): void;
  onNamed(name: string): void;
}

function NameDialog({ from, taken, onClose, onNamed }: NameDialogProps) {
  const [name, setName] = useState(from ?? "");
  const wanted = name.trim();
  const isTaken = wanted !== from && taken.includes(wanted);
  return (
    <FormDialog
      onClose={onClose}
      title={from === null ? t("debug.context.saveTitle") : t("debug.context.renameTitle")}
      description={from === null ? t("debug.context.saveText") : undefined}
      save={from === null ? t("debug.context.save") : t("debug.context.renameTitle")}
      isDone={wanted !== "" && !isTaken}
      onSave={() => onNamed(wanted)}
      data-testid={debugIds.contextSetNaming}
    >
      <Field
        label={t("debug.context.name")}
        error={isTaken ? t("debug.context.taken", { name: wanted }) : undefined}
      >
        <TextField
          autoFocus
          maxLength={LONGEST_NAME}
          value={name}
          onChange={setName}
          data-testid={debugIds.contextSetName}
        />
      </Field>
    </FormDialog>
  );
}
