"""What functions find around them, and what they give back.

LangGraph's own functions and classes work where LangGraph is installed; the module `superstep` has the same names for
where it is not.
"""

import dataclasses
import datetime
import enum
import functools
import inspect
import itertools
import math
import os
import sys
import types
import typing
import uuid

from .reads import RecordedState
from .scope import CURRENT, Stop, TaskFuture

NOTHING = object()
MESSAGES = {"human", "ai", "system", "tool", "function", "chat", "remove", "AIMessageChunk"}


# --- values -------------------------------------------------------------------------------------------------------


def plain(value, path="the value"):
    """A value as JSON; what has no such form is said with its place."""
    if value is None or isinstance(value, (str, bool)):
        return value if not isinstance(value, enum.Enum) else plain(value.value, path)
    if isinstance(value, enum.Enum):
        return plain(value.value, path)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        raise TypeError("%s is %r, which JSON does not have" % (path, value))
    if isinstance(value, dict):
        return {str(k.value if isinstance(k, enum.Enum) else k): plain(v, "%s[%r]" % (path, k)) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v, "%s[%d]" % (path, i)) for i, v in enumerate(value)]
    kind = type(value)
    if kind.__name__ == "Overwrite" and hasattr(value, "value"):
        return {"__overwrite__": plain(value.value, path)}
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"), path)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name), "%s.%s" % (path, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, os.PathLike)):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), path)
    raise TypeError("%s is a %s, which is not JSON" % (path, kind.__name__))


def is_command(value):
    return type(value).__name__ == "Command" and all(hasattr(value, name) for name in ("update", "goto", "graph"))


def is_send(value):
    return type(value).__name__ == "Send" and hasattr(value, "node") and hasattr(value, "arg")


def update(value):
    """An update: of a model or a data class what was set, of pairs the pairs."""
    if hasattr(value, "model_fields_set") and not hasattr(value, "content"):
        return {name: plain(getattr(value, name), name) for name in value.model_fields_set}
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, tuple) and len(v) == 2 and isinstance(v[0], str) for v in value):
        return plain(dict(value))
    return plain(value)


def output(value):
    if is_command(value):
        goto = value.goto if isinstance(value.goto, (list, tuple)) else [value.goto] if value.goto else []
        if value.graph not in (None, "__parent__"):
            raise ValueError("graph of a Command is Command.PARENT, or left out")
        targets = [{"send": [t.node, plain(t.arg, "the input of %s" % t.node)]} if is_send(t) else {"node": str(t)} for t in goto]
        return {"command": {"update": None if value.update is None else update(value.update), "goto": targets, "parent": value.graph is not None}}
    if is_send(value):
        raise TypeError("a Send is part of a Command: return Command(goto=[Send(…)])")
    if isinstance(value, (list, tuple)) and any(is_command(v) for v in value):
        return {"many": [output(v) for v in value]}
    return {"update": update(value)}


def revived(value):
    """Messages as LangChain's objects."""
    if isinstance(value, list):
        return [revived(v) for v in value]
    if isinstance(value, dict) and value.get("type") in MESSAGES and "content" in value:
        from langchain_core.messages import convert_to_messages, messages_from_dict

        fields = {k: v for k, v in value.items() if v is not None or k == "content"}
        try:
            return messages_from_dict([{"type": value["type"], "data": fields}])[0]
        except Exception:
            return convert_to_messages([value])[0]
    return value


def answer(value):
    """What a tool returns."""
    return {"update": plain(getattr(value, "content", value) if type(value).__name__ == "ToolMessage" else value)}


