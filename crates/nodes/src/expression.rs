//! Expressions and templates: Jinja, compiled once, pure and bounded.
//!
//! An expression (`when`, `route`, `each`, `set`, `query`) gives a value and keeps its JSON type; a template (`prompt`,
//! `question`, `say`) gives text. Both see the state as `state` and as `input`. They reach no file and no network,
//! stop after a fixed amount of work, and a name that is missing is an error that says what is there.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::{Arc, LazyLock};

use minijinja::value::{Enumerator, Object as Dynamic, Rest, Value as Jinja, ValueKind, ValueOrKwargs};
use minijinja::{AutoEscape, Environment, Error as JinjaError, ErrorKind, State, UndefinedBehavior};
use superstep::{NodeError, Value};

use crate::suggest;
use crate::view::{from_jinja, to_jinja};

/// Instructions after which an evaluation is stopped: a loop over some hundred thousand items, about a tenth of a second.
pub const FUEL: u64 = 2_000_000;
/// Longest text a template may give, in bytes.
pub const MAX_OUTPUT: usize = 4 * 1024 * 1024;

/// Operators that may follow each other in one expression: what is compiled is a tree as deep as the chain is long, and
/// trees are walked on the stack.
const LONGEST_CHAIN: usize = 400;
/// Digits of a width in a format; wider texts than that are meant for no eye.
const WIDTH_DIGITS: usize = 4;

/// What went wrong with an expression or template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionProblem {
    /// It is not Jinja.
    Syntax,
    /// It uses something that is not there.
    Undefined,
    /// It did not finish within its allowance.
    TooMuchWork,
    /// The text it gives is too long.
    TooLong,
    /// The operation is not possible with these values.
    Evaluation,
    /// What it gives is not JSON.
    NotJson,
    /// What it gives is JSON of the wrong kind for its place.
    WrongType,
}

impl ExpressionProblem {
    /// Stable name in kebab-case.
    pub fn code(self) -> &'static str {
        match self {
            ExpressionProblem::Syntax => "expression-syntax",
            ExpressionProblem::Undefined => "expression-undefined",
            ExpressionProblem::TooMuchWork => "expression-too-much-work",
            ExpressionProblem::TooLong => "expression-too-long",
            ExpressionProblem::Evaluation => "expression-failed",
            ExpressionProblem::NotJson => "expression-not-json",
            ExpressionProblem::WrongType => "expression-wrong-type",
        }
    }
}

/// A failed expression: which one, where in it, what is wrong and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionError {
    /// What kind of problem.
    pub problem: ExpressionProblem,
    /// Where the expression stands, e.g. ``\`when\` of edge a->b``.
    pub place: Arc<str>,
    /// Its text.
    pub source: Arc<str>,
    /// Line inside it, when it has several.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(
            f,
            ": {} In `{}`. {}",
            self.message,
            shortened(&self.source),
            self.remedy
        )
    }
}

impl std::error::Error for ExpressionError {}

impl From<ExpressionError> for NodeError {
    fn from(error: ExpressionError) -> Self {
        NodeError::new("ExpressionError", error.to_string())
    }
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 120;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN {
        line
    } else {
        line.chars().take(SHOWN).chain(['…']).collect()
    }
}

/// The variables of an evaluation.
#[derive(Clone)]
pub struct Scope {
    state: Value,
    extra: Option<(Arc<str>, Value)>,
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("variables")
    }
}

impl Scope {
    /// `state`, and `input` as another name for it.
    pub fn new(state: &Value) -> Self {
        Self {
            state: state.clone(),
            extra: None,
        }
    }
    /// One more variable.
    pub fn with(mut self, name: impl Into<Arc<str>>, value: Value) -> Self {
        self.extra = Some((name.into(), value));
        self
    }
}

impl Dynamic for Scope {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.get_value_by_str(key.as_str()?)
    }
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        match (key, &self.extra) {
            ("state" | "input", _) => Some(to_jinja(&self.state)),
            (key, Some((name, value))) if **name == *key => Some(to_jinja(value)),
            _ => None,
        }
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&["state", "input"])
    }
}

