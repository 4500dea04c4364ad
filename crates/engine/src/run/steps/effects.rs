//! What happens before a task whose work was begun or done already: it is used, done again, asked about, or not begun.

use std::collections::BTreeMap;

use super::Loop;
use super::persist::StoreTime;
use crate::base::failure::failure_of;
use crate::base::ids::{CheckpointId, Name, TaskId};
use crate::checkpoint::types::{PendingWrite, reserved};
use crate::graph::node::NodeOutput;
use crate::graph::other_branches::Visit;
use crate::graph::plan::Plan;
use crate::graph::writes::{Channel, Writes, resolve};
use crate::inspect::other_branches::{Scene, Visits};
use crate::inspect::snapshot;
use crate::policy::effect::{Effect, EffectPolicy, EffectSource, EffectState};
use crate::stream::error::RunError;
use crate::task::{self, Substitute, Task};
use crate::value::{Object, Value};

/// The decision on how a task with an effect begins.
#[derive(Default)]
pub(super) struct Decided {
    /// Answers that were given to questions of this decision, before any of the node's own.
    pub(super) answers: Vec<Value>,
    /// The key that the effect is done with, when that is not the task's id.
    pub(super) key: Option<Name>,
    /// What is noted beside the task's writes.
    pub(super) note: Option<Value>,
    /// What happens instead of the node's work.
    pub(super) instead: Option<Substitute>,
    /// What another task wrote is taken for what this one would.
    uses: Option<Writes>,
    /// It is stored that the work has begun, before it does.
    seals: bool,
}

impl Decided {
    /// Creates the decision that this happens instead of the node's work.
    pub(super) fn instead(substitute: Substitute) -> Self {
        Self {
            instead: Some(substitute),
            ..Self::default()
        }
    }
}

/// Reason why a task cannot simply begin.
struct Doubt {
    state: EffectState,
    same_input: bool,
    /// Is it about this very task, in an earlier run?
    own: bool,
    /// ISO-8601; empty for the task's own.
    at: String,
    root: CheckpointId,
    failure: Option<String>,
    uses: Option<Writes>,
    key: Option<Name>,
    instead: Option<TaskId>,
}

/// Records of a task that earlier runs stored.
struct Earlier<'a> {
    own: Vec<&'a PendingWrite>,
    /// What was noted of its effect.
    note: Option<&'a PendingWrite>,
}

impl<'a> Earlier<'a> {
    fn of(pending: &'a [PendingWrite], task: &TaskId) -> Self {
        let own: Vec<&PendingWrite> = pending.iter().filter(|write| write.task_id == *task).collect();
        let note = own.iter().find(|write| &*write.write.channel == reserved::EFFECT);
        let note = note.copied();
        Self { own, note }
    }

    fn noted(&self, name: &str) -> Option<&'a Value> {
        self.note?.write.value.get(name)
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.noted(name).and_then(Value::as_str)
    }

    /// Returns the number of answers that earlier decisions used.
    fn asked(&self) -> usize {
        let asked = self.noted("asked").and_then(Value::as_i64);
        asked.map_or(0, |n| usize::try_from(n).unwrap_or(0))
    }

    fn outputs(&self) -> impl Iterator<Item = &'a PendingWrite> {
        let own = self.own.iter().copied();
        own.filter(|write| snapshot::is_output(&write.write.channel))
    }

    fn error(&self) -> Option<&'a PendingWrite> {
        let mut own = self.own.iter().copied();
        own.find(|write| &*write.write.channel == reserved::ERROR)
    }
}

/// Answer that a person gives.
enum EffectAnswer {
    Again,
    Use,
    /// Go on as if the node had returned this.
    Give(NodeOutput),
}

impl Doubt {
    /// Creates the doubt about work that was done on another branch with the same input.
    fn of_same(visit: &Visit) -> Self {
        let has_result = visit.state == EffectState::Done && !visit.writes.is_empty();
        Self {
            same_input: true,
            uses: has_result.then(|| visit.writes.clone()),
            key: Some(visit.key.clone()),
            ..Self::of_other(visit)
        }
    }