@functools.lru_cache(maxsize=4096)
def speaks_langchain(function, is_own):
    """Does the function's module, or one of the project that it uses (`is_own` of its file), import LangGraph or LangChain?"""
    todo, seen = [inspect.unwrap(function)], set()
    while todo:
        names = getattr(todo.pop(), "__globals__", None) or {}
        if id(names) in seen or len(seen) > 64:
            continue
        seen.add(id(names))
        for value in list(names.values()):
            home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
            if not isinstance(home, str):
                continue
            if home.split(".")[0] in ("langgraph", "langchain", "langchain_core"):
                return True
            if is_own(getattr(sys.modules.get(home), "__file__", None)):
                todo.append(types.SimpleNamespace(__globals__=vars(sys.modules[home])))
    return False


# --- what functions find around them ------------------------------------------------------------------------------


def here():
    scope = CURRENT.get(None)
    if scope is None:
        raise RuntimeError("this was called outside of a node: in a thread that the function has begun itself, perhaps. Use contextvars.copy_context().run there")
    return scope


class Item:
    """An item of the store."""

    def __init__(self, namespace, key, value, created_at, updated_at, score=None):
        self.namespace, self.key, self.value = tuple(namespace), key, value
        self.created_at, self.updated_at = when(created_at), when(updated_at)
        self.score = score

    def __repr__(self):
        return "Item(namespace=%r, key=%r, value=%r)" % (self.namespace, self.key, self.value)


def when(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if isinstance(text, str) else text


def item(found, kind=Item):
    return None if found is None else kind(**{k: tuple(v) if k == "namespace" else when(v) if k.endswith("_at") else v for k, v in found.items()})


def labels(namespace):
    return [namespace] if isinstance(namespace, str) else list(namespace)


def said(**options):
    return {k: v for k, v in options.items() if v is not None}


class Store:
    """Long-term memory, with the functions of LangGraph's stores."""

    def _ask(self, request):
        scope = here()
        return scope.call.begin(scope.scope, {"store": request})

    def _get(self, namespace, key, refresh_ttl=None):
        return {"get": said(namespace=labels(namespace), key=str(key), refreshTtl=refresh_ttl)}

    def _put(self, namespace, key, value, index=None, ttl=NOTHING):
        if value is None:
            return {"delete": {"namespace": labels(namespace), "key": str(key)}}
        request = said(namespace=labels(namespace), key=str(key), value=plain(value), index=index)
        if isinstance(ttl, (int, float)) or ttl is None:
            request["ttl"] = ttl
        return {"put": request}

    def _search(self, prefix=(), query=None, filter=None, limit=10, offset=0, refresh_ttl=None):
        return {"search": said(prefix=labels(prefix), query=query, filter=plain(filter), limit=limit, offset=offset, refreshTtl=refresh_ttl)}

    def _list(self, prefix=None, suffix=None, max_depth=None, limit=100, offset=0):
        return {"listNamespaces": said(prefix=labels(prefix or ()), suffix=labels(suffix or ()), maxDepth=max_depth, limit=limit, offset=offset)}

    def get(self, namespace, key, *, refresh_ttl=None):
        return item(self._ask(self._get(namespace, key, refresh_ttl)).result())

    def put(self, namespace, key, value, index=None, *, ttl=NOTHING):
        self._ask(self._put(namespace, key, value, index, ttl)).result()

    def delete(self, namespace, key):
        self._ask(self._put(namespace, key, None)).result()

    def search(self, namespace_prefix=(), /, **options):
        return [item(found) for found in self._ask(self._search(namespace_prefix, **options)).result()]

    def list_namespaces(self, **options):
        return [tuple(found) for found in self._ask(self._list(**options)).result()]

    async def aget(self, namespace, key, *, refresh_ttl=None):
        return item(await self._ask(self._get(namespace, key, refresh_ttl)))

    async def aput(self, namespace, key, value, index=None, *, ttl=NOTHING):
        await self._ask(self._put(namespace, key, value, index, ttl))

    async def adelete(self, namespace, key):
        await self._ask(self._put(namespace, key, None))

    async def asearch(self, namespace_prefix=(), /, **options):
        return [item(found) for found in await self._ask(self._search(namespace_prefix, **options))]

    async def alist_namespaces(self, **options):
        return [tuple(found) for found in await self._ask(self._list(**options))]


STORE = Store()


class Command:
    """An update together with where to go."""

    PARENT = "__parent__"
    # An annotation says where the function goes: Command[Literal["a", "b"]].
    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, *, graph=None, update=None, goto=()):
        self.graph, self.update, self.goto = graph, update, goto


