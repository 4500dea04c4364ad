//! The value of an expression at every visit of a node, or at every time an edge was taken.

use std::collections::HashMap;

use superstep::checkpoint::PendingWrite;
use superstep::checkpoint::reserved::is_control;
use superstep::value::Object;
use superstep::{Name, Value};

use super::condition::{Condition, UnknownSteps, scope, task};
use super::desk::Reading;
use super::edges;
use super::thread_history::{NeededParts, ThreadHistory};
use crate::session::node_of;
use crate::threads::is_state_key;
use crate::wire::{NodeVisit, ProbeNode, Problem};
use superstep_document::text;

/// The names of the expression beside `state`.
const NAMES: &[&str] = &["before", "writes", "task", "run"];

/// A probe whose expression is compiled.
#[derive(Debug)]
pub(super) struct Probe {
    node: String,
    /// Of an edge: where it leads.
    to: Option<String>,
    expression: Condition,
    pub(super) since: Option<String>,
}

/// Returns what the tasks of a node wrote in a step.
fn writes_of(node: &str, writes: &[PendingWrite]) -> Object {
    let own = writes
        .iter()
        .filter(|write| node_of(&write.task_path) == Some(node));
    own.map(|write| &write.write)
        .filter(|write| !is_control(&write.channel) && is_state_key(&write.channel))
        .map(|write| (write.channel.clone(), write.value.clone()))
        .collect()
}

impl Probe {
    pub(super) fn compile(request: &ProbeNode) -> Result<Self, Problem> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let to = request.to.as_deref().and_then(given);
        let node = given(&request.node).unwrap_or_default();
        if node.is_empty() {
            return Err(Problem::invalid(text!("The probe names no node.")).remedy(text!("Name the node.")));
        }
        Ok(Self {
            node,
            to,
            expression: Condition::compile(&request.expression, "The probe", NAMES)?,
            since: request.since.clone().filter(|since| !since.is_empty()),
        })
    }

    /// Returns the visits of a thread, the newest first.
    pub(super) async fn run(
        &self,
        reading: &Reading,
        unknown: &mut UnknownSteps,
    ) -> Result<Vec<NodeVisit>, Problem> {
        // Where a step led is among what its tasks wrote.
        let wanted = match self.to {
            Some(_) => &NeededParts::Whole,
            None => &self.expression.wanted,
        };
        let (saver, directory) = (&*reading.saver, &*reading.directory);
        let mut past = ThreadHistory::read(saver, directory, &reading.summary, wanted).await?;
        let node = Name::from(self.node.as_str());
        let in_time = |at: &str| self.since.as_deref().is_none_or(|since| at >= since);
        let visited = |past: &ThreadHistory<'_>, place: usize| {
            in_time(&past.heads[place].ts) && past.ran(place).contains(&node)
        };
        let Some(first) = (0..past.heads.len()).find(|place| visited(&past, *place)) else {
            return Ok(Vec::new());
        };
        let mut visits = Vec::new();
        // What the step before left, and what its tasks wrote.
        let mut before: HashMap<usize, (Object, Vec<PendingWrite>)> = HashMap::new();
        let mut from = past.parent(first).unwrap_or(first);
        while from < past.heads.len() {
            let read = past.chunk(from, &*reading.directory).await?;
            let mut now = HashMap::with_capacity(read.len());
            for checkpoint in read {
                let place = checkpoint.place;
                if visited(&past, place) {
                    let parent = past.parent(place);
                    let known = parent.and_then(|parent| now.get(&parent).or_else(|| before.get(&parent)));
                    let led = |to: &String| {
                        known.is_some_and(|(_, writes)| edges::led(&past, place, writes, &self.node, to))
                    };
                    if self.to.as_ref().is_some_and(|to| !led(to)) {
                        now.insert(place, (checkpoint.state, checkpoint.writes));
                        continue;
                    }
                    let visit = self.visit(&past, reading, place, &checkpoint.state, known);
                    unknown.note_message(visit.result.message.as_deref());
                    visits.push(visit);
                }
                now.insert(place, (checkpoint.state, checkpoint.writes));
            }
            before = now;
            from = past.next(from);
        }
        visits.reverse();
        Ok(visits)
    }

    fn visit(
        &self,
        past: &ThreadHistory<'_>,
        reading: &Reading,
        place: usize,
        state: &Object,
        before: Option<&(Object, Vec<PendingWrite>)>,
    ) -> NodeVisit {
        let head = &past.heads[place];
        let parent = past.parent(place).map(|parent| &past.heads[parent]);
        let is_node = |next: &&Name| ***next == *self.node;
        let tasks = parent.map_or(0, |parent| parent.next.iter().filter(is_node).count());
        let tasks = u32::try_from(tasks).unwrap_or(u32::MAX);
        let (old, writes) = before.map_or_else(Default::default, |(state, writes)| {
            (state.clone(), writes_of(&self.node, writes))
        });
        let scope = scope(past, place, state)
            .with("before", Value::Object(old))
            .with("writes", Value::Object(writes))
            .with("task", task(&Name::from(self.node.as_str()), tasks));
        NodeVisit {
            thread_id: reading.summary.thread.to_string(),
            title: reading.listed.title.clone(),
            checkpoint_id: head.id.to_string(),
            step: i32::try_from(head.metadata.step).unwrap_or(i32::MAX),
            at: head.ts.clone(),
            tasks,
            result: self.expression.value(&scope),
        }
    }
}
