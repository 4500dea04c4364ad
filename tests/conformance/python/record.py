"""Runs cases with LangGraph and writes down what it did.

One JSON case per line on standard input, one record per line on standard output: `{"record": […]}`, or
`{"failed": why}` when the case itself is not valid. Ids and times are as they came; the Rust side makes both
sides' records comparable. The case format is described in ../README.md.
"""

import asyncio
import builtins
import dataclasses
import json
import logging
import re
import signal
import sys
import threading
import time
import traceback
import warnings
from typing import Annotated, Any, Optional

from langchain_core.language_models.chat_models import BaseChatModel, generate_from_stream
from langchain_core.messages import AIMessageChunk, BaseMessage, convert_to_messages
from langchain_core.outputs import ChatGenerationChunk
from langgraph.cache.memory import InMemoryCache
from langgraph.channels import (
    AnyValue,
    EphemeralValue,
    Topic,
    UntrackedValue,
)
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.graph import END, StateGraph
from langgraph.graph.message import add_messages
from langgraph.managed import IsLastStep, RemainingSteps
from langgraph.store.memory import InMemoryStore
from langgraph.types import (
    CachePolicy,
    Command,
    GraphOutput,
    Interrupt,
    Overwrite,
    RetryPolicy,
    Send,
    StateSnapshot,
    StateUpdate,
    TimeoutPolicy,
    interrupt,
)
from langgraph.stream import (
    CheckpointsTransformer,
    CustomTransformer,
    DebugTransformer,
    StreamTransformer,
    TasksTransformer,
    UpdatesTransformer,
)
from typing_extensions import TypedDict

from expressions import Message, compute, true

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

THREAD = "1"
MODES = ["values", "updates", "tasks", "checkpoints", "custom"]
EXTRA = {
    "updates": UpdatesTransformer,
    "custom": CustomTransformer,
    "tasks": TasksTransformer,
    "checkpoints": CheckpointsTransformer,
    "debug": DebugTransformer,
}
LIMIT = 25
TOO_LONG = 20


class TookTooLong(BaseException):
    pass


def too_long(*_):
    raise TookTooLong()


# ── Channels ────────────────────────────────────────────────────────────────────────────────────────────────────────


def append(old, new):
    return old + (new if isinstance(new, list) else [new])


def merge(old, new):
    return {**old, **new}


def union(old, new):
    joined = list(old)
    for item in new if isinstance(new, list) else [new]:
        if item not in joined:
            joined.append(item)
    return joined


def multiply(a, b):
    return a * b


def least(a, b):
    return min(a, b)


def greatest(a, b):
    return max(a, b)


def both(a, b):
    return a and b


def either(a, b):
    return a or b


def add(a, b):
    return a + b


# ── Reducers that a user wrote ──────────────────────────────────────────────────────────────────────────────────────


def newest_three(old, new):
    return (old + (new if isinstance(new, list) else [new]))[-3:]


def tally(old, new):
    counts = dict(old)
    words = new if isinstance(new, list) else [new]
    for word, count in new.items() if isinstance(new, dict) else [(word, 1) for word in words]:
        counts[word] = counts.get(word, 0) + count
    return counts


def longest(old, new):
    return new if len(new) > len(old) else old


def first(old, new):
    return old or new


def difference(old, new):
    return old - new


def sentence(old, new):
    return f"{old}, {new}" if old else new


def positive(old, new):
    if new < 0:
        raise ValueError(f"{new} is negative")
    return old + new


REDUCERS = {
    "newest_three": newest_three,
    "tally": tally,
    "longest": longest,
    "first": first,
    "difference": difference,
    "sentence": sentence,
    "positive": positive,
    "add": add,
    "append": append,
    "merge": merge,
    "union": union,
    "multiply": multiply,
    "min": least,
    "max": greatest,
    "and": both,
    "or": either,
    "add_messages": add_messages,
}
TYPES = {"array": list, "object": dict, "string": str, "integer": int, "number": float, "boolean": bool, None: Any}
BATCHES = {}


def batch(name):
    """The reducer of a delta channel: takes all writes of a step at once."""

    def fold(state, writes):
        for write in writes:
            state = REDUCERS[name](state, write)
        return state

    return BATCHES.setdefault(name, fold)


