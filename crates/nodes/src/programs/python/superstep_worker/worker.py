"""Runs the Python functions of a project for Superstep: one process, many calls at once.

Frames go over the pipes that were standard input and output: four bytes of length, then JSON. What programs print
goes to the log of the node that runs them. Nothing but the standard library is needed.
"""

import ast
import asyncio
import builtins
import concurrent.futures
import contextvars
import ctypes
import functools
import importlib
import importlib.util
import inspect
import io
import itertools
import json
import linecache
import os
import queue
import struct
import sys
import threading
import traceback
import typing

from .bridge import NOTHING, answer, asked, attach, bind, closed, commanded, is_command, is_interrupt, output, plain, runs_again, superstep, wants
from .scope import CURRENT, OPEN, Scope, Stop, TaskFuture

OWN = "<superstep>"
MAX_LINES = 1000
UNREAD = 64
IDLE_THREADS = 16
ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
WORKER = None


class HostError(Exception):
    """What the node refused."""

    # Tracebacks name the module.
    __module__ = "superstep_worker"


class Wire:
    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.lock = threading.Lock()

    def read(self):
        head = self.source.read(4)
        if len(head) < 4:
            return None
        body = self.source.read(struct.unpack(">I", head)[0])
        return json.loads(body)

    def write(self, frame):
        body = ENCODE(frame).encode("utf-8", "replace")
        with self.lock:
            self.sink.write(struct.pack(">I", len(body)) + body)
            self.sink.flush()


class Loop:
    """The event loop of all async functions, on a thread of its own; begun when the first one is called."""

    def __init__(self):
        self.loop, self.lock = None, threading.Lock()

    def get(self):
        with self.lock:
            if self.loop is None:
                self.loop = asyncio.new_event_loop()
                threading.Thread(target=self.loop.run_forever, name="superstep-loop", daemon=True).start()
        return self.loop


class Threads:
    """Threads that run functions. They are kept when they are done: to begin one costs more than most calls."""

    def __init__(self):
        self.idle, self.lock = [], threading.Lock()

    def run(self, work):
        with self.lock:
            inbox = self.idle.pop() if self.idle else None
        if inbox is None:
            inbox = queue.SimpleQueue()
            threading.Thread(target=self.serve, args=(inbox,), daemon=True).start()
        inbox.put(work)

    def serve(self, inbox):
        while True:
            try:
                inbox.get()()
                with self.lock:
                    if len(self.idle) >= IDLE_THREADS:
                        return
                    self.idle.append(inbox)
            except Stop:
                pass  # It was meant for a call that has ended just now.


