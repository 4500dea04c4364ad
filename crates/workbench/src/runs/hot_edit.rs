//! With which version of its graph a thread goes on, when the graph was changed since it ran.

use std::sync::Arc;

use superstep::CheckpointId;
use superstep::checkpoint::CheckpointHead;

use crate::Workbench;
use crate::base::blocking;
use crate::documents::GraphSource;
use crate::documents::versions::id_in_thread;
use crate::session::{RanOn, Start, go_on_report, onto};
use crate::wire::{
    GoOnReport, GoOnWith, Problem, ReadThreadGraph, Renamed, RunAction, RunModels, StartRun, TaskChange,
    ThreadGraph,
};
use superstep_document::{Join, Text, text};

/// The graph version that a thread ran on, and the report on continuing with the current graph.
struct Moved {
    ran: RanOn,
    report: GoOnReport,
}

/// Formats the names of nodes with those of the graphs around them, for people.
fn named(tasks: &[&TaskChange]) -> Text {
    let name = |task: &&TaskChange| {
        let path = task.path.iter().chain([&task.node]);
        path.map(String::as_str).collect::<Vec<_>>().join(" > ")
    };
    Text::list(Join::Comma, tasks.iter().map(name))
}

impl Workbench {
    /// Reads the checkpoint that a thread continues from; `None` if the thread has none yet.
    async fn going_on_from(
        &self,
        thread_id: &str,
        checkpoint: Option<&str>,
    ) -> Result<Option<CheckpointHead>, Problem> {
        match checkpoint {
            Some(id) => self.head(thread_id, id).await.map(Some),
            None => Ok(self.heads(thread_id, None, Some(1)).await?.into_iter().next()),
        }
    }

    /// Returns the version that a checkpoint's run ran on, if the graph is a different one now.
    async fn moved(
        self: &Arc<Self>,
        thread_id: &str,
        head: &CheckpointHead,
        source: &GraphSource,
    ) -> Result<Option<Moved>, Problem> {
        let thread = thread_id.into();
        let saver = self.saver();
        let Some(ran) = RanOn::read(&*saver, &thread, head).await? else {
            return Ok(None);
        };
        let (this, source) = (self.clone(), source.clone());
        let now = blocking(move || this.consists_of(&source)).await?;
        if *now.version.id == *ran.id {
            return Ok(None);
        }
        let report = go_on_report(&*saver, &thread, head, &ran.sources, &now.sources).await?;
        Ok(Some(Moved { ran, report }))
    }

    pub(crate) async fn thread_graph(
        self: &Arc<Self>,
        request: ReadThreadGraph,
    ) -> Result<ThreadGraph, Problem> {
        let thread_id = request.thread_id.as_str();
        let head = self
            .going_on_from(thread_id, request.checkpoint_id.as_deref())
            .await?;
        let source = match &request.graph_id {
            Some(graph_id) => self.document(graph_id)?.source(),
            None => self.source_by_key(&self.key_of_thread(thread_id).await?)?,
        };
        let mut view = ThreadGraph {
            version: None,
            at: None,
            moved: false,
            report: GoOnReport::default(),
        };
        let Some(head) = head else { return Ok(view) };
        let saver = self.saver();
        if let Some(id) = superstep::checkpoint::GraphVersion::of(&head)
            && let Some(kept) =
                superstep::checkpoint::GraphVersion::head(&*saver, &thread_id.into(), id).await?
        {
            view.version = Some(id_in_thread(id, thread_id));
            view.at = Some(kept.ts);
        }
        if let Some(moved) = self.moved(thread_id, &head, &source).await? {
            view.moved = true;
            view.report = moved.report;
        }
        Ok(view)
    }

    /// Returns the graph version that a run uses, as it is now or as it was when the thread ran, and which nodes run in
    /// place of others. Refused when next tasks would be lost and nobody has chosen how to continue. An answer goes on with
    /// the graph as it was while the document cannot run.
    pub(super) async fn version_to_run(
        self: &Arc<Self>,
        thread_id: &str,
        request: &StartRun,
        passed: Option<&CheckpointId>,
        source: GraphSource,
        models: &RunModels,
    ) -> Result<(GraphSource, Renamed), Problem> {
        if matches!(request.action, RunAction::Input { .. }) {
            return Ok((source, Renamed::new()));
        }
        let from = request.action.checkpoint().or(passed.map(CheckpointId::as_str));
        let Some(head) = self.going_on_from(thread_id, from).await? else {
            return Ok((source, Renamed::new()));
        };
        let Some(moved) = self.moved(thread_id, &head, &source).await? else {
            return Ok((source, Renamed::new()));
        };
        let is_answer = passed.is_some() || matches!(request.action, RunAction::Resume { .. });
        if is_answer && request.graph_version.is_none() && !self.can_run(&source, models).await? {
            // Somebody is half through an edit: a question is answered by the graph that asked it.
            let before = source.as_it_was(moved.ran);
            let runs = self.can_run(&before, models).await?;
            return Ok((if runs { before } else { source }, Renamed::new()));
        }
        let lost: Vec<&TaskChange> = moved.report.lost(&request.renamed).collect();
        match request.graph_version {
            Some(GoOnWith::Recorded) => Ok((source.as_it_was(moved.ran), Renamed::new())),
            Some(GoOnWith::Current) => {
                let is_lost = |node: &String| moved.report.tasks.iter().any(|task| task.node == *node);
                let renamed = request.renamed.iter().filter(|(node, _)| is_lost(node));
                let renamed: Renamed = renamed.map(|(a, b)| (a.clone(), b.clone())).collect();
                for node in renamed.values() {
                    if source.document.nodes().all(|(id, _)| id != node) {
                        return Err(Problem::invalid(text!("The graph has no node {node}.", node))
                            .remedy(text!("Name a node of the graph as it is now.")));
                    }
                }
                Ok((source, renamed))
            }
            // Nobody is there to be asked.
            None if !lost.is_empty() && passed.is_some() => Ok((source.as_it_was(moved.ran), Renamed::new())),
            None if !lost.is_empty() => Err(Problem::new(
                "graph-changed",
                text!("The graph was changed since the thread ran, and these next tasks would be lost: {names}.", names = named(&lost)),
            )
            .remedy(text!("Go on with the version that the thread ran on, or say which nodes run in their place."))),
            None => Ok((source, Renamed::new())),
        }
    }

    /// Returns the start of a run in which some nodes run in place of others.
    pub(super) async fn renamed_start(
        &self,
        thread_id: &str,
        start: Start,
        renamed: &Renamed,
    ) -> Result<Start, Problem> {
        if renamed.is_empty() {
            return Ok(start);
        }
        let from = start.checkpoint.as_ref().map(CheckpointId::as_str);
        match self.going_on_from(thread_id, from).await? {
            Some(head) => Ok(onto(start, renamed, &head)),
            None => Ok(start),
        }
    }
}
