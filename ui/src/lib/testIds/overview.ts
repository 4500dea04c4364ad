/** Test ids of the overview of runs. */
export const overviewIds = {
  dialog: "overview",
  open: "overview-open",
  period: "overview-period",
  graph: "overview-graph",
  refresh: "overview-refresh",
  figure: (name: string) => `overview-figure-${name}`,
  slices: "overview-slices",
  unpriced: "overview-unpriced",
  unrecorded: "overview-unrecorded",
  failures: "overview-failures",
  nodes: "overview-nodes",
  list: "overview-list",
  run: "overview-run",
};
