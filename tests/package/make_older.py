#!/usr/bin/env python3
"""Writes the data folder `older` with the command-line program of an older release, as README.md says."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

DATA = Path("/home/person/.local/share/superstep")
# It is killed while it talks.
TALK = {
    "format": "superstep/1", "name": "Talk", "state": {"begun": {"type": "boolean"}, "said": {"type": "string"}},
    "nodes": {
        "begin": {"kind": "assign", "config": {"set": {"begun": "true"}}},
        "talk": {"kind": "model", "config": {"model": "scripted", "prompt": "Talk", "into": "said", "pace_ms": 100, "script": [
            {"say": "a rhinoceros that was interrupted goes on where it stopped and says all of this again"}]}},
    },
    "edges": [{"from": "__start__", "to": "begin"}, {"from": "begin", "to": "talk"}, {"from": "talk", "to": "__end__"}],
}  # fmt: skip


def main():
    program, graphs, target = (Path(argument).resolve() for argument in sys.argv[1:])
    DATA.mkdir(parents=True)
    talk = DATA / "graphs/talk.json"
    environment = {"PATH": os.environ["PATH"], "HOME": "/home/person", "SUPERSTEP_DATA": str(DATA)}
    serve = [program, "serve", "--port", "0", "--examples", graphs]
    server = subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, text=True)
    address, token = server.stdout.readline().strip().split("/?token=")

    def call(command, **request):
        asked = urllib.request.Request(f"{address}/rpc/{command}", json.dumps(request).encode(), {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(asked) as answer:
            return json.load(answer)

    def cli(code, *words):
        done = subprocess.run([program, *words], env=environment, capture_output=True, text=True)
        assert done.returncode == code, (words, done)

    talk.parent.mkdir(exist_ok=True)
    talk.write_text(json.dumps(TALK, indent=2))
    settings = call("app.info")["settings"]
    call("settings.set", **{**settings, "theme": "dark", "welcomed": True, "name": "Ada"})
    desk = call("graph.openExample", id="refund-desk")
    desk_file = desk["path"]
    cli(3, "run", desk_file, "--example", "1", "--thread", "asking")
    cli(0, "run", call("graph.openExample", id="counter")["path"], "--example", "1", "--thread", "counted")
    call("thread.rename", threadId="counted", title="Counted to five")
    newest = call("thread.checkpoints", threadId="counted")["checkpoints"][0]["id"]
    call("thread.bookmark", threadId="counted", checkpointId=newest, name="the end")
    call("store.put", namespace=["people", "Ada"], key="likes", value={"text": "walks along the river"})
    call("trust.grant", project=str(talk.parent), accesses=[{"what": "variable", "name": "SUPERSTEP_OLDER"}])
    call("connections.save", name="office", provider="openai", baseUrl="http://127.0.0.1:9/v1", key={"type": "variable", "name": "SUPERSTEP_OLDER"})
    # Changes that nobody saved: of a draft, and of a graph that has a file.
    draft = call("graph.new", name="A draft of an older release")["graphId"]
    node = {"kind": "assign", "title": "Not saved", "config": {"set": {"a": "1"}}}
    for graph in (draft, desk["graphId"]):
        call("graph.apply", graphId=graph, baseRev=0, ops=[{"id": "node:unsaved", "from": None, "to": node}])
    talking = call("graph.open", path=str(talk))["graphId"]
    time.sleep(3)
    call("run.start", graphId=talking, threadId="interrupted", action={"type": "input", "input": {}})
    while len(call("thread.checkpoints", threadId="interrupted")["checkpoints"]) < 3:
        time.sleep(0.01)
    time.sleep(0.3)
    server.kill()
    server.wait()
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(DATA, target, ignore=shutil.ignore_patterns("*.sock", "sockets", "expect", "README.md"))
    for name in ("threads.db", "workbench.db"):
        database = sqlite3.connect(target / name)
        # What was in the log goes into the file, and the log away.
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("VACUUM")
        database.close()
    print(sum(path.stat().st_size for path in target.rglob("*") if path.is_file()), "bytes")


if __name__ == "__main__":
    main()
