"""Follows each recipe of CONTRIBUTING.md with an example, and compares the files that change with those it names.

    python3 tests/recipes/recipes.py            in memory: every place of the recipe is where it was, no file is missing
    python3 tests/recipes/recipes.py --compile  in a copy of the tree, which is compiled: nothing else has to change

An example is a list of edits. An edit names its file and the line that it follows; when that line is gone or is there
twice, the code has moved: correct the edit here, and the recipe if it names the wrong file now.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from examples import RECIPES, Behind, Made, Written

ROOT = Path(__file__).resolve().parents[2]
# What a recipe names besides: examples, recordings and tests, which are the author's to choose.
CHOSEN = ("graphs/", "tests/")
FOLDERS = ("crates/", "docs/", "src-tauri/", "ui/") + CHOSEN


@dataclass
class Outcome:
    changed: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)


def named(recipe):
    """The files that the recipe names, with the example's names for those in capitals."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, found, section = page.partition(f"\n## {recipe.heading}\n")
    if not found:
        return None
    section = section.split("\n## ")[0]
    files = set()
    for token in re.findall(r"`([^`\n]+)`", section):
        if token.startswith(FOLDERS) and "." in token and not token.startswith(CHOSEN):
            for placeholder, name in recipe.names.items():
                token = token.replace(placeholder, name)
            files.add(token)
    return files


def follow(recipe):
    """Makes the edits of the example, in memory."""
    outcome = Outcome()

    def text_of(path):
        if path in outcome.changed:
            return outcome.changed[path]
        file = ROOT / path
        return file.read_text(encoding="utf-8") if file.exists() else None

    for edit in recipe.edits:
        before = text_of(edit.path)
        if isinstance(edit, Written):
            if before is not None:
                outcome.problems.append(f"{edit.path} is to be new, and is there already.")
            outcome.changed[edit.path] = edit.text
            continue
        if isinstance(edit, Made):
            outcome.changed[edit.path] = None
            continue
        count = 0 if before is None else before.count(edit.anchor)
        if count != 1:
            outcome.problems.append(f"{edit.path} has this {count} times and not once: {edit.anchor.strip()!r}")
            continue
        kept = edit.anchor if isinstance(edit, Behind) else ""
        outcome.changed[edit.path] = before.replace(edit.anchor, kept + edit.text)
    return outcome


def compare(recipe, changed):
    files = named(recipe)
    if files is None:
        return [f"CONTRIBUTING.md has no {recipe.heading!r}."]
    return [f"{path} changes, and the recipe does not name it." for path in sorted(changed - files)] + [
        f"The recipe names {path}, and it does not change." for path in sorted(files - changed)
    ]


def copied(folder):
    """The files that git has, as they are now."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    modules = ROOT / "ui/node_modules"
    if modules.exists():
        (folder / "ui/node_modules").symlink_to(modules)


def run(folder, command):
    target = os.environ.get("CARGO_TARGET_DIR") or str(ROOT / "target")
    place = folder / command.folder
    done = subprocess.run(
        command.words, cwd=place, env={**os.environ, "CARGO_TARGET_DIR": target, **command.variables},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    if done.returncode == 0:
        return []
    return [f"`{' '.join(command.words)}` fails with the example:\n{done.stdout[-4000:]}"]


def compiled(recipe, outcome):
    """Writes the example into a copy, runs what compiles it and makes its files, and says what else has changed."""
    with tempfile.TemporaryDirectory(prefix="superstep-recipe-") as name:
        folder = Path(name)
        copied(folder)
        for path, text in outcome.changed.items():
            if text is not None:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, encoding="utf-8")
        problems = []
        for command in recipe.commands:
            problems += run(folder, command)
        for path, text in outcome.changed.items():
            before = ROOT / path
            made = folder / path
            if text is None and recipe.makes and (not made.exists() or before.exists() and made.read_bytes() == before.read_bytes()):
                problems.append(f"{path} is to be written by ./dev generate, and is not.")
        return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compile", action="store_true", help="compile each example in a copy of the tree")
    parser.add_argument("--only", default="", help="recipes with this in their heading")
    options = parser.parse_args()
    failed = 0
    for recipe in RECIPES:
        if options.only not in recipe.heading:
            continue
        outcome = follow(recipe)
        problems = outcome.problems + compare(recipe, set(outcome.changed))
        if options.compile and not problems:
            problems = compiled(recipe, outcome)
        print(f"{'FAILED' if problems else 'ok':7}{recipe.heading}: {len(outcome.changed)} files")
        for problem in problems:
            print(f"       {problem}")
        failed += bool(problems)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
