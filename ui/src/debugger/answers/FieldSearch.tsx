/** Searches the fields of an answer that has many. */
import { Search } from "lucide-react";
import { TextField } from "../../components/TextField";
import { count } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

interface Props {
  words: string;
  onChange(words: string): void;
  /** How many there are. */
  fields: number;
}

export function FieldSearch({ words, onChange, fields }: Props) {
  const label = t("debug.answer.fields", { n: count(fields) });
  return (
    <TextField
      value={words}
      onChange={onChange}
      placeholder={label}
      aria-label={label}
      prefix={<Search size={13} aria-hidden />}
      data-testid={debugIds.answerSearch}
    />
  );
}
