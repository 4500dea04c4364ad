/**
 * Label, help and problem around one control. Uses its own ids rather than Base UI's Field, because the control may be
 * a CodeMirror view or a whole sub-form.
 */
import { createContext, useContext, useId, useMemo, type ReactNode } from "react";
import { CircleAlert, TriangleAlert } from "lucide-react";
import { cx } from "./cx";
import { InlineCode } from "./InlineCode";

export interface FieldProblem {
  message: string;
  remedy?: string;
  severity?: "error" | "warning";
  /** What can be done about it from here. */
  action?: { readonly label: string; run(): void } | undefined;
}

export interface FieldProps {
  label?: ReactNode;
  /** A sentence under the label. */
  description?: ReactNode;
  required?: boolean;
  /** A message, or several problems. */
  error?: string | FieldProblem[] | undefined;
  /** Right of the label: a switch, a badge, a button. */
  aside?: ReactNode;
  /** Found by `focusField`: `[data-pointer]`. */
  pointer?: string | undefined;
  /** Label left of the control. */
  inline?: boolean;
  className?: string;
  children: ReactNode;
}

interface FieldIds {
  controlId: string;
  labelId: string | undefined;
  describedBy: string | undefined;
  invalid: boolean;
  required: boolean;
}

const FieldContext = createContext<FieldIds | null>(null);

/** Ids and flags for the control inside a Field. */
export function useFieldIds(): Partial<FieldIds> {
  return useContext(FieldContext) ?? {};
}

/** The ARIA attributes a control takes from its Field; spread them on the focusable element. */
export function useFieldAria(): {
  id?: string;
  "aria-labelledby"?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
  "aria-required"?: true;
} {
  const field = useContext(FieldContext);
  return useMemo(() => {
    if (field === null) return {};
    return {
      id: field.controlId,
      ...(field.labelId !== undefined && { "aria-labelledby": field.labelId }),
      ...(field.describedBy !== undefined && { "aria-describedby": field.describedBy }),
      ...(field.invalid && { "aria-invalid": true as const }),
      ...(field.required && { "aria-required": true as const }),
    };
  }, [field]);
}

export function Field({
  label,
  description,
  required = false,
  error,
  aside,
  pointer,
  inline = false,
  className,
  children,
}: FieldProps) {
  const id = useId();
  const problems: FieldProblem[] =
    typeof error === "string" ? (error === "" ? [] : [{ message: error }]) : (error ?? []);
  const invalid = problems.some((problem) => problem.severity !== "warning");
  const hasDescription = description !== undefined && description !== "";
  const hasLabel = label !== undefined;
  const hasProblems = problems.length > 0;
  const ids = useMemo<FieldIds>(
    () => ({
      controlId: `${id}control`,
      labelId: hasLabel ? `${id}label` : undefined,
      describedBy:
        [hasDescription && `${id}help`, hasProblems && `${id}problem`].filter(Boolean).join(" ") || undefined,
      invalid,
      required,
    }),
    [id, hasLabel, hasDescription, hasProblems, invalid, required],
  );
  return (
    <FieldContext value={ids}>
      <div
        className={cx("ss-field", inline && "ss-field-inline", className)}
        data-pointer={pointer}
        data-invalid={invalid || undefined}
      >
        {(label !== undefined || aside !== undefined) && (
          <div className="ss-field-head">
            {label !== undefined && (
              <label id={ids.labelId} htmlFor={ids.controlId} className="ss-label">
                {label}
                {required && (
                  <span className="ss-required" aria-hidden>
                    *
                  </span>
                )}
              </label>
            )}
            {aside !== undefined && <div className="ss-field-aside">{aside}</div>}
          </div>
        )}
        <div className="ss-field-control">{children}</div>
        {hasDescription && (
          <div id={`${id}help`} className="ss-help">
            {typeof description === "string" ? <InlineCode text={description} /> : description}
          </div>
        )}
        {problems.length > 0 && (
          <ul id={`${id}problem`} className="ss-problems" aria-live="polite">
            {problems.map((problem, index) => (
              <li key={index} data-severity={problem.severity ?? "error"}>
                {problem.severity === "warning" ? (
                  <TriangleAlert size={13} aria-hidden />
                ) : (
                  <CircleAlert size={13} aria-hidden />
                )}
                <span>
                  <InlineCode text={problem.message} />
                  {problem.remedy !== undefined && problem.remedy !== "" && (
                    <span className="ss-remedy">
                      {" "}
                      <InlineCode text={problem.remedy} />
                    </span>
                  )}
                  {problem.action !== undefined && (
                    <>
                      {" "}
                      <button type="button" className="ss-mend" onClick={problem.action.run}>
                        {problem.action.label}
                      </button>
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
