//! One node by itself: with the state of a checkpoint or one that a person wrote, without a thread.

use std::sync::Arc;
use std::time::Instant;

use superstep::checkpoint::{ListQuery, PendingWrite};
use superstep::stream::{Payload, TaskEnd};
use superstep::value::Object;
use superstep::{
    Checkpointer, Graph, Input, Interrupt, MemorySaver, Name, Run, RunConfig, RunError, StreamEvent,
    StreamMode, Value,
};
use superstep_document::Document;
use superstep_nodes::schema::StateSchema;

use crate::Workbench;
use crate::base::blocking;
use crate::base::values;
use crate::base::values::interrupt_view;
use crate::runs::attempts::attempt_view;
use crate::runs::tokens;
use crate::session::asked;
use crate::session::replacing;
use crate::threads::provenance::records;
use crate::threads::tasks::not_retried;
use crate::wire::{
    AttemptView, Json, NodeTested, Problem, RunModels, TaskRecordView, TaskStatus, TaskView, TestNode,
    TokenPiece,
};
use superstep_document::text;

/// Name of the thread, which lives in memory for as long as the test.
const THREAD: &str = "trial";
/// Emitted values that are given back.
const MAX_EMITTED: usize = 500;
/// Characters of what models answered that are given back.
const MAX_TEXT: usize = 256 * 1024;

/// Output of a tested node, as far as a person would read it.
#[derive(Default)]
struct Collected {
    ended: Option<TaskEnd>,
    text: String,
    emitted: Vec<Json>,
    more: u32,
    /// Attempts at the node that failed.
    attempts: Vec<AttemptView>,
    /// Every task, those of nested graphs too.
    tasks: Vec<String>,
}

impl Collected {
    fn event(&mut self, event: StreamEvent, node: &str) {
        if let Payload::TaskStart(task) = &event.payload {
            self.tasks.push(task.id.to_string());
        }
        match event.payload {
            Payload::TaskEnd(task) if event.ns.is_empty() && &*task.name == node => self.ended = Some(task),
            Payload::AttemptFailed(failed) if event.ns.is_empty() && &*failed.name == node => {
                self.attempts.push(attempt_view(&failed));
            }
            Payload::Message(message, _) => {
                for piece in tokens::pieces(&message) {
                    if let TokenPiece::Text { text } = piece
                        && self.text.len() < MAX_TEXT
                    {
                        self.text.push_str(&text);
                    }
                }
            }
            Payload::Custom(value, _) if self.emitted.len() < MAX_EMITTED => self.emitted.push(value.into()),
            Payload::Custom(..) => self.more += 1,
            _ => {}
        }
    }

    /// Reads one run of the node to its end.
    async fn read(&mut self, mut run: Run, node: &str) -> Result<Vec<Interrupt>, RunError> {
        while let Some(event) = run.next().await {
            self.event(event, node);
        }
        Ok(run.finish().await?.interrupts)
    }

    /// Runs the node until it asks nothing, or more than there are answers.
    async fn run(
        &mut self,
        graph: &Graph,
        config: &RunConfig,
        node: &str,
        mut next: Input,
        answers: Vec<Json>,
    ) -> Result<(), RunError> {
        let mut answers = answers.into_iter();
        loop {
            let questions = self.read(graph.stream(next, config.clone()), node).await?;
            // One answer at a time, as a person gives them.
            let (Some(question), Some(answer)) = (questions.first(), answers.next()) else {
                return Ok(());
            };
            let answer: Object = [(question.id.to_string(), Value::from(answer))]
                .into_iter()
                .collect();
            next = Input::answer(answer);
        }
    }

