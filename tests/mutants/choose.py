"""Random mutants of a crate: reads `cargo mutants --list --json`, writes the options that try these and no others.

Usage: choose.py COUNT SEED DIFF. The options go to the standard output, one a line; DIFF is a file that they name.
"""

import json
import random
import re
import sys


def diff(chosen):
    """A patch that adds the lines of the chosen mutants: `--re` does not hold for fields of structs, `--in-diff` does."""
    lines = {}
    for mutant in chosen:
        lines.setdefault(mutant["file"], set()).add(mutant["span"]["start"]["line"])
    for file, numbers in sorted(lines.items()):
        text = open(file, encoding="utf-8").read().split("\n")
        yield f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n"
        for added, number in enumerate(sorted(numbers)):
            yield f"@@ -{number - added - 1},0 +{number},1 @@\n+{text[number - 1]}\n"


count, seed, patch = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
mutants = json.load(sys.stdin)
random.Random(seed).shuffle(mutants)
with open(patch, "w", encoding="utf-8") as out:
    out.writelines(diff(mutants[:count]))
print("--in-diff", patch, sep="\n")
for mutant in mutants[:count]:
    print("--re", "^" + re.escape(mutant["name"]).replace("\\ ", " ") + "$", sep="\n")
