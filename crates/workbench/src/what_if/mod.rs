//! What-if grids: what would have come of a thread if a value, an input, a setting, a model or the graph had been different.
//! The runner (`bench`, `row`, `plan`, `score`) knows no workbench; the commands here run it in the background.

pub(crate) mod bench;
pub(crate) mod plan;
mod row;
pub(crate) mod score;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use superstep::checkpoint::GraphVersion;
use superstep::run::StateRef;
use superstep::{CheckpointId, Graph, StateUpdate, ThreadId, Value};
use superstep_document::{Document, Patch};
use superstep_nodes::models::Exchange;
use tokio_util::sync::CancellationToken;

pub use bench::{Bench, Setting};
pub use plan::{WhatIfHost, read};

use crate::Workbench;
use crate::base::blocking;
use crate::documents::GraphSource;
use crate::session::unmark_what_if;
use crate::wire::{
    AppEvent, EditByWhatIf, Empty, ListWhatIfs, PatchOp, Problem, RunModels, StartWhatIf, TakeWhatIf,
    Updated, WhatIfEdit, WhatIfList, WhatIfRef, WhatIfResult, WhatIfView,
};
use superstep_document::text;

/// How long deleting a thread, or the end of the program, waits for its rows to end.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// Grids that run here, by id.
#[derive(Debug, Default)]
pub(crate) struct WhatIfs {
    running: Mutex<HashMap<String, RunningGrid>>,
}

#[derive(Clone, Debug)]
struct RunningGrid {
    thread_id: String,
    bench: Arc<Bench>,
    stop: CancellationToken,
    ended: CancellationToken,
}

impl WhatIfs {
    fn stop(&self, which: impl Fn(&RunningGrid) -> bool) -> Vec<CancellationToken> {
        let running = self.running.lock();
        let chosen = running.values().filter(|running| which(running));
        chosen
            .map(|running| {
                running.stop.cancel();
                running.ended.clone()
            })
            .collect()
    }

    /// Stops every grid and waits, but not for ever.
    pub(crate) async fn stop_all(&self) {
        waited(self.stop(|_| true)).await;
    }

    /// Returns whether a grid is running.
    pub(crate) fn any(&self) -> bool {
        !self.running.lock().is_empty()
    }
}

async fn waited(ends: Vec<CancellationToken>) {
    let all = async {
        for ended in ends {
            ended.cancelled().await;
        }
    };
    let _ = tokio::time::timeout(ENDS_WITHIN, all).await;
}

/// Graphs as this workbench builds them.
pub(crate) struct WorkbenchGraphs {
    pub(crate) workbench: Arc<Workbench>,
    pub(crate) source: GraphSource,
}

impl WhatIfHost for WorkbenchGraphs {
    fn graph(&self, document: &Document, models: &RunModels) -> Result<(Graph, GraphVersion), Problem> {
        let source = GraphSource {
            document: document.clone(),
            ..self.source.clone()
        };
        // What cannot run at all is reported first.
        let (graph, _) = self.workbench.made(&source, models)?;
        self.workbench.permit(&source, None, models)?;
        Ok((graph, self.workbench.gather(&source).0.version()))
    }

    fn exchanges(&self, task: &str) -> Vec<Exchange> {
        self.workbench.registry.exchanges().take(task)
    }
}

fn no_grid(id: &str) -> Problem {
    Problem::new(
        "not-found",
        text!("There is no what-if grid {id} of this thread.", id),
    )
    .remedy(text!("Load the list again: somebody may have removed it."))
}

