/** Texts of the page that F1 opens about what is selected. */
export const help = {
  "help.langgraph": "In LangGraph: {words}",
  "help.edge": "Edge: {form}",
  "help.edge.plain":
    "Followed every time its node has finished. Several such edges from one node run their targets in the same super-step.",
  "help.edge.when":
    "Followed if the condition is true, for the state after the node’s own writes. Each conditional edge of a node decides by itself, so none, one or several are followed.",
  "help.edge.route":
    "An expression gives a label, or a list of labels, and each label leads to its target. Any other value takes “else”; without one the run fails and says so.",
  "help.edge.each":
    "Runs the target once for each item of a list, all in the next super-step. Each task is given its item and the extra values, not the shared state. Collect what they write in a state key with a reducer.",
  "help.edge.join":
    "Runs the target once, when all of its sources have finished, in whichever super-steps. Without a join, a node runs again for each edge that arrives in another super-step.",
  "help.edge.limit":
    "Taken instead of the node when a loop has come to it as often as its limit of visits allows: the node does not work then, and its other edges are not followed. The count begins with each input and goes on over the answers of people.",
  "help.edge.error":
    "Taken when the last attempt of the node has failed: the run goes on there instead of along the edges, with the error as an object in a state key if one is chosen.",
  "help.edge.forms": "Forms of edges",
  "help.edge.error.name": "On error",
  "help.edge.settings": "Settings",
  "help.chosen": "Chosen here",
  "help.key": "State key: {name}",
  "help.key.text":
    "Nodes read the value at the beginning of a super-step; what they write is joined at its end, by the reducer.",
  "help.key.reducers": "Reducers",
  "help.key.lifetimes": "Lifetimes",
  "help.key.channelAlone": "A key with a lifetime of its own has no reducer.",
  "help.end.start": "Start",
  "help.end.end": "End",
  "help.many.text": "What can be done with a selection. Every step can be undone.",
  "help.many.structure": "Structure",
  "help.many.arrange": "Arrange",
  "help.many.edit": "Edit",
  "help.many.select": "Select more",
  "help.none": "Graph",
  "help.none.text":
    "Nothing is selected. A run goes along the edges in super-steps: all nodes that are due work at once on the same state, then their writes are joined. Select a node, an edge or a state key and press {keys} to read about it.",
  "help.none.build": "Build",
  "help.none.run": "Run and look",
};