class Call:
    """A function that runs, as its node knows it."""

    def __init__(self, worker, number, spec):
        self.worker, self.number, self.spec = worker, number, spec
        self.ids = itertools.count(1)
        self.waiting, self.works, self.tasks = {}, {}, []
        # Of each task whose work is being done: the attempt, and what to cancel when it is given up.
        self.attempts, self.futures = {}, {}
        # What a task's function raised, for its caller.
        self.raised = {}
        # What the function has written beside its output, and keys that it wrote and the state does not have.
        self.pushed, self.unknown, self.langchain = [], set(), False
        self.lock = threading.Lock()
        self.stopped, self.thread = False, None
        self.lines, self.unread, self.rest = 0, 0, ""
        # The state that notes what is read of it, in a run that is recorded.
        self.state = None

    def say(self, scope, request, ident=0):
        self.worker.wire.write({"call": self.number, "said": {"id": ident, "scope": scope, "do": request}})

    def begin(self, scope, request, ident=None):
        """Asks for something; the future has the answer."""
        future = TaskFuture()
        with self.lock:
            if self.stopped:
                raise Stop()
            ident = next(self.ids) if ident is None else ident
            self.waiting[ident] = future
        try:
            self.say(scope, request, ident)
        except BaseException:
            self.waiting.pop(ident, None)
            raise
        return future

    def ask(self, scope, request):
        return self.begin(scope, request).result()

    def tell(self, scope, request):
        """Says something; in a thread of its own it waits when the node is far behind."""
        self.unread += 1
        if self.unread >= UNREAD and threading.get_ident() == self.thread:
            self.unread = 0
            self.ask(scope, request)
        else:
            self.say(scope, request)

    def answered(self, ident, reply):
        self.leave(ident)
        self.works.pop(ident, None)
        future = self.waiting.pop(ident, None)
        if future is None:
            return
        if reply == "stop":
            future.set_exception(Stop())
        elif "error" in reply:
            raised = self.raised.pop(ident, None)
            same = raised is not None and type(raised).__name__ == reply["error"]["class"]
            future.set_exception(raised if same else failure(reply["error"]))
        else:
            future.set_result(reply.get("ok"))

    def task(self, scope, request, run, policies=()):
        """A durable task: `run()` does the work, here and now or in an earlier run."""
        ident = next(self.ids)
        self.works[ident] = (run, contextvars.copy_context(), policies)
        future = self.begin(scope, {"task": request}, ident)
        self.tasks.append(future)
        return future

    def record(self, scope, name, slot):
        """What an earlier run recorded at this place; OPEN when nothing, and it is to be made. With the id of the request, and
        what ends when it is recorded."""
        ident, found = next(self.ids), TaskFuture()
        recorded = TaskFuture()
        self.works[ident] = functools.partial(found.set_result, (ident, OPEN, recorded))

        def answered(future):
            error = future.exception()
            if not found.done():
                found.set_exception(error) if error else found.set_result((ident, future.result(), recorded))
            recorded.set_result(None)

        self.begin(scope, {"task": {"name": name, "slot": slot}}, ident).add_done_callback(answered)
        return found

    def work(self, ident):
        """Does the work of a task, or does it again: what an earlier attempt still does counts no more."""
        work = self.works[ident]
        if isinstance(work, functools.partial):
            return work()
        run, context, policies = work
        self.leave(ident)
        attempt = self.attempts[ident] = self.attempts.get(ident, 0) + 1

        def done(end):
            if self.attempts.get(ident) == attempt:
                self.say(0, {"done": {"task": ident, "end": end}})

        again = self.spec["place"].get("again") or attempt > 1
        self.worker.start(self, Scope(self, ident, again), run, context.copy(), done, policies)

    def leave(self, ident):
        future = self.futures.pop(ident, None)
        if future is not None:
            future.cancel()

    def knows(self, key):
        """Does the state have this key? LangGraph leaves out others; that is said once."""
        if not self.langchain or key in self.spec["keys"]:
            return True
        if key not in self.unknown:
            self.unknown.add(key)
            self.log("The update of `%s` is left out: the state has no such key. It has: %s\n" % (key, ", ".join(self.spec["keys"]) or "none"))
        return False

    def log(self, text):
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            self.lines += 1
            if self.lines <= MAX_LINES:
                self.tell(0, {"log": line})
            if self.lines == MAX_LINES:
                self.tell(0, {"log": "… only the first %d lines are shown" % MAX_LINES})

    def stop(self):
        with self.lock:
            self.stopped = True
            waiting, self.waiting = list(self.waiting.values()), {}
            if self.thread is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), ctypes.py_object(Stop))
        for future in list(self.futures.values()):
            future.cancel()
        for future in waiting:
            if not future.done():
                future.set_exception(Stop())

    def ended(self, end):
        if self.rest:
            self.log("\n")
        self.worker.calls.pop(self.number, None)
        if self.state is not None:
            self.say(0, {"reads": self.state.report()})
        try:
            self.worker.wire.write({"call": self.number, "ended": end})
        except (TypeError, ValueError) as error:
            self.worker.wire.write({"call": self.number, "ended": {"error": fault(error)}})


class Output(io.TextIOBase):
    """Standard output and error: the log of the node whose function writes."""

    encoding = "utf-8"

    def __init__(self, beyond):
        self.beyond = beyond

    def writable(self):
        return True

    def write(self, text):
        scope = CURRENT.get(None)
        if scope is None:
            self.beyond.write(text)
            self.beyond.flush()
        else:
            scope.call.log(text)
        return len(text)