impl Workbench {
    pub(crate) async fn what_if_start(self: &Arc<Self>, request: StartWhatIf) -> Result<WhatIfView, Problem> {
        let thread_id = request.thread_id.clone();
        let source = match &request.graph_id {
            Some(graph) => self.document(graph)?.source(),
            None => self.source_by_key(&self.key_of_thread(&thread_id).await?)?,
        };
        let setting = Setting {
            saver: self.saver(),
            thread: ThreadId::from(thread_id.as_str()),
            checkpoint: request.checkpoint_id.as_deref().map(CheckpointId::from),
            document: source.document.clone(),
            origin: self.origin(&source, &RunModels::default()),
            context: Value::from(self.ledger.context(&thread_id)?.unwrap_or_default()),
            instance: self.instance.id().to_owned(),
            host: Arc::new(WorkbenchGraphs {
                workbench: self.clone(),
                source,
            }),
        };
        let bench = Bench::new(setting, request.grid)
            .await?
            .kept_in(self.ledger.clone());
        let view = bench.view();
        let running = RunningGrid {
            thread_id: thread_id.clone(),
            bench: Arc::new(bench),
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
        };
        self.what_ifs
            .running
            .lock()
            .insert(view.id.clone(), running.clone());
        tokio::spawn(self.clone().what_if_run(view.id.clone(), running));
        Ok(view)
    }

    /// Runs a grid to its end.
    async fn what_if_run(self: Arc<Self>, id: String, running: RunningGrid) {
        let thread_id = running.thread_id.clone();
        let event = |result: Option<Box<WhatIfResult>>| AppEvent::WhatIf {
            thread_id: thread_id.clone(),
            id: id.clone(),
            running: result.is_some(),
            result,
        };
        {
            // It is stopped as every job is; other windows see how far it is.
            let job = self.job(Some(id.clone()));
            let stop = running.stop.clone();
            let asked = job.stop().clone();
            let passes = async {
                asked.cancelled().await;
                stop.cancel();
                std::future::pending::<()>().await;
            };
            let changed = |bench: &Bench, place: usize| {
                let view = bench.view();
                if let Some(result) = view.results.get(place) {
                    self.hub.publish(event(Some(Box::new(result.clone()))));
                }
                let ended = view
                    .results
                    .iter()
                    .filter(|result| !result.status.is_open())
                    .count();
                job.at(ended as u64, view.results.len() as u64);
            };
            tokio::select! {
                () = running.bench.run(&running.stop, &changed) => {}
                () = passes => {}
            }
        }
        self.what_ifs.running.lock().remove(&id);
        running.ended.cancel();
        self.hub.publish(event(None));
        self.publish_thread(&thread_id).await;
        self.publish_inbox(Some(&thread_id));
    }

    /// Returns the current state of a grid; if the program that was running it has ended, what it left.
    fn as_it_is(&self, mut grid: WhatIfView) -> WhatIfView {
        if let Some(running) = self.what_ifs.running.lock().get(&grid.id) {
            return running.bench.view();
        }
        if grid.running && !self.instance.is_other_alive(&grid.instance) {
            grid.running = false;
            let open = grid.results.iter_mut().filter(|result| result.status.is_open());
            open.for_each(|result| result.status = crate::wire::WhatIfStatus::Stopped);
        }
        grid
    }

    pub(crate) async fn what_if_list(self: &Arc<Self>, request: ListWhatIfs) -> Result<WhatIfList, Problem> {
        let this = self.clone();
        let grids = blocking(move || this.ledger.what_ifs(&request.thread_id)).await??;
        Ok(WhatIfList {
            grids: grids.into_iter().map(|grid| self.as_it_is(grid)).collect(),
        })
    }

    pub(crate) async fn what_if_stop(self: &Arc<Self>, request: WhatIfRef) -> Result<Empty, Problem> {
        let ends = {
            let running = self.what_ifs.running.lock();
            running.get(&request.id).map(|running| {
                running.stop.cancel();
                running.ended.clone()
            })
        };
        waited(ends.into_iter().collect()).await;
        Ok(Empty {})
    }

