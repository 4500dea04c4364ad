//! Expressions and templates: Jinja, compiled once, pure and bounded.
//!
//! An expression (`when`, `route`, `each`, `set`, `query`) gives a value and keeps its JSON type; a template (`prompt`,
//! `question`, `say`) gives text. Both see the state as `state` and as `input`, and the run context as `context`. They reach no file and no network,
//! stop after a fixed amount of work, and a name that is missing is an error that says what is there.

mod budget;
mod compare;
mod compared;
mod jinja;
mod jinja_value;
mod limits;
mod operators;
mod slice;
#[cfg(test)]
mod tests;
mod uses;

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object as Dynamic, Value as Jinja, ValueKind};
use minijinja::{Environment, Error as JinjaError, ErrorKind};
use superstep::{NodeContext, NodeError, Value};

pub use self::compared::Comparison;
pub(crate) use self::compared::Miscompared;
use self::jinja::{JINJA, Limited};
pub use self::limits::{FUEL, MAX_OUTPUT};
use self::limits::{MAX_CHAIN, MAX_EXPRESSION, MAX_TEMPLATE};
pub use self::uses::{FILTERS, Uses};
use self::uses::{code_of, unknown_filters};

use superstep_document::{Text, suggest, text};

use self::jinja_value::{from_jinja, recorded_state, to_jinja};

/// The kind of problem with an expression or template.
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
    /// The run was stopped meanwhile.
    Stopped,
    /// What it gives is not JSON.
    NotJson,
    /// What it gives is JSON of the wrong kind for its place.
    WrongType,
}

impl ExpressionProblem {
    /// Returns a stable name in kebab-case.
    pub fn code(self) -> &'static str {
        match self {
            ExpressionProblem::Syntax => "expression-syntax",
            ExpressionProblem::Undefined => "expression-undefined",
            ExpressionProblem::TooMuchWork => "expression-too-much-work",
            ExpressionProblem::TooLong => "expression-too-long",
            ExpressionProblem::Evaluation => "expression-failed",
            ExpressionProblem::Stopped => "expression-stopped",
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
    pub message: Text,
    /// What to do.
    pub remedy: Text,
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

fn shortened(text: &str) -> String {
    const MAX_SHOWN: usize = 120;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_SHOWN {
        line
    } else {
        line.chars().take(MAX_SHOWN).chain(['…']).collect()
    }
}

/// The message of an expression that ended with its run.
const ENDED: Text = text!("the run was stopped while it was worked out.");

/// Returns whether a node or an edge ended because an expression of it ended with the run.
pub(crate) fn is_stop(error: &NodeError) -> bool {
    matches!(error, NodeError::Failed(failure) if failure.message.contains(&*ENDED))
}

/// The variables of an evaluation.
#[derive(Clone)]
pub struct Scope {
    state: Value,
    /// The run context; an object without members when the run has none.
    context: Value,
    extra: Vec<(Arc<str>, Value)>,
    /// The run that evaluates, which may be stopped.
    run: Option<NodeContext>,
    /// It notes which keys of the state are read.
    records: bool,
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("variables")
    }
}

impl Scope {
    /// Creates a scope with `state`, and `input` as another name for it.
    pub fn new(state: &Value) -> Self {
        Self {
            state: state.clone(),
            context: superstep::value::Object::new().into(),
            extra: Vec::new(),
            run: None,
            records: false,
        }
    }
    /// Creates the scope of a run, whose context is `context`. The run is given the names of the keys that are read, if
    /// it wants them.
    pub fn of(run: &NodeContext, state: &Value) -> Self {
        let mut scope = Self::new(state).with_context(run.context());
        scope.run = Some(run.clone());
        scope.records = run.recorder().is_some();
        scope
    }
    /// Sets the run context.
    pub(crate) fn with_context(mut self, context: &Value) -> Self {
        if !context.is_null() {
            self.context = context.clone();
        }
        self
    }
    /// Adds a variable.
    pub fn with(mut self, name: impl Into<Arc<str>>, value: Value) -> Self {
        self.extra.push((name.into(), value));
        self
    }
    fn binds(&self, name: &str) -> bool {
        matches!(name, "state" | "input" | "context") || self.extra.iter().any(|(extra, _)| **extra == *name)
    }
}

impl Dynamic for Scope {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.get_value_by_str(key.as_str()?)
    }
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        let extra = || self.extra.iter().rev().find(|(name, _)| **name == *key);
        match key {
            "state" | "input" => Some(match (&self.run, &self.state) {
                (Some(run), Value::Object(_)) if self.records => recorded_state(run, &self.state),
                _ => to_jinja(&self.state),
            }),
            _ => match (extra(), key) {
                (Some((_, value)), _) => Some(to_jinja(value)),
                (None, "context") => Some(to_jinja(&self.context)),
                (None, _) => None,
            },
        }
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Str(&["state", "input", "context"])
    }
}

