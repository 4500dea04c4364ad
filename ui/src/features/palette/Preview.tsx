/** What a pattern is before it is added: its picture, what it does, and what it brings along. */
import { MiniGraph } from "../../canvas/MiniGraph";
import { listed } from "../../lib/intl";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import type { Addable } from "./addable";

const MOST = 6;

function namesOf(records: NonNullable<Addable["picture"]>, section: string): string {
  const names = records.flatMap(({ id }) => (id.startsWith(section) ? [id.slice(section.length)] : []));
  const shown = names.slice(0, MOST);
  return listed(names.length > MOST ? [...shown, "…"] : shown);
}

export function Preview({
  item,
  records,
}: {
  item: Pick<Addable, "title" | "text">;
  records: NonNullable<Addable["picture"]>;
}) {
  const keys = namesOf(records, "key:");
  return (
    <div className="flex w-70 flex-col gap-1.5 py-1 text-xs/4.5" data-testid={formsIds.palettePreview}>
      <span className="font-medium">{item.title}</span>
      <div className="h-24 rounded-md border border-line bg-canvas p-1.5">
        <MiniGraph records={records} />
      </div>
      <span className="text-text-2 text-pretty">{item.text}</span>
      <span className="text-text-3 wrap-anywhere">
        {t("palette.nodes", { names: namesOf(records, "node:") })}
      </span>
      {keys !== "" && <span className="text-text-3 wrap-anywhere">{t("palette.keys", { names: keys })}</span>}
    </div>
  );
}
