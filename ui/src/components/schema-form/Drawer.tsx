/** Fields of a form that are folded away: one line with how many of them are set. */
import { ChevronRight } from "lucide-react";
import { useEffect, useId, useState, type ReactNode } from "react";
import { t } from "../../lib/texts";
import { formsIds } from "../../lib/testIds";

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
  children(): ReactNode;
}

export function Drawer({ title, set, invalid, asked, closed, children }: Props) {
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    if (asked) setOpened(true);
  }, [asked]);
  const open = opened || asked;
  const inside = useId();
  return (
    <section className="min-w-0 border-t border-line" data-testid={formsIds.drawer(title)}>
      <button
        type="button"
        className="group flex w-full items-center gap-1.5 min-h-8 text-left text-xs font-medium text-text-2 rounded-sm hover:text-text focus-visible:-outline-offset-1"
        aria-expanded={open}
        aria-controls={open ? inside : undefined}
        onClick={() => setOpened(!open)}
      >
        <ChevronRight size={13} className="shrink-0 text-text-3 group-aria-expanded:rotate-90" aria-hidden />
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
      {!open && closed !== undefined && <div className="pb-1.5 pl-4.75 empty:hidden">{closed}</div>}
      {open && (
        <div id={inside} className="flex flex-col gap-3 min-w-0 pt-1 pb-3 pl-4.75">
          {children()}
        </div>
      )}
    </section>
  );
}
