//! The steps of a branch in which a node ran, and why it did not run at a moment: whom its joins wait for, and where the
//! edges that lead to it led instead.

use std::sync::Arc;

use superstep::checkpoint::{CheckpointAddress, CheckpointHead, records_of};
use superstep::inspect::Lineage;
use superstep::run::StateRef;
use superstep::{CheckpointId, Checkpointer, Graph, ThreadId, Value};
use superstep_document::{Document, Edge, START};

use crate::Workbench;
use crate::wire::{EdgeNotTaken, JoinArrival, JoinWait, Problem, ReadVisits, Visit, VisitsView};

/// Super-steps that are looked through.
const MAX_COUNTED: usize = 5_000;

fn visit(head: &CheckpointHead) -> Visit {
    Visit {
        checkpoint_id: head.id.to_string(),
        step: i32::try_from(head.metadata.next_step()).unwrap_or(i32::MAX),
    }
}

/// Returns the visits among the checkpoints of a branch, the newest first; `at` is the moment.
fn visits(line: &[CheckpointHead], node: &str, at: &CheckpointId) -> VisitsView {
    let found: Vec<&CheckpointHead> = (line.iter().rev())
        .filter(|head| head.next.iter().any(|next| &**next == node))
        .collect();
    // Ids sort by creation.
    let before = found.partition_point(|head| head.id <= *at);
    let here = before.checked_sub(1);
    let view = |place: Option<usize>| place.and_then(|place| found.get(place)).map(|head| visit(head));
    VisitsView {
        total: u32::try_from(found.len()).unwrap_or(u32::MAX),
        at: u32::try_from(before).unwrap_or(u32::MAX),
        here: view(here),
        previous: view(here.and_then(|here| here.checked_sub(1))),
        next: view(Some(before)),
        first: view(Some(0)),
        last: view(found.len().checked_sub(1)),
        counted: None,
        waits: Vec::new(),
        not_taken: Vec::new(),
    }
}

/// A branch of a thread, and the graph that it ran on.
#[derive(Clone, Copy, Debug)]
pub struct Branch<'a> {
    /// The graph, with its database.
    pub graph: &'a Graph,
    /// Its document.
    pub document: &'a Document,
    /// The database.
    pub saver: &'a dyn Checkpointer,
    /// The thread.
    pub thread: &'a ThreadId,
    /// The end of the branch.
    pub tip: &'a CheckpointHead,
}

impl Branch<'_> {
    /// Returns the visits of a node on the branch, and why it has no task at a moment.
    pub async fn visits(&self, node: &str, at: &CheckpointId) -> Result<VisitsView, Problem> {
        let line = Line::read(self.saver, self.thread, self.tip, at).await?;
        Ok(VisitsView {
            waits: self.joins(&line, node, at).await?,
            not_taken: match &line.moment {
                Some(moment) => self.not_taken(node, moment).await?,
                None => Vec::new(),
            },
            ..line.visits(node, at)
        })
    }

    /// Returns the joins that lead to a node, as they are at a moment.
    async fn joins(&self, line: &Line, node: &str, at: &CheckpointId) -> Result<Vec<JoinWait>, Problem> {
        let mut waits = Vec::new();
        for (_, edge) in self.document.edges() {
            let Edge::Join { from, to } = edge else {
                continue;
            };
            if to != node {
                continue;
            }
            let channel = format!("join:{}:{to}", from.join("+"));
            let values = self
                .saver
                .values(self.thread, "", Some(at), &[channel.as_str().into()])
                .await?;
            let seen = values.and_then(|values| values.get(channel.as_str()).cloned());
            let seen: Vec<String> = (seen.as_ref().and_then(Value::as_array).into_iter())
                .flat_map(|names| names.iter())
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect();
            let (came, missing): (Vec<String>, Vec<String>) =
                from.into_iter().partition(|name| seen.contains(name));
            let came = came.into_iter().map(|node| JoinArrival {
                visit: line.last_before(&node, at),
                node,
            });
            waits.push(JoinWait {
                came: came.collect(),
                missing,
            });
        }
        Ok(waits)
    }

    /// Returns the edges that lead to a node and did not in the step that made a checkpoint; none when the node runs next.
    async fn not_taken(&self, node: &str, moment: &CheckpointHead) -> Result<Vec<EdgeNotTaken>, Problem> {
        if moment.next.iter().any(|next| **next == *node) {
            return Ok(Vec::new());
        }
        let leads = |edge: &Edge| !matches!(edge, Edge::Join { .. }) && edge.targets().contains(&node);
        let edges: Vec<(&str, Edge)> = self.document.edges().filter(|(_, edge)| leads(edge)).collect();
        let mut ran = Vec::new();
        let mut decisions = Vec::new();
        if let Some(parent) = moment.parent.as_ref().filter(|_| !edges.is_empty()) {
            let state = self
                .graph
                .get_state(&StateRef::at(self.thread.clone(), parent.clone()))
                .await?;
            let address = CheckpointAddress {
                thread: self.thread.clone(),
                ns: "".into(),
                id: parent.clone(),
            };
            let writes = self.saver.writes_of(address).await?;
            for (id, record) in records_of(&writes) {
                if let Some(task) = state.tasks.iter().find(|task| task.id == *id) {
                    decisions.extend(
                        record
                            .decisions
                            .into_iter()
                            .map(|decision| (task.name.clone(), decision)),
                    );
                }
            }
            let finished = state.tasks.into_iter().filter(|task| task.result.is_some());
            ran.extend(finished.map(|task| task.name));
        }
        let mut found = Vec::new();
        for (id, edge) in &edges {
            for from in edge.sources().into_iter().filter(|from| *from != START) {
                let own = || decisions.iter().filter(|(name, _)| **name == *from);
                let by = |edge: Option<&str>| own().find(|(_, decision)| decision.edge.as_deref() == edge);
                found.push(EdgeNotTaken {
                    edge: (*id).to_owned(),
                    from: from.to_owned(),
                    ran: ran.iter().any(|name| **name == *from),
                    decision: by(Some(*id))
                        .or_else(|| by(None))
                        .map(|(_, decision)| decision.into()),
                });
            }
        }
        Ok(found)
    }
}

