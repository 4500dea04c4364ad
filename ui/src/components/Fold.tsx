/** One line that opens what is below it. What is inside is made when it is open. */
import { ChevronDown, ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { cx } from "./cx";

interface Props {
  /** The line. */
  head: ReactNode;
  children(): ReactNode;
  /** Open from the beginning. */
  begin?: boolean;
  /** A line of small text. */
  small?: boolean;
  className?: string;
  "data-testid"?: string;
}

export function Fold({ head, children, begin = false, small = false, className, ...rest }: Props) {
  const [open, setOpen] = useState(begin);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <>
      <button
        type="button"
        className={cx(
          "flex w-full items-center gap-1.5 px-2 text-left hover:bg-surface-3",
          small ? "min-h-6 text-2xs text-text-2" : "min-h-7",
          className,
        )}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        {...rest}
      >
        <Chevron size={small ? 12 : 14} className="shrink-0 text-text-3" aria-hidden />
        {head}
      </button>
      {open && children()}
    </>
  );
}
