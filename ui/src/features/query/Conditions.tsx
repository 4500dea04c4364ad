/** The conditions of a query, one line each, and the menu that adds one. */
import { Plus, X } from "lucide-react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { Menu } from "../../components/Menu";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { statusText } from "../../debugger/parts/StatusMark";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import { queryIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { addable, SINCE, withCondition, type Condition, type ConditionKind, type Query } from "./query";

const STATUSES: readonly RunStatus[] = ["running", "asking", "paused", "failed", "stopped", "done"];
/** What a condition begins with. */
const BEGINS: Readonly<Partial<Record<ConditionKind, string>>> = {
  status: "failed",
  since: "day",
  graph: "this",
};

interface Props {
  query: Query;
  /** A graph is open, whose threads can be meant. */
  hasGraph: boolean;
  onChange(query: Query): void;
  onCommit(): void;
}

export function Conditions({ query, hasGraph, onChange, onCommit }: Props) {
  const change = (id: number, value: string) =>
    onChange({
      ...query,
      conditions: query.conditions.map((one) => (one.id === id ? { ...one, value } : one)),
    });
  const remove = (id: number) =>
    onChange({ ...query, conditions: query.conditions.filter((one) => one.id !== id) });
  return (
    <div className="flex max-h-[40%] shrink-0 flex-col gap-1.5 overflow-y-auto">
      {query.conditions.map((condition) => (
        <div
          key={condition.id}
          className="grid grid-cols-[112px_minmax(0,1fr)_auto] items-center gap-2"
          data-testid={queryIds.condition(condition.kind)}
        >
          <span className="truncate text-xs text-text-2">{t(`query.kind.${condition.kind}`)}</span>
          <Value
            condition={condition}
            onChange={(value) => change(condition.id, value)}
            onCommit={onCommit}
          />
          <IconButton size="small" label={t("query.remove")} onClick={() => remove(condition.id)}>
            <X size={13} aria-hidden />
          </IconButton>
        </div>
      ))}
      <div>
        <Menu
          trigger={
            <Button
              size="small"
              variant="ghost"
              icon={<Plus size={13} aria-hidden />}
              data-testid={queryIds.add}
            >
              {t("query.add")}
            </Button>
          }
          entries={addable(query)
            .filter((kind) => kind !== "graph" || hasGraph)
            .map((kind) => ({
              id: kind,
              label: t(`query.add.${kind}`),
              run: () => onChange(withCondition(query, kind, BEGINS[kind] ?? "")),
            }))}
        />
      </div>
    </div>
  );
}

interface ValueProps {
  condition: Condition;
  onChange(value: string): void;
  onCommit(): void;
}

function Value({ condition, onChange, onCommit }: ValueProps) {
  const { kind, value } = condition;
  const label = t(`query.kind.${kind}`);
  if (kind === "graph") return <span className="text-xs">{t("query.graph.this")}</span>;
  if (kind === "status" || kind === "since")
    return (
      <Select
        size="small"
        className="max-w-50"
        aria-label={label}
        value={value}
        options={
          kind === "status"
            ? STATUSES.map((status) => ({ value: status as string, label: statusText(status) }))
            : Object.keys(SINCE).map((since) => ({ value: since, label: t(`query.since.${since as "day"}`) }))
        }
        onChange={onChange}
      />
    );
  return (
    <TextField
      mono
      autoFocus={value === ""}
      aria-label={label}
      placeholder={t(`query.example.${kind}`)}
      value={value}
      onChange={onChange}
      onCommit={onCommit}
      data-testid={queryIds.value(kind)}
    />
  );
}
