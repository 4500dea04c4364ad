/** The chain of writes that a value came from, as rows. */
import type { ValueWriteView } from "../../ipc/bindings/ValueWriteView";
import { readablePath } from "../parts/diff";
import { plain } from "../parts/format";

export interface Link {
  readonly write: ValueWriteView;
  /** Its place in the answer. */
  readonly place: number;
  readonly depth: number;
}

/** Each write right below the one that read it. */
export function chain(writes: readonly ValueWriteView[]): Link[] {
  const below = new Map<number | undefined, number[]>();
  writes.forEach((write, place) => {
    const siblings = below.get(write.readBy);
    if (siblings) siblings.push(place);
    else below.set(write.readBy, [place]);
  });
  const rows: Link[] = [];
  const waiting = [...(below.get(undefined) ?? [])].reverse().map((place) => ({ place, depth: 0 }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { place, depth } = next;
    const write = writes[place];
    if (!write) continue;
    rows.push({ write, place, depth });
    for (const child of [...(below.get(place) ?? [])].reverse())
      waiting.push({ place: child, depth: depth + 1 });
  }
  return rows;
}

/** A row as text for a report. */
export function linkText({ write, depth }: Link): string {
  const value = (view: ValueWriteView["before"]) =>
    view === undefined ? "nothing" : plain(view.value ?? view.head ?? null, 80);
  const by =
    write.origin === "task" || write.origin === "edit"
      ? [write.origin, ...new Set(write.writers.map((writer) => writer.node))].join(" ")
      : write.origin;
  return `${"  ".repeat(depth)}${readablePath(write.pointer)}: ${value(write.before)} -> ${value(write.after)} (step ${write.checkpoint.step}, ${by})`;
}