def failure(said):
    late = getattr(sys.modules.get("langgraph.errors"), "NodeTimeoutError", None)
    if late is not None and said["class"] == late.__name__:
        error = late.__new__(late)
        Exception.__init__(error, said["message"])
        return error
    kind = getattr(builtins, said["class"], None)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = type(str(said["class"]), (HostError,), {"__module__": "superstep_worker"})
    try:
        return kind(said["message"])
    except TypeError:
        return HostError(said["message"])


def fault(error):
    """An error as its node tells it: class, message, and the traceback from the first line that is not ours."""
    shown = traceback.TracebackException(type(error), error, error.__traceback__)
    frames = [frame for frame in shown.stack if frame.filename != OWN]
    ours = [frame.filename.startswith((WORKER.root, "<")) and not frame.filename.startswith("<frozen ") for frame in frames]
    own = [at for at, one in enumerate(ours) if one]
    frames = frames[own[0]:] if own else frames
    shown.stack[:] = frames
    place = ""
    if own:
        place = placed(frames[own[-1] - own[0]].filename, frames[own[-1] - own[0]].lineno)
    elif isinstance(error, SyntaxError) and error.lineno:
        place = placed(error.filename, error.lineno)
    kind = type(error).__name__
    text = "".join(shown.format()).rstrip()
    if len(text) > 20000:
        text = text[:10000] + "\n…\n" + text[-10000:]
    hint = ""
    if isinstance(error, ModuleNotFoundError):
        hint = " Install it for the interpreter %s." % sys.executable
        if (error.name or "").split(".")[0] in ("langgraph", "langchain_core"):
            hint += " Without LangGraph, import interrupt, Command, Send, task and others from `superstep`."
    what = error.msg if isinstance(error, SyntaxError) else str(error)
    return {"class": kind, "message": "the code failed%s: %s: %s.%s\n%s" % (place, kind, what.rstrip("."), hint, text)}


def placed(file, line):
    if file.startswith("<"):
        return " in line %s" % line
    inside = file.startswith(WORKER.root + os.sep)
    return " in %s, line %s" % (os.path.relpath(file, WORKER.root) if inside else file, line)


