"""The side of an attached LangGraph program: imports its graph, draws it, runs it, and answers in JSON lines.

Only the standard library is used besides what the program brings. Works with Python 3.9 and LangGraph 0.6 or later.
"""

import asyncio
import contextlib
import dataclasses
import enum
import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import math
import os
import queue
import re
import sqlite3
import sys
import threading
import traceback
import types
import urllib.parse

MAX_DEPTH = 96  # levels of a value
MAX_VALUES = 2_000_000  # values in one message
MAX_BYTES_SHOWN = 64  # of a value of bytes
MAX_REPR = 2_000  # letters of an object that is shown by its repr
MAX_FRAMES = 12  # of a traceback
MAX_MESSAGE = 8_000  # letters of an error's text
MAX_NESTED = 16  # graphs within graphs
MAX_SUGGESTED = 8  # names in an error
MAX_FILES = 1_000  # of a project that are named
MAX_COPIED = 10_000  # checkpoints of a saver that is no database
MAX_HINTS = 2_000  # type hints in one schema
OWN = "<superstep attach>"  # file name of this text in tracebacks

START, END = "__start__", "__end__"


class Refused(Exception):
    """An error with a code, for the other side."""

    def __init__(self, code, message, **facts):
        super().__init__(message)
        self.facts = {"code": code, "message": message[:MAX_MESSAGE], **facts}


# ---------------------------------------------------------------------------------------------------------- values


def text(value):
    """Halves of characters cannot be said in JSON."""
    try:
        value.encode("utf-8")
        return str(value)
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def full_name(cls):
    module = getattr(cls, "__module__", "")
    name = getattr(cls, "__qualname__", getattr(cls, "__name__", "?"))
    return name if module in ("", "builtins") else f"{module}.{name}"


class Encoder:
    """Makes JSON of the values of one message, in the form that databases of LangGraph are shown in."""

    def __init__(self):
        self.left = MAX_VALUES

    def of_class(self, name, **fields):
        return {"$class": name, **fields}

    def value(self, value, depth=0):
        self.left -= 1
        if self.left < 0:
            return self.of_class("unreadable", reason="too many values")
        if depth > MAX_DEPTH:
            return self.of_class("unreadable", reason="too deep")
        # Almost everything is of these classes; what may need more is below.
        kind = type(value)
        if kind is str:
            return value if value.isascii() else text(value)
        if kind is bool or value is None or kind is int and -(2**63) <= value < 2**63:
            return value
        depth += 1
        if kind is list:
            return [self.value(item, depth) for item in value]
        if kind is dict and "$class" not in value and all(type(key) is str for key in value):
            return {key if key.isascii() else text(key): self.value(item, depth) for key, item in value.items()}
        try:
            return self.known(value, depth)
        except RecursionError:
            return self.of_class("unreadable", reason="too deep")
        except Exception as error:  # a property of theirs may do anything
            return self.of_class("unreadable", reason=f"{type(error).__name__} while it was read")

    def known(self, value, depth):
        kind = type(value)
        if value is None or kind is bool:
            return value
        if isinstance(value, enum.Enum):
            return self.of_class(full_name(kind), value=self.value(value.value, depth))
        if isinstance(value, str):
            return text(value)
        if isinstance(value, int):
            small = -(2**63) <= value < 2**63
            return int(value) if small else self.of_class("int", value=str(value))
        if isinstance(value, float):
            value = float(value)
            return value if math.isfinite(value) else self.of_class("float", value=str(value))
        if isinstance(value, (bytes, bytearray, memoryview)):
            data = bytes(value)
            return self.of_class("bytes", length=len(data), hex=data[:MAX_BYTES_SHOWN].hex())
        if isinstance(value, dict):
            return self.dictionary(value, depth)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return self.fields(kind, ((name, getattr(value, name)) for name in kind._fields), depth)
        if isinstance(value, (list, tuple)):
            return [self.value(item, depth) for item in value]
        return self.object(value, kind, depth)

    def dictionary(self, value, depth):
        if all(isinstance(key, str) and key != "$class" for key in value):
            return {text(key): self.value(item, depth) for key, item in value.items()}
        pairs = [[self.value(key, depth), self.value(item, depth)] for key, item in value.items()]
        return self.of_class("dict", entries=pairs)

    def fields(self, kind, fields, depth):
        made = {"$class": full_name(kind)}
        for name, item in fields:
            made[text(name)] = self.value(item, depth)
        return made

    def object(self, value, kind, depth):
        name = full_name(kind)
        bases = {full_name(base) for base in kind.__mro__}
        if name in ("set", "frozenset", "collections.deque"):
            return self.of_class(name, items=[self.value(item, depth) for item in value])
        if name in ("decimal.Decimal", "uuid.UUID", "datetime.timedelta") or "pathlib.PurePath" in bases:
            return self.of_class(name, value=text(str(value)))
        if bases & {"datetime.date", "datetime.time"}:
            return self.of_class(name, value=value.isoformat())
        if any(base.endswith(".BaseMessage") for base in bases) and hasattr(value, "model_dump"):
            return {text(key): self.value(item, depth) for key, item in value.model_dump().items()}
        if kind.__name__ == "Interrupt" and kind.__module__.startswith("langgraph"):
            return question(value, self, depth)
        if name in ("langgraph.types.Send", "langgraph.constants.Send"):
            return self.of_class(name, node=value.node, arg=self.value(value.arg, depth))
        if isinstance(value, BaseException):
            return self.of_class(name, message=text(str(value)))
        if name == "numpy.ndarray":
            items = self.value(value.tolist(), depth) if value.size <= 64 else None
            return self.of_class(name, shape=list(value.shape), dtype=str(value.dtype), items=items)
        declared = getattr(kind, "model_fields", None) or getattr(kind, "__fields__", None)
        if isinstance(declared, dict):
            return self.fields(kind, ((field, getattr(value, field, None)) for field in declared), depth)
        if dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value)]
            return self.fields(kind, ((field, getattr(value, field, None)) for field in names), depth)
        if isinstance(value, type) or inspect.isroutine(value):
            return self.of_class(name, name=full_name(value))
        return self.of_class(name, repr=text(repr(value))[:MAX_REPR])


def question(interrupt, encoder, depth=0):
    made = {"value": encoder.value(interrupt.value, depth)}
    made["id"] = getattr(interrupt, "id", None) or getattr(interrupt, "interrupt_id", None)
    schema = getattr(interrupt, "response_schema", None)
    if schema is not None:
        made["response_schema"] = encoder.value(schema, depth)
    return made


def shown(value):
    """Gives the text of an object, whose class may fail to make one."""
    try:
        return text(str(value))
    except BaseException as error:
        return f"(its text cannot be made: {type(error).__name__})"


def error_text(error):
    said = shown(error)
    if isinstance(error, BaseException):
        said = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return said[:MAX_MESSAGE]


# ---------------------------------------------------------------------------------------------------------- errors


def is_own(file, root):
    """Is the file one of the project, and not of a library in it?"""
    file = os.path.realpath(file)
    inside = os.path.relpath(file, root) if file.startswith(root + os.sep) else ""
    return bool(inside) and not any(part in ("site-packages", "dist-packages") for part in inside.split(os.sep))


def failure(code, error, root, message=None, **more):
    """Says an exception: the line of the person's code that it came from, and a short traceback."""
    facts = {"class": type(error).__name__, **more}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != OWN]
    own = [frame for frame in frames if is_own(frame.filename, root)]
    if isinstance(error, SyntaxError) and error.filename:
        facts.update(file=error.filename, line=error.lineno, text=(error.text or "").strip())
        message = message or f"{type(error).__name__}: {error.msg}"
    elif own:
        facts.update(file=own[-1].filename, line=own[-1].lineno, text=own[-1].line, function=own[-1].name)
    shown = own + [frame for frame in frames[-1:] if frame not in own]
    lines = [f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in shown[-MAX_FRAMES:]]
    facts["traceback"] = [text(line)[:MAX_REPR] for line in lines]
    facts["left_out"] = len(frames) - len(lines)
    message = text(message or error_text(error))
    if isinstance(error, EOFError):
        message += " (input() has nobody to ask here: ask with interrupt() instead)"
    return Refused(code, message, **{key: item for key, item in facts.items() if item is not None})


# ---------------------------------------------------------------------------------------------------------- opening


def version(package):
    try:
        return importlib.metadata.version(package)
    except Exception:
        return None


