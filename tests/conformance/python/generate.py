"""Random cases: small graphs with everything that can meet, and scripts that run into it.

A case is drawn in three layers: which features it has, a graph with them, a script that runs into them. Left out on
purpose is what depends on which task is faster (two tasks that fail at the same moment) and what
docs/langgraph-differences.md lists, so that a difference means something.
"""

from bodies import (
    BELOW,
    NAMES,
    Drawn,
    asks,
    body,
    failure,
    fails,
    late,
    message,
    on_error,
    reads,
    remembers,
    retry,
    target,
)
from scripts import functional_script, root_script, script


KINDS = {
    "newest_three": "array",
    "tally": "object",
    "longest": "string",
    "first": "string",
    "difference": "integer",
    "sentence": "string",
}


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
    if drawn.has("messages"):
        state["m"] = {"type": "array", "reducer": "add_messages"}
    if drawn.has("elsewhere"):
        state["lm"] = {"type": "array", "reducer": "append"}
        state["o2"] = {"type": "object", "reducer": "merge"}
    if drawn.has("reducers"):
        reducer = drawn.reducer
        kind = {"union": "array", "merge": "object", "and": "boolean", "or": "boolean"}.get(reducer, "integer")
        state["r"] = {"type": kind, "reducer": reducer}
        if rng.random() < 0.3:
            state["r"]["empty"] = False
    if drawn.has("own reducers"):
        reducer = drawn.written
        state["w"] = {"type": KINDS[reducer], "reducer": reducer}
        if reducer == "newest_three" and rng.random() < 0.3:
            state["w"] = {**state["w"], "channel": "delta", "snapshot_frequency": rng.randint(1, 4)}
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
        if nested and (rng.random() < 0.35 or drawn.has("handoffs")):
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
        if drawn.has("timeouts") and below == 0 and rng.random() < 0.4:
            late(drawn, node, name)
        if drawn.has("handlers") and fails(node["do"]) and rng.random() < 0.7:
            node["on_error"] = on_error(drawn, name, names, state)
        # What was asked is not kept with a result; that difference is meant.
        if drawn.has("cache") and not asks(node["do"]) and rng.random() < 0.5:
            # LangGraph's own key of an input depends on which of its texts are one object in memory.
            node["cache"] = {"key": rng.choice([{"$": "state.x"}, {"$len": {"$": "state.log"}}])}
    return nodes


def edges_of(drawn, names, below):
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
        count = {"$len": {"$": "state.log"}}
        route = {"$at": [options, {"$mod": [count, len(options)]}]}
        made = {"from": source, "name": f"r{k}"}
        chance = rng.random()
        if chance < 0.12:
            made.update({"when": {"$lt": [count, rng.randint(2, 6)]}, "to": rng.choice(names)})
        elif chance < 0.24 and not drawn.has("cache"):
            # Of two tasks with one key in the cache, one takes the result and the other runs.
            made.update({"each": {"$tail": {"$": "state.log"}}, "as": "x", "to": rng.choice(names), "with": {"log": ["e"]}})
        elif chance < 0.36:
            keys = ["p", "q"] if rng.random() < 0.9 else ["p", "missing"]
            made["route"] = {"$at": [keys, {"$mod": [count, 2]}]}
            made["paths"] = {key: rng.choice(names + ["__end__"]) for key in ["p", "q"]}
        else:
            made["route"] = route
        if drawn.has("routers") and rng.random() < 0.5 and source != "__start__":
            if rng.random() < 0.5:
                made["do"] = [{"ask": {"$text": f"{source}/{k}?"}}]
            elif drawn.pauses and below == 0:
                made["do"] = failure(drawn, f"{source}/{k}")
        edges.append(made)
    return edges


def graph(drawn, names, nested, below):
    rng, state = drawn.rng, state_of(drawn)
    made = {"state": state, "nodes": nodes_of(drawn, names, nested, state, below), "edges": edges_of(drawn, names, below)}
    if drawn.has("schemas") and below == 0:
        if rng.random() < 0.5:
            made["input"] = ["x", "log"]
        if rng.random() < 0.5:
            made["output"] = rng.choice([["log"], ["x", "n"], ["log", "t"]])
        if rng.random() < 0.5:
            made["private"] = {"secret": {}}
    if drawn.has("breaks") and rng.random() < 0.5:
        made[rng.choice(["interrupt_before", "interrupt_after"])] = rng.sample(names, 1)
    if drawn.has("defaults") and below == 0:
        made["node_defaults"] = {"retry": retry(rng)}
    return made


