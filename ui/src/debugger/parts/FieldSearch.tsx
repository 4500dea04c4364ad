/** Searches the fields of a form that has many. */
import { Search } from "lucide-react";
import { TextField } from "../../components/TextField";
import { helpClass } from "../../components/recipes";
import { count } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";

interface Props {
  words: string;
  onChange(words: string): void;
  /** How many there are. */
  fields: number;
  /** How many have the words. */
  found: number;
}

export function FieldSearch({ words, onChange, fields, found }: Props) {
  const label = t("debug.answer.fields", { n: count(fields) });
  return (
    <div
      className="flex flex-col gap-1"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || words === "") return;
        // It ends the search and nothing around it.
        event.stopPropagation();
        onChange("");
      }}
    >
      <TextField
        value={words}
        onChange={onChange}
        placeholder={label}
        aria-label={label}
        prefix={<Search size={13} aria-hidden />}
        data-testid={debugIds.answerSearch}
      />
      <p className={helpClass} role="status" hidden={words.trim() === ""} data-testid={debugIds.answerFound}>
        {words.trim() === "" ? "" : tn("debug.answer.foundOne", "debug.answer.found", found)}
      </p>
    </div>
  );
}