def dotenv(file):
    """Reads the variables of an env file, as the program's own library would where it is there."""
    if importlib.util.find_spec("dotenv"):
        from dotenv import dotenv_values

        return {name: value for name, value in dotenv_values(file).items() if value is not None}
    found = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            matched = re.match(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*?)\s*$", line)
            if not matched:
                continue
            name, value = matched.groups()
            quote = value[:1]
            if quote in ("'", '"') and value.find(quote, 1) > 0:
                value = value[1 : value.find(quote, 1)]
            else:
                value = re.split(r"\s#", value, maxsplit=1)[0].rstrip()
            found[name] = value
    return found


def set_variables(env, root):
    """Sets what `env` of a langgraph.json says: a file beside it, or the variables themselves."""
    if isinstance(env, dict):
        variables = env
    elif isinstance(env, str) and os.path.isfile(os.path.join(root, env)):
        variables = dotenv(os.path.join(root, env))
    else:
        return
    for name, value in variables.items():
        os.environ.setdefault(str(name), str(value))


def module_name(file):
    """Gives the dotted name of a file within its package, and the folder that the package is in."""
    folder, name = os.path.dirname(file), os.path.splitext(os.path.basename(file))[0]
    parts = [] if name == "__init__" else [name]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.basename(folder).isidentifier():
        parts.insert(0, os.path.basename(folder))
        folder = os.path.dirname(folder)
    return ".".join(parts), folder


def load_module(place, root, folders):
    """Imports a module by its file, or by its dotted name."""
    for folder in [root, *folders]:
        if folder not in sys.path:
            sys.path.insert(0, folder)
    if "module" in place:
        return importlib.import_module(place["module"])
    file = os.path.realpath(place["file"])
    if not os.path.isfile(file):
        raise Refused("no-file", f"There is no file {file}.", file=file)
    name, folder = module_name(file)
    if folder in sys.path:
        sys.path.remove(folder)
    sys.path.insert(0, folder)
    if "." in name or name.isidentifier():
        known = sys.modules.get(name) or importlib.util.find_spec(name.split(".")[0])
        found = getattr(known, "__file__", None) or getattr(known, "origin", None)
        # A file that has the name of a module of the library must not take its place.
        if "." in name or (found and os.path.realpath(found) == file):
            return importlib.import_module(name)
    name = "superstep_attached"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def closest(name, module):
    """Lists the names of a module that may have been meant: its graphs, else what looks like one."""
    try:
        kinds = graph_classes()
        graphs = [key for key, item in vars(module).items() if isinstance(item, kinds)]
    except Exception:
        graphs = []
    import difflib

    public = [key for key in vars(module) if not key.startswith("_")]
    return (graphs or difflib.get_close_matches(name, public, cutoff=0.5))[:MAX_SUGGESTED]


def only_graph(module):
    """Gives the name of the graph of a module that has one."""
    kinds = graph_classes()
    graphs = {key: item for key, item in vars(module).items() if isinstance(item, kinds)}
    # A graph that is compiled comes before the builder that it was made of.
    compiled = {key: item for key, item in graphs.items() if isinstance(item, kinds[0])}
    inner = {id(item) for graph in compiled.values() for item in nested_of(graph).values()}
    names = [key for key, item in compiled.items() if id(item) not in inner] or list(graphs)
    if len({id(graphs[name]) for name in names}) == 1:
        return names[0]
    problem = "It has several graphs." if names else "It has no graph that could be found without its name."
    raise Refused("no-name", problem, names=names[:MAX_SUGGESTED], file=getattr(module, "__file__", None))


def has_langgraph():
    # A folder of that name would do for `langgraph` alone.
    try:
        return importlib.util.find_spec("langgraph.pregel") is not None
    except ImportError:
        return False


def graph_classes():
    from langgraph.graph import StateGraph
    from langgraph.pregel import Pregel

    return (Pregel, StateGraph)


class Program:
    """The graph that was opened, and what it needs to be used."""

    def __init__(self, loop):
        self.loop = loop
        self.held = contextlib.ExitStack()
        self.held_async = None
        self.root = os.getcwd()
        self.graph = None
        self.named = None
        self.own_saver = False
        # A file for threads that no database has, the saver that keeps them there, and the one that they are copied from.
        self.keep = None
        self.kept = None
        self.copied = None
        # The database of the threads, where there is one that others can read.
        self.threads = None
        self.compiled_here = False
        self.made_by = None

    def open(self, request):
        self.root = os.path.realpath(request["root"])
        self.keep = request.get("keep")
        os.chdir(self.root)
        set_variables(request.get("env"), self.root)
        if not has_langgraph():
            raise Refused(
                "langgraph-missing",
                f"LangGraph is not installed for {sys.executable}.",
                interpreter=sys.executable,
            )
        place = request["place"]
        self.named = place["name"]
        try:
            module = load_module(place, self.root, request.get("folders") or [])
        except Refused:
            raise
        except SyntaxError as error:
            raise failure("syntax-error", error, self.root)
        except SystemExit as error:
            raise failure("import-ended", error, self.root, f"The module ended the program (sys.exit({error.code!r})).")
        except BaseException as error:
            missing = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
            raise failure("import-failed", error, self.root, missing=missing)
        if self.named == "*":
            self.named = only_graph(module)
        found = module
        for part in self.named.split("."):
            if not hasattr(found, part):
                file = getattr(module, "__file__", None)
                raise Refused("no-name", f"It has no name {self.named}.", names=closest(part, module), file=file)
            found = getattr(found, part)
        self.take(found, module)

    def take(self, found, module):
        graph_class, builder_class = graph_classes()
        if not isinstance(found, (graph_class, builder_class)) and callable(found):
            found = self.made(found)
        if isinstance(found, builder_class):
            self.compiled_here = True
            try:
                found = found.compile()
            except Exception as error:
                raise failure("compile-failed", error, self.root)
        if not isinstance(found, graph_class):
            raise Refused(
                "not-a-graph",
                f"{self.named} is of the class {full_name(type(found))}, and no graph of LangGraph.",
                names=closest(self.named, module),
            )
        if not hasattr(found, "stream") or not hasattr(found, "context_schema"):
            raise Refused("langgraph-too-old", f"LangGraph {version('langgraph')} is older than 0.6.")
        self.graph = found
        saver = getattr(found, "checkpointer", None)
        none = saver is None or isinstance(saver, bool)
        file = None if none else database_file(saver, self.loop)
        in_memory = file == "" or type(saver).__name__ in ("InMemorySaver", "MemorySaver")
        self.threads = None if none else threads_of(saver, file)
        if self.keep is not None and self.threads is None:
            self.kept = FileSaver.of(self.keep, saver)
            self.threads = {"file": self.keep}
        if none or self.kept is not None and in_memory:
            self.own_saver = True
            self.graph = found.copy({"checkpointer": self.kept or memory_saver()})
        elif self.kept is not None:
            self.copied = saver

    def made(self, factory):
        """Calls a function that makes the graph; a coroutine is awaited, a context manager entered and held."""
        try:
            wanted = [
                parameter
                for parameter in inspect.signature(factory).parameters.values()
                if parameter.default is parameter.empty and parameter.kind in (0, 1, 3)
            ]
        except (TypeError, ValueError):
            wanted = []
        if len(wanted) > 1:
            names = ", ".join(parameter.name for parameter in wanted)
            raise Refused("factory-arguments", f"{self.named} wants arguments ({names}), and a graph's function takes at most a configuration.")
        config = {"configurable": {}, "metadata": {}, "tags": []}
        try:
            if not wanted:
                made = factory()
            elif wanted[0].kind == 3:
                made = factory(**{wanted[0].name: config})
            else:
                made = factory(config)
            if inspect.isawaitable(made):
                made = self.loop.run_until_complete(awaited(made))
            if hasattr(made, "__aenter__") and not isinstance(made, graph_classes()):
                self.held_async = contextlib.AsyncExitStack()
                made = self.loop.run_until_complete(self.held_async.enter_async_context(made))
            elif hasattr(made, "__enter__") and not isinstance(made, graph_classes()):
                made = self.held.enter_context(made)
        except BaseException as error:
            raise failure("factory-failed", error, self.root)
        self.made_by = place_of(factory)
        return made

    def uses_async(self):
        """Is the graph used by its asynchronous methods?"""
        saver = self.graph.checkpointer
        # Before 3.11 a node cannot find its run from there (`interrupt`, stream writers).
        if sys.version_info < (3, 11) and not type(saver).__name__.startswith("Async"):
            return has_async_nodes(self.graph)
        if self.own_saver:
            return True
        method = getattr(type(saver), "aget_tuple", None)
        code = getattr(method, "__code__", None)
        # The base class, and savers like SqliteSaver, only raise NotImplementedError there.
        return code is None or "NotImplementedError" not in code.co_names


