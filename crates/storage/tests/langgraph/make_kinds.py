"""Programs of other kinds: entry points with tasks, deep agents, what is stored only at the end, runs that were cancelled, time travel.
Usage: make_kinds.py OUT.sqlite > expected.json   (writes the database, and what the library itself reads from it)"""
import asyncio, json, operator, sys
from typing import Annotated, Any, TypedDict
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import StateGraph, START, END
from langgraph.graph.message import add_messages
from langgraph.store.sqlite import SqliteStore
from langgraph.types import Command, Send, StateUpdate, interrupt
from plain import plain, conf

class S(TypedDict, total=False):
    log: Annotated[list, operator.add]
    messages: Annotated[list, add_messages]
    n: int
    plan: Any

def note(name):
    return lambda s: {"log": [name]}

out = {}

def entry(s):
    return {"config": conf(s.config), "parent": conf(s.parent_config) if s.parent_config else None, "created_at": s.created_at,
            "step": s.metadata.get("step"), "source": s.metadata.get("source"), "next": list(s.next), "values": plain(s.values),
            "tasks": [{"id": t.id, "name": t.name, "error": None if t.error is None else str(t.error), "interrupts": [plain(i.value) for i in t.interrupts],
                       "state": conf(t.state) if isinstance(t.state, dict) else None} for t in s.tasks]}

def nested(rows):
    found = {}
    for row in rows:
        if ns := row.config["configurable"]["checkpoint_ns"]: found.setdefault(ns, []).append(row)
    shown = lambda row: {k: plain(v) for k, v in row.checkpoint["channel_values"].items() if not k.startswith(("branch:", "join:", "__"))}
    return {ns: [{"config": conf(row.config), "parent": conf(row.parent_config) if row.parent_config else None, "step": row.metadata.get("step"),
                  "source": row.metadata.get("source"), "values": shown(row)} for row in rows] for ns, rows in found.items()}

def keep(app, saver, thread):
    c = {"configurable": {"thread_id": thread}}
    out[thread] = {"history": [entry(s) for s in app.get_state_history(c)], "nested": nested(saver.list(c))}

def at(thread, **more): return {"configurable": {"thread_id": thread, **more}}
def fails(call, *arguments, **named):
    try: call(*arguments, **named)
    except ValueError: return
    raise AssertionError("it was to fail")

def functional(saver):
    tries = []
    @task
    def double(n): return n * 2
    @task(name="check it")
    def check(n):
        tries.append(n)
        if n == 6 and len(tries) == 1: raise ValueError("not yet")
        return {"n": n, "fine": True}
    @entrypoint(checkpointer=saver)
    def flow(numbers, *, previous=None):
        doubled = [double(n) for n in numbers]
        doubled = [f.result() for f in doubled]
        checked = check(doubled[-1]).result()
        answer = interrupt({"doubled": doubled})
        return entrypoint.final(value={"answer": answer, "before": previous}, save={"sum": sum(doubled), "checked": checked})
    fails(flow.invoke, [1, 2, 3], at("functional"))
    flow.invoke(None, at("functional"))
    flow.invoke(Command(resume="go"), at("functional"))
    flow.invoke([5], at("functional"))
    keep(flow, saver, "functional")
    @task
    def outer(n): return double(n).result() + interrupt(f"add to {n}?")
    @entrypoint(checkpointer=saver)
    def asks(n): return [f.result() for f in [outer(n), outer(n + 1)]]
    asks.invoke(1, at("calls"))
    keep(asks, saver, "calls")
    asks.invoke(Command(resume={i.id: 10 for i in asks.get_state(at("calls")).interrupts}), at("calls"))
    keep(asks, saver, "calls")

def agent(saver):
    class Found(TypedDict, total=False):
        log: Annotated[list, operator.add]
        messages: Annotated[list, add_messages]
    worker = StateGraph(S, output_schema=Found)
    worker.add_node("look", lambda s: {"log": [f"look {s['n']}"], "messages": [ToolMessage(f"found {s['n']}", tool_call_id=f"c{s['n']}", id=f"t{s['n']}")]})
    worker.add_node("ask", lambda s: {"log": [interrupt({"n": s["n"]})]} if s["n"] == 1 else {})
    worker.add_edge(START, "look"); worker.add_edge("look", "ask")
    team = StateGraph(S)
    team.add_node("split", lambda s: {"plan": {"parts": 3}})
    team.add_node("worker", worker.compile())
    team.add_node("sum", lambda s: Command(graph=Command.PARENT, goto="write", update={"log": ["handed up"], "n": 9}))
    team.add_edge(START, "split")
    team.add_conditional_edges("split", lambda s: [Send("worker", {"n": i}) for i in range(3)], ["worker"])
    team.add_edge("worker", "sum")
    g = StateGraph(S)
    g.add_node("think", lambda s: {"messages": [AIMessage("", id=f"a{len(s['messages'])}", tool_calls=[{"name": "look", "args": {"n": i}, "id": f"c{i}"} for i in range(3)])]})
    g.add_node("team", team.compile(), destinations=("write",))
    g.add_node("write", lambda s: {"messages": [AIMessage("done", id=f"w{len(s['messages'])}", usage_metadata={"input_tokens": 3, "output_tokens": 1, "total_tokens": 4})]})
    g.add_edge(START, "think"); g.add_edge("think", "team")
    app = g.compile(checkpointer=saver)
    app.invoke({"messages": [HumanMessage("Look it up", id="h")]}, at("agent"))
    keep(app, saver, "agent")
    app.invoke(Command(resume="yes"), at("agent"))
    app.invoke({"messages": [HumanMessage("Again", id="h2")]}, at("agent"))
    keep(app, saver, "agent")
    # A graph within that keeps a state of its own from run to run.
    memory = StateGraph(S)
    memory.add_node("count", lambda s: {"n": s.get("n", 0) + 1, "log": ["counted"]}); memory.add_edge(START, "count")
    g = StateGraph(S)
    kept = memory.compile(checkpointer=True)
    g.add_node("kept", kept); g.add_node("after", note("after")); g.add_edge(START, "kept"); g.add_edge("kept", "after")
    app = g.compile(checkpointer=saver)
    for _ in range(3): app.invoke({"log": ["in"]}, at("kept"))
    keep(app, saver, "kept")
    # A graph that a node calls, several times.
    part = StateGraph(S); part.add_node("step", note("step")); part.add_node("more", note("more")); part.add_edge(START, "step"); part.add_edge("step", "more")
    part = part.compile()
    def calls(s): return {"log": [len(part.invoke({"log": [i]})["log"]) for i in range(2)], "n": interrupt("n?")}
    g = StateGraph(S); g.add_node("calls", calls); g.add_edge(START, "calls")
    app = g.compile(checkpointer=saver)
    app.invoke({"log": ["in"]}, at("called"))
    app.invoke(Command(resume=4), at("called"))
    keep(app, saver, "called")

