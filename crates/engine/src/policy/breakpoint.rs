//! Breakpoints: places where a run stops, conditions under which it does, and what happens there. An invariant of a graph is
//! one whose condition must hold.
//!
//! A run without breakpoints pays nothing for them: [`RunConfig::breakpoints`](crate::RunConfig::breakpoints) is empty
//! then, and every place asks for that first.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::base::ids::{Name, TaskId};
use crate::value::Value;

/// A test of a moment of a run, in the language of the host.
///
/// The engine has no expressions of its own. A condition is given one object:
///
/// | key | value |
/// |---|---|
/// | `state` | the state, after the step where the place comes after one |
/// | `old` | the state before the step; of a key, its value before |
/// | `new`, `writer` | of a key: its value, and the node that wrote it last |
/// | `task` | `node`, `id`, `input`, and `attempt` and `error` where there are any |
/// | `value` | of an emitted value or a question: the value itself |
/// | `run` | `id`, `step`, `steps`, `seconds`, `tokens` and `cost` (USD) of this run |
///
/// At a retry there is `task` and `run`: the task is in the middle of its work.
pub trait Condition: Send + Sync {
    /// Tells whether the condition holds. A condition that cannot be evaluated stops the run, and its error is the reason:
    /// a breakpoint that silently never stops is worse than one that stops too early.
    fn holds(&self, seen: &Value) -> Result<bool, String>;
}

impl<F: Fn(&Value) -> Result<bool, String> + Send + Sync> Condition for F {
    fn holds(&self, seen: &Value) -> Result<bool, String> {
        self(seen)
    }
}

/// A text made from what a [`Condition`] is given, for a breakpoint that only logs.
pub trait LogText: Send + Sync {
    /// Makes the text.
    fn text(&self, seen: &Value) -> Result<String, String>;
}

impl<F: Fn(&Value) -> Result<String, String> + Send + Sync> LogText for F {
    fn text(&self, seen: &Value) -> Result<String, String> {
        self(seen)
    }
}

/// A place where a run can stop. Names of nodes may be `*`, which means every node.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BreakpointPlace {
    /// Before a step in which the node has a task.
    Before(Name),
    /// After a step in which the node had a task.
    After(Name),
    /// After a step in which `from` led to `to`, by an edge, a router, a packet or a command. With
    /// [`END`](crate::END) as `to`: after a step in which `from` led nowhere.
    Edge {
        /// The node that the edge leaves.
        from: Name,
        /// The node that it comes to.
        to: Name,
    },
    /// After a step that wrote this key of the state, with the same value, too.
    Key(Name),
    /// When a task of the node fails and no attempt is left, before an error handler takes over. The step stays open
    /// with what its other tasks finished.
    Error {
        /// The node.
        node: Name,
        /// The class of the error, such as `TimeoutError`; every class without.
        class: Option<Name>,
    },
    /// When an attempt of the node failed and another would follow. The step stays open, as after an error.
    Retry(Name),
    /// When the node asks. The run stops there in any case: the breakpoint says so to hosts that would answer themselves.
    Question {
        /// The node.
        node: Name,
        /// The `kind` of the question, such as `approval`; every kind without.
        kind: Option<Name>,
    },
    /// After a step in which the node emitted a value of its own ([`NodeContext::emit`](crate::NodeContext::emit)).
    Emitted(Name),
    /// After the step that took the run to this limit.
    Limit(BreakpointLimit),
    /// After a step that made the condition true which was false before it. Needs a condition.
    Watch,
}

/// A limit that stops a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BreakpointLimit {
    /// Super-steps of this run.
    Steps(u64),
    /// The time since this run began.
    Time(Duration),
    /// The size of the state, in bytes, as [`RunMetrics::peak_state_bytes`](crate::stream::RunMetrics) estimates it.
    StateBytes(usize),
    /// The size of one key, likewise.
    KeyBytes(Name, usize),
    /// Tokens, sent and answered, that the nodes of the whole run
    /// [reported](crate::NodeContext::report_usage), those of nested graphs included.
    Tokens(u64),
    /// US dollars that they reported, likewise. A request without a price adds nothing.
    Cost(f64),
}

