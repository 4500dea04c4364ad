//! Breakpoints of a run: where they are asked, and what they do.

use std::time::Instant;

use super::Loop;
use crate::base::failure::Failure;
use crate::base::ids::{Name, TaskId};
use crate::checkpoint::types::reserved::END;
use crate::graph::compiled::Graph;
use crate::graph::context::NodeContext;
use crate::graph::scope::{Shared, graph_path};
use crate::policy::breakpoint::{
    Action, Acts, Breakpoint, BreakpointHit, BreakpointLimit, BreakpointPlace, WhenBroken,
};
use crate::stream::error::RunError;
use crate::stream::events::{Interrupt, Payload, StreamMode};
use crate::stream::request::Durability;
use crate::stream::run_config::RunConfig;
use crate::task::Task;
use crate::value::{Object, Value};

/// The breakpoints of one graph of a run.
pub(super) struct Breakpoints {
    pub(super) list: Vec<Breakpoint>,
    /// Which limits were passed already, by the place in `list`.
    pub(super) passed: Vec<bool>,
    /// When the run began, for limits of time.
    pub(super) began: Instant,
    /// The state before the open step.
    pub(super) before: Value,
    /// Do breakpoints ask how large the state is?
    pub(super) measures: bool,
}

impl Breakpoints {
    /// Returns the breakpoints that hold in this graph; none for most runs.
    pub(super) fn of(shared: &Shared, graph: &Graph) -> Option<Box<Self>> {
        if shared.config.breakpoints.is_empty() && graph.invariants.is_empty() {
            return None;
        }
        let path = graph_path(&shared.ns).join("/");
        let given = shared.config.breakpoints.iter();
        let given = given.filter(|breakpoint| breakpoint.is_within(&path));
        let list: Vec<Breakpoint> = given.chain(graph.invariants.iter()).cloned().collect();
        if list.is_empty() {
            return None;
        }
        let sized = |breakpoint: &Breakpoint| {
            matches!(
                breakpoint.place,
                BreakpointPlace::Limit(BreakpointLimit::StateBytes(_) | BreakpointLimit::KeyBytes(..))
            )
        };
        let used = shared.usage.read();
        // What the graphs before this one used stopped the run there, or was logged.
        let passed = |breakpoint: &Breakpoint| match &breakpoint.place {
            BreakpointPlace::Limit(BreakpointLimit::Tokens(limit)) => used.tokens >= *limit,
            BreakpointPlace::Limit(BreakpointLimit::Cost(limit)) => used.cost >= *limit,
            _ => false,
        };
        Some(Box::new(Self {
            measures: list.iter().any(sized),
            passed: list.iter().map(passed).collect(),
            list,
            began: Instant::now(),
            before: Value::Null,
        }))
    }
}

/// A moment at the place of a breakpoint.
pub(super) struct Moment {
    seen: Object,
    reason: String,
    node: Option<Name>,
    task_id: Option<TaskId>,
}

impl Moment {
    pub(super) fn new(reason: String) -> Self {
        Self {
            seen: Object::new(),
            reason,
            node: None,
            task_id: None,
        }
    }
    pub(super) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.seen.insert(key, value);
        self
    }
    pub(super) fn of(mut self, task: &Task) -> Self {
        self.node = Some(task.name.clone());
        self.task_id = Some(task.id().clone());
        let shown: Object = [
            ("node", Value::String(task.name.clone())),
            ("id", task.id().as_str().into()),
            ("input", task.input.clone()),
        ]
        .into_iter()
        .collect();
        self.with("task", shown)
    }
}

/// Returns whether a name in a breakpoint means this node.
pub(super) fn means(meant: &Name, node: &Name) -> bool {
    meant == node || &**meant == "*"
}

/// Shortens a value for a sentence.
pub(super) fn short(value: &Value) -> String {
    cut(value.to_string(), 60)
}

