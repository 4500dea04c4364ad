#!/bin/sh
# LangGraph.js: a Date, a vector, a Buffer and NaN are themselves in the next node, and something else after a question.
#
# In one run the nodes hand the very values to each other. After a question, with the saver in memory, they are what JSON leaves
# of them: a Date is a text (`getTime` is gone), NaN and an infinity are `null` (which counts as 0 in a sum), a Float32Array, as
# embeddings come in, is an object with the keys "0", "1" and no length, and a Buffer the object of its `toJSON`. Set and
# Uint8Array are kept, so that a user has reason to think that the others are, too. No error, no warning. In Python a
# datetime, NaN and bytes are the same before and after.
# (@langchain/langgraph 1.7.3, @langchain/langgraph-checkpoint 1.2.2; langgraph 1.2.24, langgraph-checkpoint 4.3.2)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 \
  langchain-core==1.8.3
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/langgraph@1.7.3 @langchain/core@1.4.0 \
  @langchain/langgraph-checkpoint@1.2.2

cat >"$folder/try.py" <<'PYTHON'
from datetime import datetime, timezone
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict):
    values: dict[str, Any]
    answer: str


def make(state):
    return {"values": {"when": datetime(2026, 1, 1, tzinfo=timezone.utc), "mean": float("nan"), "file": b"ab"}}


def look(moment):
    def node(state):
        print(f"Python, {moment}: {[type(value).__name__ for value in state['values'].values()]}")

    return node


graph = StateGraph(State)
graph.add_sequence([("make", make), ("next", look("the next node"))])
graph.add_sequence([("ask", lambda state: {"answer": interrupt("Go on?")}), ("after", look("after the question"))])
graph.add_edge(START, "make")
graph.add_edge("next", "ask")
compiled = graph.compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "1"}}
compiled.invoke({}, config)
compiled.invoke(Command(resume="yes"), config)
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";

const made = {
  when: new Date(Date.UTC(2026, 0, 1)),
  mean: NaN,
  highest: Infinity,
  vector: new Float32Array([0.5, 1]),
  file: Buffer.from("ab"),
  bytes: new Uint8Array([97, 98]),
  tags: new Set(["a"]),
};
const look = (moment) => (state) => {
  for (const [key, value] of Object.entries(state.values)) {
    const text = typeof value === "number" ? value : JSON.stringify(value);
    console.log(`JS, ${moment}, ${key}: ${value?.constructor.name ?? "nothing"} ${text}`);
  }
  return {};
};
const graph = new StateGraph(Annotation.Root({ values: Annotation(), answer: Annotation() }))
  .addNode("make", () => ({ values: made }))
  .addNode("next", look("the next node"))
  .addNode("ask", () => ({ answer: interrupt("Go on?") }))
  .addNode("after", look("after the question"))
  .addEdge(START, "make")
  .addEdge("make", "next")
  .addEdge("next", "ask")
  .addEdge("ask", "after")
  .compile({ checkpointer: new MemorySaver() });
const config = { configurable: { thread_id: "1" } };
await graph.invoke({}, config);
await graph.invoke(new Command({ resume: "yes" }), config);
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, the next node: ['datetime', 'float', 'bytes']
Python, after the question: ['datetime', 'float', 'bytes']
JS, the next node, when: Date "2026-01-01T00:00:00.000Z"
JS, the next node, mean: Number NaN
JS, the next node, highest: Number Infinity
JS, the next node, vector: Float32Array {"0":0.5,"1":1}
JS, the next node, file: Buffer {"type":"Buffer","data":[97,98]}
JS, the next node, bytes: Uint8Array {"0":97,"1":98}
JS, the next node, tags: Set {}
JS, after the question, when: String "2026-01-01T00:00:00.000Z"
JS, after the question, mean: nothing null
JS, after the question, highest: nothing null
JS, after the question, vector: Object {"0":0.5,"1":1}
JS, after the question, file: Object {"type":"Buffer","data":[97,98]}
JS, after the question, bytes: Uint8Array {"0":97,"1":98}
JS, after the question, tags: Set {}
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
node "$folder/try.mjs" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
