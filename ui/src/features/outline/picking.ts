/** Selection of several rows, as in a tree of which several items may be selected: one by one, or from one to another. */
import { useMemo, useRef } from "react";
import { useSession } from "../../state/session";
import { type Row } from "./rows";

interface Picking {
  /** A row from which the next range goes. */
  begin(row: Row): void;
  /** Takes what a row stands for into the selection, or out of it. */
  toggle(row: Row): void;
  /** Selects all nodes from where the range began, or from `from`, to a row; what was selected before it stays. */
  extendTo(row: Row, from?: Row): void;
  /** The next row of a node, above or below. */
  beside(at: number, by: 1 | -1): Row | undefined;
  /** The nodes that a row acts for: all that are selected, where it is one of them. */
  group(row: Row): readonly string[];
}

const nodeOfRow = (row: Row): string =>
  row.kind === "node" ? row.name : row.kind === "edge" ? row.from : row.node;

const without = (list: readonly string[], item: string) => list.filter((each) => each !== item);

export function usePicking(rows: readonly Row[], placeOf: (id: string) => number | undefined): Picking {
  /** Where a range begins, and what was selected before it. */
  const anchor = useRef<{ readonly row: string; readonly nodes: readonly string[] } | null>(null);
  return useMemo(() => {
    const selected = () => useSession.getState().selection;
    const select = (nodes: readonly string[], edges: readonly string[]) =>
      useSession.getState().select({ nodes, edges });
    return {
      begin: (row) => (anchor.current = { row: row.id, nodes: [] }),
      toggle: (row) => {
        const { nodes, edges } = selected();
        if (row.kind === "edge")
          select(nodes, edges.includes(row.edge) ? without(edges, row.edge) : [...edges, row.edge]);
        else {
          const name = nodeOfRow(row);
          select(nodes.includes(name) ? without(nodes, name) : [...nodes, name], edges);
        }
        anchor.current = { row: row.id, nodes: selected().nodes };
      },
      extendTo: (row, from = row) => {
        const began = anchor.current ?? { row: from.id, nodes: selected().nodes };
        anchor.current = began;
        const ends = [placeOf(began.row) ?? 0, placeOf(row.id) ?? 0];
        const range = rows
          .slice(Math.min(...ends), Math.max(...ends) + 1)
          .flatMap((each) => (each.kind === "node" ? [each.name] : []));
        // A range that begins at an edge is of its node.
        const first = rows[placeOf(began.row) ?? -1];
        const whole =
          first === undefined || range.includes(nodeOfRow(first)) ? range : [nodeOfRow(first), ...range];
        select([...new Set([...began.nodes, ...whole])], selected().edges);
      },
      beside: (at, by) => {
        for (let next = at + by; next >= 0 && next < rows.length; next += by)
          if (rows[next]?.kind === "node") return rows[next];
        return undefined;
      },
      group: (row) => {
        const { nodes } = selected();
        const name = nodeOfRow(row);
        return nodes.length > 1 && nodes.includes(name) ? nodes : [name];
      },
    };
  }, [rows, placeOf]);
}
