//! What expressions and templates use: known before anything runs, for problems in the editor.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use minijinja::value::Value as Jinja;

use super::compared::Comparison;
use super::jinja::JINJA;

/// Names that an expression or template uses, found without running it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Members of `state` or `input`.
    pub keys: BTreeSet<String>,
    /// True when `state` or `input` is used as a whole, or by a name that is not known before.
    pub whole: bool,
    /// Variables that are neither.
    pub names: BTreeSet<String>,
    /// Filters that do not exist.
    pub unknown_filters: BTreeSet<String>,
    /// What is compared with what.
    pub comparisons: Vec<Comparison>,
}

/// The filters that the documentation lists.
pub const FILTERS: &[&str] = &[
    "abs",
    "attr",
    "batch",
    "bool",
    "count",
    "default",
    "dictsort",
    "first",
    "float",
    "format",
    "fromjson",
    "groupby",
    "indent",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "pprint",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "select",
    "selectattr",
    "slice",
    "sort",
    "split",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "zip",
];

pub(super) fn is_filter(name: &str) -> bool {
    static TEST: LazyLock<Option<minijinja::Expression<'static, 'static>>> =
        LazyLock::new(|| JINJA.compile_expression("name is filter").ok());
    let Some(test) = &*TEST else { return true };
    test.eval(Jinja::from_pairs([("name", name)]))
        .is_ok_and(|known| known.is_true())
}

/// Names after `|` that are no filters. Jinja itself says so only when it gets there.
pub(super) fn unknown_filters(code: &str) -> BTreeSet<String> {
    let mut unknown = BTreeSet::new();
    let mut quote = None;
    let mut chars = code.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                chars.next();
            }
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '|') => {
                let rest = code[at + 1..].trim_start();
                let end = rest
                    .find(|c: char| !c.is_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                let name = &rest[..end];
                if !name.is_empty() && !is_filter(name) {
                    unknown.insert(name.to_owned());
                }
            }
            _ => {}
        }
    }
    unknown
}

/// Returns the parts of a template that are code.
pub(super) fn code_of(template: &str) -> impl Iterator<Item = &str> {
    let mut rest = template;
    std::iter::from_fn(move || {
        let opens = |at: &usize| matches!(rest.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#'));
        let start = rest.match_indices('{').map(|(at, _)| at).find(opens)?;
        let close = match &rest[start..start + 2] {
            "{{" => "}}",
            "{%" => "%}",
            _ => "#}",
        };
        let code = &rest[start + 2..];
        let end = code.find(close).unwrap_or(code.len());
        rest = &code[(end + 2).min(code.len())..];
        Some(if close == "#}" { "" } else { &code[..end] })
    })
}

impl Uses {
    pub(super) fn of(variables: impl IntoIterator<Item = String>) -> Self {
        let mut uses = Uses::default();
        for path in variables {
            let mut parts = path.split('.');
            match (parts.next(), parts.next()) {
                (Some("state" | "input"), Some(key)) => {
                    uses.keys.insert(key.to_owned());
                }
                (Some("state" | "input"), None) => uses.whole = true,
                (None, _) => {}
                (Some(name), _) if JINJA.globals().any(|(global, _)| global == name) => {}
                (Some(name), _) => {
                    uses.names.insert(name.to_owned());
                }
            }
        }
        uses
    }
}
