//! Breakpoints as people write them, and as the engine takes them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use superstep::Value;
use superstep::run::{Breakpoint as Point, BreakpointLimit, BreakpointPlace, HitRule};
use superstep_nodes::expression::{Expression, Scope, Template, Uses};

use super::program_points;
use crate::Workbench;
use crate::wire::{BreakHits, BreakWhen, Breakpoint, CheckBreakpoint, Dollars, Empty, Problem};
use superstep_document::{Document, Join, Text, suggest, text};

impl Workbench {
    pub(crate) async fn breakpoint_check(
        self: &Arc<Self>,
        request: CheckBreakpoint,
    ) -> Result<Empty, Problem> {
        request.point.compile()?;
        if let Some(graph_id) = &request.graph_id {
            let is_seen = self.document(graph_id)?.is_seen();
            if let Some(attachment) = self.attached().filter(|_| is_seen) {
                program_points::check(&request.point, attachment.drawing())?;
            }
        }
        Ok(Empty {})
    }
}

/// The names that a condition sees beside `state`.
const NAMES: [&str; 6] = ["old", "new", "writer", "task", "value", "run"];

/// Builds the variables of a condition.
pub(super) fn scope(seen: &Value) -> Scope {
    let mut scope = Scope::new(&seen["state"]);
    for name in NAMES {
        if let Some(value) = seen.get(name) {
            scope = scope.with(name, value.clone());
        }
    }
    scope
}

pub(super) fn invalid(point: &Breakpoint, message: impl Into<Text>) -> Problem {
    Problem::new(
        "invalid-breakpoint",
        text!(
            "The breakpoint `{point}` is not valid: {message}",
            point = point.to_string(),
            message = message.into()
        ),
    )
}

/// Refuses names that no condition sees, so that a misspelt one is no condition that never holds.
fn known(point: &Breakpoint, uses: &Uses) -> Result<(), Problem> {
    let unknown: BTreeSet<&str> = uses
        .names
        .iter()
        .map(String::as_str)
        .filter(|name| !NAMES.contains(name))
        .collect();
    match unknown.into_iter().next() {
        None => Ok(()),
        Some(name) => Err(
            invalid(point, text!("there is no `{name}` here.", name)).remedy(text!(
                "Use `state` and, where the place has them, {names}.",
                names = Text::list(Join::Comma, NAMES.map(|name| format!("`{name}`")))
            )),
        ),
    }
}

impl Breakpoint {
    /// Creates a breakpoint that is switched on and has nothing but its place.
    pub fn at(when: BreakWhen, node: impl Into<String>) -> Self {
        Self {
            id: None,
            node: node.into(),
            when,
            to: None,
            key: None,
            kind: None,
            limit: None,
            amount: None,
            within: None,
            condition: None,
            hits: None,
            log: None,
            once: false,
            enabled: true,
        }
    }

    fn place(&self) -> Result<BreakpointPlace, Problem> {
        let node = || {
            if self.node.is_empty() {
                return Err(invalid(self, text!("it names no node."))
                    .remedy(text!("Name the node, or `*` for every node.")));
            }
            Ok(self.node.as_str().into())
        };
        let key = || {
            let key = self.key.as_deref().filter(|key| !key.is_empty());
            key.map(Into::into)
                .ok_or_else(|| invalid(self, text!("it names no state key.")).remedy(text!("Name the key.")))
        };
        let limit = || {
            let limit = self.limit.filter(|limit| *limit > 0);
            limit.ok_or_else(|| {
                invalid(self, text!("it has no limit.")).remedy(text!("Give a number above 0."))
            })
        };
        let kind = || {
            let kind = self.kind.as_deref().filter(|kind| !kind.is_empty());
            kind.map(Into::into)
        };
        Ok(match self.when {
            BreakWhen::Before => BreakpointPlace::Before(node()?),
            BreakWhen::After => BreakpointPlace::After(node()?),
            BreakWhen::Edge => {
                let to = self.to.as_deref().filter(|to| !to.is_empty());
                let to = to.ok_or_else(|| {
                    invalid(self, text!("it names no target."))
                        .remedy(text!("Name the node that the edge comes to."))
                })?;
                BreakpointPlace::Edge {
                    from: node()?,
                    to: to.into(),
                }
            }
            BreakWhen::Key => BreakpointPlace::Key(key()?),
            BreakWhen::Error => BreakpointPlace::Error {
                node: node()?,
                class: kind(),
            },
            BreakWhen::Retry => BreakpointPlace::Retry(node()?),
            BreakWhen::Question => BreakpointPlace::Question {
                node: node()?,
                kind: kind(),
            },
            BreakWhen::Emitted => BreakpointPlace::Emitted(node()?),
            BreakWhen::Steps => BreakpointPlace::Limit(BreakpointLimit::Steps(limit()?.into())),
            BreakWhen::Seconds => {
                let time = Duration::from_secs(limit()?.into());
                BreakpointPlace::Limit(BreakpointLimit::Time(time))
            }
            BreakWhen::StateBytes => BreakpointPlace::Limit(BreakpointLimit::StateBytes(limit()? as usize)),
            BreakWhen::KeyBytes => {
                BreakpointPlace::Limit(BreakpointLimit::KeyBytes(key()?, limit()? as usize))
            }
            BreakWhen::Tokens => BreakpointPlace::Limit(BreakpointLimit::Tokens(limit()?.into())),
            BreakWhen::Cost => {
                let amount = self.amount.map(f64::from).filter(|amount| *amount > 0.0);
                let amount = amount.ok_or_else(|| {
                    invalid(self, text!("it has no amount."))
                        .remedy(text!("Give an amount in US dollars above 0."))
                })?;
                BreakpointPlace::Limit(BreakpointLimit::Cost(amount))
            }
            BreakWhen::Watch => BreakpointPlace::Watch,
        })
    }

