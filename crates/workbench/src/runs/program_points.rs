//! Breakpoints of an attached LangGraph program: LangGraph stops before or after their nodes, and what they say is evaluated there,
//! between the steps. Where none of them stops, the run goes on.

use std::collections::BTreeSet;

use superstep::Value;
use superstep::value::Object;
use superstep_document::{Join, Text, suggest, text};
use superstep_nodes::attach::{AttachedState, GraphDrawing};
use superstep_nodes::expression::{Expression, Template};

use super::breakpoints::{invalid, scope};
use crate::wire::{BreakHits, BreakWhen, Breakpoint, Problem, RunStop};

/// Every node.
const ALL: &str = "*";

/// Breakpoints of one run of a program, with what they have counted.
#[derive(Debug, Default)]
pub struct ProgramPoints {
    points: Vec<ProgramPoint>,
    /// Nodes before and after which the run stops whatever the breakpoints say.
    before: Vec<String>,
    after: Vec<String>,
    /// Super-step of the first stop.
    first: Option<i64>,
    /// State at the stop before.
    old: Value,
}

#[derive(Debug)]
struct ProgramPoint {
    point: Breakpoint,
    condition: Option<Expression>,
    log: Option<Template>,
    hits: u64,
}

/// Outcome of a stop.
#[derive(Debug, Default, PartialEq)]
pub struct AtStop {
    /// The run stops here, and why; it goes on otherwise.
    pub stop: Option<RunStop>,
    /// Texts of breakpoints that only log, as values of the stream mode `custom`.
    pub logged: Vec<Value>,
}

/// A moment at the place of a breakpoint.
struct StopMoment {
    reason: String,
    node: Option<String>,
}

fn means(meant: &str, node: &str) -> bool {
    meant == ALL || meant == node
}

/// Refuses a breakpoint at a place that an attached program does not stop at, or at a node or a key that it does not have.
pub(crate) fn check(point: &Breakpoint, drawing: &GraphDrawing) -> Result<(), Problem> {
    if !matches!(
        point.when,
        BreakWhen::Before | BreakWhen::After | BreakWhen::Watch
    ) {
        return Err(invalid(
            point,
            text!("an attached program is not stopped at places of this kind."),
        )
        .remedy(text!("Choose before or after a node, or a watchpoint.")));
    }
    if point.within.is_some() {
        return Err(invalid(
            point,
            text!("an attached program is not stopped within nested graphs."),
        )
        .remedy(text!("Choose the node that runs the nested graph.")));
    }
    let names = || drawing.nodes.iter().map(|node| node.name.as_str());
    let has_place = point.when != BreakWhen::Watch && point.node != ALL;
    if has_place && !names().any(|name| name == point.node) {
        let hint = suggest::did_you_mean(&point.node, names());
        let node = point.node.as_str();
        return Err(
            invalid(point, text!("the graph has no node `{node}`.{hint}", node, hint)).remedy(text!(
                "Name a node of the graph. It has: {names}.",
                names = Text::list(Join::Comma, names())
            )),
        );
    }
    let keys: BTreeSet<&str> = drawing.channels.iter().map(|key| key.name.as_str()).collect();
    // A state that is no object has a key of LangGraph's.
    let keys = if keys.contains("__root__") {
        BTreeSet::new()
    } else {
        keys
    };
    point.reads_only(&keys)
}

impl ProgramPoints {
    /// Takes the breakpoints of a run of the program's graph. It also stops before and after the nodes that are named, and
    /// where the program was compiled to.
    ///
    /// # Errors
    ///
    /// One of them is not valid, or not for programs.
    pub fn new(
        points: &[Breakpoint],
        before: &[String],
        after: &[String],
        drawing: &GraphDrawing,
    ) -> Result<Self, Problem> {
        let with = |names: &[String], own: &[String]| names.iter().chain(own).cloned().collect();
        let mut taken = Self {
            before: with(before, &drawing.break_before),
            after: with(after, &drawing.break_after),
            ..Self::default()
        };
        for point in points.iter().filter(|point| point.enabled) {
            check(point, drawing)?;
            taken.points.push(ProgramPoint {
                condition: point.compiled_condition()?,
                log: point.compiled_log()?,
                point: point.clone(),
                hits: 0,
            });
        }
        Ok(taken)
    }

    /// Returns the nodes before which LangGraph is to stop.
    pub fn stops_before(&self) -> Vec<String> {
        self.stops(&self.before, BreakWhen::Before, None)
    }

    /// Returns the nodes after which LangGraph is to stop.
    pub fn stops_after(&self) -> Vec<String> {
        self.stops(&self.after, BreakWhen::After, self.watches().then_some(ALL))
    }

