/** Texts about a file that is no graph, which is shown as what it is. */
export const fileText = {
  "fileText.label": "Text of the file",
  "fileText.title": "{file} is not a graph",
  "fileText.mended": "The text is JSON again",
  "fileText.mendedHelp": "Save it, and it opens as a graph where it is one.",
  "fileText.save": "Save text",
  "fileText.versions": "Earlier versions",
  "fileText.new": "New graph",
  "fileText.noEdit": "Not done: {name}",
  "fileText.noEditHelp": "The open file is not a graph. Correct its text, or make a new graph.",
} as const;
