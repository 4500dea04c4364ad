//! What answers cost: a table of prices per million tokens, and what the person's own settings say instead.

use std::sync::OnceLock;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::TokenUsage;

/// The prices that come with Superstep. Prices change: `taken` is the day on which they were looked up.
const TABLE: &str = include_str!("prices.json");

/// Price of a model in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// What is sent.
    pub input: f64,
    /// What is answered, reasoning included.
    pub output: f64,
    /// What is sent and was kept by the provider; like `input` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// What is sent to be kept by the provider; like `input` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// Returns the price of a number of tokens.
    pub fn cost(&self, usage: &TokenUsage) -> f64 {
        let plain = usage
            .input
            .saturating_sub(usage.cached)
            .saturating_sub(usage.cache_written);
        let parts = [
            (plain, self.input),
            (usage.cached, self.cached.unwrap_or(self.input)),
            (usage.cache_written, self.cache_write.unwrap_or(self.input)),
            (usage.output, self.output),
        ];
        // A sum of exact micro prices has no use for digits that only the arithmetic made.
        let dollars: f64 = parts
            .iter()
            .map(|(tokens, price)| *tokens as f64 * price)
            .sum::<f64>()
            / 1e6;
        (dollars * 1e12).round() / 1e12
    }
}

#[derive(Deserialize)]
struct Table {
    taken: String,
    models: IndexMap<String, Price>,
}

fn table() -> Option<&'static Table> {
    static READ: OnceLock<Option<Table>> = OnceLock::new();
    READ.get_or_init(|| serde_json::from_str(TABLE).ok()).as_ref()
}

/// A price, and where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Priced {
    /// The price.
    pub price: Price,
    /// The day on which it was looked up; `None` for the person's own.
    pub taken: Option<String>,
}

impl Priced {
    /// Returns `{amount, currency, prices}`, as attached to an answer.
    pub fn facts(&self, usage: &TokenUsage) -> Json {
        json!({
            "amount": self.price.cost(usage), "currency": "USD",
            "prices": self.taken.as_deref().unwrap_or("own"),
        })
    }
}

/// Returns the prices that come with Superstep, by model, and the day on which they were looked up.
pub fn listed_prices() -> (&'static str, impl Iterator<Item = (&'static str, Price)>) {
    let taken = table().map_or("", |table| table.taken.as_str());
    let models = table().into_iter().flat_map(|table| &table.models);
    (taken, models.map(|(name, price)| (name.as_str(), *price)))
}

/// Finds the price of a model. `named` is the name in the graph, e.g. `my-server::llama3`; `known` is the provider's
/// own name for it, if the provider itself answers.
pub(super) fn find(own: &IndexMap<String, Price>, named: &str, known: Option<&str>) -> Option<Priced> {
    let names = [Some(named), known];
    for name in names.into_iter().flatten() {
        for name in [name, undated(name)] {
            if let Some(price) = own.get(name) {
                return Some(Priced {
                    price: *price,
                    taken: None,
                });
            }
        }
    }
    let (table, known) = (table()?, known?);
    let price = table
        .models
        .get(known)
        .or_else(|| table.models.get(undated(known)))?;
    Some(Priced {
        price: *price,
        taken: Some(table.taken.clone()),
    })
}

/// Strips the date of its version, `-2024-07-18` or `-20250929`, from the name: versions cost the same.
fn undated(name: &str) -> &str {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    if let Some((rest, day)) = name.rsplit_once('-') {
        if digits(day, 8) {
            return rest;
        }
        if let (true, Some((rest, month))) = (digits(day, 2), rest.rsplit_once('-'))
            && let (true, Some((rest, year))) = (digits(month, 2), rest.rsplit_once('-'))
            && digits(year, 4)
        {
            return rest;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_comes_along_is_whole() {
        let table = table().expect("prices.json is read");
        assert!(
            table.models.len() >= 30 && table.taken.len() == 10,
            "{}",
            table.taken
        );
        for (name, price) in &table.models {
            assert!(super::super::provider_of(name).is_ok(), "{name}");
            assert!(
                price.input >= 0.0 && price.output >= price.input,
                "{name}: {price:?}"
            );
            assert!(
                price.cached.is_none_or(|cached| cached <= price.input),
                "{name}: {price:?}"
            );
        }
    }

    #[test]
    fn tokens_cost_what_they_are() {
        let price = Price {
            input: 3.0,
            output: 15.0,
            cached: Some(0.3),
            cache_write: Some(3.75),
        };
        let usage = TokenUsage {
            input: 1_000_000,
            output: 100_000,
            cached: 400_000,
            cache_written: 200_000,
            ..TokenUsage::default()
        };
        // 0.4 M plain, 0.4 M cached, 0.2 M kept, 0.1 M answered.
        assert_eq!(price.cost(&usage), 1.2 + 0.12 + 0.75 + 1.5);
        let odd = TokenUsage {
            input: 10,
            cached: 50,
            ..TokenUsage::default()
        };
        assert_eq!(
            price.cost(&odd),
            0.000_015,
            "a provider that counts cached tokens apart"
        );
    }

    #[test]
    fn own_prices_go_first_and_versions_cost_the_same() {
        let mine = Price {
            input: 1.0,
            output: 1.0,
            cached: None,
            cache_write: None,
        };
        let own: IndexMap<String, Price> = [
            ("mine::llama3".to_owned(), mine),
            ("openai::gpt-4o".to_owned(), mine),
        ]
        .into();
        assert_eq!(find(&own, "mine::llama3", None).unwrap().price, mine);
        assert_eq!(
            find(&own, "openai::gpt-4o", Some("openai::gpt-4o"))
                .unwrap()
                .taken,
            None
        );
        let dated = find(&own, "x::y", Some("openai::gpt-4o-mini-2024-07-18")).unwrap();
        assert_eq!(dated.price.input, 0.15);
        assert!(dated.taken.is_some());
        assert_eq!(
            find(&own, "other::llama3", None),
            None,
            "another server has its own prices"
        );
        assert_eq!(
            undated("anthropic::claude-sonnet-4-5-20250929"),
            "anthropic::claude-sonnet-4-5"
        );
        assert_eq!(
            undated("anthropic::claude-sonnet-4-5"),
            "anthropic::claude-sonnet-4-5"
        );
    }
}
