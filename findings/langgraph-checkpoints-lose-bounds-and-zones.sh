#!/bin/sh
# LangGraph 1.2.24: a bounded deque comes back from a checkpoint without its bound, and a time without its zone.
#
# `deque(maxlen=3)`, the usual "last three", grows for ever once the thread was read again; before that, in one process without
# a stop, it is bounded. A datetime in `Europe/Berlin` comes back with the fixed offset that it had, so that a day added
# over the change of the clocks gives another time than before. No error, no warning. (langgraph-checkpoint 4.3.2, memory saver)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 langchain-core==1.8.3 tzdata==2026.3

cat >"$folder/try.py" <<'PYTHON'
from collections import deque
from datetime import datetime, timedelta
from typing import TypedDict
from uuid import uuid4
from zoneinfo import ZoneInfo

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph


def SHOW(value):
    if isinstance(value, deque):
        return repr(deque([*value, "new"], value.maxlen))
    return f"{value.isoformat()}, a day later {(value + timedelta(days=1)).isoformat()}"


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


berlin = ZoneInfo("Europe/Berlin")
for value in (
    deque(["a", "b", "c"], maxlen=3),
    datetime(2026, 10, 24, 9, 0, tzinfo=berlin),
):
    print("written:", SHOW(value))
    print("read:   ", through_a_checkpoint(value, InMemorySaver()))
PYTHON
cat >"$folder/expected" <<'TEXT'
written: deque(['b', 'c', 'new'], maxlen=3)
read:    deque(['a', 'b', 'c', 'new'])
written: 2026-10-24T09:00:00+02:00, a day later 2026-10-25T09:00:00+01:00
read:    2026-10-24T09:00:00+02:00, a day later 2026-10-25T09:00:00+02:00
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
