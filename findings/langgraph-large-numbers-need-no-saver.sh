#!/bin/sh
# LangGraph 1.2.24 with langgraph-checkpoint 4.3.2: a whole number of more than 64 bits runs without a checkpointer only.
#
# The same graph with the same input: without a checkpointer it gives 2**64; with one, even the one in memory, the run fails
# with a TypeError of the serializer, after the node has done its work.
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 langchain-core==1.8.3

cat >"$folder/try.py" <<'PYTHON'
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph


class State(TypedDict):
    n: int


def double(state):
    print("the node works on", state["n"])
    return {"n": state["n"] * 2}


builder = StateGraph(State)
builder.add_node("double", double)
builder.add_edge(START, "double")
print("without:", builder.compile().invoke({"n": 2**63}))
graph = builder.compile(checkpointer=InMemorySaver())
try:
    print("with:", graph.invoke({"n": 2**63}, {"configurable": {"thread_id": "t"}}))
except TypeError as error:
    print("with: TypeError:", error)
PYTHON
cat >"$folder/expected" <<'TEXT'
the node works on 9223372036854775808
without: {'n': 18446744073709551616}
the node works on 9223372036854775808
with: TypeError: Integer exceeds 64-bit range
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
