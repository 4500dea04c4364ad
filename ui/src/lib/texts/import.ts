/** Texts about graphs that come into the open one. */
export const imports = {
  "import.command": "Import into this graph…",
  "import.title": "Import “{name}”",
  "import.how": "How it is imported",
  "import.beside": "Add to this graph",
  "import.besideHelp": "Its nodes come below those that are here, with new names where theirs are taken.",
  "import.update": "Update nodes of the same name",
  "import.updateOne": "{names} takes its new settings and edges and stays where it is. What is new is added.",
  "import.updateMany":
    "{names} take their new settings and edges and stay where they are. What is new is added.",
  "import.keys":
    "State keys that differ here: {names}. Added nodes get keys of their own, updated nodes change them.",
  "import.open": "Open as a graph of its own",
  "import.openHelp": "In a tab of its own; this graph stays as it is.",
  "import.confirm": "Import",
  "import.more": "{n} more",
  "import.edit": "import {name}",
  "import.same": "Nothing to import: the graph has all of it.",
} as const;
