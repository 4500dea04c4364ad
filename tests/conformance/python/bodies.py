"""What the nodes of random cases do."""

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
    "messages": 0.3,
    "elsewhere": 0.2,
    "handoffs": 0.12,
    "events": 0.12,
    "bodies": 0.12,
    "routers": 0.12,
    "breaks": 0.1,
    "reducers": 0.12,
    "timeouts": 0.06,
    "context": 0.3,
    "config": 0.2,
    "own reducers": 0.15,
    "store": 0.2,
    "second": 0.12,
    "step timeouts": 0.03,
}

# How long a failing node works before it fails, in milliseconds: three attempts of one end before the first of the other,
# also on a machine that others keep busy.
PAUSES = [120, 700]


class Drawn:
    """What one case is drawn with."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.features = {name for name, share in FEATURES.items() if self.rng.random() < share}
        # Messages in commands to the graph around need all of this.
        if "handoffs" in self.features:
            self.features |= {"messages", "parents"}
        # What the first checkpoint of a run that stores its last one only looks like is a difference that is meant.
        # Untracked keys are stored there, too.
        if "exit" in self.features and self.features & {"deltas", "channels"}:
            self.features.remove("exit")
        # So is what shows of a question that was answered before its task failed.
        self.reducer = self.rng.choice(list(REDUCED))
        self.written = self.rng.choice(list(WRITTEN))
        self.asks = self.rng.random() < 0.5
        self.pauses = PAUSES[:]
        # Results that are kept are the same whatever the context is, and the store is read in the order of a race.
        # Messages that a task with such a result is given are news in one of the two.
        if "cache" in self.features:
            self.features -= {"context", "config", "store", "messages", "elsewhere"}
        # A failure ends what runs beside it where nodes are asynchronous; only timeouts that are handled are drawn there.
        if "timeouts" in self.features:
            self.features -= {"exit", "defaults", "subgraphs", "bodies", "calls", "step timeouts"}
            self.pauses = []

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
    if "m" in state and rng.random() < 0.5:
        update["m"] = messages(rng, name)
    if "r" in state and rng.random() < 0.4:
        update["r"] = REDUCED[state["r"]["reducer"]](rng, name)
    if drawn.has("elsewhere"):
        update.update(elsewhere(drawn, name))
    if "w" in state and rng.random() < 0.5:
        update["w"] = WRITTEN[state["w"]["reducer"]](rng, name)
    return update


# What is written to a key with this reducer.
REDUCED = {
    "union": lambda rng, name: rng.sample(["p", "q", name], 2),
    "multiply": lambda rng, name: rng.randint(1, 3),
    "min": lambda rng, name: rng.randint(-3, 3),
    "max": lambda rng, name: rng.randint(-3, 3),
    "and": lambda rng, name: rng.random() < 0.7,
    "or": lambda rng, name: rng.random() < 0.3,
    "merge": lambda rng, name: {rng.choice(["p", name]): rng.randint(1, 3)},
}


# What is written to a key with a reducer that a user wrote.
WRITTEN = {
    "newest_three": lambda rng, name: rng.choice([[name], [name, "p"], name]),
    "tally": lambda rng, name: rng.choice([name, "p", ["p", name]]),
    "longest": lambda rng, name: rng.choice([name, "two words", name + name]),
    "first": lambda rng, name: name,
    "difference": lambda rng, name: rng.randint(1, 3),
    "sentence": lambda rng, name: name,
}


def reads(drawn, name):
    """Actions that write what the node reads of its run."""
    rng, actions = drawn.rng, []
    if drawn.has("context") and rng.random() < 0.35:
        what = rng.choice([{"$": "context"}, {"$text": name + " {context.user} {context.level}"}])
        actions.append({"write": {"x": what}} if rng.random() < 0.2 else {"emit": what})
    if drawn.has("config") and rng.random() < 0.35:
        what = rng.choice(["config.configurable", "config.tags", "config.metadata.who", "config.metadata.langgraph_step"])
        actions.append({"emit": {"$": what}})
    return actions


def remembers(drawn, name):
    """Operations on the store under names of the node's own, so that tasks that run at once do not race."""
    rng, space = drawn.rng, ["of", name]
    actions = []
    for _ in range(rng.randint(1, 3)):
        key = rng.choice(["k", "l"])
        verb = rng.choice(["put", "put", "get", "delete", "search"])
        given = {"namespace": space, "key": key}
        if verb == "put":
            given["value"] = {"runs": {"$": "runs"}, "t": rng.choice(["p", "q"])}
        elif verb == "search":
            given = {"namespace": space}
            if rng.random() < 0.5:
                given["filter"] = {"t": "p"}
        actions.append({"store": {verb: given}})
    return actions + [{"emit": {"$": "results"}}]


def message(rng, mark, name, text=None):
    """A message whose content says where it goes; `mark` is one of those that src/meant.rs knows. Its id is the name's."""
    kind = rng.choice(["human", "ai"])
    return {"$message": {"type": kind, "content": text or f"{mark} {name}", "id": f"{mark}-{name}"}}


def elsewhere(drawn, name):
    """Part of an update: messages in keys that do not join them, or in one that the state does not have."""
    rng, update = drawn.rng, {}
    if rng.random() < 0.6:
        one = message(rng, "elsewhere", name)
        kind = rng.random()
        if kind < 0.35:
            update["lm"] = [one] if rng.random() < 0.8 else [one, "text", message(rng, "elsewhere", name + "2")]
        elif kind < 0.55:
            update["x"] = one if rng.random() < 0.5 else [one]
        elif kind < 0.75:
            update["t"] = [one, name]
        elif kind < 0.85:
            update["o2"] = {name: one}
        else:
            update["unknown"] = one if rng.random() < 0.5 else [one]
    return update


