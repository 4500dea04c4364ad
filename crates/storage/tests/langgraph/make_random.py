"""Draws programs, runs them with a checkpointer, and writes what the library itself reads from the database then.
Usage: make_random.py COUNT FIRST-SEED OUT.sqlite|postgres://… > expected.json

A program has two to six nodes: plain ones, nested graphs, ones that ask, fail, wait for the end or send packets, with edges,
joins, conditions, loops and commands between them; its state has keys with and without reducers, a delta key, and values of
many classes. A thread is run, answered, run again, edited and forked by chance. The same seed draws the same program."""
import dataclasses, datetime, decimal, enum, ipaddress, json, operator, pathlib, random, sys, uuid, warnings
from typing import Annotated, Any, TypedDict
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.channels import DeltaChannel
from langgraph.graph import StateGraph, START
from langgraph.graph.message import add_messages
from langgraph.types import Command, Send, interrupt
from pydantic import BaseModel
from plain import plain, conf

warnings.simplefilter("ignore")


class Kind(enum.Enum):
    A = "a"
    B = 2


@dataclasses.dataclass
class Line:
    what: str
    cents: int


class Policy(BaseModel):
    limit: decimal.Decimal
    lines: list[Any] = []


def grown(before, writes):
    return list(before or []) + [item for write in writes for item in write]


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]
    n: Annotated[int, operator.add]
    messages: Annotated[list, add_messages]
    grown: Annotated[list, DeltaChannel(grown, snapshot_frequency=3)]
    v: Any
    w: Any


def value(r, depth=0):
    inner = lambda: value(r, depth + 1)
    flat = [
        lambda: r.randrange(-2**40, 2**60),
        lambda: "".join(r.choice("aé日\"\\\n😀 ") for _ in range(r.randrange(12))),
        lambda: None,
        lambda: r.random() * 10 ** r.randrange(-6, 9),
        lambda: r.random() < 0.5,
        lambda: Line("x", r.randrange(9)),
        lambda: decimal.Decimal(r.randrange(1000)) / 10,
        lambda: r.choice(list(Kind)),
        lambda: datetime.timedelta(days=r.randrange(3), seconds=r.randrange(86400), microseconds=r.choice([0, 5])),
        lambda: datetime.date(2020 + r.randrange(9), 1 + r.randrange(12), 1 + r.randrange(28)),
        lambda: datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=r.randrange(10**7)),
        lambda: uuid.UUID(int=r.getrandbits(128)),
        lambda: pathlib.Path("in") / f"{r.randrange(9)}.pdf",
        lambda: ipaddress.ip_address(r.getrandbits(32)),
        lambda: bytes(r.randrange(256) for _ in range(r.randrange(6))),
        lambda: {r.choice("abc"), r.choice("def")},
    ]
    deep = [
        lambda: [inner() for _ in range(r.randrange(4))],
        lambda: {f"k{i}": inner() for i in range(r.randrange(4))},
        lambda: (1, inner()),
        lambda: Policy(limit=decimal.Decimal(r.randrange(100)), lines=[r.randrange(9)]),
        lambda: HumanMessage(f"hi {r.randrange(9)}", id=f"m{r.randrange(99)}"),
    ]
    return r.choice(flat + (deep if depth < 3 else []))()


def work(r, name):
    kind, seed = r.randrange(11), r.random()

    def node(state):
        own = random.Random(seed)
        out = {"log": [name], "n": 1}
        if kind == 1:
            out["log"] = [name, interrupt({"who": name})]
        if kind == 2 and state.get("n", 0) % 3 == 2:
            raise ValueError("it broke in " + name)
        if kind in (3, 4):
            out["v" if kind == 3 else "w"] = value(own)
        if kind == 5:
            out["messages"] = [AIMessage(f"said by {name}", id=f"{name}-{state.get('n', 0)}")]
        if kind == 6:
            out["grown"] = [value(own, 3)]
        if kind == 7:
            out["log"] = [name, interrupt("first?"), interrupt("second?")]
        return out

    return node


