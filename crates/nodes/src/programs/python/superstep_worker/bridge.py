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
import json
import math
import os
import sys
import traceback
import types
import typing
import uuid

from .called import Called
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


def is_pairs(value):
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, tuple) and len(v) == 2 and isinstance(v[0], str) for v in value)


def update(value, call, own=True):
    """An update: of a model or a data class what was set, of pairs the pairs. `own` is one of the function's graph."""
    if hasattr(value, "model_fields_set") and not hasattr(value, "content"):
        value = {name: getattr(value, name) for name in value.model_fields_set}
    if is_pairs(value):
        return [[key, plain(v, key)] for key, v in value if not own or call.knows(key)]
    shown = plain(value)
    return {key: v for key, v in shown.items() if call.knows(key)} if own and isinstance(shown, dict) else shown


def limit(timeout):
    """LangGraph's timeout, in seconds."""
    if timeout is None:
        return None
    if not hasattr(timeout, "run_timeout"):
        return {"run": seconds(timeout)}
    idle = getattr(timeout, "idle_timeout", None)
    return {"run": seconds(timeout.run_timeout), "idle": seconds(idle), "heartbeat": getattr(timeout, "refresh_on", None) == "heartbeat"}


def seconds(time):
    return time.total_seconds() if isinstance(time, datetime.timedelta) else time


def target(to):
    if not is_send(to):
        return {"node": str(to)}
    given, within = plain(to.arg, "the input of %s" % to.node), limit(getattr(to, "timeout", None))
    return {"send": [to.node, given]} if within is None else {"send_within": [to.node, given, within]}


def output(value, call):
    if is_command(value):
        goto = value.goto if isinstance(value.goto, (list, tuple)) else [value.goto] if value.goto else []
        if value.graph not in (None, "__parent__"):
            raise ValueError("graph of a Command is Command.PARENT, or left out")
        said = None if value.update is None else update(value.update, call, value.graph is None)
        return {"command": {"update": said, "goto": [target(t) for t in goto], "parent": value.graph is not None}}
    if is_send(value):
        raise TypeError("a Send is part of a Command: return Command(goto=[Send(…)])")
    if isinstance(value, (list, tuple)) and any(is_command(v) for v in value):
        return {"many": [output(v, call) for v in value]}
    said = update(value, call)
    return {"many": [{"update": {key: v}} for key, v in said]} if is_pairs(value) else {"update": said}


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


def answer(value, call):
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

    def __init__(self, node, arg, *, timeout=None):
        self.node, self.arg, self.timeout = node, arg, timeout


def interrupt(value, *, response_schema=None):
    """Asks a person and returns the answer; the first time, it ends the function. An answer that does not fit a model or
    a data class is refused, and asked for again."""
    scope, adapter, refused = here(), None, None
    schema = response_schema
    if response_schema is not None and not isinstance(response_schema, dict):
        from pydantic import TypeAdapter

        adapter = TypeAdapter(response_schema)
        schema = adapter.json_schema()
    while True:
        answer = scope.call.ask(scope.scope, {"interrupt": question(value, schema, refused)})
        if adapter is None:
            return answer
        try:
            return adapter.validate_python(answer)
        except ValueError as error:
            refused = misfit(error)


def question(value, schema=None, refused=None):
    """A question, with the schema of its answer and why the last one was refused."""
    asked = plain(value, "the question")
    if schema is None and refused is None:
        return asked
    if not isinstance(asked, dict):
        asked = {"question": asked if isinstance(asked, str) else json.dumps(asked, ensure_ascii=False)}
    return dict(asked, **said(schema=plain(schema, "the schema"), refused=refused))


def misfit(error):
    """What does not fit, in a line."""
    try:
        return "; ".join(": ".join(filter(None, [".".join(map(str, one["loc"])), one["msg"]])) for one in error.errors()[:5])
    except Exception:
        return str(error)


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


def task(function=None, *, name=None, retry_policy=None, cache_policy=None, timeout=None):
    """Makes a function a durable task: called, it gives a future, and its result is recorded."""
    if function is None:
        return functools.partial(task, name=name, retry_policy=retry_policy, cache_policy=cache_policy, timeout=timeout)

    @functools.wraps(function)
    def called(*args, **kwargs):
        return do_task(name or function.__name__, function, args, kwargs, retry_policy, cache_policy, timeout)

    return called


