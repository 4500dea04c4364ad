"""Random mutants of a crate, all in one build: which of them do the tests notice?

Usage: run.py PACKAGE COUNT SEED PLACE. PLACE is a folder for a changed copy of the workspace and its build.

Tests run one to a process. A first round finds the tests that reach each mutant; then each mutant runs those, the ones
that reach little else first, until one fails or takes too long. A test that fails is run again, since it could fail by
itself.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from source import rewritten, switch

# Packages whose tests count too, where a package is driven by them.
DRIVEN_BY = {
    "superstep": ["superstep-suites", "superstep-conformance"],
    "superstep-workbench": ["superstep-cli", "superstep-server"],
    "superstep-storage": ["superstep-storage-tests"],
}

# Seconds that a test may take without a mutant.
LONGEST = 300

Test = namedtuple("Test", "program folder name")


class Copy:
    """A copy of the workspace that holds the mutants."""

    def __init__(self, place):
        self.root, self.target = place / "workspace", place / "build"
        usual = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
        if not self.target.exists() and (usual / "debug").exists():
            # What does not belong to the workspace needs no second build. cargo writes some files in place: no links there.
            self.target.mkdir(parents=True)
            subprocess.run(["cp", "-al", usual / "debug", self.target / "debug"], check=True)
            for written in (".fingerprint", "build"):
                shutil.rmtree(self.target / "debug" / written)
                shutil.copytree(usual / "debug" / written, self.target / "debug" / written, symlinks=True)
        # Programs that tests look for beside the build.
        for programs in ("mcp-servers", "conformance"):
            where = self.root / "target" / programs
            if (usual / programs).exists() and not where.exists():
                where.parent.mkdir(parents=True, exist_ok=True)
                where.symlink_to((usual / programs).resolve())

    def fill(self, changed):
        """Copies what git knows of, with the texts of `changed` in place of their files'."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=True
        ).stdout.decode().split("\0")
        names = {name for name in listed if name and os.path.isfile(name)}
        for old in self.root.rglob("*"):
            name = old.relative_to(self.root)
            if name.parts[0] != "target" and old.is_file() and str(name) not in names:
                old.unlink()
        for name in names:
            path = self.root / name
            content = changed[name].encode() if name in changed else Path(name).read_bytes()
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                shutil.copymode(name, path)

    def cargo(self, *arguments):
        """Runs cargo there; whether it succeeded, and its messages."""
        done = subprocess.run(
            ["cargo", *arguments, "--message-format=json"],
            cwd=self.root,
            env={**os.environ, "CARGO_TARGET_DIR": str(self.target)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode and not any(message["reason"] == "compiler-message" for message in messages):
            sys.exit(done.stderr)
        return done.returncode == 0, messages

    def tests(self, packages):
        """Builds the tests of these packages: all of them, or `None` and the messages of the compiler."""
        options = [part for package in packages for part in ("-p", package)]
        built, messages = self.cargo("test", "--no-run", "--lib", "--bins", "--tests", *options)
        if not built:
            return None, [message["message"] for message in messages if message["reason"] == "compiler-message"]
        found = []
        for message in messages:
            if message["reason"] != "compiler-artifact" or not message["profile"]["test"] or not message["executable"]:
                continue
            folder = Path(message["manifest_path"]).parent
            listed = subprocess.run(
                [message["executable"], "--list", "--format", "terse"], cwd=folder, capture_output=True, text=True, check=True
            ).stdout.splitlines()
            names = [line.removesuffix(": test") for line in listed if line.endswith(": test")]
            found += [Test(message["executable"], folder, name) for name in names]
        return found, []


def spans(message):
    """Every place that a message of the compiler is about, the nearest first."""
    for span in sorted(message["spans"], key=lambda span: not span["is_primary"]):
        while span:
            yield span["file_name"], span["line_start"]
            span = (span["expansion"] or {}).get("span")
    for child in message["children"]:
        yield from spans(child)


def faulty(messages, places):
    """The mutants that do not compile."""
    found = set()
    for message in messages:
        if message["level"] != "error" or message["message"].startswith("aborting due to"):
            continue
        hit = [
            numbers
            for file, line in spans(message)
            for first, last, numbers in places.get(file, [])
            if first <= line <= last
        ]
        if not hit:
            sys.exit(f"This belongs to no mutant:\n{message['rendered']}")
        found.update(next((numbers for numbers in hit if len(numbers) == 1), hit[0]))
    return found


def prepared(copy, package, count, seed):
    """Writes `count` mutants that compile into the copy: {number: mutant}, the tests, and how many do not compile."""
    listed = subprocess.run(["cargo", "mutants", "--list", "--json", "-p", package], capture_output=True, check=True)
    mutants = json.loads(listed.stdout)
    random.Random(seed).shuffle(mutants)
    # Outside of functions nothing can switch, and tests are not what is asked about.
    waiting = [mutant for mutant in mutants if mutant["function"] and Path(mutant["file"]).name != "tests.rs"]
    metadata = json.loads(subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version=1"], capture_output=True, check=True
    ).stdout)
    manifest = next(entry for entry in metadata["packages"] if entry["name"] == package)
    roots = [
        os.path.relpath(target["src_path"]) for target in manifest["targets"] if {"lib", "bin"} & set(target["kind"])
    ]
    chosen, last, unviable = {}, 0, 0
    while True:
        while len(chosen) < count and waiting:
            chosen[last] = waiting.pop(0)
            last += 1
        changed, places = {}, {}
        for file in {mutant["file"] for mutant in chosen.values()}:
            inside = {number: mutant for number, mutant in chosen.items() if mutant["file"] == file}
            changed[file], places[file] = rewritten(Path(file).read_text(encoding="utf-8"), inside)
        for root in roots:
            changed[root] = changed.get(root, Path(root).read_text(encoding="utf-8")) + switch(last)
        copy.fill(changed)
        tests, messages = copy.tests([package])
        if tests is not None:
            return chosen, tests, unviable
        wrong = faulty(messages, places)
        for number in wrong:
            del chosen[number]
        unviable += len(wrong)
        print(f"{len(wrong)} do not compile: others instead of them", flush=True)


def passes(test, limit, **variables):
    """Runs one test; whether it passes, and how long it took."""
    started = time.monotonic()
    process = subprocess.Popen(
        [test.program, "--exact", test.name],
        cwd=test.folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        code = None
    try:
        os.killpg(process.pid, signal.SIGKILL)  # With what it left behind.
    except ProcessLookupError:
        pass
    process.wait()
    return code == 0, time.monotonic() - started


def reached(test):
    """The mutants that a test reaches, and how long it takes; `None` when it cannot be used."""
    seconds = 0
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            good, seconds = passes(test, LONGEST, MUTANTS_REACHED=folder)
            if good:
                return {int(name) for name in os.listdir(folder)}, seconds
        if seconds >= LONGEST:
            break
    reason = "takes too long" if seconds >= LONGEST else "fails"
    print(f"left out, since it {reason} without a mutant: {test.name}", flush=True)
    return None


def notices(test, number, usual):
    """Whether a test fails with a mutant, twice, or takes far longer than without it."""
    limit = 30 + 10 * usual
    for _ in range(2):
        good, seconds = passes(test, limit, MUTANT=str(number))
        if good:
            return False
        if seconds >= limit:
            break
    return True


def missed(numbers, tests, report):
    """Those of the mutants that none of the tests notices. `report` is called with each as soon as it is known."""
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        rounds = [(test, result) for test, result in zip(tests, workers.map(reached, tests)) if result]
        rounds.sort(key=lambda found: (len(found[1][0]), found[1][1]))

        def unnoticed(number):
            able = (found for found in rounds if number in found[1][0])
            if any(notices(test, number, seconds) for test, (_, seconds) in able):
                return False
            report(number, sum(number in found[1][0] for found in rounds))
            return True

        return [number for number, quiet in zip(numbers, workers.map(unnoticed, numbers)) if quiet]


def main(package, count, seed, place):
    copy = Copy(Path(place).resolve())
    chosen, tests, unviable = prepared(copy, package, count, seed)
    print(f"{len(chosen)} mutants of {package}, {len(tests)} tests", flush=True)

    def report(number, able):
        print(f"missed by {able} tests: {chosen[number]['name']}", flush=True)

    left = missed(list(chosen), tests, report)
    driving = DRIVEN_BY.get(package, [])
    if left and driving:
        print(f"{len(left)} missed by its own tests; now those of {', '.join(driving)}", flush=True)
        tests, messages = copy.tests(driving)
        if tests is None:
            sys.exit("\n".join(message["rendered"] for message in messages))
        left = missed(left, tests, report)
    print(f"{len(chosen) - len(left)} noticed, {len(left)} missed, {unviable} unviable")


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
