"""Finds the source files that words lead to: `./dev where closed pipe`.

Every file here says in its first comment what is in it, and every item says what it is or does. This reads those comments and the
names, weighs each word by how rare it is, and prints the best files with their best item. Nothing is kept that could grow old.
"""

import math
import os
import re
import subprocess
import sys

SOURCES = re.compile(r"^(crates|src-tauri|ui/src|tests|graphs)/.*\.(rs|tsx?|py|lua|sql|css|mjs)$|^dev$")
LEFT_OUT = re.compile(r"/bindings/|/lib/texts/|/fixtures/|\.test\.tsx?$|/migrations/")
ITEM = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))?\s+|export\s+|default\s+|async\s+|const\s+(?=fn)|unsafe\s+)*"
    r"(?:fn|struct|enum|trait|type|const|static|mod|function|interface|class|def|let)\s+([A-Za-z_]\w+)"
)
PYTHON_ITEM = re.compile(r"^(?:async )?(?:def|class) (\w+)", re.MULTILINE)
COMMENT = re.compile(r"^\s*(?:///|//!|//|/\*\*?|\*/|\*(?= |$)|--|#(?!\[))\s?")
# Words that say nothing about a place.
EMPTY = set("a an and are as at be by for from how in is it its of on or that the to what when where which with".split())
PLACES = {"path": 4.0, "head": 3.0, "name": 2.0, "doc": 1.5}


def words_of(text):
    """Gives the words of a text or a name, lower case, without endings."""
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return [stem(word) for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in EMPTY]


def stem(word):
    """Takes a usual ending away, so that `exported`, `exports` and `exporting` are one word."""
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "es", "ed", "er", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def read(path):
    """Reads a file's first comment, and its items with their line, name and comment."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if path.endswith(".py"):
        docstring = re.match(r'(?:#!.*\n)?"""(.*?)"""', text, re.DOTALL)
        head = docstring.group(1) if docstring else ""
        return " ".join(head.split()), [(text[: m.start()].count("\n") + 1, m.group(1), "") for m in PYTHON_ITEM.finditer(text)]
    head, items, comment, begun = [], [], [], False
    for number, line in enumerate(text.split("\n"), 1):
        if COMMENT.match(line):
            comment.append(COMMENT.sub("", line).replace("*/", "").strip())
            continue
        if not begun and (line.strip() or head == []):
            begun, head = bool(comment or line.strip()), comment
            comment = comment if ITEM.match(line) else []
        item = ITEM.match(line)
        if item:
            items.append((number, item.group(1), " ".join(comment)))
        if not line.strip().startswith(("#[", "@")):
            comment = []
    return " ".join(head), items


def weight_in(places, word):
    """Gives the weight of the best place that has the word, 0 where none has it."""
    return max((PLACES[place] for place, words in places.items() if word in words), default=0)


def main():
    wanted = [word for text in sys.argv[1:] for word in words_of(text)]
    if not wanted:
        sys.exit("Say what you look for: ./dev where prompt changes")
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    paths = [path for path in listed if SOURCES.search(path) and not LEFT_OUT.search(path)]
    read_files = [(path, *read(path)) for path in paths if os.path.exists(path)]
    known = []
    for path, head, items in read_files:
        own = {"path": set(words_of(path)), "head": set(words_of(head))}
        parts = [(item, {"name": set(words_of(item[1])), "doc": set(words_of(item[2]))}) for item in items]
        known.append((path, head, own, parts))
    said = {word: sum(any(weight_in(p, word) for p in (own, *(part for _, part in parts))) for _, _, own, parts in known) for word in wanted}
    rare = {word: math.log(1 + len(known) / (1 + said[word])) for word in wanted}

    def best_of(own, parts):
        """Gives the score of a file with the item that adds most to it."""
        best = (0.0, None)
        for item, part in [(None, {}), *parts]:
            weights = {word: max(weight_in(own, word), weight_in(part, word)) + 0.5 * weight_in(part, word) for word in wanted}
            covered = sum(1 for weight in weights.values() if weight) / len(wanted)
            score = covered * sum(rare[word] * weight for word, weight in weights.items())
            best = max(best, (score, item), key=lambda pair: pair[0])
        return best

    about_tests = any(word in ("test", "spec", "bench") for word in wanted)
    ranked = []
    for path, head, own, parts in known:
        score, item = best_of(own, parts)
        if not about_tests and re.search(r"(^|/)(tests?|examples|bench)(/|\.rs$)", path):
            score *= 0.5
        ranked.append((score, path, head, item))
    ranked = sorted((entry for entry in ranked if entry[0] > 0), key=lambda entry: (-entry[0], entry[1]))[:8]
    if not ranked:
        sys.exit("No file says any of these words. Other words may be in the glossary of ARCHITECTURE.md.")
    for _, path, head, item in ranked:
        print(f"{path}\n    {head.split('. ')[0][:150]}")
        if item:
            print(f"    :{item[0]} {item[1]}  {item[2][:110]}".rstrip())


main()
