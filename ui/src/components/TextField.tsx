/** One line of text, or several that grow with what is written. Commits on every change; Enter and blur are reported. */
import { useLayoutEffect, useRef, type ComponentProps, type ReactNode, type Ref } from "react";
import { cx } from "./cx";
import { useFieldAria } from "./Field";
import { innerInputClass, inputClass, inputTextClass } from "./recipes";

export interface TextFieldProps extends Omit<
  ComponentProps<"input">,
  "value" | "onChange" | "size" | "prefix" | "ref"
> {
  value: string;
  onChange(value: string): void;
  /** Called on Enter. */
  onCommit?: (value: string) => void;
  mono?: boolean;
  /** Before the text, for example a search icon. */
  prefix?: ReactNode;
  /** After the text, for example a clear button. */
  suffix?: ReactNode;
  ref?: Ref<HTMLInputElement>;
}

export function TextField({
  value,
  onChange,
  onCommit,
  mono = false,
  prefix,
  suffix,
  className,
  onKeyDown,
  ...rest
}: TextFieldProps) {
  const aria = useFieldAria();
  return (
    <div
      className={cx(inputClass, inputTextClass(mono), "px-2", className)}
      data-disabled={rest.disabled || undefined}
    >
      {prefix !== undefined && <span className="flex items-center text-text-3 shrink-0">{prefix}</span>}
      <input
        className={innerInputClass}
        type="text"
        {...EXACT}
        autoComplete="off"
        {...aria}
        {...rest}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          onKeyDown?.(event);
          if (event.key === "Enter" && onCommit && !event.defaultPrevented) {
            event.preventDefault();
            onCommit(event.currentTarget.value);
          }
        }}
      />
      {suffix !== undefined && (
        <span className="flex items-center text-text-3 shrink-0 -mr-1.25">{suffix}</span>
      )}
    </div>
  );
}

/** A field for what is no prose: nothing underlines, corrects or capitalizes code, expressions, JSON and ids. */
const EXACT = { spellCheck: false, autoCorrect: "off", autoCapitalize: "none" } as const;

export interface TextAreaProps extends Omit<ComponentProps<"textarea">, "value" | "onChange" | "ref"> {
  value: string;
  onChange(value: string): void;
  minRows?: number;
  maxRows?: number;
  mono?: boolean;
}

export function TextArea({
  value,
  onChange,
  minRows = 2,
  maxRows = 14,
  mono = false,
  className,
  ...rest
}: TextAreaProps) {
  const aria = useFieldAria();
  const element = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const area = element.current;
    if (area === null) return;
    const fit = () => {
      area.style.height = "auto";
      const line = 18;
      const wanted = Math.min(Math.max(area.scrollHeight + 2, minRows * line + 8), maxRows * line + 8);
      area.style.height = `${wanted}px`;
    };
    fit();
    if (typeof ResizeObserver === "undefined") return;
    // Lines break elsewhere in a panel of another width.
    let width = area.clientWidth;
    const observer = new ResizeObserver(() => {
      if (area.clientWidth === width) return;
      width = area.clientWidth;
      fit();
    });
    observer.observe(area);
    return () => observer.disconnect();
  }, [value, minRows, maxRows]);
  return (
    <div className={cx(inputClass, inputTextClass(mono), className)}>
      <textarea
        className="block w-full resize-none bg-transparent px-2 py-1 leading-4.5 text-inherit outline-none"
        ref={element}
        rows={minRows}
        {...(mono ? EXACT : { spellCheck: true })}
        {...aria}
        {...rest}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
