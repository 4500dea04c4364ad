#!/bin/sh
# LangGraph.js: where two nodes wait for an answer, one answer is given to both.
#
# Two nodes run beside each other, one asks whether to pay a bill, the other one whether to delete an account. The user reads the
# first question and says "yes": `Command({ resume: "yes" })`. Both nodes get it, the run ends, and the account is deleted. In
# Python the same command is refused, with an error that asks for the id of the question, and the description of `Command` there
# has a single value answer "the next interrupt". With an object of ids and answers each gets its own, in both.
# (@langchain/langgraph 1.7.3, @langchain/core 1.4.0; langgraph 1.2.24, langgraph-checkpoint 4.3.2)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 \
  langchain-core==1.8.3
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/langgraph@1.7.3 @langchain/core@1.4.0

cat >"$folder/try.py" <<'PYTHON'
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict, total=False):
    bill: str
    account: str


graph = StateGraph(State)
graph.add_node("pay", lambda state: {"bill": interrupt("Pay the bill?")})
graph.add_node("delete", lambda state: {"account": interrupt("Delete the account?")})
graph.add_edge(START, "pay")
graph.add_edge(START, "delete")
compiled = graph.compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "1"}}
asked = compiled.invoke({}, config)["__interrupt__"]
print("Python asks", [question.value for question in asked])
try:
    print("Python, one answer:", compiled.invoke(Command(resume="yes"), config))
except RuntimeError as error:
    print("Python, one answer:", str(error).split(".")[0])
answers = {question.id: "yes" if "bill" in question.value else "no" for question in asked}
print("Python, an answer by id each:", compiled.invoke(Command(resume=answers), config))
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";

const graph = new StateGraph(Annotation.Root({ bill: Annotation(), account: Annotation() }))
  .addNode("pay", () => ({ bill: interrupt("Pay the bill?") }))
  .addNode("delete", () => ({ account: interrupt("Delete the account?") }))
  .addEdge(START, "pay")
  .addEdge(START, "delete")
  .compile({ checkpointer: new MemorySaver() });
for (const way of ["one answer", "an answer by id each"]) {
  const config = { configurable: { thread_id: way } };
  const asked = (await graph.invoke({}, config)).__interrupt__;
  console.log("JS asks", asked.map((question) => question.value));
  const byId = Object.fromEntries(asked.map(({ id, value }) => [id, value.includes("bill") ? "yes" : "no"]));
  const seen = await graph.invoke(new Command({ resume: way === "one answer" ? "yes" : byId }), config);
  console.log(`JS, ${way}:`, seen, "next", (await graph.getState(config)).next);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python asks ['Delete the account?', 'Pay the bill?']
Python, one answer: When there are multiple pending interrupts, you must specify the interrupt id when resuming
Python, an answer by id each: {'bill': 'yes', 'account': 'no'}
JS asks [ 'Delete the account?', 'Pay the bill?' ]
JS, one answer: { bill: 'yes', account: 'yes' } next []
JS asks [ 'Delete the account?', 'Pay the bill?' ]
JS, an answer by id each: { bill: 'yes', account: 'no' } next []
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
node "$folder/try.mjs" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
