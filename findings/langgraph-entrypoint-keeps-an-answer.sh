#!/bin/sh
# LangGraph 1.2.24: a new input of an entry point takes the answer that the input before it was given.
#
# A workflow asks twice. Input 1 asks "first" and is answered "A", then "second" waits. Input 2 is a new run from the beginning,
# yet "first" is not asked again: it gets the "A" that was meant for input 1, and the run asks "second" at once. The result of
# input 2 is made of both. In a StateGraph, and with durability "exit", a new input asks both questions.
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 langchain-core==1.8.3

cat >"$folder/try.py" <<'PYTHON'
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.types import Command, interrupt


@entrypoint(checkpointer=InMemorySaver())
def workflow(number):
    return [number, interrupt("first"), interrupt("second")]


def say(what, durability="sync", thread="t"):
    result = workflow.invoke(what, {"configurable": {"thread_id": thread}}, durability=durability)
    return [each.value for each in result["__interrupt__"]] if isinstance(result, dict) else result


print("input 1:", say(1))
print("answer A:", say(Command(resume="A")))
print("input 2:", say(2))
print("answer B:", say(Command(resume="B")))
print("exit, input 1:", say(1, "exit", "u"))
print("exit, answer A:", say(Command(resume="A"), "exit", "u"))
print("exit, input 2:", say(2, "exit", "u"))
PYTHON
cat >"$folder/expected" <<'TEXT'
input 1: ['first']
answer A: ['second']
input 2: ['second']
answer B: [2, 'A', 'B']
exit, input 1: ['first']
exit, answer A: ['second']
exit, input 2: ['first']
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
