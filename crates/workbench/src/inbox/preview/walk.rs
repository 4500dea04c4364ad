//! The super-steps that follow an answer, one at a time, and what of the state is not known after each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use superstep::checkpoint::{Decision, KeysRead, ListQuery, TaskRecord};
use superstep::graph::Effect;
use superstep::run::RunStatus;
use superstep::stream::{Payload, TaskEnd};
use superstep::value::Object;
use superstep::{Checkpointer, Graph, Input, Interrupt, MemorySaver, RunConfig, RunError, StreamMode, Value};
use superstep_document::{Document, NodeSpec, Reducer};
use superstep_nodes::PreviewGraph;
use tokio::time::{Instant, timeout_at};

use super::WaitingQuestion;
use crate::session::asked;
use crate::wire::{Json, PreviewEnd, PreviewNode, Problem};

/// Super-steps that are looked at.
const MAX_STEPS: usize = 30;

/// State keys whose values depend on what was not run.
#[derive(Clone, Debug, Default)]
struct UnknownKeys {
    /// Any of them may.
    all: bool,
    keys: BTreeSet<String>,
}

impl UnknownKeys {
    fn any(&self) -> bool {
        self.all || !self.keys.is_empty()
    }

    /// Returns those of these keys that are not known.
    fn of<'a>(&self, keys: impl Iterator<Item = &'a str>) -> Vec<String> {
        keys.filter(|key| self.all || self.keys.contains(*key))
            .map(str::to_owned)
            .collect()
    }

    /// Returns whether something with these reads depends on something that is not known.
    fn reaches(&self, reads: &KeysRead) -> bool {
        match reads {
            KeysRead::Keys(keys) => !self.of(keys.iter().map(|key| &**key)).is_empty(),
            KeysRead::All | KeysRead::Unknown => self.any(),
        }
    }
}

/// A super-step that ran.
struct Stretch {
    ended: Vec<TaskEnd>,
    result: Result<(RunStatus, Vec<Interrupt>), RunError>,
}

/// Simulation of what follows the question, by its answer.
pub(super) struct PreviewWalk<'a> {
    pub(super) preview: &'a PreviewGraph,
    pub(super) document: &'a Document,
    pub(super) waiting: &'a WaitingQuestion,
    pub(super) context: &'a Value,
}

/// Result of a walk.
pub(super) enum Walked {
    /// The super-steps, and how they end.
    Followed(Vec<Vec<PreviewNode>>, PreviewEnd),
    /// This node cannot work with what is not known: it is to be passed by.
    Without(String),
}

