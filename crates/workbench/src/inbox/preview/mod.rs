//! What an answer would lead to, before it is given: the graph goes on from a copy of the checkpoint in memory, with the
//! nodes whose result follows from the state alone. The others are passed by, nothing outside is reached, and where the
//! way depends on what they would have written, it ends.

mod earlier;
mod walk;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::{CheckpointTuple, StorageError};
use superstep::run::StateRef;
use superstep::{CheckpointId, Checkpointer, Interrupt, ThreadId, Value};
use superstep_document::Document;
use superstep_nodes::PreviewGraph;
use tokio::time::Instant;

use self::walk::{PreviewWalk, Walked};
use crate::Workbench;
use crate::base::blocking;
use crate::base::problem::already_answered;
use crate::base::problem::{no_checkpoint, no_thread};
use crate::documents::GraphSource;
use crate::documents::graphs::cannot_run;
use crate::session::asked;
use crate::session::{self, effects_after};
use crate::wire::{AnswerPreview, AnswerPreviews, EffectView, Json, PreviewAnswers, Problem};
use superstep_document::{Join, Text, text};

/// Answers of a request.
const MAX_ANSWERS: usize = 20;
/// How long each may take. A debug build is several times slower.
const TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 3 });

/// A question that waits, with the checkpoints that an answer goes on from.
#[derive(Debug)]
pub struct WaitingQuestion {
    /// What asks, and the nested graphs that ask in it.
    checkpoints: Vec<CheckpointTuple>,
    question: Interrupt,
    /// The node of the outermost graph that asks; `None` when only the graph knows.
    node: Option<String>,
}

impl WaitingQuestion {
    /// Reads the question that waits at a checkpoint, or at the newest of the thread: the one with this id, or else the
    /// only one.
    pub async fn read(
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        checkpoint: Option<&CheckpointId>,
        id: Option<&str>,
    ) -> Result<Self, Problem> {
        let found = saver.get(thread, "", checkpoint).await?;
        let found = found.ok_or_else(|| match checkpoint {
            Some(id) => no_checkpoint(thread.as_str(), id.as_str()),
            None => no_thread(thread.as_str()),
        })?;
        let mut asking = session::asking(&found.pending_writes);
        if let Some(id) = id {
            asking.retain(|asking| asking.question.id.as_str() == id);
        } else if asking.len() > 1 {
            let ids: Vec<&str> = asking.iter().map(|asking| asking.question.id.as_str()).collect();
            let message = text!(
                "{count} questions wait: {names}.",
                count = ids.len(),
                names = Text::list(Join::Comma, ids)
            );
            return Err(Problem::invalid(message).remedy(text!("Name one of them.")));
        }
        let asks = asking
            .pop()
            .ok_or_else(|| already_answered(text!("The question does not wait any more.")))?;
        Ok(Self {
            question: asks.question,
            node: asks.node,
            checkpoints: with_nested(saver, found).await?,
        })
    }

    /// Returns the checkpoint of the outermost graph that asks.
    pub fn at(&self) -> &CheckpointId {
        &self.checkpoints[0].checkpoint.id
    }

    /// Returns the answers that the question offers, with the labels of their buttons.
    fn offered(&self) -> Vec<(Json, String)> {
        let choices = asked(&self.question.value).choices.into_iter();
        choices.map(|choice| (choice.value, choice.label)).collect()
    }
}

/// Returns a checkpoint, and the newest of each nested graph that asks in it.
async fn with_nested(
    saver: &dyn Checkpointer,
    checkpoint: CheckpointTuple,
) -> Result<Vec<CheckpointTuple>, StorageError> {
    let mut all = vec![checkpoint];
    let mut next = 0;
    while let Some(of) = all.get(next) {
        next += 1;
        let inside = session::asking(&of.pending_writes)
            .into_iter()
            .filter_map(|asking| {
                let task = format!("{}:{}", asking.node?, asking.task_id);
                Some(match of.ns.is_empty() {
                    true => task,
                    false => format!("{}|{task}", of.ns),
                })
            });
        let (thread, inside) = (of.thread.clone(), inside.collect::<Vec<_>>());
        for ns in inside {
            all.extend(saver.get(&thread, &ns, None).await?);
        }
    }
    Ok(all)
}

/// Says of each node on the way what it did already on another branch ([`effects_after`]), in it or in the graph that it runs.
pub fn mark_done(previews: &mut [AnswerPreview], effects: &[EffectView]) {
    let nodes = previews
        .iter_mut()
        .flat_map(|preview| &mut preview.steps)
        .flatten();
    for node in nodes {
        let is_of = |effect: &&EffectView| *effect.path.first().unwrap_or(&effect.node) == node.node;
        node.done = effects.iter().filter(is_of).cloned().collect();
    }
}

/// Function that builds the graph of which only the certain nodes work, except these.
type Build = dyn Fn(&BTreeSet<String>) -> Result<PreviewGraph, Problem> + Send + Sync;

/// A graph that is asked what would happen.
pub struct Previewer {
    document: Document,
    context: Value,
    build: Arc<Build>,
}

