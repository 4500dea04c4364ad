/** Test ids of the query desk. */
export const queryIds = {
  dialog: "query",
  words: "query-words",
  add: "query-add",
  condition: (kind: string) => `query-condition-${kind}`,
  value: (kind: string) => `query-value-${kind}`,
  result: "query-result",
  progress: "query-progress",
  unknown: "query-unknown",
  index: "query-index",
  indexSwitch: "query-index-switch",
  stop: "query-stop",
};