def has_async_nodes(graph, depth=0):
    """Has the graph, or one within it, nodes that are asynchronous only?"""
    for node in graph.nodes.values():
        bound = getattr(node, "bound", None)
        for runnable in [bound, *(getattr(bound, "steps", None) or ())]:
            if getattr(runnable, "func", bound) is None and getattr(runnable, "afunc", None) is not None:
                return True
    nested = nested_of(graph).values() if depth < MAX_NESTED else ()
    return any(has_async_nodes(inner, depth + 1) for inner in nested if hasattr(inner, "nodes"))


async def awaited(value):
    return await value


def own_files(root):
    """Lists the files of the project that were imported."""
    found = set()
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and is_own(file, root):
            found.add(os.path.realpath(file))
    return sorted(found)[:MAX_FILES]


# ---------------------------------------------------------------------------------------------------------- threads


def memory_saver():
    try:
        from langgraph.checkpoint.memory import InMemorySaver
    except ImportError:
        from langgraph.checkpoint.memory import MemorySaver as InMemorySaver
    return InMemorySaver()


def database_file(saver, loop):
    """Gives the file of a saver in SQLite; an empty text where that is in memory, None for any other saver."""
    conn = getattr(saver, "conn", None)
    question = "PRAGMA database_list"
    with contextlib.suppress(Exception):
        if isinstance(conn, sqlite3.Connection):
            # The tables are there before anybody looks for them.
            saver.setup()
            rows = conn.execute(question).fetchall()
        elif hasattr(conn, "execute_fetchall"):
            loop.run_until_complete(awaited(saver.setup()))
            rows = loop.run_until_complete(awaited(conn.execute_fetchall(question)))
        else:
            return None
        return next((row[2] or "" for row in rows if row[1] == "main"), "")
    return None


def server_address(saver):
    """Gives the address of the server of a saver in PostgreSQL."""
    conn = getattr(saver, "conn", None)
    address, known = getattr(conn, "conninfo", None), None
    if address is None and hasattr(conn, "info"):
        known = {**conn.info.get_parameters(), "password": conn.info.password}
    elif address and "://" not in address:
        from psycopg.conninfo import conninfo_to_dict

        known = conninfo_to_dict(address)
    if known is not None:
        names = ("user", "password", "host", "port", "dbname")
        parts = {name: urllib.parse.quote(str(known.get(name) or ""), safe="") for name in names}
        address = f"postgres://{parts['user']}:{parts['password']}@{parts['host']}:{parts['port'] or 5432}/{parts['dbname']}"
    return address if address and "://" in address else None


def threads_of(saver, file):
    """Says where others can read the threads of a saver, when that is a database of LangGraph."""
    module = type(saver).__module__
    if file and module.startswith("langgraph.checkpoint."):
        return {"file": os.path.realpath(file)}
    if module.startswith("langgraph.checkpoint.postgres"):
        with contextlib.suppress(Exception):
            address = server_address(saver)
            return {"url": address} if address else None
    return None


TABLES = (
    "CREATE TABLE IF NOT EXISTS checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL,"
    " parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id))",
    "CREATE TABLE IF NOT EXISTS writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL, checkpoint_id TEXT NOT NULL,"
    " task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB, task_path TEXT NOT NULL DEFAULT '',"
    " PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx))",
)


class FileSaver:
    """Makes a saver that keeps threads in a file with the tables of LangGraph's own, with nothing but the standard library."""

    @staticmethod
    def of(file, like):
        from langgraph.checkpoint import base

        special = getattr(base, "WRITES_IDX_MAP", {})

        class Saver(base.BaseCheckpointSaver):
            def __init__(self):
                super().__init__(serde=getattr(like, "serde", None))
                self.lock = threading.RLock()
                self.db = sqlite3.connect(file, check_same_thread=False, isolation_level=None, timeout=30)
                # The file outlives every process, and a process may be ended at any time: no log stays beside it.
                for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA synchronous = OFF", *TABLES):
                    self.db.execute(statement)

            def rows(self, statement, *values):
                with self.lock:
                    return self.db.execute(statement, values).fetchall()

            @contextlib.contextmanager
            def commit(self):
                with self.lock:
                    self.db.execute("BEGIN IMMEDIATE")
                    try:
                        yield
                    except BaseException:
                        self.db.execute("ROLLBACK")
                        raise
                    self.db.execute("COMMIT")

            @staticmethod
            def at(config):
                place = config["configurable"]
                return str(place["thread_id"]), place.get("checkpoint_ns") or "", place.get("checkpoint_id")

            def loaded(self, row):
                thread, ns, found, parent, kind, data, metadata = row
                place = lambda checkpoint: {
                    "configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint}
                }
                writes = self.rows(
                    "SELECT task_id, channel, type, value FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
                    " ORDER BY task_id, idx",
                    thread,
                    ns,
                    found,
                )
                return base.CheckpointTuple(
                    place(found),
                    self.serde.loads_typed((kind, data)),
                    json.loads(metadata),
                    place(parent) if parent else None,
                    [(task, channel, self.serde.loads_typed((kind, value))) for task, channel, kind, value in writes],
                )

            def get_tuple(self, config):
                thread, ns, checkpoint = self.at(config)
                found = self.rows(
                    "SELECT * FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND (? IS NULL OR checkpoint_id = ?)"
                    " ORDER BY checkpoint_id DESC LIMIT 1",
                    thread,
                    ns,
                    checkpoint,
                    checkpoint,
                )
                return self.loaded(found[0]) if found else None

            def list(self, config, *, filter=None, before=None, limit=None):
                wanted = {} if config is None else {"thread_id": self.at(config)[0]}
                for name in ("checkpoint_ns", "checkpoint_id"):
                    if config is not None and config["configurable"].get(name) is not None:
                        wanted[name] = config["configurable"][name]
                where = [f"{name} = ?" for name in wanted]
                values = [*wanted.values()]
                if before is not None and self.at(before)[2]:
                    where.append("checkpoint_id < ?")
                    values.append(self.at(before)[2])
                condition = f" WHERE {' AND '.join(where)}" if where else ""
                left = limit
                for row in self.rows(f"SELECT * FROM checkpoints{condition} ORDER BY checkpoint_id DESC", *values):
                    metadata = json.loads(row[6])
                    if any(metadata.get(name) != value for name, value in (filter or {}).items()):
                        continue
                    if left is not None and left <= 0:
                        return
                    left = left if left is None else left - 1
                    yield self.loaded(row)

            def put(self, config, checkpoint, metadata, new_versions):
                thread, ns, parent = self.at(config)
                if hasattr(base, "get_checkpoint_metadata"):
                    metadata = base.get_checkpoint_metadata(config, metadata)
                kind, data = self.serde.dumps_typed(checkpoint)
                shown = json.dumps(Encoder().value(metadata)).encode()
                with self.commit():
                    self.db.execute(
                        "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)",
                        (thread, ns, checkpoint["id"], parent, kind, data, shown),
                    )
                return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint["id"]}}

            def put_writes(self, config, writes, task_id, task_path=""):
                thread, ns, checkpoint = self.at(config)
                # Those with a place of their own may be written again, others stay as they were.
                how = "REPLACE" if all(write[0] in special for write in writes) else "IGNORE"
                with self.commit():
                    for number, (channel, value) in enumerate(writes):
                        kind, data = self.serde.dumps_typed(value)
                        self.db.execute(
                            f"INSERT OR {how} INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                            (thread, ns, checkpoint, task_id, special.get(channel, number), channel, kind, data, task_path),
                        )

            def delete_thread(self, thread_id):
                with self.commit():
                    for table in ("checkpoints", "writes"):
                        self.db.execute(f"DELETE FROM {table} WHERE thread_id = ?", (str(thread_id),))

            def copy_from(self, saver, config):
                """Copies what another saver has, oldest first."""
                for found in reversed(list(saver.list(config, limit=MAX_COPIED))):
                    place = {**found.config["configurable"], "checkpoint_id": None}
                    if found.parent_config:
                        place["checkpoint_id"] = found.parent_config["configurable"].get("checkpoint_id")
                    self.put({"configurable": place}, found.checkpoint, found.metadata, {})
                    by_task = {}
                    for task, channel, value in found.pending_writes or ():
                        by_task.setdefault(task, []).append((channel, value))
                    for task, writes in by_task.items():
                        self.put_writes(found.config, writes, task)

            async def aget_tuple(self, config):
                return self.get_tuple(config)

            async def alist(self, config, *, filter=None, before=None, limit=None):
                for found in self.list(config, filter=filter, before=before, limit=limit):
                    yield found

            async def aput(self, config, checkpoint, metadata, new_versions):
                return self.put(config, checkpoint, metadata, new_versions)

            async def aput_writes(self, config, writes, task_id, task_path=""):
                self.put_writes(config, writes, task_id, task_path)

            async def adelete_thread(self, thread_id):
                self.delete_thread(thread_id)

        return Saver()


