/** Text as it stands, wrapped, in a place of its own that scrolls: JSON, errors, what a program printed. */
import type { ReactNode } from "react";
import { cx } from "../../components/cx";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { preview } from "./format";

const HEIGHTS = { short: "max-h-40", normal: "max-h-60", tall: "max-h-96", whole: "" } as const;
const TONES = {
  bare: "",
  plain: "rounded-sm bg-surface-2 px-2 py-1",
  asking: "rounded-sm bg-asking-soft px-2 py-1",
  added: "rounded-sm bg-diff-add px-2 py-1",
  removed: "rounded-sm bg-diff-remove px-2 py-1",
} as const;

export function Pre({
  height = "normal",
  tone = "bare",
  prose = false,
  className,
  children,
  ...rest
}: {
  height?: keyof typeof HEIGHTS;
  tone?: keyof typeof TONES;
  /** Written for people rather than as code. */
  prose?: boolean;
  className?: string;
  children: ReactNode;
  "data-testid"?: string;
}) {
  return (
    <pre
      {...rest}
      className={cx(
        "select-text min-w-0 overflow-y-auto text-xs whitespace-pre-wrap [overflow-wrap:anywhere]",
        prose ? "font-sans" : "font-mono",
        HEIGHTS[height],
        TONES[tone],
        className,
      )}
    >
      {children}
    </pre>
  );
}

export const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** A value as the program gives it: whole, or its beginning when it is large. */
export function viewText(view: ValueView | undefined): string {
  if (view?.value !== undefined) return json(view.value);
  return `${view?.head ?? preview(view?.kind ?? "null")}…`;
}