static JINJA: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    env.set_fuel(Some(FUEL));
    env.set_recursion_limit(100);
    env.set_debug(true);
    env.set_auto_escape_callback(|name| match name {
        ADDRESS => AutoEscape::Custom(ADDRESS.into()),
        _ => AutoEscape::None,
    });
    env.set_formatter(|out, state, value| {
        if value.is_undefined() {
            return Err(JinjaError::from(ErrorKind::UndefinedError));
        }
        let text = match value.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(json_text(value, None)?),
        };
        let written = match state.auto_escape() {
            AutoEscape::None => out.write_str(&text),
            _ => out.write_str(&encoded(&text)),
        };
        written.map_err(|_| JinjaError::from(ErrorKind::WriteFailure))
    });
    env.add_filter("tojson", |value: Jinja, indent: Option<usize>| {
        json_text(&value, indent)
    });
    env.add_filter("fromjson", |text: String| {
        serde_json::from_str::<Value>(&text)
            .map(|value| to_jinja(&value))
            .map_err(|e| {
                JinjaError::new(
                    ErrorKind::InvalidOperation,
                    format!("fromjson: the text is not JSON: {e}"),
                )
            })
    });
    env.add_filter("replace", |text: String, from: String, to: String| {
        let found = match from.is_empty() {
            true => text.chars().count() + 1,
            false => text.matches(from.as_str()).count(),
        };
        if text.len().saturating_add(found.saturating_mul(to.len())) > MAX_OUTPUT {
            return Err(too_large("replace"));
        }
        Ok(text.replace(from.as_str(), &to))
    });
    env.add_filter(
        "format",
        |state: &mut State, text: &Jinja, values: Rest<ValueOrKwargs>| {
            let wide = text.as_str().is_some_and(|text| {
                let digits = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count() > WIDTH_DIGITS;
                text.match_indices(|c: char| c.is_ascii_digit())
                    .any(|(at, _)| digits(&text[at..]))
                    || text.contains('*')
            });
            match wide {
                true => Err(too_large("format")),
                false => minijinja::filters::format(state, text, values),
            }
        },
    );
    // Both can reach other templates, and there are none.
    env.remove_global("debug");
    env
});

fn too_large(filter: &str) -> JinjaError {
    let text = format!("{filter}: the text would be too large");
    JinjaError::new(ErrorKind::InvalidOperation, text)
}

/// The longest chain of operators in code, with those around the brackets it stands in.
fn chain(code: &str) -> usize {
    let (mut longest, mut open, mut quote) = (0, vec![0_usize], None);
    let mut rest = code.char_indices();
    while let Some((at, c)) = rest.next() {
        if let Some(end) = quote {
            match c {
                '\\' => drop(rest.next()),
                c if c == end => quote = None,
                _ => {}
            }
            continue;
        }
        let mut link = 0;
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => open.push(1),
            ')' | ']' | '}' if open.len() > 1 => drop(open.pop()),
            ',' => open.last_mut().into_iter().for_each(|last| *last = 1),
            '+' | '-' | '*' | '/' | '%' | '~' | '|' | '.' | '<' | '>' | '=' => link = 1,
            c if c.is_alphabetic() && !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
                let word = code[at..]
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next();
                link = usize::from(matches!(word, Some("not" | "and" | "or" | "if" | "in" | "is")));
            }
            _ => {}
        }
        if let Some(last) = open.last_mut() {
            *last += link;
        }
        longest = longest.max(open.iter().sum());
    }
    longest
}

fn json_text(value: &Jinja, indent: Option<usize>) -> Result<String, JinjaError> {
    let not_json = |cause: String| JinjaError::new(ErrorKind::BadSerialization, cause);
    if value.is_undefined() {
        return Err(JinjaError::from(ErrorKind::UndefinedError));
    }
    let json = from_jinja(value).map_err(not_json)?;
    match indent {
        None | Some(0) => serde_json::to_string(&json).map_err(|e| not_json(e.to_string())),
        Some(width) => {
            let indent = " ".repeat(width.min(8));
            let mut bytes = Vec::new();
            let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
            let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
            serde::Serialize::serialize(&json, &mut writer).map_err(|e| not_json(e.to_string()))?;
            String::from_utf8(bytes).map_err(|e| not_json(e.to_string()))
        }
    }
}

