"""One workload on LangGraph (Python): `runner.py WORKLOAD SIZE SAVER SECONDS`, one JSON object on stdout.

The graphs are those of crates/engine/examples/workloads/mod.rs.
"""

import functools
import json
import operator
import random
import sys
import tempfile
import time
from typing import Annotated, Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import Send
from typing_extensions import TypedDict


def chain_builder(n, extra=0):
    graph = StateGraph(TypedDict("State", {"x": int}))
    for i in range(n):
        graph.add_node(f"n{i}", lambda state: None)
        graph.add_edge(START if i == 0 else f"n{i - 1}", f"n{i}")
    rng = random.Random(1)
    for _ in range(extra):
        start = rng.randrange(n - 1)
        graph.add_edge(f"n{start}", f"n{rng.randrange(start + 1, n)}")
    return graph


def chain(size):
    return chain_builder(int(size)), {"x": 1}, lambda out: out["x"]


def loop(size):
    limit = int(size)
    graph = StateGraph(TypedDict("State", {"n": int}))
    for name in "ab":
        graph.add_node(name, lambda state: {"n": state["n"] + 1})
    graph.add_edge(START, "a")
    graph.add_edge("a", "b")
    graph.add_conditional_edges("b", lambda state: "a" if state["n"] < limit else END, ["a", END])
    return graph, {"n": 0}, lambda out: out["n"]


def send(size):
    k = int(size)
    graph = StateGraph(TypedDict("State", {"out": Annotated[list, operator.add]}))
    graph.add_node("w", lambda i: {"out": [i]})
    graph.add_node("join", lambda state: None)
    graph.add_conditional_edges(START, lambda state: [Send("w", i) for i in range(k)], ["w"])
    graph.add_edge("w", "join")
    return graph, {"out": []}, lambda out: len(out["out"])


def subgraph(size):
    inner = StateGraph(
        TypedDict("Inner", {"subject": Any, "jokes": list}),
        input_schema=TypedDict("InnerIn", {"subject": Any}),
        output_schema=TypedDict("InnerOut", {"jokes": list}),
    )
    inner.add_node("edit", lambda state: {"subject": f"{state['subject']} - hohoho"})
    inner.add_node("generate", lambda state: {"jokes": [f"Joke about {state['subject']}"]})
    inner.add_node("bump", lambda state: {"jokes": [state["jokes"][0] + " a"]})
    inner.add_edge(START, "edit")
    inner.add_edge("edit", "generate")
    inner.add_edge("generate", "bump")
    done = " a" * 10
    inner.add_conditional_edges(
        "bump", lambda state: END if state["jokes"][0].endswith(done) else "bump", ["bump", END]
    )
    graph = StateGraph(TypedDict("State", {"subjects": list, "jokes": Annotated[list, operator.add]}))
    graph.add_node("joke", inner.compile())
    graph.add_conditional_edges(
        START, lambda state: [Send("joke", {"subject": s}) for s in state["subjects"]], ["joke"]
    )
    subject = "q" * 1000
    return graph, {"subjects": [subject] * int(size)}, lambda out: len(out["jokes"])


LISTS = ["messages", "trigger_events", "categorizations", "responses"]
DICTS = ["slack_participants", "notified_assignees"]


def wide(size):
    a, b, n = {"25x300": (5, 5, 300), "15x600": (3, 5, 600), "9x1200": (3, 3, 1200)}[size]
    text = "q" * n
    non_empty = lambda old, new: new or old  # noqa: E731
    non_null = lambda old, new: old if new is None else new  # noqa: E731
    fields: dict[str, Any] = {key: Annotated[list, operator.add] for key in LISTS}
    fields |= {key: Annotated[dict, operator.or_] for key in DICTS}
    fields |= {key: Annotated[str, non_empty] for key in ["primary_issue_medium", "issue"]}
    fields |= {key: Annotated[Any, non_null] for key in ["user_info", "crm_info", "email_thread_id"]}
    fields |= {key: Any for key in ["autoresponse", "relevant_rules", "memory_docs", "bot_id"]}

    def node(reads, writes):
        def run(state):
            value = state.get(reads)
            items, one = (value, value[-1]) if isinstance(value, list) else ([value], value)
            return {key: items if key in LISTS else one if key in DICTS else text for key in writes}

        return run

    graph = StateGraph(TypedDict("State", fields))
    graph.add_node("one", node("messages", ["trigger_events", "primary_issue_medium"]))
    graph.add_node("two", node("trigger_events", ["autoresponse", "issue"]))
    graph.add_node("three", node("autoresponse", ["relevant_rules"]))
    graph.add_node("four", node("trigger_events", ["categorizations", "responses", "memory_docs"]))
    writes = "user_info crm_info email_thread_id slack_participants bot_id notified_assignees".split()
    graph.add_node("five", node("categorizations", writes))
    graph.add_node("six", node("responses", ["messages"]))
    graph.add_edge(START, "one")
    graph.add_edge("one", "two")
    graph.add_edge("two", "three")
    graph.add_edge("two", "four")
    graph.add_edge(["three", "four"], "five")
    graph.add_edge("five", "six")
    graph.add_conditional_edges(
        "six", lambda state: END if len(state["messages"]) > n else "one", ["one", END]
    )
    values = ["hi?" * 10, True, 1, 6327816386138, None] * 5
    event = {str(i) * 10: {str(j) * 10: values for j in range(b)} for i in range(a)}
    return graph, {"messages": [event]}, lambda out: len(out["messages"])


