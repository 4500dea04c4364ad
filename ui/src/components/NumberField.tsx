/**
 * A number. Keeps what is typed as text until it is a number, so that "-", "1." and an empty field are possible on the
 * way; empty means "not there".
 */
import { ChevronDown, ChevronUp } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { cx } from "./cx";
import { useFieldAria } from "./Field";
import { innerInputClass, inputClass, inputTextClass } from "./recipes";
import { parseSpan, spanText, type SpanUnit } from "./span";

export interface NumberFieldProps {
  value: number | undefined;
  onChange(value: number | undefined): void;
  integer?: boolean;
  min?: number | undefined;
  max?: number | undefined;
  step?: number | undefined;
  /** It counts these: other units can be typed, and large counts are told in them. */
  unit?: SpanUnit | undefined;
  placeholder?: string | undefined;
  disabled?: boolean | undefined;
  readOnly?: boolean | undefined;
  className?: string;
  "aria-label"?: string;
  "data-testid"?: string;
}

/** The number a text stands for, or null when it is none. */
function parseNumber(text: string, integer: boolean): number | null {
  const trimmed = text.trim().replace(",", ".");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(trimmed)) return null;
  const number = Number(trimmed);
  if (!Number.isFinite(number)) return null;
  if (integer && !Number.isInteger(number)) return null;
  return number;
}

export function NumberField({
  value,
  onChange,
  integer = false,
  min,
  max,
  step = 1,
  unit,
  placeholder,
  disabled,
  readOnly,
  className,
  ...rest
}: NumberFieldProps) {
  const aria = useFieldAria();
  const [text, setText] = useState(value === undefined ? "" : String(value));
  const reported = useRef(value);
  useEffect(() => {
    if (value !== reported.current) {
      reported.current = value;
      setText(value === undefined ? "" : String(value));
    }
  }, [value]);

  const read = (typed: string) =>
    parseNumber(typed, integer) ?? (unit === undefined ? null : parseSpan(typed, unit));
  const say = (next: number | undefined) => {
    reported.current = next;
    onChange(next);
  };
  const nudge = (by: number) => {
    const from = parseNumber(text, false) ?? value ?? min ?? 0;
    const next = Number((from + by).toFixed(10));
    const bounded = Math.min(max ?? Infinity, Math.max(min ?? -Infinity, next));
    setText(String(bounded));
    say(bounded);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (readOnly || disabled) return;
    const factor = event.shiftKey ? 10 : 1;
    if (event.key === "ArrowUp") nudge(step * factor);
    else if (event.key === "ArrowDown") nudge(-step * factor);
    else return;
    event.preventDefault();
  };
  const bad = text.trim() !== "" && read(text) === null;
  const span = unit === undefined || value === undefined ? "" : spanText(value, unit);
  return (
    <div
      className={cx(inputClass, inputTextClass(), "pl-2 tabular-nums", className)}
      data-disabled={disabled || undefined}
      data-invalid={bad || undefined}
    >
      <input
        className={innerInputClass}
        type="text"
        spellCheck={false}
        inputMode={integer ? "numeric" : "decimal"}
        role="spinbutton"
        aria-valuenow={value}
        aria-valuemin={min}
        aria-valuemax={max}
        {...aria}
        {...rest}
        {...(bad && { "aria-invalid": true })}
        value={text}
        placeholder={placeholder}
        disabled={disabled}
        readOnly={readOnly}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          const typed = event.target.value;
          setText(typed);
          if (typed.trim() === "") say(undefined);
          else {
            const number = read(typed);
            if (number !== null) say(number);
          }
        }}
        onBlur={() => setText(value === undefined ? "" : String(value))}
      />
      {span !== "" && <span className="flex-none self-center pr-2 text-2xs text-text-3">= {span}</span>}
      {!readOnly && (
        <span
          className="flex flex-col self-stretch w-4.5 border-l border-line text-text-3 [&>button]:flex-1 [&>button]:flex [&>button]:items-center [&>button]:justify-center [&>button:hover]:bg-surface-3 [&>button:hover]:text-text"
          aria-hidden
        >
          <button type="button" tabIndex={-1} disabled={disabled} onClick={() => nudge(step)}>
            <ChevronUp size={10} />
          </button>
          <button type="button" tabIndex={-1} disabled={disabled} onClick={() => nudge(-step)}>
            <ChevronDown size={10} />
          </button>
        </span>
      )}
    </div>
  );
}
