#!/bin/sh
# LangGraph 1.2.24: messages behind "remove all" are not merged by their ids.
#
# Of two messages with one id in an update the later one replaces the earlier. Where the update begins with the removal of all
# messages, which is how a conversation is rewritten, both stay, and the list holds one id twice.
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 langchain-core==1.8.3

cat >"$folder/try.py" <<'PYTHON'
from langchain_core.messages import HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

two = [HumanMessage("first", id="1"), HumanMessage("second", id="1")]
print("merged:", [message.content for message in add_messages([], two)])
rewritten = add_messages([HumanMessage("old", id="0")], [RemoveMessage(id=REMOVE_ALL_MESSAGES), *two])
print("after remove all:", [(message.id, message.content) for message in rewritten])
PYTHON
cat >"$folder/expected" <<'TEXT'
merged: ['second']
after remove all: [('1', 'first'), ('1', 'second')]
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