def react(size):
    calls = int(size)
    uid = "00000000-0000-4000-{}-{:012}".format

    def script(i):
        if i == calls:
            return AIMessage(id=uid(8001, i), content="answer" * 100)
        call = {"id": uid(8002, i), "name": "lookup", "args": {"query": uid(8003, i) * 100}}
        return AIMessage(id=uid(8001, i), content="", tool_calls=[call])

    said = [script(i) for i in range(calls + 1)]

    def tools(state):
        call = state["messages"][-1].tool_calls[0]
        answer = f"result for query: {call['args']['query']}" * 10
        return {"messages": ToolMessage(id=f"tool-{call['id']}", tool_call_id=call["id"], content=answer)}

    graph = StateGraph(TypedDict("State", {"messages": Annotated[list, add_messages]}))
    graph.add_node("agent", lambda state: {"messages": said[len(state["messages"]) // 2]})
    graph.add_node("tools", tools)
    graph.add_edge(START, "agent")
    graph.add_edge("tools", "agent")
    graph.add_conditional_edges(
        "agent", lambda state: "tools" if state["messages"][-1].tool_calls else END, ["tools", END]
    )
    first = {"messages": [HumanMessage(id="first", content="hi?")]}
    return graph, first, lambda out: len(out["messages"])


def talk():
    graph = StateGraph(TypedDict("State", {"messages": Annotated[list, add_messages]}))
    graph.add_node("listen", lambda state: None)
    graph.add_edge(START, "listen")
    return graph


def turn(i):
    return {"messages": [HumanMessage(id=f"turn-{i:06}", content="x" * 1000)]}


def open_saver(kind, folder):
    if kind == "memory":
        return InMemorySaver()
    if kind == "sqlite":
        import sqlite3

        from langgraph.checkpoint.sqlite import SqliteSaver

        path = f"{folder}/{time.monotonic_ns()}.db"
        return SqliteSaver(sqlite3.connect(path, check_same_thread=False))
    return None


def one_run(name, size, saver, folder):
    """A function that runs the workload once and gives (seconds, what it came to)."""
    if name == "compile":

        def build():
            began = time.perf_counter()
            chain_builder(int(size), int(size) // 2).compile()
            return time.perf_counter() - began, int(size)

        return build
    config = {"recursion_limit": 10**9, "configurable": {"thread_id": "t"}}
    if name == "talk":

        def converse():
            graph = talk().compile(checkpointer=open_saver(saver, folder))
            began = time.perf_counter()
            for i in range(int(size)):
                out = graph.invoke(turn(i), config)
            return time.perf_counter() - began, len(out["messages"])

        return converse
    stream = name == "stream"
    builder, given, measure = globals()["loop" if stream else name](size)

    def run():
        graph = compiled()
        began = time.perf_counter()
        if stream:
            came = sum(1 for _ in graph.stream(given, config, stream_mode="updates"))
        else:
            came = measure(graph.invoke(given, config))
        return time.perf_counter() - began, came

    if saver == "none":
        compiled = functools.cache(builder.compile)
    else:
        compiled = lambda: builder.compile(checkpointer=open_saver(saver, folder))  # noqa: E731
    return run


def main():
    name, size, saver, seconds = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as folder:
        run = one_run(name, size, saver, folder)
        began = time.monotonic()
        warm, came = run()
        times = []
        while not times or (time.monotonic() - began < float(seconds) and len(times) < 50):
            # A workload that alone fills the time has been measured by its first run.
            if not times and warm > float(seconds):
                times.append(warm)
                break
            times.append(run()[0])
    print(json.dumps({"seconds": times, "came_to": came}))


main()