class Modules:
    """Functions of the project's files, imported again when one of these files has changed."""

    def __init__(self, root):
        self.root, self.lock = root, threading.RLock()
        self.stamps, self.seen, self.inline = {}, 0, {}

    def function(self, spec):
        with self.lock:
            self.refresh()
            try:
                if spec.get("file"):
                    return self.of_file(spec["file"], spec.get("function") or "node")
                return self.of_source(spec["source"], spec["label"], spec.get("function"), spec["parameters"])
            finally:
                self.remember()

    def own(self, file):
        inside = file and file.startswith(self.root + os.sep) and "site-packages" not in file
        return inside and not (sys.prefix != sys.base_prefix and file.startswith(sys.prefix + os.sep))

    def remember(self):
        if len(sys.modules) == self.seen:
            return
        self.seen = len(sys.modules)
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if name not in self.stamps and self.own(file):
                self.stamps[name] = (file, stamp(file))

    def refresh(self):
        if all(stamp(file) == known for file, known in self.stamps.values()):
            return
        for name in self.stamps:
            sys.modules.pop(name, None)
        self.stamps, self.seen, self.inline = {}, 0, {}
        importlib.invalidate_caches()
        linecache.checkcache()

    def of_file(self, file, function):
        path = os.path.realpath(os.path.join(self.root, file))
        if not path.startswith(self.root + os.sep):
            raise ImportError("%s is outside of the project" % file)
        name = os.path.splitext(os.path.relpath(path, self.root))[0].replace(os.sep, ".")
        found = sys.modules.get(name)
        if found is None or os.path.realpath(getattr(found, "__file__", None) or "") != path:
            try:
                spec = importlib.util.find_spec(name)
            except (ImportError, ValueError, AttributeError):
                spec = None
            if spec is not None and spec.origin and os.path.realpath(spec.origin) == path:
                found = importlib.import_module(name)
            else:
                # A name that another module has, or that is none: the file is still a module.
                name = "superstep_project." + name
                found = sys.modules.get(name)
                if found is None:
                    spec = importlib.util.spec_from_file_location(name, path)
                    if spec is None:
                        raise ImportError("%s is no Python file" % file)
                    found = importlib.util.module_from_spec(spec)
                    sys.modules[name] = found
                    try:
                        spec.loader.exec_module(found)
                    except BaseException:
                        sys.modules.pop(name, None)
                        raise
        for part in function.split("."):
            if not hasattr(found, part):
                known = [n for n, v in vars(found).items() if inspect.isfunction(v) and v.__module__ == found.__name__]
                raise AttributeError("%s has no function `%s`. It has: %s" % (os.path.relpath(path, self.root), function, ", ".join(known) or "none"))
            found = getattr(found, part)
        return found

    def of_source(self, source, label, function, parameters):
        key = (source, label, function)
        if key in self.inline:
            return self.inline[key]
        filename = "<%s>" % label
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names = {"__name__": "superstep_inline", "__file__": filename}
        names.update({name: getattr(superstep, name) for name in superstep.__all__})
        names["Literal"] = typing.Literal  # For the annotation that says where a function goes.
        body = is_body(tree)
        if body is not None:
            kind = ast.AsyncFunctionDef if body == "async" else ast.FunctionDef
            first = ast.parse("def node(%s): pass" % parameters).body[0]
            made = kind(name="node", args=first.args, body=tree.body, decorator_list=[], returns=None, type_comment=None)
            if sys.version_info >= (3, 12):
                made.type_params = []
            ast.copy_location(made, tree.body[0])
            tree = ast.fix_missing_locations(ast.Module(body=[made], type_ignores=[]))
            function = "node"
        exec(compile(tree, filename, "exec", dont_inherit=True), names)
        if not function:
            defined = [n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
            function = "node" if "node" in defined else defined[-1] if defined else None
        if function is None or function not in names:
            raise AttributeError("the source has no function%s: write `def node(state): …`, or statements with `return`" % (" `%s`" % function if function else ""))
        if len(self.inline) >= 1024:
            self.inline.clear()
        if body is not None:
            names[function].superstep_body = True
        self.inline[key] = names[function]
        return names[function]


def is_body(tree):
    """`sync` or `async` when the statements are the body of a function: one returns, yields or waits."""
    found, waits, todo = False, False, list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        found = found or isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom))
        waits = waits or isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith))
        todo.extend(ast.iter_child_nodes(node))
    return ("async" if waits else "sync") if found or waits else None


def stamp(file):
    try:
        facts = os.stat(file)
        return (facts.st_mtime_ns, facts.st_size)
    except OSError:
        return None


