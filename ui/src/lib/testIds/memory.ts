/** Test ids of long-term memory. */
export const memoryIds = {
  dialog: "memory",
  item: "memory-item",
  search: "memory-search",
  namespace: "memory-namespace",
  value: "memory-value",
  save: "memory-save",
  remove: "memory-remove",
  add: "memory-add",
  key: "memory-key",
  place: "memory-place",
} as const;