def annotation(spec):
    kind = TYPES[spec.get("type")]
    channel = spec.get("channel")
    managed = spec.get("managed")
    if managed:
        return {"is_last_step": IsLastStep, "remaining_steps": RemainingSteps}[managed]
    if channel == "delta":
        frequency = spec.get("snapshot_frequency")
        more = {} if frequency is None else {"snapshot_frequency": frequency}
        return Annotated[kind, DeltaChannel(batch(spec["reducer"]), kind, **more)]
    if channel:
        return Annotated[
            kind,
            {
                "ephemeral": lambda: EphemeralValue(Any),
                "ephemeral_any": lambda: EphemeralValue(Any, guard=False),
                "topic": lambda: Topic(Any),
                "topic_accumulate": lambda: Topic(Any, accumulate=True),
                "any_value": lambda: AnyValue(Any),
                "untracked": lambda: UntrackedValue(Any),
                "untracked_any": lambda: UntrackedValue(Any, guard=False),
            }[channel](),
        ]
    reducer = spec.get("reducer")
    if not reducer or reducer == "overwrite":
        return kind
    if not spec.get("empty", True):
        kind = Optional[kind]
    if reducer in ("multiply", "min", "max"):
        kind = Optional[kind]
    return Annotated[kind, REDUCERS[reducer]]


# ── Values between JSON and Python ──────────────────────────────────────────────────────────────────────────────────


def thaw(value):
    """JSON to what a node hands over: messages, packets and overwrites become objects."""
    if isinstance(value, Message):
        (message,) = convert_to_messages([{k: v for k, v in value.items()}])
        return message
    if isinstance(value, dict):
        if set(value) == {"overwrite"}:
            return Overwrite(thaw(value["overwrite"]))
        if set(value) == {"send", "with"}:
            return Send(value["send"], thaw(value["with"]))
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list):
        return [thaw(item) for item in value]
    return value


def first_line(shown):
    """An error as it is shown, without the line that points to the documentation."""
    return re.sub(r"\\nFor troubleshooting, visit: [^'\"]*", "", shown) if "For troubleshooting" in shown else shown


def freeze(value):
    """What LangGraph shows, as JSON."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value
    if isinstance(value, BaseMessage):
        dumped = value.model_dump()
        return {"message": freeze(dumped)} if dumped.get("type") is None else freeze(dumped)
    if isinstance(value, GraphOutput):
        return {"value": freeze(value.value), "interrupts": freeze(value.interrupts)}
    if dataclasses.is_dataclass(value) and type(value).__name__ == "Context":
        return freeze(dataclasses.asdict(value))
    if isinstance(value, Interrupt):
        return {"value": freeze(value.value), "id": value.id}
    if isinstance(value, Send):
        return {"node": value.node, "arg": freeze(value.arg)}
    if isinstance(value, Overwrite):
        return {"__overwrite__": freeze(value.value)}
    if isinstance(value, StateSnapshot):
        return snapshot(value)
    if isinstance(value, BaseException):
        return first_line(repr(value))
    if isinstance(value, str):
        return first_line(value)
    if isinstance(value, Command):
        return {"command": freeze(value.update)}
    if type(value).__name__ == "_DeltaSnapshot":
        return {"__snapshot__": freeze(value.value)}
    if isinstance(value, dict):
        return {str(key): freeze(item) for key, item in value.items() if not str(key).startswith("__pregel_check")}
    if isinstance(value, (set, frozenset)):
        return sorted((freeze(item) for item in value), key=json.dumps)
    if isinstance(value, (list, tuple)) or type(value).__name__ == "deque":
        return [freeze(item) for item in value]
    return repr(value)


def snapshot(state):
    def one(task):
        return {
            "id": task.id,
            "name": task.name,
            "path": freeze(task.path),
            "error": freeze(task.error),
            "interrupts": freeze(task.interrupts),
            "state": freeze(task.state),
            "result": freeze(task.result),
        }

    return {
        "values": freeze(state.values),
        "next": list(state.next),
        "config": freeze(state.config),
        "metadata": freeze(state.metadata),
        "created_at": state.created_at,
        "parent_config": freeze(state.parent_config),
        "tasks": [one(task) for task in state.tasks],
        "interrupts": freeze(state.interrupts),
    }


def shown(mode, payload):
    """A stream item; without what a tracing service adds to the metadata of messages."""
    item = freeze(payload)
    if mode == "messages":
        for key in [key for key in item[1] if key.startswith(("ls_", "lc_versions"))]:
            item[1].pop(key)
    return item


def error(problem):
    kind = type(problem)
    # The text of a KeyError is Python's way of writing the key.
    message = str(problem.args[0]) if kind is KeyError and problem.args else str(problem)
    return {"class": kind.__name__, "message": message.split("\n")[0]}


def raised(name, message):
    kind = getattr(builtins, name, None) or ERRORS.setdefault(name, type(name, (Exception,), {}))
    return kind(message)


ERRORS = {}


# ── Models ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Scripted(BaseChatModel):
    """A chat model that says what the case says."""

    pieces: list

    @property
    def _llm_type(self):
        return "scripted"

    def _stream(self, messages, stop=None, run_manager=None, **more):
        for piece in self.pieces:
            yield ChatGenerationChunk(message=AIMessageChunk(**{"content": "", **piece}))

    def _generate(self, messages, stop=None, run_manager=None, **more):
        return generate_from_stream(self._stream(messages))


# ── Nodes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class World:
    """What the bodies of one case share: counters, notes and the other graphs."""

    def __init__(self, document, api):
        self.document = document
        self.asynchronous = api == "async"
        self.runs, self.ran, self.notes = {}, [], []
        self.graphs, self.tasks, self.store = {}, {}, None
        self.lock = threading.Lock()

    def begin(self, name):
        with self.lock:
            self.runs[name] = self.runs.get(name, 0) + 1
            self.ran.append(name)
            return self.runs[name]


def command(spec, scope):
    spec = dict(spec)
    update = spec.get("update")
    if "pairs" in spec:
        update = [(key, thaw(compute(item, scope))) for key, item in spec["pairs"]]
    elif "update" in spec:
        update = thaw(compute(update, scope))
    more = {}
    if "resume" in spec:
        more["resume"] = thaw(compute(spec["resume"], scope))
    if spec.get("graph") == "parent":
        more["graph"] = Command.PARENT
    goto = thaw(compute(spec.get("goto", []), scope))
    return Command(update=update, goto=goto, **more)


PLACES = ("thread_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map")


def around():
    """What a node reads of its run: the context, and the configuration without LangGraph's own part."""
    try:
        config = get_config()
    except RuntimeError:
        # A router that an edit asks.
        config = {}
    configurable = config.get("configurable", {})
    runtime = configurable.get("__pregel_runtime")
    mine = {key: one for key, one in configurable.items() if not key.startswith("__pregel") and key not in PLACES}
    metadata = dict(config.get("metadata") or {})
    metadata = {key: one for key, one in metadata.items() if not key.startswith(("ls_", "lc_versions"))}
    return {
        "context": freeze(getattr(runtime, "context", None)),
        "config": freeze({"configurable": mine, "tags": config.get("tags") or [], "metadata": metadata}),
    }