class Send:
    """Runs a node in the next step with an input of its own."""

    def __init__(self, node, arg):
        self.node, self.arg = node, arg


def interrupt(value):
    """Asks a person and returns the answer; the first time, it ends the function."""
    scope = here()
    return scope.call.ask(scope.scope, {"interrupt": plain(value, "the question")})


def emit(value):
    """Something for the `custom` stream."""
    scope = here()
    scope.call.tell(scope.scope, {"emit": plain(value, "the event")})


def message(value):
    """A message or chunk for the `messages` stream."""
    scope = here()
    scope.call.tell(scope.scope, {"message": plain(value, "the message")})


def progress(done, total=None, text=None):
    """How far the function is."""
    scope = here()
    scope.call.tell(scope.scope, {"progress": said(done=float(done), total=total, text=text)})


def task(function=None, *, name=None, **_):
    """Makes a function a durable task: called, it gives a future, and its result is recorded."""
    if function is None:
        return functools.partial(task, name=name)

    @functools.wraps(function)
    def called(*args, **kwargs):
        return do_task(name or function.__name__, function, args, kwargs)

    return called


def do_task(name, function, args, kwargs):
    scope = here()
    shown = [describe(v) for v in args] + ([{k: describe(v) for k, v in kwargs.items()}] if kwargs else [])
    future = scope.call.task(scope.scope, name, shown[0] if len(shown) == 1 else shown, lambda: function(*args, **kwargs))
    if not scope.call.langchain:
        return future
    seen = TaskFuture()
    future.add_done_callback(lambda f: seen.set_exception(f.exception()) if f.exception() else seen.set_result(revived(f.result())))
    return seen


def describe(value):
    try:
        return plain(value)
    except (TypeError, ValueError):
        return repr(value)[:200]


def get_stream_writer():
    return emit


def get_store():
    return STORE if here().call.spec["place"].get("store") else None


def get_config():
    return here().call.config


def get_runtime(*_):
    return here().call.runtime


class Context:
    """What a function knows of its place, with the functions of `superstep`."""

    interrupt, emit, message, progress, task = map(staticmethod, (interrupt, emit, message, progress, task))

    def __init__(self, call):
        self.__dict__.update(call.spec["place"]["context"])
        self.config, self.store = call.config, STORE if call.spec["place"].get("store") else None


superstep = types.ModuleType("superstep", "What functions of a graph find around them.")
superstep.__all__ = [
    "interrupt", "emit", "message", "progress", "task", "Command", "Send", "Item", "START", "END",
    "get_stream_writer", "get_store", "get_config", "get_runtime",
]
START, END = "__start__", "__end__"
for _name in superstep.__all__:
    _value = globals()[_name]
    if isinstance(_value, type):
        _value.__module__ = __package__
    setattr(superstep, _name, _value)
sys.modules["superstep"] = superstep


# --- LangGraph ----------------------------------------------------------------------------------------------------


class Scratchpad:
    """What LangGraph's `interrupt` reads: whether there is an answer is asked when it wants to know."""

    def __init__(self, scope):
        self.scope, self.resume = scope, []
        count, graphs = itertools.count(), itertools.count()
        self.interrupt_counter, self.call_counter = lambda: next(count), itertools.count().__next__
        self.subgraph_counter = lambda: next(graphs)
        self.step, self.stop = 0, 10000

    def get_null_resume(self, consume=False):
        if not consume:
            return None
        try:
            return self.scope.call.ask(self.scope.scope, "answer")
        except Stop:
            return None