/// The checkpoints of a branch, the newest first.
struct Line {
    heads: Vec<CheckpointHead>,
    /// The checkpoint that is looked at, on the branch or off it.
    moment: Option<CheckpointHead>,
    is_cut: bool,
}

impl Line {
    async fn read(
        saver: &dyn Checkpointer,
        thread: &ThreadId,
        tip: &CheckpointHead,
        at: &CheckpointId,
    ) -> Result<Self, Problem> {
        let mut lineage = Lineage::from(saver, thread, [tip.clone()]);
        let (older, is_cut) = lineage.line(tip, MAX_COUNTED).await?;
        let heads: Vec<CheckpointHead> = [tip.clone()].into_iter().chain(older).collect();
        let moment = match heads.iter().find(|head| head.id == *at) {
            Some(head) => Some(head.clone()),
            None => lineage.get(at).await?.cloned(),
        };
        Ok(Self {
            heads,
            moment,
            is_cut,
        })
    }

    fn visits(&self, node: &str, at: &CheckpointId) -> VisitsView {
        VisitsView {
            counted: self.is_cut.then_some(MAX_COUNTED as u32),
            ..visits(&self.heads, node, at)
        }
    }

    /// Returns the last step before a moment in which a node ran.
    fn last_before(&self, node: &str, at: &CheckpointId) -> Option<Visit> {
        let ran = |head: &&CheckpointHead| head.id < *at && head.next.iter().any(|next| **next == *node);
        self.heads.iter().find(ran).map(visit)
    }
}

impl Workbench {
    pub(crate) async fn node_visits(self: &Arc<Self>, request: ReadVisits) -> Result<VisitsView, Problem> {
        let thread_id = request.thread_id.as_str();
        let tip = match &request.tip {
            Some(id) => Some(self.head(thread_id, id).await?),
            None => self.heads(thread_id, None, Some(1)).await?.into_iter().next(),
        };
        let Some(tip) = tip else {
            self.thread(thread_id).await?;
            return Ok(VisitsView::default());
        };
        let at = request
            .checkpoint_id
            .as_deref()
            .map_or_else(|| tip.id.clone(), CheckpointId::from);
        let (saver, thread) = (self.saver(), ThreadId::from(thread_id));
        let Some(built) = self.reading_graph(thread_id).await? else {
            let line = Line::read(&*saver, &thread, &tip, &at).await?;
            return Ok(line.visits(&request.node, &at));
        };
        let branch = Branch {
            graph: &built.graph,
            document: &built.source.document,
            saver: &*saver,
            thread: &thread,
            tip: &tip,
        };
        branch.visits(&request.node, &at).await
    }
}