def item(found):
    if found is None:
        return None
    return {"namespace": list(found.namespace), "key": found.key, "value": freeze(found.value)}


def stored_items(store, namespace=()):
    """All items below a namespace, in the order of their names."""
    found = [item(one) for one in store.search(tuple(namespace), limit=1000)]
    return sorted(found, key=lambda one: (one["namespace"], one["key"]))


def use_store(store, spec):
    """One action on the store; what it answers."""
    ((verb, given),) = spec.items()
    if verb == "namespaces":
        given = {key: tuple(one) if isinstance(one, list) else one for key, one in given.items()}
        return sorted(list(one) for one in store.list_namespaces(**given))
    namespace = tuple(given["namespace"])
    if verb == "put":
        store.put(namespace, given["key"], given["value"])
        return None
    if verb == "delete":
        store.delete(namespace, given["key"])
        return None
    if verb == "get":
        return item(store.get(namespace, given["key"]))
    if verb == "search":
        found = store.search(namespace, limit=1000, filter=given.get("filter"))
        return sorted((item(one) for one in found), key=lambda one: (one["namespace"], one["key"]))
    raise ValueError(f"unknown store action {verb}")


def work(world, name, actions, scope):
    """The body of a node, as a generator of what it waits for: sleeps, graphs and tasks."""
    parts, open_write = [], False
    scope = {"answers": [], "results": [], **around(), **scope}
    for action in actions:
        if "if" in action and not true(compute(action["if"], scope)):
            continue
        if "write" in action:
            written = thaw(compute(action["write"], scope))
            if open_write:
                parts[-1].update(written)
            else:
                parts.append(written)
            open_write = True
            continue
        if "also" in action:
            parts.append(thaw(compute(action["also"], scope)))
            open_write = False
        elif "return" in action:
            parts.append(thaw(compute(action["return"], scope)))
            open_write = False
        elif "final" in action:
            value, save = thaw(compute(action["final"], scope))
            return entrypoint.final(value=value, save=save)
        elif "command" in action:
            parts.append(command(action["command"], scope))
            open_write = False
        elif "ask" in action:
            while True:
                scope["answer"] = interrupt(thaw(compute(action["ask"], scope)))
                scope["answers"] = scope["answers"] + [scope["answer"]]
                if "until" not in action or true(compute(action["until"], scope)):
                    break
            if "into" in action:
                written = {action["into"]: scope["answer"]}
                if open_write:
                    parts[-1].update(written)
                else:
                    parts.append(written)
                open_write = True
        elif "fail" in action:
            if scope["runs"] <= action.get("times", 1 << 30):
                raise raised(action["fail"], compute(action.get("message", "boom"), scope))
        elif "sleep" in action:
            yield ("sleep", compute(action["sleep"], scope) / 1000)
        elif "emit" in action:
            scope["writer"](compute(action["emit"], scope))
        elif "model" in action:
            said = yield ("model", Scripted(pieces=compute(action["model"], scope)))
            scope["said"] = said.id
        elif "store" in action:
            answer = use_store(get_store(), compute(action["store"], scope))
            scope["results"] = scope["results"] + [answer]
        elif "note" in action:
            world.notes.append([name, freeze(compute(action["note"], scope))])
        elif "graph" in action:
            given = compute(action.get("with", {"$": "state"}), scope)
            own = compute(action["context"], scope) if "context" in action else None
            result = yield ("graph", world.graphs[action["graph"]], given, own)
            scope["results"] = scope["results"] + [freeze(result)]
        elif "call" in action:
            calls = [(world.tasks[which], compute(arguments, scope)) for which, arguments in action["call"]]
            futures = [call(*arguments) for call, arguments in calls]
            if action.get("await", True):
                for future in futures:
                    try:
                        result = yield ("task", future)
                    except Exception as problem:
                        if not action.get("catch"):
                            raise
                        result = repr(problem)
                    scope["results"] = scope["results"] + [freeze(result)]
        else:
            raise ValueError(f"unknown action {action}")
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else parts


