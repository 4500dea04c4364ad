"""Random cases: small graphs with everything that can meet, and scripts that run into it.

A case is drawn in three layers: which features it has, a graph with them, a script that runs into them. Left out on
purpose is what depends on which task is faster (two tasks that fail at the same moment) and what
docs/langgraph-differences.md lists, so that a difference means something.
"""

import random

NAMES = ["a", "b", "c", "d", "e", "f"]
BELOW = {1: ["s1", "s2", "s3"], 2: ["t1", "t2"]}

# How often a case has a feature.
FEATURES = {
    "deltas": 0.25,
    "retries": 0.3,
    "handlers": 0.4,
    "cache": 0.15,
    "channels": 0.3,
    "schemas": 0.12,
    "parents": 0.6,
    "calls": 0.15,
    "exit": 0.06,
    "async": 0.05,
    "subgraphs": 0.2,
    "threads": 0.1,
    "output": 0.08,
    "defaults": 0.06,
}

# How long a failing node works before it fails, in milliseconds: three attempts of one end before the first of the other,
# also on a machine that others keep busy.
PAUSES = [120, 700]


class Drawn:
    """What one case is drawn with."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.features = {name for name, share in FEATURES.items() if self.rng.random() < share}
        # What the first checkpoint of a run that stores its last one only looks like is a difference that is meant.
        if {"deltas", "exit"} <= self.features:
            self.features.remove("exit")
        # So is what shows of a question that was answered before its task failed.
        self.asks = self.rng.random() < 0.5
        self.pauses = PAUSES[:]
        self.failing = 0

    def has(self, feature):
        return feature in self.features

    def once_in(self, share):
        return self.rng.random() < share


# ── Nodes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def target(rng, names):
    def one():
        if rng.random() < 0.2:
            return {"send": rng.choice(names), "with": {"x": rng.randint(1, 9), "log": ["p"]}}
        return rng.choice(names + ["__end__"])

    return [one() for _ in range(rng.randint(0, 2))]


def failure(drawn, name):
    """A failure that every run meets at a time of its own."""
    rng = drawn.rng
    drawn.failing += 1
    kind = rng.choice(["RuntimeError", "ValueError", "ConnectionError"])
    return [{"sleep": drawn.pauses.pop(0)}, {"fail": kind, "message": name, "times": rng.randint(1, 3)}]


def written(drawn, name, state, asked):
    rng, update = drawn.rng, {}
    if rng.random() < 0.9:
        update["log"] = [{"$text": name + " {answers}" if asked else name}]
    if rng.random() < 0.15:
        update["x"] = rng.randint(1, 4)
    if rng.random() < 0.15:
        update["n"] = rng.randint(1, 3)
    if rng.random() < 0.12:
        update["t"] = [name]
    if rng.random() < 0.05:
        update["log"] = {"overwrite": ["over " + name]}
    if "d" in state and rng.random() < 0.6:
        update["d"] = [name] if rng.random() < 0.9 else {"overwrite": ["over " + name]}
    if "u" in state and rng.random() < 0.3:
        update["u"] = name
    if "o" in state and rng.random() < 0.4:
        update["o"] = {name: {"$": "runs"}}
    return update


def body(drawn, name, names, state, below):
    """Actions of a node; `below` is how many graphs are around its graph."""
    rng, actions, asked = drawn.rng, [], False
    kind = rng.random()
    if kind < 0.18:
        asked = True
        for k in range(rng.randint(1, 2)):
            actions.append({"ask": {"$text": f"{name}?{k}"}})
    elif kind < 0.3 and below == 0 and drawn.pauses:
        actions += failure(drawn, name)
    if rng.random() < 0.12:
        actions.append({"emit": {"$text": name + " {runs}"}})
    if drawn.has("calls") and rng.random() < 0.25 and below == 0:
        # Calls at once would begin and end in any order.
        calls = [[rng.choice(["half", "twice"]), [{"$text": name}]]]
        actions.append({"call": calls})
        actions.append({"write": {"log": {"$": "results"}}})
    update = written(drawn, name, state, asked)
    if update:
        actions.append({"write": update})
    chance = rng.random()
    if chance < 0.12:
        actions.append({"command": {"goto": target(rng, names)}})
    elif chance < 0.35 and below and drawn.has("parents"):
        up = {"graph": "parent"}
        if rng.random() < 0.7:
            up["update"] = {"log": ["up " + name]}
        if rng.random() < 0.6 and below == 1:
            up["goto"] = target(rng, NAMES[:2])
        actions.append({"if": {"$lt": [{"$": "runs"}, 3]}, "command": up})
    return actions


def retry(rng):
    policy = {"max_attempts": rng.randint(2, 3), "initial_interval": 0.001, "jitter": False}
    if rng.random() < 0.6:
        policy["retry_on"] = rng.sample(["RuntimeError", "ValueError", "ConnectionError", "OSError", "Exception"], rng.randint(1, 2))
    if rng.random() < 0.2:
        return [policy, {"max_attempts": 3, "initial_interval": 0.001, "jitter": False, "retry_on": ["ValueError"]}]
    return policy


def on_error(rng, name, names):
    actions = [{"write": {"log": [{"$text": "handled {error.node} {error.error}"}]}}]
    chance = rng.random()
    if chance < 0.3:
        actions.append({"command": {"goto": target(rng, names)}})
    elif chance < 0.4:
        actions = [{"fail": "KeyError", "message": "handler of " + name, "times": 1}] + actions
    return actions


def fails(actions):
    return any("fail" in action for action in actions)


def asks(actions):
    return any("ask" in action for action in actions)


# ── Graphs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def state_of(drawn):
    rng = drawn.rng
    state = {
        "x": {},
        "log": {"type": "array", "reducer": "append"},
        "n": {"type": "integer", "reducer": "max" if rng.random() < 0.15 else "add"},
        "t": {"channel": rng.choice(["topic", "topic_accumulate", "ephemeral_any", "any_value"])},
    }
    if drawn.has("deltas"):
        state["d"] = {"type": "array", "reducer": "append", "channel": "delta"}
        if rng.random() < 0.7:
            state["d"]["snapshot_frequency"] = rng.randint(1, 4)
    if drawn.has("channels"):
        state["u"] = {"channel": rng.choice(["untracked", "untracked_any", "ephemeral", "ephemeral_any", "any_value", "topic"])}
        state["o"] = {"type": "object", "reducer": "merge"}
        if rng.random() < 0.3:
            state["left"] = {"managed": rng.choice(["remaining_steps", "is_last_step"])}
    return state


def nodes_of(drawn, names, nested, state, below):
    rng, nodes = drawn.rng, {}
    order = names[:]
    rng.shuffle(order)
    for name in order:
        if nested and rng.random() < 0.35:
            nodes[name] = {"graph": nested}
            nested = None
            continue
        node = nodes[name] = {"do": body(drawn, name, names, state, below)}
        if rng.random() < 0.12:
            node["defer"] = True
        if rng.random() < 0.08:
            node["input"] = rng.choice([["x"], ["log"], ["x", "n"]])
        if drawn.has("retries") and (fails(node["do"]) or rng.random() < 0.1):
            node["retry"] = retry(rng)
        if drawn.has("handlers") and fails(node["do"]) and rng.random() < 0.7:
            node["on_error"] = on_error(rng, name, names)
        # What was asked is not kept with a result; that difference is meant.
        if drawn.has("cache") and not asks(node["do"]) and rng.random() < 0.5:
            # LangGraph's own key of an input depends on which of its texts are one object in memory.
            node["cache"] = {"key": rng.choice([{"$": "state.x"}, {"$len": {"$": "state.log"}}])}
    return nodes


def edges_of(drawn, names):
    rng = drawn.rng
    edges = [{"from": "__start__", "to": rng.choice(names)}]
    pairs = {("__start__", edges[0]["to"])}

    def edge(source, to):
        if (source, to) not in pairs and source != to:
            pairs.add((source, to))
            edges.append({"from": source, "to": to})

    if rng.random() < 0.4:
        edge("__start__", rng.choice(names))
    for _ in range(rng.randint(1, len(names) + 1)):
        edge(rng.choice(names), rng.choice(names + ["__end__"]))
    joins = 0
    while len(names) > 2 and joins < 2 and rng.random() < 0.45:
        sources = rng.sample(names, min(len(names) - 1, rng.choice([2, 2, 3])))
        edges.append({"from": sources, "to": rng.choice([name for name in names if name not in sources])})
        joins += 1
    for k in range(rng.randint(0, 2)):
        source = rng.choice(names + ["__start__"]) if rng.random() < 0.2 else rng.choice(names)
        options = [target(rng, names) for _ in range(rng.randint(2, 3))]
        route = {"$at": [options, {"$mod": [{"$len": {"$": "state.log"}}, len(options)]}]}
        edges.append({"from": source, "route": route, "name": f"r{k}"})
    return edges


def graph(drawn, names, nested, below):
    rng, state = drawn.rng, state_of(drawn)
    made = {"state": state, "nodes": nodes_of(drawn, names, nested, state, below), "edges": edges_of(drawn, names)}
    if drawn.has("schemas") and below == 0:
        if rng.random() < 0.5:
            made["input"] = ["x", "log"]
        if rng.random() < 0.5:
            made["output"] = rng.choice([["log"], ["x", "n"], ["log", "t"]])
        if rng.random() < 0.5:
            made["private"] = {"secret": {}}
    if drawn.has("defaults") and below == 0:
        made["node_defaults"] = {"retry": retry(rng)}
    return made


def called(drawn, name):
    """A task: what it does is the same in every run, except that it may ask or fail first."""
    rng, actions, chance = drawn.rng, [], drawn.rng.random()
    if chance < 0.35 and drawn.asks:
        actions.append({"ask": {"$text": name + "? {args.0}"}})
    elif chance < 0.45 and not drawn.asks:
        actions.append({"fail": "ValueError", "message": name, "times": 1})
    actions.append({"return": {"$text": name + " {args.0} {answers}"}})
    made = {"do": actions}
    if rng.random() < 0.3:
        made["retry"] = {"max_attempts": 2, "initial_interval": 0.001, "jitter": False, "retry_on": ["ValueError"]}
    return made


def workflow(drawn):
    """An entry point that calls tasks, asks, and hands something to its next run."""
    rng = drawn.rng
    tasks = {name: called(drawn, name) for name in ["half", "twice", "thrice"][: rng.randint(1, 3)]}
    if rng.random() < 0.25:
        tasks["outer"] = {"do": [{"call": [["half", [{"$text": "of {args.0}"}]]]}, {"return": {"$": "results"}}]}
    cached = rng.random() < 0.25
    for one in tasks.values():
        if cached and not asks(one["do"]) and rng.random() < 0.7:
            one["cache"] = {}
    actions = []
    for k in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.55:
            call = {"call": [[rng.choice(list(tasks)), [f"c{k}"]]]}
            # In Python that would catch questions too.
            if rng.random() < 0.2 and not drawn.asks:
                call["catch"] = True
            actions.append(call)
        elif kind < 0.8 and drawn.asks:
            actions.append({"ask": {"$text": f"q{k} " + "{results}"}})
        elif kind < 0.9 or drawn.asks:
            actions.append({"emit": {"$text": f"at {k}" + " {runs}"}})
        else:
            actions.append({"fail": "RuntimeError", "message": f"f{k}", "times": rng.randint(1, 2)})
    value = {"got": {"$": "results"}, "said": {"$": "answers"}, "before": {"$": "previous"}}
    if rng.random() < 0.5:
        actions.append({"final": [value, {"$add": [{"$or": [{"$": "previous"}, 0]}, 1]}]})
    else:
        actions.append({"return": {"got": {"$": "results"}, "said": {"$": "answers"}}})
    entry = {"name": "wf", "do": actions}
    if rng.random() < 0.2:
        entry["retry"] = retry(rng)
    made = {"entrypoint": entry, "tasks": tasks}
    if cached:
        made["cache"] = True
    return made


# ── Scripts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def runner(drawn, names, limit, durable=True):
    rng, flags = drawn.rng, {}
    if not durable:
        # LangGraph crashes when a graph without checkpointer is told how to store.
        flags["durability"] = None
        drawn.features -= {"exit", "async"}
    if drawn.has("subgraphs"):
        flags["subgraphs"] = True
    if drawn.has("exit"):
        flags["durability"] = "exit"
    elif drawn.has("async"):
        flags["durability"] = "async"

    def run(op):
        if names and rng.random() < 0.2:
            op["interrupt_before"] = rng.choice([[rng.choice(names)], "*"])
        elif names and rng.random() < 0.12:
            op["interrupt_after"] = [rng.choice(names)]
        if drawn.has("output") and rng.random() < 0.5:
            op["output_keys"] = rng.choice(["log", ["log"], ["x", "n"]])
        if drawn.has("threads") and rng.random() < 0.3:
            op["thread"] = "2"
        return {"op": "stream", **op, "limit": limit, **flags}

    return run


def script(drawn, names, has_cache, durable):
    rng = drawn.rng
    run = runner(drawn, names, 8, durable)
    ops = [run({"input": {"x": 1, "log": ["in"]}})]
    kinds = ["null", "null", "one", "all", "all", "input", "update", "update", "goto", "edit", "replay", "bulk", "copy", "clear"]
    if has_cache:
        kinds += ["clear_cache", "input"]
    if drawn.has("threads"):
        kinds += ["delete", "input"]
    for _ in range(rng.randint(1, 5)):
        kind = rng.choice(kinds)
        at = {"at": {"history": rng.randint(0, 8), "wrap": True}}
        if kind == "null":
            ops.append(run({"input": None}))
        elif kind == "one":
            ops.append(run({"command": {"resume": {"ids": {str(rng.randint(0, 1)): "one"}}}}))
        elif kind == "all":
            ops.append(run({"command": {"resume": {"ids": {str(k): f"A{k}" for k in range(6)}}}}))
        elif kind == "input":
            ops.append(run({"input": rng.choice([{"x": 2}, {"log": ["again"]}, {}])}))
        elif kind == "goto":
            ops.append(run({"command": {"goto": target(rng, names) or rng.choice(names)}}))
        elif kind == "edit":
            ops.append(run({"command": {"update": {"log": ["CU"]}}}))
        elif kind == "replay":
            ops.append(run({"input": None, **at}))
        elif kind == "clear":
            ops.append({"op": "update", "values": None, "as_node": "__end__"})
        elif kind == "copy":
            ops.append({"op": "copy", **at})
        elif kind == "clear_cache":
            ops.append({"op": "clear_cache", **rng.choice([{}, {"nodes": [rng.choice(names)]}])})
        elif kind == "delete":
            ops.append({"op": "delete_thread", "thread": rng.choice(["1", "2"])})
        elif kind == "bulk":
            steps = [
                [{"values": {"log": [f"B{k}"]}, "as_node": rng.choice(names)} for _ in range(rng.randint(1, 2))]
                for k in range(rng.randint(1, 2))
            ]
            ops.append({"op": "bulk", "supersteps": steps})
        else:
            values = {"log": ["U"]}
            if drawn.has("deltas") and rng.random() < 0.5:
                values = {"d": ["U"]}
            op = {"op": "update", "values": values}
            node = rng.choice(names + [None, None, "__start__"])
            if node:
                op["as_node"] = node
            if rng.random() < 0.4:
                op.update(at)
            ops.append(op)
    if rng.random() < 0.2:
        ops.append({"op": "state", "subgraphs": True})
    return ops


def functional_script(drawn, has_cache):
    rng = drawn.rng
    run = runner(drawn, [], 25)
    ops = [run({"input": {"v": 1}})]
    kinds = ["null", "one", "all", "all", "all", "input", "replay"] + ["clear_cache"] * has_cache
    for _ in range(rng.randint(1, 5)):
        kind = rng.choice(kinds)
        if kind == "null":
            ops.append(run({"input": None}))
        elif kind == "one":
            ops.append(run({"command": {"resume": {"ids": {"0": "one"}}}}))
        elif kind == "all":
            ops.append(run({"command": {"resume": {"ids": {str(k): f"A{k}" for k in range(4)}}}}))
        elif kind == "input":
            ops.append(run({"input": rng.choice([{"v": 2}, 0, "text", []])}))
        elif kind == "clear_cache":
            ops.append({"op": "clear_cache"})
        else:
            ops.append(run({"input": None, "at": {"history": rng.randint(0, 4), "wrap": True}}))
    return ops


def generate(seed):
    drawn = Drawn(seed)
    rng = drawn.rng
    about = f"Random case {seed}."
    if rng.random() < 0.15:
        drawn.features -= {"output"}
        made = workflow(drawn)
        return {"about": about, "graph": made, "script": functional_script(drawn, int("cache" in made))}
    names = NAMES[: rng.randint(2, 6)]
    nested = "inner" if rng.random() < 0.4 else None
    made = graph(drawn, names, nested, 0)
    graphs = {}
    if any("graph" in node for node in made["nodes"].values()):
        deep = "deep" if rng.random() < 0.35 else None
        inner = graph(drawn, BELOW[1][: rng.randint(1, 3)], deep, 1)
        inner["persistence"] = rng.choice(["inherit", "inherit", "stateful"])
        if any("graph" in node for node in inner["nodes"].values()):
            graphs["deep"] = graph(drawn, BELOW[2][: rng.randint(1, 2)], None, 2)
            graphs["deep"]["persistence"] = rng.choice(["inherit", "inherit", "stateful", "off"])
        graphs["inner"] = inner
    if graphs:
        made["graphs"] = graphs
    if drawn.has("calls"):
        made["tasks"] = {name: {"do": [{"return": {"$text": name + " {args.0}"}}]} for name in ["half", "twice"]}
    if drawn.has("cache"):
        made["cache"] = True
    durable = all(inner["persistence"] != "off" for inner in graphs.values())
    return {"about": about, "graph": made, "script": script(drawn, names, drawn.has("cache"), durable)}
