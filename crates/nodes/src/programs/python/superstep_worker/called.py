"""Graphs of LangGraph that a function calls itself.

What they have done is kept with the function's task when it stops for a question, so that they go on where they were
when the function runs again. Each of their questions is one of the task, known by LangGraph's id of it.
"""

import base64
import functools
import math
import threading

from .scope import OPEN, Stop, TaskFuture

# As the run's events name the record.
NAME = "called graphs"
# Places of a task's records; its questions follow them.
RECORDS = 1 << 16
QUESTIONS = (1 << 32) - RECORDS


# --- what a saver holds, as JSON ----------------------------------------------------------------------------------


class Extension:
    """A value of msgpack that has a type of its own."""

    def __init__(self, code, data):
        self.code, self.data = code, data


def unpacked(data):
    import ormsgpack

    return ormsgpack.unpackb(data, ext_hook=Extension, option=ormsgpack.OPT_NON_STR_KEYS)


def packed(value):
    import ormsgpack

    return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)


def shown(value):
    """A value of msgpack as JSON, in which every text is one: a secret in it is found there."""
    if isinstance(value, Extension):
        try:
            return {"$ext": [value.code, shown(unpacked(value.data))]}
        except Exception:
            return {"$raw": [value.code, base64.b64encode(value.data).decode()]}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(value)}
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: shown(item) for key, item in value.items()}
        return {"$map": [[shown(key), shown(item)] for key, item in value.items()]}
    return value


def hidden(value):
    """The value that `shown` shows."""
    import ormsgpack

    if isinstance(value, list):
        return [hidden(item) for item in value]
    if isinstance(value, dict):
        (name, inner), *rest = list(value.items()) or [("", None)]
        if not rest and name.startswith("$"):
            if name == "$ext":
                return ormsgpack.Ext(inner[0], packed(hidden(inner[1])))
            if name == "$raw":
                return ormsgpack.Ext(inner[0], base64.b64decode(inner[1]))
            if name == "$bytes":
                return base64.b64decode(inner)
            if name == "$float":
                return float(inner)
            return {hidden(key): hidden(item) for key, item in inner}
        return {key: hidden(item) for key, item in value.items()}
    return value


def typed(kept):
    kind, data = kept
    return [kind, shown(unpacked(data))] if kind == "msgpack" else [kind, None if data is None else base64.b64encode(data).decode()]


def untyped(said):
    kind, data = said
    if kind == "msgpack":
        return kind, packed(hidden(data))
    return kind, None if data is None else base64.b64decode(data)


# --- the saver ----------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def saver_class():
    from langgraph.checkpoint.memory import InMemorySaver

    class CalledSaver(InMemorySaver):
        def get_tuple(self, config):
            self.called.load().result()
            return self.found(config)

        async def aget_tuple(self, config):
            await self.called.load()
            return self.found(config)

        def found(self, config):
            place = config["configurable"]
            ns = place.get("checkpoint_ns", "")
            if ":" not in ns:
                raise RuntimeError(
                    "a graph that is compiled with checkpointer=True keeps its state from one step to the next, and cannot "
                    "be called in a function. Make it a graph node, or compile it without"
                )
            self.called.places.add(ns)
            return super().get_tuple(config)

        def put_writes(self, config, writes, task_id, task_path=""):
            super().put_writes(config, writes, task_id, task_path)
            for channel, value in writes:
                if channel == "__interrupt__":
                    self.called.noted(value)

        def content(self):
            """The newest checkpoint of each graph, and what belongs to it; all of them where values are kept as changes."""
            kept = []
            for thread, graphs in self.storage.items():
                for ns, checkpoints in graphs.items():
                    whole = any("counters_since_delta_snapshot" in (self.serde.loads_typed(c[1]) or {}) for c in checkpoints.values())
                    ids = list(checkpoints) if whole else sorted(checkpoints)[-1:]
                    versions = {}
                    for one in ids:
                        versions.update({(c, v): 1 for c, v in self.serde.loads_typed(checkpoints[one][0])["channel_versions"].items()})
                    blobs = [[*key[2:], *typed(value)] for key, value in self.blobs.items() if key[:2] == (thread, ns) and key[2:] in versions]
                    saved = [[one, typed(checkpoints[one][0]), typed(checkpoints[one][1]), checkpoints[one][2]] for one in ids]
                    writes = [
                        [one, *key, write[0], write[1], typed(write[2]), *write[3:]]
                        for one in ids for key, write in self.writes.get((thread, ns, one), {}).items()
                    ]
                    if saved:
                        kept.append([thread, ns, saved, blobs, writes])
            return kept

        def restore(self, kept):
            for thread, ns, saved, blobs, writes in kept:
                for one, checkpoint, metadata, parent in saved:
                    self.storage[thread][ns][one] = (untyped(checkpoint), untyped(metadata), parent)
                for channel, version, *value in blobs:
                    self.blobs[(thread, ns, channel, version)] = untyped(value)
                for one, task, index, task_id, channel, value, *path in writes:
                    self.writes[(thread, ns, one)][(task, index)] = (task_id, channel, untyped(value), *path)

    return CalledSaver