def drive(steps):
    try:
        step = next(steps)
        while True:
            try:
                if step[0] == "sleep":
                    time.sleep(step[1])
                    result = None
                elif step[0] == "graph":
                    result = step[1].invoke(step[2], context=step[3])
                elif step[0] == "model":
                    result = step[1].invoke([])
                else:
                    result = step[1].result()
            except BaseException as problem:
                step = steps.throw(problem)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        return stop.value


async def drive_async(steps):
    try:
        step = next(steps)
        while True:
            try:
                if step[0] == "sleep":
                    await asyncio.sleep(step[1])
                    result = None
                elif step[0] == "graph":
                    result = await step[1].ainvoke(step[2], context=step[3])
                elif step[0] == "model":
                    result = await step[1].ainvoke([])
                else:
                    result = await step[1]
            except BaseException as problem:
                step = steps.throw(problem)
            else:
                step = steps.send(result)
    except StopIteration as stop:
        return stop.value


def function(world, name, actions):
    """A node, router or handler as LangGraph takes it."""

    def start(state, scope):
        runs = world.begin(name)
        return work(world, name, actions, {"state": freeze(state), "runs": runs, "writer": get_stream_writer(), **scope})

    if world.asynchronous:

        async def run(state):
            return await drive_async(start(state, {}))
    else:

        def run(state):
            return drive(start(state, {}))

    run.__name__ = name
    return run


def handler(world, name, actions):
    from langgraph.errors import NodeError

    def run(state, error: NodeError):
        runs = world.begin(name)
        scope = {
            "state": freeze(state),
            "runs": runs,
            "writer": get_stream_writer(),
            # What was stored of an error is its text already.
            "error": {"node": error.node, "error": error.error if isinstance(error.error, str) else repr(error.error)},
        }
        return drive(work(world, name, actions, scope))

    run.__name__ = name
    return run


def router(world, source, edge):
    name = edge.get("name") or "route"

    def targets(state):
        scope = {"state": freeze(state), **around()}
        if "route" in edge:
            return thaw(compute(edge["route"], scope))
        if "when" in edge:
            return edge["to"] if true(compute(edge["when"], scope)) else END
        packets = []
        for item in compute(edge["each"], scope) or []:
            inner = {**scope, "item": item}
            given = {key: compute(value, inner) for key, value in edge.get("with", {}).items()}
            packets.append(Send(edge["to"], {edge["as"]: item, **given}))
        return packets

    def run(state):
        if "do" in edge:
            counter = f"{source}/{name}"
            world.runs[counter] = world.runs.get(counter, 0) + 1
            drive(work(world, counter, edge["do"], {"state": freeze(state), "runs": world.runs[counter]}))
        return targets(state)

    run.__name__ = name
    return run


# ── Graphs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def retry_policy(spec):
    if spec is None:
        return None
    if isinstance(spec, list):
        return [retry_policy(one) for one in spec]
    more = dict(spec)
    if "retry_on" in more:
        names = more["retry_on"]
        more["retry_on"] = tuple(type(raised(one, "")) for one in ([names] if isinstance(names, str) else names))
    return RetryPolicy(**more)


def cache_policy(spec):
    if spec is None:
        return None
    more = {}
    if "ttl" in spec:
        more["ttl"] = spec["ttl"]
    if "key" in spec:
        more["key_func"] = lambda state: json.dumps(compute(spec["key"], {"state": freeze(state)}))
    return CachePolicy(**more)


def timeout_policy(spec):
    if spec is None:
        return None
    more = {f"{key}_timeout": value for key, value in spec.items() if key != "refresh_on"}
    if "refresh_on" in spec:
        more["refresh_on"] = spec["refresh_on"]
    return TimeoutPolicy(**more)


