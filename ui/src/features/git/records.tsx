/** Records and their differences in words. */
import { knownKinds } from "../../canvas/kinds";
import type { RecordChange } from "../../document/diff";
import { nodeOf, sectionOf, type Json } from "../../document/types";
import { t } from "../../lib/texts";
import { placeOf } from "../find";

export function recordText(id: string): string {
  const place = sectionOf(id);
  if (!place) return t("git.record.doc");
  const name = place.name
    .replaceAll("__start__", t("forms.start"))
    .replaceAll("__end__", t("forms.end"))
    .replace("->", " → ");
  return t(`git.record.${place.section}`, { name });
}

/** A field as its form calls it. */
export function fieldText({ id, before, after }: RecordChange, pointer: string): string {
  const { kind } = nodeOf(after ?? before);
  return placeOf({ record: id, pointer, kind }, knownKinds()).label;
}

const LONGEST = 2000;

/** A value as a person reads it: texts as they are, the rest as JSON. */
export function valueText(value: Json | undefined): string {
  if (value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const valueClass =
  "max-h-40 min-w-0 overflow-auto rounded-sm px-1.5 py-0.5 font-mono text-2xs whitespace-pre-wrap wrap-anywhere";

/** What was, what is; of a record that came or went the whole. */
export function FieldList({ record }: { record: RecordChange }) {
  const whole = record.change !== "changed";
  const fields = whole ? [{ pointer: "", before: record.before, after: record.after }] : record.fields;
  return (
    <dl className="flex flex-col gap-1.5">
      {fields.map(({ pointer, before, after }) => (
        <div key={pointer} className="flex min-w-0 flex-col gap-0.5">
          {pointer !== "" && <dt className="text-2xs text-text-3">{fieldText(record, pointer)}</dt>}
          {before !== undefined && <dd className={`${valueClass} bg-failed-soft`}>{valueText(before)}</dd>}
          {after !== undefined && <dd className={`${valueClass} bg-done-soft`}>{valueText(after)}</dd>}
        </div>
      ))}
    </dl>
  );
}