impl PreviewWalk<'_> {
    /// Returns the super-steps after an answer, and how they end.
    pub(super) async fn after(&self, answer: &Json, until: Instant) -> Result<Walked, Problem> {
        let saver = Arc::new(MemorySaver::new());
        for checkpoint in &self.waiting.checkpoints {
            let thread = checkpoint.thread.clone();
            saver.commit(checkpoint.clone().into_commit(&thread)).await?;
        }
        let graph = self.preview.graph.clone().with_checkpointer(saver.clone());
        let given: Object = [(self.waiting.question.id.to_string(), Value::from(answer.clone()))]
            .into_iter()
            .collect();
        let specs: BTreeMap<&str, NodeSpec> = self.document.nodes().collect();
        let (mut steps, mut unknown) = (Vec::new(), UnknownKeys::default());
        let mut input = Input::answer(given);
        for number in 0..MAX_STEPS {
            let Ok(stretch) = timeout_at(until, self.stretch(&graph, input)).await else {
                return Ok(Walked::Followed(steps, PreviewEnd::GoesOn));
            };
            let records = self.records(&saver).await?;
            let shown = self.nodes(&stretch.ended, &specs, number == 0);
            if !shown.is_empty() {
                steps.push(shown);
            }
            if let Some(node) = self.cannot_work(&stretch.ended, &unknown) {
                return Ok(Walked::Without(node));
            }
            if let Some(end) = self.learn(&stretch, &records, &specs, &mut unknown) {
                return Ok(Walked::Followed(steps, end));
            }
            match stretch.result {
                Ok((RunStatus::Done, _)) => return Ok(Walked::Followed(steps, PreviewEnd::Done)),
                Ok((RunStatus::Interrupted, questions)) => {
                    let end = self.asks(&stretch.ended, &questions, &unknown);
                    return Ok(Walked::Followed(steps, end));
                }
                Ok((RunStatus::Breakpoint, _)) => input = Input::Continue,
                Err(error) => {
                    let node = stretch.ended.last().map(|task| task.name.to_string());
                    let error = error.to_string();
                    let node = node.unwrap_or_default();
                    return Ok(Walked::Followed(steps, PreviewEnd::Fails { node, error }));
                }
            }
        }
        Ok(Walked::Followed(steps, PreviewEnd::GoesOn))
    }

    /// Runs one super-step.
    async fn stretch(&self, graph: &Graph, input: Input) -> Stretch {
        let thread = self.waiting.checkpoints[0].thread.as_str();
        let config = RunConfig::on(thread)
            .modes([StreamMode::Tasks])
            .interrupt_after(["*"])
            .bounds(superstep_nodes::bounds(self.document))
            .context(self.context.clone())
            .record(true);
        let mut run = graph.stream(input, config);
        let mut ended = Vec::new();
        while let Some(event) = run.next().await {
            if let Payload::TaskEnd(task) = event.payload
                && event.ns.is_empty()
            {
                ended.push(task);
            }
        }
        let result = run.finish().await;
        Stretch {
            ended,
            result: result.map(|result| (result.status, result.interrupts)),
        }
    }

    /// Reads what the tasks of the outermost graph read and decided, by task.
    async fn records(&self, saver: &MemorySaver) -> Result<BTreeMap<String, TaskRecord>, Problem> {
        let query = ListQuery::new()
            .thread(self.waiting.checkpoints[0].thread.clone())
            .ns("")
            .limit(2);
        let stored = saver.list(&query).await?;
        let records = stored.iter().flat_map(|tuple| tuple.records());
        Ok(records.map(|(task, record)| (task.to_string(), record)).collect())
    }

    /// Returns the nodes of a step as they are shown; one that only takes the answer is omitted.
    fn nodes(&self, ended: &[TaskEnd], specs: &BTreeMap<&str, NodeSpec>, first: bool) -> Vec<PreviewNode> {
        let mut shown: Vec<PreviewNode> = Vec::new();
        for task in ended {
            let name = &*task.name;
            let uncertain = self.preview.uncertain.get(name);
            let asked = self.waiting.node.as_deref() == Some(name);
            let takes_answer = first && asked && uncertain.is_none();
            if takes_answer || !task.interrupts.is_empty() {
                continue;
            }
            if let Some(known) = shown.iter_mut().find(|node| node.node == name) {
                known.tasks += 1;
                continue;
            }
            let effect = uncertain.map(|uncertain| uncertain.effect);
            shown.push(PreviewNode {
                node: name.to_owned(),
                kind: specs.get(name).map(|spec| spec.kind.clone()).unwrap_or_default(),
                tasks: 1,
                effect: effect
                    .filter(|effect| !matches!(effect, Effect::Pure | Effect::Reads))
                    .map(|effect| effect.as_str().to_owned()),
                done: Vec::new(),
                earlier: None,
            });
        }
        shown
    }

    /// Returns the first node that failed where not all of the state is known: what is missing may be the reason.
    fn cannot_work(&self, ended: &[TaskEnd], unknown: &UnknownKeys) -> Option<String> {
        let is_certain = |task: &&TaskEnd| !self.preview.uncertain.contains_key(&*task.name);
        let mut failed = ended.iter().filter(|task| task.error.is_some());
        failed
            .find(|task| is_certain(task) && unknown.any())
            .map(|task| task.name.to_string())
    }

    /// Notes what is not known of the state after a step; the end, where it decides how to go on.
    fn learn(
        &self,
        stretch: &Stretch,
        records: &BTreeMap<String, TaskRecord>,
        specs: &BTreeMap<&str, NodeSpec>,
        unknown: &mut UnknownKeys,
    ) -> Option<PreviewEnd> {
        let before = unknown.clone();
        for task in &stretch.ended {
            self.written(task, records.get(task.id.as_str()), &before, unknown);
        }
        for task in &stretch.ended {
            let record = records.get(task.id.as_str());
            let end = self.decided(task, record, specs, unknown);
            if end.is_some() {
                return end;
            }
        }
        None
    }

    /// Notes which of the keys that a task writes are known afterwards.
    fn written(
        &self,
        task: &TaskEnd,
        record: Option<&TaskRecord>,
        before: &UnknownKeys,
        unknown: &mut UnknownKeys,
    ) {
        if let Some(uncertain) = self.preview.uncertain.get(&*task.name) {
            match &uncertain.writes {
                Some(keys) => unknown.keys.extend(keys.iter().cloned()),
                None => unknown.all = true,
            }
            return;
        }
        let guessed = record.map_or_else(|| before.any(), |record| before.reaches(&record.reads));
        let wrote = task.result.as_object().into_iter().flat_map(|wrote| wrote.iter());
        for (key, _) in wrote {
            if guessed {
                unknown.keys.insert(key.to_string());
            } else if self.overwrites(key) {
                unknown.keys.remove(&**key);
            }
        }
    }

    fn overwrites(&self, key: &str) -> bool {
        let mut keys = self.document.state_keys();
        keys.any(|(name, spec)| name == key && spec.reducer == Reducer::Overwrite)
    }

    /// Returns the end, when it is not known where a task leads, or when it fails.
    fn decided(
        &self,
        task: &TaskEnd,
        record: Option<&TaskRecord>,
        specs: &BTreeMap<&str, NodeSpec>,
        unknown: &UnknownKeys,
    ) -> Option<PreviewEnd> {
        let node = task.name.to_string();
        if let Some(error) = &task.error {
            let error = error.clone();
            return Some(match self.preview.uncertain.get(&node) {
                // A node that is passed by does not fail: an edge of it does, for want of what it would have written.
                Some(uncertain) => PreviewEnd::Depends {
                    keys: uncertain.writes.iter().flatten().cloned().collect(),
                    targets: self.targets(&node, None),
                    node,
                },
                None => PreviewEnd::Fails { node, error },
            });
        }
        let uncertain = self.preview.uncertain.get(&node);
        if let Some(uncertain) = uncertain.filter(|uncertain| !uncertain.targets.is_empty()) {
            let known = |to: &&String| specs.contains_key(to.as_str()) || to.as_str() == superstep::END;
            return Some(PreviewEnd::Depends {
                keys: Vec::new(),
                targets: uncertain.targets.iter().filter(known).cloned().collect(),
                node,
            });
        }
        let decisions = record.into_iter().flat_map(|record| &record.decisions);
        decisions
            .filter_map(|decision| Some((decision, self.doubts(decision, unknown)?)))
            .map(|(decision, keys)| PreviewEnd::Depends {
                targets: self.targets(&node, decision.edge.as_deref()),
                node: node.clone(),
                keys,
            })
            .next()
    }

    /// Returns the keys that are not known and that an edge decided by; `None` when it is certain where it leads.
    fn doubts(&self, decision: &Decision, unknown: &UnknownKeys) -> Option<Vec<String>> {
        let Some(reason) = decision.reason.as_ref().filter(|_| !decision.cut) else {
            return unknown.any().then(Vec::new);
        };
        let keys = unknown.of(reason.values.iter().map(|(key, _)| &**key));
        (!keys.is_empty()).then_some(keys)
    }

    /// Returns the nodes that an edge may lead to, or that any conditional edge of a node may.
    fn targets(&self, node: &str, edge: Option<&str>) -> Vec<String> {
        let mut targets: Vec<String> = Vec::new();
        for (id, each) in self.document.edges() {
            let meant = edge.map_or_else(
                || each.is_conditional() && each.sources().contains(&node),
                |edge| edge == id,
            );
            if !meant {
                continue;
            }
            for target in each.targets() {
                if !targets.iter().any(|known| known == target) {
                    targets.push(target.to_owned());
                }
            }
        }
        targets
    }

    /// Returns the question that a step ends with.
    fn asks(&self, ended: &[TaskEnd], questions: &[Interrupt], unknown: &UnknownKeys) -> PreviewEnd {
        let asks = ended.iter().find(|task| !task.interrupts.is_empty());
        let question = asks
            .and_then(|task| task.interrupts.first())
            .or_else(|| questions.first())
            .map(|question| asked(&question.value));
        let node = asks
            .map(|task| task.name.to_string())
            .or_else(|| self.waiting.node.clone())
            .unwrap_or_default();
        let (text, refused) = question
            .map(|question| (Some(question.text).filter(|_| !unknown.any()), question.refused))
            .unwrap_or_default();
        PreviewEnd::Asks { node, text, refused }
    }
}
