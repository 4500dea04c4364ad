/** The edits of the open graph by name: choosing one goes back to it, or forward. */
import { ChevronDown, Dot, Redo2 } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "../components/IconButton";
import { Menu, type MenuEntry } from "../components/Menu";
import { editHistory, travel } from "../document/undo";
import { useHistory } from "../document/store";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { registerCommands } from "../state/commands";

/** More steps than this are reached by going back twice. */
const SHOWN = 30;

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

export function EditHistory() {
  const { undoName, redoName } = useHistory();
  const [open, setOpen] = useState(false);
  const any = undoName !== null || redoName !== null;
  useEffect(
    () =>
      registerCommands([
        {
          id: "edit.history",
          title: t("shell.history"),
          group: t("shell.group.edit"),
          enabled: () => any,
          run: () => setOpen(true),
        },
      ]),
    [any],
  );
  return (
    <Menu
      open={open}
      onOpenChange={setOpen}
      entries={historyEntries}
      trigger={
        <IconButton
          size="small"
          label={t("shell.history")}
          disabled={!any}
          data-testid={shellIds.editHistory}
        >
          <ChevronDown size={13} aria-hidden />
        </IconButton>
      }
    />
  );
}

/** The latest on top: what was undone, then what is done, the newest of it marked as where the graph is. */
export function historyEntries(): MenuEntry[] {
  const { undo, redo } = editHistory();
  const undone = redo.slice(0, SHOWN).map((name, at) => ({
    id: `redo ${at}`,
    label: capital(name),
    icon: <Redo2 size={13} aria-hidden />,
    run: () => travel(-(at + 1)),
  }));
  const done = undo.slice(0, SHOWN).map((name, at) => ({
    id: `undo ${at}`,
    label: capital(name),
    icon: <Dot size={14} aria-hidden />,
    ...(at === 0 && { checked: true }),
    run: () => travel(at),
  }));
  const rest = undo.length - done.length;
  return [
    ...(undone.length > 0
      ? [{ id: "undone", heading: t("shell.history.undone") }, ...undone.toReversed()]
      : []),
    { id: "done", heading: t("shell.history.done") },
    ...done,
    {
      id: "beginning",
      label: rest > 0 ? t("shell.history.more", { n: rest }) : t("shell.history.beginning"),
      ...(undo.length === 0 && { checked: true }),
      run: () => travel(rest > 0 ? done.length : undo.length),
    },
  ];
}