    /// Refuses state keys that the graph does not declare, so that a misspelt one is no condition that never holds. A
    /// nested graph has keys of its own, and a graph that declares none may have any.
    ///
    /// # Errors
    ///
    /// The condition or the text reads such a key.
    pub fn reads_only_keys_of(&self, document: &Document) -> Result<(), Problem> {
        self.reads_only(&document.state_keys().map(|(key, _)| key).collect())
    }

    /// Refuses state keys that are none of these, unless none are declared.
    pub(super) fn reads_only(&self, declared: &BTreeSet<&str>) -> Result<(), Problem> {
        if self.within.is_some() || declared.is_empty() {
            return Ok(());
        }
        let condition = self.condition.as_deref().unwrap_or_default().trim();
        let mut read = BTreeSet::new();
        if !condition.is_empty()
            && let Ok(condition) = Expression::compile(condition, "the condition of a breakpoint")
        {
            read.extend(condition.uses().keys.iter().cloned());
        }
        if let Some(log) = &self.log
            && let Ok(text) = Template::compile(log, "the text of a breakpoint")
        {
            read.extend(text.uses().keys.iter().cloned());
        }
        match read.iter().find(|key| !declared.contains(key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let hint = suggest::did_you_mean(key, declared.iter().copied());
                Err(
                    invalid(self, text!("the state has no key `{key}`.{hint}", key, hint))
                        .remedy(text!("Name a key of the state.")),
                )
            }
        }
    }

    /// Converts the breakpoint to the engine's form.
    ///
    /// # Errors
    ///
    /// The place is not complete, or its condition or text does not compile or uses a name that is not there.
    pub fn compile(&self) -> Result<Point, Problem> {
        let id = self.id.clone().unwrap_or_else(|| self.to_string());
        let mut point = Point::new(id, self.place()?).within(self.within.clone().unwrap_or_default());
        if let Some(hits) = self.hits {
            point = point.hits(match hits {
                BreakHits::Every(n) => HitRule::Every(n.into()),
                BreakHits::Nth(n) => HitRule::Nth(n.into()),
                BreakHits::From(n) => HitRule::From(n.into()),
            });
        }
        if let Some(condition) = self.compiled_condition()? {
            point = point.when(move |seen: &Value| {
                condition
                    .truth(&scope(seen))
                    .map_err(|error| error.message.into())
            });
        }
        if let Some(text) = self.compiled_log()? {
            point = point
                .log(move |seen: &Value| text.render(&scope(seen)).map_err(|error| error.message.into()));
        }
        Ok(point)
    }

    /// Compiles the condition, where there is one.
    pub(super) fn compiled_condition(&self) -> Result<Option<Expression>, Problem> {
        let source = self.condition.as_deref().map(str::trim);
        match source.filter(|text| !text.is_empty()) {
            Some(source) => {
                let condition = Expression::compile(source, "the condition of a breakpoint")
                    .map_err(|error| invalid(self, &error.message).remedy(error.remedy))?;
                known(self, condition.uses())?;
                Ok(Some(condition))
            }
            None if self.when == BreakWhen::Watch => {
                Err(
                    invalid(self, text!("a watchpoint needs a condition.")).remedy(text!(
                        "Write an expression that becomes true, such as `state.retries > 2`."
                    )),
                )
            }
            None => Ok(None),
        }
    }

