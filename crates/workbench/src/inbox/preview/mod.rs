//! What an answer would lead to, before it is given: the graph goes on from a copy of the checkpoint in memory, with the
//! nodes whose result follows from the state alone. The others are passed by, nothing outside is reached, and where the
//! way depends on what they would have written, it ends.

mod earlier;
mod walk;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use superstep::{CheckpointId, CheckpointTuple, Interrupt, StorageError, ThreadId, Value};
use superstep_nodes::PreviewGraph;
use tokio::time::Instant;

use self::walk::{Walk, Walked};
use crate::Workbench;
use crate::base::blocking;
use crate::base::problem::{no_checkpoint, no_thread};
use crate::documents::GraphSource;
use crate::documents::graphs::cannot_run;
use crate::inbox::question::{already_answered, asked};
use crate::session;
use crate::wire::{AnswerPreview, AnswerPreviews, Json, PreviewAnswers, PreviewEnd, PreviewNode, Problem};

/// Answers of a request.
const MOST_ANSWERS: usize = 20;
/// How long each may take.
const TIME: Duration = Duration::from_secs(3);

/// A checkpoint that asks, with those of the nested graphs that ask in it.
pub(super) struct Waiting {
    pub(super) checkpoints: Vec<CheckpointTuple>,
    pub(super) question: Interrupt,
    /// The node of the outermost graph that asks; `None` when only the graph knows.
    pub(super) node: Option<String>,
}

/// An answer, and what its button says.
type Answer = (Json, Option<String>);

/// The answers of the request, or else those that the question offers.
fn answers(request: &PreviewAnswers, question: &Interrupt) -> Result<Vec<Answer>, Problem> {
    let offered = asked(&question.value).choices;
    let given = request.answers.iter().map(|answer| {
        let choice = offered.iter().find(|choice| choice.value == *answer);
        (answer.clone(), choice.map(|choice| choice.label.clone()))
    });
    let mut answers: Vec<Answer> = given.collect();
    if answers.is_empty() {
        answers.extend(
            offered
                .into_iter()
                .map(|choice| (choice.value, Some(choice.label))),
        );
    }
    if answers.len() > MOST_ANSWERS {
        return Err(
            Problem::invalid(format!("At most {MOST_ANSWERS} answers are looked at together."))
                .remedy("Ask for fewer."),
        );
    }
    Ok(answers)
}

impl Workbench {
    pub(crate) async fn question_preview(
        self: &Arc<Self>,
        request: PreviewAnswers,
    ) -> Result<AnswerPreviews, Problem> {
        let waiting = self.asked_at(&request).await?;
        let answers = answers(&request, &waiting.question)?;
        let source = self.source_by_key(&self.key_of_thread(&request.thread_id).await?)?;
        let key = source.key.clone();
        let document = source.document.clone();
        let source = Arc::new(source);
        let preview = self.build_preview(&source, BTreeSet::new()).await?;
        let context = Value::from(self.ledger.context(&request.thread_id)?.unwrap_or_default());
        let context = preview.graph.context_of(context.clone()).map(|_| context);
        let mut walk = Walk {
            preview,
            document: &document,
            waiting: &waiting,
            context: context.map_err(|error| Problem::invalid(error.to_string()))?,
        };
        let (whole, mut previews) = (walk.preview.clone(), Vec::new());
        for (answer, label) in answers {
            walk.preview = whole.clone();
            let (steps, end) = self.followed(&mut walk, &answer, &source).await?;
            previews.push(AnswerPreview {
                answer,
                label,
                steps,
                end,
            });
        }
        self.add_earlier_runs(&key, &mut previews)?;
        Ok(AnswerPreviews { previews })
    }

    /// What follows an answer. A node that fails for want of what another would have written is passed by like that one.
    async fn followed(
        self: &Arc<Self>,
        walk: &mut Walk<'_>,
        answer: &Json,
        source: &Arc<GraphSource>,
    ) -> Result<(Vec<Vec<PreviewNode>>, PreviewEnd), Problem> {
        let until = Instant::now() + TIME;
        let mut without = BTreeSet::new();
        loop {
            match walk.after(answer, until).await? {
                Walked::Followed(steps, end) => return Ok((steps, end)),
                Walked::Without(node) => without.insert(node),
            };
            walk.preview = self.build_preview(source, without.clone()).await?;
        }
    }

    async fn build_preview(
        self: &Arc<Self>,
        source: &Arc<GraphSource>,
        without: BTreeSet<String>,
    ) -> Result<Arc<PreviewGraph>, Problem> {
        let (this, source) = (self.clone(), source.clone());
        let build = move || {
            let folder = source.path.as_deref().and_then(Path::parent);
            let environment = this
                .environment(folder.map(Path::to_path_buf))
                .with_grants(this.trust.grants(&Self::project(&source)));
            this.registry
                .build_preview(&source.document, &source.within(environment), &without)
                .map(Arc::new)
                .map_err(|errors| cannot_run(&source, &errors))
        };
        blocking(build).await?
    }

    /// The checkpoint of the request, if its question waits there.
    async fn asked_at(&self, request: &PreviewAnswers) -> Result<Waiting, Problem> {
        let thread = ThreadId::from(request.thread_id.as_str());
        let id = request.checkpoint_id.as_deref().map(CheckpointId::from);
        let found = self.saver().get(&thread, "", id.as_ref()).await?;
        let checkpoint = found.ok_or_else(|| match &id {
            Some(id) => no_checkpoint(&request.thread_id, id.as_str()),
            None => no_thread(&request.thread_id),
        })?;
        let asking = session::asking(&checkpoint.pending_writes);
        let asks = asking
            .into_iter()
            .find(|asking| asking.question.id.as_str() == request.interrupt_id)
            .ok_or_else(|| already_answered("The question does not wait any more."))?;
        Ok(Waiting {
            question: asks.question,
            node: asks.node,
            checkpoints: self.with_nested(checkpoint).await?,
        })
    }

    /// A checkpoint, and the newest of each nested graph that asks in it.
    async fn with_nested(&self, checkpoint: CheckpointTuple) -> Result<Vec<CheckpointTuple>, StorageError> {
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
                all.extend(self.saver().get(&thread, &ns, None).await?);
            }
        }
        Ok(all)
    }
}