# ---------------------------------------------------------------------------------------------------------- drawing


def function_of(runnable):
    """Finds the function behind what a node or a branch runs."""
    for _ in range(MAX_NESTED):
        if isinstance(runnable, functools.partial):
            runnable = runnable.func
            continue
        inner = getattr(runnable, "func", None) or getattr(runnable, "afunc", None)
        if inner is None or inspect.isroutine(runnable):
            break
        runnable = inner
    return runnable


def place_of(runnable):
    """Says where the code of a function or an object is."""
    function = function_of(runnable)
    made = {}
    if inspect.ismethod(function):
        made["kind"] = "method"
    elif inspect.isfunction(function):
        made["kind"] = "function"
    elif inspect.isclass(function):
        made["kind"] = "class"
    else:
        made["kind"] = "object"
        made["class"] = full_name(type(function))
    code = code_of(function)
    named = function if made["kind"] != "object" else type(function)
    made["name"] = text(getattr(named, "__qualname__", getattr(named, "__name__", "?")))
    made["module"] = getattr(named, "__module__", None)
    if code is not None:
        made["file"], made["line"] = code.co_filename, code.co_firstlineno
    return made


def code_of(function):
    with contextlib.suppress(Exception):
        function = inspect.unwrap(function)
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None and not inspect.isclass(function) and not inspect.isbuiltin(function):
        code = getattr(getattr(type(function), "__call__", None), "__code__", None)
    return code if isinstance(code, types.CodeType) else None


def strings_of(function):
    """Collects the texts that a function names: constants of its code, and globals and free names that are texts."""
    function = function_of(function)
    with contextlib.suppress(Exception):
        function = inspect.unwrap(function)
    plain = getattr(function, "__func__", function)
    if not hasattr(plain, "__code__"):
        plain = getattr(type(function), "__call__", None)
    code = code_of(function)
    found, names = set(), set()

    def look(code):
        names.update(code.co_names)
        for item in code.co_consts:
            if isinstance(item, types.CodeType):
                look(item)
            elif isinstance(item, str):
                found.add(item)
            elif isinstance(item, (tuple, frozenset)):
                found.update(part for part in item if isinstance(part, str))

    if code is None:
        return found, names
    look(code)
    known = getattr(plain, "__globals__", {})
    values = [known[name] for name in names if name in known]
    for cell in getattr(plain, "__closure__", None) or ():
        with contextlib.suppress(ValueError):
            values.append(cell.cell_contents)
    for value in values:
        if isinstance(value, str):
            found.add(value)
    return found, names


def typing_extras():
    """Wrappers of a type that say nothing about its values."""
    modules = [sys.modules.get(name) for name in ("typing", "typing_extensions")]
    found = [getattr(module, name, None) for module in modules for name in ("Required", "NotRequired", "ReadOnly")]
    return [item for item in found if item is not None]


def type_text(kind, depth=0):
    """Writes a type as a person would, without what annotations add to it."""
    while hasattr(kind, "__metadata__") or getattr(kind, "__origin__", None) in typing_extras():
        kind = kind.__origin__ if hasattr(kind, "__metadata__") else kind.__args__[0]
    if kind is None or kind is type(None):
        return "None"
    if kind is Ellipsis or depth > MAX_NESTED:
        return "..."
    if isinstance(kind, str):
        return text(kind)
    if hasattr(kind, "__forward_arg__"):
        return text(kind.__forward_arg__)
    args = getattr(kind, "__args__", None)
    if isinstance(args, tuple) and args:
        return generic_text(kind, args, depth + 1)
    if isinstance(kind, type):
        return kind.__name__
    return text(re.sub(r"\b(?:typing|typing_extensions|builtins|collections\.abc)\.", "", str(kind)))[:MAX_REPR]


def generic_text(kind, args, depth):
    origin = getattr(kind, "__origin__", None)
    name = getattr(origin, "__name__", None) or getattr(origin, "_name", None) or getattr(kind, "_name", None)
    if name == "Literal":
        return f"Literal[{', '.join(repr(arg) for arg in args)}]"[:MAX_REPR]
    parts = [f"[{', '.join(type_text(item, depth) for item in arg)}]" if isinstance(arg, list) else type_text(arg, depth) for arg in args]
    if type(kind).__name__ in ("UnionType", "Union") or name == "Union":
        # LangChain writes out every class of messages.
        if len(parts) > 4 and all(part.endswith(("Message", "MessageChunk")) for part in parts):
            return "AnyMessage"
        return " | ".join(parts)[:MAX_REPR]
    return f"{name or type(kind).__name__}[{', '.join(parts)}]"[:MAX_REPR]


def reducer_of(channel):
    reducer = getattr(channel, "operator", None) or getattr(channel, "reducer", None)
    if reducer is None or not callable(reducer):
        return None
    place = place_of(reducer)
    if inspect.isbuiltin(reducer):
        place = {"kind": "function", "name": reducer.__name__, "module": (reducer.__module__ or "").lstrip("_")}
    # `add_messages` is a wrapper of this name.
    elif place.get("module") == "langgraph.graph.message":
        place["name"] = place["name"].split(".")[0].lstrip("_").replace("add_messages_wrapper", "add_messages")
    return place


def draw_channels(channels, managed=(), inputs=None, outputs=None):
    drawn = []
    for name, channel in channels.items():
        drawn.append(
            {
                "name": text(name),
                "type": type_text(getattr(channel, "typ", None)) if hasattr(channel, "typ") else None,
                "channel": type(channel).__name__,
                "reducer": reducer_of(channel),
                "input": inputs is None or name in inputs,
                "output": outputs is None or name in outputs,
                "managed": False,
            }
        )
    for name, value in dict(managed).items():
        kind = value if isinstance(value, type) else type(value)
        drawn.append(
            {"name": text(name), "type": None, "channel": kind.__name__, "reducer": None, "input": False, "output": False, "managed": True}
        )
    return drawn


def type_hints(kind):
    """Gives the type hints of a class; those that cannot be evaluated stay texts."""
    typing = sys.modules.get("typing_extensions") or importlib.import_module("typing")
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except Exception:
        found = {}
        for base in reversed(getattr(kind, "__mro__", (kind,))):
            found.update(vars(base).get("__annotations__", {}))
        return found


