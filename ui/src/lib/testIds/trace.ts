/** Test ids of the trace. */
export const traceIds = {
  panel: "trace",
  summary: "trace-summary",
  rows: "trace-rows",
  row: "trace-row",
  toggle: "trace-toggle",
  longest: "trace-longest",
  dearest: "trace-dearest",
  words: "trace-words",
  filter: "trace-filter",
  shape: "trace-shape",
  sums: "trace-sums",
  critical: "trace-critical",
  heat: "trace-heat",
  heatLegend: "heat-legend",
  heatBadge: "heat-badge",
};
