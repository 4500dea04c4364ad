"""Finds the source files that words lead to: `./dev where closed pipe`.

Every file here says in its first comment what is in it, and every item says what it is or does. This reads those comments and the
names, weighs each word by how rare it is, and prints the best files with their best item. Nothing is kept that could grow old.
"""

import math
import re
import subprocess
import sys
from collections import defaultdict

SOURCES = re.compile(r"^(crates|src-tauri|ui/src|tests|graphs|tools)/.*\.(rs|tsx?|py|lua|sql|css|mjs)$|^dev$")
LEFT_OUT = re.compile(r"/bindings/|/lib/texts/|/fixtures/|\.test\.tsx?$|/migrations/")
ITEM = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))?\s+|export\s+|default\s+|async\s+|const\s+(?=fn)|unsafe\s+)*"
    r"(?:fn|struct|enum|trait|type|const|static|mod|function|interface|class|def|let)\s+([A-Za-z_]\w+)"
)
COMMENT = re.compile(r"^\s*(?:///|//!|//|/\*\*?|\*/|\*|--|#+|\"\"\")\s?")
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
    head, items, comment, begun = [], [], [], False
    with open(path, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text.startswith(("//", "/*", "*", "--", "#!", '"""')) or (not begun and path.endswith(".py") and head):
                comment.append(COMMENT.sub("", line).strip().rstrip('*/"').strip())
                if not begun:
                    head.append(comment[-1])
                if not path.endswith(".py") or text.endswith('"""'):
                    continue
            elif not begun and text:
                begun = True
                comment = [] if path.endswith((".rs", ".ts", ".tsx")) and not ITEM.match(line) else comment
            item = ITEM.match(line)
            if item and begun:
                items.append((number, item.group(1), " ".join(comment)))
            if text and not text.startswith(("#[", "@")):
                comment = []
    return " ".join(head), items


def main():
    wanted = [word for text in sys.argv[1:] for word in words_of(text)]
    if not wanted:
        sys.exit("Say what you look for: ./dev where prompt changes")
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    paths = [path for path in listed if SOURCES.search(path) and not LEFT_OUT.search(path)]
    found, files_with = {}, defaultdict(int)
    for path in paths:
        try:
            head, items = read(path)
        except FileNotFoundError:
            continue
        places = {"path": set(words_of(path)), "head": set(words_of(head)), "name": set(), "doc": set()}
        for _, name, doc in items:
            places["name"].update(words_of(name))
            places["doc"].update(words_of(doc))
        weights = {word: max((PLACES[place] for place, words in places.items() if word in words), default=0) for word in wanted}
        for word, weight in weights.items():
            files_with[word] += weight > 0
        if any(weights.values()):
            found[path] = (weights, head, items)
    rare = {word: math.log(1 + len(paths) / (1 + files_with[word])) for word in wanted}

    def score(weights):
        known = sum(1 for weight in weights.values() if weight)
        return sum(rare[word] * weight for word, weight in weights.items()) * (known / len(weights))

    ranked = sorted(found.items(), key=lambda entry: (-score(entry[1][0]), entry[0]))[:8]
    if not ranked:
        sys.exit("No file says any of these words. Other words may be in the glossary of ARCHITECTURE.md.")
    for path, (_, head, items) in ranked:
        print(f"{path}\n    {head.split('. ')[0][:150]}")
        best = max(items, key=lambda item: sum(rare[w] for w in set(wanted) & set(words_of(item[1] + " " + item[2]))), default=None)
        if best and set(wanted) & set(words_of(best[1] + " " + best[2])):
            print(f"    :{best[0]} {best[1]}  {best[2][:110]}".rstrip())


main()