    pub(crate) async fn what_if_remove(self: &Arc<Self>, request: WhatIfRef) -> Result<Empty, Problem> {
        if self.what_ifs.running.lock().contains_key(&request.id) {
            return Err(
                Problem::new("busy", text!("The what-if grid is running.")).remedy(text!("Stop it first."))
            );
        }
        self.ledger.remove_what_if(&request.thread_id, &request.id)?;
        self.hub.publish(AppEvent::WhatIf {
            thread_id: request.thread_id,
            id: request.id,
            result: None,
            running: false,
        });
        Ok(Empty {})
    }

    /// Makes the end of a row's branch what the thread is now, by a copy of it.
    pub(crate) async fn what_if_take(self: &Arc<Self>, request: TakeWhatIf) -> Result<Updated, Problem> {
        let thread_id = request.thread_id.as_str();
        let grid = self.ledger.what_if(thread_id, &request.id)?;
        let grid = self.as_it_is(grid.ok_or_else(|| no_grid(&request.id))?);
        let result = (grid.results.iter()).find(|one| (one.row, one.repeat) == (request.row, request.repeat));
        let end = result
            .and_then(|result| result.checkpoint_id.as_deref())
            .ok_or_else(|| {
                Problem::new("not-found", text!("This row has no branch yet."))
                    .remedy(text!("Wait until it has run."))
            })?;
        // Pruned, it is not there any more.
        self.head(thread_id, end).await?;
        let _slot = self.reserve_claimed(thread_id, Vec::new())?;
        let built = self.built_for(thread_id, None, None).await?;
        let mut at = StateRef::at(thread_id, end);
        at.claim = Some(self.claim(thread_id, request.take_over).await);
        let mut metadata = self.origin(&built.source, &RunModels::default()).of_edit([]);
        unmark_what_if(&mut metadata);
        let update = StateUpdate {
            values: Value::Null,
            as_node: Some("__copy__".into()),
            metadata,
            ..StateUpdate::default()
        };
        let edited = built.graph.update_state(&at, update).await?;
        let id = edited.checkpoint_id.to_string();
        if let Some(event) = self.checkpoint_event(thread_id, &id).await {
            self.emit(thread_id, event);
        }
        self.publish_thread(thread_id).await;
        self.publish_inbox(Some(thread_id));
        Ok(Updated {
            checkpoint_id: Some(id),
            next: edited.next.iter().map(ToString::to_string).collect(),
            as_node: edited.as_node.to_string(),
        })
    }

    /// Converts what a row changes in the graph to an edit of an open document.
    pub(crate) async fn what_if_edit(self: &Arc<Self>, request: EditByWhatIf) -> Result<WhatIfEdit, Problem> {
        let document = self.document(&request.graph_id)?.source().document;
        let changed = plan::changed(&document, &request.row)?;
        let patch = Patch::between(&document, &changed);
        let op = |op: superstep_document::PatchOp| PatchOp {
            id: op.id,
            from: op.from,
            to: op.to,
            at: op.at.and_then(|at| u32::try_from(at).ok()),
        };
        Ok(WhatIfEdit {
            ops: patch.ops.into_iter().map(op).collect(),
        })
    }

    /// Stops the grids of a thread that is to be deleted.
    pub(crate) async fn stop_what_ifs(&self, thread_id: &str) {
        waited(self.what_ifs.stop(|running| running.thread_id == thread_id)).await;
    }
}

/// Keeps a grid in the ledger of a data folder, for programs without a workbench.
pub fn kept_in(bench: Bench, data_dir: &std::path::Path) -> Result<Bench, Problem> {
    let ledger = crate::ledger::Ledger::open(&crate::ledger::Ledger::of(data_dir))?;
    Ok(bench.kept_in(Arc::new(ledger)))
}

/// Reads the run context that a data folder has of a thread.
pub fn context_of(data_dir: &std::path::Path, thread: &ThreadId) -> Option<Value> {
    let ledger = crate::ledger::Ledger::existing(data_dir).ok().flatten()?;
    ledger.context(thread.as_str()).ok().flatten().map(Value::from)
}
