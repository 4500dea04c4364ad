"""Sends random requests to a server of its own, made from the generated types of every command, and says what went wrong.

    python3 tests/attack/requests.py target/release/superstep [--count N] [--seed S] [--jobs N]

Half of the values fit (ids, names and checkpoints are taken from earlier answers), the others are hostile. Wrong is: an
answer with a status of 500, no answer within LONGEST seconds, a connection that ends without an answer, an end of the
server, the text of a panic, or more memory than LIMIT over the first requests. Refusals are counted and not looked at.
"""

import argparse
import collections
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import corpus

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
IPC = os.path.join(ROOT, "ui", "src", "ipc")
MB = 1024 * 1024
LONGEST = 60
LIMIT = 512 * MB
# The server is ended there, before it takes the machine's memory.
CEILING = 4096 * MB
TOKEN = "a-token-of-the-attack"
# What would take away what the others work with is asked for less often.
RARE = {"storage.use": 0.01, "thread.prune": 0.2, "storage.retain": 0.2, "thread.delete": 0.2, "graph.close": 0.3}

WORD = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_]*|[{}\[\]<>():;,|?]|$)')


class Reader:
    """A reader of the part of TypeScript that the generated types are written in."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.words, at = [], 0
        while at < len(text.rstrip()):
            found = WORD.match(text, at)
            if not found:
                raise ValueError(f"cannot read: {text[at:at + 60]!r}")
            self.words.append(found.group(1))
            at = found.end()
        self.words.append("")
        self.at = 0

    def next(self):
        self.at += 1
        return self.words[self.at - 1]

    def taken(self, word):
        if self.words[self.at] != word:
            return False
        self.at += 1
        return True

    def union(self):
        self.taken("|")
        ways = [self.list()]
        while self.taken("|"):
            ways.append(self.list())
        return ways[0] if len(ways) == 1 else ("union", ways)

    def list(self):
        inner = self.single()
        while self.taken("["):
            self.next()
            inner = ("list", inner)
        return inner

    def single(self):
        word = self.next()
        if word == "(":
            inner = self.union()
            self.next()
            return inner
        if word == "{":
            return self.object()
        if word in ("Array", "Record") and self.taken("<"):
            inner = self.union()
            if self.taken(","):
                inner = self.union()
            self.next()
            return ("list" if word == "Array" else "map", inner)
        if word.startswith('"'):
            return ("text", json.loads(word))
        return ("name", word)

    def object(self):
        fields = []
        while not self.taken("}"):
            if self.taken("["):  # [key in string]?: T
                while not self.taken("]"):
                    self.next()
                self.taken("?")
                self.next()
                inner = self.union()
                while self.taken(",") or self.taken(";"):
                    pass
                self.next()
                return ("map", inner)
            name = self.next().strip('"')
            optional = self.taken("?")
            self.next()
            fields.append((name, optional, self.union()))
            while self.taken(",") or self.taken(";"):
                pass
        return ("object", fields)


def read_types():
    """The request type of each command, and the types by name."""
    types = {}
    for name in os.listdir(os.path.join(IPC, "bindings")):
        with open(os.path.join(IPC, "bindings", name), encoding="utf-8") as file:
            text = "\n".join(line for line in file if not line.startswith(("//", "import ")))
        start = re.search(r"export type (\w+) = ", text)
        types[start.group(1)] = Reader(text[start.end() :]).union()
    with open(os.path.join(IPC, "commands.ts"), encoding="utf-8") as file:
        commands = dict(re.findall(r'^  "([\w.]+)": \[(\w+), \w+\];$', file.read(), flags=re.M))
    return commands, types


HOSTILE = [
    "", " ", "\0", "\ud800", "..", "../..", "/", "zero", "pipe", "link", "a" * 300, "x" * 100_000,
    "é\u202e\ufeff", "%00%n%s", "'; drop table threads; --", "{{ 1 // 0 }}", "__start__", "__end__", "__proto__", "constructor",
    "-1", "1e400", "state.n", "[" * 5000, "{" * 500 + "}" * 500, "sqlite:", "sqlite:zero", "file:pipe", "postgres://127.0.0.1:1/x",
    "redis://127.0.0.1:1", "memory:", "http://127.0.0.1:1/", "https://[::1", "ftp://x", "data:,", "\n\r\t", "00000000-0000-0000-0000-000000000000",
]  # fmt: skip
NUMBERS = [0, 1, 2, 3, 10, 100, -1, 0.5, 1e308, -1e308, 2**31, 2**32, 2**53, 2**63, 2**64, -(2**63), 10**30]


class Maker:
    """Makes values of types; what answers held is used again."""

    def __init__(self, types, folder):
        self.types = types
        self.folder = folder
        self.pools = collections.defaultdict(list)
        self.lock = threading.Lock()
        self.is_mild = threading.local()

    def learn(self, command, answer):
        """Keeps what an answer holds for later requests."""
        if isinstance(answer, dict):
            if command.startswith("graph.") and isinstance(answer.get("id"), str):
                self.keep("graphId", answer["id"])
            for list_, pool in (("checkpoints", "checkpointId"), ("examples", "example")):
                entries = answer.get(list_)
                for entry in entries if isinstance(entries, list) else []:
                    self.keep(pool, entry["id"])
        self.texts(answer, command, 0)

    def texts(self, value, name, depth):
        """Keeps the short texts of an answer, by the name of their field."""
        if depth > 8:
            return
        if isinstance(value, dict):
            for key, inner in value.items():
                self.texts(inner, key, depth + 1)
                if depth < 3 and len(key) < 80 and name:
                    self.keep(name, key)
            if set(value) >= {"id", "value"}:
                self.keep(" records", value)
        elif isinstance(value, list):
            for inner in value[:20]:
                self.texts(inner, name, depth + 1)
        elif isinstance(value, str) and name and len(value) < 200:
            self.keep(name, value)

    def keep(self, name, value):
        pool = self.pools[name]
        with self.lock:
            if len(pool) < 200:
                pool.append(value)
            else:
                pool[random.randrange(200)] = value

    def known(self, rng, field):
        """A text from the answers that fits a field of this name."""
        near = {
            "threadId": ["threadId"], "checkpointId": ["checkpointId", "head"], "answers": ["interruptId"], "nodes": ["node", "nodes"],
            "from": ["checkpointId"], "to": ["checkpointId"], "against": ["checkpointId"], "path": ["path", "paths"], "folder": ["folder", "path"],
            "node": ["nodes", "node", "name"], "asNode": ["nodes", "node"], "breakBefore": ["nodes"], "breakAfter": ["nodes"],
        }.get(field, [field])  # fmt: skip
        pool = self.pools[rng.choice(["example", "interruptId", "id"] if field == "id" else near)]
        return rng.choice(pool) if pool else None

    def text(self, rng, field):
        if field in ("path", "folder", "to", "file", "directory") and rng.random() < 0.5:
            return os.path.join(self.folder, rng.choice(["graphs", "new", "b.json", "out.json", "zero", "pipe", "link", "missing/x.json", "."]))
        if field == "url":  # storage elsewhere would be a place outside of this trial
            return rng.choice([f"sqlite:{self.folder}/other.db", "memory:", *HOSTILE[-11:-4]])
        if rng.random() < (0.97 if self.is_mild.on else 0.7):
            known = self.known(rng, field)
            if known is not None:
                return known
        # Paths lead into the folder of this trial only: some commands write.
        return rng.choice(HOSTILE)

    def json(self, rng, depth=0):
        kind = rng.randrange(9 if depth < 4 else 5)
        if kind == 0:
            return None
        if kind == 1:
            return rng.random() < 0.5
        if kind == 2:
            return rng.choice(NUMBERS)
        if kind in (3, 4):
            return self.text(rng, "name")
        if kind in (5, 6):
            return [self.json(rng, depth + 1) for _ in range(rng.randrange(4))]
        if kind == 7 and depth == 0 and rng.random() < 0.05:
            deep = 1
            for _ in range(rng.choice([100, 600])):
                deep = [deep]
            return deep
        keys = ["n", "messages", "verdict", "kind", "config", "from", "to", "when", "state", "reducer", "set", "type", "name"]
        return {rng.choice(keys): self.json(rng, depth + 1) for _ in range(rng.randrange(5))}

    def value(self, rng, type_, field="", depth=0):
        if rng.random() < (0.001 if self.is_mild.on else 0.03):
            return self.json(rng)
        kind, inner = type_
        if kind == "union":
            if field == "action" and rng.random() < 0.4:  # an input makes a thread
                return self.value(rng, inner[0], field, depth)
            return self.value(rng, rng.choice(inner), field, depth)
        if kind == "text":
            return inner
        if kind == "list":
            pool = self.pools[" records"]
            if field == "ops" and pool and rng.random() < 0.7:
                return [self.patch(rng) for _ in range(rng.randrange(1, 4))]
            return [self.value(rng, inner, field, depth + 1) for _ in range(rng.choice([0, 1, 1, 2, 3, 20]) if depth < 4 else 0)]
        if kind == "map":
            return {self.text(rng, field): self.value(rng, inner, field, depth + 1) for _ in range(rng.randrange(3) if depth < 4 else 0)}
        if kind == "object":
            return {
                name: self.value(rng, of, name, depth + 1) for name, optional, of in inner if rng.random() < (self.wanted(name) if optional else 0.99)
            }
        if inner == "string":
            return self.text(rng, field)
        if inner in ("number", "bigint"):
            return rng.choice(NUMBERS) if rng.random() < 0.5 else rng.randrange(100)
        if inner == "boolean":
            return rng.random() < 0.5
        if inner == "null":
            return None
        if inner in self.types and depth < 8:
            return self.value(rng, self.types[inner], field, depth + 1)
        return self.json(rng)

    def wanted(self, field):
        """How often a field is there that need not be."""
        if not self.is_mild.on:
            return 0.5
        return 0.7 if field in ("graphId", "threadId") else 0.1

    def request(self, rng, type_):
        """A request; every other one is made of what fits, mostly."""
        self.is_mild.on = rng.random() < 0.5
        return self.value(rng, ("name", type_))

    def patch(self, rng):
        """A step of a patch that fits a record of an answer, mostly."""
        record = rng.choice(self.pools[" records"])
        to = json.loads(json.dumps(record["value"]))
        if isinstance(to, dict) and to and rng.random() < 0.7:
            to[rng.choice(list(to))] = self.json(rng)
        elif rng.random() < 0.5:
            to = self.json(rng)
        return {"id": record["id"] if rng.random() < 0.9 else self.text(rng, "id"), "from": record["value"], "to": to}


class Server:
    """The program under attack, with a project, a data folder and a database of its own."""

    def __init__(self, program, folder):
        self.said = open(os.path.join(folder, "said.txt"), "w+b")
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": folder, "SUPERSTEP_DATA": os.path.join(folder, ".data"), "SUPERSTEP_TOKEN": TOKEN, "RUST_BACKTRACE": "0",
        }  # fmt: skip
        words = ["serve", "--port", "0", "--data", os.path.join(folder, ".data"), "--examples", os.path.join(ROOT, "graphs")]
        self.child = subprocess.Popen(
            [program, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said, start_new_session=True
        )
        for _ in range(600):
            found = re.search(r"http://127\.0\.0\.1:(\d+)", self.text())
            if found:
                self.port = int(found.group(1))
                return
            if self.child.poll() is not None:
                break
            time.sleep(0.1)
        sys.exit(f"the server does not start: {self.text()}")

    def text(self):
        with open(self.said.name, encoding="utf-8", errors="replace") as file:
            return file.read(8 * MB)

    def resident(self):
        try:
            with open(f"/proc/{self.child.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return 0

    def stop(self):
        try:
            os.killpg(self.child.pid, signal.SIGTERM)
            self.child.wait(20)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class Trial:
    def __init__(self, server, maker, commands, given):
        self.server, self.maker, self.commands, self.given = server, maker, commands, given
        self.statuses = collections.defaultdict(collections.Counter)
        self.slowest = collections.defaultdict(float)
        self.wrong = []
        self.most = server.resident()
        self.left = given.count
        self.lock = threading.Lock()

    def report(self, command, body, problem):
        with self.lock:
            self.wrong.append((command, problem))
        print(f"{command}: {' '.join(problem.split())[:300]}\n  {body[:600]}", flush=True)

    def chosen(self, rng):
        while True:
            command = rng.choice(list(self.commands))
            if rng.random() < RARE.get(command, 1.0):
                return command

    def work(self, number):
        rng = random.Random(self.given.seed * 1000 + number)
        connection = None
        while True:
            with self.lock:
                if self.left <= 0:
                    return
                self.left -= 1
            if self.server.child.poll() is not None:
                return
            command = self.chosen(rng)
            body = json.dumps(self.maker.request(rng, self.commands[command]))
            if rng.random() < 0.01:  # what is no JSON
                body = body[: rng.randrange(len(body) + 1)]
            connection = connection or http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=LONGEST)
            began = time.monotonic()
            try:
                headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
                connection.request("POST", f"/rpc/{command}", body.encode("utf-8", "surrogatepass"), headers)
                answer = connection.getresponse()
                status, text = answer.status, answer.read()
            except TimeoutError:
                self.report(command, body, f"no answer within {LONGEST} s")
                connection = None
                continue
            except (OSError, http.client.HTTPException) as error:
                self.report(command, body, f"no answer: {error!r}")
                connection = None
                continue
            seconds = time.monotonic() - began
            now = self.server.resident()
            if self.given.jobs == 1 and now > self.most + 50 * MB:
                print(f"{command}: {self.most // MB} to {now // MB} MB\n  {body[:600]}", flush=True)
            self.most = max(self.most, now)
            with self.lock:
                self.statuses[command][status] += 1
                self.slowest[command] = max(self.slowest[command], seconds)
            if status == 500:
                self.report(command, body, text.decode("utf-8", "replace"))
            if status == 200 and len(text) < 2 * MB:
                self.maker.learn(command, json.loads(text))


def prepare(trial):
    """Opens graphs and runs them, so that there are threads, checkpoints and questions from the beginning."""
    connection = http.client.HTTPConnection("127.0.0.1", trial.server.port, timeout=LONGEST)

    def call(command, request):
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection.request("POST", f"/rpc/{command}", json.dumps(request), headers)
        answer = json.loads(connection.getresponse().read())
        trial.maker.learn(command, answer)
        return answer

    for example in call("app.info", {})["examples"]:
        graph = call("graph.openExample", {"id": example["id"]})
        if "graphId" in graph and "sampleInput" in graph:
            action = {"type": "input", "input": graph["sampleInput"]}
            request = {"graphId": graph["graphId"], "action": action, "breakBefore": [], "breakAfter": [], "singleStep": False, "stepInto": False}
            run = call("run.start", request)
            if "threadId" in run:
                call("thread.checkpoints", {"threadId": run["threadId"], "limit": 50})
    call("inbox.list", {"limit": 50})


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program")
    options.add_argument("--count", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=8)
    given = options.parse_args()
    commands, types = read_types()
    folder = tempfile.mkdtemp(prefix="attack-")
    corpus.write(folder, {"graphs/a/graph.json": corpus.graph(), "graphs/b.json": corpus.graph()})
    os.symlink("zero", os.path.join(folder, "zero"))
    os.symlink("link", os.path.join(folder, "link"))
    os.mkfifo(os.path.join(folder, "pipe"))
    server = Server(os.path.abspath(given.program), folder)
    maker = Maker(types, folder)
    for path in ("graphs/a/graph.json", "graphs/b.json"):
        maker.pools["path"].append(os.path.join(folder, path))
    trial = Trial(server, maker, commands, given)
    workers = [threading.Thread(target=trial.work, args=(number,), daemon=True) for number in range(given.jobs)]
    prepare(trial)
    began = time.monotonic()
    for worker in workers:
        worker.start()
    most, idle = 0, 0
    while any(worker.is_alive() for worker in workers):
        time.sleep(1)
        done = given.count - trial.left
        most = max(most, server.resident())
        if most > CEILING:
            server.child.kill()
            trial.left = 0
        idle = idle or (server.resident() if done > given.count // 50 else 0)
        if int(time.monotonic() - began) % 30 == 0:
            print(f"[{done}/{given.count}, {server.resident() // MB} MB]", file=sys.stderr, flush=True)
    ended, seconds = server.child.poll(), time.monotonic() - began
    after = server.resident()
    server.stop()
    text = server.text()
    if ended is not None:
        trial.report("server", "", f"ended with {ended}: {text[-400:]}")
    for mark in ("panicked at", "overflowed its stack", "memory allocation of"):
        if mark in text:
            trial.report("server", "", text[max(0, text.index(mark) - 100) :][:400])
    if most > idle + LIMIT:
        trial.report("server", "", f"{most // MB} MB of memory, {idle // MB} MB after the first requests")
    shutil.rmtree(folder, ignore_errors=True)
    total = collections.Counter()
    for statuses in trial.statuses.values():
        total.update(statuses)
    slow = sorted(trial.slowest.items(), key=lambda entry: -entry[1])[:5]
    print("never answered with 200: " + (", ".join(sorted(c for c in commands if not trial.statuses[c][200])) or "none"))
    print("slowest: " + ", ".join(f"{command} {seconds:.2f} s" for command, seconds in slow))
    print("statuses: " + ", ".join(f"{status}: {count}" for status, count in sorted(total.items())))
    print(
        f"{sum(total.values())} requests to {len(commands)} commands in {seconds:.0f} s (seed {given.seed}), "
        f"{idle // MB} MB at first, {most // MB} at most, {after // MB} at the end, {len(trial.wrong)} wrong"
    )
    sys.exit(1 if trial.wrong else 0)


if __name__ == "__main__":
    main()