    /// Creates the doubt about work that was done on another branch with another input.
    fn of_other(visit: &Visit) -> Self {
        Self {
            state: visit.state,
            same_input: false,
            own: false,
            at: visit.ts.clone(),
            root: visit.root.clone(),
            failure: None,
            uses: None,
            key: None,
            instead: Some(visit.task_id.clone()),
        }
    }

    /// Returns the text of the question to a person.
    fn text(&self, node: &Name, effect: Effect) -> String {
        let must = match effect {
            Effect::Once => "It must not work twice.",
            Effect::Idempotent => "It may work twice, with the same key.",
            _ => "Nothing is said about what it does outside of the graph.",
        };
        match (self.own, self.state) {
            (_, EffectState::Done) if self.same_input => {
                format!(
                    "`{node}` did its work already. Is it to do it again?\nIt did so on another branch of this thread, with the \
                     same input. {must}"
                )
            }
            (_, EffectState::Done) => format!(
                "`{node}` did its work already, with another input. Is it to do it again?\nIt did so on another branch of this \
                 thread. {must}"
            ),
            (own, state) => {
                let place = if own {
                    "an earlier run"
                } else {
                    "a run on another branch"
                };
                let ended = match (state, &self.failure) {
                    (EffectState::Failed, Some(failure)) => {
                        format!("It began in {place} and failed there:\n\n{failure}\n\nIt")
                    }
                    (EffectState::Failed, None) => format!("It began in {place} and failed there. It"),
                    _ => format!(
                        "It began in {place} and did not come to its end there: that run was stopped, or its process ended. It"
                    ),
                };
                format!(
                    "Did `{node}` do its work?\n{ended} must not work twice. Look at what it changes, then say how to go on."
                )
            }
        }
    }

    /// Returns the choices that a person has.
    fn choices(&self) -> Vec<Value> {
        let choice = |label: &str, value: &str, description: &str| crate::json!({"label": label, "value": value, "description": description});
        match (self.state, &self.uses) {
            (EffectState::Done, Some(_)) => vec![
                choice(
                    "Use its result",
                    "use",
                    "The run goes on with what it returned then.",
                ),
                choice("Do it again", "again", "The node runs again."),
            ],
            (EffectState::Done, None) => vec![
                choice("Do it again", "again", "The node runs again."),
                choice(
                    "Leave it out",
                    "done",
                    "The run goes on without a result of the node.",
                ),
            ],
            _ => vec![
                choice("It did not", "again", "The node runs again."),
                choice("It did", "done", "The run goes on without its result."),
            ],
        }
    }

    fn question(&self, plan: &Plan, node: &Name, effect: Effect, refused: bool) -> Value {
        let choices = self.choices();
        let words: Vec<Value> = choices
            .iter()
            .filter_map(|choice| choice.get("value").cloned())
            .collect();
        let state = match self.state {
            EffectState::Done if !self.same_input => "other-input",
            state => state.as_str(),
        };
        let mut question = crate::json!({
            "kind": "effect",
            "node": node.clone(),
            "effect": effect.as_str(),
            "state": state,
            "question": self.text(node, effect),
            "schema": {"oneOf": [
                {"enum": words},
                {"type": "object", "properties": {"update": {"type": "object"}}, "required": ["update"], "additionalProperties": false},
            ]},
            "choices": choices,
            "context": {},
        });
        if let Value::Object(fields) = &mut question {
            if !self.at.is_empty() {
                fields.insert("at", self.at.as_str());
                fields.insert("checkpoint", self.root.as_str());
            }
            if let Some(writes) = &self.uses {
                fields.insert("result", task::result_view(plan, writes));
            }
            if refused {
                let words = match self.uses.is_some() {
                    true => "the answer is none of `use`, `again` and {\"update\": …}",
                    false => "the answer is none of `again`, `done` and {\"update\": …}",
                };
                fields.insert("refused", words);
            }
        }
        question
    }

    /// Returns the source of a result that is used. What the task itself wrote before has the source that it had.
    fn source_of_use(&self, earlier: &Earlier<'_>) -> Option<EffectSource> {
        match self.at.is_empty() {
            true => EffectSource::of_note(&earlier.note?.write.value),
            false => Some(EffectSource::Earlier),
        }
    }