/// What an expression or template uses, found without running it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Members of `state` or `input`.
    pub keys: BTreeSet<String>,
    /// Variables that are neither.
    pub names: BTreeSet<String>,
    /// Filters that do not exist.
    pub unknown_filters: BTreeSet<String>,
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

fn is_filter(name: &str) -> bool {
    static TEST: LazyLock<Option<minijinja::Expression<'static, 'static>>> =
        LazyLock::new(|| JINJA.compile_expression("name is filter").ok());
    let Some(test) = &*TEST else { return true };
    test.eval(Jinja::from_pairs([("name", name)]))
        .is_ok_and(|known| known.is_true())
}

/// Names after `|` that are no filters. Jinja itself says so only when it gets there.
fn unknown_filters(code: &str) -> BTreeSet<String> {
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

/// The parts of a template that are code.
fn code_of(template: &str) -> impl Iterator<Item = &str> {
    let mut rest = template;
    std::iter::from_fn(move || {
        let start = [rest.find("{{"), rest.find("{%"), rest.find("{#")]
            .into_iter()
            .flatten()
            .min()?;
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
    fn of(variables: impl IntoIterator<Item = String>) -> Self {
        let mut uses = Uses::default();
        for path in variables {
            let mut parts = path.split('.');
            match (parts.next(), parts.next()) {
                (Some("state" | "input"), Some(key)) => {
                    uses.keys.insert(key.to_owned());
                }
                (Some("state" | "input"), None) | (None, _) => {}
                (Some(name), _) if JINJA.globals().any(|(global, _)| global == name) => {}
                (Some(name), _) => {
                    uses.names.insert(name.to_owned());
                }
            }
        }
        uses
    }
}

/// What both have in common: where it stands, its text and what it uses.
#[derive(Clone, Debug)]
struct Origin {
    place: Arc<str>,
    source: Arc<str>,
    uses: Uses,
}

impl Origin {
    fn too_long(&self) -> ExpressionError {
        self.error(
            ExpressionProblem::Syntax,
            "it has more operators than can be worked through.",
            "Do it in steps, or in a code node.",
        )
    }

    fn error(
        &self,
        problem: ExpressionProblem,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ExpressionError {
        ExpressionError {
            problem,
            place: self.place.clone(),
            source: self.source.clone(),
            line: None,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    fn explain(&self, error: &JinjaError, scope: Option<&Scope>) -> ExpressionError {
        let detail = error.detail().map_or_else(
            || error.kind().to_string(),
            |detail| format!("{}: {detail}", error.kind()),
        );
        let mut explained = match error.kind() {
            ErrorKind::OutOfFuel => self.error(
                ExpressionProblem::TooMuchWork,
                format!("it did not finish within {FUEL} steps of work."),
                "Loop over fewer items, or do the work in a code node.",
            ),
            ErrorKind::UndefinedError => self.undefined(scope, &detail),
            // Operators say it in their own words.
            ErrorKind::InvalidOperation if scope.is_some() && detail.contains("undefined") => {
                self.undefined(scope, &detail)
            }
            ErrorKind::SyntaxError | ErrorKind::BadEscape => self.error(
                ExpressionProblem::Syntax,
                format!("{detail}."),
                "Correct the Jinja; a text inside an expression stands in quotes.",
            ),
            ErrorKind::UnknownFilter
            | ErrorKind::UnknownTest
            | ErrorKind::UnknownFunction
            | ErrorKind::UnknownMethod => self.error(
                ExpressionProblem::Evaluation,
                format!("{detail}."),
                "The expression reference lists what there is.",
            ),
            ErrorKind::BadSerialization | ErrorKind::NonKey => self.error(
                ExpressionProblem::NotJson,
                format!("{detail}."),
                "Give text, numbers, lists and objects.",
            ),
            ErrorKind::TemplateNotFound | ErrorKind::BadInclude => self.error(
                ExpressionProblem::Evaluation,
                format!("{detail}."),
                "There are no other templates to include or extend; write the text here.",
            ),
            _ => self.error(
                ExpressionProblem::Evaluation,
                format!("{detail}."),
                "Check the types of the values it works on.",
            ),
        };
        explained.line = error.line().filter(|_| self.source.contains('\n'));
        explained
    }

    fn undefined(&self, scope: Option<&Scope>, detail: &str) -> ExpressionError {
        let state = scope.and_then(|scope| scope.state.as_object());
        let known = || state.into_iter().flat_map(|state| state.keys()).map(|key| &**key);
        let missing: Vec<&str> = self
            .uses
            .keys
            .iter()
            .map(String::as_str)
            .filter(|key| state.is_none_or(|state| !state.contains_key(key)))
            .collect();
        if let [first, ..] = missing[..] {
            return self.error(
                ExpressionProblem::Undefined,
                format!(
                    "`state.{first}` has no value here.{} Keys with a value: {}.",
                    suggest::did_you_mean(first, known()),
                    suggest::listing(known())
                ),
                format!("Correct the name, give the key a default, or write `state.{first}|default(…)`."),
            );
        }
        if let Some(name) = self.uses.names.iter().next() {
            return self.error(
                ExpressionProblem::Undefined,
                format!("there is no `{name}`."),
                format!("State keys are read as `state.{name}`; text stands in quotes."),
            );
        }
        self.error(
            ExpressionProblem::Undefined,
            format!("it uses a part of a value that is not there ({detail})."),
            "Check the spelling of the member, or add `|default(…)` where it may be missing.",
        )
    }
}

/// A compiled expression.
pub struct Expression {
    origin: Origin,
    compiled: minijinja::Expression<'static, 'static>,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin.source)
    }
}

impl Expression {
    /// Compiles `source`; `place` says where it stands, for messages.
    pub fn compile(source: &str, place: impl Into<Arc<str>>) -> Result<Self, ExpressionError> {
        let mut origin = Origin {
            place: place.into(),
            source: source.into(),
            uses: Uses::default(),
        };
        if source.trim().is_empty() {
            return Err(origin.error(
                ExpressionProblem::Syntax,
                "it is empty.",
                "Write an expression such as `state.count + 1`.",
            ));
        }
        if chain(source) > LONGEST_CHAIN {
            return Err(origin.too_long());
        }
        let compiled = JINJA.compile_expression_owned(source.to_owned()).map_err(|e| {
            let mut error = origin.explain(&e, None);
            if source.contains("{{") || source.contains("{%") {
                error.remedy =
                    "This place takes an expression: what stands between `{{` and `}}`, without them.".into();
            }
            error
        })?;
        origin.uses = Uses::of(compiled.undeclared_variables(true));
        origin.uses.unknown_filters = unknown_filters(source);
        Ok(Self { origin, compiled })
    }

    /// What it uses.
    pub fn uses(&self) -> &Uses {
        &self.origin.uses
    }

    /// Evaluates it; the result keeps its JSON type.
    pub fn eval(&self, scope: &Scope) -> Result<Value, ExpressionError> {
        let value = self.raw(scope)?;
        if value.is_undefined() {
            return Err(self.origin.undefined(Some(scope), "undefined value"));
        }
        from_jinja(&value).map_err(|cause| {
            self.origin.error(
                ExpressionProblem::NotJson,
                format!("{cause}."),
                "Give text, numbers, lists and objects.",
            )
        })
    }

    /// Evaluates it as a condition, by Jinja's rules: empty, zero, null and undefined are false.
    pub fn truth(&self, scope: &Scope) -> Result<bool, ExpressionError> {
        Ok(self.raw(scope)?.is_true())
    }

    /// Evaluates it as a list.
    pub fn list(&self, scope: &Scope) -> Result<superstep::List, ExpressionError> {
        match self.eval(scope)? {
            Value::Array(list) => Ok(list),
            other => Err(self.wrong_type("a list", &other)),
        }
    }

    /// The error for a result of the wrong type.
    pub fn wrong_type(&self, expected: &str, found: &Value) -> ExpressionError {
        self.origin.error(
            ExpressionProblem::WrongType,
            format!(
                "it must give {expected}, but gave {} of type {}.",
                shortened(&found.to_string()),
                found.type_name()
            ),
            "Change the expression, or the value it reads.",
        )
    }

    fn raw(&self, scope: &Scope) -> Result<Jinja, ExpressionError> {
        let value = self
            .compiled
            .eval(Jinja::from_object(scope.clone()))
            .map_err(|e| self.origin.explain(&e, Some(scope)))?;
        if value.kind() == ValueKind::Invalid {
            return Err(self.origin.error(
                ExpressionProblem::Evaluation,
                format!("{value}."),
                "Check the values it works on.",
            ));
        }
        Ok(value)
    }
}

/// A compiled template.
pub struct Template {
    origin: Origin,
    env: Environment<'static>,
    name: &'static str,
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin.source)
    }
}

const TEXT: &str = "text";
/// Templates of this name give addresses: what stands in `{{ }}` is encoded, so that it is never more than a value.
const ADDRESS: &str = "address";

/// Everything but letters, digits and `-._~` as its bytes.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

impl Template {
    /// Compiles `source`; `place` says where it stands, for messages.
    pub fn compile(source: &str, place: impl Into<Arc<str>>) -> Result<Self, ExpressionError> {
        Self::compile_as(TEXT, source, place.into())
    }

    /// Compiles an address: values in it are encoded.
    pub(crate) fn address(source: &str, place: impl Into<Arc<str>>) -> Result<Self, ExpressionError> {
        Self::compile_as(ADDRESS, source, place.into())
    }

    fn compile_as(name: &'static str, source: &str, place: Arc<str>) -> Result<Self, ExpressionError> {
        let mut origin = Origin {
            place,
            source: source.into(),
            uses: Uses::default(),
        };
        if code_of(source).any(|code| chain(code) > LONGEST_CHAIN) {
            return Err(origin.too_long());
        }
        let mut env = JINJA.clone();
        env.add_template_owned(name, source.to_owned())
            .map_err(|e| origin.explain(&e, None))?;
        let template = env.get_template(name).map_err(|e| origin.explain(&e, None))?;
        origin.uses = Uses::of(template.undeclared_variables(true));
        origin.uses.unknown_filters = code_of(source).flat_map(unknown_filters).collect();
        Ok(Self { origin, env, name })
    }

    /// What it uses.
    pub fn uses(&self) -> &Uses {
        &self.origin.uses
    }

    /// The text.
    pub fn render(&self, scope: &Scope) -> Result<String, ExpressionError> {
        let template = self
            .env
            .get_template(self.name)
            .map_err(|e| self.origin.explain(&e, Some(scope)))?;
        let mut out = Limited::default();
        let rendered = template
            .render_captured_to(Jinja::from_object(scope.clone()), &mut out)
            .map(drop);
        if out.full {
            return Err(self.origin.error(
                ExpressionProblem::TooLong,
                format!("the text would be longer than {} MB.", MAX_OUTPUT / 1024 / 1024),
                "Show only a part of the value, e.g. `state.items[:20]`.",
            ));
        }
        rendered.map_err(|e| self.origin.explain(&e, Some(scope)))?;
        String::from_utf8(out.bytes).map_err(|e| {
            self.origin.error(
                ExpressionProblem::Evaluation,
                format!("{e}."),
                "Check the values it works on.",
            )
        })
    }
}

#[derive(Default)]
struct Limited {
    bytes: Vec<u8>,
    full: bool,
}

impl io::Write for Limited {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + piece.len() > MAX_OUTPUT {
            self.full = true;
            return Err(io::Error::other("the text is too long"));
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    fn eval(source: &str, state: Value) -> Result<Value, ExpressionError> {
        Expression::compile(source, "`set` of node a")?.eval(&Scope::new(&state))
    }
    fn render(source: &str, state: Value) -> Result<String, ExpressionError> {
        Template::compile(source, "`prompt` of node a")?.render(&Scope::new(&state))
    }

    #[test]
    fn results_keep_their_json_type() {
        let state =
            json!({"n": 3, "f": 1.5, "s": "x", "list": [1, 2, 3], "o": {"a": {"b": [true]}}, "none": null});
        for (source, expected) in [
            ("state.n + 1", json!(4)),
            ("state.n / 2", json!(1.5)),
            ("state.n // 2", json!(1)),
            ("state.n * 1.0", json!(3.0)),
            ("state.n > 2 and state.s == 'x'", json!(true)),
            ("state.s ~ '!'", json!("x!")),
            ("state.list", json!([1, 2, 3])),
            ("state.list[-1]", json!(3)),
            ("state.list[1:]", json!([2, 3])),
            ("state.list + [4]", json!([1, 2, 3, 4])),
            ("state.list|length", json!(3)),
            ("state.list|select('odd')|list", json!([1, 3])),
            ("state.list|map('string')|join('-')", json!("1-2-3")),
            ("state.o.a.b[0]", json!(true)),
            ("state.o", json!({"a": {"b": [true]}})),
            (
                "{'k': state.n, 'deep': {'s': state.s}}",
                json!({"k": 3, "deep": {"s": "x"}}),
            ),
            ("state.missing|default('d')", json!("d")),
            ("state.none", json!(null)),
            ("input.n", json!(3)),
            ("'yes' if state.n > 5 else 'no'", json!("no")),
            ("'[1, {\"a\": null}]'|fromjson", json!([1, {"a": null}])),
            ("state.o|tojson", json!("{\"a\":{\"b\":[true]}}")),
            ("state.s in ['x', 'y']", json!(true)),
            (
                "[{'a': 1, 'ok': true}, {'a': 2, 'ok': false}]|selectattr('ok')|map(attribute='a')|list",
                json!([1]),
            ),
        ] {
            let result = eval(source, state.clone()).unwrap_or_else(|e| panic!("{source}: {e}"));
            assert_eq!(result, expected, "{source}");
            assert_eq!(result.type_name(), expected.type_name(), "type of {source}");
        }
    }

    #[test]
    fn conditions_treat_missing_as_false() {
        let scope = Scope::new(&json!({"zero": 0, "one": 1}));
        for (source, expected) in [
            ("state.zero", false),
            ("state.one", true),
            ("state.missing", false),
            ("not state.missing", true),
        ] {
            assert_eq!(
                Expression::compile(source, "t").unwrap().truth(&scope).unwrap(),
                expected,
                "{source}"
            );
        }
    }

    #[test]
    fn a_missing_key_names_what_is_there() {
        let error = eval("state.categry", json!({"category": "refund", "n": 1})).unwrap_err();
        assert_eq!(error.problem, ExpressionProblem::Undefined);
        let text = error.to_string();
        for part in [
            "`set` of node a",
            "`state.categry` has no value",
            "Did you mean `category`?",
            "`category`, `n`",
            "default(",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        let error = eval("category == 'x'", json!({"category": "x"})).unwrap_err();
        assert!(error.to_string().contains("`state.category`"), "{error}");
        let error = render("Hello {{ state.nmae }}", json!({"name": "x"})).unwrap_err();
        assert!(error.to_string().contains("Did you mean `name`?"), "{error}");
        let error = eval("state.o.missing.deeper", json!({"o": {}})).unwrap_err();
        assert_eq!(error.problem, ExpressionProblem::Undefined, "{error}");
    }

    #[test]
    fn syntax_errors_say_where() {
        let error = Expression::compile("state.a +", "`when` of edge a->b").unwrap_err();
        assert_eq!(error.problem, ExpressionProblem::Syntax);
        assert!(error.to_string().starts_with("`when` of edge a->b: "), "{error}");
        let error = Expression::compile("{{ state.a }}", "t").unwrap_err();
        assert!(error.remedy.contains("without them"), "{error}");
        let error = Template::compile("one\n{% if %}\n", "t").unwrap_err();
        assert_eq!(error.line, Some(2), "{error}");
        assert_eq!(
            Expression::compile("  ", "t").unwrap_err().problem,
            ExpressionProblem::Syntax
        );
    }

    #[test]
    fn endless_work_and_endless_text_are_stopped() {
        let work = "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}";
        assert_eq!(
            render(work, json!({})).unwrap_err().problem,
            ExpressionProblem::TooMuchWork
        );
        let text = json!({"t": "x".repeat(100_000)});
        let long = render("{% for a in range(1000) %}{{ state.t }}{% endfor %}", text).unwrap_err();
        assert_eq!(long.problem, ExpressionProblem::TooLong, "{long}");
    }

    #[test]
    fn files_cannot_be_reached() {
        for source in [
            "{% include '/etc/passwd' %}",
            "{% extends 'x' %}",
            "{% import 'x' as y %}{{ y }}",
        ] {
            assert_eq!(
                render(source, json!({})).unwrap_err().problem,
                ExpressionProblem::Evaluation,
                "{source}"
            );
        }
    }

    #[test]
    fn templates_write_values_as_json_and_text_as_it_is() {
        let state =
            json!({"t": "a <b> & 'c'", "n": null, "b": true, "f": 2.0, "l": [1, "x", null], "o": {"k": "v"}});
        assert_eq!(
            render(
                "{{ state.t }}|{{ state.n }}|{{ state.b }}|{{ state.f }}|{{ state.l }}|{{ state.o }}",
                state.clone()
            )
            .unwrap(),
            "a <b> & 'c'|null|true|2.0|[1,\"x\",null]|{\"k\":\"v\"}"
        );
        assert_eq!(
            render("{{ state.o|tojson(2) }}", state.clone()).unwrap(),
            "{\n  \"k\": \"v\"\n}"
        );
        assert_eq!(
            render(
                "{% for k, v in state.o|items %}{{ k }}={{ v }}{% endfor %}",
                state.clone()
            )
            .unwrap(),
            "k=v"
        );
        assert_eq!(
            render("{% if state.later %}x{% else %}-{% endif %}", state).unwrap(),
            "-"
        );
    }

    #[test]
    fn what_is_used_is_known_without_running() {
        let uses = Expression::compile("state.a.b + input.c + d + range(3)|length", "t")
            .unwrap()
            .uses()
            .clone();
        assert_eq!(uses.keys.into_iter().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(uses.names.into_iter().collect::<Vec<_>>(), ["d"]);
        let uses = Template::compile(
            "{% for x in state.items %}{{ x.y }}{{ state.z }}{% endfor %}",
            "t",
        )
        .unwrap()
        .uses()
        .clone();
        assert_eq!(uses.keys.into_iter().collect::<Vec<_>>(), ["items", "z"]);
        assert!(
            uses.names.is_empty(),
            "loop variables are no unknown names: {:?}",
            uses.names
        );
    }

    #[test]
    fn unknown_filters_are_known_without_running() {
        let unknown = |uses: &Uses| uses.unknown_filters.iter().cloned().collect::<Vec<_>>();
        let expression = |source: &str| unknown(Expression::compile(source, "t").unwrap().uses());
        let template = |source: &str| unknown(Template::compile(source, "t").unwrap().uses());
        assert_eq!(
            expression("state.a|lenght > 1 and 'x|nope' ~ \"it's|no\"|upper"),
            ["lenght"]
        );
        assert_eq!(
            template("a|b {{ state.a | lowr }} {# |c #} {% if state.b|uper %}|d{% endif %}"),
            ["lowr", "uper"]
        );
        for filter in FILTERS {
            assert!(is_filter(filter), "{filter}");
        }
    }

    #[test]
    fn an_extra_variable_is_seen() {
        let scope = Scope::new(&json!({"n": 2})).with("item", json!({"v": 3}));
        assert_eq!(
            Expression::compile("item.v * state.n", "t")
                .unwrap()
                .eval(&scope)
                .unwrap(),
            json!(6)
        );
    }
}
