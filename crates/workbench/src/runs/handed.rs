//! Runs that another program handed over, when this one would run the same.

use std::sync::Arc;

use superstep::StreamMode;
use tokio::sync::mpsc;

use crate::Workbench;
use crate::base::blocking;
use crate::documents::GraphSource;
use crate::ipc::{Handed, HandedGraph, HandedRun, Report, Reported, content_of};
use crate::wire::{Problem, RunView};
use superstep_document::text;

impl Workbench {
    /// Starts a run for another program, when this one would run the same.
    pub(crate) async fn run_handed(
        self: &Arc<Self>,
        handed: HandedRun,
    ) -> Result<(RunView, mpsc::Receiver<Reported>), Problem> {
        let HandedRun {
            start,
            graph,
            modes,
            max_concurrency,
            effects,
        } = handed;
        let modes = modes.iter().map(|mode| mode.parse()).collect();
        let modes: Result<Vec<StreamMode>, String> = modes;
        let modes = modes.map_err(Problem::invalid)?;
        let source = match graph {
            Some(graph) => Some(self.same_graph(graph).await?),
            None => None,
        };
        let (report, reports) = Report::new(modes);
        let handed = Handed {
            source,
            max_concurrency,
            effects,
            report,
        };
        let run = self.run_begin(start, None, Some(handed)).await?;
        Ok((run, reports))
    }

    /// Returns the graph at a path, when it is the same here.
    async fn same_graph(self: &Arc<Self>, graph: HandedGraph) -> Result<GraphSource, Problem> {
        let this = self.clone();
        blocking(move || {
            let source = this.source_by_key(&graph.path.to_string_lossy())?;
            match content_of(&source.document) == graph.content {
                true => Ok(source),
                false => Err(Problem::new(
                    "conflict",
                    text!(
                        "{path} is open with changes that are not in the file.",
                        path = graph.path.display().to_string()
                    ),
                )
                .remedy(text!("Save or discard the changes there, and run it again."))),
            }
        })
        .await?
    }
}
