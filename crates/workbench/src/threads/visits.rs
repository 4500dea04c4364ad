//! The steps of a branch in which a node ran, and whom its joins wait for.

use std::sync::Arc;

use superstep::inspect::Lineage;
use superstep::{CheckpointHead, CheckpointId, ThreadId, Value};
use superstep_document::Edge;

use crate::Workbench;
use crate::wire::{JoinWait, Problem, ReadVisits, Visit, VisitsView};

/// Super-steps that are looked through.
const COUNTED: usize = 5_000;

fn visit(head: &CheckpointHead) -> Visit {
    Visit {
        checkpoint_id: head.id.to_string(),
        step: i32::try_from(head.metadata.step + 1).unwrap_or(i32::MAX),
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
        let mut lineage = Lineage::from(&*saver, &thread, [tip.clone()]);
        let (older, longer) = lineage.line(&tip, COUNTED).await?;
        let line: Vec<CheckpointHead> = [tip].into_iter().chain(older).collect();
        Ok(VisitsView {
            counted: longer.then_some(COUNTED as u32),
            waits: self.waits(&thread, &at, &request.node).await?,
            ..visits(&line, &request.node, &at)
        })
    }

    /// Returns the joins that lead to a node and still wait for some of their nodes.
    async fn waits(
        self: &Arc<Self>,
        thread: &ThreadId,
        at: &CheckpointId,
        node: &str,
    ) -> Result<Vec<JoinWait>, Problem> {
        let Some(built) = self.reading_graph(thread.as_str()).await? else {
            return Ok(Vec::new());
        };
        let mut waits = Vec::new();
        for (_, edge) in built.source.document.edges() {
            let Edge::Join { from, to } = edge else {
                continue;
            };
            if to != node {
                continue;
            }
            let channel = format!("join:{}:{to}", from.join("+"));
            let values = self
                .saver()
                .values(thread, "", Some(at), &[channel.as_str().into()])
                .await?;
            let seen = values.and_then(|values| values.get(channel.as_str()).cloned());
            let seen: Vec<String> = (seen.as_ref().and_then(Value::as_array).into_iter())
                .flat_map(|names| names.iter())
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect();
            let (came, missing): (Vec<String>, Vec<String>) =
                from.into_iter().partition(|name| seen.contains(name));
            if !missing.is_empty() {
                waits.push(JoinWait { came, missing });
            }
        }
        Ok(waits)
    }
}
