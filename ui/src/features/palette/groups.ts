/** Node kinds in the groups and the order in which people look for them. */
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { t, type TextKey } from "../../lib/texts";

const GROUPS: readonly [string, TextKey][] = [
  ["models", "forms.palette.group.models"],
  ["people", "forms.palette.group.people"],
  ["knowledge", "forms.palette.group.knowledge"],
  ["code", "forms.palette.group.code"],
  ["state", "forms.palette.group.state"],
];

export interface KindGroup {
  id: string;
  title: string;
  kinds: NodeKind[];
}

export function kindGroups(kinds: readonly NodeKind[]): KindGroup[] {
  const known = GROUPS.map(([id, key]) => ({
    id,
    title: t(key),
    kinds: kinds.filter((kind) => kind.group === id),
  }));
  const rest = kinds.filter((kind) => !GROUPS.some(([id]) => id === kind.group));
  return [...known, { id: "other", title: t("forms.palette.group.other"), kinds: rest }].filter(
    (group) => group.kinds.length > 0,
  );
}
