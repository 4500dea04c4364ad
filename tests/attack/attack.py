"""Opens every hostile document with the command line, each command in a process of its own, and says what went wrong.

    python3 tests/attack/attack.py target/release/superstep [--only TEXT] [--jobs N] [--every N] [--quick SECONDS]

Wrong is: an end by a signal, the text of a panic, more memory than LIMIT over a harmless document, more than two seconds
of work (`--quick`) for a command that runs nothing, or no end within LONGEST seconds. What a document is refused for is not looked at.
"""

import argparse
import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import corpus

MB = 1024 * 1024
LONGEST = 60
LIMIT = 512 * MB
# Commands by name; those that run nothing must be quick.
COMMANDS = {
    "check": ["check", "graph.json", "--json"],
    "draw": ["export", "graph.json", "--format", "mermaid"],
    "input": ["export", "graph.json", "--format", "input-schema"],
    "run": ["run", "graph.json", "--db", "memory:", "--input", "{}"],
}


def resident(group):
    """Bytes in memory of all processes of a group."""
    total = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            total += int(fields[21]) * resource.getpagesize()
    return total


def started(program, words, folder):
    """How a command ends: (what it says, most bytes in memory, seconds of work, seconds)."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "SUPERSTEP_DATA": os.path.join(folder, ".data"), "RUST_BACKTRACE": "0"}
    said = tempfile.TemporaryFile()
    began = time.monotonic()
    child = subprocess.Popen(
        [program, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
    )
    most, ended, usage, wait = 0, None, None, 0.005
    while ended is None:
        time.sleep(wait)
        wait = min(wait * 1.5, 0.1)
        most = max(most, resident(child.pid))
        if most > 4 * LIMIT or time.monotonic() - began > LONGEST:
            os.kill(child.pid, signal.SIGKILL)
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid:
            ended, usage = os.waitstatus_to_exitcode(status), used
    child.returncode = ended
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    said.seek(0)
    text = said.read(4 * MB).decode("utf-8", "replace")
    return ended, text, max(most, usage.ru_maxrss * 1024), usage.ru_utime + usage.ru_stime, time.monotonic() - began


def wrong(command, quick, idle, ended, text, memory, work, seconds):
    """What is wrong with how a command ended, or nothing."""
    if seconds > LONGEST:
        return f"no end within {LONGEST} s"
    if memory > idle + 4 * LIMIT:
        return f"stopped at {memory // MB} MB"
    if ended < 0:
        return f"ended by signal {-ended}: {text[-300:]}"
    for mark in ("panicked at", "overflowed its stack", "memory allocation of"):
        if mark in text:
            return text[max(0, text.index(mark) - 100) :][:300]
    if ended not in (0, 1, 2, 3):
        return f"exit code {ended}: {text[-300:]}"
    if memory > idle + LIMIT:
        return f"{memory // MB} MB, {idle // MB} MB without the document"
    if command != "run" and work > quick:
        return f"{work:.1f} s of work"
    return None


def tried(program, name, files, idle, quick):
    """Everything that is wrong with what a document does."""
    found = []
    folder = tempfile.mkdtemp(prefix="attack-")
    try:
        corpus.write(folder, files)
        for command, words in COMMANDS.items():
            problem = wrong(command, quick, idle, *started(program, words, folder))
            if problem:
                found.append((name, command, " ".join(problem.split())))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program")
    options.add_argument("--only", default="", help="cases whose name has this text")
    options.add_argument("--quick", type=float, default=2.0, help="seconds of work for a command that runs nothing")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--every", type=int, default=1, help="only each Nth case")
    given = options.parse_args()
    program = os.path.abspath(given.program)
    chosen = [case for case in corpus.cases() if given.only in case[0]][:: given.every]
    if not chosen:
        sys.exit(f"no case has '{given.only}' in its name")
    folder = tempfile.mkdtemp(prefix="attack-")
    corpus.write(folder, {"graph.json": corpus.graph()})
    ended, text, idle, _, _ = started(program, COMMANDS["run"], folder)
    shutil.rmtree(folder)
    if ended != 0:
        sys.exit(f"the harmless document does not run: {text}")
    found = []
    with ThreadPoolExecutor(given.jobs) as pool:
        for number, problems in enumerate(pool.map(lambda case: tried(program, *case, idle, given.quick), chosen), 1):
            for name, command, problem in problems:
                print(f"{name}: {command}: {problem}", flush=True)
            found += problems
            if number % 50 == 0:
                print(f"[{number}/{len(chosen)}]", file=sys.stderr, flush=True)
    print(f"{len(chosen)} documents, {len(chosen) * len(COMMANDS)} processes, {len(found)} wrong")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