impl fmt::Debug for Previewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Previewer")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl Previewer {
    /// Creates a previewer of a document with a run context; `build` builds its graph without some nodes, and may take
    /// long.
    pub fn new(
        document: Document,
        context: Value,
        build: impl Fn(&BTreeSet<String>) -> Result<PreviewGraph, Problem> + Send + Sync + 'static,
    ) -> Self {
        Self {
            document,
            context,
            build: Arc::new(build),
        }
    }

    /// Returns what would follow each of these answers; without any, each that the question offers.
    pub async fn previews(
        &self,
        waiting: &WaitingQuestion,
        answers: &[Json],
    ) -> Result<Vec<AnswerPreview>, Problem> {
        if let Some(node) = &waiting.node
            && !self.document.node_ids().any(|id| id == node)
        {
            // Its task would be lost; a person chooses what runs in its place when the thread goes on.
            return Err(Problem::invalid(text!("The graph has no node {node}.", node)));
        }
        let offered = waiting.offered();
        let answers = match answers {
            [] => offered.iter().map(|(answer, _)| answer.clone()).collect(),
            given => given.to_vec(),
        };
        if answers.len() > MAX_ANSWERS {
            let message = text!(
                "At most {most} answers are looked at together.",
                most = MAX_ANSWERS
            );
            return Err(Problem::invalid(message).remedy(text!("Ask for fewer.")));
        }
        let whole = self.graph(BTreeSet::new()).await?;
        (whole.graph.context_of(self.context.clone()))
            .map_err(|error| Problem::invalid(error.to_string()))?;
        let mut previews = Vec::new();
        for answer in answers {
            let label = offered.iter().find(|(known, _)| *known == answer);
            let label = label.map(|(_, label)| label.clone());
            previews.push(self.preview(waiting, whole.clone(), answer, label).await?);
        }
        Ok(previews)
    }

    /// Returns what follows an answer. A node that fails because what another would have written is missing is skipped
    /// like that one.
    async fn preview(
        &self,
        waiting: &WaitingQuestion,
        mut preview: Arc<PreviewGraph>,
        answer: Json,
        label: Option<String>,
    ) -> Result<AnswerPreview, Problem> {
        let until = Instant::now() + TIME;
        let mut without = BTreeSet::new();
        loop {
            let walk = PreviewWalk {
                preview: &preview,
                document: &self.document,
                waiting,
                context: &self.context,
            };
            match walk.after(&answer, until).await? {
                Walked::Followed(steps, end) => {
                    return Ok(AnswerPreview {
                        answer,
                        label,
                        steps,
                        end,
                    });
                }
                Walked::Without(node) => without.insert(node),
            };
            preview = self.graph(without.clone()).await?;
        }
    }

    async fn graph(&self, without: BTreeSet<String>) -> Result<Arc<PreviewGraph>, Problem> {
        let build = self.build.clone();
        blocking(move || build(&without).map(Arc::new)).await?
    }
}

impl Workbench {
    pub(crate) async fn question_preview(
        self: &Arc<Self>,
        request: PreviewAnswers,
    ) -> Result<AnswerPreviews, Problem> {
        // What is drawn of another program's graph says nothing of what its nodes do.
        self.refuse_foreign()?;
        let thread = ThreadId::from(request.thread_id.as_str());
        let checkpoint = request.checkpoint_id.as_deref().map(CheckpointId::from);
        let id = Some(request.interrupt_id.as_str());
        let waiting = WaitingQuestion::read(&*self.saver(), &thread, checkpoint.as_ref(), id).await?;
        let source = self.source_by_key(&self.key_of_thread(&request.thread_id).await?)?;
        let at = Some(waiting.at().as_str());
        let source = self.graph_to_go_on(&request.thread_id, at, source).await?;
        let key = source.key.clone();
        let context = self.ledger.context(&request.thread_id)?.unwrap_or_default();
        let (this, built_of) = (self.clone(), source.clone());
        let previewer = Previewer::new(source.document.clone(), Value::from(context), move |without| {
            this.build_preview(&source, without)
        });
        let mut previews = previewer.previews(&waiting, &request.answers).await?;
        self.add_earlier_runs(&key, &mut previews)?;
        // A graph that cannot be built says nothing of its past, and is looked at all the same.
        let this = self.clone();
        if let Ok(built) = blocking(move || this.build(built_of)).await? {
            let (document, saver) = (&built.source.document, self.saver());
            let at = StateRef::at(thread, waiting.at().clone());
            let done = effects_after(&built.graph, document, &*saver, &at).await?;
            mark_done(&mut previews, &done.effects);
        }
        Ok(AnswerPreviews { previews })
    }

    fn build_preview(
        &self,
        source: &GraphSource,
        without: &BTreeSet<String>,
    ) -> Result<PreviewGraph, Problem> {
        let folder = source.path.as_deref().and_then(Path::parent);
        let environment = self
            .environment(folder.map(Path::to_path_buf))
            .with_grants(self.trust.grants(&Self::project(source)));
        self.registry
            .build_preview(&source.document, &source.within(environment), without)
            .map_err(|errors| cannot_run(source, &errors))
    }
}