    fn answer(&self, answer: &Value) -> Option<EffectAnswer> {
        match (answer.as_str(), answer.get("update")) {
            (Some("again"), _) => Some(EffectAnswer::Again),
            (Some("use"), _) if self.uses.is_some() => Some(EffectAnswer::Use),
            (Some("done"), _) => Some(EffectAnswer::Give(NodeOutput::none())),
            // The one who looked knows what came of it.
            (None, Some(update @ Value::Object(_))) => {
                Some(EffectAnswer::Give(NodeOutput::Update(update.clone())))
            }
            _ => None,
        }
    }
}

impl Loop {
    /// Returns whether there is anything to decide about effects, in this graph and this run.
    pub(super) fn has_effects(&self) -> bool {
        self.setup.plan.acts && (self.persister.is_some() || self.setup.shared.config.hold_effects)
    }

    /// Decides for each task of the step whose effect may have been done already how it begins. Nothing has begun yet; an
    /// error stops the run here.
    pub(super) async fn decide_effects(&mut self) -> Result<(), RunError> {
        for place in 0..self.open.tasks.len() {
            let task = &self.open.tasks[place];
            let outside = task.node.and_then(|node| self.setup.plan.node(node).outside());
            let works = self.pinned(place).is_none() && !self.is_beyond(task);
            let open = works && task.writes.is_empty() && task.failed().is_none();
            let Some(effect) = outside.filter(|_| open) else {
                continue;
            };
            if let Some(decided) = self.decide(place, effect).await? {
                self.open.decided.insert(place, decided);
            }
        }
        Ok(())
    }

    /// Returns the update that a task gives instead of the work of its node.
    pub(super) fn pinned(&self, place: usize) -> Option<&Value> {
        let task = &self.open.tasks[place];
        let is_node = task.node.is_some() && !task.head.is_start();
        self.all_pinned().filter(|_| is_node)?.get(&task.name)
    }

    /// Returns what nodes of this graph give instead of their work.
    fn all_pinned(&self) -> Option<&BTreeMap<Name, Value>> {
        let shared = &self.setup.shared;
        let pinned = match (shared.is_nested(), &self.setup.origin) {
            (false, _) => &shared.config.pinned,
            (true, Some(origin)) => shared.config.pinned_within.get(origin)?,
            (true, None) => return None,
        };
        (!pinned.is_empty()).then_some(pinned)
    }

    /// Gives the tasks whose output is pinned that output. One that takes over from a failed task works.
    pub(super) fn take_pinned(&mut self) {
        if self.all_pinned().is_none() {
            return;
        }
        for place in 0..self.open.tasks.len() {
            let task = &self.open.tasks[place];
            let open = task.writes.is_empty() && task.failed().is_none();
            if let Some(update) = self.pinned(place).filter(|_| open).cloned() {
                let decided = Decided::instead(Substitute::Pinned(update));
                self.open.decided.insert(place, decided);
            }
        }
    }

    async fn decide(&self, place: usize, effect: Effect) -> Result<Option<Decided>, RunError> {
        let task = &self.open.tasks[place];
        let earlier = Earlier::of(&self.resumed.pending, task.id());
        let mut decided = Decided {
            seals: effect == Effect::Once,
            ..Decided::default()
        };
        if let Some(doubt) = self.doubt(task, effect, &earlier).await? {
            self.settle(task, effect, &doubt, &earlier, &mut decided)?;
        }
        let begins = decided.uses.is_none() && decided.instead.is_none();
        if begins && self.holds(&task.name) {
            return Err(RunError::Held {
                node: task.name.clone(),
                task_id: task.id().clone(),
            });
        }
        decided.seals &= decided.instead.is_none() && decided.uses.is_none();
        if matches!(decided.instead, Some(Substitute::Ask(..))) {
            // What a question is about is found again when it is answered.
            decided.note = earlier.note.map(|note| note.write.value.clone());
        }
        if decided.seals {
            let mut fields = decided
                .note
                .as_ref()
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default();
            fields.insert("run", self.setup.shared.run_id.as_str());
            decided.note = Some(Value::Object(fields));
        }
        let plain = decided.note.is_none()
            && decided.key.is_none()
            && decided.instead.is_none()
            && decided.uses.is_none()
            && decided.answers.is_empty();
        Ok((!plain).then_some(decided))
    }