    /// Converts the task to the result that is shown.
    fn shown(
        self,
        task: TaskEnd,
        document: &Document,
        millis: u32,
        record: Option<TaskRecordView>,
    ) -> NodeTested {
        let status = match (&task.error, task.interrupts.is_empty()) {
            (Some(_), _) => TaskStatus::Failed,
            (None, false) => TaskStatus::Asking,
            (None, true) => TaskStatus::Done,
        };
        NodeTested {
            asked: task.interrupts.first().map(|asks| asked(&asks.value)),
            task: TaskView {
                not_retried: (task.failure.as_ref())
                    .and_then(|failure| not_retried(document, &task.name, failure)),
                failure: task.failure.as_ref().map(Into::into),
                id: task.id.to_string(),
                node: task.name.to_string(),
                status,
                error: task.error,
                interrupts: task.interrupts.iter().map(interrupt_view).collect(),
                result: (status == TaskStatus::Done).then(|| values::view(&task.result)),
                targets: task.targets.iter().map(ToString::to_string).collect(),
                ways: Vec::new(),
                millis: Some(millis),
                attempts: self.attempts,
                within: None,
                record,
                packet: None,
            },
            text: self.text,
            emitted: self.emitted,
            more: self.more,
            exchanges: Vec::new(),
        }
    }
}

/// Builds an input that makes the state exactly these values.
fn input(document: &Document, values: &Object) -> Value {
    replacing(document, values, |_| true)
}

/// Builds the configuration for testing a node: everything is recorded, and no node runs after it.
fn config(node: &str) -> RunConfig {
    RunConfig::on(THREAD)
        .modes([
            StreamMode::Tasks,
            StreamMode::Attempts,
            StreamMode::Messages,
            StreamMode::Custom,
        ])
        .interrupt_after([Name::from(node)])
        .record(true)
        // Models inside of a nested graph are collected, too.
        .subgraphs(true)
}

impl Workbench {
    pub(crate) async fn node_test(self: &Arc<Self>, request: TestNode) -> Result<NodeTested, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let mut state = match &request.at {
            Some(at) => self.state_at(at).await?,
            None => Object::new(),
        };
        for (name, value) in request.state {
            state.insert(name, Value::from(value));
        }
        let input = input(&source.document, &state);
        let (schema, _) = StateSchema::of(&source.document);
        schema.check_update("the test", &input).map_err(|error| {
            Problem::new("does-not-fit", error.to_string()).remedy(text!(
                "Correct the value, or change the key's type in the state panel."
            ))
        })?;
        let answering = match (request.models, &request.at) {
            (Some(models), _) => models.cleaned(),
            (None, Some(at)) => self.models_of(&at.thread_id, at.checkpoint_id.as_deref()).await?,
            (None, None) => RunModels::default(),
        };
        let (this, node) = (self.clone(), request.node.clone());
        let document = source.document.clone();
        let bounds = superstep_nodes::bounds(&source.document);
        let graph = blocking(move || this.build_node_test(&source, &node, &answering)).await??;
        let context = match (request.context, &request.at) {
            (Some(context), _) => Some(context),
            (None, Some(at)) => self.ledger.context(&at.thread_id)?,
            (None, None) => None,
        };
        let context = Value::from(context.unwrap_or_default());
        graph
            .context_of(context.clone())
            .map_err(|error| Problem::invalid(error.to_string()))?;
        let work = self.job(request.work);
        let config = config(&request.node)
            .bounds(bounds)
            .context(context)
            .cancel(work.stop().clone());
        let saver = Arc::new(MemorySaver::new());
        let graph = graph.with_checkpointer(saver.clone());
        let began = Instant::now();
        let mut collected = Collected::default();
        let ended = collected
            .run(
                &graph,
                &config,
                &request.node,
                Input::Value(input),
                request.answers,
            )
            .await;
        let tasks = std::mem::take(&mut collected.tasks);
        let exchanges = tasks.iter().flat_map(|task| self.taken_exchanges(task)).collect();
        let millis = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
        let Some(task) = collected.ended.take() else {
            return Err(match ended {
                Err(error) => error.into(),
                Ok(()) => Problem::new(
                    "internal",
                    text!("Node {node} did not run.", node = &request.node),
                ),
            });
        };
        if let Err(RunError::Cancelled) = &ended {
            return Err(RunError::Cancelled.into());
        }
        let stored = saver.list(&ListQuery::default()).await?;
        let writes: Vec<PendingWrite> = stored
            .into_iter()
            .flat_map(|tuple| tuple.pending_writes)
            .collect();
        let record = records(&writes).remove(task.id.as_str());
        Ok(NodeTested {
            exchanges,
            ..collected.shown(task, &document, millis, record)
        })
    }
}