def do_task(name, function, args, kwargs, retry_policy=None, cache_policy=None, timeout=None):
    scope = here()
    shown = [describe(v) for v in args] + ([{k: describe(v) for k, v in kwargs.items()}] if kwargs else [])
    policies = [retry_policy] if hasattr(retry_policy, "max_attempts") else list(retry_policy or ())
    options = {"retry": [retry(policy) for policy in policies], "timeout": limit(timeout), "cache": kept(function, args, kwargs, cache_policy)}
    request = {"name": name, "args": shown[0] if len(shown) == 1 else shown}
    if any(options.values()):
        request["options"] = options
    future = scope.call.task(scope.scope, request, lambda: function(*args, **kwargs), policies)
    if not scope.call.langchain:
        return future
    seen = TaskFuture()
    future.add_done_callback(lambda f: seen.set_exception(f.exception()) if f.exception() else seen.set_result(revived(f.result())))
    return seen


def retry(policy):
    late = getattr(sys.modules.get("langgraph.errors"), "NodeTimeoutError", None)
    return {
        "attempts": policy.max_attempts, "initial": seconds(policy.initial_interval), "factor": policy.backoff_factor,
        "most": seconds(policy.max_interval), "jitter": bool(policy.jitter),
        "late": late is not None and wants(policy, late.__new__(late)),
    }


def wants(policy, error):
    """Is the error worth another attempt?"""
    on = policy.retry_on
    try:
        if isinstance(on, type) or isinstance(on, (list, tuple)):
            return isinstance(error, on if isinstance(on, type) else tuple(on))
        return bool(on(error))
    except AttributeError:
        return False


def kept(function, args, kwargs, policy):
    """Under which name results are used again."""
    if policy is None:
        return None
    of = "%s.%s" % (getattr(function, "__module__", ""), getattr(function, "__qualname__", ""))
    key = policy.key_func(*args, **kwargs)
    return {"of": of, "key": key.hex() if isinstance(key, bytes) else describe(key), "ttl": policy.ttl}


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


def scratchpad(scope):
    """What LangGraph's `interrupt` reads: whether there is an answer is asked when it wants to know."""
    from langchain_core.runnables.config import var_child_runnable_config

    def answered(consume=False):
        if not consume:
            return None
        around = (var_child_runnable_config.get() or {}).get("configurable") or {}
        if around.get("__pregel_scratchpad") is not pad and scope.called and scope.called.has_saver(around.get("checkpoint_ns") or ""):
            return None  # A graph that goes on where it was is answered by the id of its question.
        try:
            found = scope.call.ask(scope.scope, "answer")
        except Stop:
            return None
        scope.taken, scope.refused = True, None
        if found is None:
            # LangGraph takes no null from here; it does from the answers that it has had before.
            scope.resume.append(None)
        return found

    fields = {
        "step": 0, "stop": 10000, "resume": scope.resume, "get_null_resume": answered,
        "call_counter": itertools.count().__next__, "interrupt_counter": itertools.count().__next__,
        "subgraph_counter": itertools.count().__next__,
    }
    try:
        from langgraph._internal._scratchpad import PregelScratchpad

        pad = PregelScratchpad(**{field.name: fields[field.name] for field in dataclasses.fields(PregelScratchpad)})
    except (ImportError, KeyError, TypeError):
        pad = types.SimpleNamespace(**fields)
    return pad


def posed(asked, refused):
    """LangGraph's question."""
    return question(asked.value, getattr(asked, "response_schema", None), refused)


def is_interrupt(error):
    return type(error).__name__ == "GraphInterrupt"


def asked(error, scope):
    """The question of LangGraph's own interrupt."""
    if is_interrupt(error) and error.args and error.args[0]:
        return posed(error.args[0][0], scope.refused)
    return NOTHING


def runs_again(error, scope):
    """Is the function to run again at once? Then an answer that it took is another one the next time, or is none."""
    if not isinstance(error, Exception) or "langgraph" not in sys.modules:
        return False
    taken, scope.taken = scope.taken, False
    if is_interrupt(error):
        return taken and bool(scope.resume) and scope.resume[-1] is None
    if not getattr(error, "_langgraph_invalid_resume", False):
        return False
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_name == "interrupt" and frame.f_globals.get("__name__") == "langgraph.types":
            if scope.called and scope.called.refuse(frame.f_locals.get("v"), misfit(error)):
                return True
    if taken:
        scope.refused = misfit(error)
    return taken