    /// Returns the reason why the task cannot simply begin, if there is one.
    async fn doubt(
        &self,
        task: &Task,
        effect: Effect,
        earlier: &Earlier<'_>,
    ) -> Result<Option<Doubt>, RunError> {
        let own = Doubt {
            state: EffectState::Done,
            same_input: true,
            own: true,
            at: String::new(),
            root: self.progress.current.clone(),
            failure: None,
            uses: None,
            key: earlier.text("key").map(Name::from),
            instead: earlier.text("instead").map(TaskId::new),
        };
        let outputs: Writes = earlier
            .outputs()
            .map(|w| (resolve(&self.setup.plan, &w.write.channel), w.write.value.clone()))
            .collect();
        if !outputs.is_empty() {
            // A step that the thread has moved past is done again.
            return Ok(Some(Doubt {
                own: false,
                uses: Some(outputs),
                ..own
            }));
        }
        if earlier.note.is_some() || effect == Effect::Once && self.began_before(task) {
            let error = earlier.error();
            let failure = error.and_then(|write| write.write.value.as_str());
            return Ok(Some(Doubt {
                state: error.map_or(EffectState::Begun, |_| EffectState::Failed),
                failure: failure.map(|shown| failure_of(shown).to_string()),
                ..own
            }));
        }
        let (Some(saver), Some(thread)) = (&self.setup.saver, &self.setup.shared.config.thread) else {
            return Ok(None);
        };
        let scene = Scene {
            plan: &self.setup.plan,
            saver: &**saver,
            thread,
            ns: &self.setup.shared.ns,
        };
        Ok(match self.setup.shared.past.take(&scene, task, effect).await? {
            Visits::None => None,
            Visits::Same(visit) => Some(Doubt::of_same(&visit)),
            Visits::Other(visit) => Some(Doubt::of_other(&visit)),
        })
    }

    /// Decides about a doubt as the run's policy says, or as a person has answered.
    fn settle(
        &self,
        task: &Task,
        effect: Effect,
        doubt: &Doubt,
        earlier: &Earlier<'_>,
        decided: &mut Decided,
    ) -> Result<(), RunError> {
        let stored = self.resumed.given.get(task.id()).map_or(0, Vec::len);
        let mut given = self.answers_of(task);
        // Answers of earlier decisions are used up.
        let before = earlier.asked().min(stored);
        let mut used = before.min(given.len());
        decided.key = doubt.key.clone();
        let mut source = Some(EffectSource::Work);
        match self.verdict(task, effect, doubt)? {
            EffectVerdict::Begin => {}
            EffectVerdict::Use => {
                source = doubt.source_of_use(earlier);
                decided.uses = doubt.uses.clone();
            }
            EffectVerdict::Ask => loop {
                if used == given.len() {
                    given.extend(self.setup.shared.answers.scalar.lock().take());
                }
                let Some(answer) = given.get(used) else {
                    let refused = used > before;
                    let question = doubt.question(&self.setup.plan, &task.name, effect, refused);
                    decided.instead = Some(Substitute::Ask(question, used));
                    break;
                };
                used += 1;
                match doubt.answer(answer) {
                    Some(EffectAnswer::Again) => {}
                    Some(EffectAnswer::Use) => {
                        source = doubt.source_of_use(earlier);
                        decided.uses = doubt.uses.clone();
                    }
                    Some(EffectAnswer::Give(output)) => {
                        source = Some(EffectSource::Answer);
                        decided.instead = Some(Substitute::Give(output));
                    }
                    None => continue,
                }
                break;
            },
        }
        given.truncate(used);
        decided.answers = given;
        let mut fields = Object::new();
        if let Some(key) = &decided.key
            && **key != *task.id().as_str()
        {
            fields.insert("key", key.clone());
        }
        if let Some(instead) = &doubt.instead {
            fields.insert("instead", instead.as_str());
        }
        if used > 0 {
            fields.insert("asked", used);
        }
        // A later reader cannot see it by the times: a task that asked was there, whether it worked or not.
        if let Some(source) = source
            && (!fields.is_empty() || source != EffectSource::Work || earlier.noted("from").is_some())
        {
            fields.insert("from", source.as_str());
        }
        decided.note = (!fields.is_empty()).then_some(Value::Object(fields));
        Ok(())
    }

