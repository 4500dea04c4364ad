//! Where the invariants of a graph were broken: over all that its threads did, in one pass.

use std::collections::{BTreeMap, HashMap};

use superstep::checkpoint::{PendingWrite, ThreadSummary};
use superstep::run::BreakpointPlace;
use superstep::value::Object;
use superstep::{CheckpointId, Checkpointer, Name, Value};
use superstep_document::{Document, Invariant};
use superstep_nodes::registry::invariants::{names, places};

use super::Directory;
use super::condition::{Condition, UnknownSteps, scope, task};
use super::desk::Reading;
use super::edges;
use super::thread_history::{NeededParts, ThreadHistory};
use crate::session::node_of;
use crate::wire::{BrokenMoment, InvariantAt, InvariantState, Problem};
use superstep_document::text;

/// Moments of one thread that are listed.
const MAX_MOMENTS: usize = 1000;

/// An invariant whose expression is compiled.
#[derive(Debug)]
struct Rule {
    invariant: Invariant,
    must: Condition,
    places: Vec<BreakpointPlace>,
}

/// The invariants of a graph.
#[derive(Debug)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    wanted: NeededParts,
    pub(super) since: Option<String>,
}

/// A checkpoint with the one before it.
struct Step<'a> {
    past: &'a ThreadHistory<'a>,
    place: usize,
    state: &'a Object,
    /// Of the checkpoint before: its state, and what the step wrote.
    before: Option<&'a StateAndWrites>,
}

type StateAndWrites = (Object, Vec<PendingWrite>);

impl Rules {
    /// Compiles the invariants of a document, or one of them.
    pub(super) fn compile(
        document: &Document,
        only: Option<&str>,
        since: Option<String>,
    ) -> Result<Self, Problem> {
        let chosen = document.invariants().into_iter();
        let chosen = chosen.filter(|invariant| only.is_none_or(|only| invariant.id() == only));
        let rules = chosen
            .map(|invariant| {
                let place = format!("The invariant `{}`", invariant.id());
                Ok(Rule {
                    must: Condition::compile(&invariant.must, &place, names(&invariant))?,
                    places: places(document, &invariant.record),
                    invariant,
                })
            })
            .collect::<Result<Vec<_>, Problem>>()?;
        if rules.is_empty() {
            let problem = match only {
                Some(only) => Problem::not_found(text!("The graph has no invariant `{only}`.", only)),
                None => Problem::invalid(text!("The graph has no invariants.")),
            };
            return Err(problem.remedy(text!("Add one to the graph, a node, an edge or a state key.")));
        }
        let wanted = rules
            .iter()
            .fold(NeededParts::Heads, |wanted, rule| wanted.and(&rule.wanted()));
        Ok(Self { rules, wanted, since })
    }

    /// Returns the moments of a thread at which an invariant is broken, the newest first.
    pub(super) async fn run(
        &self,
        reading: &Reading,
        unknown: &mut UnknownSteps,
    ) -> Result<Vec<BrokenMoment>, Problem> {
        let (saver, directory) = (&*reading.saver, &*reading.directory);
        let mut past = ThreadHistory::read(saver, directory, &reading.summary, &self.wanted).await?;
        let mut found: Vec<BrokenMoment> = Vec::new();
        // Where each invariant of the graph as a whole became broken, by the checkpoint at which it still is.
        let mut since: Vec<BTreeMap<usize, usize>> = self.rules.iter().map(|_| BTreeMap::new()).collect();
        let mut before: HashMap<usize, StateAndWrites> = HashMap::new();
        let mut from = 0;
        while from < past.heads.len() {
            let read = past.chunk(from, directory).await?;
            let mut now: HashMap<usize, StateAndWrites> = HashMap::with_capacity(read.len());
            for checkpoint in read {
                let parent = past.parent(checkpoint.place);
                let step = Step {
                    past: &past,
                    place: checkpoint.place,
                    state: &checkpoint.state,
                    before: parent.and_then(|parent| now.get(&parent).or_else(|| before.get(&parent))),
                };
                for (rule, since) in self.rules.iter().zip(&mut since) {
                    if !rule.is_broken(&step, unknown) {
                        continue;
                    }
                    let origin = match (&rule.places[..], parent.and_then(|parent| since.get(&parent))) {
                        ([BreakpointPlace::Watch], Some(origin)) => Some(*origin),
                        _ => None,
                    };
                    if let Some(origin) = origin {
                        since.insert(step.place, origin);
                        if let Some(first) = found.get_mut(origin) {
                            first.checkpoints += 1;
                        }
                    } else if self.is_in_time(&step) && found.len() < MAX_MOMENTS {
                        since.insert(step.place, found.len());
                        found.push(rule.moment(reading, &step));
                    }
                }
                now.insert(checkpoint.place, (checkpoint.state, checkpoint.writes));
            }
            before = now;
            from = past.next(from);
        }
        found.reverse();
        Ok(found)
    }

