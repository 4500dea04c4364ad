"""What LangGraph's own savers take for what `storage-trials beside` measures on ours.

`savers.py BACKEND PLACE STEPS MESSAGES`: BACKEND is sqlite (PLACE is a file) or postgres (PLACE is a URL). Prints one JSON object
of figures. The contents are those that LangGraph's loop would hand over: a checkpoint with its metadata and the versions that are
new, and the writes of the one task of a step.
"""

import json
import os
import statistics
import sys
import time
import uuid

from langgraph.checkpoint.base.id import uuid6


def config(thread, checkpoint=None):
    known = {"thread_id": thread, "checkpoint_ns": ""}
    if checkpoint:
        known["checkpoint_id"] = checkpoint
    return {"configurable": known}


def made(step, values, versions):
    return {
        "v": 4,
        "id": str(uuid6(clock_seq=step)),
        "ts": "2026-11-21T00:00:00.000000+00:00",
        "channel_values": values,
        "channel_versions": versions,
        "versions_seen": {"loop": {"branch:to:loop": step}},
        "updated_channels": sorted(values),
    }


def steps(saver, count):
    parent, took = config("steps"), []
    for n in range(count):
        checkpoint = made(n, {"n": n}, {"n": n + 1, "branch:to:loop": n + 1})
        began = time.perf_counter()
        if n:
            saver.put_writes(parent, [("n", n), ("branch:to:loop", None)], str(uuid.uuid4()), "~__pregel_pull, loop")
        parent = saver.put(parent, checkpoint, {"source": "loop", "step": n}, {"n": n + 1, "branch:to:loop": n + 1})
        took.append((time.perf_counter() - began) * 1e6)
    return statistics.median(took)


def conversation(saver, count):
    parent, messages, took = config("talk"), [], []
    for n in range(count):
        messages = [*messages, {"type": "human", "id": f"m{n}", "content": ("%04d" % n) + "x" * 1000}]
        checkpoint = made(n, {"messages": messages}, {"messages": n + 1})
        began = time.perf_counter()
        parent = saver.put(parent, checkpoint, {"source": "loop", "step": n}, {"messages": n + 1})
        took.append((time.perf_counter() - began) * 1e6)
    return statistics.median(took[-max(count // 10, 1):])


def measure(opened, place, count, turns):
    figures = {}
    with opened() as saver:
        saver.setup()
        figures["a step"] = steps(saver, count)
        figures["a turn of a conversation, its last tenth"] = conversation(saver, turns)
    with opened() as saver:
        began = time.perf_counter()
        newest = saver.get_tuple(config("talk"))
        figures["the newest checkpoint of the conversation, after opening"] = (time.perf_counter() - began) * 1e6
        assert len(newest.checkpoint["channel_values"]["messages"]) == turns
        began = time.perf_counter()
        assert sum(1 for _ in saver.list(config("steps"))) == count
        figures["the history of the steps"] = (time.perf_counter() - began) * 1e6
        began = time.perf_counter()
        found = [one for one in saver.list(config("steps")) if one.metadata["step"] == count // 2]
        assert len(found) == 1
        figures["find a step in the middle"] = (time.perf_counter() - began) * 1e6
    if os.path.exists(place):
        figures["bytes"] = os.path.getsize(place)
    return figures


def main():
    backend, place, count, turns = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if backend == "sqlite":
        from langgraph.checkpoint.sqlite import SqliteSaver

        opened = lambda: SqliteSaver.from_conn_string(place)
    else:
        from langgraph.checkpoint.postgres import PostgresSaver

        opened = lambda: PostgresSaver.from_conn_string(place)
    print(json.dumps(measure(opened, place, count, turns)))


main()