impl fmt::Display for BreakpointPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(node) => write!(f, "before `{node}`"),
            Self::After(node) => write!(f, "after `{node}`"),
            Self::Edge { from, to } => write!(f, "`{from}` to `{to}`"),
            Self::Key(key) => write!(f, "`{key}` written"),
            Self::Error { node, class: None } => write!(f, "error in `{node}`"),
            Self::Error {
                node,
                class: Some(class),
            } => write!(f, "{class} in `{node}`"),
            Self::Retry(node) => write!(f, "retry of `{node}`"),
            Self::Question { node, kind: None } => write!(f, "question of `{node}`"),
            Self::Question {
                node,
                kind: Some(kind),
            } => write!(f, "question of `{node}` ({kind})"),
            Self::Emitted(node) => write!(f, "value emitted by `{node}`"),
            Self::Limit(BreakpointLimit::Steps(steps)) => write!(f, "{steps} steps"),
            Self::Limit(BreakpointLimit::Time(time)) => write!(f, "{} s", time.as_secs_f64()),
            Self::Limit(BreakpointLimit::StateBytes(bytes)) => write!(f, "state of {bytes} bytes"),
            Self::Limit(BreakpointLimit::KeyBytes(key, bytes)) => write!(f, "`{key}` of {bytes} bytes"),
            Self::Limit(BreakpointLimit::Tokens(tokens)) => write!(f, "{tokens} tokens"),
            Self::Limit(BreakpointLimit::Cost(dollars)) => write!(f, "{dollars} USD"),
            Self::Watch => f.write_str("watchpoint"),
        }
    }
}

/// Rule for which of its hits a breakpoint acts on. A hit is a moment at its place at which its condition holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HitRule {
    /// Every one.
    #[default]
    Each,
    /// Every n-th.
    Every(u64),
    /// The n-th, and no other.
    Nth(u64),
    /// All from the n-th on.
    From(u64),
}

/// Reaction to a broken [invariant](Breakpoint::invariant).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenBroken {
    /// The run says so, as a value of the stream mode `custom`, and goes on.
    #[default]
    Tell,
    /// It stops, as at a breakpoint.
    Pause,
    /// It ends with [`RunError::Invariant`](crate::RunError::Invariant). The step is stored, and the thread can go on when
    /// its state was corrected.
    Fail,
}

/// The action of a breakpoint.
#[derive(Clone)]
pub(crate) enum Action {
    /// It stops the run.
    Stop,
    /// It logs a text.
    Log(Arc<dyn LogText>),
    /// It is an invariant, called so.
    Broken(WhenBroken, Name),
}

impl HitRule {
    fn acts_on(self, hit: u64) -> bool {
        match self {
            Self::Each => true,
            Self::Every(n) => hit.is_multiple_of(n.max(1)),
            Self::Nth(n) => hit == n,
            Self::From(n) => hit >= n,
        }
    }
}

/// A place where a run stops, or logs, when a condition holds.
///
/// ```
/// use superstep::run::{Breakpoint, BreakpointPlace, HitRule};
/// use superstep::{RunConfig, Value};
///
/// let tried_too_often = |seen: &Value| Ok(seen["state"]["retries"].as_i64() > Some(2));
/// let breakpoint = Breakpoint::new("b1", BreakpointPlace::Key("retries".into()))
///     .when(tried_too_often)
///     .hits(HitRule::Each);
/// let config = RunConfig::on("thread-1").breakpoints([breakpoint]);
/// assert_eq!(config.breakpoints.len(), 1);
/// ```
#[derive(Clone)]
pub struct Breakpoint {
    pub(crate) id: Name,
    pub(crate) place: BreakpointPlace,
    pub(crate) within: Name,
    pub(crate) condition: Option<Arc<dyn Condition>>,
    pub(crate) rule: HitRule,
    pub(crate) action: Action,
    hits: Arc<AtomicU64>,
}

