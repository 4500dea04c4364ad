"""Builds the workspace's test programs and runs them side by side: most wait for servers, kills and clocks, not for a processor.

Usage: programs.py [--together N] [--threads N] [--only PACKAGE]... [--exclude PACKAGE]... [--skip PACKAGE]... [--chosen FILE] [-- WORD ...]

Cargo runs one program after the other. What is excluded is not built, what is skipped is built and not run; of
what a file of JSON has chosen, each package has words of the names of its tests, or none for all. The words go to every
program, as those behind `--` of `cargo test` do. What a program says stands in the build folder (`test-output`), and
is printed when it has ended: its closing lines, and all of it when it failed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.M)

# Seconds that the longest programs take on two cores where nothing else runs.
LONG = {
    "superstep-storage.test.it": 190,
    "superstep-storage-tests.test.it": 120,
    "superstep-cli.test.it": 100,
    "superstep-nodes.test.it": 70,
    "superstep-workbench.test.it": 50,
    "superstep-acceptance.test.it": 30,
    "superstep-workbench.lib.superstep_workbench": 20,
}


class Program:
    """A test program: its package, the folder it runs in, and what it is called on the screen."""

    def __init__(self, message):
        self.manifest = Path(message["manifest_path"])
        self.path = message["executable"]
        named = re.search(r"#([\w-]+)@", message["package_id"])
        self.package = named[1] if named else self.manifest.parent.name
        kind = message["target"]["kind"][0]
        folder = os.path.relpath(self.manifest.parent)
        self.title = f"{self.package} ({'unit tests' if kind != 'test' else message['target']['name']}, {folder})"
        self.name = f"{self.package}.{kind}.{message['target']['name']}"


def build(only, exclude):
    """Builds what is asked for and returns the programs, or ends as cargo does."""
    chosen = ["-p" + package for package in only] or ["--workspace", *(f"--exclude={package}" for package in exclude)]
    command = ["cargo", "test", *chosen, "--tests", "--no-run", "--message-format=json-render-diagnostics"]
    cargo = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in cargo.stdout if line.startswith("{")]
    if cargo.wait() != 0:
        sys.exit(cargo.returncode)
    return [Program(m) for m in messages if m.get("reason") == "compiler-artifact" and m["profile"]["test"] and m["executable"]]


def run(program, words, threads, output):
    """Runs a program as cargo would; returns its status, what it said and its seconds."""
    surroundings = {
        **os.environ,
        "CARGO": os.environ.get("CARGO", "cargo"),
        "CARGO_MANIFEST_DIR": str(program.manifest.parent),
        "CARGO_PKG_NAME": program.package,
        "RUST_TEST_THREADS": str(threads),
    }
    begun = time.monotonic()
    # A file and no pipe: a server that a test leaves behind would hold that open.
    with output.open("w") as file:
        status = subprocess.run(
            [program.path, *words], cwd=program.manifest.parent, env=surroundings, stdin=subprocess.DEVNULL, stdout=file, stderr=file
        ).returncode
    return status, output.read_text(errors="replace"), time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--together", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    for choice in ("--only", "--exclude", "--skip"):
        parser.add_argument(choice, action="append", default=[])
    parser.add_argument("--chosen", type=Path)
    parser.add_argument("words", nargs="*")
    arguments = parser.parse_args()
    chosen = arguments.chosen and json.loads(arguments.chosen.read_text())
    programs = [p for p in build(arguments.only, arguments.exclude) if p.package not in arguments.skip]
    if chosen is not None:
        programs = [p for p in programs if p.package in chosen]

    target = Path(os.environ.get("CARGO_TARGET_DIR", "target")).absolute()
    outputs = target / "test-output"
    outputs.mkdir(exist_ok=True)
    # The longest first, so that none of them is left alone at the end: as the last run tells, else as they usually are.
    kept = target / "test-seconds.json"
    seconds = json.loads(kept.read_text()) if kept.exists() else {}
    programs.sort(key=lambda p: -seconds.get(p.name, LONG.get(p.name, os.path.getsize(p.path) / 1e9)))
    passed = ignored = 0
    failed = []
    with ThreadPoolExecutor(arguments.together) as pool:
        running = {pool.submit(run, p, [*arguments.words, *(chosen or {}).get(p.package, [])], arguments.threads, outputs / f"{p.name}.txt"): p for p in programs}
        for future in as_completed(running):
            program, (status, output, took) = running[future], future.result()
            seconds[program.name] = round(took, 2)
            print(f"{program.title}, {took:.1f} s", flush=True)
            counts = RESULT.findall(output)
            if status == 0 and counts:
                print("\n".join(line for line in output.splitlines() if line.startswith("test result:")), flush=True)
            else:
                print(output + f"ended with status {status}", flush=True)
                failed.append(program.title)
            passed += sum(int(count[0]) for count in counts)
            ignored += sum(int(count[2]) for count in counts)
    kept.write_text(json.dumps(seconds, indent=1, sort_keys=True))
    print(f"{len(programs)} test programs: {passed} tests passed, {ignored} ignored" + "".join(f"\nFAILED: {title}" for title in failed))
    sys.exit(1 if failed else 0)


main()
