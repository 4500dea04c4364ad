"""Says what of `./dev test` the changed files can reach, and what is left out.

Usage: changed.py [BASE] [--files FILE ...] | --begin-record

Changed is what differs from BASE (without it, from where this branch left `main`), committed or not. A crate reaches its own
tests, all crates that stand on it, and the programs that are made of them. What belongs to no crate is in the table below.
Stories are reached by the functions of the server and of the interface that they ran when that was recorded last
(`./dev test browser --record`; tests/e2e/reach.ts writes it); without such a record by all of it.

The plan is put into the build folder (`changed/`) for `dev`: a file for each part that is run. What it means is printed.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
EVERYTHING = "everything"

# What belongs to no crate: the tests that read it, as package and words of their names. Longer paths are looked up first.
# "stories", "window" and "interface" are parts of their own.
READ_BY = {
    "Cargo.lock": EVERYTHING,
    "Cargo.toml": EVERYTHING,
    ".cargo/": EVERYTHING,
    "dev": [("superstep-acceptance", ["setup::", "pages::"])],
    "docs/": [("superstep-acceptance", ["pages::", "finding::"]), ("superstep-document", ["schema::"]), ("superstep-nodes", ["page::"])],
    "graphs/": [
        *((f"superstep-{name}", []) for name in ("acceptance", "cli", "document", "nodes", "server", "workbench")),
        "stories",
        "window",
    ],
    "src-tauri/": [("superstep-desktop", []), ("superstep-acceptance", []), "window"],
    "tauri.conf.json": [("superstep-desktop", []), "window"],
    "tauri.dev.conf.json": [],
    "tests/attack/": [],
    "tests/e2e/": ["stories"],
    "tests/gate/": EVERYTHING,
    "tests/mutants/": [],
    "tests/package/": [],
    "tests/patches/": [("superstep-document", ["patches::"])],
    "tests/peers/": [],
    "tests/recipes/": [("superstep-acceptance", ["pages::"])],
    "tools/": [("superstep-acceptance", ["finding::"])],
    "findings/": [],
    "ui/": [
        "interface",
        "stories",
        "window",
        ("superstep-acceptance", ["texts::", "naming::", "pages::", "layers::", "finding::"]),
        ("superstep-nodes", ["texts::"]),
        ("superstep-workbench", ["typescript"]),
    ],
}
# At the top: read by a person, and by the tests of the pages.
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE-MIT", "LICENSE-APACHE")
IGNORED = (".gitignore", ".taurignore", ".ci/run", "clippy.toml", "deny.toml", "rustfmt.toml")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]


def where_it_left(base):
    if base is None:
        for name in ("origin/main", "main"):
            found = subprocess.run(["git", "merge-base", "HEAD", name], cwd=ROOT, capture_output=True, text=True)
            if found.returncode == 0:
                base = found.stdout.strip()
                break
        else:
            sys.exit("There is no branch `main` to compare with. Name one: ./dev test --changed BASE")
    return base


def changed_since(base):
    return sorted({*git("diff", "--name-only", "-z", base), *git("ls-files", "-z", "--others", "--exclude-standard")})


class Crates:
    """The packages of the workspace: where each lies, and which stand on which."""

    def __init__(self):
        command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked", "--offline"]
        packages = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)["packages"]
        self.folders = {os.path.relpath(Path(p["manifest_path"]).parent, ROOT) + "/": p["name"] for p in packages}
        self.folders.pop("./", None)
        self.linked, self.tested = {}, {}
        for package in packages:
            for dependency in package["dependencies"]:
                if dependency.get("path"):
                    which = self.tested if dependency["kind"] == "dev" else self.linked
                    which.setdefault(dependency["name"], set()).add(package["name"])

    def at(self, path):
        """The package that a path belongs to, and whether the path is only of its tests."""
        for folder, name in self.folders.items():
            if path.startswith(folder):
                return name, path[len(folder):].startswith(("tests/", "examples/", "README.md"))
        return None, False

    def standing_on(self, package):
        """All that are made of a package."""
        found, queue = {package}, [package]
        while queue:
            for above in self.linked.get(queue.pop(), ()):
                if above not in found:
                    found.add(above)
                    queue.append(above)
        return found

    def tests_of(self, packages):
        """Those that are tested with them, too."""
        return packages | {tester for package in packages for tester in self.tested.get(package, ())}


class Stories:
    """What the stories ran of the interface in the recorded run: of each file the lines at which functions begin."""

    def __init__(self):
        self.ran, self.kept, self.server, self.functions = {}, {}, {}, {}
        # A story that is told since then has no record, and is reached by everything.
        self.unknown = set()
        folder = TARGET / "reach"
        if not (folder / "sources.json").exists():
            return
        self.kept = json.loads((folder / "sources.json").read_text())
        for file in folder.glob("story-*.json"):
            story = json.loads(file.read_text())
            # One line of a file may tell a story several times, with other examples.
            ran = self.ran.setdefault(story["id"], {})
            for source, lines in story["ran"].items():
                ran.setdefault(source, set()).update(lines)
            served = self.server.setdefault(story["id"], {})
            for source, spans in story.get("server", {}).items():
                served.setdefault(source, set()).update(map(tuple, spans))
        spans = TARGET / "debug/superstep.spans.json"
        if any(self.server.values()) and spans.exists():
            for source, first, last in json.loads(spans.read_text()).values():
                self.functions.setdefault(source, set()).add((first, last))
        for file in (ROOT / "tests/e2e").glob("*.spec.ts"):
            for number, line in enumerate(file.read_text().split("\n"), 1):
                if re.match(r"\s*test\((?!\.)", line) and f"{file.name}:{number}" not in self.ran:
                    self.unknown.add(f"{file.name}:{number}")

    def changed(self):
        """Files of the interface that are other ones than at that run."""
        return {p for p, digest in self.kept.items() if not (ROOT / p).exists() or digest_of((ROOT / p).read_bytes()) != digest}

    def running(self, path):
        """Stories that ran anything of a file."""
        return {story for kind in (self.ran, self.server) for story, ran in kind.items() if path in ran}

    def reached_by(self, path, base):
        """Stories that ran a function of what a changed line stands in. A value or a class is seen by all that takes it."""
        before = subprocess.run(["git", "show", f"{base}:{path}"], cwd=ROOT, capture_output=True).stdout
        ranges = None
        if self.kept.get(path) == digest_of(before):
            ranges = functions_around(before.decode().split("\n"), changed_lines(base, path))
        if ranges is not None:
            found = {s for s, ran in self.ran.items() if any(a <= line < b for a, b in ranges for line in ran.get(path, ()))}
        else:
            files = {path, *importers(path)}
            found = {story for story, ran in self.ran.items() if not files.isdisjoint(ran)}
        return found | self.unknown

    def reached_in_server(self, path, base):
        """The same for a file of a crate. What stands in no function, or in one that the compiler runs, can reach everything."""
        text = subprocess.run(["git", "show", f"{base}:{path}"], cwd=ROOT, capture_output=True).stdout
        if path not in self.functions:
            return {EVERYTHING}
        if self.kept.get(path) != digest_of(text):
            return self.running(path) | self.unknown
        before, found = text.decode().split("\n"), set()
        for line in changed_lines(base, path):
            around = {(first, last) for first, last in self.functions[path] if first <= line < last}
            if not around or any("const fn" in before[first - 1] for first, _ in around):
                return {EVERYTHING}
            found |= {story for story, ran in self.server.items() if not around.isdisjoint(ran.get(path, ()))}
        return found | self.unknown


def digest_of(content):
    return hashlib.sha256(content).hexdigest()


FUNCTION = re.compile(r"(export )?(default )?(async )?function\b|(export )?const \w+ = (async )?(\(.*=>|function\b|memo\(|forwardRef\()")


def functions_around(text, lines):
    """Where the functions of the module begin and end that the lines are in; nothing when one is in none."""
    outside = [at for at, line in enumerate(text) if line and line[0] not in " \t})]"]
    ranges = set()
    for line in lines:
        begun = max((at for at in outside if at < line), default=None)
        if begun is None or not FUNCTION.match(text[begun]):
            return None
        ranges.add((begun + 1, min((at for at in outside if at > begun), default=len(text)) + 1))
    return ranges or None


def importers(path):
    """Files that take something of this one, themselves or through an index."""
    found, queue = set(), [path]
    while queue:
        name = re.sub(r"(/index)?\.tsx?$", "", queue.pop())
        stem = re.escape(name.rsplit("/", 1)[-1])
        listed = subprocess.run(
            ["git", "grep", "-lE", rf"(from|import\(?) ?[\"'][^\"']*/?{stem}[\"']", "--", "ui/src/*.ts", "ui/src/*.tsx"],
            cwd=ROOT, capture_output=True, text=True,
        ).stdout.split()
        for file in listed:
            if file not in found:
                found.add(file)
                if file.endswith("/index.ts"):
                    queue.append(file)
    return found


def changed_lines(base, path):
    """Numbers of the lines that were there before and are other ones or gone, and of those behind which some are new."""
    diff = subprocess.run(["git", "diff", "-U0", base, "--", path], cwd=ROOT, capture_output=True, text=True).stdout
    lines = []
    for start, count in re.findall(r"^@@ -(\d+)(?:,(\d+))? \+\S+ @@", diff, re.M):
        lines += range(int(start), int(start) + max(1, int(count or 1)))
    return lines


def plan(paths, base):
    crates, stories = Crates(), Stories()
    packages, chosen, parts, related, wanted = set(), {}, set(), [], set()
    fallback = None
    stale = stories.changed().difference(paths)
    paths = sorted({*paths, *(p for p in stale if p.startswith("ui/"))}) if any(p.startswith("ui/") for p in paths) else paths
    for path in paths:
        package, only_tests = crates.at(path)
        if path in IGNORED:
            continue
        if path in PAGES or (path.endswith("README.md") and package):
            readers = READ_BY["docs/"][:1]
            if package == "superstep":
                readers = [*readers, ("superstep", [])]
        elif package:
            reached = {package} if only_tests else crates.standing_on(package)
            packages |= crates.tests_of(reached) if not only_tests else reached
            # Rules that hold for all sources: who may name whom, names, texts.
            readers = [("superstep-acceptance", [])]
            if "superstep-cli" in reached and not only_tests:
                parts.add("stories")
                wanted |= stories.reached_in_server(path, base)
            parts |= ({"window"} if reached & {"superstep-desktop", "superstep-window-test"} else set())
        else:
            key = max((k for k in READ_BY if path == k or (k.endswith("/") and path.startswith(k))), key=len, default=None)
            readers = READ_BY.get(key, EVERYTHING)
        if readers == EVERYTHING:
            fallback = path
            break
        for reader in readers:
            if isinstance(reader, str):
                parts.add(reader)
            else:
                chosen.setdefault(reader[0], []).append(reader[1])
        if path.startswith("tests/e2e/") and path.endswith(".spec.ts"):
            wanted.add("file:" + path.removeprefix("tests/e2e/"))
        elif path.startswith("ui/src/") and path.endswith((".ts", ".tsx")) and ".test." not in path and (ROOT / path).exists():
            related.append(path.removeprefix("ui/"))
            wanted |= stories.reached_by(path, base) if stories.ran else {EVERYTHING}
        elif path.startswith("ui/src/") and ".test." in path:
            related.append(path.removeprefix("ui/"))
        elif path.startswith(("ui/", "tests/e2e/", "graphs/")):
            wanted.add(EVERYTHING)
            related.append(EVERYTHING)
    if fallback:
        return {"everything": fallback}
    # Stories that ran a file which is another one since the record may run something else by now.
    if "stories" in parts and EVERYTHING not in wanted:
        wanted |= {story for path in stale for story in stories.running(path)}
    # A package that is reached as a whole is not asked for only some of its tests.
    programs = {name: [] for name in packages}
    for name, filters in chosen.items():
        if name not in programs:
            programs[name] = [] if [] in filters else sorted({word for words in filters for word in words})
    if EVERYTHING in wanted or "stories" not in parts:
        wanted = sorted(wanted & {EVERYTHING})
    return {
        "programs": programs,
        # No file means all of them.
        "interface": ([] if EVERYTHING in related else related) if "interface" in parts else None,
        "stories": sorted(one.removeprefix("file:") for one in wanted) if "stories" in parts and wanted else None,
        "window": "window" in parts,
        "packages": len(crates.folders) + 1,
    }


def explain(chosen, paths):
    """What is run and what is left out, in words."""
    if "everything" in chosen:
        print(f"Everything is tested: {chosen['everything']} reaches all of it, or nobody has said what it reaches.")
        return
    print(f"{len(paths)} changed {'file' if len(paths) == 1 else 'files'}.")
    programs = chosen["programs"]
    whole, some = [n for n, words in programs.items() if not words], [n for n, words in programs.items() if words]
    print("Rust, whole:   ", ", ".join(sorted(whole)) or "nothing")
    if some:
        print("Rust, in part: ", ", ".join(f"{name} ({' '.join(programs[name])})" for name in sorted(some)))
    left = chosen["packages"] - len(programs)
    interface = "nothing" if chosen["interface"] is None else "all unit tests" if not chosen["interface"] else "unit tests that reach what changed"
    stories = "none" if chosen["stories"] is None else "all" if EVERYTHING in chosen["stories"] else f"{len(chosen['stories'])} files or stories"
    print(f"Interface:      {interface}\nStories:        {stories}\nWindow:         {'yes' if chosen['window'] else 'no'}")
    out = [f"the tests of {left} packages"] if left else []
    out += [name for name, there in (("the interface", chosen["interface"]), ("the stories", chosen["stories"])) if there is None]
    out += [] if chosen["window"] else ["the window"]
    if chosen["stories"] and EVERYTHING not in chosen["stories"]:
        out.append("the stories that run nothing of it")
    print("Left out:      ", ", ".join(out) or "nothing")


def write(chosen):
    folder = TARGET / "changed"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    if "everything" in chosen:
        (folder / "everything").touch()
        return
    (folder / "programs.json").write_text(json.dumps(chosen["programs"]))
    for part in ("interface", "stories"):
        if chosen[part] is not None:
            (folder / part).write_text("".join(f"{one}\n" for one in chosen[part] if one != EVERYTHING))
    if chosen["window"]:
        (folder / "window").touch()


def begin_record():
    """Throws the last record away, and writes down of which files the next one will be."""
    folder = TARGET / "reach"
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    sources = [p for kind in ("ts", "tsx") for p in (ROOT / "ui/src").rglob(f"*.{kind}") if ".test." not in p.name]
    sources += (ROOT / "crates").glob("*/src/**/*.rs")
    digests = {str(p.relative_to(ROOT)): digest_of(p.read_bytes()) for p in sources}
    (folder / "sources.json").write_text(json.dumps(digests))


def main():
    words = sys.argv[1:]
    if words == ["--begin-record"]:
        begin_record()
        return
    at = words.index("--files") if "--files" in words else len(words)
    base = where_it_left(words[0] if at > 0 else None)
    paths = words[at + 1:] or changed_since(base)
    chosen = plan(paths, base)
    explain(chosen, paths)
    write(chosen)


main()
