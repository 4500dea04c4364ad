#!/bin/sh
# LangGraph 1.2.24: an array of objects becomes `None` in a checkpoint, and an exception its text.
#
# A NumPy array of numbers comes back as it was. One of `dtype=object` (a column of texts, as pandas gives it) comes back as
# `None`, without an error when it is written or read: the next node has nothing. Scalars of NumPy are refused instead,
# with a TypeError that ends the run. An exception that is kept in the state comes back as a `str`, so that
# `isinstance(value, Exception)` says that all went well. (langgraph-checkpoint 4.3.2, memory saver)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 langchain-core==1.8.3 numpy==2.4.4

cat >"$folder/try.py" <<'PYTHON'
from typing import TypedDict
from uuid import uuid4

import numpy
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph


def SHOW(value):
    return f"{type(value).__name__} {value!r}"


class State(TypedDict, total=False):
    value: object
    seen: str


def look(state):
    return {"seen": SHOW(state["value"])}


def through_a_checkpoint(value, saver):
    """Gives what a node wrote, and what the node after an interrupt reads."""
    builder = StateGraph(State)
    builder.add_node("write", lambda state: {"value": value})
    builder.add_node("look", look)
    builder.add_edge(START, "write")
    builder.add_edge("write", "look")
    graph = builder.compile(checkpointer=saver, interrupt_before=["look"])
    config = {"configurable": {"thread_id": str(uuid4())}}
    graph.invoke({}, config)
    return graph.invoke(None, config)["seen"]


for value in (
    numpy.array([1, 2]),
    numpy.array(["Ada", None], dtype=object),
    numpy.float32(1.5),
    ValueError("no stock"),
):
    print("written:", SHOW(value))
    try:
        print("read:   ", through_a_checkpoint(value, InMemorySaver()))
    except TypeError as error:
        print("refused:", error)
PYTHON
cat >"$folder/expected" <<'TEXT'
written: ndarray array([1, 2])
read:    ndarray array([1, 2])
written: ndarray array(['Ada', None], dtype=object)
read:    NoneType None
written: float32 np.float32(1.5)
refused: Type is not msgpack serializable: numpy.float32
written: ValueError ValueError('no stock')
read:    str "ValueError('no stock')"
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
