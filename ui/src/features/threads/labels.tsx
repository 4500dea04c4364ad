/** Tags and metadata of runs in the list of threads: in rows, and as a filter. */
import { Tag } from "lucide-react";
import { useMemo } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import type { MenuEntry } from "../../components/Menu";
import { setThreadFilter } from "../../debugger/model/thread-list";
import { useRuns } from "../../debugger/model/runStore";
import { entriesOf, labelsLine } from "../../debugger/run/run-labels";
import type { RunLabels } from "../../ipc/bindings/RunLabels";
import type { ThreadView } from "../../ipc/bindings/ThreadView";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

/** Entries of a menu, at most. */
const MOST = 12;

const NONE: RunLabels = { tags: [], metadata: {} };

/** What the threads that are listed have, the most frequent first, each with the filter that looks for it. */
export function knownLabels(threads: Iterable<ThreadView>): { text: string; labels: RunLabels }[] {
  const found = new Map<string, { text: string; labels: RunLabels; count: number }>();
  const note = (text: string, labels: RunLabels) => {
    const id = JSON.stringify(labels);
    found.set(id, { text, labels, count: (found.get(id)?.count ?? 0) + 1 });
  };
  for (const { labels } of threads) {
    for (const tag of labels?.tags ?? []) note(tag, { tags: [tag], metadata: {} });
    for (const [key, value] of Object.entries(labels?.metadata ?? {}))
      note(`${key}=${value}`, { tags: [], metadata: { [key]: value } });
  }
  return [...found.values()]
    .sort((a, b) => b.count - a.count || a.text.localeCompare(b.text))
    .map(({ text, labels }) => ({ text, labels }));
}

/** Has the filter all of these? */
const has = (filter: RunLabels | null, labels: RunLabels): boolean =>
  filter !== null &&
  labels.tags.every((tag) => filter.tags.includes(tag)) &&
  Object.entries(labels.metadata).every(([key, value]) => filter.metadata[key] === value);

/** The filter with these, or without them. */
export function toggled(filter: RunLabels | null, labels: RunLabels): RunLabels | null {
  const before = filter ?? NONE;
  const off = has(filter, labels);
  const keys = Object.keys(labels.metadata);
  const next: RunLabels = off
    ? {
        tags: before.tags.filter((tag) => !labels.tags.includes(tag)),
        metadata: Object.fromEntries(Object.entries(before.metadata).filter(([key]) => !keys.includes(key))),
      }
    : {
        tags: [...before.tags, ...labels.tags],
        metadata: { ...before.metadata, ...labels.metadata },
      };
  return next.tags.length === 0 && Object.keys(next.metadata).length === 0 ? null : next;
}

/** The entries of the filter's menu; none while no thread that is listed has any. */
export function useLabelEntries(): MenuEntry[] {
  const threads = useRuns((store) => store.threads);
  const filter = useRuns((store) => store.filter.labels);
  const known = useMemo(() => knownLabels(threads.values()).slice(0, MOST), [threads]);
  if (known.length === 0) return [];
  return [
    { id: "labels", heading: t("debug.labels") },
    ...known.map(({ text, labels }): MenuEntry => ({
      id: `label-${text}`,
      label: text,
      icon: <Tag size={14} aria-hidden />,
      checked: has(filter, labels),
      run: () => setThreadFilter({ labels: toggled(filter, labels), found: null }),
    })),
    { id: "labelsLine", separator: true },
  ];
}

/** Which tags and metadata the list is held to, and what ends it. */
export function LabelsBadge() {
  const labels = useRuns((store) => store.filter.labels);
  if (labels === null) return null;
  return (
    <div className="flex items-center gap-1 px-2 pt-2" data-testid={debugIds.labelsBadge}>
      <Badge icon={<Tag size={11} aria-hidden />} title={labelsLine(labels)}>
        {labelsLine(labels)}
      </Badge>
      <Button size="small" variant="ghost" onClick={() => setThreadFilter({ labels: null })}>
        {t("debug.threads.showAll")}
      </Button>
    </div>
  );
}

/** In the row of a thread: the first tag, or the first entry, and how many more there are. */
export function RowLabels({ labels }: { labels: RunLabels | undefined }) {
  const [first, ...others] = [...(labels?.tags ?? []), ...entriesOf(labels)];
  if (first === undefined) return null;
  return (
    <span
      className="inline-flex min-w-0 max-w-1/2 shrink-0 items-center gap-0.5"
      title={`${t("debug.labels")}: ${labelsLine(labels)}`}
    >
      <Tag size={11} className="shrink-0" aria-hidden />
      <span className="truncate">{first}</span>
      {others.length > 0 && <span className="shrink-0">+{others.length}</span>}
    </span>
  );
}
