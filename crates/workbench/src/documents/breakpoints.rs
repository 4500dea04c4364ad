//! Breakpoints: kept by graph, so that every window on it stops at the same places.

use std::sync::Arc;

use crate::Workbench;
use crate::base::blocking;
use crate::wire::{AppEvent, Breakpoint, Breakpoints, ChangeBreakpoints, Problem, ReadBreakpoints};
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

    /// Removes a breakpoint of a thread's graph that was to stop once, and has.
    pub(crate) fn forget_once(&self, thread_id: &str, id: &str) {
        let forget = || -> Result<(), Problem> {
            let Some(thread) = self.ledger.thread(thread_id)? else {
                return Ok(());
            };
            let graph = self.ledger.followed(&thread.graph_key)?;
            let is_over = |point: &Breakpoint| point.once && point.id.as_deref() == Some(id);
            let points = self.ledger.change_breakpoints(&graph, |points| {
                let before = points.len();
                points.retain(|point| !is_over(point));
                points.len() < before
            })?;
            if let Some(points) = points {
                self.hub.publish(AppEvent::Breakpoints {
                    breakpoints: Breakpoints { graph, points },
                });
            }
            Ok(())
        };
        if let Err(problem) = forget() {
            tracing::warn!(thread = thread_id, %problem, "a breakpoint that was to stop once was not removed");
        }
    }

    pub(crate) async fn breakpoints_change(
        self: &Arc<Self>,
        request: ChangeBreakpoints,
    ) -> Result<Breakpoints, Problem> {
        if request.graph.is_empty() {
            return Err(Problem::invalid(text!("The breakpoints name no graph."))
                .remedy(text!("Name the graph's file, or the id of a draft.")));
        }
        let this = self.clone();
        blocking(move || {
            let graph = this.ledger.followed(&request.graph)?;
            let changed = this
                .ledger
                .change_breakpoints(&graph, |points| apply(&request, points))?;
            let points = match changed {
                Some(points) => {
                    this.hub.publish(AppEvent::Breakpoints {
                        breakpoints: Breakpoints {
                            graph: graph.clone(),
                            points: points.clone(),
                        },
                    });
                    points
                }
                None => this.ledger.breakpoints(&graph)?,
            };
            Ok(Breakpoints { graph, points })
        })
        .await?
    }
}

/// Applies a change to the stored breakpoints; returns whether it changed any.
fn apply(change: &ChangeBreakpoints, points: &mut Vec<Breakpoint>) -> bool {
    let before = points.clone();
    points.retain(|point| !change.removed.contains(&point.name()));
    for point in &change.points {
        match points.iter_mut().find(|stored| stored.name() == point.name()) {
            Some(stored) => stored.clone_from(point),
            None => points.push(point.clone()),
        }
    }
    *points != before
}