impl fmt::Debug for Breakpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breakpoint")
            .field("id", &self.id)
            .field("place", &self.place)
            .field("within", &self.within)
            .field("has_condition", &self.condition.is_some())
            .field("rule", &self.rule)
            .field("logs", &matches!(self.action, Action::Log(_)))
            .field("invariant", &self.when_broken())
            .field("hits", &self.hit_count())
            .finish()
    }
}

impl Breakpoint {
    /// Creates a breakpoint of the graph that is run, which stops at every hit.
    pub fn new(id: impl Into<Name>, place: BreakpointPlace) -> Self {
        Self {
            id: id.into(),
            place,
            within: "".into(),
            condition: None,
            rule: HitRule::Each,
            action: Action::Stop,
            hits: Arc::default(),
        }
    }
    /// Creates an invariant, which a [graph](crate::StateGraph::invariant) has: a condition that must hold at every
    /// moment at the place. `says` is its name in messages.
    ///
    /// At [`Watch`](BreakpointPlace::Watch) it holds for the graph as a whole: after the input and after every step. There,
    /// [`Tell`](WhenBroken::Tell) and [`Pause`](WhenBroken::Pause) act in the step that broke it, and
    /// [`Fail`](WhenBroken::Fail) as long as it is broken. A condition about keys that are not there yet is not broken.
    pub fn invariant(
        id: impl Into<Name>,
        place: BreakpointPlace,
        must: impl Condition + 'static,
        says: impl Into<Name>,
        then: WhenBroken,
    ) -> Self {
        Self {
            action: Action::Broken(then, says.into()),
            ..Self::new(id, place).when(must)
        }
    }
    /// Sets the nested graph that the breakpoint is in: the names of the nodes that lead there, joined with `/`, or `*`
    /// for every graph.
    pub fn within(mut self, path: impl Into<Name>) -> Self {
        self.within = path.into();
        self
    }
    /// Sets the condition under which the breakpoint is hit.
    pub fn when(mut self, condition: impl Condition + 'static) -> Self {
        self.condition = Some(Arc::new(condition));
        self
    }
    /// Sets which of its hits the breakpoint acts on.
    pub fn hits(mut self, rule: HitRule) -> Self {
        self.rule = rule;
        self
    }
    /// Logs a text, as a value of the stream mode `custom`, and does not stop.
    pub fn log(mut self, text: impl LogText + 'static) -> Self {
        self.action = Action::Log(Arc::new(text));
        self
    }
    /// Returns the name that [`BreakpointHit::id`] reports.
    pub fn id(&self) -> &Name {
        &self.id
    }
    /// Returns the place of the breakpoint.
    pub fn place(&self) -> &BreakpointPlace {
        &self.place
    }
    /// Returns the number of hits in all runs that this breakpoint and its clones were given to.
    pub fn hit_count(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }
    /// Goes on counting from an earlier number.
    pub fn counted(self, hits: u64) -> Self {
        self.hits.store(hits, Ordering::Relaxed);
        self
    }

    /// Returns what happens when the invariant is broken; `None` for a breakpoint that is no invariant.
    pub fn when_broken(&self) -> Option<WhenBroken> {
        match self.action {
            Action::Broken(then, _) => Some(then),
            _ => None,
        }
    }

    /// Checks whether the breakpoint acts at this moment; for an invariant, whether it is broken.
    pub(crate) fn holds(&self, seen: &Value) -> Result<bool, String> {
        let Some(condition) = &self.condition else {
            return Ok(true);
        };
        let must = self.when_broken().is_some();
        condition.holds(seen).map(|holds| holds != must)
    }

    /// Returns whether the breakpoint belongs to the graph at this path.
    pub(crate) fn is_within(&self, path: &str) -> bool {
        &*self.within == "*" || *self.within == *path
    }

