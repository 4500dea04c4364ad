//! Prices of models, as Settings show and change them, and what requests cost that had no price when they were made.

use std::sync::Arc;

use serde_json::Value as Json;
use superstep_document::text;
use superstep_nodes::ModelSettings;
use superstep_nodes::models::{Price, TokenUsage, listed_prices};

use crate::Workbench;
use crate::base::blocking;
use crate::wire::{
    Empty, ExchangeCost, ExchangeTokens, ModelPrice, PriceList, Problem, RemovePrice, SpanCall, TraceSpan,
};

fn view(model: &str, price: &Price) -> ModelPrice {
    ModelPrice {
        model: model.to_owned(),
        input: price.input,
        output: price.output,
        cached: price.cached,
        cache_write: price.cache_write,
    }
}

/// Refuses what cannot be a price of a model.
fn checked(request: &ModelPrice) -> Result<Price, Problem> {
    let model = request.model.trim();
    if !model
        .split_once("::")
        .is_some_and(|(prefix, name)| !prefix.is_empty() && !name.trim().is_empty())
    {
        return Err(
            Problem::invalid(text!("`{model}` is no name of a model.", model)).remedy(text!(
                "Write the name as in the graph, such as `openai::gpt-4o-mini` or `my-server::llama3`."
            )),
        );
    }
    let given = [
        Some(request.input),
        Some(request.output),
        request.cached,
        request.cache_write,
    ];
    if given
        .into_iter()
        .flatten()
        .any(|price| !price.is_finite() || price < 0.0)
    {
        return Err(
            Problem::invalid(text!("A price is a number that is not below 0."))
                .remedy(text!("Give US dollars per million tokens.")),
        );
    }
    Ok(Price {
        input: request.input,
        output: request.output,
        cached: request.cached,
        cache_write: request.cache_write,
    })
}

/// Returns what a request costs that has tokens and no cost, by the price that the person set since.
fn late(settings: &ModelSettings, model: &str, tokens: Option<ExchangeTokens>) -> Option<ExchangeCost> {
    let tokens = tokens.filter(|tokens| tokens.input + tokens.output > 0)?;
    let price = settings.own_price(model)?;
    let usage = TokenUsage {
        input: tokens.input,
        output: tokens.output,
        ..TokenUsage::default()
    };
    Some(ExchangeCost {
        amount: price.cost(&usage),
        currency: "USD".into(),
    })
}

/// Sets the cost of a request that was made when its model had no price. One that had a price keeps what it cost then.
pub(crate) fn price_late(
    settings: &ModelSettings,
    model: &str,
    tokens: Option<ExchangeTokens>,
    cost: &mut Option<ExchangeCost>,
) {
    if cost.is_none() {
        *cost = late(settings, model, tokens);
    }
}

/// Sets it for the requests of a task.
pub(crate) fn price_calls(settings: &ModelSettings, calls: &mut [SpanCall]) {
    for call in calls {
        price_late(settings, &call.model, call.tokens, &mut call.cost);
    }
}

/// Sets it for the requests of many tasks.
pub(crate) fn price_spans(settings: &ModelSettings, spans: &mut [TraceSpan]) {
    for span in spans {
        price_calls(settings, &mut span.calls);
    }
}

impl Workbench {
    fn price_list(&self) -> Result<PriceList, Problem> {
        let settings = self.models();
        if let Some(problem) = &settings.problem {
            return Err(Problem::new(
                "file-error",
                text!("Prices cannot be shown: {problem}", problem),
            ));
        }
        let (taken, listed) = listed_prices();
        Ok(PriceList {
            own: settings
                .prices
                .iter()
                .map(|(model, price)| view(model, price))
                .collect(),
            listed: listed.map(|(model, price)| view(model, &price)).collect(),
            taken: taken.to_owned(),
        })
    }

    pub(crate) async fn prices_list(self: &Arc<Self>, _: Empty) -> Result<PriceList, Problem> {
        let this = self.clone();
        blocking(move || this.price_list()).await?
    }

    pub(crate) async fn set_price(self: &Arc<Self>, request: ModelPrice) -> Result<PriceList, Problem> {
        let price = checked(&request)?;
        let entry: Json = serde_json::to_value(price).map_err(|e| Problem::new("internal", e.to_string()))?;
        let this = self.clone();
        blocking(move || {
            this.change_models("prices", |all| {
                all.insert(request.model.trim().to_owned(), entry);
            })?;
            this.price_list()
        })
        .await?
    }

    pub(crate) async fn remove_price(self: &Arc<Self>, request: RemovePrice) -> Result<PriceList, Problem> {
        let this = self.clone();
        blocking(move || {
            this.change_models("prices", |all| drop(all.shift_remove(&request.model)))?;
            this.price_list()
        })
        .await?
    }
}
