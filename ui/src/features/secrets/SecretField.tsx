/**
 * The value of a secret while it is entered: one line, or several where a text with line breaks is pasted, such as a PEM
 * key. It is masked until it is asked to be shown.
 */
import { Eye, EyeOff } from "lucide-react";
import { useState, type ClipboardEvent } from "react";
import { cx } from "../../components/cx";
import { IconButton } from "../../components/IconButton";
import { hintClass } from "../../components/recipes";
import { TextArea, TextField } from "../../components/TextField";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

/** A text area has no type that masks it. Where the style is unknown, the text is not drawn. */
const MASKED =
  "[&_textarea]:[-webkit-text-security:disc] [&_textarea]:caret-text not-supports-[-webkit-text-security:disc]:[&_textarea]:text-transparent";

export interface SecretFieldProps {
  value: string;
  autoFocus: boolean;
  onChange(value: string): void;
}

export function SecretField({ value, autoFocus, onChange }: SecretFieldProps) {
  const [shown, setShown] = useState(false);
  const [pasted, setPasted] = useState(false);
  // It stays a text area while lines are joined, so that the cursor keeps its place.
  const lines = pasted && value !== "";
  const toggle = (
    <IconButton
      size="small"
      label={t(shown ? "secrets.hideValue" : "secrets.showValue")}
      pressed={shown}
      onClick={() => setShown(!shown)}
      data-testid={safetyIds.secretShow}
    >
      {shown ? <EyeOff size={14} /> : <Eye size={14} />}
    </IconButton>
  );
  if (!lines)
    return (
      <TextField
        type={shown ? "text" : "password"}
        autoComplete="off"
        autoFocus={autoFocus || pasted}
        value={value}
        onChange={onChange}
        onPaste={(event) => {
          const text = pastedLines(event);
          if (text === null) return;
          event.preventDefault();
          setPasted(true);
          onChange(text);
        }}
        suffix={toggle}
        data-testid={safetyIds.secretValue}
      />
    );
  const count = value.trim().split("\n").length;
  // What is masked is not copied, as in a field for a password.
  const keep = (event: ClipboardEvent) => {
    if (!shown) event.preventDefault();
  };
  return (
    <div className="flex flex-col gap-1">
      <TextArea
        mono
        autoFocus
        autoComplete="off"
        minRows={4}
        maxRows={10}
        className={cx(!shown && MASKED)}
        value={value}
        onChange={onChange}
        onCopy={keep}
        onCut={keep}
        data-testid={safetyIds.secretValue}
      />
      <div className="flex items-center justify-between">
        <p className={hintClass} role="note">
          {count > 1 && t("secrets.lines", { n: count })}
        </p>
        {toggle}
      </div>
    </div>
  );
}

/** The value after a paste into a field of one line, when that has several lines. The field itself would join them. */
function pastedLines(event: ClipboardEvent<HTMLInputElement>): string | null {
  const text = event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n");
  if (!text.trim().includes("\n")) return null;
  const { value, selectionStart, selectionEnd } = event.currentTarget;
  const [from, to] = [selectionStart ?? value.length, selectionEnd ?? value.length];
  return value.slice(0, from) + text + value.slice(to);
}