    /// Counts a moment at the place, if the condition holds. Some(why) when the breakpoint acts.
    pub(crate) fn hit(&self, seen: &Value) -> Option<Acts> {
        match self.holds(seen) {
            Ok(false) => None,
            Err(error) => Some(Acts::Unclear(error)),
            Ok(true) => {
                let hit = self.hits.fetch_add(1, Ordering::Relaxed) + 1;
                self.rule.acts_on(hit).then_some(Acts::Hit(hit))
            }
        }
    }
}

/// Reason why a breakpoint acts.
pub(crate) enum Acts {
    /// It was hit, for the n-th time.
    Hit(u64),
    /// Its condition cannot be evaluated.
    Unclear(String),
}

/// The place where a run stopped, and the reason.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BreakpointHit {
    /// The [breakpoint](Breakpoint::id); empty for a task that was stepped over.
    pub id: Name,
    /// A sentence without a full stop, such as "`retries` became 3, written by `call_tool`".
    pub reason: String,
    /// The node, where there is one.
    pub node: Option<Name>,
    /// The task, where there is one.
    pub task_id: Option<TaskId>,
    /// The nodes that lead to the graph in which the run stopped, joined with `/`; empty for the graph itself.
    pub path: String,
    /// The super-step.
    pub step: i64,
    /// The number of this hit; 0 when the condition could not be evaluated.
    pub hit: u64,
}

/// Breakpoint state that the graphs of one run share.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    /// Why the run stops.
    pub(crate) stopped: Mutex<Option<BreakpointHit>>,
    /// The invariant at which it fails.
    pub(crate) broken: Mutex<Option<BreakpointHit>>,
    /// Tasks that stop before their next attempt, and why.
    pub(crate) retries: Mutex<Vec<BreakpointHit>>,
    /// Values that tasks of the open step emitted, with the task.
    pub(crate) emitted: Mutex<Vec<(TaskId, Value)>>,
}

impl Hits {
    /// Takes what these tasks emitted; other graphs of the run take what is theirs.
    pub(crate) fn take_emitted(&self, is_own: impl Fn(&TaskId) -> bool) -> Vec<(TaskId, Value)> {
        let mut emitted = self.emitted.lock();
        let (own, others) = emitted.drain(..).partition(|(id, _)| is_own(id));
        *emitted = others;
        own
    }

    /// Notes why the run stops. The first reason stays.
    pub(crate) fn stop(&self, hit: BreakpointHit) {
        self.stopped.lock().get_or_insert(hit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_choose_hits() {
        let acts = |rule: HitRule| (1..=6).filter(|hit| rule.acts_on(*hit)).collect::<Vec<_>>();
        assert_eq!(acts(HitRule::Each), [1, 2, 3, 4, 5, 6]);
        assert_eq!(acts(HitRule::Every(3)), [3, 6]);
        assert_eq!(acts(HitRule::Every(0)), [1, 2, 3, 4, 5, 6]);
        assert_eq!(acts(HitRule::Nth(2)), [2]);
        assert_eq!(acts(HitRule::From(5)), [5, 6]);
    }

    #[test]
    fn an_invariant_acts_when_it_does_not_hold() {
        let must = |seen: &Value| Ok(seen.as_i64() < Some(3));
        let rule = Breakpoint::invariant("i", BreakpointPlace::Watch, must, "below 3", WhenBroken::Fail);
        assert!(rule.hit(&crate::json!(2)).is_none());
        assert!(matches!(rule.hit(&crate::json!(3)), Some(Acts::Hit(1))));
        assert_eq!(rule.when_broken(), Some(WhenBroken::Fail));
    }

    #[test]
    fn a_condition_that_fails_acts_and_counts_nothing() {
        let breakpoint =
            Breakpoint::new("b", BreakpointPlace::Watch).when(|_: &Value| Err("no key".to_owned()));
        assert!(matches!(breakpoint.hit(&Value::Null), Some(Acts::Unclear(error)) if error == "no key"));
        assert_eq!(breakpoint.hit_count(), 0);
    }
}
