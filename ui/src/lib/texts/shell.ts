/** Words of the window's frame, the canvas and the document. */
export const shell = {
  "shell.sync.waiting": "Your edits are waiting for the connection.",
  "shell.sync.waitingDetail": "They stay here and are sent as soon as it is back.",
  "shell.sync.refused": "The last edit was not accepted; the graph was loaded again.",
  "shell.edit.refused": "“{name}” was not possible.",
  "shell.undo.broken": "Undo history was cleared.",
} as const satisfies Record<string, string>;
