"""Records what LangGraph makes of the functions beside it: python3 record.py > langgraph.json.

Needs langgraph 1.2.24 and langchain 1.5.2. A case is a graph of one function, `n`, and perhaps of a second one, `w`; the first
run has an input, each later one an answer. Of each run: how it ends, what waits after it, the state, what was emitted.
"""

import asyncio
import json
import sys
import warnings
from importlib.metadata import version
from typing import Annotated, Any
import operator

warnings.filterwarnings("ignore")

import functions
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import Command
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    x: Any
    log: Annotated[list, operator.add]
    messages: Annotated[list, add_messages]


def plain(value):
    if isinstance(value, BaseMessage):
        # Ids that nobody chose are left out.
        return [value.type, value.content, value.id if value.id and len(value.id) < 20 else None]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def graph(case):
    builder = StateGraph(State)
    builder.add_node("n", getattr(functions.made, case["function"]), destinations=("w",) if "w" in case else None)
    if "w" in case:
        builder.add_node("w", getattr(functions, case["w"]))
        builder.add_edge("w", END)
    else:
        builder.add_edge("n", END)
    builder.add_edge(START, "n")
    return builder.compile(checkpointer=InMemorySaver())


def given(app, config, answer):
    if isinstance(answer, dict) and answer.get("go_on"):
        return None
    if isinstance(answer, dict) and "by" in answer:
        waiting = {asked.value: asked.id for asked in app.get_state(config).interrupts}
        return Command(resume={waiting.get(text, text): value for text, value in answer["by"].items()})
    return Command(resume=answer)


async def run(app, config, input):
    """How a run ends, and what it emitted."""
    said, error = {"custom": [], "messages": []}, None
    try:
        async for mode, part in app.astream(input, config, stream_mode=["custom", "messages"]):
            if mode == "custom":
                said["custom"].append(part)
            elif part[0].id and len(part[0].id) < 20:
                said["messages"].append([part[0].id, part[0].content])
    except Exception as failure:
        error = type(failure).__name__
    try:
        state = app.get_state(config)
    except Exception as failure:
        # A step with two values for a plain key stays unreadable.
        return {"error": error or type(failure).__name__}
    return {
        **({"error": error} if error else {}),
        "asks": [{"value": asked.value, **({"schema": asked.response_schema} if asked.response_schema else {})} for asked in state.interrupts],
        "next": list(state.next),
        "state": plain(state.values),
        **{name: what for name, what in said.items() if what},
    }


def record(case):
    app, config = graph(case), {"configurable": {"thread_id": case["function"]}}
    inputs = [dict({"log": [], "messages": []}, **case["state"])] + case["answers"]
    runs = []
    for place, input in enumerate(inputs):
        runs.append(asyncio.run(run(app, config, given(app, config, input) if place else input)))
    return dict(case, record=runs)


def main():
    only = sys.argv[1:]
    cases = [record(case) for case in functions.CASES if not only or case["function"] in only]
    names = [case["function"] for case in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    versions = {name: version(name) for name in ("langgraph", "langchain", "langchain-core")}
    lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False, sort_keys=True) for case in cases)
    print('{\n "versions": %s,\n "cases": [\n%s\n ]\n}' % (json.dumps(versions), lines))


main()
