"""`./dev bench langgraph`: LangGraph databases read by us and by LangGraph's own saver, side by side on the same file.

Every measurement is a process of its own and the two take turns, so that a slow minute of the machine hits both; a figure is
the median of the rounds. `cold` is a file that the system has dropped from memory, read for the first time; `warm` is the same
reading again in the same process. Databases are made here by LangGraph itself; the large ones are copies of its rows.
Prints what was measured beside what is aimed at; `--json` has a line for each.
"""

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

ROUNDS = 5
PAIRS = 10
RATE = 200


def graph(saver):
    import operator
    from typing import Annotated, TypedDict

    from langchain_core.messages import AIMessage
    from langgraph.graph import END, START, StateGraph
    from langgraph.graph.message import add_messages

    class State(TypedDict, total=False):
        n: int
        log: Annotated[list, operator.add]
        messages: Annotated[list, add_messages]

    def step(state):
        n = state["n"]
        said = [AIMessage(f"step {n}: " + "words " * 20, id=f"m{n % 20}")]
        return {"n": n + 1, "log": [n] if n % 50 == 0 else [], "messages": said}

    program = StateGraph(State)
    program.add_node("step", step)
    program.add_edge(START, "step")
    program.add_conditional_edges("step", lambda state: END if state["n"] >= state["log"][0] else "step")
    return program.compile(checkpointer=saver)


def saver_of(path):
    from langgraph.checkpoint.sqlite import SqliteSaver

    return SqliteSaver.from_conn_string(path)


def make_history(path, steps):
    with saver_of(path) as saver:
        settings = {"configurable": {"thread_id": "t"}, "recursion_limit": steps + 10}
        graph(saver).invoke({"n": 0, "log": [steps], "messages": []}, settings)


def make_threads(path, count, words=0):
    """Threads of four checkpoints each, copies of one that LangGraph made; `words` bytes of text are in each state."""
    with saver_of(path) as saver:
        settings = {"configurable": {"thread_id": "t"}}
        graph(saver).invoke({"n": 0, "log": [2], "messages": [("user", "x" * words)] if words else []}, settings)
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT * FROM checkpoints WHERE thread_id = 't' ORDER BY checkpoint_id").fetchall()
        writes = db.execute("SELECT * FROM writes WHERE thread_id = 't'").fetchall()
        for number in range(1, count):
            # Ids are in the order of time, as those of LangGraph.
            moment = f"2{number:07x}"
            new = lambda old: old and moment + old[8:]
            thread = f"t{uuid.uuid5(uuid.NAMESPACE_OID, str(number))}"
            for _, ns, id, parent, *rest in rows:
                db.execute("INSERT INTO checkpoints VALUES (?,?,?,?,?,?,?)", (thread, ns, new(id), new(parent), *rest))
            if not words:
                marks = ",".join("?" * len(writes[0]))
                db.executemany(f"INSERT INTO writes VALUES ({marks})", [(thread, w[1], new(w[2]), *w[3:]) for w in writes])
    db.close()