class Hints:
    """Makes a JSON Schema of type hints, for what pydantic makes none of. A hint that says nothing may be anything."""

    PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null", None: "null"}
    LISTS = ("list", "set", "frozenset", "tuple", "deque", "Sequence", "Iterable", "Collection", "MutableSequence", "Set")
    OBJECTS = ("dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict")

    def __init__(self):
        self.left = MAX_HINTS
        self.around = []

    def of(self, kind):
        self.left -= 1
        if self.left < 0 or len(self.around) > MAX_NESTED or any(kind is outer for outer in self.around):
            return {}
        self.around.append(kind)
        try:
            return self.known(kind)
        except Exception:  # a class of theirs may do anything
            return {}
        finally:
            self.around.pop()

    def known(self, kind):
        while hasattr(kind, "__metadata__") or getattr(kind, "__origin__", None) in typing_extras():
            kind = kind.__origin__ if hasattr(kind, "__metadata__") else kind.__args__[0]
        if kind in self.PLAIN:
            return {"type": self.PLAIN[kind]}
        args = getattr(kind, "__args__", None) or ()
        origin = getattr(kind, "__origin__", kind)
        name = getattr(origin, "__name__", None) or getattr(origin, "_name", None) or ""
        if name == "Literal":
            return {"enum": [Encoder().value(arg.value if isinstance(arg, enum.Enum) else arg) for arg in args]}
        if type(kind).__name__ in ("UnionType", "Union") or name in ("Union", "Optional"):
            return {"anyOf": [self.of(arg) for arg in args]}
        if name in self.LISTS:
            same = args[:1] if len({repr(arg) for arg in args if arg is not Ellipsis}) == 1 else ()
            return {"type": "array", **({"items": self.of(same[0])} if same else {})}
        if name in self.OBJECTS:
            return {"type": "object", **({"additionalProperties": self.of(args[1])} if len(args) == 2 else {})}
        if isinstance(kind, type):
            return self.of_class(kind)
        return {}

    def of_class(self, kind):
        if issubclass(kind, enum.Enum):
            return {"enum": [Encoder().value(member.value) for member in kind]}
        if hasattr(kind, "__required_keys__") or dataclasses.is_dataclass(kind) or hasattr(kind, "model_fields"):
            return self.of_fields(kind, type_hints(kind))
        return {}

    def of_fields(self, kind, hints):
        """Makes the schema of an object with these fields, which are those of a class."""
        fields = {name: hint for name, hint in hints.items() if not name.startswith("__")}
        made = {"type": "object", "title": kind.__name__, "properties": {}}
        defaults = {}
        if dataclasses.is_dataclass(kind):
            fields = {field.name: fields.get(field.name, field.type) for field in dataclasses.fields(kind) if field.init}
            for field in dataclasses.fields(kind):
                if field.default_factory is not dataclasses.MISSING:
                    defaults[field.name] = None
                elif field.default is not dataclasses.MISSING:
                    defaults[field.name] = field.default
        declared = getattr(kind, "model_fields", None)
        if isinstance(declared, dict):
            fields = {name: fields.get(name, field.annotation) for name, field in declared.items()}
            defaults = {name: field.default for name, field in declared.items() if not field.is_required()}
        for name, hint in fields.items():
            schema = self.of(hint)
            default = defaults.get(name)
            if type(default) in (str, int, float, bool) and default == default:
                schema = {**schema, "default": Encoder().value(default)}
            made["properties"][text(name)] = schema
        required = getattr(kind, "__required_keys__", None)
        needed = required if required is not None else [name for name in fields if name not in defaults]
        made["required"] = [text(name) for name in fields if name in needed]
        return made


def schema_of(graph, method):
    """Gives a JSON Schema of the graph, or why there is none."""
    try:
        schema = getattr(graph, method)()
        json.dumps(schema)
        return schema, None
    except AttributeError as error:
        return None, error_text(error) if hasattr(graph, method) else f"this version of LangGraph has no {method}"
    except BaseException as error:
        return None, error_text(error)


def hinted(graph, name):
    """Makes the schema of the input, output or context of a graph from the hints of its class, and the channels that there are."""
    if name == "context_schema":
        return Hints().of(graph.context_schema), graph.context_schema
    builder = getattr(graph, "builder", None)
    kind = getattr(builder, name, getattr(builder, name.split("_")[0], None))
    keys = graph.input_channels if name == "input_schema" else graph.output_channels
    if builder is not None and name == "input_schema":
        keys = list(getattr(builder, "schemas", {}).get(kind, ())) or keys
    channels = getattr(builder, "channels", None) or graph.channels
    if isinstance(keys, str) or "__root__" in keys:
        # The graph takes a value that is no object of state keys.
        key = keys if isinstance(keys, str) else "__root__"
        typ = getattr(channels.get(key), "typ", None)
        return Hints().of(kind if kind is not None else typ), kind or typ
    hints = type_hints(kind) if kind is not None else {}
    fields = {key: hints.get(key, getattr(channels.get(key), "typ", None)) for key in keys if key in channels}
    own = kind if isinstance(kind, type) else type(graph)
    if set(hints) >= set(fields):
        return Hints().of_fields(own, {key: hints[key] for key in fields}), kind
    made = {"type": "object", "title": own.__name__}
    made["properties"] = {text(key): Hints().of(hint) for key, hint in fields.items()}
    return made, kind


def why_hinted(kind, problem):
    """Says why a schema is made of type hints, with what to change."""
    name = full_name(kind) if isinstance(kind, type) else type_text(kind)
    python = sys.version.split()[0]
    if "typing_extensions.TypedDict" in problem:
        problem = f"pydantic reads typing.TypedDict from Python 3.12 on, and this is {python}; typing_extensions.TypedDict is read"
    else:
        problem = problem.split("\n")[0]
    return f"made from the type hints of {name}, without descriptions ({problem})"


def policy_of(spec):
    policies = getattr(spec, "retry_policy", None)
    if policies is None:
        return None
    # A policy is a tuple by itself.
    policies = [policies] if hasattr(policies, "max_attempts") else policies
    return max((getattr(policy, "max_attempts", 0) for policy in policies), default=None)


def seconds_of(spec):
    timeout = getattr(spec, "timeout", None)
    timeout = getattr(timeout, "run_timeout", timeout)
    timeout = timeout.total_seconds() if hasattr(timeout, "total_seconds") else timeout
    return timeout if isinstance(timeout, (int, float)) and not isinstance(timeout, bool) else None


def nested_of(graph):
    try:
        return dict(graph.get_subgraphs())
    except Exception:
        return {}


class Drawing:
    """Draws a graph and those within it."""

    def __init__(self):
        self.around = []

    def nested(self, name, graph, nested, runnable):
        inner = nested.get(name)
        if inner is None:
            return {}
        if any(inner is outer for outer in self.around) or len(self.around) >= MAX_NESTED:
            return {"recursive": True}
        if not isinstance(inner, graph_classes()[0]):
            return {"remote": full_name(type(inner))}
        return {"graph": self.graph(inner), "called": runnable is not inner}

    def graph(self, graph):
        self.around.append(graph)
        try:
            builder = getattr(graph, "builder", None)
            if builder is not None and hasattr(builder, "branches") and hasattr(builder, "edges"):
                return self.of_builder(graph, builder)
            return self.of_graph(graph)
        finally:
            self.around.pop()

    def of_builder(self, graph, builder):
        names = list(builder.nodes)
        order = {name: number for number, name in enumerate([START, *names, END])}
        place = lambda name: (order.get(name, len(order)), name)
        all_nested = nested_of(graph)
        nodes, ways, branches = [], [], []
        for source, target in sorted(builder.edges, key=lambda edge: (place(edge[0]), place(edge[1]))):
            ways.append({"from": source, "to": target, "kind": "edge"})
        for source in sorted(builder.branches, key=place):
            for name, branch in builder.branches[source].items():
                self.branch(source, name, branch, order, ways, branches)
        for name, spec in builder.nodes.items():
            nodes.append(self.node(name, spec, graph, all_nested, order, ways))
        schemas = getattr(builder, "schemas", {})
        keys = lambda schema: set(schemas.get(getattr(builder, schema, None), ()) or ()) or None
        inputs, outputs = keys("input_schema"), keys("output_schema")
        joins = [{"from": list(starts), "to": target} for starts, target in builder.waiting_edges]
        joins.sort(key=lambda join: (place(join["to"]), [place(name) for name in join["from"]]))
        return {
            **self.common(graph),
            "source": "builder",
            "nodes": nodes,
            "ways": ways,
            "joins": joins,
            "branches": branches,
            "channels": draw_channels(builder.channels, getattr(builder, "managed", {}), inputs, outputs),
        }

    def branch(self, source, name, branch, order, ways, branches):
        drawn = {"from": source, "name": text(str(name)), "function": place_of(branch.path), "guessed": False}
        ends = branch.ends
        if ends is None:
            found, _ = strings_of(branch.path)
            guessed = sorted((name for name in found if name in order and name != START), key=order.get)
            drawn["guessed"] = True
            drawn["open"] = not guessed
            ends = {name: name for name in guessed}
        for label, target in ends.items():
            way = {"from": source, "to": target, "kind": "branch", "branch": drawn["name"], "guessed": drawn["guessed"]}
            if str(label) != target:
                way["label"] = text(str(label))
            ways.append(way)
        branches.append(drawn)

    def node(self, name, spec, graph, nested, order, ways):
        runnable = spec.runnable
        ends = getattr(spec, "ends", None) or ()
        labels = ends if isinstance(ends, dict) else {}
        for target in ends:
            way = {"from": name, "to": target, "kind": "command"}
            if labels.get(target):
                way["label"] = text(str(labels[target]))
            ways.append(way)
        if not ends:
            found, used = strings_of(runnable)
            if "Command" in used:
                guessed = [other for other in order if other in found and other != START]
                ways.extend({"from": name, "to": other, "kind": "command", "guessed": True} for other in guessed)
        drawn = {
            "name": name,
            "function": place_of(runnable),
            "defer": bool(getattr(spec, "defer", False)),
            "retry": policy_of(spec),
            "cache": getattr(spec, "cache_policy", None) is not None,
            "timeout_s": seconds_of(spec),
            "handler_of": name[len("__error_handler__") :] if getattr(spec, "is_error_handler", False) else None,
            "input": self.input_of(spec, graph),
            "metadata": Encoder().value(getattr(spec, "metadata", None)) or None,
            **self.nested(name, graph, nested, runnable),
        }
        return {key: item for key, item in drawn.items() if item not in (None, False)}

    def input_of(self, spec, graph):
        schema = getattr(spec, "input_schema", getattr(spec, "input", None))
        own = getattr(graph.builder, "state_schema", getattr(graph.builder, "schema", None))
        return type_text(schema) if schema is not None and schema is not own else None

    def of_graph(self, graph):
        """Draws what LangGraph itself would: it has no joins, and no reducers beside those of channels."""
        drawn = graph.get_graph()
        all_nested = nested_of(graph)
        nodes, ways = [], []
        for name, inner in graph.nodes.items():
            if name == START:
                continue
            bound = getattr(inner, "bound", None)
            steps = getattr(bound, "steps", None)
            runnable = steps[0] if steps else bound
            node = {"name": text(name), "function": place_of(runnable), **self.nested(name, graph, all_nested, runnable)}
            tasks = tasks_of(runnable)
            if tasks:
                node["tasks"] = tasks
            nodes.append(node)
        known = {START, END, *(node["name"] for node in nodes)}
        leaving = [edge.source for edge in drawn.edges]
        for edge in drawn.edges:
            if edge.source in known and edge.target in known:
                # The only way is no choice, though LangGraph draws the one to the end so.
                kind = "branch" if edge.conditional and leaving.count(edge.source) > 1 else "edge"
                way = {"from": edge.source, "to": edge.target, "kind": kind}
                if edge.data is not None:
                    way["label"] = text(str(edge.data))
                ways.append(way)
        channels = {name: channel for name, channel in graph.channels.items() if not name.startswith("branch:")}
        return {
            **self.common(graph),
            "source": "get_graph",
            "nodes": nodes,
            "ways": ways,
            "joins": [],
            "branches": [],
            "channels": draw_channels(channels),
        }

    def common(self, graph):
        stops = lambda nodes: ["*"] if nodes == "*" else [text(str(name)) for name in nodes or ()]
        saver = getattr(graph, "checkpointer", None)
        return {
            "name": text(str(graph.get_name())),
            "break_before": stops(getattr(graph, "interrupt_before_nodes", ())),
            "break_after": stops(getattr(graph, "interrupt_after_nodes", ())),
            "checkpointer": saver if saver is None or isinstance(saver, bool) else full_name(type(saver)),
        }