def closed(scope, said, kept):
    """How a function ends that may have called graphs: None when it is to run again. `kept` is one that will run again."""
    if scope.called is None:
        return said
    try:
        how = scope.called.close(posed, kept)
    except Stop:
        return said
    if how == "asks" and not said.get("asks"):
        return {"asks": None}
    return None if how == "again" else said


def commanded(error, call):
    """The command of a graph that the function called for the graph around it."""
    command = error.args[0] if error.args else None
    if type(error).__name__ != "ParentCommand" or not is_command(command) or call.spec["style"] != "node":
        return NOTHING
    own = call.spec["place"]["context"]["namespace"]
    graph = None if command.graph in (own, own.rsplit("|")[-1].split(":")[0]) else "__parent__"
    return output(Command(update=command.update, goto=command.goto, graph=graph), call)


def sent(scope, writes):
    """What LangGraph's functions write to the state beside what the function returns."""
    for key, value in writes:
        if not key.startswith("__"):
            scope.call.pushed.append((key, plain(value, key)))


def place_in_graph(scope):
    """Where LangGraph's functions and graphs find that they are in a node."""
    call = scope.call
    facts = call.spec["place"]["context"]
    around = {
        "__pregel_scratchpad": scratchpad(scope),
        "__pregel_call": run_task,
        "__pregel_send": functools.partial(sent, scope),
        "__pregel_runtime": call.runtime,
        "__pregel_task_id": facts["task"],
        "__pregel_resuming": True,
        "__pregel_checkpointer": None,
        "checkpoint_id": None,
        "checkpoint_map": {"|".join(facts["namespace"].split("|")[:-1]): facts["checkpoint"]},
    }
    if facts["thread"] is not None:
        if scope.called is None:
            scope.called = Called(scope, scope.again)
        around.update(__pregel_checkpointer=scope.called.saver, __pregel_resume_map=scope.called.answers)
    return around


def attach(call, scope):
    """Sets what LangGraph's functions and LangChain's models read, once they are imported."""
    if "langchain_core" not in sys.modules or not hasattr(call, "config"):
        return
    from langchain_core.runnables.config import var_child_runnable_config

    own = dict(call.config, configurable=dict(call.config["configurable"]), callbacks=[])
    if call.spec["place"].get("messages"):
        own["callbacks"] = [listener("langgraph" in sys.modules)(CURRENT.get())]
    if "langgraph" in sys.modules:
        own["configurable"].update(place_in_graph(CURRENT.get()))
    var_child_runnable_config.set(own)
    if scope == 0:
        call.config = own


@functools.lru_cache(maxsize=None)
def listener(in_graph):
    """The class of what LangChain's chat models emit while they answer, and of what LangGraph's `push_message` pushes; who
    reads the `messages` stream hears it."""
    from langchain_core.callbacks import BaseCallbackHandler

    Base = BaseCallbackHandler
    if in_graph:
        try:
            from langgraph.pregel._messages import StreamMessagesHandler as Base
        except ImportError:
            pass

    class Listener(Base):
        # In the order and the thread of what is said, or pieces would overtake each other.
        run_inline = True

        def __init__(self, scope):
            self.scope, self.silent, self.sent = scope, set(), set()
            self.subgraphs = False
            self.parent_ns = tuple(scope.call.spec["place"]["context"]["namespace"].split("|")[:-1])

        def _emit(self, meta, message, *, dedupe=False):
            self.scope.call.tell(self.scope.scope, {"message": plain(message)})

        # What nodes of a called graph return is the business of that graph.
        def on_chain_start(self, *_, **__):
            pass

        on_chain_end = on_chain_error = on_chain_start

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


def run_task(function, given, *, retry_policy=None, cache_policy=None, timeout=None, **_):
    args, kwargs = given
    return do_task(getattr(function, "__name__", type(function).__name__), function, args, kwargs, retry_policy, cache_policy, timeout)


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
