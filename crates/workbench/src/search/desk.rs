//! A search over all threads, answer by answer.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use superstep::checkpoint::{ThreadPlace, ThreadQuery, ThreadStatus, ThreadSummary};
use superstep::{CheckpointId, Checkpointer};
use superstep_document::Document;

use super::condition::UnknownSteps;
use super::find::{Query, ThreadSearch};
use super::index::path_of;
use super::index::reader::{Page, SearchedThreads};
use super::invariants::Rules;
use super::probe::Probe;
use super::reconsider::Draft;
use super::words::{Words, fold};
use super::{Directory, Listed, uses, value_history};
use crate::session;
use crate::threads::listing::{page_size, place, place_text};
use crate::wire::{
    CheckInvariants, EdgeReconsidered, FindMoments, FindUses, InvariantAt, InvariantsChecked, ItemUses,
    MomentsFound, NodeProbed, ProbeNode, Problem, ReconsiderEdge, RunStatus, SearchProgress, WatchHistory,
};
use superstep_document::text;

/// Time after which an answer is given with what was found by then.
const ANSWER_AFTER: Duration = Duration::from_millis(200);
/// Threads that are read at once.
const MAX_READ: usize = 4;
/// Moments of an answer when nobody says how many.
const MOMENTS: usize = 100;

/// Searches the threads of a database.
#[derive(Clone, Debug)]
pub struct Desk {
    saver: Arc<dyn Checkpointer>,
    directory: Arc<dyn Directory>,
    /// Where the index of words is, if there is one.
    index: Option<PathBuf>,
}

/// Selection of the threads to read, and the number of results wanted.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    /// The keys that the graph is known by; empty for every graph.
    pub(super) graphs: &'a [String],
    pub(super) status: Option<RunStatus>,
    pub(super) since: Option<&'a str>,
    pub(super) after: Option<&'a str>,
    pub(super) limit: u32,
    /// Words that the threads must have.
    pub(super) words: Option<&'a Words>,
}

/// A thread that is read, with what reads it.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) saver: Arc<dyn Checkpointer>,
    pub(super) directory: Arc<dyn Directory>,
    pub(super) summary: ThreadSummary,
    pub(super) listed: Listed,
}

impl Desk {
    /// Searches what `saver` keeps; `directory` says how its threads are listed.
    pub fn new(saver: Arc<dyn Checkpointer>, directory: Arc<dyn Directory>) -> Self {
        let index = None;
        Self {
            saver,
            directory,
            index,
        }
    }

    /// Uses the index at a path; where there is none, every thread is read.
    #[must_use]
    pub(super) fn with_index(mut self, path: Option<PathBuf>) -> Self {
        self.index = path;
        self
    }

    /// Uses the index of a data folder for the database at `place`, when its app keeps one.
    #[must_use]
    pub fn with_index_of(self, data_dir: &Path, place: &str) -> Self {
        self.with_index(Some(path_of(data_dir, place)))
    }

    /// Finds moments. `graphs` are the keys (paths, ids of drafts, names) that the graph of the request is known by, in place of
    /// its own fields.
    pub async fn find(&self, request: &FindMoments, graphs: &[String]) -> Result<MomentsFound, Problem> {
        let query = Arc::new(Query::compile(request)?);
        let frame = Frame {
            graphs,
            status: query.status,
            since: query.since.as_deref(),
            after: request.after.as_deref(),
            limit: request.limit,
            words: query.words.as_ref(),
        };
        let (moments, progress) = self
            .walk(&frame, |reading| {
                let query = query.clone();
                async move {
                    let mut unknown = UnknownSteps::default();
                    let search = ThreadSearch {
                        query: &query,
                        saver: &*reading.saver,
                        directory: &*reading.directory,
                        summary: &reading.summary,
                        listed: &reading.listed,
                    };
                    let found = search.run(&mut unknown).await?;
                    Ok((found, unknown))
                }
            })
            .await?;
        Ok(MomentsFound { moments, progress })
    }

