"""Random cases: small graphs with everything that can meet, and scripts that run into it.

Left out on purpose is what depends on which task is faster (two tasks that fail at the same moment) and what
docs/langgraph-differences.md lists, so that a difference means something.
"""

import random

NAMES = ["a", "b", "c", "d", "e", "f"]


def body(rng, name, names, asks=True, failing=None, packets=False):
    actions, kind = [], rng.random()
    if asks and kind < 0.18:
        for k in range(rng.randint(1, 2)):
            actions.append({"ask": {"$text": f"{name}?{k}"}})
    elif failing is not None and kind < 0.3:
        # Failing nodes take their time, each its own, so that the first failure is always the same.
        actions.append({"sleep": 25 * (1 + failing)})
        actions.append({"fail": rng.choice(["RuntimeError", "ValueError"]), "message": name, "times": rng.randint(1, 2)})
    if rng.random() < 0.12:
        actions.append({"emit": {"$text": name + " {runs}"}})
    written = {}
    if rng.random() < 0.9:
        written["log"] = [{"$text": name + " {answers}" if actions else name}]
    if rng.random() < 0.15:
        written["x"] = rng.randint(1, 4)
    if rng.random() < 0.15:
        written["n"] = rng.randint(1, 3)
    if rng.random() < 0.12:
        written["t"] = [name]
    if rng.random() < 0.05:
        written["log"] = {"overwrite": ["over " + name]}
    if written:
        actions.append({"write": written})
    if rng.random() < 0.12:
        actions.append({"command": {"goto": target(rng, names)}})
    return actions


def target(rng, names):
    def one():
        kind = rng.random()
        if kind < 0.2:
            return {"send": rng.choice(names), "with": {"x": rng.randint(1, 9), "log": ["p"]}}
        return rng.choice(names + ["__end__"])

    return [one() for _ in range(rng.randint(0, 2))]


def graph(rng, names, nested, deep):
    order = names[:]
    rng.shuffle(order)
    nodes = {}
    for place, name in enumerate(order):
        if nested and rng.random() < 0.35:
            nodes[name] = {"graph": nested}
            nested = None
            continue
        nodes[name] = {"do": body(rng, name, names, failing=None if deep else place)}
        if rng.random() < 0.12:
            nodes[name]["defer"] = True
        if rng.random() < 0.08:
            nodes[name]["input"] = rng.choice([["x"], ["log"], ["x", "n"]])
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
    if len(names) > 2 and rng.random() < 0.45:
        sources = rng.sample(names, 2)
        edges.append({"from": sources, "to": rng.choice([name for name in names if name not in sources])})
    for k in range(rng.randint(0, 2)):
        source = rng.choice(names + ["__start__"]) if rng.random() < 0.2 else rng.choice(names)
        options = [target(rng, names) for _ in range(rng.randint(2, 3))]
        route = {"$at": [options, {"$mod": [{"$len": {"$": "state.log"}}, len(options)]}]}
        edges.append({"from": source, "route": route, "name": f"r{k}"})
    state = {
        "x": {},
        "log": {"type": "array", "reducer": "append"},
        "n": {"type": "integer", "reducer": "add"},
        "t": {"channel": rng.choice(["topic", "topic_accumulate", "ephemeral_any", "any_value"])},
    }
    if rng.random() < 0.15:
        state["n"] = {"type": "integer", "reducer": "max"}
    return {"state": state, "nodes": nodes, "edges": edges}


def script(rng, names):
    def run(op):
        if rng.random() < 0.2:
            op["interrupt_before"] = rng.choice([[rng.choice(names)], "*"])
        elif rng.random() < 0.12:
            op["interrupt_after"] = [rng.choice(names)]
        return {"op": "stream", **op, "limit": 8, **flags}

    flags = {}
    if rng.random() < 0.15:
        flags["subgraphs"] = True
    if rng.random() < 0.1:
        flags["durability"] = rng.choice(["exit", "async"])
    ops = [run({"input": {"x": 1, "log": ["in"]}})]
    for _ in range(rng.randint(1, 5)):
        kind = rng.choice(
            ["null", "null", "one", "all", "all", "input", "update", "update", "goto", "edit", "replay", "bulk", "copy", "clear"]
        )
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
        elif kind == "bulk":
            steps = [
                [{"values": {"log": [f"B{k}"]}, "as_node": rng.choice(names)} for _ in range(rng.randint(1, 2))]
                for k in range(rng.randint(1, 2))
            ]
            ops.append({"op": "bulk", "supersteps": steps})
        else:
            op = {"op": "update", "values": {"log": ["U"]}}
            node = rng.choice(names + [None, None, "__start__"])
            if node:
                op["as_node"] = node
            if rng.random() < 0.4:
                op.update(at)
            ops.append(op)
    return ops


def generate(seed):
    rng = random.Random(seed)
    names = NAMES[: rng.randint(2, 6)]
    nested = "inner" if rng.random() < 0.3 else None
    outer = graph(rng, names, nested, False)
    if any("graph" in node for node in outer["nodes"].values()):
        inner = graph(rng, ["s1", "s2", "s3"][: rng.randint(1, 3)], None, True)
        inner["persistence"] = rng.choice(["inherit", "inherit", "stateful"])
        outer["graphs"] = {"inner": inner}
    return {"about": f"Random case {seed}.", "graph": outer, "script": script(rng, names)}
