#!/bin/sh
# LangGraph in Python: a question that is answered with `{}` is asked again, every time; in JavaScript `{}` is the answer.
#
# A form with optional fields is sent as it is: `Command(resume={})`. A dict as answer is also the way to answer several
# questions, by their ids, and a dict without keys is taken for that: it answers none. The run ends as if it had gone on,
# without an error, the node was run once more up to its question, and the thread waits where it waited. 0, False, the empty
# text and the empty list are answers, a dict with one field is one, and in LangGraph.js so is `{}`. Where the node asks with
# `response_schema`, a model whose fields all have defaults, `{}` is valid by it, and no answer either.
# (langgraph 1.2.24, langgraph-checkpoint 4.3.2, pydantic 2.14.4; @langchain/langgraph 1.7.3)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 \
  langchain-core==1.8.3 pydantic==2.14.4
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/langgraph@1.7.3 @langchain/core@1.4.0

cat >"$folder/try.py" <<'PYTHON'
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel


class Wishes(BaseModel):
    note: str = ""


class State(TypedDict, total=False):
    got: Any


for name, schema in (("", {}), (" by a schema", {"response_schema": Wishes})):
    for answer in (0, "", [], {"note": ""}, {}):
        if schema and not isinstance(answer, dict):
            continue
        runs = []

        def ask(state):
            runs.append(1)
            return {"got": interrupt("Any wishes?", **schema)}

        graph = StateGraph(State)
        graph.add_node("ask", ask)
        graph.add_edge(START, "ask")
        compiled = graph.compile(checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "1"}}
        compiled.invoke({}, config)
        seen = compiled.invoke(Command(resume=answer), config)
        seen = f"the node gets {seen['got']!r}" if "got" in seen else f"the thread waits at {compiled.get_state(config).next}"
        print(f"Python, answer{name} {answer!r}: {seen}, the node began {len(runs)} times")
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";

for (const answer of [0, "", [], { note: "" }, {}]) {
  const graph = new StateGraph(Annotation.Root({ got: Annotation() }))
    .addNode("ask", () => ({ got: interrupt("Any wishes?") }))
    .addEdge(START, "ask")
    .compile({ checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "1" } };
  await graph.invoke({}, config);
  const seen = await graph.invoke(new Command({ resume: answer }), config);
  console.log(`JS, answer ${JSON.stringify(answer)}: the node gets ${JSON.stringify(seen.got)}`);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, answer 0: the node gets 0, the node began 2 times
Python, answer '': the node gets '', the node began 2 times
Python, answer []: the node gets [], the node began 2 times
Python, answer {'note': ''}: the node gets {'note': ''}, the node began 2 times
Python, answer {}: the thread waits at ('ask',), the node began 2 times
Python, answer by a schema {'note': ''}: the node gets Wishes(note=''), the node began 2 times
Python, answer by a schema {}: the thread waits at ('ask',), the node began 2 times
JS, answer 0: the node gets 0
JS, answer "": the node gets ""
JS, answer []: the node gets []
JS, answer {"note":""}: the node gets {"note":""}
JS, answer {}: the node gets {}
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
node "$folder/try.mjs" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