    /// Evaluates each invariant at one checkpoint of a thread; returns nothing if the checkpoint is no longer stored.
    pub(super) async fn at(
        &self,
        saver: &dyn Checkpointer,
        directory: &dyn Directory,
        summary: &ThreadSummary,
        checkpoint: &CheckpointId,
    ) -> Result<Vec<InvariantAt>, Problem> {
        let Some(mut past) = ThreadHistory::around(saver, directory, summary, checkpoint).await? else {
            return Ok(Vec::new());
        };
        let mut read = past.chunk(0, directory).await?;
        let Some(here) = read.pop() else {
            return Ok(Vec::new());
        };
        let before: Option<StateAndWrites> = read.pop().map(|parent| (parent.state, parent.writes));
        let step = Step {
            past: &past,
            place: here.place,
            state: &here.state,
            before: before.as_ref(),
        };
        let stands = self.rules.iter().map(|rule| {
            let mut unknown = UnknownSteps::default();
            let came = rule.places.iter().any(|place| step.came_to(place).is_some());
            let broken = rule.is_broken(&step, &mut unknown);
            InvariantAt {
                id: rule.invariant.id(),
                state: match (broken, &unknown.reason) {
                    (true, _) => InvariantState::Broken,
                    (_, Some(_)) => InvariantState::Unknown,
                    _ if came => InvariantState::Holds,
                    _ => InvariantState::Elsewhere,
                },
                message: unknown.reason,
            }
        });
        Ok(stands.collect())
    }

    fn is_in_time(&self, step: &Step<'_>) -> bool {
        let at = &step.past.heads[step.place].ts;
        self.since.as_ref().is_none_or(|since| at >= since)
    }
}

impl Rule {
    /// Returns what must be read of checkpoints for the rule.
    fn wanted(&self) -> NeededParts {
        let uses = |name: &str| self.must.uses(name);
        if uses("writer") || (uses("old") && !self.is_of_key()) {
            return NeededParts::Whole;
        }
        let place = match self.places.first() {
            Some(BreakpointPlace::Edge { .. }) => NeededParts::Whole,
            Some(BreakpointPlace::Key(key)) => NeededParts::Keys([key.clone()].into()),
            _ => NeededParts::Heads,
        };
        place.and(&self.must.wanted)
    }

    fn is_of_key(&self) -> bool {
        matches!(self.places.first(), Some(BreakpointPlace::Key(_)))
    }

    /// Checks whether the rule is broken at a checkpoint. It is not broken if the step did not come to its place.
    fn is_broken(&self, step: &Step<'_>, unknown: &mut UnknownSteps) -> bool {
        self.places.iter().any(|place| {
            let Some(node) = step.came_to(place) else {
                return false;
            };
            let mut scope = scope(step.past, step.place, step.state);
            let old = || {
                step.before
                    .map_or_else(|| step.past.initial.clone(), |(state, _)| state.clone())
            };
            if let BreakpointPlace::Key(key) = place {
                let old = old().get(key).cloned().unwrap_or_default();
                let new = step.state.get(key).cloned().unwrap_or_default();
                scope = scope.with("new", new).with("old", old);
                scope = scope.with("writer", step.writer(key).map_or(Value::Null, Value::String));
            } else if self.must.uses("old") {
                scope = scope.with("old", Value::Object(old()));
            }
            if let Some(node) = node {
                scope = scope.with("task", task(&node, 1));
            }
            self.must.is_false(&scope, unknown)
        })
    }

    fn moment(&self, reading: &Reading, step: &Step<'_>) -> BrokenMoment {
        let head = &step.past.heads[step.place];
        BrokenMoment {
            thread_id: reading.summary.thread.to_string(),
            title: reading.listed.title.clone(),
            status: reading.listed.status,
            checkpoint_id: head.id.to_string(),
            step: i32::try_from(head.metadata.step).unwrap_or(i32::MAX),
            at: head.ts.clone(),
            nodes: step
                .past
                .ran(step.place)
                .into_iter()
                .map(ToString::to_string)
                .collect(),
            invariant: self.invariant.id(),
            says: self
                .invariant
                .message
                .clone()
                .unwrap_or_else(|| self.invariant.must.clone()),
            checkpoints: 1,
        }
    }
}

impl Step<'_> {
    /// Checks whether the step came to the place, and returns the node that led to it.
    fn came_to(&self, place: &BreakpointPlace) -> Option<Option<Name>> {
        match place {
            BreakpointPlace::Watch => Some(None),
            BreakpointPlace::After(node) => {
                let ran = self.past.ran(self.place).contains(node);
                ran.then(|| Some(node.clone()))
            }
            BreakpointPlace::Edge { from, to } => {
                let led = self
                    .before
                    .is_some_and(|(_, writes)| edges::led(self.past, self.place, writes, from, to));
                led.then(|| Some(from.clone()))
            }
            BreakpointPlace::Key(key) => {
                let old = self
                    .before
                    .map_or(&self.past.initial, |(state, _)| state)
                    .get(key);
                let wrote = self.past.ran(self.place);
                // What nobody wrote is what the graph begins with.
                let changed = self.state.get(key) != old && !wrote.is_empty();
                changed.then(|| self.writer(key).or_else(|| wrote.into_iter().next().cloned()))
            }
            _ => None,
        }
    }

    /// Returns the node that last wrote a key, where that was read.
    fn writer(&self, key: &Name) -> Option<Name> {
        let (_, writes) = self.before?;
        let mut own: Vec<&PendingWrite> = writes
            .iter()
            .filter(|write| write.write.channel == *key)
            .collect();
        own.sort_by(|a, b| a.task_path.cmp(&b.task_path));
        own.last()
            .and_then(|write| node_of(&write.task_path))
            .map(Name::from)
    }
}