    /// Compiles the text that is logged, where there is one.
    pub(super) fn compiled_log(&self) -> Result<Option<Template>, Problem> {
        let Some(source) = self.log.as_deref().filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let text = Template::compile(source, "the text of a breakpoint")
            .map_err(|error| invalid(self, &error.message).remedy(error.remedy))?;
        known(self, text.uses())?;
        Ok(Some(text))
    }
}

/// The form of the command line, which [`Breakpoint::from_str`] reads.
impl fmt::Display for Breakpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, key) = (&self.node, self.key.as_deref().unwrap_or_default());
        let limit = self.limit.unwrap_or_default();
        let kind = self
            .kind
            .as_ref()
            .map(|kind| format!(":{kind}"))
            .unwrap_or_default();
        match self.when {
            BreakWhen::Before => write!(f, "before:{node}"),
            BreakWhen::After => write!(f, "after:{node}"),
            BreakWhen::Edge => match &self.to {
                Some(to) => write!(f, "edge:{node}->{to}"),
                None => write!(f, "edge:{node}"),
            },
            BreakWhen::Key => write!(f, "key:{key}"),
            BreakWhen::Error => write!(f, "error:{node}{kind}"),
            BreakWhen::Retry => write!(f, "retry:{node}"),
            BreakWhen::Question => write!(f, "question:{node}{kind}"),
            BreakWhen::Emitted => write!(f, "emitted:{node}"),
            BreakWhen::Steps => write!(f, "steps:{limit}"),
            BreakWhen::Seconds => write!(f, "seconds:{limit}"),
            BreakWhen::StateBytes => write!(f, "state-bytes:{limit}"),
            BreakWhen::KeyBytes => write!(f, "key-bytes:{key}:{limit}"),
            BreakWhen::Tokens => write!(f, "tokens:{limit}"),
            BreakWhen::Cost => write!(f, "cost:{}", self.amount.map_or(0.0, f64::from)),
            BreakWhen::Watch => f.write_str("watch"),
        }?;
        if let Some(within) = &self.within {
            write!(f, " in {within}")?;
        }
        match self.hits {
            None => {}
            Some(BreakHits::Every(n)) => write!(f, " every {n}")?,
            Some(BreakHits::Nth(n)) => write!(f, " hit {n}")?,
            Some(BreakHits::From(n)) => write!(f, " from {n}")?,
        }
        if let Some(condition) = &self.condition {
            write!(f, " if {condition}")?;
        }
        if let Some(log) = &self.log {
            write!(f, " => {log}")?;
        }
        Ok(())
    }
}

const FORMS: &str = "Write PLACE [in GRAPH] [every N | hit N | from N] [if CONDITION] [=> TEXT TO LOG]. PLACE is before:NODE, \
                     after:NODE, edge:FROM->TO or edge:ID, key:KEY, error[:NODE[:CLASS]], retry[:NODE], question[:NODE[:KIND]], \
                     emitted[:NODE], steps:N, seconds:N, state-bytes:N, key-bytes:KEY:N, tokens:N, cost:USD or watch.";

fn bad(message: Text) -> Problem {
    Problem::new("invalid-breakpoint", message).remedy(FORMS)
}

fn not_above_zero(text: &str, whole: &str) -> Problem {
    bad(text!(
        "`{text}` in the breakpoint `{whole}` is not a number above 0.",
        text,
        whole = whole.trim()
    ))
}

/// Parses a number above zero; `whole` is the text that contains it.
fn above_zero(text: &str, whole: &str) -> Result<u32, Problem> {
    let number = text.parse::<u32>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| not_above_zero(text, whole))
}