def declared(drawn, made):
    """What the outermost graph declares: a context, a store, a step timeout."""
    rng = drawn.rng
    if drawn.has("context") and rng.random() < 0.6:
        fields = {"user": {"type": "string"}, "level": {"type": "integer", "default": 1}}
        if rng.random() < 0.3:
            fields["user"]["default"] = "nobody"
        made["context"] = {"fields": fields, **({"typed": True} if rng.random() < 0.4 else {})}
    if drawn.has("store"):
        made["store"] = True
    if drawn.has("step timeouts"):
        # Long enough for every pause: what a step does that takes longer is a difference that is meant.
        made["step_timeout"] = 15
    return made


def told(drawn, name):
    """A message as the value of a task or of an entry point, by itself, in a list or in a record."""
    rng = drawn.rng
    one = {"$message": {"type": rng.choice(["ai", "human"]), "content": {"$text": f"elsewhere {name} " + "{runs}"}, "id": {"$text": f"elsewhere-{name} " + "{runs}"}}}
    return rng.choice([one, [one], [one, "text"], {"message": one, "n": 1}, {"messages": [one]}])


def called(drawn, name, at_once):
    """A task: what it does is the same in every run, except that it may ask or fail first; two that fail at once race."""
    rng, actions, chance = drawn.rng, [], drawn.rng.random()
    if chance < 0.35 and drawn.asks:
        actions.append({"ask": {"$text": name + "? {args.0}"}})
    elif chance < 0.45 and not drawn.asks and not at_once:
        actions.append({"fail": "ValueError", "message": name, "times": 1})
    if at_once:
        # They end in an order that a busy machine does not change.
        actions.append({"sleep": {"half": 150, "twice": 300, "thrice": 450}[name]})
    value = {"$text": name + " {args.0} {answers}"}
    if drawn.has("elsewhere") and rng.random() < 0.6:
        value = told(drawn, name)
    actions.append({"return": value})
    made = {"do": actions}
    if rng.random() < 0.3:
        made["retry"] = {"max_attempts": 2, "initial_interval": 0.001, "jitter": False, "retry_on": ["ValueError"]}
    return made


def workflow(drawn):
    """An entry point that calls tasks, asks, and hands something to its next run."""
    rng = drawn.rng
    at_once = rng.random() < 0.5
    tasks = {name: called(drawn, name, at_once) for name in ["half", "twice", "thrice"][: rng.randint(1, 3)]}
    if rng.random() < 0.25 and not at_once:
        tasks["outer"] = {"do": [{"call": [["half", [{"$text": "of {args.0}"}]]]}, {"return": {"$": "results"}}]}
    cached = rng.random() < 0.25
    for one in tasks.values():
        if cached and not asks(one["do"]) and rng.random() < 0.7:
            one["cache"] = {}
    actions = reads(drawn, "wf") + (remembers(drawn, "wf") if drawn.has("store") else [])
    # What was read of the store is no result of a call.
    actions = [action for action in actions if action != {"emit": {"$": "results"}}]
    for k in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.55:
            calls = rng.sample(list(tasks), rng.randint(1, len(tasks)) if at_once else 1)
            call = {"call": [[name, [f"c{k}{place}"]] for place, name in enumerate(calls)]}
            if rng.random() < 0.05:
                call["await"] = False
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
    if drawn.has("messages") and rng.random() < 0.5:
        actions.append({"model": [{"content": "I am "}, {"content": "wf"}, {"content": "", "chunk_position": "last"}]})
    if drawn.has("elsewhere") and rng.random() < 0.6:
        value = told(drawn, "wf")
        if rng.random() < 0.5:
            actions.append({"final": [value, told(drawn, "kept") if rng.random() < 0.5 else 1]})
        else:
            actions.append({"return": value})
    elif rng.random() < 0.5:
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