    fn stops(&self, always: &[String], when: BreakWhen, other: Option<&str>) -> Vec<String> {
        let points = self.points.iter().filter(|each| each.point.when == when);
        let names = points.map(|each| &*each.point.node).chain(other);
        let names: BTreeSet<&str> = always.iter().map(|each| &**each).chain(names).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Returns whether a breakpoint waits for the state to change, so that it counts how that is at the beginning.
    pub fn watches(&self) -> bool {
        let mut points = self.points.iter();
        points.any(|each| each.point.when == BreakWhen::Watch)
    }

    /// Notes the state that the run begins with.
    pub fn begin(&mut self, state: Value) {
        self.old = state;
    }

    /// Says whether the run stops where LangGraph has stopped it.
    pub fn at(&mut self, state: &AttachedState) -> AtStop {
        self.first.get_or_insert(state.step());
        let mut outcome = AtStop::default();
        let always = [
            ("Before", &self.before, &state.next),
            ("After", &self.after, &state.ran),
        ];
        for (when, names, nodes) in always {
            let mut nodes = nodes.iter();
            let node = nodes.find(|node| names.iter().any(|name| means(name, node)));
            if outcome.stop.is_none()
                && let Some(node) = node
            {
                outcome.stop = Some(RunStop {
                    breakpoint: None,
                    reason: format!("{when} `{node}`"),
                    node: Some(node.clone()),
                    task_id: None,
                    within: String::new(),
                });
            }
        }
        let old = std::mem::replace(&mut self.old, state.all.clone());
        for each in &mut self.points {
            for moment in each.moments(state, &old) {
                each.act(&moment, state, &old, &mut outcome);
            }
        }
        outcome
    }

    /// Returns the steps since the first stop, which count for the limit of the stretch that goes on from here.
    pub fn steps(&self, state: &AttachedState) -> u64 {
        let first = self.first.unwrap_or_else(|| state.step());
        u64::try_from(state.step() - first).unwrap_or_default()
    }
}

impl ProgramPoint {
    /// Lists the moments at its place where the run has stopped.
    fn moments(&self, state: &AttachedState, old: &Value) -> Vec<StopMoment> {
        let at = |when: &str, nodes: &[String]| {
            let nodes: BTreeSet<&String> = nodes.iter().collect();
            let nodes = nodes.into_iter().filter(|node| means(&self.point.node, node));
            let moment = |node: &String| StopMoment {
                reason: format!("{when} `{node}`"),
                node: Some(node.clone()),
            };
            nodes.map(moment).collect()
        };
        match self.point.when {
            BreakWhen::Before => at("Before", &state.next),
            BreakWhen::After => at("After", &state.ran),
            _ => {
                let truth = |state: &Value| {
                    let condition = self.condition.as_ref()?;
                    let mut seen = Object::new();
                    seen.insert("state", state.clone());
                    seen.insert("old", old.clone());
                    condition.truth(&scope(&seen.into())).ok()
                };
                let (before, now) = (truth(old), truth(&state.all));
                let became = now == Some(true) && before != Some(true);
                let after = state.ran.iter().map(|node| format!("`{node}`"));
                let after: Vec<String> = after.take(3).collect();
                let after = match after.is_empty() {
                    true => "the input".to_owned(),
                    false => after.join(", "),
                };
                let moment = StopMoment {
                    reason: format!("The condition became true after {after}"),
                    node: None,
                };
                became.then_some(moment).into_iter().collect()
            }
        }
    }

