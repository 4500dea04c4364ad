//! What ran when in the runs of a thread.

use std::path::Path;
use std::sync::Arc;

use superstep_nodes::ModelSettings;

use crate::Workbench;
use crate::ledger::{Ledger, RunRow};
use crate::models::prices::price_spans;
use crate::wire::{ExchangeView, Problem, ReadTrace, SpanCall, TraceView};

/// Spans of an answer: by default, and at most.
const PAGE: u32 = 10_000;
const MAX_PAGE: u32 = 20_000;

/// Converts an exchange with a model to its entry in a span, without its texts.
pub(crate) fn call(exchange: &ExchangeView) -> SpanCall {
    SpanCall {
        model: exchange.model.clone(),
        at: exchange.at,
        millis: exchange.millis,
        ended: exchange.ended,
        tokens: exchange.tokens,
        cost: exchange.cost.clone(),
    }
}

fn read(ledger: &Ledger, settings: &ModelSettings, request: &ReadTrace) -> Result<TraceView, Problem> {
    let most = match request.limit {
        0 => PAGE,
        limit => limit.min(MAX_PAGE),
    };
    let thread_id = request.thread_id.as_str();
    let mut found = ledger.spans(thread_id, request.after.unwrap_or(0), most as usize)?;
    price_spans(settings, &mut found.spans);
    Ok(TraceView {
        runs: ledger.runs_of(thread_id)?.iter().map(RunRow::view).collect(),
        spans: found.spans,
        left_out: found.left_out,
        last: found.last,
    })
}

/// Reads what ran when on a thread from the data folder, for a host that has no workbench.
pub fn trace(data_dir: &Path, request: &ReadTrace) -> Result<TraceView, Problem> {
    match Ledger::existing(data_dir)? {
        Some(ledger) => {
            let settings = ModelSettings::load(&data_dir.join(ModelSettings::FILE));
            read(&ledger, &settings, request)
        }
        None => Ok(TraceView::default()),
    }
}

impl Workbench {
    pub(crate) async fn thread_trace(self: &Arc<Self>, request: ReadTrace) -> Result<TraceView, Problem> {
        // After what was handed in before.
        let (keeper, settings) = (self.runs.records.keeper(), self.models());
        keeper.ask(move |ledger| read(ledger, &settings, &request)).await
    }
}
