/** A text of the canvas, edited in place. */
import { useEffect, useRef, type CSSProperties } from "react";
import { cx } from "../components/cx";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { setCanvas } from "./store";

interface Props {
  readonly value: string;
  readonly className: string;
  readonly style?: CSSProperties;
  readonly onDone: (next: string) => void;
}

/** A length that is as large on the screen at every zoom below life. */
export const onScreen = (pixels: number): string => `calc(${pixels}px * max(1, var(--unzoom, 1)))`;

export function LabelEditor({ value, className, style, onDone }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  const finish = (next: string | null) => {
    if (done.current) return;
    done.current = true;
    setCanvas({ labelEdit: null });
    if (next !== null && next.trim() !== value) onDone(next.trim());
  };
  return (
    <input
      ref={input}
      className={cx(
        "px-1.5 rounded-sm border border-accent bg-surface-2 text-text font-mono leading-none outline-2 outline-accent/30 nodrag nopan",
        className,
      )}
      style={{ fontSize: onScreen(11), ...style }}
      defaultValue={value}
      spellCheck={false}
      aria-label={t("canvas.label.edit")}
      onBlur={(event) => finish(event.currentTarget.value)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") finish(event.currentTarget.value);
        if (event.key === "Escape") finish(null);
      }}
      onDoubleClick={(event) => event.stopPropagation()}
      data-testid={shellIds.edgeLabelInput}
    />
  );
}