def context_schema(spec):
    """The declared context: a dataclass, or with `"typed": true` a dictionary that nobody checks."""
    fields = spec["fields"]
    if spec.get("typed"):
        return TypedDict("Context", {key: TYPES[one.get("type")] for key, one in fields.items()})

    def field(one):
        if "default" not in one:
            return dataclasses.field()
        return dataclasses.field(default_factory=lambda: json.loads(json.dumps(one["default"])))

    made = [(key, TYPES[one.get("type")], field(one)) for key, one in fields.items()]
    return dataclasses.make_dataclass("Context", made, kw_only=True)


def compiled(graph, spec):
    """The graph with what LangGraph takes as attributes."""
    if "step_timeout" in spec:
        graph.step_timeout = spec["step_timeout"]
    return graph


def build_graph(world, spec, name, saver):
    compile_options = {key: spec[key] for key in ("interrupt_before", "interrupt_after") if key in spec}
    if spec.get("cache"):
        compile_options["cache"] = InMemoryCache()
    if spec.get("store"):
        compile_options["store"] = world.store = InMemoryStore()
    declared = {"context_schema": context_schema(spec["context"])} if "context" in spec else {}
    if "entrypoint" in spec:
        more = {key: compile_options[key] for key in ("cache", "store") if key in compile_options}
        return compiled(build_entrypoint(world, spec["entrypoint"], saver, {**more, **declared}), spec)
    if "root" in spec:
        annotated = {}
        builder = StateGraph(annotation(spec["root"]), **declared)
    else:
        annotated = {key: annotation(one) for key, one in spec.get("state", {}).items()}
        annotated_all = {**annotated, **{key: annotation(one) for key, one in spec.get("private", {}).items()}}
        schemas = {}

        def schema(what, keys):
            made = TypedDict(what, {key: annotated_all[key] for key in keys})
            return schemas.setdefault(tuple(keys), made)

        more = {**declared}
        if "input" in spec:
            more["input_schema"] = schema("Input", spec["input"])
        if "output" in spec:
            more["output_schema"] = schema("Output", spec["output"])
        builder = StateGraph(TypedDict("State", annotated), **more)
    defaults = spec.get("node_defaults")
    if defaults:
        more = {}
        if "retry" in defaults:
            more["retry_policy"] = retry_policy(defaults["retry"])
        if "cache" in defaults:
            more["cache_policy"] = cache_policy(defaults["cache"])
        if "on_error" in defaults:
            more["error_handler"] = handler(world, "__default_error_handler__", defaults["on_error"])
        if "timeout" in defaults:
            more["timeout"] = timeout_policy(defaults["timeout"])
        builder.set_node_defaults(**more)
    nodes = spec.get("nodes", {})
    for node, one in nodes.items() if isinstance(nodes, dict) else nodes:
        more = {}
        if one.get("defer"):
            more["defer"] = True
        if "input" in one:
            more["input_schema"] = schema(f"Input_{node}", one["input"])
        if "retry" in one:
            more["retry_policy"] = retry_policy(one["retry"])
        if "cache" in one:
            more["cache_policy"] = cache_policy(one["cache"])
        if "timeout" in one:
            more["timeout"] = timeout_policy(one["timeout"])
        if "on_error" in one:
            more["error_handler"] = handler(world, f"__error_handler__{node}", one["on_error"])
        if "destinations" in one:
            more["destinations"] = tuple(one["destinations"])
        body = world.graphs[one["graph"]] if "graph" in one else function(world, node, one.get("do", []))
        builder.add_node(node, body, **more)
    for edge in spec.get("edges", []):
        source = edge["from"]
        if "route" in edge or "when" in edge or "each" in edge:
            builder.add_conditional_edges(source, router(world, source, edge), edge.get("paths"))
        else:
            builder.add_edge(source, edge["to"])
    return compiled(builder.compile(checkpointer=saver, name=name, **compile_options), spec)


def build_entrypoint(world, spec, saver, given):
    name = spec["name"]

    def scope(state, previous):
        return {"state": freeze(state), "previous": freeze(previous), "runs": world.begin(name), "writer": get_stream_writer()}

    if world.asynchronous:

        async def run(state, *, previous=None):
            return await drive_async(work(world, name, spec["do"], scope(state, previous)))
    else:

        def run(state, *, previous=None):
            return drive(work(world, name, spec["do"], scope(state, previous)))

    run.__name__ = name
    more = {**given}
    if "retry" in spec:
        more["retry_policy"] = retry_policy(spec["retry"])
    if "cache" in spec:
        more["cache_policy"] = cache_policy(spec["cache"])
    return entrypoint(checkpointer=saver, **more)(run)


