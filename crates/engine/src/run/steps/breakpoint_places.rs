//! Moments at the places of breakpoints, after a step.

use super::Loop;
use super::breakpoints::{Breakpoints, Moment, means, short};
use crate::base::ids::{Name, TaskId};
use crate::checkpoint::types::reserved::END;
use crate::policy::breakpoint::{BreakpointLimit, BreakpointPlace, WhenBroken};
use crate::task::{self, Task};
use crate::value::{Object, Value};

impl Loop {
    /// Returns the tasks of nodes: not the one that takes the input, and no calls.
    pub(super) fn own_tasks(&self) -> impl Iterator<Item = &Task> {
        let tasks = self.open.tasks.iter();
        tasks.filter(|task| !task.is_start() && !task.is_call())
    }

    pub(super) fn ended_nodes(&self, points: &Breakpoints, meant: &Name) -> Vec<Moment> {
        let mut nodes: Vec<&Name> = Vec::new();
        let mut moments = Vec::new();
        for task in self.own_tasks().filter(|task| means(meant, &task.name)) {
            if !nodes.contains(&&task.name) {
                nodes.push(&task.name);
                let moment = Moment::new(format!("After `{}`", task.name)).of(task);
                moments.push(moment.with("old", points.before.clone()));
            }
        }
        moments
    }

    pub(super) fn led(&self, points: &Breakpoints, from: &Name, to: &Name) -> Vec<Moment> {
        let mut moments = Vec::new();
        for task in self.open.tasks.iter().filter(|task| !task.is_call()) {
            if !means(from, &task.name) || task.is_start() && &**from == "*" {
                continue;
            }
            let targets = task::targets(&self.setup.plan, &task.writes);
            let led: Option<Name> = match &**to {
                END => targets.is_empty().then(|| END.into()),
                _ => targets.into_iter().find(|target| means(to, target)),
            };
            if let Some(target) = led {
                let reason = match &*target {
                    END => format!("`{}` led to the end", task.name),
                    _ => format!("`{}` led to `{target}`", task.name),
                };
                moments.push(Moment::new(reason).of(task).with("old", points.before.clone()));
            }
        }
        moments
    }

    pub(super) fn written(&self, points: &Breakpoints, key: &Name) -> Vec<Moment> {
        let Some(index) = self.setup.plan.channel_named(key) else {
            return Vec::new();
        };
        let wrote = |task: &&Task| {
            task.writes
                .iter()
                .any(|(channel, _)| channel.known() == Some(index))
        };
        let mut writers: Vec<&Task> = self.own_tasks().filter(wrote).collect();
        writers.sort_by_key(|task| task.path_text().clone());
        let Some(last) = writers.last() else {
            return Vec::new();
        };
        let new = self.live.value(index).cloned().unwrap_or_default();
        let old = match self.setup.plan.is_root {
            true => points.before.clone(),
            false => points.before.get(key).cloned().unwrap_or_default(),
        };
        let mut names: Vec<&Name> = writers.iter().map(|task| &task.name).collect();
        names.dedup();
        let names: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
        let reason = match new == old {
            true => format!("`{key}` stayed {}, written by {}", short(&new), names.join(", ")),
            false => format!("`{key}` became {}, written by {}", short(&new), names.join(", ")),
        };
        let writer = last.name.clone();
        let moment = Moment::new(reason).of(last).with("old", old).with("new", new);
        vec![moment.with("writer", Value::String(writer))]
    }

    pub(super) fn emitted(
        &self,
        points: &Breakpoints,
        meant: &Name,
        emitted: &[(TaskId, Value)],
    ) -> Vec<Moment> {
        let mut moments = Vec::new();
        for (id, value) in emitted {
            let task = self.own_tasks().find(|task| task.id() == id);
            if let Some(task) = task.filter(|task| means(meant, &task.name)) {
                let reason = format!("`{}` emitted {}", task.name, short(value));
                let moment = Moment::new(reason).of(task).with("old", points.before.clone());
                moments.push(moment.with("value", value.clone()));
            }
        }
        moments
    }