def at_exit(saver):
    inner = StateGraph(S)
    inner.add_node("write", note("write")); inner.add_node("ask", lambda s: {"log": [interrupt("well?")]})
    inner.add_edge(START, "write"); inner.add_edge("write", "ask")
    g = StateGraph(S)
    broken = [True]
    def boom(s):
        if broken.pop() if broken else False: raise ValueError("it broke")
        return {"log": ["mended"]}
    for name in ("a", "b"): g.add_node(name, note(name))
    g.add_node("inner", inner.compile()); g.add_node("boom", boom)
    g.add_edge(START, "a"); g.add_edge("a", "b"); g.add_edge("b", "inner"); g.add_edge("inner", "boom")
    app = g.compile(checkpointer=saver)
    app.invoke({"log": ["in"]}, at("exit"), durability="exit")
    keep(app, saver, "exit")
    fails(app.invoke, Command(resume="yes"), at("exit"), durability="exit")
    app.invoke(None, at("exit"), durability="exit")
    app.invoke({"log": ["again"]}, at("exit"), durability="exit")
    keep(app, saver, "exit")

def travel(saver):
    g = StateGraph(S)
    for name in ("a", "b", "c"): g.add_node(name, lambda s, name=name: {"log": [name], "n": len(s.get("log", []))})
    g.add_edge(START, "a"); g.add_conditional_edges("a", lambda s: "c" if s.get("n", 0) > 5 else "b", ["b", "c"]); g.add_edge("b", "c"); g.add_edge("c", END)
    app = g.compile(checkpointer=saver)
    c = at("travel"); app.invoke({"log": ["in"]}, c)
    past = list(app.get_state_history(c))
    forked = app.update_state(past[2].config, {"log": ["as c"]}, as_node="c")
    app.update_state(forked, {"n": 9}, as_node="a")
    app.invoke(None, c)
    app.update_state(past[1].config, None, as_node="__copy__")
    app.invoke(None, c)
    app.update_state(c, {"log": ["new input"]}, as_node=START)
    app.invoke(None, c)
    app.update_state(past[2].config, None, as_node=END)
    app.bulk_update_state(c, [[StateUpdate({"log": ["one"]}, "a"), StateUpdate({"log": ["two"]}, "b")], [StateUpdate({"log": ["three"]}, "c")]])
    keep(app, saver, "travel")
    stops = g.compile(checkpointer=saver, interrupt_before=["b"], interrupt_after=["c"])
    c = at("stopped"); stops.invoke({"log": ["in"]}, c)
    stops.invoke(None, c)
    stops.invoke({"log": ["again"]}, c)
    keep(stops, saver, "stopped")

async def cancelled(path):
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        g = StateGraph(S)
        started = asyncio.Event()
        async def slow(s):
            started.set()
            await asyncio.sleep(0 if s.get("n") else 3600)
            return {"log": ["slow"]}
        g.add_node("quick", note("quick")); g.add_node("slow", slow); g.add_node("last", note("last"))
        g.add_edge(START, "quick"); g.add_edge("quick", "slow"); g.add_edge(START, "last"); g.add_edge("slow", END)
        app = g.compile(checkpointer=saver)
        for durability in ("async", "sync", "exit"):
            started.clear()
            c = at(f"cancelled {durability}")
            running = asyncio.create_task(app.ainvoke({"log": ["in"]}, c, durability=durability))
            await started.wait()
            running.cancel()
            try: await running
            except asyncio.CancelledError: pass
            if durability == "sync":
                await app.aupdate_state(c, {"n": 1}, as_node="last")
                await app.ainvoke(None, c)
            history = [entry(s) async for s in app.aget_state_history(c)]
            if history: out[c["configurable"]["thread_id"]] = {"history": history, "nested": nested([row async for row in saver.alist(c)])}

def remember(path):
    with SqliteStore.from_conn_string(path) as store:
        store.setup()
        store.put(("users", "ada"), "profile", {"name": "Ada", "likes": ["tea", 3.5, None]})
        store.put(("users", "ada", "notes"), "1", {"text": "é日\"\\"}, ttl=60)
        store.put(("users", "bob"), "profile", {"name": "Bob"})
        store.put(("gone",), "x", {"a": 1}); store.delete(("gone",), "x")

path = sys.argv[1]
with SqliteSaver.from_conn_string(path) as saver:
    saver.setup()
    for make in (functional, agent, at_exit, travel): make(saver)
asyncio.run(cancelled(path))
remember(path)
json.dump(out, sys.stdout, ensure_ascii=False, separators=(",", ":"))
