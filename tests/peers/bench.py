"""`./dev bench peers`: the same workloads on this engine and its peers, side by side.

Every measurement is a process of its own. The peers of a workload run one after the other, so that a slow minute of
the machine hits all of them; a figure is the fastest round. The table says how many times as long the peer took;
`--json` has one line a peer with `value` (ours), `limit` (theirs) and `ratio` (ours / theirs). Needs Python's standard library only; what it runs was installed and built by `./dev`.
"""

import argparse
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = {
    "py": "LangGraph 1.2.24 (Python)",
    "js": "LangGraph.js 1.3.7",
    "langgraph-rs": "langgraph 0.2.5 (crate)",
    "juncture": "juncture 0.4.0",
    "adk-graph": "adk-graph 2.3.0",
    "rust-langgraph": "rust-langgraph 0.1.1",
    "graph-flow": "graph-flow 0.8.1 (no super-steps)",
}
RUST = ["langgraph-rs", "juncture", "adk-graph", "rust-langgraph", "graph-flow"]
SAVING = ["langgraph-rs", "adk-graph"]
BOTH = ["py", "js"]

# Workload, size, saver, what a run must come to, peers. A size is left out for a peer that would take minutes.
MATRIX = [
    ("chain", "10", "none", 1, BOTH + RUST),
    ("chain", "1000", "none", 1, BOTH + RUST),
    ("chain", "10", "memory", 1, BOTH + SAVING),
    ("chain", "1000", "memory", 1, ["py"] + SAVING),
    ("loop", "1000", "none", 1000, BOTH + ["langgraph-rs", "juncture", "adk-graph", "graph-flow"]),
    ("loop", "1000", "memory", 1000, BOTH + SAVING),
    ("loop", "1000", "sqlite", 1000, ["py"]),
    ("stream", "1000", "none", 1000, BOTH),
    ("send", "100", "none", 100, BOTH + ["langgraph-rs", "juncture", "adk-graph", "graph-flow"]),
    ("send", "1000", "none", 1000, BOTH + ["langgraph-rs", "juncture", "adk-graph", "graph-flow"]),
    ("send", "10000", "none", 10000, ["juncture", "graph-flow"]),
    ("send", "1000", "sqlite", 1000, ["py"]),
    ("subgraph", "10", "none", 10, BOTH),
    ("subgraph", "100", "none", 100, BOTH),
    ("subgraph", "100", "memory", 100, BOTH),
    ("wide", "25x300", "none", 595, BOTH),
    ("wide", "15x600", "none", 1873, BOTH),
    ("wide", "9x1200", "none", 1873, BOTH),
    ("wide", "25x300", "memory", 595, BOTH),
    ("wide", "25x300", "sqlite", 595, ["py"]),
    ("react", "10", "none", 22, BOTH),
    ("react", "100", "none", 202, BOTH),
    ("react", "100", "memory", 202, BOTH),
    ("react", "100", "sqlite", 202, ["py"]),
    ("talk", "100", "memory", 100, BOTH),
    ("talk", "100", "sqlite", 100, ["py"]),
    ("compile", "1000", "none", 1000, BOTH + RUST),
    ("compile", "10000", "none", 10000, BOTH + ["langgraph-rs", "adk-graph", "graph-flow"]),
]


def command(peer, options):
    if peer == "ours":
        return [options.ours]
    if peer == "py":
        return [options.python, os.path.join(HERE, "python", "runner.py")]
    if peer == "js":
        return ["node", "--no-warnings", os.path.join(HERE, "js", "runner.mjs")]
    return [options.rust, peer]


def measure(peer, case, options):
    """The fastest round in seconds, or None when the peer failed; says why on stderr."""
    workload, size, saver, expected, _ = case
    arguments = command(peer, options) + [workload, size, saver, str(options.seconds)]
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | QUIET
    )
    try:
        out, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        print(f"{peer}: {workload} {size} took more than a minute", file=sys.stderr)
        return None
    if process.returncode != 0:
        last = (errors.strip().splitlines() or ["no message"])[-1]
        print(f"{peer}: {workload} {size} {saver} failed: {last}", file=sys.stderr)
        return None
    report = json.loads(out.strip().splitlines()[-1])
    if report["came_to"] != expected:
        print(f"{peer}: {workload} {size} came to {report['came_to']}, not {expected}", file=sys.stderr)
        return None
    return min(report["seconds"])


QUIET = {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false", "RUST_LOG": "off"}


# Seconds after which no further workload is begun.
LONGEST = 240


def shown(seconds):
    micros = seconds * 1e6
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if micros >= scale:
            return f"{micros / scale:.3g} {unit}"
    return f"{micros:.3g} us"


def times(factor):
    return f"{factor:,.0f}x" if factor >= 10 else f"{factor:.2g}x"


def table(rows):
    peers = [peer for peer in PEERS if any(peer in row[1] for row in rows)]
    head = ["workload", "ours"] + peers
    lines = [head]
    for (workload, size, saver, _, _), figures in rows:
        ours = figures.get("ours")
        cells = [f"{workload} {size}" + ("" if saver == "none" else f", {saver}"), shown(ours) if ours else "-"]
        for peer in peers:
            theirs = figures.get(peer)
            both = ours and theirs
            cells.append(f"{shown(theirs)} ({times(theirs / ours)})" if both else "")
        lines.append(cells)
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        padded = [cell.rjust(width) for cell, width in zip(line, widths)]
        print("  ".join([line[0].ljust(widths[0])] + padded[1:]).rstrip())
    print("\nIn brackets: theirs / ours. " + "; ".join(f"{peer}: {PEERS[peer]}" for peer in peers) + ".")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--rust", required=True)
    parser.add_argument("--seconds", type=float, default=0.25, help="time for the rounds of one measurement")
    parser.add_argument("--only", action="append", help="a workload by name; may be repeated")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    began = time.monotonic()
    for case in MATRIX:
        if options.only and case[0] not in options.only:
            continue
        if time.monotonic() - began > LONGEST:
            print("left out, the machine is busy: " + " ".join(case[:3]), file=sys.stderr)
            continue
        figures = {}
        for peer in ["ours"] + case[4]:
            figure = measure(peer, case, options)
            if figure is not None:
                figures[peer] = figure
        rows.append((case, figures))
        workload, size, saver = case[:3]
        if not options.json:
            print(f"[{time.monotonic() - began:3.0f}s] {workload} {size} {saver}", file=sys.stderr)
        for peer, theirs in figures.items():
            if options.json and peer != "ours" and "ours" in figures:
                ours = figures["ours"]
                line = {"bench": "peers", "workload": workload, "params": {"size": size, "saver": saver}}
                line |= {"peer": PEERS[peer], "value": ours * 1e6, "unit": "us", "limit": theirs * 1e6}
                print(json.dumps(line | {"ratio": ours / theirs}), flush=True)
    if not options.json:
        table(rows)


main()