# --- a function and the graphs it calls ---------------------------------------------------------------------------


class Called:
    """The graphs that one function, or one of its tasks, calls."""

    def __init__(self, scope, again):
        self.scope, self.call = scope, scope.call
        # Whether there may be a record of an earlier run.
        self.again = again
        self.lock, self.ready = threading.Lock(), None
        self.saver = saver_class()()
        self.saver.called = self
        # Namespaces of graphs that are kept.
        self.places = set()
        # The next record: its place, and the request that waits for it.
        self.slot, self.record = 0, None
        # Answers of this run by the question's id, for LangGraph; how often one was refused, and why.
        self.answers, self.refused = {}, {}
        # Questions of this run: as LangGraph asks them, and those that somebody has been asked in it.
        self.open, self.asked = {}, set()

    def has_saver(self, ns):
        return "|".join(ns.split("|")[:-1]) in self.places

    def load(self):
        """Brings back what an earlier run has kept, once."""
        with self.lock:
            if self.ready is not None:
                return self.ready
            self.ready = TaskFuture()
        if self.again:
            self.look(self.go_on)
        else:
            self.ready.set_result(None)
        return self.ready

    def go_on(self, kept):
        if kept:
            self.refused = kept["refused"]
            self.saver.restore(kept["saved"])
        self.ask_again(kept["asks"] if kept else [])

    def look(self, done, last=None):
        """Goes to the first place without a record, and to `done` with the last record before it."""

        def found(future):
            try:
                ident, kept, recorded = future.result()
                if kept is OPEN:
                    self.record = (ident, recorded)
                    done(last)
                else:
                    self.slot += 1
                    self.look(done, kept or last)
            except BaseException as error:
                self.failed(error)

        try:
            self.call.record(self.scope.scope, NAME, self.slot).add_done_callback(found)
        except BaseException as error:
            self.failed(error)

    def failed(self, error):
        if not self.ready.done():
            self.ready.set_exception(error)

    def ask_again(self, asks):
        """Looks for answers to what the last run asked, in the order in which it did."""
        if not asks:
            return self.ready.set_result(None)
        (ident, question), *rest = asks

        def answered(future):
            try:
                self.answers[ident] = future.result()
            except Stop:
                pass  # It still waits.
            except BaseException as error:
                return self.failed(error)
            try:
                self.ask_again(rest)
            except BaseException as error:
                self.failed(error)

        self.ask(ident, question).add_done_callback(answered)

    def ask(self, ident, question):
        """Asks somebody; the future has the answer, or ends with Stop."""
        self.asked.add(ident)
        place = (int(ident[:16], 16) + self.refused.get(ident, [0])[0]) % QUESTIONS
        answer = TaskFuture()

        def found(future):
            try:
                number, kept, recorded = future.result()
                if kept is not OPEN:
                    return answer.set_result(kept)

                def said(reply):
                    error = reply.exception()
                    end = {"asks": None} if error else {"ok": reply.result()}
                    # The node knows by then that it waits, or what the answer was.
                    recorded.add_done_callback(lambda _: answer.set_exception(error) if error else answer.set_result(reply.result()))
                    self.call.say(0, {"done": {"task": number, "end": end}})

                self.call.begin(number, {"interrupt": question}).add_done_callback(said)
            except BaseException as error:
                answer.set_exception(error)

        try:
            self.call.record(self.scope.scope, "question", RECORDS + place).add_done_callback(found)
        except BaseException as error:
            answer.set_exception(error)
        return answer

    def noted(self, interrupts):
        for one in interrupts if isinstance(interrupts, (list, tuple)) else [interrupts]:
            if hasattr(one, "value"):
                self.open[one.id] = one

    def refuse(self, answer, why):
        """Notes that LangGraph does not take an answer; its question is to be asked again. False if it was none of these."""
        for ident, given in self.answers.items():
            if given is answer:
                del self.answers[ident]
                self.refused[ident] = [self.refused.get(ident, [0])[0] + 1, why]
                self.asked.discard(ident)
                self.open = {}
                return True
        return False

    def close(self, posed, failed):
        """Keeps what the graphs have done, and asks what they ask; says how: "again" when there are answers by now."""
        if self.ready is None:
            return None
        asks = [] if failed else [[one.id, posed(one, self.refused.get(one.id, [0, None])[1])] for one in self.open.values()]
        kept = {"saved": self.saver.content(), "asks": asks, "refused": self.refused} if asks or failed else None
        if kept and not (kept["saved"] or asks):
            kept = None
        if kept and self.record is None:
            self.ready = TaskFuture()
            self.look(lambda _: self.ready.set_result(None))
            self.ready.result()
        if self.record is not None:
            ident, recorded = self.record
            self.call.say(0, {"done": {"task": ident, "end": {"ok": kept}}})
            recorded.result()
            self.record, self.slot = None, self.slot + 1
        answers = {}
        for ident, question in asks:
            if ident in self.asked:
                continue
            try:
                answers[ident] = self.ask(ident, question).result()
            except Stop:
                pass
        self.open = {}
        if answers:
            self.answers.clear()
            self.answers.update(answers)
            return "again"
        return "asks" if asks else None
