#!/bin/sh
# LangGraph's ToolNode: a tool's `Command` to the parent graph loses its `update` when its `goto` is a list of `Send`.
#
# A tool of a subgraph hands a case over: `Command(graph=Command.PARENT, update={…}, goto=…)`. With the name of a node, a list
# of names, or one `Send`, the parent gets what the tool wrote, its ToolMessage among it. With a list of `Send`, even of one,
# the same command only goes: the note is missing, and the history ends with a call that has no answer, which models refuse with
# the next request. By the description of `Command`, `update` is applied to the graph's state whatever `goto` is, and a node
# that is a function does so. The node of LangGraph.js (1.7.3) does the same as this one.
# (langgraph 1.2.24, langgraph-prebuilt 1.1.3, langchain-core 1.8.3)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 \
  langgraph-prebuilt==1.1.3 langchain-core==1.8.3
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/langgraph@1.7.3 @langchain/core@1.4.0 zod@4.6.7

cat >"$folder/try.py" <<'PYTHON'
from typing import Annotated

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send


class State(MessagesState):
    note: str


def run(title, goto, by_tool=True):
    def command(call):
        update = {"note": "angry customer", "messages": [ToolMessage("handed over", tool_call_id=call)]}
        return Command(graph=Command.PARENT, goto=goto, update=update)

    @tool
    def hand_over(call: Annotated[str, InjectedToolCallId]):
        """Hands the case over to a person."""
        return command(call)

    inner = StateGraph(State)
    inner.add_node("tools", ToolNode([hand_over]) if by_tool else lambda state: command("c"))
    inner.add_edge(START, "tools")
    outer = StateGraph(State)
    outer.add_node("desk", inner.compile(), destinations=("person",))
    outer.add_node("person", lambda state: {})
    outer.add_edge(START, "desk")
    asked = AIMessage("", tool_calls=[{"id": "c", "name": "hand_over", "args": {}}])
    seen = outer.compile().invoke({"messages": [asked]})
    print(f"{title}: note {seen.get('note')!r}, messages {[message.type for message in seen['messages']]}")


send = Send("person", {"case": 1})
run("a name", "person")
run("a list of names", ["person"])
run("a Send", send)
run("a list of one Send", [send])
run("a list of one Send, from a function", [send], by_tool=False)
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, Command, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";

const State = Annotation.Root({ ...MessagesAnnotation.spec, note: Annotation() });
for (const [title, goto] of [
  ["a list of names", ["person"]],
  ["a list of one Send", [new Send("person", { case: 1 })]],
]) {
  const handOver = tool(
    (_, runtime) => {
      const messages = [new ToolMessage({ content: "handed over", tool_call_id: runtime.toolCallId })];
      return new Command({ graph: Command.PARENT, goto, update: { note: "angry customer", messages } });
    },
    { name: "hand_over", description: "Hands the case over to a person.", schema: z.object({}) },
  );
  const inner = new StateGraph(State).addNode("tools", new ToolNode([handOver])).addEdge(START, "tools").compile();
  const outer = new StateGraph(State)
    .addNode("desk", inner, { ends: ["person"] })
    .addNode("person", () => ({}))
    .addEdge(START, "desk")
    .compile();
  const asked = new AIMessage({ content: "", tool_calls: [{ id: "c", name: "hand_over", args: {} }] });
  const seen = await outer.invoke({ messages: [asked] });
  console.log(`JS, ${title}: note ${JSON.stringify(seen.note)}, messages ${seen.messages.map((message) => message.getType())}`);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
a name: note 'angry customer', messages ['ai', 'tool']
a list of names: note 'angry customer', messages ['ai', 'tool']
a Send: note 'angry customer', messages ['ai', 'tool']
a list of one Send: note None, messages ['ai']
a list of one Send, from a function: note 'angry customer', messages ['ai', 'tool']
JS, a list of names: note "angry customer", messages ai,tool
JS, a list of one Send: note undefined, messages ai
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
node "$folder/try.mjs" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
