/** What a search has found: the match, and the columns of one's own. */
import { nodeList } from "../../debugger/parts/format";
import type { MomentFound } from "../../ipc/bindings/MomentFound";
import { queryIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { type Column, MomentRows } from "./MomentRows";
import { reasonText } from "./reason";
import { Value } from "./Value";

interface Props {
  id: string;
  moments: readonly MomentFound[];
  columns: readonly string[];
  chosen: number;
  onChoose(index: number): void;
  onOpen(moment: MomentFound): void;
}

const matchColumn = (): Column<MomentFound> => ({
  title: t("query.column.match"),
  wide: true,
  cell: (moment) => <Match moment={moment} />,
});

const ownColumn = (title: string, at: number): Column<MomentFound> => ({
  title,
  mono: true,
  cell: (moment) => <Value result={moment.columns?.[at]} />,
});

export function Results({ moments, columns, ...rest }: Props) {
  return (
    <MomentRows<MomentFound>
      {...rest}
      label={t("query.results")}
      rows={moments}
      columns={[matchColumn(), ...columns.map(ownColumn)]}
      data-testid={queryIds.result}
    />
  );
}

function Match({ moment }: { moment: MomentFound }) {
  const place = moment.pointer?.slice(1) ?? reasonText(moment.reason);
  const by = moment.nodes.length > 0 ? t("query.by", { node: nodeList(moment.nodes) }) : t("query.byInput");
  return (
    <span className="min-w-0">
      {moment.snippet && (
        <span className="block truncate">
          {moment.snippet.map((part, index) =>
            part.hit ? (
              <mark key={index} className="rounded-[3px] bg-accent-soft px-px font-semibold text-accent-text">
                {part.text}
              </mark>
            ) : (
              <span key={index}>{part.text}</span>
            ),
          )}
        </span>
      )}
      <span className="block truncate text-2xs text-text-3">
        {place !== undefined && <span className="font-mono">{place} · </span>}
        {by}
        {moment.more > 0 && ` · ${tn("query.moreOne", "query.more", moment.more)}`}
      </span>
    </span>
  );
}