def build_task(world, name, spec):
    def scope(arguments):
        return {"state": None, "args": freeze(arguments), "runs": world.begin(name), "writer": get_stream_writer()}

    if world.asynchronous:

        async def run(*arguments):
            return await drive_async(work(world, name, spec["do"], scope(arguments)))
    else:

        def run(*arguments):
            return drive(work(world, name, spec["do"], scope(arguments)))

    run.__name__ = name
    more = {}
    if "retry" in spec:
        more["retry_policy"] = retry_policy(spec["retry"])
    if "cache" in spec:
        more["cache_policy"] = cache_policy(spec["cache"])
    return task(name=name, **more)(run)


def build(case, saver):
    spec = case["graph"]
    world = World(spec, case.get("api", "sync"))
    for name, one in spec.get("tasks", {}).items():
        world.tasks[name] = build_task(world, name, one)
    for name, one in spec.get("graphs", {}).items():
        inner = {"inherit": None, "stateful": True, "off": False}[one.get("persistence", "inherit")]
        world.graphs[name] = build_graph(world, one, name, inner)
    return world, build_graph(world, spec, "LangGraph", saver)


# ── Scripts ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Skip(Exception):
    pass


def taken(mux):
    """What one graph of a run has projected since it was looked at last, in the order in which it came."""
    items = []
    for name, channel in mux.extensions.items():
        while channel._items:
            stamp, item = channel._items.popleft()
            items.append((stamp, name, item if name in ("messages", "subgraphs") else freeze(item)))
    return sorted(items, key=lambda one: one[0])


def projections(scope):
    """What one graph of a run projects, messages with all their pieces and graphs right below as they ended."""
    told = []
    for _, name, item in scope.told + taken(scope.mux):
        if name == "messages":
            item = {"node": item.node, "id": item.message_id, "pieces": freeze(list(item._events))}
        elif name == "subgraphs":
            fields = ("graph_name", "trigger_call_id", "status", "error")
            item = {"path": list(item.path), **{field: getattr(item, field) for field in fields}}
        told.append([name, item])
    return [list(scope.mux.scope), told]


