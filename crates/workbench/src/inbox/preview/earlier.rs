//! What the nodes on the way took when they ran before.

use std::collections::HashMap;

use crate::Workbench;
use crate::models::prices::price_spans;
use crate::wire::{AnswerPreview, EarlierRuns, ExchangeCost, Problem, SpanEnd, TraceSpan};

/// Spans of the graph that are looked at, the newest.
const MAX_SPANS: usize = 2_000;

/// Durations and costs of earlier tasks of a node.
#[derive(Default)]
struct Took {
    millis: Vec<f64>,
    costs: Vec<f64>,
    currency: Option<String>,
}

impl Took {
    fn add(&mut self, span: &TraceSpan) {
        self.millis.push((span.ended - span.started).max(0.0));
        let costs: Vec<&ExchangeCost> = span.calls.iter().filter_map(|call| call.cost.as_ref()).collect();
        let Some(first) = costs.first() else { return };
        // Money of several kinds makes no sum.
        let currency = self.currency.get_or_insert_with(|| first.currency.clone());
        if costs.iter().all(|cost| cost.currency == *currency) {
            self.costs.push(costs.iter().map(|cost| cost.amount).sum());
        }
    }

    fn view(mut self) -> Option<EarlierRuns> {
        let millis = median(&mut self.millis)?;
        let amount = median(&mut self.costs);
        Some(EarlierRuns {
            runs: u32::try_from(self.millis.len()).unwrap_or(u32::MAX),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a time that was measured"
            )]
            millis: millis.round() as u32,
            cost: amount
                .zip(self.currency)
                .map(|(amount, currency)| ExchangeCost { amount, currency }),
        })
    }
}

fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl Workbench {
    /// Says of each node what it took in the newest runs of the graph, in any thread.
    pub(super) fn add_earlier_runs(&self, key: &str, previews: &mut [AnswerPreview]) -> Result<(), Problem> {
        let mut took: HashMap<String, Took> = HashMap::new();
        let mut spans = self.ledger.spans_of_graph(key, MAX_SPANS)?;
        price_spans(&self.models(), &mut spans);
        for span in spans {
            if span.parent.is_none() && span.end == SpanEnd::Done {
                took.entry(span.node.clone()).or_default().add(&span);
            }
        }
        let earlier: HashMap<String, EarlierRuns> = took
            .into_iter()
            .filter_map(|(node, took)| Some((node, took.view()?)))
            .collect();
        let nodes = previews
            .iter_mut()
            .flat_map(|preview| &mut preview.steps)
            .flatten();
        for node in nodes {
            node.earlier = earlier.get(&node.node).cloned();
        }
        Ok(())
    }
}
