/** Test ids of a file that is no graph. */
export const fileTextIds = {
  pane: "file-text",
  editor: "file-text-editor",
  problem: "file-text-problem",
  save: "file-text-save",
  versions: "file-text-versions",
  new: "file-text-new",
};
