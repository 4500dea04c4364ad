//! Breakpoints: kept by graph, so that every window on it stops at the same places.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Workbench;
use crate::base::blocking;
use crate::wire::{AppEvent, Breakpoint, Breakpoints, CheckBreakpoint, Empty, Problem, ReadBreakpoints};
use superstep_document::text;

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

    pub(crate) async fn breakpoint_check(
        self: &Arc<Self>,
        request: CheckBreakpoint,
    ) -> Result<Empty, Problem> {
        request.point.compile().map(|_| Empty {})
    }

    /// Removes a breakpoint of a thread's graph that was to stop once, and has.
    pub(crate) fn forget_once(&self, thread_id: &str, id: &str) {
        let forget = || -> Result<(), Problem> {
            let Some(thread) = self.ledger.thread(thread_id)? else {
                return Ok(());
            };
            let graph = self.ledger.followed(&thread.graph_key)?;
            let before = self.ledger.breakpoints(&graph)?;
            let is_over = |point: &Breakpoint| point.once && point.id.as_deref() == Some(id);
            if !before.iter().any(is_over) {
                return Ok(());
            }
            let points: Vec<Breakpoint> = before.into_iter().filter(|point| !is_over(point)).collect();
            self.ledger.set_breakpoints(&graph, &points)?;
            self.hub.publish(AppEvent::Breakpoints {
                breakpoints: Breakpoints { graph, points },
            });
            Ok(())
        };
        if let Err(problem) = forget() {
            tracing::warn!(thread = thread_id, %problem, "a breakpoint that was to stop once was not removed");
        }
    }

    pub(crate) async fn breakpoints_set(
        self: &Arc<Self>,
        mut request: Breakpoints,
    ) -> Result<Breakpoints, Problem> {
        if request.graph.is_empty() {
            return Err(Problem::invalid(text!("The breakpoints name no graph."))
                .remedy(text!("Name the graph's file, or the id of a draft.")));
        }
        let mut seen = HashSet::new();
        request.points.retain(|point| {
            seen.insert(match &point.id {
                Some(id) => id.clone(),
                None => point.to_string(),
            })
        });
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
