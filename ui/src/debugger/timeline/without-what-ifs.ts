/** Leaves the branches of what-if grids out of a list of checkpoints: there may be hundreds. Pure. */
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import type { WhatIfBranch } from "../../ipc/bindings/WhatIfBranch";

const name = ({ grid, row, repeat }: WhatIfBranch): string => `${grid}/${row}/${repeat}`;

/** Whether a list has any. */
export const hasAsides = (list: readonly CheckpointView[]): boolean =>
  list.some(({ whatIf }) => whatIf !== undefined);

/** The list without them, but for those that these checkpoints are on. */
export function withoutAsides(
  list: readonly CheckpointView[],
  kept: readonly (string | null)[],
): readonly CheckpointView[] {
  if (!hasAsides(list)) return list;
  const shown = new Set<string>();
  for (const { id, whatIf } of list) if (whatIf && kept.includes(id)) shown.add(name(whatIf));
  return list.filter(({ whatIf }) => whatIf === undefined || shown.has(name(whatIf)));
}
