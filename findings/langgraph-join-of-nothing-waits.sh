#!/bin/sh
# LangGraph 1.2.24: an edge from an empty list of nodes compiles, and its target is due for ever.
#
# `add_edge([], "b")`, as a list that is computed gives it, is neither refused nor a start: `b` is never run, every run ends
# without an error, and `get_state` says that `b` is next. Going on with `None` changes nothing.
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


class State(TypedDict, total=False):
    n: int


builder = StateGraph(State)
builder.add_node("a", lambda state: {"n": 1})
builder.add_node("b", lambda state: {"n": 2})
builder.add_edge(START, "a")
builder.add_edge([], "b")
graph = builder.compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "t"}}
print("run:", graph.invoke({"n": 0}, config), "next:", graph.get_state(config).next)
print("go on:", graph.invoke(None, config), "next:", graph.get_state(config).next)
PYTHON
cat >"$folder/expected" <<'TEXT'
run: {'n': 1} next: ('b',)
go on: {'n': 1} next: ('b',)
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
