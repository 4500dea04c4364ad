#!/bin/sh
# LangGraph's store in memory hands out its own values; the one in SQLite hands out copies.
#
# A node that changes the value of an item that it has read changes the store, without a `put`, and every later reader sees
# it: a test with `InMemoryStore` passes for a program that forgets to write, and the same program loses the change with a
# database. What is put is copied only on its outside, so that a list inside stays shared with the caller, too.
# (langgraph-checkpoint 4.3.2, langgraph-checkpoint-sqlite 3.1.2)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langgraph-checkpoint==4.3.2 langchain-core==1.8.3 \
  langgraph-checkpoint-sqlite==3.1.2

cat >"$folder/try.py" <<'PYTHON'
import sqlite3

from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

database = SqliteStore(sqlite3.connect(":memory:", isolation_level=None))
database.setup()
for name, store in (("memory", InMemoryStore()), ("sqlite", database)):
    notes = ["first"]
    store.put(("user",), "profile", {"visits": 1, "notes": notes})
    store.get(("user",), "profile").value["visits"] += 1
    print(name, "after a change of what was read:", store.get(("user",), "profile").value["visits"])
    notes.append("second")
    print(name, "after a change of what was put:", store.get(("user",), "profile").value["notes"])
PYTHON
cat >"$folder/expected" <<'TEXT'
memory after a change of what was read: 2
memory after a change of what was put: ['first', 'second']
sqlite after a change of what was read: 1
sqlite after a change of what was put: ['first']
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