def tasks_of(runnable):
    """Lists the durable tasks that a function of the functional API names."""
    function = function_of(runnable)
    code = code_of(function)
    if code is None:
        return []
    _, names = strings_of(function)
    known = getattr(inspect.unwrap(function), "__globals__", {})
    tasks = []
    for name in sorted(names):
        item = known.get(name)
        if type(item).__name__ == "_TaskFunction":
            tasks.append({"name": name, "function": place_of(item.func)})
    return tasks


def describe(program):
    graph = program.graph
    drawing = Drawing().graph(graph)
    if program.own_saver:
        drawing["checkpointer"] = None
    lacking = []
    schemas = {}
    for name, method in (
        ("input_schema", "get_input_jsonschema"),
        ("output_schema", "get_output_jsonschema"),
        ("context_schema", "get_context_jsonschema"),
    ):
        if name == "context_schema" and getattr(graph, "context_schema", None) is None:
            schemas[name] = None
            continue
        schemas[name], problem = schema_of(graph, method)
        if problem is None:
            continue
        try:
            schemas[name], kind = hinted(graph, name)
            problem = why_hinted(kind, problem)
        except Exception as error:
            # A run may be given anything then.
            schemas[name] = {} if name == "input_schema" else None
            problem = f"{problem} ({error_text(error)})"
        lacking.append(f"{name.replace('_', ' ')}: {problem}")
    if drawing["source"] != "builder":
        lacking.append("joins, conditions and reducers: the graph has no builder")
    return {
        "named": program.named,
        "drawing": drawing,
        "schemas": schemas,
        "lacking": lacking,
        "compiled_here": program.compiled_here,
        "made_by": program.made_by,
        "versions": {
            "python": sys.version.split()[0],
            "langgraph": version("langgraph"),
            "langchain": version("langchain"),
        },
        "interpreter": sys.executable,
        "files": own_files(program.root),
    }


# ---------------------------------------------------------------------------------------------------------- running

MODES_OF_DEBUG = {"task": "tasks", "task_result": "tasks", "checkpoint": "checkpoints"}


def task_event(payload, encoder):
    """Puts a task's beginning or end into the form of the stream mode `tasks`, whichever version said it."""
    made = {}
    for key, item in payload.items():
        if key == "error":
            made[key] = None if item is None else error_text(item)
        elif key == "result" and isinstance(item, (list, tuple)):
            made[key] = {text(str(name)): encoder.value(value) for name, value in item}
        elif key == "interrupts":
            made[key] = [encoder.value(part) for part in item or ()]
        else:
            made[key] = encoder.value(item)
    return made


class Run:
    """One stretch of work on a thread."""

    def __init__(self, number, request, program, emit):
        self.number = number
        self.program = program
        self.emit = emit
        self.modes = request.get("modes") or ["updates"]
        self.stopping = threading.Event()
        self.failed = None
        self.config = {"configurable": {"thread_id": request["thread"]}}
        if request.get("checkpoint"):
            self.config["configurable"]["checkpoint_id"] = request["checkpoint"]
            self.config["configurable"]["checkpoint_ns"] = ""
        limit = request.get("recursion_limit")
        passed = request.get("steps_before")
        if passed:
            # The stretch goes on with the run before it, and has what that has left.
            limit = (limit or default_limit(program.graph)) - passed
            if limit <= 0:
                raise Refused("recursion-limit", f"The run has taken {passed} steps without coming to its end.")
        if limit:
            self.config["recursion_limit"] = limit
        self.limit, self.passed = limit, passed or 0
        self.input = request.get("input")
        if "answers" in request:
            from langgraph.types import Command

            self.input = Command(resume=request["answers"])
        asked = {"debug" if mode in ("tasks", "checkpoints") else mode for mode in self.modes}
        # Before 3.11 an error does not say which node failed, but its task does.
        also = {"debug"} if sys.version_info < (3, 11) else set()
        self.options = {
            "stream_mode": sorted(asked | also),
            "subgraphs": True,
            "interrupt_before": self.breaks(request.get("break_before"), program.graph.interrupt_before_nodes),
            "interrupt_after": self.breaks(request.get("break_after"), program.graph.interrupt_after_nodes),
        }
        if request.get("context") is not None:
            self.options["context"] = request["context"]
        # Who reads the threads beside the run finds what it says there.
        if program.threads is not None and "durability" in inspect.signature(program.graph.stream).parameters:
            self.options["durability"] = "sync"
        self.control = None
        with contextlib.suppress(Exception):
            from langgraph.runtime import RunControl

            if "control" in inspect.signature(program.graph.stream).parameters:
                self.control = self.options["control"] = RunControl()

    @staticmethod
    def breaks(names, own):
        """Lists where to stop; what the program was compiled with counts too, though LangGraph would take one or the other."""
        if not names:
            return None
        return "*" if "*" in names or own == "*" else [*names, *(name for name in own or () if name not in names)]

    def stop(self):
        self.stopping.set()
        if self.control is not None:
            self.control.request_drain("stopped")

    def say(self, ns, mode, data, step=None):
        event = {"event": mode, "ns": [text(part) for part in ns], "data": data}
        if step is not None:
            event["step"] = step
        self.emit({"id": self.number, "event": event})

    def take(self, part):
        ns, mode, data = part
        encoder = Encoder()
        if mode != "debug":
            self.say(ns, mode, encoder.value(data))
            return
        payload = data.get("payload", {})
        plain = MODES_OF_DEBUG.get(data.get("type"))
        if plain == "tasks" and payload.get("error") is not None:
            self.failed = {"node": payload.get("name"), "task": payload.get("id")}
        if plain == "tasks" and "tasks" in self.modes:
            self.say(ns, "tasks", task_event(payload, encoder), data.get("step"))
        if plain == "checkpoints" and "checkpoints" in self.modes:
            self.say(ns, "checkpoints", encoder.value(payload), data.get("step"))
        if "debug" in self.modes:
            self.say(ns, "debug", encoder.value(data))

    async def follow(self):
        graph = self.program.graph
        if self.program.uses_async():
            async for part in graph.astream(self.input, self.config, **self.options):
                self.take(part)
        else:
            await asyncio.to_thread(self.follow_sync)

    def follow_sync(self):
        stream = self.program.graph.stream(self.input, self.config, **self.options)
        try:
            for part in stream:
                self.take(part)
                if self.stopping.is_set() and self.control is None:
                    raise asyncio.CancelledError()
        finally:
            stream.close()

    def refused(self, error):
        name, program = type(error).__name__, self.program
        if self.stopping.is_set() or name == "GraphDrained" or isinstance(error, asyncio.CancelledError):
            return Refused("cancelled", "The run was stopped.")
        codes = {"GraphRecursionError": "recursion-limit", "EmptyInputError": "empty-input", "InvalidUpdateError": "invalid-update"}
        message = error_text(error)
        if self.passed:
            message = message.replace(f"limit of {self.limit} ", f"limit of {self.limit + self.passed} ")
        if isinstance(error, SystemExit):
            message = f"SystemExit: The node ended the program (sys.exit({error.code!r})), which ends its run here."
        if name == "TypeError" and "No synchronous function" in message and not program.uses_async():
            message += f" The saver {type(program.graph.checkpointer).__name__} has no asynchronous methods: take its asynchronous sister."
        notes = " ".join(getattr(error, "__notes__", ()))
        named = re.search(r"During task with name '(.*?)' and id '(.*?)'", notes)
        failed = {"node": named.group(1), "task": named.group(2)} if named else self.failed or {}
        code = codes.get(name, "node-failed" if failed else "run-failed")
        return failure(code, error, program.root, message, **failed)


