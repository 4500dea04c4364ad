/** The branches of the thread by name and cause: where each ends, and how it differs from what is shown. */
import { ArrowRightLeft, FlaskConical, GitBranch, Waypoints } from "lucide-react";
import { useMemo } from "react";
import { Button } from "../../components/Button";
import { Menu, type MenuEntry } from "../../components/Menu";
import { useStable } from "../../components/stable";
import { type Branch, branchesOf, callOf, type Called } from "../../debugger/timeline/branches";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { listed } from "../../lib/intl";
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
  const go = useStable(onGo);
  const compare = useStable(onCompare);
  const all = useMemo(() => branchesOf(list), [list]);
  const shownTip = useMemo(
    () => all.find(({ chain }) => chain.nodes.some(({ checkpoint }) => checkpoint.id === at))?.tip.id,
    [all, at],
  );
  const entries = useMemo(
    () => entriesOf(all, { head, shownTip, go, compare }),
    [all, head, shownTip, go, compare],
  );
  if (all.length < 2) return null;
  return (
    <Menu
      trigger={
        <Button
          size="small"
          variant="ghost"
          icon={<GitBranch size={13} aria-hidden />}
          data-testid={debugIds.branches}
        >
          {t("debug.timeline.forks", { n: all.length })}
        </Button>
      }
      entries={entries}
    />
  );
}

interface Shown {
  readonly head: string | undefined;
  /** The end of the branch that is shown. */
  readonly shownTip: string | undefined;
  go(checkpointId: string | null): void;
  compare(checkpointId: string): void;
}

function entriesOf(all: readonly Branch[], { head, shownTip, go, compare }: Shown): MenuEntry[] {
  const isRow = ({ cause }: Branch) => cause === "whatIf";
  const branches = all.filter((branch) => !isRow(branch));
  const rows = all.filter(isRow).toSorted((a, b) => order(a) - order(b) || (a.tip.id < b.tip.id ? 1 : -1));
  const shown = (branch: Branch) => branch.tip.id === shownTip;
  const listed = branches.slice(0, LISTED);
  const goTo = (branch: Branch) => ({
    id: `go ${branch.tip.id}`,
    label: describe(branch),
    icon: <GitBranch size={14} aria-hidden />,
    checked: shown(branch),
    run: () => go(branch.tip.id === head ? null : branch.tip.id),
  });
  return [
    {
      id: "map",
      label: t("forks.open"),
      icon: <Waypoints size={14} aria-hidden />,
      run: () => useSession.getState().showTab("bottom", "forks"),
    },
    { id: "go", heading: t("debug.branches.go") },
    ...listed.map(goTo),
    // There may be hundreds, and none of them is what the thread did.
    ...(rows.length === 0
      ? []
      : [
          {
            id: "what-if",
            label: tn("whatIf.branchesOne", "whatIf.branches", rows.length),
            icon: <FlaskConical size={14} aria-hidden />,
            entries: rows.slice(0, MOST_ROWS).map(goTo),
          },
        ]),
    { id: "compare", heading: t("debug.branches.compare") },
    ...listed
      .filter((branch) => !shown(branch))
      .map((branch) => ({
        id: `compare ${branch.tip.id}`,
        label: describe(branch),
        icon: <ArrowRightLeft size={14} aria-hidden />,
        run: () => compare(branch.tip.id),
      })),
  ];
}

/** More branches than these are in the fork map only. */
const LISTED = 40;
/** What-if branches that are listed. */
const MOST_ROWS = 100;

const order = ({ first: { whatIf } }: Branch): number =>
  whatIf === undefined ? 0 : whatIf.row * 1_000 + whatIf.repeat;

export const branchName = ({ name, number, whatIf }: Called): string => {
  if (name !== undefined) return name;
  if (whatIf === undefined) return t("debug.branches.number", { n: number });
  const row = whatIf.row + 1;
  return whatIf.repeat > 0
    ? t("whatIf.branchRun", { row, run: whatIf.repeat + 1 })
    : t("whatIf.branch", { row });
};

/** What made it. */
export function branchCause({ cause, first }: Branch): string {
  if (cause === "whatIf") return t("debug.stepN", { n: first.step });
  return t(`debug.branches.${cause}`, { step: Math.max(0, first.step - 1), keys: listed(first.updated) });
}

export const branchSteps = ({ steps }: Branch): string =>
  tn("debug.branches.stepsOne", "debug.branches.steps", steps);

const describe = (branch: Branch): string =>
  [branchName(callOf(branch.chain)), branchCause(branch), branchSteps(branch)].join(" · ");