    /// Measures what a limit counts: returns whether the run has reached it, and the sentence that says so.
    pub(super) fn measured(&self, points: &Breakpoints, limit: &BreakpointLimit) -> (bool, String) {
        match limit {
            BreakpointLimit::Steps(limit) => {
                let steps = self.report.counts.steps;
                let done = match steps {
                    1 => "1 step is done".to_owned(),
                    steps => format!("{steps} steps are done"),
                };
                (steps >= *limit, done)
            }
            BreakpointLimit::Time(limit) => {
                let spent = points.began.elapsed();
                let reason = format!(
                    "{:.1} s have passed (limit {} s)",
                    spent.as_secs_f64(),
                    limit.as_secs_f64()
                );
                (spent >= *limit, reason)
            }
            BreakpointLimit::StateBytes(limit) => {
                let bytes = self.report.size.total();
                (
                    bytes >= *limit,
                    format!("The state has {bytes} bytes (limit {limit})"),
                )
            }
            BreakpointLimit::KeyBytes(key, limit) => {
                let index = self.setup.plan.channel_named(key);
                let bytes = index.map_or(0, |index| self.report.size.of(index as usize));
                (
                    bytes >= *limit,
                    format!("`{key}` has {bytes} bytes (limit {limit})"),
                )
            }
            BreakpointLimit::Tokens(limit) => {
                let tokens = self.setup.shared.usage.read().tokens;
                (
                    tokens >= *limit,
                    format!("{tokens} tokens are used (limit {limit})"),
                )
            }
            BreakpointLimit::Cost(limit) => {
                let used = self.setup.shared.usage.read();
                let unpriced = match used.unpriced {
                    0 => String::new(),
                    1 => ", without 1 request that has no price".to_owned(),
                    more => format!(", without {more} requests that have no price"),
                };
                let cost = used.cost;
                (
                    cost >= *limit,
                    format!("{cost} USD are spent (limit {limit}){unpriced}"),
                )
            }
        }
    }

    pub(super) fn passed(
        &self,
        points: &Breakpoints,
        position: usize,
        limit: &BreakpointLimit,
    ) -> Vec<Moment> {
        let (is_passed, reason) = self.measured(points, limit);
        match is_passed && !points.passed[position] {
            true => vec![Moment::new(reason).with("old", points.before.clone())],
            false => Vec::new(),
        }
    }

    /// Notes which limits are passed, so that each stops the run once.
    pub(super) fn note_passed(&mut self) {
        let Some(mut points) = self.breakpoints.take() else {
            return;
        };
        for position in 0..points.list.len() {
            if let BreakpointPlace::Limit(limit) = &points.list[position].place {
                points.passed[position] = self.measured(&points, limit).0;
            }
        }
        self.breakpoints = Some(points);
    }

    pub(super) fn became_true(&self, points: &Breakpoints, position: usize) -> Vec<Moment> {
        let point = &points.list[position];
        if point.condition.is_none() {
            return Vec::new();
        }
        let at = |state: &Value| {
            let mut seen = Object::new();
            seen.insert("state", state.clone());
            seen.insert("old", points.before.clone());
            point.holds(&Value::Object(seen))
        };
        // What could not be evaluated before the step was not true then. A condition that still cannot be is about keys
        // that are not there yet.
        let (before, after) = (at(&points.before), at(&self.live.values()));
        let fails = point.when_broken() == Some(WhenBroken::Fail);
        let acts = match (before, after) {
            (Ok(false) | Err(_), Ok(true)) | (Ok(_), Err(_)) => true,
            (Ok(true), Ok(true)) => fails,
            _ => false,
        };
        if !acts {
            return Vec::new();
        }
        let after = self.after_nodes();
        let reason = match point.when_broken() {
            Some(_) => after,
            None => format!("The condition became true {after}"),
        };
        vec![Moment::new(reason).with("old", points.before.clone())]
    }

    /// Names the nodes of the step that was closed, in a sentence.
    fn after_nodes(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for task in self.own_tasks() {
            let name = format!("`{}`", task.name);
            if !names.contains(&name) && names.len() < 3 {
                names.push(name);
            }
        }
        match names.is_empty() {
            true => "after the input".to_owned(),
            false => format!("after {}", names.join(", ")),
        }
    }
}