def default_limit(graph):
    """Gives the most steps of a run of the graph that names none."""
    own = (getattr(graph, "config", None) or {}).get("recursion_limit")
    if own:
        return own
    try:
        from langgraph._internal._config import DEFAULT_RECURSION_LIMIT
    except ImportError:
        DEFAULT_RECURSION_LIMIT = 25
    return DEFAULT_RECURSION_LIMIT


def config_of(config):
    return dict((config or {}).get("configurable") or {}) or None


# ---------------------------------------------------------------------------------------------------------- editing


def refuse_shown(value, key, depth=0):
    """Refuses a value that is only the picture of one: the object that it shows cannot be made of it."""
    if depth > MAX_DEPTH:
        raise Refused("invalid-update", f"The value of {key} is too deep.")
    if isinstance(value, dict):
        if "$class" in value:
            message = f"The value of {key} holds one of the class {value['$class']}, which cannot be made of its picture."
            raise Refused("invalid-update", f"{message} Edit other keys, or change it in the program.")
        for item in value.values():
            refuse_shown(item, key, depth + 1)
    elif isinstance(value, list):
        for item in value:
            refuse_shown(item, key, depth + 1)


def replacing(graph, values, keys):
    """Makes an update in which these keys take the place of what is there, past their reducers."""
    made = dict(values)
    for key in keys:
        reducer = reducer_of(graph.channels.get(key)) if key in made else None
        if reducer is None:
            continue
        if reducer.get("name") == "add_messages":
            from langchain_core.messages import RemoveMessage
            from langgraph.graph.message import REMOVE_ALL_MESSAGES

            given = made[key] if isinstance(made[key], list) else [made[key]]
            made[key] = [RemoveMessage(REMOVE_ALL_MESSAGES), *given]
            continue
        try:
            from langgraph.types import Overwrite
        except ImportError:
            message = f"LangGraph {version('langgraph')} cannot replace {key} past its reducer {reducer.get('name')}."
            raise Refused("invalid-update", f"{message} Write what the reducer is to add, or install a later LangGraph.")
        made[key] = Overwrite(made[key])
    return made


def last_ran(graph, found):
    """Names the node that an edit is made as when none is named: the one that ran last."""
    seen = {} if found is None else found.checkpoint["versions_seen"]
    ran = sorted((version, name) for name, by in seen.items() if name in graph.nodes for version in by.values())
    return text(ran[-1][1]) if ran else START


def with_one_checkpoint(graph, found):
    """Gives the graph with a saver in memory that has one checkpoint, to look what comes of an edit."""
    saver = memory_saver()
    saver.serde = getattr(graph.checkpointer, "serde", saver.serde)
    saver.get_next_version = graph.checkpointer.get_next_version
    if found is not None:
        place = {**found.config["configurable"], "checkpoint_id": None}
        place.setdefault("checkpoint_ns", "")
        saver.put({"configurable": place}, found.checkpoint, found.metadata, found.checkpoint["channel_versions"])
        by_task = {}
        for task, channel, value in found.pending_writes or ():
            by_task.setdefault(task, []).append((channel, value))
        for task, writes in by_task.items():
            saver.put_writes({"configurable": {**place, "checkpoint_id": found.checkpoint["id"]}}, writes, task)
    return graph.copy({"checkpointer": saver})


def snapshot_json(snapshot):
    encoder = Encoder()
    kept = ("thread_id", "checkpoint_id", "checkpoint_ns")
    short = lambda config: {key: item for key, item in (config_of(config) or {}).items() if key in kept} or None
    tasks = []
    for task in snapshot.tasks:
        state = task.state
        tasks.append(
            {
                "id": task.id,
                "name": text(task.name),
                "error": None if task.error is None else error_text(task.error),
                "interrupts": [question(item, encoder) for item in task.interrupts],
                "result": encoder.value(getattr(task, "result", None)),
                "state": snapshot_json(state) if hasattr(state, "values") and hasattr(state, "tasks") else short(state),
            }
        )
    return {
        "values": encoder.value(snapshot.values),
        "next": [text(name) for name in snapshot.next],
        "config": short(snapshot.config),
        "parent": short(snapshot.parent_config),
        "metadata": encoder.value(snapshot.metadata),
        "created_at": snapshot.created_at,
        "tasks": tasks,
        "interrupts": [item for task in tasks for item in task["interrupts"]],
    }