def asked(error):
    """The question of LangGraph's own interrupt."""
    if type(error).__name__ == "GraphInterrupt" and error.args and error.args[0]:
        return plain(error.args[0][0].value, "the question")
    return NOTHING


def attach(call, scope):
    """Sets what LangGraph's functions and LangChain's models read, once they are imported."""
    if "langchain_core" not in sys.modules or not hasattr(call, "config"):
        return
    from langchain_core.runnables.config import var_child_runnable_config

    own = dict(call.config, configurable=dict(call.config["configurable"]))
    if call.spec["place"].get("messages"):
        own["callbacks"] = [listener()(CURRENT.get())]
    if "langgraph" in sys.modules:
        own["configurable"]["__pregel_scratchpad"] = Scratchpad(CURRENT.get())
        own["configurable"]["__pregel_call"] = run_task
        own["configurable"]["__pregel_send"] = lambda writes: None
        own["configurable"]["__pregel_runtime"] = call.runtime
    var_child_runnable_config.set(own)
    if scope == 0:
        call.config = own


@functools.lru_cache(maxsize=None)
def listener():
    """The class of what LangChain's chat models emit while they answer; who reads the `messages` stream hears it."""
    from langchain_core.callbacks import BaseCallbackHandler

    class Listener(BaseCallbackHandler):
        # In the order and the thread of what is said, or pieces would overtake each other.
        run_inline = True

        def __init__(self, scope):
            self.scope, self.silent, self.sent = scope, set(), set()

        # That these two are here makes a model stream although it was only invoked.
        def tap_output_iter(self, run_id, output):
            return output

        def tap_output_aiter(self, run_id, output):
            return output

        def on_chat_model_start(self, serialized, messages, *, run_id, tags=None, **_):
            if {"nostream", "langsmith:nostream"}.intersection(tags or ()):
                self.silent.add(run_id)

        def on_llm_new_token(self, token, *, chunk=None, run_id, **_):
            self.tell(getattr(chunk, "message", None), run_id)

        def on_llm_end(self, response, *, run_id, **_):
            if run_id not in self.sent:
                for generation in (response.generations or [[]])[0][:1]:
                    self.tell(getattr(generation, "message", None), run_id)
            self.forget(run_id)

        def on_llm_error(self, error, *, run_id, **_):
            self.forget(run_id)

        def forget(self, run_id):
            self.silent.discard(run_id)
            self.sent.discard(run_id)

        def tell(self, said, run_id):
            if said is None or run_id in self.silent:
                return
            self.sent.add(run_id)
            shown = plain(said)
            # Pieces of one answer have one name.
            shown["id"] = shown.get("id") or "run-%s" % run_id
            self.scope.call.tell(self.scope.scope, {"message": shown})

    return Listener


def run_task(function, given, **_):
    args, kwargs = given
    return do_task(getattr(function, "__name__", type(function).__name__), function, args, kwargs)


@functools.lru_cache(maxsize=None)
def langgraph_store():
    from langgraph.store import base

    class ProjectStore(base.BaseStore):
        supports_ttl = True

        def batch(self, ops):
            return [finish(future.result()) for finish, future in [self._begin(op) for op in ops]]

        async def abatch(self, ops):
            return [finish(await future) for finish, future in [self._begin(op) for op in ops]]

        def _begin(self, op):
            if isinstance(op, base.GetOp):
                return (lambda found: item(found, base.Item)), STORE._ask(STORE._get(op.namespace, op.key, op.refresh_ttl))
            if isinstance(op, base.PutOp):
                ttl = op.ttl if op.ttl is not None else NOTHING
                return (lambda _: None), STORE._ask(STORE._put(op.namespace, op.key, op.value, op.index, ttl))
            if isinstance(op, base.SearchOp):
                request = STORE._search(op.namespace_prefix, op.query, op.filter, op.limit, op.offset, op.refresh_ttl)
                return (lambda all: [item(found, base.SearchItem) for found in all]), STORE._ask(request)
            ends = {match.match_type: match.path for match in op.match_conditions or ()}
            request = STORE._list(ends.get("prefix"), ends.get("suffix"), op.max_depth, op.limit, op.offset)
            return (lambda all: [tuple(found) for found in all]), STORE._ask(request)

    return ProjectStore()


