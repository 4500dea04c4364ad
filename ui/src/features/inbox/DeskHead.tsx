/** The head of the list of questions: how many wait, what is searched for, which are shown and in which order. */
import { ChevronsDownUp, History, ListFilter, Search, X } from "lucide-react";
import type { Ref } from "react";
import { Button } from "../../components/Button";
import { Checkbox } from "../../components/Checkbox";
import { IconButton } from "../../components/IconButton";
import { Popover } from "../../components/Popover";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import type { Question } from "../../ipc/bindings/Question";
import { count } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn, type TextKey } from "../../lib/texts";
import { type AGES, conditionsOf, COSTS, type DEADLINES, EVERYTHING, type Filter, SORTS } from "./desk";

interface Props {
  filter: Filter;
  onChange(filter: Filter): void;
  questions: readonly Question[];
  waiting: number;
  /** How many the filter lets through. */
  shown: number;
  /** How many are put off. */
  asleep: number;
  search: Ref<HTMLInputElement>;
  /** Shows what was answered. */
  onPast(): void;
}

export function DeskHead({ filter, onChange, questions, waiting, shown, asleep, search, onPast }: Props) {
  const set = (more: Partial<Filter>) => onChange({ ...filter, ...more });
  const conditions = conditionsOf(filter);
  const isFiltered = conditions > 0 || filter.words.trim() !== "" || filter.snoozed;
  return (
    <header className="flex shrink-0 flex-col gap-1.5 border-b border-line px-4 py-1.5">
      <div className="flex min-h-7 items-center gap-2">
        <h1 className="flex-1 truncate text-sm font-semibold">{t("debug.inbox.title")}</h1>
        <span className="tabular-nums shrink-0 text-xs text-text-2" data-testid={debugIds.deskCount}>
          {isFiltered
            ? t("debug.inbox.countOf", { n: count(shown), all: count(waiting) })
            : tn("debug.inbox.countOne", "debug.inbox.count", waiting)}
        </span>
        <IconButton
          size="small"
          label={t("debug.answered")}
          onClick={onPast}
          data-testid={debugIds.historyOpen}
        >
          <History size={15} aria-hidden />
        </IconButton>
      </div>
      <div className="flex items-center gap-1">
        <TextField
          ref={search}
          className="min-w-0 flex-1"
          value={filter.words}
          onChange={(words) => set({ words })}
          placeholder={t("debug.inbox.search")}
          aria-label={t("debug.inbox.search")}
          prefix={<Search size={13} aria-hidden />}
          {...(filter.words !== "" && {
            suffix: (
              <IconButton size="small" label={t("debug.clear")} onClick={() => set({ words: "" })}>
                <X size={13} aria-hidden />
              </IconButton>
            ),
          })}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            set({ words: "" });
            event.currentTarget.blur();
          }}
          data-testid={debugIds.deskSearch}
        />
        <Popover
          align="end"
          label={t("debug.inbox.filter")}
          trigger={
            <IconButton
              label={t("debug.inbox.filter")}
              pressed={conditions > 0 || filter.snoozed || filter.sort !== "oldest"}
              data-testid={debugIds.deskFilter}
            >
              <ListFilter size={15} aria-hidden />
            </IconButton>
          }
        >
          <Conditions filter={filter} set={set} questions={questions} asleep={asleep} />
        </Popover>
        <IconButton
          label={t("debug.inbox.alike")}
          shortcut="G"
          pressed={filter.grouped}
          onClick={() => set({ grouped: !filter.grouped })}
          data-testid={debugIds.deskGroup}
        >
          <ChevronsDownUp size={15} aria-hidden />
        </IconButton>
      </div>
      {isFiltered && (
        <Button
          size="small"
          variant="ghost"
          className="self-start"
          icon={<X size={13} aria-hidden />}
          onClick={() => onChange({ ...EVERYTHING, grouped: filter.grouped, sort: filter.sort })}
          data-testid={debugIds.deskEverything}
        >
          {t("debug.inbox.everything")}
        </Button>
      )}
    </header>
  );
}

