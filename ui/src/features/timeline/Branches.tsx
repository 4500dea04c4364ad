/** The branches of the thread by name and cause: where each ends, and how it differs from what is shown. */
import { ArrowRightLeft, FlaskConical, GitBranch } from "lucide-react";
import { useMemo } from "react";
import { Button } from "../../components/Button";
import { Menu, type MenuEntry } from "../../components/Menu";
import { type Branch, branchesOf } from "../../debugger/timeline/branches";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";

interface Props {
  readonly list: readonly CheckpointView[];
  readonly head: string | undefined;
  /** The checkpoint that is shown. */
  readonly at: string | undefined;
  onGo(checkpointId: string | null): void;
  onCompare(checkpointId: string): void;
}

export function Branches({ list, head, at, onGo, onCompare }: Props) {
  const all = useMemo(() => branchesOf(list), [list]);
  if (all.length < 2) return null;
  const branches = all.filter(({ cause }) => cause !== "whatIf");
  const rows = all
    .filter(({ cause }) => cause === "whatIf")
    .toSorted((a, b) => order(a) - order(b) || (a.tip.id < b.tip.id ? 1 : -1));
  const shown = (branch: Branch) => at !== undefined && branch.own.has(at);
  const goTo = (branch: Branch) => ({
    id: `go ${branch.tip.id}`,
    label: describe(branch),
    icon: <GitBranch size={14} aria-hidden />,
    checked: shown(branch),
    run: () => onGo(branch.tip.id === head ? null : branch.tip.id),
  });
  const entries: MenuEntry[] = [
    { id: "go", heading: t("debug.branches.go") },
    ...branches.map(goTo),
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
    ...branches
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
          {t("debug.timeline.forks", { n: all.length })}
        </Button>
      }
      entries={entries}
    />
  );
}

/** What-if branches that are listed. */
const MOST_ROWS = 100;

const order = ({ first: { whatIf } }: Branch): number =>
  whatIf === undefined ? 0 : whatIf.row * 1_000 + whatIf.repeat;

function describe(branch: Branch): string {
  const { cause, first } = branch;
  if (cause === "whatIf" && first.whatIf) {
    const { row, repeat } = first.whatIf;
    const named =
      repeat > 0
        ? t("whatIf.branchRun", { row: row + 1, run: repeat + 1 })
        : t("whatIf.branch", { row: row + 1 });
    const steps = tn("debug.branches.stepsOne", "debug.branches.steps", branch.steps);
    return [branch.name ?? named, t("debug.stepN", { n: first.step }), steps].join(" · ");
  }
  const step = Math.max(0, first.step - 1);
  const keys = first.updated.join(", ");
  const parts = [
    branch.name ?? t("debug.branches.number", { n: branch.number }),
    t(`debug.branches.${cause === "whatIf" ? "replay" : cause}`, { step, keys }),
    tn("debug.branches.stepsOne", "debug.branches.steps", branch.steps),
  ];
  return parts.join(" · ");
}