impl Breakpoint {
    /// Parses the place of a breakpoint; `whole` is the text around it.
    fn at_place(place: &str, whole: &str) -> Result<Self, Problem> {
        let (name, of) = place.split_once(':').unwrap_or((place, ""));
        let node = |of: &str| {
            if of.is_empty() {
                "*".to_owned()
            } else {
                of.to_owned()
            }
        };
        let with_kind = |when: BreakWhen| {
            let (of, kind) = of
                .split_once(':')
                .map_or((of, None), |(of, kind)| (of, Some(kind)));
            let mut point = Self::at(when, node(of));
            point.kind = kind.map(str::to_owned);
            point
        };
        Ok(match name {
            "before" => Self::at(BreakWhen::Before, of),
            "after" => Self::at(BreakWhen::After, of),
            "edge" => {
                // Without an arrow it is the id of an edge; which one, the graph says.
                let (from, to) = of
                    .split_once("->")
                    .map_or((of, None), |(from, to)| (from, Some(to)));
                let mut point = Self::at(BreakWhen::Edge, from);
                point.to = to.map(|to| if to == "END" { superstep::END } else { to }.to_owned());
                point
            }
            "key" => {
                let mut point = Self::at(BreakWhen::Key, "");
                point.key = Some(of.to_owned());
                point
            }
            "error" => with_kind(BreakWhen::Error),
            "question" => with_kind(BreakWhen::Question),
            "retry" => Self::at(BreakWhen::Retry, node(of)),
            "emitted" => Self::at(BreakWhen::Emitted, node(of)),
            "steps" | "seconds" | "state-bytes" | "tokens" => {
                let mut point = Self::at(
                    match name {
                        "steps" => BreakWhen::Steps,
                        "seconds" => BreakWhen::Seconds,
                        "tokens" => BreakWhen::Tokens,
                        _ => BreakWhen::StateBytes,
                    },
                    "",
                );
                point.limit = Some(above_zero(of, whole)?);
                point
            }
            "key-bytes" => {
                let (key, bytes) = of
                    .rsplit_once(':')
                    .ok_or_else(|| bad(text!("`{place}` names no size.", place)))?;
                let mut point = Self::at(BreakWhen::KeyBytes, "");
                (point.key, point.limit) = (Some(key.to_owned()), Some(above_zero(bytes, whole)?));
                point
            }
            "cost" => {
                let mut point = Self::at(BreakWhen::Cost, "");
                let amount = of.parse::<f64>().ok().filter(|amount| amount.is_finite());
                let amount = amount
                    .map(Dollars::from)
                    .filter(|amount| f64::from(*amount) > 0.0);
                point.amount = Some(amount.ok_or_else(|| not_above_zero(of, whole))?);
                point
            }
            "watch" => Self::at(BreakWhen::Watch, ""),
            _ => return Err(bad(text!("`{place}` is no place of a breakpoint.", place))),
        })
    }
}

