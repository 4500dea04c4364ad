"""Random scripts: runs, resumes, edits, replays, copies and jumps that run into what a graph has."""

from bodies import message, target


MODES = ["values", "updates", "tasks", "checkpoints", "custom"]


CONTEXTS = [{"user": "ada"}, {"user": "eve", "level": 3}, {"level": 2}, {}, {"user": "ada", "other": 1}]
CONFIGS = [
    {},
    {"configurable": {"who": "ada", "n": 1}},
    {"metadata": {"who": "eve"}},
    {"tags": ["one"]},
    {"configurable": {"who": "ada", "deep": {"x": [1]}}, "metadata": {"who": "eve", "list": [1]}, "tags": ["one", "two"]},
]


def runner(drawn, names, limit, durable=True):
    rng, flags = drawn.rng, {}
    if drawn.has("messages") or drawn.has("elsewhere"):
        flags["modes"] = MODES + ["messages"]
    elif drawn.once_in(0.08):
        flags["modes"] = rng.choice([["debug"], ["updates", "debug"], ["values"], ["tasks", "custom"]])
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
        if drawn.has("threads") and rng.random() < 0.4:
            op["thread"] = rng.choice(["2", "2", "3"])
        if drawn.has("context") and rng.random() < 0.75:
            op["context"] = rng.choice(CONTEXTS)
        if drawn.has("config"):
            op.update(rng.choice(CONFIGS))
        if drawn.once_in(0.04):
            plain = {key: flag for key, flag in flags.items() if key not in ("modes", "subgraphs")}
            return {"op": "invoke", **op, "limit": limit, **plain}
        if drawn.has("events") and drawn.once_in(0.6):
            plain = {key: flag for key, flag in flags.items() if key not in ("modes", "subgraphs")}
            modes = [mode for mode in ("updates", "custom", "tasks", "checkpoints", "debug") if rng.random() < 0.3]
            return {"op": "events", **op, "limit": limit, **plain, "modes": modes, "unordered": True}
        if drawn.has("second") and drawn.once_in(0.7):
            op["version"] = "v2"
        return {"op": "stream", **op, "limit": limit, **flags}

    return run


HISTORY = [{"limit": 2}, {"limit": 0}, {"filter": {"source": "loop"}}, {"filter": {"step": 1}}, {"before": {"history": 1}}]


def given(drawn, k):
    """Messages that an input, a command or an edit brings."""
    rng, update = drawn.rng, {}
    if drawn.has("messages") and rng.random() < 0.4:
        update["m"] = [message(rng, "given", f"{k}")] if rng.random() < 0.7 else {"role": "user", "content": f"given {k}", "id": f"g{k}"}
    if drawn.has("elsewhere") and rng.random() < 0.4:
        update["lm"] = [message(rng, "elsewhere", f"in{k}")]
    return update