def one_value(drawn):
    """A graph whose state is one value."""
    rng = drawn.rng
    names = NAMES[: rng.randint(2, 5)]
    nodes = {}
    joins = drawn.has("messages") and rng.random() < 0.6
    for name in names:
        actions = []
        chance = rng.random()
        if chance < 0.2:
            actions.append({"ask": {"$text": name + "?"}})
        elif chance < 0.3 and drawn.pauses:
            actions += failure(drawn, name)
        told = {"$text": name + " {answers}"} if chance < 0.2 else name
        if joins:
            told = message(rng, "root", name)
        elif drawn.has("elsewhere") and rng.random() < 0.6:
            told = message(rng, "elsewhere", name)
        chance = rng.random()
        if chance < 0.6:
            actions.append({"return": [told]})
        elif chance < 0.7 and not joins:
            actions.append({"return": {"overwrite": [told]}})
        elif chance < 0.9:
            actions.append({"command": {"update": [told], "goto": packets(rng, names, joins)}})
        else:
            actions.append({"return": None})
        nodes[name] = {"do": actions}
        if rng.random() < 0.12:
            nodes[name]["defer"] = True
    edges = [{"from": "__start__", "to": rng.choice(names)}]
    for source in rng.sample(names, rng.randint(1, len(names))):
        to = rng.choice([name for name in names if name != source] + ["__end__"])
        edges.append({"from": source, "to": to})
    if rng.random() < 0.4:
        options = [packets(rng, names, joins) for _ in range(2)]
        route = {"$at": [options, {"$mod": [{"$len": {"$": "state"}}, 2]}]}
        edges.append({"from": rng.choice(names), "route": route, "name": "r"})
    return {"root": {"type": "array", "reducer": "add_messages" if joins else "append"}, "nodes": nodes, "edges": edges}


def packets(rng, names, joins):
    """Targets in a graph of one value: what is sent is such a value."""

    def one():
        value = [message(rng, "packet", "p")] if joins else ["p"]
        return {"send": rng.choice(names), "with": value} if rng.random() < 0.25 else rng.choice(names + ["__end__"])

    return [one() for _ in range(rng.randint(0, 2))]


def generate(seed):
    drawn = Drawn(seed)
    rng = drawn.rng
    about = f"Random case {seed}."
    if rng.random() < 0.15:
        drawn.features -= {"output", "timeouts"}
        made = declared(drawn, workflow(drawn))
        return {"about": about, "graph": made, "script": functional_script(drawn, int("cache" in made))}
    if rng.random() < 0.06:
        drawn.features -= {"output", "timeouts"}
        made = declared(drawn, one_value(drawn))
        joins = made["root"]["reducer"] == "add_messages"
        return {"about": about, "graph": made, "script": root_script(drawn, list(made["nodes"]), joins)}
    names = NAMES[: rng.randint(2, 6)]
    nested = "inner" if rng.random() < 0.4 or drawn.has("handoffs") else None
    made = declared(drawn, graph(drawn, names, nested, 0))
    graphs = {}
    if any("graph" in node for node in made["nodes"].values()):
        deep = "deep" if rng.random() < 0.35 else None
        inner = graph(drawn, BELOW[1][: rng.randint(1, 3)], deep, 1)
        inner["persistence"] = rng.choice(["inherit", "inherit", "stateful"])
        if any("graph" in node for node in inner["nodes"].values()):
            graphs["deep"] = graph(drawn, BELOW[2][: rng.randint(1, 2)], None, 2)
            graphs["deep"]["persistence"] = rng.choice(["inherit", "inherit", "stateful", "off"])
        graphs["inner"] = inner
    if drawn.has("bodies"):
        graphs["called"] = graph(drawn, BELOW[1][: rng.randint(1, 2)], None, 3)
        graphs["called"]["persistence"] = "inherit"
    if graphs:
        made["graphs"] = graphs
    if drawn.has("calls"):
        made["tasks"] = {
            name: {"do": [{"sleep": pause}, {"return": {"$text": name + " {args.0}"}}]}
            for name, pause in [("half", 150), ("twice", 300)]
        }
        if drawn.has("elsewhere"):
            for name, one in made["tasks"].items():
                one["do"][-1]["return"] = told(drawn, name)
    if drawn.has("cache"):
        made["cache"] = True
    durable = all(inner["persistence"] != "off" for inner in graphs.values())
    inside = [(name, list(graphs["inner"]["nodes"])) for name, node in made["nodes"].items() if "graph" in node]
    ops = script(drawn, names, drawn.has("cache"), durable, inside[0] if inside else None)
    case = {"about": about, "graph": made, "script": ops}
    return {**case, "api": "async"} if drawn.has("timeouts") else case
