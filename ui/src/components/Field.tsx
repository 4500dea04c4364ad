/**
 * Label, help and problem around one control. Uses its own ids rather than Base UI's Field, because the control may be
 * a CodeMirror view or a whole sub-form.
 */
import { createContext, useContext, useId, useLayoutEffect, useMemo, useRef, type ReactNode } from "react";
import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import { cx } from "./cx";
import { InlineCode } from "./InlineCode";
import { helpClass, problemsClass } from "./recipes";

export interface FieldProblem {
  message: string;
  remedy?: string;
  /** A hint is what is missing in a field that nobody has been in yet. */
  severity?: "error" | "warning" | "hint";
  /** What can be done about it from here. */
  action?: { readonly label: string; run(): void } | undefined;
}

/** Is it an error, and no warning or hint? */
export const isError = (problem: FieldProblem): boolean => (problem.severity ?? "error") === "error";

export interface FieldProps {
  label?: ReactNode;
  /** The name of a control that shows none. */
  spoken?: string | undefined;
  /** A sentence under the label. */
  description?: ReactNode;
  required?: boolean;
  /** A message, or several problems. */
  error?: string | FieldProblem[] | undefined;
  /** Right of the label: a switch, a badge, a button. */
  aside?: ReactNode;
  /** Found by `focusField`: `[data-pointer]`. */
  pointer?: string | undefined;
  /** `switch`: the control before its label, in one line. */
  layout?: "stacked" | "switch";
  className?: string;
  children: ReactNode;
}

interface FieldIds {
  controlId: string | undefined;
  labelId: string | undefined;
  spoken: string | undefined;
  describedBy: string | undefined;
  invalid: boolean;
  required: boolean;
}

const FieldContext = createContext<FieldIds | null>(null);

/** The ARIA attributes a control takes from its Field; spread them on the focusable element. */
export function useFieldAria(): {
  id?: string;
  "aria-labelledby"?: string;
  "aria-label"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
  "aria-required"?: true;
} {
  const field = useContext(FieldContext);
  return useMemo(() => {
    if (field === null) return {};
    return {
      ...(field.controlId !== undefined && { id: field.controlId }),
      ...(field.labelId !== undefined && { "aria-labelledby": field.labelId }),
      ...(field.spoken !== undefined && { "aria-label": field.spoken }),
      ...(field.describedBy !== undefined && { "aria-describedby": field.describedBy }),
      ...(field.invalid && { "aria-invalid": true as const }),
      ...(field.required && { "aria-required": true as const }),
    };
  }, [field]);
}

/** Several controls of one field: each has a name of its own, `aria-label`, and all of them the field's help and problems. */
export function FieldParts({ children }: { children: ReactNode }) {
  const field = useContext(FieldContext);
  const parts = useMemo(
    () => field && { ...field, controlId: undefined, labelId: undefined, spoken: undefined },
    [field],
  );
  return <FieldContext value={parts}>{children}</FieldContext>;
}

/**
 * What can be done about a problem. It goes with its problem, which a check may take away while the button has the focus:
 * the field has it then, and the next Tab leads on from there.
 */
function QuickFix({
  controlId,
  label,
  run,
}: NonNullable<FieldProblem["action"]> & { readonly controlId: string }) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(
    () => () => {
      // It is still in the document here.
      if (button.current === document.activeElement) document.getElementById(controlId)?.focus();
    },
    [controlId],
  );
  return (
    <button
      ref={button}
      type="button"
      className="text-accent-text underline underline-offset-2"
      onClick={run}
    >
      {label}
    </button>
  );
}

export function Field({
  label,
  spoken,
  description,
  required = false,
  error,
  aside,
  pointer,
  layout = "stacked",
  className,
  children,
}: FieldProps) {
  const id = useId();
  const switchLike = layout === "switch";
  const below = switchLike && "order-2 basis-full";
  const problems: FieldProblem[] =
    typeof error === "string" ? (error === "" ? [] : [{ message: error }]) : (error ?? []);
  const invalid = problems.some(isError);
  const hasDescription = description !== undefined && description !== "";
  const hasLabel = label !== undefined;
  const hasProblems = problems.length > 0;
  const ids = useMemo<FieldIds>(
    () => ({
      controlId: `${id}control`,
      labelId: hasLabel ? `${id}label` : undefined,
      spoken: hasLabel ? undefined : spoken,
      describedBy:
        [hasDescription && `${id}help`, hasProblems && `${id}problem`].filter(Boolean).join(" ") || undefined,
      invalid,
      required,
    }),
    [id, hasLabel, spoken, hasDescription, hasProblems, invalid, required],
  );
  return (
    <FieldContext value={ids}>
      <div
        data-field
        className={cx(
          "flex min-w-0 gap-1 rounded-md data-flash:animate-flash",
          switchLike ? "flex-row flex-wrap items-center" : "flex-col",
          className,
        )}
        data-pointer={pointer}
        data-invalid={invalid || undefined}
      >
        {(label !== undefined || aside !== undefined) && (
          <div
            className={cx(
              "flex items-center justify-between gap-2",
              switchLike ? "order-1 min-h-0 flex-1" : "min-h-5",
            )}
          >
            {label !== undefined && (
              <label
                id={ids.labelId}
                htmlFor={ids.controlId}
                className="text-xs font-medium text-text-2 wrap-anywhere"
              >
                {label}
                {required && (
                  <span className="ml-0.5 text-failed" aria-hidden>
                    *
                  </span>
                )}
              </label>
            )}
            {aside !== undefined && <div className="flex items-center gap-1 shrink-0">{aside}</div>}
          </div>
        )}
        <div className={cx(switchLike && "flex")}>{children}</div>
        {hasDescription && (
          <div id={`${id}help`} className={cx(helpClass, below)}>
            {typeof description === "string" ? <InlineCode text={description} /> : description}
          </div>
        )}
        {problems.length > 0 && (
          <ul id={`${id}problem`} className={cx(problemsClass, below)} aria-live="polite">
            {problems.map((problem, index) => (
              <li key={index} data-severity={problem.severity ?? "error"}>
                {problem.severity === "hint" ? (
                  <Info size={13} aria-hidden />
                ) : problem.severity === "warning" ? (
                  <TriangleAlert size={13} aria-hidden />
                ) : (
                  <CircleAlert size={13} aria-hidden />
                )}
                <span>
                  <InlineCode text={problem.message} />
                  {problem.remedy !== undefined && problem.remedy !== "" && (
                    <span className="text-text-2">
                      {" "}
                      <InlineCode text={problem.remedy} />
                    </span>
                  )}
                  {problem.action !== undefined && (
                    <>
                      {" "}
                      <QuickFix controlId={`${id}control`} {...problem.action} />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </FieldContext>
  );
}