    /// Evaluates an expression at every visit of a node. `graphs` are as in [`find`](Self::find).
    pub async fn probe(&self, request: &ProbeNode, graphs: &[String]) -> Result<NodeProbed, Problem> {
        let probe = Arc::new(Probe::compile(request)?);
        let frame = Frame {
            graphs,
            status: None,
            since: probe.since.as_deref(),
            after: request.after.as_deref(),
            limit: request.limit,
            words: None,
        };
        let (visits, progress) = self
            .walk(&frame, |reading| {
                let probe = probe.clone();
                async move {
                    let mut unknown = UnknownSteps::default();
                    let visits = probe.run(&reading, &mut unknown).await?;
                    Ok((visits, unknown))
                }
            })
            .await?;
        Ok(NodeProbed { visits, progress })
    }

    /// Finds the steps that read or wrote an item of long-term memory.
    pub async fn uses(&self, request: &FindUses) -> Result<ItemUses, Problem> {
        let wanted = Arc::new(uses::SoughtItem::from(request));
        let frame = Frame::of(&[], request.after.as_deref(), request.limit);
        let (uses, progress) = self
            .walk(&frame, |reading| {
                let wanted = wanted.clone();
                async move {
                    let (thread, title) = (&reading.summary.thread, &reading.listed.title);
                    let found = wanted.run(&*reading.saver, thread, title).await?;
                    Ok((found, UnknownSteps::default()))
                }
            })
            .await?;
        Ok(ItemUses { uses, progress })
    }

    /// Checks the invariants of a document at all that its threads did. `graphs` are the keys that the graph is known by.
    pub async fn check(
        &self,
        request: &CheckInvariants,
        document: &Document,
        graphs: &[String],
    ) -> Result<InvariantsChecked, Problem> {
        let rules = Rules::compile(document, request.only.as_deref(), request.since.clone())?;
        let rules = Arc::new(rules);
        let frame = Frame {
            since: rules.since.as_deref(),
            ..Frame::of(graphs, request.after.as_deref(), request.limit)
        };
        let (threads, progress) = self
            .walk(&frame, |reading| {
                let rules = rules.clone();
                async move {
                    let mut unknown = UnknownSteps::default();
                    let moments = rules.run(&reading, &mut unknown).await?;
                    Ok((vec![moments], unknown))
                }
            })
            .await?;
        Ok(InvariantsChecked {
            threads: threads.len() as u64,
            moments: threads.into_iter().flatten().collect(),
            progress,
        })
    }

    /// Evaluates the invariants of a document at a checkpoint of a thread.
    pub(super) async fn stands(
        &self,
        document: &Document,
        summary: &ThreadSummary,
        checkpoint: &CheckpointId,
    ) -> Result<Vec<InvariantAt>, Problem> {
        let rules = Rules::compile(document, None, None)?;
        rules
            .at(&*self.saver, &*self.directory, summary, checkpoint)
            .await
    }

    /// Evaluates an expression at the steps of a branch.
    pub(super) async fn watched(
        &self,
        summary: &ThreadSummary,
        expression: &str,
        until: Option<&CheckpointId>,
    ) -> Result<WatchHistory, Problem> {
        value_history::history(&*self.saver, &*self.directory, summary, expression, until).await
    }

    /// Asks what an edge of a document would have decided with another expression. `graphs` are as in
    /// [`check`](Self::check).
    pub async fn reconsider(
        &self,
        request: &ReconsiderEdge,
        document: &Document,
        graphs: &[String],
    ) -> Result<EdgeReconsidered, Problem> {
        let draft = Arc::new(Draft::compile(document, request)?);
        let frame = Frame {
            since: draft.since.as_deref(),
            ..Frame::of(graphs, request.after.as_deref(), request.limit)
        };
        let (threads, progress) = self
            .walk(&frame, |reading| {
                let draft = draft.clone();
                async move {
                    let mut unknown = UnknownSteps::default();
                    let found = draft.run(&reading, &mut unknown).await?;
                    Ok((vec![found], unknown))
                }
            })
            .await?;
        let mut answer = EdgeReconsidered {
            threads: threads.len() as u64,
            progress,
            ..EdgeReconsidered::default()
        };
        for thread in threads {
            answer.decisions += thread.decisions;
            answer.not_recorded += thread.not_recorded;
            answer.changed.extend(thread.changed);
        }
        Ok(answer)
    }

