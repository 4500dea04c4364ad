/** What a person writes beside an answer; it is kept with it and reaches no graph. */
import { useEffect, useRef } from "react";
import { TextField } from "../../components/TextField";
import { useOnlyRead } from "../model/only-read";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

/** Asks the note of the question that is shown to take the focus. */
export const FOCUS_NOTE = "superstep:focus-note";

/** Characters of a note. */
const LONGEST = 2000;

export function NoteField({ value, onChange }: { value: string; onChange(note: string): void }) {
  const field = useRef<HTMLInputElement>(null);
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  useEffect(() => {
    const focus = () => field.current?.focus();
    window.addEventListener(FOCUS_NOTE, focus);
    return () => window.removeEventListener(FOCUS_NOTE, focus);
  }, []);
  // Where nothing can be answered there is nothing to note beside it.
  if (onlyRead) return null;
  return (
    <TextField
      ref={field}
      className="min-w-40 flex-1"
      value={value}
      onChange={onChange}
      onCommit={() => field.current?.blur()}
      onKeyDown={(event) => {
        if (event.key === "Escape") event.currentTarget.blur();
      }}
      maxLength={LONGEST}
      spellCheck
      placeholder={t("debug.note.placeholder")}
      aria-label={t("debug.note")}
      data-testid={debugIds.note}
    />
  );
}
