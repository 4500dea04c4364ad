/**
 * Which nodes would do something else if they ran again at the moment that is shown: their settings or the edges to them
 * have changed since the run, or a key that they read was edited after they ran. Pure.
 */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { RecordChange } from "../../document/diff";
import { edgeOf, type Json } from "../../document/types";

export interface Stale {
  /** Fields of the node that are other, such as `/config/prompt`. */
  readonly settings: readonly string[];
  /** Edges to it came, went or changed. */
  readonly edges: boolean;
  /** Keys that it reads and that were edited since it ran. */
  readonly keys: readonly string[];
}

/** Fields that nothing that runs depends on. */
const COSMETIC = /^\/(title|description|invariants)(\/|$)/;
/** Replaces a secret in a stored version. */
const HIDDEN = "[secret]";

const isHidden = (value: Json | undefined): boolean =>
  value !== undefined && JSON.stringify(value).includes(HIDDEN);

interface Mutable {
  settings: string[];
  edges: boolean;
  keys: string[];
}

/** What has changed since a version of the graph, of the nodes that are in both. */
function byDefinition(records: readonly RecordChange[], of: (node: string) => Mutable): void {
  const came = new Set(
    records.flatMap(({ section, name, change }) =>
      section === "node" && change !== "changed" ? [name] : [],
    ),
  );
  for (const { section, name, change, fields, before, after } of records) {
    if (section === "node" && change === "changed") {
      const changed = fields.filter((field) => !COSMETIC.test(field.pointer) && !isHidden(field.before));
      if (changed.length > 0) of(name).settings.push(...changed.map(({ pointer }) => pointer));
    } else if (section === "edge") {
      if (change === "changed" && fields.every(({ pointer }) => COSMETIC.test(pointer))) continue;
      for (const target of new Set([...edgeOf(before).targets, ...edgeOf(after).targets]))
        if (!came.has(target)) of(target).edges = true;
    }
  }
}

/** Edits of the state on the way to the moment, after the last time that a node ran which reads what they changed. */
function byEdits(
  way: readonly CheckpointView[],
  readsOf: (node: string) => ReadonlySet<string>,
  of: (node: string) => Mutable,
): void {
  const ranAt = new Map<string, number>();
  way.forEach(({ source }, at) => {
    if (source === "loop") for (const node of way[at - 1]?.next ?? []) ranAt.set(node, at);
  });
  way.forEach(({ source, updated, asNode }, at) => {
    if (source !== "update") return;
    for (const [node, ran] of ranAt) {
      // The edit stands for what the node returned: it has not seen less for it.
      if (ran > at || node === asNode) continue;
      const reads = readsOf(node);
      const { keys } = of(node);
      for (const key of updated) if (reads.has(key) && !keys.includes(key)) keys.push(key);
    }
  });
}

/**
 * `records` is what differs between the version of the run and the graph as it is; `way` are the checkpoints that lead to
 * the moment, the oldest first, the moment itself included.
 */
export function staleNodes(
  records: readonly RecordChange[],
  way: readonly CheckpointView[],
  readsOf: (node: string) => ReadonlySet<string>,
): ReadonlyMap<string, Stale> {
  const nodes = new Map<string, Mutable>();
  const of = (node: string) => {
    let found = nodes.get(node);
    if (!found) nodes.set(node, (found = { settings: [], edges: false, keys: [] }));
    return found;
  };
  byDefinition(records, of);
  byEdits(way, readsOf, of);
  return new Map(
    [...nodes].filter(([, { settings, edges, keys }]) => settings.length > 0 || edges || keys.length > 0),
  );
}
