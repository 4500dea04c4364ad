//! What a node's requests used together: an answer that was sent back for repair is paid for, too.

use serde_json::Value as Json;
use superstep::Value;

use crate::models::{ModelAnswer, TokenUsage};

/// Tokens and money of all requests of a task.
#[derive(Debug, Default)]
pub(super) struct TaskCost {
    requests: u64,
    usage: TokenUsage,
    /// Amount, and what else its price says; none as soon as one request had none.
    cost: Option<Json>,
    priceless: bool,
}

impl TaskCost {
    pub(super) fn add(&mut self, answer: &ModelAnswer) {
        self.requests += 1;
        if let Some(usage) = &answer.usage {
            self.usage.input += usage.input;
            self.usage.output += usage.output;
            self.usage.total += usage.total;
            self.usage.cached += usage.cached;
            self.usage.cache_written += usage.cache_written;
            self.usage.reasoning += usage.reasoning;
        }
        match &answer.cost {
            // A sum that lacks a part would be taken for the whole.
            None => self.priceless = true,
            Some(cost) => {
                let amount = |cost: &Json| cost["amount"].as_f64().unwrap_or(0.0);
                let sum = self.cost.as_ref().map_or(0.0, amount) + amount(cost);
                let mut cost = cost.clone();
                cost["amount"] = ((sum * 1e12).round() / 1e12).into();
                self.cost = Some(cost);
            }
        }
    }

    /// Returns the usage as it is written to the state.
    pub(super) fn value(&self, model: &str) -> Value {
        let mut json = self.usage.json();
        json["model"] = model.into();
        json["requests"] = self.requests.into();
        if let (Some(cost), false) = (&self.cost, self.priceless) {
            json["cost"] = cost.clone();
        }
        json.into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_add_up() {
        let answer = |input, amount: Option<f64>| ModelAnswer {
            usage: Some(TokenUsage {
                input,
                output: 1,
                total: input + 1,
                ..TokenUsage::default()
            }),
            cost: amount.map(|amount| json!({"amount": amount, "currency": "USD", "prices": "own"})),
            ..ModelAnswer::default()
        };
        let mut spent = TaskCost::default();
        spent.add(&answer(10, Some(0.1)));
        spent.add(&answer(5, Some(0.2)));
        let value = Json::from(&spent.value("m"));
        assert_eq!(
            value,
            json!({"input_tokens": 15, "output_tokens": 2, "total_tokens": 17, "model": "m", "requests": 2,
                "cost": {"amount": 0.3, "currency": "USD", "prices": "own"}})
        );
        spent.add(&answer(1, None));
        assert!(
            spent.value("m").get("cost").is_none(),
            "a part of the cost is not the cost"
        );
    }
}