def handed(drawn, name, state):
    """Part of an update that a command makes of the graph around: messages in keys of both kinds."""
    rng, update = drawn.rng, {}
    if "m" in state and rng.random() < 0.7:
        ones = [message(rng, "handed", name)]
        if rng.random() < 0.3:
            ones.append(message(rng, "handed", name + "2"))
        update["m"] = ones if rng.random() < 0.7 else ones[0]
    if drawn.has("elsewhere"):
        update.update(elsewhere(drawn, name))
    return update


def messages(rng, name):
    """Messages of a node, whole or as they are coerced; some have ids that stand there already."""
    kind = rng.choice(["human", "ai"])
    one = {"type": kind, "content": name, "id": rng.choice([name, "m1"])}
    chance = rng.random()
    if chance < 0.5:
        return [{"$message": one}]
    if chance < 0.7:
        return {"role": kind, "content": name, "id": name}
    if chance < 0.8:
        return [{"$message": one}, {"$message": {"type": "remove", "content": "", "id": one["id"]}}]
    if chance < 0.85:
        return [{"$message": {"type": "remove", "content": "", "id": "__remove_all__"}}, {"$message": one}]
    return [{"$message": one}, {"role": "user", "content": "and " + name, "id": "m2"}]


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
    if "m" in state and rng.random() < 0.2:
        actions.append({"model": [{"content": "I am "}, {"content": name}, {"content": "", "chunk_position": "last"}]})
        if rng.random() < 0.6:
            # What the model has said is no news, whatever key it is in.
            said = {"$message": {"type": "ai", "content": "I am " + name, "id": {"$": "said"}}}
            key = "lm" if drawn.has("elsewhere") and rng.random() < 0.5 else "m"
            actions.append({"write": {key: [said]}})
    if drawn.has("calls") and rng.random() < 0.25 and below == 0:
        which = rng.choice([["half"], ["twice"], ["half", "twice"]])
        actions.append({"call": [[task, [{"$text": name}]] for task in which]})
        actions.append({"write": {"log": {"$": "results"}}})
    if drawn.has("bodies") and rng.random() < 0.3 and below == 0:
        call = {"graph": "called", "with": {"x": 1, "log": ["to " + name]}}
        if drawn.has("context") and rng.random() < 0.4:
            call["context"] = rng.choice([{"user": "own", "level": 7}, {}])
        actions.append(call)
        actions.append({"write": {"log": [{"$len": {"$": "results"}}]}})
    actions += reads(drawn, name)
    # Packets to one node are tasks of one name that run at once.
    if drawn.has("store") and rng.random() < 0.3:
        actions += remembers(drawn, name)
    update = written(drawn, name, state, asked)
    if update:
        actions.append({"write": update})
    chance = rng.random()
    # Of those that tell messages more make commands.
    paired = 0.22 if "m" in state else 0.16
    up = 0.75 if drawn.has("handoffs") else 0.35
    if chance < 0.12:
        made = {"goto": target(rng, names)}
        if "m" in state and rng.random() < 0.4:
            made["update"] = {"m": messages(rng, name)}
        elif drawn.has("elsewhere") and rng.random() < 0.4:
            made["update"] = elsewhere(drawn, name)
        actions.append({"command": made})
        if rng.random() < 0.2:
            actions.append({"also": {"log": ["also " + name], "n": 1}})
    elif chance < paired:
        pairs = [["log", ["p1 " + name]], ["log", ["p2 " + name]], ["n", 1]]
        if "m" in state and rng.random() < 0.5:
            pairs.append(["m", [message(rng, "paired", name)]])
        actions.append({"command": {"pairs": pairs, "goto": target(rng, names)}})
    elif chance < up and below and drawn.has("parents"):
        up = {"graph": "parent"}
        if rng.random() < 0.7:
            up["update"] = {"log": ["up " + name], **handed(drawn, name, state)}
        elif rng.random() < 0.3:
            up["pairs"] = [["log", ["up " + name]], *([key, one] for key, one in handed(drawn, name, state).items())]
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


def on_error(drawn, name, names, state):
    rng, update = drawn.rng, {"log": [{"$text": "handled {error.node} {error.error}"}]}
    if "m" in state and rng.random() < 0.4:
        update["m"] = [message(rng, "handler", name)]
    elif drawn.has("elsewhere"):
        update.update(elsewhere(drawn, "handler of " + name))
    actions = [{"write": update}]
    chance = rng.random()
    if chance < 0.3:
        actions.append({"command": {"goto": target(rng, names)}})
    elif chance < 0.4:
        actions = [{"fail": "KeyError", "message": "handler of " + name, "times": 1}] + actions
    return actions


def late(drawn, node, name):
    """Makes a node that takes longer than it may, for some of its attempts; retried, handled, or both."""
    rng = drawn.rng
    node["timeout"] = rng.choice([{"run": 0.25}, {"idle": 0.25}, {"run": 9, "idle": 0.25}])
    times = rng.randint(1, 3)
    slow = {"if": {"$lt": [{"$": "runs"}, times + 1]}, "sleep": 1500}
    node["do"] = [slow] + [action for action in node["do"] if "ask" not in action]
    if rng.random() < 0.5:
        node["retry"] = {"max_attempts": 2, "initial_interval": 0.001, "jitter": False}
    # How long it took stands in the text of the error.
    node["on_error"] = [{"write": {"log": [{"$text": "late {error.node}"}]}}]


def fails(actions):
    return any("fail" in action for action in actions)


def asks(actions):
    return any("ask" in action for action in actions)