fn cut(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns the sentence that says which invariant is broken, and where.
fn broken(says: &str, reason: &str) -> String {
    let reason = reason
        .strip_prefix("After ")
        .map_or_else(|| reason.to_owned(), |rest| format!("after {rest}"));
    format!("Invariant broken: {says} ({reason})")
}

/// Acts on a breakpoint whose place a run has come to. Some(why) when it stops the run.
async fn act(shared: &Shared, breakpoint: &Breakpoint, moment: Moment, step: i64) -> Option<BreakpointHit> {
    let seen = Value::Object(moment.seen);
    let (reason, hit) = match (breakpoint.hit(&seen)?, &breakpoint.action) {
        (Acts::Hit(hit), Action::Broken(_, says)) => (broken(says, &moment.reason), hit),
        (Acts::Hit(hit), _) => (moment.reason, hit),
        (Acts::Unclear(error), Action::Broken(_, says)) => {
            (format!("The invariant {says} cannot be checked: {error}"), 0)
        }
        (Acts::Unclear(error), _) => {
            let place = &breakpoint.place;
            (
                format!("The condition of the breakpoint {place} failed: {error}"),
                0,
            )
        }
    };
    let logged = match &breakpoint.action {
        Action::Log(log) if hit > 0 => {
            let text = log.text(&seen);
            Some((
                "breakpoint",
                text.unwrap_or_else(|error| format!("{reason} ({error})")),
            ))
        }
        Action::Broken(WhenBroken::Tell, _) => Some(("invariant", reason.clone())),
        _ => None,
    };
    if let Some((what, text)) = logged {
        let shown: Object = [
            ("log", Value::from(text)),
            (what, Value::String(breakpoint.id.clone())),
        ]
        .into_iter()
        .collect();
        let emitter = &shared.emitter;
        emitter
            .send_if(StreamMode::Custom, || Payload::Custom(shown.into(), None))
            .await;
        return None;
    }
    Some(BreakpointHit {
        id: breakpoint.id.clone(),
        reason,
        node: moment.node,
        task_id: moment.task_id,
        path: graph_path(&shared.ns).join("/"),
        step,
        hit,
    })
}

/// Stops a task before its next attempt, if a breakpoint says so. The run stops when the other tasks of the step have ended.
pub(crate) async fn breaks_before_retry(context: &NodeContext, attempt: u32, failure: &Failure) -> bool {
    let (shared, info) = (context.shared(), context.info());
    if !shared
        .config
        .has_breakpoint(|place| matches!(place, BreakpointPlace::Retry(_)))
    {
        return false;
    }
    let path = graph_path(&shared.ns).join("/");
    for breakpoint in shared.config.breakpoints.iter() {
        let BreakpointPlace::Retry(meant) = &breakpoint.place else {
            continue;
        };
        if !means(meant, &info.node) || !breakpoint.is_within(&path) {
            continue;
        }
        let error = crate::json!({"class": &*failure.class, "message": &*failure.message});
        let task = crate::json!({
            "node": &*info.node, "id": info.task_id.as_str(), "attempt": attempt, "error": error,
        });
        let used = shared.usage.read();
        let run = crate::json!({
            "id": info.run_id.as_str(), "step": info.step, "tokens": used.tokens, "cost": used.cost,
        });
        let reason = format!(
            "`{}` would be tried again after: {}",
            info.node,
            cut(failure.to_string(), 200)
        );
        let moment = Moment {
            node: Some(info.node.clone()),
            task_id: Some(info.task_id.clone()),
            ..Moment::new(reason).with("task", task).with("run", run)
        };
        if let Some(hit) = act(shared, breakpoint, moment, info.step).await {
            shared.hits.retries.lock().push(hit);
            return true;
        }
    }
    false
}

impl Loop {
    /// Checks what the run's configuration says about breakpoints.
    pub(super) fn check_breakpoints(graph: &Graph, config: &RunConfig) -> Result<(), RunError> {
        let unknown = |id: &Name, what: &str, name: &Name| {
            Err(RunError::invalid_request(format!(
                "Breakpoint `{id}` is at the {what} `{name}`, which the graph does not have."
            )))
        };
        let own = config.breakpoints.iter().filter(|b| b.within.is_empty());
        for breakpoint in own.chain(graph.invariants.iter()) {
            let id = &breakpoint.id;
            let is_node = |name: &Name| &**name == "*" || graph.plan.node_index.contains_key(name);
            let is_key = |name: &Name| {
                let index = graph.plan.channel_named(name);
                index.is_some_and(|index| graph.plan.is_state_key(index))
            };
            match &breakpoint.place {
                BreakpointPlace::Before(node)
                | BreakpointPlace::After(node)
                | BreakpointPlace::Error { node, .. }
                | BreakpointPlace::Retry(node)
                | BreakpointPlace::Question { node, .. }
                | BreakpointPlace::Emitted(node)
                    if !is_node(node) =>
                {
                    return unknown(id, "node", node);
                }
                BreakpointPlace::Edge { from, to } => {
                    for name in [from, to] {
                        if !is_node(name) && &**name != END {
                            return unknown(id, "node", name);
                        }
                    }
                }
                BreakpointPlace::Key(key) | BreakpointPlace::Limit(BreakpointLimit::KeyBytes(key, _))
                    if !is_key(key) =>
                {
                    return unknown(id, "key", key);
                }
                BreakpointPlace::Watch if breakpoint.condition.is_none() => {
                    return Err(RunError::invalid_request(format!(
                        "Breakpoint `{id}` is a watchpoint without a condition: give it one with `when`."
                    )));
                }
                _ => {}
            }
        }
        let stores = graph.saver.is_some() && config.thread.is_some();
        if config.step_task.is_some() && (!stores || config.durability == Durability::Exit) {
            return Err(RunError::invalid_request(
                "A single task of a step is run only where its writes are stored before the others run: use a \
                 checkpointer, a thread, and the durability sync or async.",
            ));
        }
        Ok(())
    }

    /// Asks the breakpoints at places that `moments` finds. True when one of them stops the run.
    async fn ask_breakpoints(
        &self,
        step: i64,
        mut moments: impl FnMut(&Self, &Breakpoints, usize, &BreakpointPlace) -> Vec<Moment>,
    ) -> bool {
        let Some(points) = &self.breakpoints else {
            return false;
        };
        let mut is_stopped = false;
        for (position, breakpoint) in points.list.iter().enumerate() {
            for moment in moments(self, points, position, &breakpoint.place) {
                // Boxed: most runs have no breakpoints, and the step's future is as large as the largest in it.
                is_stopped |= Box::pin(self.ask_breakpoint(points, breakpoint, moment, step)).await;
            }
        }
        is_stopped
    }

    async fn ask_breakpoint(
        &self,
        points: &Breakpoints,
        breakpoint: &Breakpoint,
        mut moment: Moment,
        step: i64,
    ) -> bool {
        let shared = &self.setup.shared;
        let seen = &mut moment.seen;
        if !seen.contains_key("state") {
            seen.insert("state", self.live.values());
        }
        let used = shared.usage.read();
        let run: Object = [
            ("id", Value::from(shared.run_id.as_str())),
            ("step", step.into()),
            ("steps", self.report.counts.steps.into()),
            ("seconds", points.began.elapsed().as_secs_f64().into()),
            ("tokens", used.tokens.into()),
            ("cost", used.cost.into()),
        ]
        .into_iter()
        .collect();
        seen.insert("run", run);
        let hit = act(shared, breakpoint, moment, step).await;
        let stops_here = hit.is_some();
        match hit {
            Some(hit) if breakpoint.when_broken() == Some(WhenBroken::Fail) => {
                shared.hits.broken.lock().get_or_insert(hit);
            }
            Some(hit) => shared.hits.stop(hit),
            None => {}
        }
        stops_here
    }

    /// Returns the error with which an invariant ends the run, if one does.
    fn fail_when_broken(&self) -> Result<(), RunError> {
        let broken = self.setup.shared.hits.broken.lock().take();
        broken.map_or(Ok(()), |hit| {
            Err(RunError::Invariant {
                id: hit.id,
                reason: hit.reason,
                node: hit.node,
                step: hit.step,
            })
        })
    }

    /// Refuses to go on with a state that breaks an invariant at which the run fails.
    pub(super) async fn refuse_broken(&self) -> Result<(), RunError> {
        let fails = |breakpoint: &Breakpoint| breakpoint.when_broken() == Some(WhenBroken::Fail);
        let any = (self.breakpoints.iter()).any(|points| points.list.iter().any(fails));
        if !any || self.report.counts.steps > 0 || self.own_tasks().next().is_none() {
            return Ok(());
        }
        self.ask_breakpoints(self.progress.step - 1, |run, points, position, _| {
            let point = &points.list[position];
            let broken = fails(point) && point.place == BreakpointPlace::Watch;
            match broken && matches!(run.is_broken(point), Ok(true)) {
                true => vec![Moment::new("in the state that the run begins with".to_owned())],
                false => Vec::new(),
            }
        })
        .await;
        self.fail_when_broken()
    }

    fn is_broken(&self, point: &Breakpoint) -> Result<bool, String> {
        let state = self.live.values();
        let seen: Object = [("state", state.clone()), ("old", state)].into_iter().collect();
        point.holds(&Value::Object(seen))
    }

    /// Stops at breakpoints before the step whose tasks were found; returns whether one of them stops the run.
    pub(super) async fn breaks_before(&mut self) -> bool {
        if self.breakpoints.is_none() || !self.live.changed_since_interrupt {
            return false;
        }
        self.ask_breakpoints(self.progress.step, |run, _, _, place| {
            let BreakpointPlace::Before(meant) = place else {
                return Vec::new();
            };
            let mut nodes: Vec<&Name> = Vec::new();
            let mut moments = Vec::new();
            for task in run.own_tasks().filter(|task| means(meant, &task.name)) {
                // A node with many packets is one moment: the whole step waits.
                if !nodes.contains(&&task.name) {
                    nodes.push(&task.name);
                    moments.push(Moment::new(format!("Before `{}`", task.name)).of(task));
                }
            }
            moments
        })
        .await
    }

    /// Keeps the state that breakpoints compare with the one after the step.
    pub(super) fn keep_before(&mut self) {
        if let Some(breakpoints) = &mut self.breakpoints {
            breakpoints.before = self.live.values();
        }
    }

    /// Stops at breakpoints after the step that was just closed; returns whether one of them stops the run. An error
    /// means that an invariant ends it.
    pub(super) async fn breaks_after(&mut self) -> Result<bool, RunError> {
        if self.breakpoints.is_none() {
            return Ok(false);
        }
        let emitted = self
            .setup
            .shared
            .hits
            .take_emitted(|id| self.own_tasks().any(|task| task.id() == id));
        let stopped = self
            .ask_breakpoints(
                self.progress.step - 1,
                |run, points, position, place| match place {
                    BreakpointPlace::After(meant) => run.ended_nodes(points, meant),
                    BreakpointPlace::Edge { from, to } => run.led(points, from, to),
                    BreakpointPlace::Key(key) => run.written(points, key),
                    BreakpointPlace::Emitted(meant) => run.emitted(points, meant, &emitted),
                    BreakpointPlace::Limit(limit) => run.passed(points, position, limit),
                    BreakpointPlace::Watch => run.became_true(points, position),
                    _ => Vec::new(),
                },
            )
            .await;
        self.note_passed();
        self.fail_when_broken()?;
        Ok(stopped)
    }

    /// Returns whether a breakpoint stopped a task before its next attempt: then it has not failed.
    pub(super) fn stopped_before_retry(&self, place: usize) -> bool {
        let task = &self.open.tasks[place];
        if self.breakpoints.is_none() || task.is_call() || task.is_start() {
            return false;
        }
        let retry = {
            let mut retries = self.setup.shared.hits.retries.lock();
            let found = retries
                .iter()
                .position(|hit| hit.task_id.as_ref() == Some(task.id()));
            found.map(|found| retries.remove(found))
        };
        let stopped = retry.is_some();
        if let Some(hit) = retry {
            self.setup.shared.hits.stop(hit);
        }
        stopped
    }

    /// Returns whether a breakpoint stops the run at this failure.
    pub(super) async fn breaks_at_failure(&self, place: usize, failure: &Failure) -> bool {
        if self.breakpoints.is_none() {
            return false;
        }
        let task = &self.open.tasks[place];
        if task.is_call() || task.is_start() {
            return false;
        }
        let text = cut(failure.to_string(), 200);
        self.ask_breakpoints(self.progress.step, |_, _, _, breakpoint| {
            let reason = match breakpoint {
                BreakpointPlace::Error { node, class }
                    if means(node, &task.name)
                        && class.as_ref().is_none_or(|class| *class == failure.class) =>
                {
                    format!("`{}` failed: {text}", task.name)
                }
                _ => return Vec::new(),
            };
            let error = crate::json!({"class": &*failure.class, "message": &*failure.message});
            let mut moment = Moment::new(reason).of(task);
            if let Some(Value::Object(mut shown)) = moment.seen.get("task").cloned() {
                shown.insert("error", error);
                moment.seen.insert("task", shown);
            }
            vec![moment]
        })
        .await
    }

    /// Notes that the run stops at this question because a breakpoint is there, and not only to wait.
    pub(super) async fn note_question(&self, place: usize, interrupts: &[Interrupt]) {
        if self.breakpoints.is_none() {
            return;
        }
        let task = &self.open.tasks[place];
        self.ask_breakpoints(self.progress.step, |_, _, _, breakpoint| {
            let BreakpointPlace::Question { node, kind } = breakpoint else {
                return Vec::new();
            };
            if !means(node, &task.name) {
                return Vec::new();
            }
            let mut moments = Vec::new();
            for question in interrupts {
                let asked = question.value.get("kind").and_then(Value::as_str);
                if kind.as_ref().is_none_or(|kind| asked == Some(&**kind)) {
                    let reason = match asked {
                        Some(asked) => format!("`{}` asks ({asked})", task.name),
                        None => format!("`{}` asks", task.name),
                    };
                    moments.push(Moment::new(reason).of(task).with("value", question.value.clone()));
                }
            }
            moments
        })
        .await;
    }
}