const AGE_TEXTS: Readonly<Record<keyof typeof AGES, TextKey>> = {
  hour: "debug.inbox.age.hour",
  day: "debug.inbox.age.day",
  week: "debug.inbox.age.week",
};
const DEADLINE_TEXTS: Readonly<Record<keyof typeof DEADLINES, TextKey>> = {
  hour: "debug.inbox.deadline.hour",
  day: "debug.inbox.deadline.day",
  any: "debug.inbox.deadline.any",
};
const SORT_TEXTS: Readonly<Record<Filter["sort"], TextKey>> = {
  oldest: "debug.inbox.sort.oldest",
  newest: "debug.inbox.sort.newest",
  deadline: "debug.inbox.sort.deadline",
  graph: "debug.inbox.sort.graph",
  cost: "debug.inbox.sort.cost",
};

function Conditions({
  filter,
  set,
  questions,
  asleep,
}: {
  filter: Filter;
  set(more: Partial<Filter>): void;
  questions: readonly Question[];
  asleep: number;
}) {
  const graphs = [...new Set(questions.map(({ graphName }) => graphName))].sort();
  const ofGraph = questions.filter(({ graphName }) => filter.graph === null || graphName === filter.graph);
  const nodes = [...new Set(ofGraph.map(({ node }) => node))].sort();
  const label = t("debug.inbox.all");
  const all = <V,>(value: V) => ({ value, label, absent: true });
  const names = (list: readonly string[]) => [
    all<string | null>(null),
    ...list.map((name) => ({ value: name, label: name })),
  ];
  return (
    <div className="grid w-64 grid-cols-[auto_1fr] items-center gap-x-3 gap-y-2 text-xs">
      <span>{t("debug.inbox.graph")}</span>
      <Select
        size="small"
        aria-label={t("debug.inbox.graph")}
        value={filter.graph}
        options={names(graphs)}
        onChange={(graph) => set({ graph, node: null })}
        data-testid={debugIds.deskGraph}
      />
      <span>{t("debug.inbox.node")}</span>
      <Select
        size="small"
        aria-label={t("debug.inbox.node")}
        value={filter.node}
        options={names(nodes)}
        onChange={(node) => set({ node })}
      />
      <span>{t("debug.inbox.age")}</span>
      <Select
        size="small"
        aria-label={t("debug.inbox.age")}
        value={filter.age}
        options={[
          all<Filter["age"]>(null),
          ...(["hour", "day", "week"] as const).map((value) => ({ value, label: t(AGE_TEXTS[value]) })),
        ]}
        onChange={(age) => set({ age })}
      />
      <span>{t("debug.inbox.deadline")}</span>
      <Select
        size="small"
        aria-label={t("debug.inbox.deadline")}
        value={filter.deadline}
        options={[
          all<Filter["deadline"]>(null),
          ...(["hour", "day", "any"] as const).map((value) => ({ value, label: t(DEADLINE_TEXTS[value]) })),
        ]}
        onChange={(deadline) => set({ deadline })}
      />
      <span>{t("debug.inbox.cost")}</span>
      <Select
        size="small"
        aria-label={t("debug.inbox.cost")}
        value={filter.cost}
        options={[
          all<Filter["cost"]>(null),
          ...COSTS.map((value) => ({
            value,
            label:
              value === 0 ? t("debug.inbox.cost.any") : t("debug.inbox.cost.over", { amount: count(value) }),
          })),
        ]}
        onChange={(cost) => set({ cost })}
        data-testid={debugIds.deskCost}
      />
      <span>{t("debug.inbox.sort")}</span>
      <Select
        size="small"
        aria-label={t("debug.inbox.sort")}
        value={filter.sort}
        options={SORTS.map((value) => ({ value, label: t(SORT_TEXTS[value]) }))}
        onChange={(sort) => set({ sort })}
      />
      <div className="col-span-2 flex flex-col">
        <Checkbox checked={filter.mine} onChange={(mine) => set({ mine })}>
          {t("debug.inbox.mine")}
        </Checkbox>
        <Checkbox checked={filter.snoozed} onChange={(snoozed) => set({ snoozed })}>
          {t("debug.inbox.asleep", { n: asleep })}
        </Checkbox>
      </div>
    </div>
  );
}
