//! Breakpoints: kept by graph, so that every window on it stops at the same places.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Workbench;
use crate::base::blocking;
use crate::wire::{AppEvent, Breakpoints, Problem, ReadBreakpoints};

impl Workbench {
    pub(crate) async fn breakpoints_get(
        self: &Arc<Self>,
        request: ReadBreakpoints,
    ) -> Result<Breakpoints, Problem> {
        let this = self.clone();
        blocking(move || {
            let graph = this.ledger.followed(&request.graph)?;
            let points = this.ledger.breakpoints(&graph)?;
            Ok(Breakpoints { graph, points })
        })
        .await?
    }

    pub(crate) async fn breakpoints_set(
        self: &Arc<Self>,
        mut request: Breakpoints,
    ) -> Result<Breakpoints, Problem> {
        if request.graph.is_empty() {
            return Err(Problem::invalid("The breakpoints name no graph.")
                .remedy("Name the graph's file, or the id of a draft."));
        }
        let mut seen = HashSet::new();
        request
            .points
            .retain(|point| seen.insert((point.node.clone(), point.when)));
        let this = self.clone();
        blocking(move || {
            request.graph = this.ledger.followed(&request.graph)?;
            this.ledger.set_breakpoints(&request.graph, &request.points)?;
            this.hub.publish(AppEvent::Breakpoints {
                breakpoints: request.clone(),
            });
            Ok(request)
        })
        .await?
    }
}