class Session:
    def __init__(self, case):
        self.case = case
        self.saver = InMemorySaver() if case["graph"].get("checkpointer", True) else None
        self.updated = []
        self.threads = []
        self.world, self.graph = build(case, self.saver)

    def base(self, op):
        thread = op.get("thread", THREAD)
        if thread is not None and thread not in self.threads:
            self.threads.append(thread)
        return {"configurable": {} if thread is None else {"thread_id": thread}}

    def config(self, op):
        """The config of an operation: the thread, and the checkpoint that `at` names."""
        config = self.base(op)
        at = op.get("at")
        if at is None:
            return config
        return self.find(config, at)

    def find(self, base, at):
        if "id" in at:
            return {"configurable": {**base["configurable"], "checkpoint_ns": "", "checkpoint_id": at["id"]}}
        if "updated" in at:
            if not self.updated:
                raise Skip("no such update")
            return self.updated[at["updated"]]
        if "ns" in at and isinstance(at["ns"], str):
            base = {"configurable": {**base["configurable"], "checkpoint_ns": at["ns"]}}
        elif "ns" in at:
            state = self.graph.get_state(base, subgraphs=True)
            for name in at["ns"]:
                inner = [one.state for one in state.tasks if one.name == name and one.state is not None]
                if not inner:
                    raise Skip(f"no state below {name}")
                state = inner[at.get("nth", 0)]
            base = {"configurable": {**state.config["configurable"]}}
            if "checkpoint_id" not in base["configurable"]:
                raise Skip(f"no state below {at['ns'][-1]}")
            if "history" not in at and "step" not in at:
                if at.get("live"):
                    base["configurable"].pop("checkpoint_id", None)
                    base["configurable"].pop("checkpoint_map", None)
                return base
            base["configurable"].pop("checkpoint_id", None)
        entries = list(self.graph.get_state_history(base)) if "history" in at or "step" in at else None
        if entries is None:
            return base
        if "step" in at:
            entries = [one for one in entries if one.metadata["step"] == at["step"]]
            wanted = at.get("nth", 0)
        else:
            wanted = at["history"]
        if at.get("wrap"):
            wanted %= len(entries) or 1
        if wanted >= len(entries):
            raise Skip("no such checkpoint")
        return entries[wanted].config

    def pending(self, op):
        return self.graph.get_state(self.base(op)).interrupts

    def given(self, op):
        if "command" in op:
            spec = dict(op["command"])
            resume = spec.get("resume")
            if isinstance(resume, dict) and set(resume) == {"ids"}:
                pending = self.pending(op)
                spec["resume"] = {
                    pending[int(k)].id: value for k, value in resume["ids"].items() if int(k) < len(pending)
                }
                if not spec["resume"]:
                    raise Skip("no question waits")
            return command(spec, {})
        return thaw(compute(op["input"], {}))

    def run(self, op):
        config = self.config(op)
        config = {**config, "recursion_limit": op.get("limit", LIMIT)}
        if "metadata" in op:
            config["metadata"] = op["metadata"]
        if "tags" in op:
            config["tags"] = op["tags"]
        if "configurable" in op:
            config["configurable"] = {**config["configurable"], **op["configurable"]}
        if op.get("strict_resume"):
            config["configurable"] = {**config["configurable"], "__pregel_strict_resume": True}
        if "max_concurrency" in op:
            config["max_concurrency"] = op["max_concurrency"]
        fields = ("interrupt_before", "interrupt_after", "output_keys", "context", "version")
        more = {key: op[key] for key in fields if key in op}
        durability = op.get("durability", "sync")
        if self.saver is not None and durability is not None:
            more["durability"] = durability
        given = self.given(op)
        if op["op"] == "invoke":
            if self.world.asynchronous:
                return {"value": freeze(asyncio.run(self.graph.ainvoke(given, config, **more)))}
            return {"value": freeze(self.graph.invoke(given, config, **more))}
        if op["op"] == "events":
            return self.run_events(op, given, config, more)
        events = self.events = []
        modes = op.get("modes", MODES)
        subgraphs = op.get("subgraphs", False)

        def take(item):
            if op.get("version") == "v2":
                told = shown(item["type"], item["data"])
                if item["type"] == "values":
                    told = {"data": told, "interrupts": freeze(item["interrupts"])}
                events.append([list(item["ns"]), item["type"], told])
            elif subgraphs:
                ns, mode, payload = item
                events.append([list(ns), mode, shown(mode, payload)])
            else:
                mode, payload = item
                events.append([[], mode, shown(mode, payload)])

        if self.world.asynchronous:

            async def read():
                async for item in self.graph.astream(given, config, stream_mode=modes, subgraphs=subgraphs, **more):
                    take(item)

            asyncio.run(read())
        else:
            for item in self.graph.stream(given, config, stream_mode=modes, subgraphs=subgraphs, **more):
                take(item)
        return {}

    def run_events(self, op, given, config, more):
        """A run told by the streaming protocol: its log, and what every graph in it projects."""
        events = self.events = []
        seqs, scopes = [], []
        extra = [EXTRA[mode] for mode in op.get("modes", [])]

        class Watch(StreamTransformer):
            def init(self):
                return {}

            def process(self, event):
                # At once: what is told is changed in place afterwards.
                self.told += taken(self.mux)
                return True

            def _on_register(self, mux):
                for channel in mux.extensions.values():
                    channel._subscribed = True
                self.mux, self.told = mux, []
                scopes.append(self)

        def take(event):
            assert event["type"] == "event" and isinstance(event["params"]["timestamp"], int)
            params = {key: freeze(value) for key, value in event["params"].items() if key != "timestamp"}
            if event["method"] == "messages":
                params["data"] = shown("messages", params["data"])
            events.append([params.pop("namespace"), event["method"], params])
            seqs.append(event["seq"])

        more = {**more, "version": "v3", "transformers": [*extra, Watch]}
        if self.world.asynchronous:

            async def read():
                run = await self.graph.astream_events(given, config, **more)
                async for event in run:
                    take(event)
                return {"output": await run.output(), "interrupts": await run.interrupts()}

            driven = lambda: asyncio.run(read())
        else:

            def driven():
                run = self.graph.stream_events(given, config, **more)
                for event in run:
                    take(event)
                return {"output": run.output, "interrupts": run.interrupts}

        try:
            return freeze(driven())
        finally:
            assert seqs == list(range(1, len(seqs) + 1))
            self.projected = [projections(scope) for scope in scopes]

    def perform(self, op):
        kind = op["op"]
        if kind in ("stream", "invoke", "events"):
            return self.run(op)
        if kind == "state":
            return {"state": snapshot(self.graph.get_state(self.config(op), subgraphs=op.get("subgraphs", False)))}
        if kind == "history":
            more = {key: op[key] for key in ("filter", "limit") if key in op}
            if "before" in op:
                more["before"] = self.find(self.base(op), op["before"])
            return {"history": [snapshot(one) for one in self.graph.get_state_history(self.config(op), **more)]}
        if kind == "update":
            values = command(op["command"], {}) if "command" in op else thaw(compute(op.get("values"), {}))
            made = self.graph.update_state(self.config(op), values, as_node=op.get("as_node"))
            self.updated.append(made)
            return {"config": address(made)}
        if kind == "bulk":
            supersteps = [
                [
                    StateUpdate(
                        command(one["command"], {}) if "command" in one else thaw(compute(one.get("values"), {})),
                        one.get("as_node"),
                    )
                    for one in step
                ]
                for step in op["supersteps"]
            ]
            made = self.graph.bulk_update_state(self.config(op), supersteps)
            self.updated.append(made)
            return {"config": address(made)}
        if kind == "copy":
            values = [(thaw(one.get("values")), one["as_node"]) for one in op["updates"]] if "updates" in op else None
            made = self.graph.update_state(self.config(op), values, as_node="__copy__")
            self.updated.append(made)
            return {"config": address(made)}
        if kind == "clear_cache":
            self.graph.clear_cache(op.get("nodes"))
            return {}
        if kind == "delete_thread":
            self.saver.delete_thread(op.get("thread", THREAD))
            return {}
        raise ValueError(f"unknown operation {kind}")

    def operate(self, op):
        self.world.ran, self.world.notes, self.events, self.projected = [], [], None, None
        try:
            record = self.perform(op)
        except Skip as why:
            return {"skipped": str(why)}
        except Exception as problem:
            record = {"error": error(problem)}
            if "-v" in sys.argv:
                traceback.print_exc()
        if self.events is not None:
            record["events"] = self.events
        if self.projected is not None:
            record["by_name" if op.get("unordered") else "projected"] = self.projected
        if op["op"] in ("stream", "invoke", "events"):
            record["ran"] = self.world.ran
        if self.world.notes:
            record["notes"] = self.world.notes
        if self.saver is not None and op.get("thread", THREAD) and op["op"] not in ("state", "history", "clear_cache"):
            try:
                record["live"] = snapshot(self.graph.get_state(self.base(op)))
            except Exception as problem:
                record["live"] = {"error": error(problem)}
        return record

    def stored(self, thread):
        """Every checkpoint and pending write of a thread, by namespace, newest first."""
        spaces = {}
        for one in self.saver.list({"configurable": {"thread_id": thread}}):
            place = one.config["configurable"]
            ns, id = place["checkpoint_ns"], place["checkpoint_id"]
            rows = self.saver.writes.get((thread, ns, id), {})
            writes = [
                {
                    "task": task,
                    "path": path,
                    "idx": idx,
                    "channel": channel,
                    "value": freeze(self.saver.serde.loads_typed(value)),
                }
                for (task, idx), (_, channel, value, path) in rows.items()
            ]
            checkpoint = one.checkpoint
            parent = one.parent_config["configurable"]["checkpoint_id"] if one.parent_config else None
            spaces.setdefault(ns, []).append(
                {
                    "id": id,
                    "parent": parent,
                    "metadata": freeze(dict(one.metadata)),
                    "channel_values": freeze(checkpoint["channel_values"]),
                    "channel_versions": versions(checkpoint["channel_versions"]),
                    "versions_seen": {key: versions(seen) for key, seen in checkpoint["versions_seen"].items()},
                    "updated_channels": freeze(checkpoint.get("updated_channels")),
                    "writes": writes,
                }
            )
        return spaces

    def end(self):
        threads = {}
        for thread in self.threads:
            base = {"configurable": {"thread_id": thread}}
            try:
                history = [snapshot(one) for one in self.graph.get_state_history(base)]
            except Exception as problem:
                history = {"error": error(problem)}
            threads[thread] = {"history": history, "stored": self.stored(thread)}
        store = self.world.store
        return {"threads": threads} if store is None else {"threads": threads, "store": stored_items(store)}


