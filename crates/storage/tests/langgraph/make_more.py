"""A second program: joins, a node that is put off, delta channels, two levels of nesting, parallel questions, loops, edits.
Usage: make_more.py OUT.sqlite|postgres://… > expected.json   (writes the database, and what the library itself reads from it)"""
import sys, json, operator
from typing import Annotated, Any, TypedDict
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.graph import StateGraph, START, END
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt
from plain import plain, conf

class S(TypedDict, total=False):
    log: Annotated[list, operator.add]
    n: int
    found: Any

class D(TypedDict, total=False):
    messages: Annotated[list, DeltaChannel(lambda s, ws: add_messages(s, [m for w in ws for m in (w if isinstance(w, list) else [w])]), snapshot_frequency=3)]
    n: int

def note(name):
    return lambda s: {"log": [name]}

def joins():
    g = StateGraph(S)
    for n in ("a", "b", "slow", "c", "late"): g.add_node(n, note(n), defer=n == "late")
    g.add_edge(START, "a"); g.add_edge(START, "b"); g.add_edge("b", "slow"); g.add_edge(["a", "slow"], "c")
    g.add_edge("a", "late"); g.add_edge("c", END); g.add_edge("late", END)
    return g

def deltas():
    def talk(s): return {"messages": [HumanMessage(f"q{s['n']}", id=f"h{s['n']}"), AIMessage(f"a{s['n']}", id=f"a{s['n']}")], "n": s["n"] + 1}
    g = StateGraph(D); g.add_node("talk", talk); g.add_edge(START, "talk")
    g.add_conditional_edges("talk", lambda s: "talk" if s["n"] < 7 else END)
    return g

def deep():
    inner = StateGraph(S)
    def ask(s): return {"log": [f"inner {interrupt({'who': 'inner'})}"]}
    inner.add_node("ask", ask); inner.add_edge(START, "ask")
    middle = StateGraph(S); middle.add_node("inner", inner.compile()); middle.add_edge(START, "inner")
    g = StateGraph(S); g.add_node("middle", middle.compile()); g.add_node("after", note("after"))
    g.add_edge(START, "middle"); g.add_edge("middle", "after")
    return g

def parallel():
    def ask(s): return {"log": [interrupt({"n": s["n"]})]}
    g = StateGraph(S); g.add_node("fan", lambda s: {"log": ["fan"]}); g.add_node("ask", ask); g.add_node("one", lambda s: {"log": [interrupt("one?")]})
    g.add_edge(START, "fan"); g.add_conditional_edges("fan", lambda s: [Send("ask", {"n": i}) for i in range(3)] + ["one"], ["ask", "one"])
    return g

def command():
    g = StateGraph(S)
    g.add_node("go", lambda s: Command(goto=["left", Send("right", {"n": 5})], update={"n": 1}), destinations=("left", "right"))
    g.add_node("left", note("left")); g.add_node("right", lambda s: {"log": [f"right {s['n']}"]}); g.add_edge(START, "go")
    return g

def fails():
    def boom(s): raise ValueError("it broke")
    g = StateGraph(S); g.add_node("fine", note("fine")); g.add_node("boom", boom); g.add_edge(START, "fine"); g.add_edge(START, "boom")
    return g

def entry(s):
    return {"config": conf(s.config), "parent": conf(s.parent_config) if s.parent_config else None, "created_at": s.created_at,
            "step": s.metadata.get("step"), "source": s.metadata.get("source"), "next": list(s.next), "values": plain(s.values),
            "tasks": [{"id": t.id, "name": t.name, "error": None if t.error is None else str(t.error), "interrupts": [plain(i.value) for i in t.interrupts],
                       "state": conf(t.state) if isinstance(t.state, dict) else None} for t in s.tasks]}

out = {}
if sys.argv[1].startswith("postgres"):
    from langgraph.checkpoint.postgres import PostgresSaver as Saver
else:
    from langgraph.checkpoint.sqlite import SqliteSaver as Saver
with Saver.from_conn_string(sys.argv[1]) as saver:
    saver.setup()
    for name, make in (("joins", joins), ("deltas", deltas), ("deep", deep), ("parallel", parallel), ("command", command), ("fails", fails)):
        app = make().compile(checkpointer=saver)
        c = {"configurable": {"thread_id": name}}
        try: app.invoke({"log": ["in"], "n": 0} if name != "deltas" else {"messages": [HumanMessage("begin", id="b")], "n": 0}, c)
        except ValueError: pass
        if name == "deep":
            app.invoke(Command(resume="yes"), c)
            app.invoke({"log": ["again"]}, c)
        if name == "parallel":
            asked = app.get_state(c).interrupts
            app.invoke(Command(resume={asked[0].id: "first"}), c)
        if name == "joins":
            app.update_state(c, {"log": ["edited"]}, as_node="a")
            app.invoke({"log": ["second"]}, c)
        out[name] = {"history": [entry(s) for s in app.get_state_history(c)], "nested": {}}
json.dump(out, sys.stdout, indent=1, ensure_ascii=False)
