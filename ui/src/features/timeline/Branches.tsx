/** The branches of the thread by name and cause: where each ends, and how it differs from what is shown. */
import { ArrowRightLeft, GitBranch, Waypoints } from "lucide-react";
import { useMemo } from "react";
import { Button } from "../../components/Button";
import { Menu, type MenuEntry } from "../../components/Menu";
import { type Branch, branchesOf } from "../../debugger/timeline/branches";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";

interface Props {
  readonly list: readonly CheckpointView[];
  readonly head: string | undefined;
  /** The checkpoint that is shown. */
  readonly at: string | undefined;
  onGo(checkpointId: string | null): void;
  onCompare(checkpointId: string): void;
}

export function Branches({ list, head, at, onGo, onCompare }: Props) {
  const branches = useMemo(() => branchesOf(list), [list]);
  const shownTip = useMemo(
    () => branches.find(({ chain }) => chain.nodes.some(({ checkpoint }) => checkpoint.id === at))?.tip.id,
    [branches, at],
  );
  if (branches.length < 2) return null;
  const shown = (branch: Branch) => branch.tip.id === shownTip;
  const listed = branches.slice(0, LISTED);
  const entries: MenuEntry[] = [
    {
      id: "map",
      label: t("forks.open"),
      icon: <Waypoints size={14} aria-hidden />,
      run: () => useSession.getState().showTab("bottom", "forks"),
    },
    { id: "go", heading: t("debug.branches.go") },
    ...listed.map((branch) => ({
      id: `go ${branch.tip.id}`,
      label: describe(branch),
      icon: <GitBranch size={14} aria-hidden />,
      checked: shown(branch),
      run: () => onGo(branch.tip.id === head ? null : branch.tip.id),
    })),
    { id: "compare", heading: t("debug.branches.compare") },
    ...listed
      .filter((branch) => !shown(branch))
      .map((branch) => ({
        id: `compare ${branch.tip.id}`,
        label: describe(branch),
        icon: <ArrowRightLeft size={14} aria-hidden />,
        run: () => onCompare(branch.tip.id),
      })),
  ];
  return (
    <Menu
      trigger={
        <Button
          size="small"
          variant="ghost"
          icon={<GitBranch size={13} aria-hidden />}
          data-testid={debugIds.branches}
        >
          {t("debug.timeline.forks", { n: branches.length })}
        </Button>
      }
      entries={entries}
    />
  );
}

/** More branches than these are in the fork map only. */
const LISTED = 40;

export const branchName = ({ name, number }: Pick<Branch, "name" | "number">): string =>
  name ?? t("debug.branches.number", { n: number });

/** What made it. */
export function branchCause({ cause, first }: Branch): string {
  return t(`debug.branches.${cause}`, { step: Math.max(0, first.step - 1), keys: first.updated.join(", ") });
}

export const branchSteps = ({ steps }: Branch): string =>
  tn("debug.branches.stepsOne", "debug.branches.steps", steps);

const describe = (branch: Branch): string =>
  [branchName(branch), branchCause(branch), branchSteps(branch)].join(" · ");