def build(r, depth=0):
    g, names = StateGraph(State), [f"n{i}" for i in range(r.randrange(2, 7))]
    for name in names:
        if depth < 2 and r.randrange(8) == 0:
            g.add_node(name, build(r, depth + 1).compile())
        else:
            g.add_node(name, work(r, name), defer=r.random() < 0.1)
    g.add_edge(START, names[0])
    if len(names) > 2 and r.random() < 0.4:
        g.add_edge(START, names[1])
    for i, a in enumerate(names[:-1]):
        after = names[i + 1]
        kind = r.randrange(6)
        if kind == 0 and i + 2 < len(names):
            g.add_edge(a, after)
            g.add_edge(a, names[i + 2])
        elif kind == 1:
            count = r.randrange(1, 4)
            g.add_conditional_edges(a, lambda s, t=after, c=count: [Send(t, {"n": j, "log": []}) for j in range(c)], [after])
        elif kind == 2 and i > 0:
            g.add_edge([names[i - 1], a], after)
            if r.random() < 0.5:
                g.add_edge(a, after)
        elif kind == 3:
            back = names[max(0, i - 1)]
            g.add_conditional_edges(a, lambda s, lo=back, hi=after: lo if s.get("n", 0) < 6 and s.get("n", 0) % 2 else hi, [back, after])
        else:
            g.add_edge(a, after)
    return g


def entry(s):
    return {"config": conf(s.config), "parent": conf(s.parent_config) if s.parent_config else None, "created_at": s.created_at,
            "step": s.metadata.get("step"), "source": s.metadata.get("source"), "next": list(s.next), "values": plain(s.values),
            "tasks": [{"id": t.id, "name": t.name, "error": None if t.error is None else str(t.error), "interrupts": [plain(i.value) for i in t.interrupts],
                       "state": conf(t.state) if isinstance(t.state, dict) else None} for t in s.tasks]}


def nested(saver, thread):
    found = {}
    for row in saver.list({"configurable": {"thread_id": thread}}):
        ns = row.config["configurable"]["checkpoint_ns"]
        if ns:
            found.setdefault(ns, []).append(row)
    # Delta keys of nested graphs are rebuilt by their graph only, and left out here.
    shown = lambda row: {k: plain(v) for k, v in row.checkpoint["channel_values"].items() if not k.startswith(("branch:", "join:", "__")) and k != "grown"}
    return {ns: [{"config": conf(row.config), "parent": conf(row.parent_config) if row.parent_config else None, "step": row.metadata.get("step"),
                  "source": row.metadata.get("source"), "values": shown(row)} for row in rows] for ns, rows in found.items()}


def quiet(call, *arguments):
    try:
        return call(*arguments)
    except Exception:
        return None


def live(r, app, thread):
    c = {"configurable": {"thread_id": thread}, "recursion_limit": 14, "metadata": {"drawn": True}}
    quiet(app.invoke, {"log": ["in"], "n": 0}, c)
    for _ in range(r.randrange(4)):
        state = quiet(app.get_state, c)
        if state is None:
            break
        if len(state.interrupts) > 1 and r.random() < 0.5:
            some = r.sample(list(state.interrupts), r.randrange(1, len(state.interrupts)))
            quiet(app.invoke, Command(resume={i.id: "some" for i in some}), c)
        elif state.interrupts:
            quiet(app.invoke, Command(resume=r.choice(["yes", {"a": 1}, None, [1]])), c)
        elif state.next:
            quiet(app.invoke, None, c)
        else:
            quiet(app.invoke, {"log": ["again"], "v": value(r)}, c)
    if r.random() < 0.5:
        past = r.choice(list(app.get_state_history(c)) or [None])
        if past and past.next and past.next[0] != START:
            config = quiet(app.update_state, past.config, {"log": ["edit"], "n": 1}, past.next[0])
            if config:
                quiet(app.invoke, None, {**config, "recursion_limit": 14})
        elif past:
            quiet(app.invoke, None, {**past.config, "recursion_limit": 14})


def main(count, first, place):
    if place.startswith("postgres"):
        from langgraph.checkpoint.postgres import PostgresSaver as Saver
    else:
        from langgraph.checkpoint.sqlite import SqliteSaver as Saver
    out = {}
    with Saver.from_conn_string(place) as saver:
        saver.setup()
        for seed in range(first, first + count):
            r, thread = random.Random(seed), f"t{seed}"
            app = quiet(lambda: build(r).compile(checkpointer=saver))
            if app is None:
                continue
            live(r, app, thread)
            history = quiet(lambda: [entry(s) for s in app.get_state_history({"configurable": {"thread_id": thread}})])
            if history is None:
                print(f"{thread}: the library does not read it", file=sys.stderr)
                continue
            if history:
                out[thread] = {"history": history, "nested": nested(saver, thread)}
    json.dump(out, sys.stdout, ensure_ascii=False, separators=(",", ":"))
    print(len(out), "programs,", sum(len(t["history"]) + sum(map(len, t["nested"].values())) for t in out.values()), "checkpoints", file=sys.stderr)


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