def script(drawn, names, has_cache, durable, nested):
    rng = drawn.rng
    run = runner(drawn, names, 8, durable)
    ops = [run({"input": {"x": 1, "log": ["in"], **given(drawn, 0)}})]
    kinds = ["null", "null", "one", "all", "all", "input", "update", "update", "goto", "edit", "replay", "bulk", "copy", "clear"]
    kinds += ["command", "inside", "history", "patched copy"]
    # A router that asks cannot be asked by an edit; here nothing of such an edit is stored.
    if drawn.has("routers"):
        kinds = [kind for kind in kinds if kind not in ("update", "bulk", "command", "inside", "patched copy")]
    if has_cache:
        kinds += ["clear_cache", "input"]
    if drawn.has("threads"):
        kinds += ["delete", "input", "crossed", "crossed"]
    for k in range(rng.randint(1, 5)):
        more = given(drawn, k + 1)
        kind = rng.choice(kinds)
        at = {"at": {"history": rng.randint(0, 8), "wrap": True}}
        if kind == "null":
            ops.append(run({"input": None}))
        elif kind == "one":
            ops.append(run({"command": {"resume": {"ids": {str(rng.randint(0, 1)): "one"}}}}))
        elif kind == "all":
            ops.append(run({"command": {"resume": {"ids": {str(k): f"A{k}" for k in range(6)}}}}))
        elif kind == "input":
            ops.append(run({"input": {**rng.choice([{"x": 2}, {"log": ["again"]}, {}, {"log": {"overwrite": ["new"]}}]), **more}}))
        elif kind == "goto":
            ops.append(run({"command": {"goto": target(rng, names) or rng.choice(names)}}))
        elif kind == "edit":
            ops.append(run({"command": {"update": {"log": ["CU"], **more}}}))
        elif kind == "replay":
            ops.append(run({"input": None, **at}))
        elif kind == "crossed":
            # Both threads wait or have ended; one goes back, then the other goes on.
            first, second = rng.sample(["1", "2"], 2)
            ops.append(run({"input": {"x": 3, "log": ["crossed"]}}) | {"thread": second})
            ops.append(run({"input": None, **at}) | {"thread": first})
            answers = {str(k): f"C{k}" for k in range(6)}
            ops.append(run({"command": {"resume": {"ids": answers}}}) | {"thread": second})
        elif kind == "clear":
            ops.append({"op": "update", "values": None, "as_node": "__end__"})
        elif kind == "copy":
            ops.append({"op": "copy", **at})
        elif kind == "patched copy":
            # Of two edits as a node with one task LangGraph files only the first.
            nodes = rng.sample(names, rng.randint(1, 2))
            updates = [{"values": {"log": ["P"]}, "as_node": node} for node in nodes]
            ops.append({"op": "copy", **at, "updates": updates})
        elif kind == "command":
            op = {"op": "update", "command": {"update": {"log": ["UC"], **more}, "goto": target(rng, names)}}
            ops.append({**op, "as_node": rng.choice(names)})
        elif kind == "inside":
            # In the graph below the first task that has one, where one is open.
            if nested:
                values = {"values": {"log": ["IN"]}}
                if rng.random() < 0.5:
                    values["as_node"] = rng.choice(nested[1])
                ops.append({"op": "update", **values, "at": {"ns": [nested[0]], "live": True}})
        elif kind == "history":
            ops.append({"op": "history", **rng.choice(HISTORY)})
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
            values = {"log": ["U"], **more}
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
            values = [{"v": 2}, 0, "text", []]
            if drawn.has("elsewhere"):
                one = message(rng, "elsewhere", "in")
                values += [one, [one], {"v": one}]
            ops.append(run({"input": rng.choice(values)}))
        elif kind == "clear_cache":
            ops.append({"op": "clear_cache"})
        else:
            ops.append(run({"input": None, "at": {"history": rng.randint(0, 4), "wrap": True}}))
    return ops


def root_script(drawn, names, joins):
    rng = drawn.rng
    run = runner(drawn, names, 8)

    def value(text):
        if joins:
            return [message(rng, "given", text)]
        if drawn.has("elsewhere") and rng.random() < 0.3:
            return [message(rng, "elsewhere", text)]
        return [text]

    ops = [run({"input": value("in")})]
    kinds = ["null", "one", "all", "all", "input", "update", "edit", "goto", "replay", "copy", "clear"]
    for _ in range(rng.randint(1, 5)):
        kind = rng.choice(kinds)
        at = {"at": {"history": rng.randint(0, 8), "wrap": True}}
        if kind == "null":
            ops.append(run({"input": None}))
        elif kind == "one":
            ops.append(run({"command": {"resume": {"ids": {"0": "one"}}}}))
        elif kind == "all":
            ops.append(run({"command": {"resume": {"ids": {str(k): f"A{k}" for k in range(4)}}}}))
        elif kind == "input":
            values = [value("again"), []] + ([] if joins else ["text", {"overwrite": ["new"]}])
            ops.append(run({"input": rng.choice(values)}))
        elif kind == "goto":
            ops.append(run({"command": {"goto": rng.choice(names)}}))
        elif kind == "edit":
            ops.append(run({"command": {"update": value("CU")}}))
        elif kind == "replay":
            ops.append(run({"input": None, **at}))
        elif kind == "copy":
            ops.append({"op": "copy", **at})
        elif kind == "clear":
            ops.append({"op": "update", "values": None, "as_node": "__end__"})
        else:
            op = {"op": "update", "values": value("U")}
            node = rng.choice(names + [None])
            ops.append({**op, "as_node": node} if node else op)
    return ops
