/** A section at the foot of a side panel: its title folds it, and what adds to it is beside it. */
import { ChevronDown, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

interface Props {
  title: string;
  /** Number of its entries; none is shown for 0. */
  count: number;
  open: boolean;
  onOpen(open: boolean): void;
  /** The button that adds an entry. */
  action: ReactNode;
  children: ReactNode;
  "data-testid"?: string;
}

export function PanelSection({ title, count, open, onOpen, action, children, ...rest }: Props) {
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <div className="shrink-0 border-t border-line" {...rest}>
      <div className="flex h-8 items-center pr-1">
        <button
          type="button"
          className="flex h-8 min-w-0 flex-1 items-center gap-1 px-2 text-left text-xs font-semibold text-text-2 hover:text-text"
          aria-expanded={open}
          onClick={() => onOpen(!open)}
        >
          <Chevron size={14} aria-hidden />
          {title}
          {count > 0 && <span className="font-normal tabular-nums text-text-3">{count}</span>}
        </button>
        {action}
      </div>
      {open && children}
    </div>
  );
}
