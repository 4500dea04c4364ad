/**
 * JSON as text. Keeps what is typed until it parses, so that the value on the outside is always whole; says so while it
 * is not.
 */
import { useEffect, useRef, useState } from "react";
import { t } from "../lib/texts";
import { CodeEditor } from "./CodeEditor";
import { sameJson, type Json } from "./schema-form/json";
import { validate } from "./schema-form/validate";
import type { Schema } from "./schema-form/schema";

export interface JsonEditorProps {
  /** `undefined` shows an empty field. */
  value: Json;
  onChange(value: Json): void;
  /** Complaints about the value are listed under the field. */
  schema?: Schema | undefined;
  readOnly?: boolean;
  minLines?: number;
  maxLines?: number;
  placeholder?: string;
  lineNumbers?: boolean;
  /** Called when the text begins or stops being JSON. */
  onValidity?: (valid: boolean) => void;
  "aria-label"?: string;
  "data-testid"?: string;
}

function formatJson(value: Json): string {
  if (value === undefined) return "";
  const text = JSON.stringify(value, null, 2);
  return text.length <= 60 && !text.includes("{") ? JSON.stringify(value).replace(/,(?=\S)/g, ", ") : text;
}

export function JsonEditor({
  value,
  onChange,
  schema,
  readOnly = false,
  minLines = 2,
  maxLines = 18,
  placeholder,
  lineNumbers = false,
  onValidity,
  ...rest
}: JsonEditorProps) {
  const [text, setText] = useState(() => formatJson(value));
  const [broken, setBroken] = useState<string | null>(null);
  const reported = useRef<Json>(value);

  useEffect(() => {
    // What this field itself has reported comes back as the value; only another one replaces the text.
    if (sameJson(value, reported.current)) return;
    reported.current = value;
    setText(formatJson(value));
    setBroken(null);
  }, [value]);

  const change = (typed: string) => {
    setText(typed);
    if (typed.trim() === "") {
      setBroken(null);
      onValidity?.(true);
      reported.current = undefined;
      onChange(undefined);
      return;
    }
    try {
      const parsed: Json = JSON.parse(typed);
      setBroken(null);
      onValidity?.(true);
      reported.current = parsed;
      onChange(parsed);
    } catch (thrown) {
      setBroken(thrown instanceof Error ? thrown.message : String(thrown));
      onValidity?.(false);
    }
  };
  const complaints =
    broken === null && schema !== undefined && value !== undefined ? validate(schema, value).slice(0, 5) : [];
  return (
    <div className="flex flex-col gap-1 min-w-0">
      <CodeEditor
        {...rest}
        mode="json"
        value={text}
        onChange={change}
        readOnly={readOnly}
        minLines={minLines}
        maxLines={maxLines}
        lineNumbers={lineNumbers}
        placeholder={placeholder ?? t("forms.json.placeholder")}
        invalid={broken !== null}
      />
      {broken !== null && (
        <p className="text-xs text-failed" role="alert">
          {t("forms.json.broken")}
        </p>
      )}
      {complaints.length > 0 && (
        <ul className="text-xs text-failed">
          {complaints.map((complaint) => (
            <li key={complaint.pointer + complaint.message}>
              {complaint.pointer !== "" && <code>{complaint.pointer}</code>} {complaint.message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