def make_runtime(call, user):
    """LangGraph's `Runtime` where it is imported, and an object with the same fields otherwise."""
    place = call.spec["place"]
    facts = place["context"]
    fields = {
        "context": user,
        "store": None,
        "stream_writer": emit,
        "heartbeat": lambda: progress(0),
        "previous": None,
        "execution_info": types.SimpleNamespace(
            checkpoint_id=facts["checkpoint"], checkpoint_ns=facts["namespace"], task_id=facts["task"],
            thread_id=facts["thread"], run_id=facts["run"], node_attempt=facts["attempt"],
            node_first_attempt_time=facts["firstAttempt"] / 1000,
        ),
    }
    if "langgraph" not in sys.modules:
        fields["store"] = STORE if place.get("store") else None
        return types.SimpleNamespace(**fields)
    from langgraph.runtime import Runtime

    fields["store"] = langgraph_store() if place.get("store") else None
    known = {field.name for field in dataclasses.fields(Runtime)}
    return Runtime(**{name: value for name, value in fields.items() if name in known})


# --- calling a function -------------------------------------------------------------------------------------------


def shaped(kind, value):
    """A dict as the data class or model that an annotation names."""
    if isinstance(value, dict) and isinstance(kind, type):
        if dataclasses.is_dataclass(kind):
            return kind(**{f.name: value[f.name] for f in dataclasses.fields(kind) if f.init and f.name in value})
        if hasattr(kind, "model_fields"):
            return kind(**{name: value[name] for name in kind.model_fields if name in value})
    return value


@functools.lru_cache(maxsize=4096)
def signature(function):
    """Annotations, the parameter that takes the state, and those that can be given by name."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:
        hints = {}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return hints, "state", []
    kinds = inspect.Parameter
    placed = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD, kinds.VAR_POSITIONAL)
    first = next((p.name for p in parameters if p.kind in placed), None)
    return hints, first, [p.name for p in parameters if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]


def bind(function, call):
    """Calls a function with what its parameters name."""
    place, given = call.spec["place"], call.spec["given"]
    if hasattr(function, "args_schema"):
        # A tool of LangChain's is its function with a description.
        function = getattr(function, "coroutine", None) or getattr(function, "func", None) or function
    call.langchain = speaks_langchain(function, call.worker.modules.own) if hasattr(function, "__globals__") else "langgraph" in sys.modules
    hints, first, named = (signature if type(function).__hash__ else signature.__wrapped__)(function)
    call.config = dict(place["config"], callbacks=None, recursion_limit=10000)
    user = place["context"]["user"]
    wanted = typing.get_args(hints.get("runtime")) if hints.get("runtime") else ()
    call.runtime = make_runtime(call, shaped(wanted[0], user) if wanted else user)
    attach(call, 0)
    state = given["state"]
    if call.langchain and isinstance(state, dict):
        state = {key: revived(value) if key in call.spec["messages"] else value for key, value in state.items()}
    if place.get("record") and isinstance(state, dict):
        state = call.state = RecordedState(state)
    store = getattr(call.runtime, "store", None)
    around = {"config": call.config, "writer": emit, "store": store, "runtime": call.runtime, "previous": None, "ctx": Context(call), "context": place["read"]}
    if call.spec["style"] == "tool":
        args, kwargs = [], {} if hasattr(function, "superstep_body") else dict(given["args"])
        around.update(state=state, args=given["args"])
        taken = set(kwargs)
    else:
        args, kwargs = ([shaped(hints.get(first), state)] if first else []), {}
        taken = {first}
        around.update(state=state)
    for name in named:
        if name in around and name not in taken:
            kwargs[name] = around[name]
    return function(*args, **kwargs)
