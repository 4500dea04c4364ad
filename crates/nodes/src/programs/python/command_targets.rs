//! Where a Python function says that it goes on, as LangGraph reads it: `-> Command[Literal["a", "b"]]`. The text is
//! looked at and nothing is started, so names that stand for such a type are not followed.

/// Longest part of a text that is looked through after a function's name.
const MAX_LENGTH: usize = 16 * 1024;

/// Returns the targets in the return annotation of `function`. Without a name it is the one that the worker would call:
/// `node`, or the last at the margin.
pub(crate) fn command_targets(text: &str, function: Option<&str>) -> Vec<String> {
    let wanted = function.map(|name| name.rsplit('.').next().unwrap_or(name));
    let mut found: Vec<String> = Vec::new();
    let (mut at, mut settled) = (0, false);
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let margin = start.len() == line.len();
        let def = start.strip_prefix("async").map_or(start, str::trim_start);
        if let Some(rest) = def.strip_prefix("def ") {
            let rest = rest.trim_start();
            let name = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next();
            if wanted.is_none() && margin && !settled {
                found.clear();
                settled = name == Some("node");
            }
            if wanted.map_or(margin && (!settled || name == Some("node")), |wanted| {
                name == Some(wanted)
            }) {
                let from = at + line.len() - rest.len() + name.unwrap_or_default().len();
                for goal in annotation(&text[from..]).map(targets).unwrap_or_default() {
                    if !found.contains(&goal) {
                        found.push(goal);
                    }
                }
            }
        }
        at += line.len();
    }
    found
}

/// Returns the text between `->` and `:` after the parameters at the beginning of the text.
fn annotation(text: &str) -> Option<&str> {
    let text = &text[..text.floor_char_boundary(MAX_LENGTH)];
    let open = text.find('(').filter(|at| text[..*at].trim().is_empty())?;
    let close = closing(text, open)?;
    let rest = text[close + 1..].trim_start().strip_prefix("->")?;
    let mut at = 0;
    while at < rest.len() {
        match rest.as_bytes()[at] {
            b':' => return Some(&rest[..at]),
            b'[' | b'(' | b'{' => at = closing(rest, at)? + 1,
            b'"' | b'\'' => at = string(rest, at)?.1,
            _ => at += 1,
        }
    }
    None
}

/// Finds the bracket that closes the one at `open`; brackets in strings and comments do not count.
fn closing(text: &str, open: usize) -> Option<usize> {
    let (mut depth, mut at) = (0, open);
    while at < text.len() {
        match text.as_bytes()[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'#' => at += text[at..].find('\n')?,
            b'"' | b'\'' => {
                at = string(text, at)?.1;
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Returns the text in the quotation marks that begin at `at`, and where it ends.
fn string(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = &text[at..];
    let triple = ["\"\"\"", "'''"].into_iter().find(|mark| rest.starts_with(mark));
    let mark = triple.unwrap_or(&rest[..1]);
    let mut end = mark.len();
    loop {
        let found = end + rest[end..].find(mark)?;
        let escapes = rest[..found]
            .bytes()
            .rev()
            .take_while(|byte| *byte == b'\\')
            .count();
        if escapes % 2 == 0 {
            return Some((&rest[mark.len()..found], at + found + mark.len()));
        }
        end = found + 1;
    }
}

/// Returns the strings in `Literal[…]` within `Command[…]`.
fn targets(annotation: &str) -> Vec<String> {
    let annotation = annotation.trim();
    // An annotation may stand in quotation marks as a whole.
    let whole = string_only(annotation);
    let annotation = whole.unwrap_or(annotation);
    let mut found = Vec::new();
    for command in within(annotation, "Command") {
        for literal in within(command, "Literal") {
            let mut at = 0;
            while at < literal.len() {
                match literal.as_bytes()[at] {
                    b'"' | b'\'' => match string(literal, at) {
                        Some((text, end)) => {
                            found.push(text.to_owned());
                            at = end;
                        }
                        None => break,
                    },
                    _ => at += 1,
                }
            }
        }
    }
    found
}

fn string_only(text: &str) -> Option<&str> {
    let quoted = text.starts_with(['"', '\'']);
    let (inner, end) = quoted.then(|| string(text, 0)).flatten()?;
    (end == text.len()).then_some(inner)
}

/// Returns the brackets after each `name`, up to the closing one.
fn within<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let places = text.match_indices(name).filter_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        let open = at + name.len();
        let whole = before.is_none_or(|c| !(c.is_alphanumeric() || c == '_'));
        (whole && text[open..].starts_with('[')).then_some(open)
    });
    places
        .filter_map(|open| Some(&text[open..closing(text, open)?]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_read_as_they_are_written() {
        for (text, function, want) in [
            (
                "def plan(state) -> Command[Literal[\"a\", 'b']]:\n    pass",
                Some("plan"),
                vec!["a", "b"],
            ),
            (
                "async def plan(\n    state: dict[str, int] = {'x': ')'},  # :)\n) -> types.Command[\n    Literal['a', '__end__']\n]:\n    pass",
                Some("plan"),
                vec!["a", "__end__"],
            ),
            (
                "def plan(state) -> 'Command[Literal[\"a\"]]':\n  pass",
                Some("plan"),
                vec!["a"],
            ),
            (
                "def plan(state) -> Command[Literal['a'] | Literal['b']] | None: ...",
                Some("plan"),
                vec!["a", "b"],
            ),
            (
                "class Desk:\n    def plan(self, state) -> Command[Literal['a']]: ...",
                Some("Desk.plan"),
                vec!["a"],
            ),
            (
                "def one(s) -> Command[Literal['a']]: ...\ndef two(s) -> Command[Literal['b']]: ...",
                Some("two"),
                vec!["b"],
            ),
            (
                "def one(s) -> Command[Literal['a']]: ...\ndef two(s) -> dict: ...",
                None,
                vec![],
            ),
            (
                "def node(s) -> Command[Literal['a']]: ...\ndef two(s) -> Command[Literal['b']]: ...",
                None,
                vec!["a"],
            ),
            (
                "def one(s) -> Command[Literal['a']]: ...\ndef two(s) -> Command[Literal['b']]:\n    def inner(): ...",
                None,
                vec!["b"],
            ),
            (
                "def plan(s) -> dict[Literal['a'], int]: ...",
                Some("plan"),
                vec![],
            ),
            (
                "def plan(s) -> MyCommand[Literal['a']]: ...",
                Some("plan"),
                vec![],
            ),
            ("def plan(s) -> Goal: ...", Some("plan"), vec![]),
            ("return Command(goto='a')", None, vec![]),
        ] {
            assert_eq!(command_targets(text, function), want, "{text}");
        }
    }

    #[test]
    fn what_is_broken_off_names_nothing() {
        let text = "def plan(é, x='\\'(') -> Command[Literal[\"ä\", 'b']]:";
        assert_eq!(command_targets(text, Some("plan")), ["ä", "b"]);
        for end in text.char_indices().map(|(at, _)| at) {
            assert_eq!(
                command_targets(&text[..end], Some("plan")),
                Vec::<String>::new(),
                "{end}"
            );
        }
    }
}
