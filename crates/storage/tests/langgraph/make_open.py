"""Threads that are left open: in front of questions, second questions, answers that nothing has taken yet, edits and errors.
Usage: make_open.py OUT.sqlite > expected.json   (writes the database, and what each thread comes to when the library itself goes
on with a copy of it; releases of before 0.6 can answer questions only one after the other)"""
import json, operator, os, shutil, sys, tempfile
from typing import Annotated, TypedDict
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import StateGraph, START, END
from langgraph.types import Command, Send, interrupt

broken = True

class S(TypedDict, total=False):
    log: Annotated[list, operator.add]
    n: int

def note(name):
    return lambda s: {"log": [name]}

def asks(*questions):
    def ask(s): return {"log": [f"{q} {interrupt({'ask': q})}" for q in questions]}
    return ask

def line(ask):
    g = StateGraph(S)
    g.add_node("first", note("first")); g.add_node("ask", ask); g.add_node("last", note("last"))
    g.add_edge(START, "first"); g.add_edge("first", "ask"); g.add_edge("ask", "last"); g.add_edge("last", END)
    return g

def nested():
    inner = StateGraph(S)
    inner.add_node("write", lambda s: {"n": 7}); inner.add_node("ask", asks("inner?"))
    inner.add_edge(START, "write"); inner.add_edge("write", "ask")
    inner_app = inner.compile()
    g = StateGraph(S)
    g.add_node("first", note("first")); g.add_node("review", inner_app); g.add_node("last", note("last"))
    g.add_edge(START, "first"); g.add_edge("first", "review"); g.add_edge("review", "last")
    return g

def both():
    g = StateGraph(S)
    for name in ("a", "b"): g.add_node(name, asks(name + "?"))
    g.add_node("end", note("end")); g.add_node("after_a", note("after a"))
    g.add_edge(START, "a"); g.add_edge(START, "b"); g.add_edge(["a", "b"], "end"); g.add_edge("a", "after_a")
    return g

def packets():
    g = StateGraph(S)
    g.add_node("fan", note("fan")); g.add_node("ask", lambda s: {"log": [f"{s['n']} {interrupt({'n': s['n']})}"]})
    g.add_edge(START, "fan"); g.add_conditional_edges("fan", lambda s: [Send("ask", {"n": i}) for i in range(2)], ["ask"])
    return g

def fails():
    def boom(s):
        if broken: raise ValueError("it broke")
        return {"log": ["mended"]}
    g = StateGraph(S)
    g.add_node("fine", note("fine")); g.add_node("boom", boom); g.add_node("end", note("end"))
    g.add_edge(START, "fine"); g.add_edge(START, "boom"); g.add_edge(["fine", "boom"], "end")
    return g

def fails_inside():
    def boom(s):
        if broken: raise ValueError("it broke inside")
        return {"log": ["mended"]}
    inner = StateGraph(S)
    inner.add_node("write", lambda s: {"n": 7}); inner.add_node("boom", boom)
    inner.add_edge(START, "write"); inner.add_edge("write", "boom")
    g = StateGraph(S)
    g.add_node("first", note("first")); g.add_node("review", inner.compile()); g.add_node("last", note("last"))
    g.add_edge(START, "first"); g.add_edge("first", "review"); g.add_edge("review", "last")
    return g

NOBODY = "00000000-0000-0000-0000-000000000000"

def answer(app, c, value):
    """Answers the first question, by its id where there are several and ids."""
    asked = [i for t in app.get_state(c).tasks for i in t.interrupts]
    ids = [getattr(i, "id", None) or getattr(i, "interrupt_id", None) for i in asked]
    by_id = len(asked) > 1 and os.environ.get("BY_ID") == "1"
    app.invoke(Command(resume={ids[0]: value} if by_id else value), c)

def give(saver, app, c, value):
    """Stores an answer as the library does first, and ends there."""
    saver.put_writes(app.get_state(c).config, [("__resume__", value)], NOBODY)


def begin(saver, app, c):
    try: app.invoke({"log": ["in"]}, c)
    except ValueError: pass

def second(saver, app, c): begin(saver, app, c); answer(app, c, "A")
def given(saver, app, c): begin(saver, app, c); give(saver, app, c, "given")
def given_second(saver, app, c): second(saver, app, c); give(saver, app, c, "given")
def edited(saver, app, c): begin(saver, app, c); app.update_state(c, {"log": ["edit"]}, as_node="first")
def skipped(saver, app, c): begin(saver, app, c); app.update_state(c, {"log": ["in place"]}, as_node="ask")

# Each thread: its program, what is done before, and the answers with which it goes on; None goes on without one.
THREADS = {
    "one": (lambda: line(asks("one?")), begin, ["1"]),
    "second": (lambda: line(asks("one?", "two?")), second, ["B"]),
    "three": (lambda: line(asks("one?", "two?", "three?")), second, ["B", "C"]),
    "given": (lambda: line(asks("one?")), given, [None]),
    "given second": (lambda: line(asks("one?", "two?")), given_second, [None]),
    "nested": (nested, begin, ["yes"]),
    "nested given": (nested, given, [None]),
    "edited": (lambda: line(asks("one?")), edited, [None, "2"]),
    "skipped": (lambda: line(asks("one?")), skipped, [None]),
    "both": (both, second, ["B"]),
    "packets": (packets, second, ["B"]),
    "fails": (fails, begin, [None]),
    "fails inside": (fails_inside, begin, [None]),
}

def main(place):
    global broken
    out = {}
    with SqliteSaver.from_conn_string(place) as saver:
        saver.setup()
        for name, (make, before, _) in THREADS.items():
            broken = True
            before(saver, make().compile(checkpointer=saver), {"configurable": {"thread_id": name}})
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy.db")
        shutil.copy(place, copy)
        if os.path.exists(place + "-wal"): shutil.copy(place + "-wal", copy + "-wal")
        with SqliteSaver.from_conn_string(copy) as saver:
            for name, (make, _, answers) in THREADS.items():
                broken = False
                app, c = make().compile(checkpointer=saver), {"configurable": {"thread_id": name}}
                state = app.get_state(c)
                entry = {"answers": answers, "next": list(state.next), "questions": [i.value for t in state.tasks for i in t.interrupts]}
                for given in answers:
                    app.invoke(None if given is None else Command(resume=given), c)
                state = app.get_state(c)
                entry["values"], entry["left"] = state.values, list(state.next)
                out[name] = entry
    json.dump(out, sys.stdout, indent=1, ensure_ascii=False)

main(sys.argv[1])