class Bridge:
    def __init__(self, output):
        self.output = output
        self.writing = threading.Lock()
        self.requests = queue.Queue()
        self.max_line = 64 * 1024 * 1024
        self.loop = asyncio.new_event_loop()
        self.program = Program(self.loop)
        self.runs = {}
        # Where an editor can attach.
        self.debugged = None

    def emit(self, message):
        """Says a line. Where nobody can hear it any more, the process ends: nothing may wait for what never comes."""
        try:
            self.say(message)
        except (OSError, ValueError):
            os._exit(1)

    def say(self, message):
        line = json.dumps(message, allow_nan=False, separators=(",", ":"))
        if len(line) > self.max_line:
            left_out = {"$class": "unreadable", "reason": f"{len(line)} bytes are too many"}
            if "event" in message:
                message = {"id": message["id"], "event": {**message["event"], "data": left_out}}
            else:
                message = {"id": message["id"], "error": {"code": "too-large", "message": f"The answer has {len(line)} bytes."}}
            line = json.dumps(message, separators=(",", ":"))
        with self.writing:
            self.output.write(line.encode("ascii") + b"\n")
            self.output.flush()

    def read(self, incoming):
        """Reads requests until nobody sends any more; then the process ends, whatever it does."""
        try:
            while True:
                line = incoming.readline()
                if not line.endswith(b"\n"):
                    return
                request = json.loads(line)
                if request.get("do") == "stop":
                    self.loop.call_soon_threadsafe(self.stop, request["run"], bool(request.get("after_step")))
                elif self.requests is not None:
                    self.requests.put(request)
                    self.requests = None
                else:
                    self.loop.call_soon_threadsafe(self.begin, request)
        finally:
            os._exit(0)

    def begin(self, request):
        task = self.loop.create_task(self.handle(request))
        task.add_done_callback(lambda task: task.cancelled() or task.exception())

    def stop(self, number, after_step):
        run, task = self.runs.get(number, (None, None))
        if run is None:
            return
        run.stop()
        if after_step and run.control is not None:
            return
        if self.program.uses_async():
            task.cancel()

    def serve(self, first):
        number = first["id"]
        self.max_line = first.get("max_line", self.max_line)
        try:
            self.program.open(first)
        except BaseException as error:
            refused = error if isinstance(error, Refused) else failure("failed", error, self.program.root)
            self.emit({"id": number, "error": refused.facts})
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            # Threads of theirs would hold the process.
            os._exit(0)
        self.emit({"id": number, "ok": {"own_saver": self.program.own_saver, "threads": self.program.threads}})
        while True:
            # What ends a program comes out of the loop, and is said by whoever waits for the node that raised it.
            with contextlib.suppress(SystemExit, KeyboardInterrupt):
                self.loop.run_forever()

    async def handle(self, request):
        number = request["id"]
        try:
            answer = await getattr(self, "do_" + request["do"])(request)
            self.emit({"id": number, "ok": answer})
        except Refused as error:
            self.emit({"id": number, "error": error.facts})
        except BaseException as error:
            code = "invalid-update" if type(error).__name__ == "InvalidUpdateError" else "failed"
            self.emit({"id": number, "error": failure(code, error, self.program.root).facts})

    async def do_describe(self, request):
        await self.copied(None)
        try:
            return describe(self.program)
        except Exception as error:
            raise failure("not-drawn", error, self.program.root)

    async def do_run(self, request):
        if request.get("checkpoint") and await self.saved(self.thread_of(request)) is None:
            # LangGraph would begin anew, and say nothing.
            raise Refused("no-checkpoint", f"Thread {request['thread']} has no checkpoint {request['checkpoint']}.")
        run = Run(request["id"], request, self.program, self.emit)
        self.runs[run.number] = (run, asyncio.current_task())
        try:
            await run.follow()
            if run.stopping.is_set():
                raise Refused("cancelled", "The run was stopped.")
        except Refused:
            raise
        except BaseException as error:
            raise run.refused(error)
        finally:
            self.runs.pop(run.number, None)
        thread = {"configurable": {"thread_id": request["thread"]}}
        await self.copied(thread)
        state = snapshot_json(await self.called("get_state", thread))
        values = state["values"]
        outputs = getattr(self.program.graph, "output_channels", None)
        if isinstance(values, dict) and isinstance(outputs, (list, tuple)):
            values = {key: item for key, item in values.items() if key in outputs}
        status = "interrupted" if state["interrupts"] else "breakpoint" if state["next"] else "done"
        made = {**state, "values": values, "status": status}
        if status == "breakpoint":
            made["all"] = state["values"]
            ran = await self.ran_before(request["thread"], state)
            made["ran"] = [name for name in dict.fromkeys(ran) if name != START]
        return made

    async def ran_before(self, thread, state):
        """Lists the nodes that ran in the step that led to a state."""
        parent = (state["parent"] or {}).get("checkpoint_id")
        if parent is None:
            return []
        place = {"configurable": {"thread_id": thread, "checkpoint_id": parent, "checkpoint_ns": ""}}
        return [text(name) for name in (await self.called("get_state", place)).next]

    async def copied(self, thread):
        """Copies threads of a saver that only the program can read to where others can."""
        program = self.program
        if program.copied is not None:
            await asyncio.to_thread(program.kept.copy_from, program.copied, thread)

    async def called(self, name, *args, **options):
        """Calls a method of the graph as its saver can."""
        graph = self.program.graph
        if self.program.uses_async():
            return await getattr(graph, "a" + name)(*args, **options)
        return await asyncio.to_thread(getattr(graph, name), *args, **options)

    def thread_of(self, request):
        configurable = {"thread_id": request["thread"]}
        if request.get("checkpoint"):
            configurable.update(checkpoint_id=request["checkpoint"], checkpoint_ns=request.get("ns") or "")
        return {"configurable": configurable}

    async def do_state(self, request):
        found = await self.called("get_state", self.thread_of(request), subgraphs=bool(request.get("nested")))
        return snapshot_json(found)

    async def do_history(self, request):
        config, limit = self.thread_of(request), request.get("limit")
        before = request.get("before")
        before = before and {"configurable": {"thread_id": request["thread"], "checkpoint_id": before, "checkpoint_ns": ""}}
        graph = self.program.graph
        if self.program.uses_async():
            found = [item async for item in graph.aget_state_history(config, before=before, limit=limit)]
        else:
            found = await asyncio.to_thread(lambda: list(graph.get_state_history(config, before=before, limit=limit)))
        return [snapshot_json(item) for item in found]

    async def do_update(self, request):
        """Edits the state, or says what would come of it."""
        graph, place = self.program.graph, self.thread_of(request)
        values, as_node, preview = request.get("values"), request.get("as_node"), bool(request.get("preview"))
        if isinstance(values, dict):
            # As LangGraph writes it itself.
            past = [key for key, value in values.items() if isinstance(value, dict) and set(value) == {"__overwrite__"}]
            values = {key: value["__overwrite__"] if key in past else value for key, value in values.items()}
            known = getattr(getattr(graph, "builder", None), "channels", {})
            for key, value in values.items():
                # LangGraph would leave it out, and say nothing.
                if known and "__root__" not in known and key not in known:
                    raise Refused("invalid-update", f"The state has no key {key}.", names=list(known))
                refuse_shown(value, key)
            values = replacing(graph, values, [*past, *(request.get("overwrite") or ())])
        else:
            refuse_shown(values, "the state")
        if as_node not in (None, START, END) and as_node not in graph.nodes:
            raise Refused("invalid-update", f"The graph has no node {as_node}.", names=[name for name in graph.nodes if name != START])
        found = await self.saved(place)
        if request.get("checkpoint") and found is None:
            raise Refused("no-checkpoint", f"Thread {request['thread']} has no checkpoint {request['checkpoint']}.")
        if request.get("skip"):
            before = await self.called("get_state", place)
            updates = [(None, task.name, task.id) for task in before.tasks]
            if not updates:
                raise Refused("invalid-update", "No task runs after this checkpoint, so there is no step to skip.")
        else:
            updates = [(values, as_node)]
        if preview:
            made, state = await asyncio.to_thread(self.previewed, graph, found, place, updates)
        else:
            made = await self.called("bulk_update_state", place, [self.updates(updates)])
            state = await self.called("get_state", made)
            await self.copied({"configurable": {"thread_id": request["thread"]}})
        nodes = [update[1] or last_ran(graph, found) for update in updates]
        return {
            "checkpoint": None if preview else config_of(made).get("checkpoint_id"),
            "next": [text(name) for name in state.next],
            "as_node": ", ".join(dict.fromkeys(nodes)),
        }

    @staticmethod
    def updates(updates):
        from langgraph.types import StateUpdate

        return [StateUpdate(*update[: len(StateUpdate._fields)]) for update in updates]

    async def saved(self, place):
        saver = self.program.graph.checkpointer
        return await (saver.aget_tuple(place) if self.program.uses_async() else asyncio.to_thread(saver.get_tuple, place))

    def previewed(self, graph, found, place, updates):
        graph = with_one_checkpoint(graph, found)
        at = {"checkpoint_ns": "", "checkpoint_id": found.checkpoint["id"]} if found is not None else {}
        place = {"configurable": {**place["configurable"], **at}}
        made = graph.bulk_update_state(place, [self.updates(updates)])
        return made, graph.get_state(made)

    async def do_debug(self, request):
        """Lets an editor attach to the process with debugpy, where the interpreter has it."""
        if importlib.util.find_spec("debugpy") is None:
            raise Refused("debugpy-missing", f"debugpy is not installed for {sys.executable}.", interpreter=sys.executable)
        if self.debugged is None:
            os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
            import debugpy

            try:
                self.debugged = debugpy.listen(("127.0.0.1", int(request.get("port") or 0)))
            except Exception as error:
                raise failure("debugpy-failed", error, self.program.root, f"debugpy does not listen: {error_text(error)}")
        if request.get("wait"):
            import debugpy

            await asyncio.to_thread(debugpy.wait_for_client)
        host, port = self.debugged
        return {"host": host, "port": port}


def main(incoming, outgoing):
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    bridge = Bridge(outgoing)
    requests = bridge.requests
    asyncio.set_event_loop(bridge.loop)
    threading.Thread(target=bridge.read, args=(incoming,), daemon=True).start()
    try:
        bridge.serve(requests.get())
    except BaseException:
        traceback.print_exc()
    finally:
        # Threads of theirs would hold the process.
        os._exit(1)