    /// Reads threads, the newest first, until there are enough results or it took long enough.
    async fn walk<T, F>(
        &self,
        frame: &Frame<'_>,
        read: impl Fn(Reading) -> F,
    ) -> Result<(Vec<T>, SearchProgress), Problem>
    where
        T: Send + 'static,
        F: Future<Output = Result<(Vec<T>, UnknownSteps), Problem>> + Send + 'static,
    {
        let began = Instant::now();
        let limit = page_size((frame.limit > 0).then_some(frame.limit), MOMENTS);
        let mut after = frame.after.map(place).transpose()?;
        let mut progress = SearchProgress::default();
        let mut unknown = UnknownSteps::default();
        let threads = self.threads(frame).await?;
        if after.is_none() {
            let total = self.saver.count_threads(&ThreadQuery::default()).await?;
            progress.total = Some(total);
            progress.index = threads.state(total).await?;
        }
        let mut results = Vec::new();
        loop {
            let Page { threads: page, then } = threads.page(after.as_ref()).await?;
            let listed = self.directory.listed(&page).await?;
            let mut reads = futures::stream::iter(page.into_iter().zip(listed))
                .map(|(summary, listed)| {
                    let place = summary.place();
                    let late = frame.since.is_some_and(|since| summary.head.ts.as_str() < since);
                    let fits = !late && frame.fits(&summary, &listed);
                    let reading = Reading {
                        saver: self.saver.clone(),
                        directory: self.directory.clone(),
                        summary,
                        listed,
                    };
                    let work = fits.then(|| tokio::spawn(read(reading)));
                    async move { (place, late, joined(work).await) }
                })
                .buffered(MAX_READ);
            while let Some((place, late, outcome)) = reads.next().await {
                if late {
                    // Those that follow are older still.
                    return Ok((results, done(progress, unknown, None)));
                }
                progress.searched += 1;
                if let Some((found, failed)) = outcome? {
                    results.extend(found);
                    unknown.add(failed);
                }
                after = Some(place);
                if results.len() >= limit || began.elapsed() >= ANSWER_AFTER {
                    return Ok((results, done(progress, unknown, after)));
                }
            }
            if then.is_none() {
                return Ok((results, done(progress, unknown, None)));
            }
            after = then;
            if began.elapsed() >= ANSWER_AFTER {
                return Ok((results, done(progress, unknown, after)));
            }
        }
    }

    /// Returns the threads that may have results.
    async fn threads(&self, frame: &Frame<'_>) -> Result<SearchedThreads, Problem> {
        let query = ThreadQuery::new().status(match frame.status {
            Some(RunStatus::Done) => Some(ThreadStatus::Idle),
            Some(RunStatus::Asking) => Some(ThreadStatus::Interrupted),
            _ => None,
        });
        let all = SearchedThreads::all(self.saver.clone(), query);
        let (Some(words), Some(path)) = (frame.words, &self.index) else {
            return Ok(all);
        };
        let titles = self.directory.titles().await?;
        let titled = titles
            .into_iter()
            .filter(|(_, title)| words.present(&fold(title)).iter().all(|present| *present))
            .map(|(thread, _)| thread);
        Ok(all.with_index(path.clone(), words, titled.collect()).await)
    }
}

impl<'a> Frame<'a> {
    /// Selects all threads of the graph that is known by these keys.
    fn of(graphs: &'a [String], after: Option<&'a str>, limit: u32) -> Self {
        Self {
            graphs,
            after,
            limit,
            ..Self::default()
        }
    }

    fn fits(&self, summary: &ThreadSummary, listed: &Listed) -> bool {
        let (path, name) = (
            session::graph_path(&summary.head),
            session::graph_name(&summary.head),
        );
        let is_of =
            |key: &String| path == Some(key) || name == Some(key) || listed.graph_path.as_ref() == Some(key);
        let of_graph = self.graphs.is_empty() || self.graphs.iter().any(is_of);
        of_graph && self.status.is_none_or(|status| status == listed.status)
    }
}

fn done(progress: SearchProgress, unknown: UnknownSteps, next: Option<ThreadPlace>) -> SearchProgress {
    SearchProgress {
        next: next.as_ref().map(place_text),
        unknown: unknown.count,
        reason: unknown.reason,
        ..progress
    }
}

type SearchResult<T> = Result<(Vec<T>, UnknownSteps), Problem>;