impl FromStr for Breakpoint {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let (rest, log) = match text.split_once(" => ") {
            Some((rest, log)) => (rest, Some(log.trim().to_owned())),
            None => (text, None),
        };
        let (rest, condition) = match rest.split_once(" if ") {
            Some((rest, condition)) => (rest, Some(condition.trim().to_owned())),
            None => (rest, None),
        };
        let mut words = rest.split_whitespace();
        let place = words.next().unwrap_or_default();
        let number = |text: &str| above_zero(text, rest);
        let mut point = Self::at_place(place, rest)?;
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| {
                bad(text!(
                    "`{word}` in the breakpoint `{whole}` says nothing.",
                    word,
                    whole = rest.trim()
                ))
            })?;
            match word {
                "in" => point.within = Some(value.to_owned()),
                "every" => point.hits = Some(BreakHits::Every(number(value)?)),
                "hit" => point.hits = Some(BreakHits::Nth(number(value)?)),
                "from" => point.hits = Some(BreakHits::From(number(value)?)),
                _ => {
                    return Err(bad(text!(
                        "`{word}` is not known in the breakpoint `{whole}`.",
                        word,
                        whole = rest.trim()
                    )));
                }
            }
        }
        (point.condition, point.log) = (condition, log);
        let mut shape = point.clone();
        if point.when == BreakWhen::Edge && point.to.is_none() {
            shape.to = Some(superstep::END.to_owned());
        }
        shape.compile()?;
        Ok(point)
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn a_condition_reads_only_keys_that_are_declared() {
        let (document, _) =
            Document::parse(r#"{"format": "superstep/1", "state": {"n": {"type": "integer"}}}"#);
        let refused = |text: &str| {
            let point: Breakpoint = text.parse().expect("it is valid without a graph");
            point
                .reads_only_keys_of(&document)
                .err()
                .map(|problem| problem.message.to_string())
        };
        for known in [
            "watch if state.n > 3",
            "before:a if run.step > 2",
            "key:n if new > old => {{ state.n }}",
        ] {
            assert_eq!(refused(known), None, "{known}");
        }
        for (unknown, key) in [
            ("watch if state.nope > 3", "nope"),
            ("before:a if state.n > 1 and state.gone", "gone"),
            ("after:a => {{ state.lost }}", "lost"),
        ] {
            let message = refused(unknown).expect(unknown);
            assert!(message.contains(key), "{message}");
        }
        assert_eq!(
            refused("watch in inner if state.nope > 3"),
            None,
            "a nested graph has its own"
        );
        let (open, _) = Document::parse(r#"{"format": "superstep/1"}"#);
        let point: Breakpoint = "watch if state.nope > 3".parse().expect("it is valid");
        assert!(point.reads_only_keys_of(&open).is_ok(), "nothing is declared");
    }

    #[test]
    fn the_form_of_the_command_line_comes_back_as_it_was() {
        for text in [
            "before:draft",
            "after:* in refund/desk",
            "edge:check->retry if state.retries > 2",
            "edge:check->__end__",
            "edge:second",
            "key:total every 3 if new < 0",
            "error:*",
            "error:flaky:TimeoutError hit 2",
            "retry:flaky from 2",
            "question:*:approval",
            "emitted:*",
            "steps:40",
            "seconds:5",
            "state-bytes:100000",
            "key-bytes:docs:2000",
            "tokens:20000",
            "cost:0.25 => {{ run.cost }} USD after {{ run.tokens }} tokens",
            "watch if state.retries > 2 => retries is {{ state.retries }}",
        ] {
            let point: Breakpoint = text.parse().unwrap_or_else(|problem| panic!("{text}: {problem}"));
            assert_eq!(point.to_string(), text);
        }
    }

    #[test]
    fn what_is_not_understood_says_what_can_be_written() {
        for (text, message) in [
            ("", "`` is no place of a breakpoint."),
            ("befor:draft", "`befor:draft` is no place of a breakpoint."),
            ("before:", "it names no node."),
            ("edge:", "it names no node."),
            (
                "steps:0",
                "`0` in the breakpoint `steps:0` is not a number above 0.",
            ),
            ("key-bytes:docs", "`key-bytes:docs` names no size."),
            (
                "tokens:many",
                "`many` in the breakpoint `tokens:many` is not a number above 0.",
            ),
            (
                "cost:0",
                "`0` in the breakpoint `cost:0` is not a number above 0.",
            ),
            (
                "cost:-1",
                "`-1` in the breakpoint `cost:-1` is not a number above 0.",
            ),
            ("cost:0.0000001", "is not a number above 0."),
            (
                "after:a every",
                "`every` in the breakpoint `after:a every` says nothing.",
            ),
            (
                "after:a sometimes 3",
                "`sometimes` is not known in the breakpoint `after:a sometimes 3`.",
            ),
            ("watch", "a watchpoint needs a condition."),
            ("after:a if retries > 2", "there is no `retries` here."),
            ("after:a if state.", "is not valid"),
            ("after:a => {{ state.x", "is not valid"),
        ] {
            let problem = text.parse::<Breakpoint>().expect_err(text);
            assert!(problem.message.contains(message), "{text}: {}", problem.message);
            assert!(problem.remedy.is_some(), "{text}");
        }
    }

    #[test]
    fn conditions_see_the_state_and_what_the_place_has() {
        let point: Breakpoint = "key:total if new < old and state.sure and task.node == writer"
            .parse()
            .expect("a breakpoint");
        let seen = json!({
            "state": {"sure": true, "total": 3}, "old": 5, "new": 3, "writer": "loop", "task": {"node": "loop"},
        });
        let condition = Expression::compile(point.condition.as_deref().unwrap_or_default(), "test");
        assert!(
            condition
                .expect("it compiles")
                .truth(&scope(&seen))
                .expect("a result")
        );
    }

    #[test]
    fn breakpoints_of_earlier_releases_are_read() {
        let old = r#"{"node":"draft","when":"before","enabled":false}"#;
        let point: Breakpoint = serde_json::from_str(old).expect("a breakpoint");
        assert!(!point.enabled);
        assert_eq!(point.to_string(), "before:draft");
        assert_eq!(serde_json::to_string(&point).expect("text"), old);
    }

    #[test]
    fn an_amount_is_a_number_on_the_wire() {
        let json = r#"{"node":"","when":"cost","amount":0.05,"enabled":true}"#;
        let point: Breakpoint = serde_json::from_str(json).expect("a breakpoint");
        assert_eq!(serde_json::to_string(&point).expect("text"), json);
        let place = BreakpointPlace::Limit(BreakpointLimit::Cost(0.05));
        assert_eq!(point.compile().expect("it is valid").place(), &place);
        let without: Breakpoint =
            serde_json::from_str(r#"{"when":"cost","enabled":true}"#).expect("a breakpoint");
        let problem = without.compile().expect_err("it has no amount");
        assert!(
            problem.message.contains("it has no amount."),
            "{}",
            problem.message
        );
    }
}
