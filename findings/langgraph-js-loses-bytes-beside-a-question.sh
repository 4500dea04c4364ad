#!/bin/sh
# LangGraph.js: bytes that a node gives in the step in which another one asks come back as an object, or end the thread.
#
# Two nodes run beside each other: one reads a file, the other one asks the user. While the question waits, what the first gave
# is kept by the saver, marked as bytes; when the answer comes, the saver in memory reads all that it kept as JSON. A file of
# JSON has become the object that it describes, one with "42" a number, and with any other file the thread can never be
# answered: every try ends with an error about JSON that names no key. Without a question the bytes stay bytes, and the saver of
# Python keeps them in both cases. (@langchain/langgraph 1.7.3, @langchain/langgraph-checkpoint 1.2.2; langgraph 1.2.24)
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
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict):
    file: Any
    answer: str


for content in (b'{"a": 1}', b"\x89PNG"):
    graph = StateGraph(State)
    graph.add_node("read", lambda state: {"file": content})
    graph.add_node("ask", lambda state: {"answer": interrupt("Send it?")})
    graph.add_edge(START, "read")
    graph.add_edge(START, "ask")
    compiled = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    compiled.invoke({}, config)
    print("Python, asked meanwhile:", compiled.invoke(Command(resume="yes"), config)["file"])
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ file: Annotation(), answer: Annotation() });
for (const [title, content] of [
  ["an object", '{"a": 1}'],
  ["a number", "42"],
  ["a picture", "\x89PNG"],
]) {
  const file = new Uint8Array(Buffer.from(content, "latin1"));
  for (const asks of [false, true]) {
    const graph = new StateGraph(State)
      .addNode("read", () => ({ file }))
      .addNode("ask", () => ({ answer: asks ? interrupt("Send it?") : "yes" }))
      .addEdge(START, "read")
      .addEdge(START, "ask")
      .compile({ checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "1" } };
    await graph.invoke({}, config);
    let seen;
    try {
      if (asks) await graph.invoke(new Command({ resume: "yes" }), config);
      seen = (await graph.getState(config)).values.file;
    } catch (error) {
      seen = error.name;
    }
    console.log(`JS, ${title}, ${asks ? "asked meanwhile" : "not asked"}:`, seen);
  }
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, asked meanwhile: b'{"a": 1}'
Python, asked meanwhile: b'\x89PNG'
JS, an object, not asked: Uint8Array(8) [
  123, 34, 97,  34,
   58, 32, 49, 125
]
JS, an object, asked meanwhile: { a: 1 }
JS, a number, not asked: Uint8Array(2) [ 52, 50 ]
JS, a number, asked meanwhile: 42
JS, a picture, not asked: Uint8Array(4) [ 137, 80, 78, 71 ]
JS, a picture, asked meanwhile: SyntaxError
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
node "$folder/try.mjs" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
