/** Fields of a form that are folded away: one line with how many of them are set. */
import { ChevronRight, Plus } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import { t } from "../../lib/texts";
import { formsIds } from "../../lib/testIds";
import { IconButton } from "../IconButton";
import { INPUTS } from "./form";

interface Props {
  title: string;
  /** Fields that have a value of their own. */
  set: number;
  /** Something is wrong with a field inside. */
  invalid: boolean;
  /** A field inside was asked for. */
  asked: boolean;
  /** What is said of the fields inside while they are folded away. */
  closed?: ReactNode;
  /** Adds the first item of the list that the drawer is named after. */
  onAdd?: (() => void) | undefined;
  children(): ReactNode;
}

export function Drawer({ title, set, invalid, asked, closed, onAdd, children }: Props) {
  const [open, setOpen] = useState(asked);
  const [wasAsked, setWasAsked] = useState(asked);
  // It opens once when it is asked for, in the same drawing, and may be closed again.
  if (asked !== wasAsked) {
    setWasAsked(asked);
    if (asked) setOpen(true);
  }
  const inside = useId();
  const add = () => {
    onAdd?.();
    setOpen(true);
    requestAnimationFrame(() =>
      document.getElementById(inside)?.querySelector<HTMLElement>(`[data-item] ${INPUTS}`)?.focus(),
    );
  };
  return (
    <section className="min-w-0 border-t border-line" data-testid={formsIds.drawer(title)}>
      <div className="flex items-center gap-1">
        <button
          type="button"
          className="group flex flex-1 min-w-0 items-center gap-1.5 min-h-8 text-left text-xs font-medium text-text-2 rounded-sm hover:text-text focus-visible:-outline-offset-1"
          aria-expanded={open}
          aria-controls={open ? inside : undefined}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight
            size={13}
            className="shrink-0 text-text-3 group-aria-expanded:rotate-90"
            aria-hidden
          />
          <span className="flex-1 min-w-0 truncate">{title}</span>
          {invalid && !open && (
            <span
              className="size-1.5 rounded-full bg-failed"
              role="img"
              aria-label={t("forms.drawer.problem")}
              title={t("forms.drawer.problem")}
            />
          )}
          {set > 0 && (
            <span className="px-1.5 rounded-full bg-surface-3 text-2xs/4 text-text-2 tabular-nums">
              {t("forms.drawer.set", { n: set })}
            </span>
          )}
        </button>
        {onAdd !== undefined && !open && (
          <IconButton
            size="small"
            label={t("forms.drawer.add", { title })}
            onClick={add}
            data-testid={formsIds.drawerAdd(title)}
          >
            <Plus size={13} aria-hidden />
          </IconButton>
        )}
      </div>
      {!open && closed !== undefined && <div className="pb-1.5 pl-4.75 empty:hidden">{closed}</div>}
      {open && (
        <div id={inside} className="flex flex-col gap-3 min-w-0 pt-1 pb-3 pl-4.75">
          {children()}
        </div>
      )}
    </section>
  );
}
