/** Test ids of changes since the last commit, and of conflicts. */
export const gitIds = {
  changes: "git-changes",
  summary: "git-summary",
  mark: "git-mark",
  moved: "git-moved",
  record: (id: string) => `git-record-${id}`,
  badge: "git-badge",
  conflict: "conflict",
  allOurs: "conflict-all-ours",
  allTheirs: "conflict-all-theirs",
  choice: (id: string) => `conflict-choice-${id}`,
  side: (id: string, side: string) => `conflict-${side}-${id}`,
  useResult: "conflict-use",
  later: "conflict-later",
};