/// The common parts of expressions and templates: place, text and what they use.
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
            text!("it has more operators than can be worked through."),
            text!("Do it in steps, or in a code node."),
        )
    }

    /// Refuses a source that is too large to be read.
    fn check_size(&self, limit: usize) -> Result<(), ExpressionError> {
        match self.source.len() > limit {
            true => Err(self.error(
                ExpressionProblem::Syntax,
                text!("it is longer than {size} KB.", size = limit / 1024),
                text!("Keep the data in the state or in a file, and the text short."),
            )),
            false => Ok(()),
        }
    }

    fn error(
        &self,
        problem: ExpressionProblem,
        message: impl Into<Text>,
        remedy: impl Into<Text>,
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
                text!("it did not finish within {fuel} steps of work.", fuel = FUEL),
                text!("Loop over fewer items, or do the work in a code node."),
            ),
            ErrorKind::WriteFailure if error.detail() == Some(budget::STOPPED) => self.error(
                ExpressionProblem::Stopped,
                ENDED,
                text!("Go on with the thread."),
            ),
            ErrorKind::WriteFailure => self.error(
                ExpressionProblem::TooLong,
                format!("{}.", error.detail().unwrap_or("it gives too much text")),
                text!(
                    "Work with a part of the value, e.g. `state.items[:20]`, or do the work in a code node."
                ),
            ),
            ErrorKind::UndefinedError => self.undefined(scope, &detail),
            ErrorKind::InvalidOperation if error.detail().is_some_and(|detail| detail.starts_with(compare::NO_ORDER)) => {
                self.error(
                    ExpressionProblem::Evaluation,
                    format!("{}.", error.detail().unwrap_or_default()),
                    text!("Compare values of one type: `state.score|float >= 50`, or give the key the type number."),
                )
            }
            // Operators say it in their own words.
            ErrorKind::InvalidOperation if scope.is_some() && detail.contains("undefined") => {
                self.undefined(scope, &detail)
            }
            ErrorKind::SyntaxError | ErrorKind::BadEscape => self.error(
                ExpressionProblem::Syntax,
                format!("{detail}."),
                text!("Correct the Jinja; a text inside an expression stands in quotes."),
            ),
            ErrorKind::UnknownFilter
            | ErrorKind::UnknownTest
            | ErrorKind::UnknownFunction
            | ErrorKind::UnknownMethod => self.error(
                ExpressionProblem::Evaluation,
                format!("{detail}."),
                text!("The expression reference lists what there is."),
            ),
            ErrorKind::BadSerialization | ErrorKind::NonKey => self.error(
                ExpressionProblem::NotJson,
                format!("{detail}."),
                text!("Give text, numbers, lists and objects."),
            ),
            ErrorKind::TemplateNotFound | ErrorKind::BadInclude => self.error(
                ExpressionProblem::Evaluation,
                format!("{detail}."),
                text!("There are no other templates to include or extend; write the text here."),
            ),
            _ => self.error(
                ExpressionProblem::Evaluation,
                format!("{detail}."),
                text!("Check the types of the values it works on."),
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
                text!(
                    "`state.{first}` has no value here.{hint} Keys with a value: {known}.",
                    first,
                    hint = suggest::did_you_mean(first, known()),
                    known = suggest::listing(known())
                ),
                text!(
                    "Correct the name, give the key a default, or write `state.{first}|default(…)`.",
                    first
                ),
            );
        }
        let bound = |name: &str| scope.is_some_and(|scope| scope.binds(name));
        if let Some(name) = self.uses.names.iter().find(|name| !bound(name)) {
            return self.error(
                ExpressionProblem::Undefined,
                text!("there is no `{name}`.", name),
                text!(
                    "State keys are read as `state.{name}`; text stands in quotes.",
                    name
                ),
            );
        }
        self.error(
            ExpressionProblem::Undefined,
            text!("it uses a part of a value that is not there ({detail}).", detail),
            text!("Check the spelling of the member, or add `|default(…)` where it may be missing."),
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
                text!("it is empty."),
                text!("Write an expression, e.g. `state.name`."),
            ));
        }
        origin.check_size(MAX_EXPRESSION)?;
        let chain = operators::chain(source);
        if chain > MAX_CHAIN {
            return Err(origin.too_long());
        }
        let compile = || {
            let bounded = operators::expression(source)?;
            let compiled = JINJA.compile_expression_owned(bounded.source)?;
            let variables = compiled.undeclared_variables(true);
            Ok((compiled, variables, bounded.comparisons))
        };
        let (compiled, variables, comparisons) = operators::on_own_stack(chain, compile).map_err(|e| {
            let mut error = origin.explain(&e, None);
            if source.contains("{{") || source.contains("{%") {
                error.remedy =
                    text!("This place takes an expression: what stands between `{{` and `}}`, without them.");
            }
            error
        })?;
        origin.uses = Uses::of(variables);
        origin.uses.unknown_filters = unknown_filters(source);
        origin.uses.comparisons = comparisons;
        Ok(Self { origin, compiled })
    }

    /// Returns what the expression uses.
    pub fn uses(&self) -> &Uses {
        &self.origin.uses
    }

    /// Returns the text of the expression.
    pub fn source(&self) -> &Arc<str> {
        &self.origin.source
    }

    /// Evaluates it; the result keeps its JSON type.
    pub fn eval(&self, scope: &Scope) -> Result<Value, ExpressionError> {
        budget::within(scope.run.as_ref(), || {
            let value = self.raw(scope)?;
            if value.is_undefined() {
                return Err(self.origin.undefined(Some(scope), "undefined value"));
            }
            from_jinja(&value).map_err(|cause| {
                self.origin.error(
                    ExpressionProblem::NotJson,
                    format!("{cause}."),
                    text!("Give text, numbers, lists and objects."),
                )
            })
        })
    }

    /// Evaluates it as a condition, by Jinja's rules: empty, zero, null and undefined are false.
    pub fn truth(&self, scope: &Scope) -> Result<bool, ExpressionError> {
        budget::within(scope.run.as_ref(), || Ok(self.raw(scope)?.is_true()))
    }

    /// Evaluates it as a list.
    pub fn list(&self, scope: &Scope) -> Result<superstep::value::List, ExpressionError> {
        match self.eval(scope)? {
            Value::Array(list) => Ok(list),
            other => Err(self.wrong_type(text!("a list"), &other)),
        }
    }

    /// Creates the error for a result of the wrong type.
    pub fn wrong_type(&self, expected: Text, found: &Value) -> ExpressionError {
        self.origin.error(
            ExpressionProblem::WrongType,
            text!(
                "it must give {expected}, but gave {found} of type {ty}.",
                expected,
                found = shortened(&found.to_string()),
                ty = found.type_name()
            ),
            text!("Change the expression, or the value it reads."),
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
                text!("Check the values it works on."),
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
/// Templates of this name give addresses: what is in `{{ }}` is encoded, so that it is never more than a value.
const ADDRESS: &str = "address";

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
        origin.check_size(MAX_TEMPLATE)?;
        let chain = operators::template_chain(source);
        if chain > MAX_CHAIN {
            return Err(origin.too_long());
        }
        let compile = || {
            let bounded = operators::template(source)?;
            let mut env = JINJA.clone();
            if let Some(longest) = bounded.collects {
                // What is collected in memory is as much as steps can add, and a step adds a text between code whole.
                env.set_fuel(Some(FUEL.min((limits::MAX_TEXT_BYTES / longest.max(1)) as u64)));
            }
            env.add_template_owned(name, bounded.source)?;
            let variables = env.get_template(name)?.undeclared_variables(true);
            Ok((env, variables, bounded.comparisons))
        };
        let (env, variables, comparisons) =
            operators::on_own_stack(chain, compile).map_err(|e| origin.explain(&e, None))?;
        origin.uses = Uses::of(variables);
        origin.uses.unknown_filters = code_of(source).flat_map(unknown_filters).collect();
        origin.uses.comparisons = comparisons;
        Ok(Self { origin, env, name })
    }

    /// Returns what the template uses.
    pub fn uses(&self) -> &Uses {
        &self.origin.uses
    }

    /// Renders the text.
    pub fn render(&self, scope: &Scope) -> Result<String, ExpressionError> {
        let template = self
            .env
            .get_template(self.name)
            .map_err(|e| self.origin.explain(&e, Some(scope)))?;
        let mut out = Limited::new(MAX_OUTPUT);
        let values = Jinja::from_object(scope.clone());
        let rendered = budget::within(scope.run.as_ref(), || {
            template.render_captured_to(values, &mut out).map(drop)
        });
        if out.full {
            return Err(self.origin.error(
                ExpressionProblem::TooLong,
                text!(
                    "the text would be longer than {size} MB.",
                    size = MAX_OUTPUT / 1024 / 1024
                ),
                text!("Show only a part of the value, e.g. `state.items[:20]`."),
            ));
        }
        rendered.map_err(|e| self.origin.explain(&e, Some(scope)))?;
        String::from_utf8(out.bytes).map_err(|e| {
            self.origin.error(
                ExpressionProblem::Evaluation,
                format!("{e}."),
                text!("Check the values it works on."),
            )
        })
    }
}
