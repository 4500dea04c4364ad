"""Sources that hold many mutants at once, each behind a switch at run time.

A mutant is an entry of `cargo mutants --list --json`: a span of a file, the text that replaces it, and the function
around it. Its function begins with `if on(7) { return { <the body with the mutant> }; }`. Copying the body needs no
knowledge of the language: an operator, an arm, a guard and a whole body are all one replacement of text.
"""

import re

# What opens a function's body is the first brace that is part of no comment, attribute text or character.
OPENING = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])'|(\{)""", re.DOTALL)

SWITCH = """
/// Reports which mutant runs: the number in `MUTANT`.
pub(crate) mod mutant_switch {{
    use std::sync::OnceLock;
    use std::sync::atomic::{{AtomicBool, Ordering}};

    static RUNS: OnceLock<usize> = OnceLock::new();
    static REACHED: [AtomicBool; {count}] = [const {{ AtomicBool::new(false) }}; {count}];

    /// Whether this mutant runs. With `MUTANTS_REACHED`, a file of that folder says that this place was reached.
    pub(crate) fn on(number: usize) -> bool {{
        if !REACHED[number].load(Ordering::Relaxed) && !REACHED[number].swap(true, Ordering::Relaxed) {{
            if let Some(folder) = variable("MUTANTS_REACHED") {{
                let _ = std::fs::write(std::path::Path::new(&folder).join(number.to_string()), "");
            }}
        }}
        let number_in = || variable("MUTANT").and_then(|text| text.parse().ok()).unwrap_or(usize::MAX);
        *RUNS.get_or_init(number_in) == number
    }}

    /// A variable of this process, or of the one that started it: helper processes start with few variables.
    fn variable(name: &str) -> Option<String> {{
        std::env::var(name).ok().or_else(|| {{
            let parent = std::os::unix::process::parent_id();
            let all = std::fs::read_to_string(format!("/proc/{{parent}}/environ")).ok()?;
            let value = |one: &str| one.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
            all.split('\\0').find_map(value)
        }})
    }}
}}
"""


def switch(count):
    """The module that the changed functions ask, for `count` mutants."""
    return SWITCH.format(count=count)


def rewritten(text, mutants):
    """The text of a file with these mutants ({number: mutant}), and where they are: (first line, last line, numbers).

    Places with one number are copies; a place with several is a function as it was, behind its copies.
    """
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offsets(span):
        return [starts[span[end]["line"] - 1] + span[end]["column"] - 1 for end in ("start", "end")]

    functions = []  # Outermost first: a mutant in a function within a function changes the outer one.
    for number, mutant in sorted(mutants.items(), key=lambda item: (offsets(item[1]["function"]["span"])[0], item[0])):
        start, end = offsets(mutant["function"]["span"])
        if not functions or start >= functions[-1][1]:
            functions.append((start, end, []))
        functions[-1][2].append(number)

    pieces, places, done, line = [], [], 0, 1
    for start, end, numbers in functions:
        body = next(found.start() for found in OPENING.finditer(text, start) if found[1])
        pieces.append(text[done : body + 1] + "\n")
        line += pieces[-1].count("\n")
        for number in numbers:
            first, last = offsets(mutants[number]["span"])
            changed = text[body:first] + mutants[number]["replacement"] + text[last:end]
            pieces.append(f"if crate::mutant_switch::on({number}) {{ return {changed}; }}\n")
            places.append((line, line + pieces[-1].count("\n") - 1, [number]))
            line = places[-1][1] + 1
        done = body + 1
        places.append((line, line + text.count("\n", done, end), numbers))
    pieces.append(text[done:])
    return "".join(pieces), places