def address(config):
    """A config without the map of the checkpoints around it."""
    place = {key: value for key, value in config["configurable"].items() if key != "checkpoint_map"}
    return {"configurable": place}


def versions(seen):
    return {key: int(str(value).split(".")[0]) for key, value in seen.items()}


def record(case):
    try:
        session = Session(case)
    except Exception as problem:
        if "-v" in sys.argv:
            traceback.print_exc()
        return [{"compile": error(problem)}]
    made = [session.operate(op) for op in case.get("script", [])]
    if session.saver is not None:
        made.append(session.end())
    return made


def main():
    from generate import generate

    signal.signal(signal.SIGALRM, too_long)
    for line in sys.stdin:
        request = json.loads(line)
        case = generate(request["seed"]) if "seed" in request else request
        signal.alarm(8 if "seed" in request else TOO_LONG)
        try:
            answer = {"record": record(case)}
            text = json.dumps(answer)
        except (Exception, TookTooLong) as problem:
            text = json.dumps({"failed": f"{type(problem).__name__}: {problem}", "trace": traceback.format_exc()})
        signal.alarm(0)
        if "seed" in request:
            text = text[:-1] + ',"case":' + json.dumps(case) + "}"
        # Patterns of the environment must not leak into records.
        print(re.sub(r" at 0x[0-9a-f]+", "", text), flush=True)


if __name__ == "__main__":
    main()