class Worker:
    def __init__(self, wire, root):
        self.wire, self.root = wire, root
        self.calls, self.loop, self.modules = {}, Loop(), Modules(root)
        self.threads, self.folders = Threads(), set()

    def serve(self):
        while True:
            frame = self.wire.read()
            if frame is None:
                os._exit(0)
            number = frame["call"]
            if "run" in frame:
                call = self.calls[number] = Call(self, number, frame["run"])
                # Not a lambda: by the time that it is called, this loop may be at another call.
                scope = Scope(call, 0, call.spec["place"].get("again"))
                self.start(call, scope, functools.partial(self.prepared, call), contextvars.copy_context(), call.ended)
                continue
            call = self.calls.get(number)
            if call is None:
                continue
            if "stop" in frame:
                call.stop()
                continue
            notice = frame["notice"]
            if "answer" in notice:
                call.answered(*notice["answer"])
            else:
                call.work(notice["work"])

    def prepared(self, call):
        folder = call.spec.get("folder") or self.root
        if folder not in self.folders:
            self.folders.add(folder)
            real = os.path.realpath(folder)
            if real not in sys.path:
                sys.path.append(real)
        function = self.modules.function(call.spec)
        return bind(function, call)

    def start(self, call, scope, prepare, context, end, policies=()):
        """Runs what `prepare()` gives on a thread for itself; what is to be awaited goes to the event loop."""
        own = scope.scope == 0

        def run():
            with call.lock:
                if call.stopped:
                    raise Stop()
                if own:
                    call.thread = threading.get_ident()
            said = None
            CURRENT.set(scope)
            while said is None:
                said = self.attempt(call, scope, prepare, policies)
            if own:
                if "error" not in said:
                    # Tasks that are at work come to their end, and with them what is recorded.
                    concurrent.futures.wait(call.tasks)
                with call.lock:
                    call.thread = None
            finish(said)

        def finish(said):
            try:
                end(said)
            except (TypeError, ValueError) as error:
                end({"error": fault(error)})

        def thread():
            try:
                context.run(run)
            except Stop:
                finish({"error": {"class": "Cancelled", "message": "the call was stopped"}})

        self.threads.run(thread)

    def attempt(self, call, scope, prepare, policies):
        """How a function ends; None when it is to run again at once."""
        error = None
        try:
            if scope.scope == 0:
                call.pushed = []
            attach(call, scope.scope)
            said = self.result(call, scope.scope, prepare)
            if scope.scope == 0 and call.pushed and "ok" in said:
                pushed = [{"update": {key: value}} for key, value in call.pushed if call.knows(key)]
                said = {"ok": {"many": pushed + [said["ok"]]}}
        except BaseException as caught:
            error = caught
            if runs_again(error, scope):
                return None
            said = ending(error, scope)
            for place, policy in enumerate(policies):
                if "error" in said and wants(policy, error):
                    said["error"]["policy"] = place
                    break
            if scope.scope and "error" in said:
                call.raised[scope.scope] = error
        paused = is_interrupt(error) and not (error.args and error.args[0])
        return closed(scope, said, paused or "error" in said)

    def result(self, call, scope, prepare):
        value = prepare()
        render = plain if scope else functools.partial(output if call.spec["style"] == "node" else answer, call=call)
        if inspect.isgenerator(value):
            parts = []
            while True:
                try:
                    item = next(value)
                except StopIteration as last:
                    return {"ok": joined(parts, last.value, render)}
                yielded(call, scope, item, parts)
        if inspect.isasyncgen(value):
            value = drained(call, scope, value, render)
            render = None
        if inspect.isawaitable(value) and not isinstance(value, concurrent.futures.Future):
            future = asyncio.run_coroutine_threadsafe(awaited(value), self.loop.get())
            call.futures[scope] = future
            value = future.result()
        return {"ok": render(value) if render else value}


async def awaited(value):
    return await value


async def drained(call, scope, generator, render):
    parts = []
    async for item in generator:
        yielded(call, scope, item, parts)
    return joined(parts, None, render)


def yielded(call, scope, item, parts):
    if is_command(item):
        parts.append(output(item, call))
    else:
        call.tell(scope, {"emit": plain(item)})


def joined(parts, last, render):
    if not parts:
        return render(last)
    return {"many": parts + ([render(last)] if last is not None else [])}


def ending(error, scope):
    try:
        question = asked(error, scope)
        if question is not NOTHING:
            return {"asks": question}
        if is_interrupt(error):
            # A graph that the function called has stopped at a breakpoint of its own.
            scope.call.say(scope.scope, "pause")
            return {"asks": None}
        if isinstance(error, (Stop, asyncio.CancelledError, concurrent.futures.CancelledError)):
            return {"asks": None}
        if scope.scope == 0:
            command = commanded(error, scope.call)
            if command is not NOTHING:
                return {"ok": command}
        return {"error": fault(error)}
    except Exception as worse:
        # An error that cannot be shown, or a question that is not JSON.
        return {"error": {"class": type(worse).__name__, "message": "the code failed: %s." % worse}}


def main(source, sink):
    global WORKER
    wire = Wire(source, sink)
    start = wire.read()
    root = os.path.realpath(start["root"])
    sys.path[:] = [root] + [path for path in sys.path if path]
    sys.dont_write_bytecode = True
    sys.argv = ["superstep"]
    os.chdir(root)
    sys.stdout, sys.stderr = Output(sys.__stderr__), Output(sys.__stderr__)
    WORKER = Worker(wire, root)
    wire.write({"ready": {"version": sys.version.split()[0], "program": sys.executable}})
    WORKER.serve()