    /// Counts a moment when the condition holds, and stops or logs.
    fn act(&mut self, moment: &StopMoment, state: &AttachedState, old: &Value, outcome: &mut AtStop) {
        let mut seen = Object::new();
        seen.insert("state", state.all.clone());
        seen.insert("old", old.clone());
        let mut run = Object::new();
        run.insert("step", state.step());
        seen.insert("run", run);
        if let Some(node) = &moment.node {
            let mut task = Object::new();
            task.insert("node", node.as_str());
            seen.insert("task", task);
        }
        let seen = scope(&seen.into());
        let holds = self.condition.as_ref().map(|condition| condition.truth(&seen));
        let reason = match holds {
            Some(Ok(false)) => return,
            Some(Err(error)) => {
                let message = String::from(error.message);
                format!("The condition of the breakpoint {} failed: {message}", self.point)
            }
            Some(Ok(true)) | None => {
                self.hits += 1;
                let hits = self.hits;
                let acts = match self.point.hits {
                    None => true,
                    Some(BreakHits::Every(n)) => hits.is_multiple_of(u64::from(n).max(1)),
                    Some(BreakHits::Nth(n)) => hits == u64::from(n),
                    Some(BreakHits::From(n)) => hits >= u64::from(n),
                };
                if !acts {
                    return;
                }
                if let Some(log) = &self.log {
                    let said = log.render(&seen);
                    let said = said.unwrap_or_else(|error| {
                        format!("{} ({})", moment.reason, String::from(error.message))
                    });
                    let mut logged = Object::new();
                    logged.insert("log", said);
                    logged.insert("breakpoint", self.point.name());
                    outcome.logged.push(logged.into());
                    return;
                }
                moment.reason.clone()
            }
        };
        // One that a person has set says more than what the program or a single step says.
        if outcome.stop.as_ref().is_none_or(|stop| stop.breakpoint.is_none()) {
            outcome.stop = Some(RunStop {
                breakpoint: Some(self.point.name()),
                reason,
                node: moment.node.clone(),
                task_id: None,
                within: String::new(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn drawing() -> GraphDrawing {
        let code = json!({"kind": "function", "name": "f"});
        let key = |name: &str| {
            json!({"name": name, "type": "int", "channel": "LastValue", "reducer": null, "input": true, "output": true,
                "managed": false})
        };
        serde_json::from_value(json!({
            "name": "g", "source": "builder", "ways": [], "joins": [], "branches": [], "checkpointer": null,
            "nodes": [{"name": "check", "function": code}, {"name": "pay", "function": code}],
            "channels": [key("n"), key("limit")], "break_before": [], "break_after": ["pay"],
        }))
        .unwrap()
    }

    fn points(texts: &[&str]) -> ProgramPoints {
        let points: Vec<Breakpoint> = texts.iter().map(|text| text.parse().unwrap()).collect();
        ProgramPoints::new(&points, &[], &[], &drawing()).unwrap()
    }

    fn stop(step: i64, n: i64, ran: &str, next: &str) -> AttachedState {
        serde_json::from_value(json!({
            "values": {}, "all": {"n": n, "limit": 3}, "next": [next], "ran": [ran], "metadata": {"step": step},
            "status": "breakpoint",
        }))
        .unwrap()
    }

    #[test]
    fn a_condition_that_does_not_hold_lets_the_run_go_on() {
        let mut points = points(&[
            "before:pay if state.n > state.limit",
            "after:check every 2 => n is {{ state.n }}",
        ]);
        assert_eq!(points.stops_before(), ["pay"]);
        assert_eq!(points.stops_after(), ["check", "pay"]);
        assert_eq!(points.at(&stop(1, 1, "check", "pay")), AtStop::default());
        let second = points.at(&stop(2, 4, "check", "pay"));
        let why = second.stop.unwrap();
        assert_eq!((&*why.reason, why.node.as_deref()), ("Before `pay`", Some("pay")));
        assert!(why.breakpoint.is_some());
        assert_eq!(second.logged[0]["log"], "n is 4".into());
        assert_eq!(points.steps(&stop(2, 4, "check", "pay")), 1);
        // The program itself stops there.
        let own = points.at(&stop(3, 1, "pay", "check")).stop.unwrap();
        assert_eq!((&*own.reason, own.breakpoint), ("After `pay`", None));
    }

    #[test]
    fn a_watchpoint_stops_when_its_condition_becomes_true() {
        let mut points = points(&["watch if state.n > 2"]);
        assert_eq!(points.stops_after(), ["*", "pay"]);
        points.begin(superstep::json!({"n": 5, "limit": 3}));
        assert_eq!(
            points.at(&stop(1, 5, "check", "check")).stop,
            None,
            "it was so before"
        );
        assert_eq!(points.at(&stop(2, 1, "check", "check")).stop, None);
        let why = points.at(&stop(3, 3, "check", "check")).stop.unwrap();
        assert_eq!(why.reason, "The condition became true after `check`");
    }

    #[test]
    fn what_a_program_cannot_be_stopped_at_is_refused() {
        let drawing = drawing();
        for (text, words) in [
            ("error:*", "not stopped at places of this kind"),
            ("before:pai", "no node `pai`. Did you mean `pay`?"),
            ("before:pay in inner", "not stopped within nested graphs"),
            ("before:pay if state.m > 1", "the state has no key `m`"),
        ] {
            let point: Breakpoint = text.parse().unwrap();
            let problem = ProgramPoints::new(&[point], &[], &[], &drawing).unwrap_err();
            assert!(problem.message.contains(words), "{text}: {}", problem.message);
            assert!(problem.remedy.is_some(), "{text}");
        }
    }
}