async fn joined<T>(
    work: Option<tokio::task::JoinHandle<SearchResult<T>>>,
) -> Result<Option<(Vec<T>, UnknownSteps)>, Problem> {
    let Some(work) = work else { return Ok(None) };
    let outcome = work.await.unwrap_or_else(|error| {
        Err(Problem::new(
            "internal",
            text!("The search broke off: {error}.", error = error.to_string()),
        ))
    });
    outcome.map(Some)
}

#[cfg(test)]
mod tests {
    use superstep::graph::BinaryOp;
    use superstep::{
        ChannelSpec, Graph, Input, MemorySaver, NodeContext, NodeOutput, RunConfig, START, StateGraph, Value,
    };

    use super::*;
    use crate::search::folder::Folder;

    /// Creates a folder of threads that has no data folder.
    fn folder(graph: Option<Graph>) -> Arc<Folder> {
        Arc::new(Folder::open(None, move |_| graph.clone()).unwrap())
    }

    #[tokio::test]
    async fn keys_that_are_stored_as_deltas_are_read_through_the_graph() {
        let saver = Arc::new(MemorySaver::new());
        let says = |text: &'static str| {
            move |_: NodeContext, _: Value| async move {
                Ok(NodeOutput::update([("log", superstep::json!([text]))]))
            }
        };
        let graph = StateGraph::new()
            .channel("log", ChannelSpec::delta(BinaryOp::Append, 50))
            .node("a", says("alpha"))
            .node("b", says("beta"))
            .edge(START, "a")
            .edge("a", "b")
            .compile()
            .unwrap()
            .with_checkpointer(saver.clone());
        let input = Input::value(superstep::json!({"log": ["begun"]}));
        graph.invoke(input, RunConfig::on("t")).await.unwrap();
        let request = FindMoments {
            words: Some("beta".to_owned()),
            ..FindMoments::default()
        };
        let desk_graph = graph.clone();
        let found = Desk::new(saver.clone(), folder(Some(graph)))
            .find(&request, &[])
            .await
            .unwrap();
        let places: Vec<_> = found
            .moments
            .iter()
            .map(|moment| (moment.step, moment.pointer.as_deref()))
            .collect();
        assert_eq!(places, [(2, Some("/log/2"))]);
        // A condition that reads the key alone sees it in the same way.
        let request = FindMoments {
            first_where: Some("state.log|length == 3".to_owned()),
            ..FindMoments::default()
        };
        let desk = Desk::new(saver.clone(), folder(Some(desk_graph)));
        let found = desk.find(&request, &[]).await.unwrap();
        assert_eq!(
            found.moments.iter().map(|moment| moment.step).collect::<Vec<_>>(),
            [2]
        );
        // Without its graph the thread is searched in what is stored of it.
        Desk::new(saver, folder(None)).find(&request, &[]).await.unwrap();
    }

    #[tokio::test]
    async fn an_expression_about_a_key_that_is_missing_says_which_have_a_value() {
        let saver = Arc::new(MemorySaver::new());
        let graph = StateGraph::new()
            .channel("total", ChannelSpec::last_value())
            .channel("text", ChannelSpec::last_value())
            .node("a", |_: NodeContext, _: Value| async {
                Ok(NodeOutput::update([("total", superstep::json!(5))]))
            })
            .edge(START, "a")
            .compile()
            .unwrap()
            .with_checkpointer(saver.clone());
        let input = Input::value(superstep::json!({"text": "long"}));
        graph.invoke(input, RunConfig::on("t")).await.unwrap();
        let probed = async |expression: &str| {
            let request = ProbeNode {
                node: "a".to_owned(),
                expression: expression.to_owned(),
                ..ProbeNode::default()
            };
            let desk = Desk::new(saver.clone(), folder(None));
            let mut visits = desk.probe(&request, &[]).await.unwrap().visits;
            assert_eq!(visits.len(), 1);
            let result = visits.remove(0).result;
            (result.value.and_then(|view| view.value), result.message)
        };
        assert_eq!(probed("state.total").await.0, Some(serde_json::json!(5)));
        let (value, message) = probed("state.totl").await;
        assert_eq!(value, None);
        let message = message.unwrap();
        assert!(message.contains("Did you mean `total`?"), "{message}");
        assert!(message.contains("text"), "{message}");
        let keys = probed("state|dictsort|map('first')|list").await.0;
        assert_eq!(
            keys,
            Some(serde_json::json!(["text", "total"])),
            "the whole state is read"
        );
    }
}