    /// Checks whether an older release, which kept no notes of effects, stored that the task began. Such releases
    /// stored it as what the task called.
    fn began_before(&self, task: &Task) -> bool {
        if self.resumed.pending.is_empty() {
            return false;
        }
        let called = format!("~__pregel_push, {},", task.path_text());
        self.resumed
            .pending
            .iter()
            .any(|write| &*write.write.channel == reserved::RETURN && write.task_path.starts_with(&called))
    }

    /// Returns whether the node is kept from work outside of the graph.
    fn holds(&self, node: &Name) -> bool {
        let config = &self.setup.shared.config;
        let policy = config.effects_of.get(node).copied().unwrap_or(config.effects);
        config.hold_effects && policy != EffectPolicy::Again
    }

    /// Returns the verdict of the run's policy.
    fn verdict(&self, task: &Task, effect: Effect, doubt: &Doubt) -> Result<EffectVerdict, RunError> {
        let config = &self.setup.shared.config;
        let of_node = config.effects_of.get(&task.name).copied();
        let policy = of_node.unwrap_or(config.effects);
        if doubt.state != EffectState::Done && effect != Effect::Once {
            // With the same key nothing is done twice; and of what says nothing, only what was done is known.
            return Ok(EffectVerdict::Begin);
        }
        let policy = match (policy, doubt.own) {
            (EffectPolicy::Again, _) => return Ok(EffectVerdict::Begin),
            // Nobody knows how far it came, and there is somebody to ask: the task stands where it broke off.
            (_, true) => EffectPolicy::Ask,
            (EffectPolicy::Reuse, _) if doubt.uses.is_some() => return Ok(EffectVerdict::Use),
            (EffectPolicy::Reuse, _) if of_node.is_some() && config.effects != EffectPolicy::Reuse => {
                config.effects
            }
            (policy, _) => policy,
        };
        match policy {
            EffectPolicy::Again => Ok(EffectVerdict::Begin),
            EffectPolicy::Ask => Ok(EffectVerdict::Ask),
            EffectPolicy::Reuse | EffectPolicy::Stop => Err(RunError::Effect {
                node: task.name.clone(),
                task_id: task.id().clone(),
                checkpoint: doubt.root.clone(),
                state: doubt.state,
                same_input: doubt.same_input,
            }),
        }
    }

    /// Carries out what was decided before the tasks begin: results are used, and the beginning of work that must not
    /// be done twice is stored.
    pub(super) async fn begin_effects(&mut self) -> Result<(), RunError> {
        let mut places: Vec<usize> = self.open.decided.keys().copied().collect();
        places.sort_unstable();
        let mut sealed = false;
        for place in places {
            let Some(decided) = self.open.decided.get_mut(&place) else {
                continue;
            };
            let (note, seals) = (decided.note.clone(), decided.seals);
            let noted = note.map(|note| (Channel::Named(reserved::EFFECT.into()), note));
            let head = self.open.tasks[place].head.clone();
            if let Some(writes) = decided.uses.take() {
                let stored: Writes = noted.into_iter().chain(writes.iter().cloned()).collect();
                let record = self.record_pending(&head, &stored);
                let time = match self.open.tasks.len() > 1 {
                    true => StoreTime::AtOnce,
                    false => StoreTime::WithNext,
                };
                if let Some(persister) = &mut self.persister {
                    persister.task(record, time).await?;
                }
                if self.shows(&[]) {
                    self.emit_outcome(place, &writes, &[], None, None).await;
                }
                self.open.tasks[place].writes = writes;
            } else if let Some(noted) = noted.filter(|_| seals) {
                let record = self.record_pending(&head, &vec![noted]);
                if let Some(persister) = &mut self.persister {
                    persister.task(record, StoreTime::AtOnce).await?;
                    sealed = true;
                }
            }
        }
        if let (true, Some(persister)) = (sealed, &mut self.persister) {
            persister.settle().await?;
        }
        Ok(())
    }

    /// Returns the note to store beside the writes of a task that has ended, unless it was stored when the task began.
    pub(super) fn effect_note(&self, place: usize) -> Option<Value> {
        self.open
            .decided
            .get(&place)
            .filter(|decided| !decided.seals)?
            .note
            .clone()
    }
}

enum EffectVerdict {
    Begin,
    Use,
    Ask,
}