def forget(path):
    """Lets the system drop a file from memory."""
    for name in (path, path + "-wal"):
        if os.path.exists(name):
            with open(name, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read(what, path):
    """The reading of LangGraph's own, twice; run as a process of its own."""
    with saver_of(path) as saver:
        program = graph(saver)
        settings = {"configurable": {"thread_id": "t"}}

        def once():
            begun = time.perf_counter()
            if what == "page":
                found = len(list(saver.list(None, limit=50)))
            else:
                found = len(list(program.get_state_history(settings, limit=1000)))
            return time.perf_counter() - begun, found

        (first, found), (second, _) = once(), once()
        print(first, second, found, 0)


def put(path, seconds):
    """A program that stores 200 checkpoints a second; prints how long each `put` took, and what its log came to."""
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.base.id import uuid6

    took = []
    with saver_of(path) as saver:
        saver.setup()
        settings = {"configurable": {"thread_id": "live", "checkpoint_ns": ""}}
        begun = time.perf_counter()
        for number in range(int(seconds * RATE)):
            checkpoint = empty_checkpoint() | {"id": str(uuid6()), "channel_values": {"n": number, "text": "x" * 2000}}
            before = time.perf_counter()
            settings = saver.put(settings, checkpoint, {"source": "loop", "step": number, "parents": {}}, {})
            took.append(time.perf_counter() - before)
            time.sleep(max(0.0, begun + (number + 1) / RATE - time.perf_counter()))
        log = os.path.getsize(path + "-wal")
    took.sort()
    print(statistics.median(took), took[int(len(took) * 0.99)], log)


class Bench:
    def __init__(self, options):
        self.options = options

    def row(self, name, params, value, unit, goal, reached):
        line = {"bench": "langgraph", "workload": name, "params": params, "value": value, "unit": unit, "goal": goal, "reached": reached}
        if self.options.json:
            print(json.dumps(line), flush=True)
        else:
            print(f"{name:44} {params:22} {value:10.3g} {unit:8} {goal:>10}  {'reached' if reached else 'MISSED'}", flush=True)

    def ours(self, what, path, cold):
        if cold:
            forget(path)
        found = subprocess.run([self.options.ours, what, path, "t"], check=True, capture_output=True, text=True).stdout
        return [float(part) for part in found.split()]

    def theirs(self, what, path, cold):
        if cold:
            forget(path)
        arguments = [sys.executable, __file__, "--read", what, path]
        found = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
        return [float(part) for part in found.split()]

    def beside(self, name, what, path, goal, theirs=None):
        """How many times as long LangGraph's own reading takes, cold and warm."""
        ours, peer = [], []
        for _ in range(ROUNDS):
            ours.append(self.ours(what, path, True))
            peer.append(self.theirs(theirs or what, path, True))
            # Who finds less is faster.
            assert ours[-1][2] == peer[-1][2] > 0, f"{name}: {ours[-1][2]} were found, and {peer[-1][2]} by the library"
        for place, when in ((0, "cold"), (1, "warm")):
            one = statistics.median(found[place] for found in ours)
            other = statistics.median(found[place] for found in peer)
            params = f"{when} {one * 1000:.1f}/{other * 1000:.1f} ms"
            self.row(name, params, other / one, "times", f">= {goal}", other / one >= goal)

    def against(self, name, what, small, large, goal):
        """How many times as long we take with the large file as with the small one."""
        pairs = [(self.ours(what, small, True), self.ours(what, large, True)) for _ in range(ROUNDS)]
        for place, when in ((0, "cold"), (1, "warm")):
            one, other = (statistics.median(pair[side][place] for pair in pairs) for side in (0, 1))
            params = f"{when} {one * 1000:.1f}/{other * 1000:.1f} ms"
            self.row(name, params, other / one, "times", f"<= {goal}", other / one <= goal)
        return max(pair[1][3] for pair in pairs)

    def live(self, folder):
        """A program that stores, alone and followed, in turns."""
        alone, followed = [], []
        for number in range(PAIRS):
            for kept, follows in ((alone, False), (followed, True)):
                path = os.path.join(folder, f"live-{number}-{follows}.db")
                with saver_of(path) as saver:
                    saver.setup()
                follower = None
                if follows:
                    follower = subprocess.Popen([self.options.ours, "follow", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                    follower.stdout.readline()
                arguments = [sys.executable, __file__, "--put", str(self.options.seconds), path]
                found = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
                kept.append([float(part) for part in found.split()])
                if follower:
                    follower.communicate()
                os.remove(path)
        for place, which in ((0, "median"), (1, "p99")):
            ratios = [two[place] / one[place] for one, two in zip(alone, followed)]
            ratio = statistics.median(ratios)
            own = statistics.median(one[place] for one in alone)
            self.row(f"put of a live program, {which}", f"alone {own * 1e6:.0f} us, 10 pairs", ratio, "times", "<= 1.05", ratio <= 1.05)
        logs = [max(found[2] for found in kept) for kept in (alone, followed)]
        self.row("its log", f"alone {logs[0] / 1e6:.1f} MB", logs[1] / max(logs[0], 1), "times", "<= 1.05", logs[1] <= logs[0] * 1.05)

    def run(self):
        folder = tempfile.mkdtemp(dir=self.options.folder)
        try:
            at = lambda name: os.path.join(folder, name)
            make_history(at("history.db"), 1000)
            self.beside("list of 1,000 checkpoints, without values", "heads", at("history.db"), 30, "history")
            self.beside("list of 1,000 checkpoints, with values", "values", at("history.db"), 5, "history")
            make_threads(at("few.db"), 1_000)
            many = self.options.threads
            make_threads(at("many.db"), many)
            self.beside(f"first page of {many:,} threads", "page", at("many.db"), 20)
            self.against(f"first page, {many:,} threads to 1,000", "page", at("few.db"), at("many.db"), 1.2)
            os.remove(at("many.db"))
            make_threads(at("small.db"), 100, 50_000)
            make_threads(at("large.db"), 100 * self.options.large, 50_000)
            sizes = [os.path.getsize(at(name)) / 1e6 for name in ("small.db", "large.db")]
            name = f"opening {sizes[1]:.0f} MB to {sizes[0]:.0f} MB"
            memory = self.against(name, "open", at("small.db"), at("large.db"), 1.5)
            self.row("memory over idle", "the large file", memory, "MB", "<= 100", memory <= 100)
            os.remove(at("large.db"))
            self.live(folder)
        finally:
            shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--read")
    parser.add_argument("--put", type=float)
    parser.add_argument("path", nargs="?")
    parser.add_argument("--ours")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--folder", help="where the databases are made, a few gigabytes")
    parser.add_argument("--threads", type=int, default=100_000, help="of the file with many")
    parser.add_argument("--large", type=int, default=100, help="how many times the large file is the small one")
    parser.add_argument("--seconds", type=float, default=5, help="of each run of the live program")
    options = parser.parse_args()
    if options.read:
        read("page" if options.read == "page" else "history", options.path)
    elif options.put:
        put(options.path, options.put)
    else:
        Bench(options).run()


if __name__ == "__main__":
    main()
