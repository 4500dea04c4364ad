//! A simulated person, who answers what rows have no answer for: by an expression, by chance, or as a model that plays a part.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use superstep::stream::Payload;
use superstep::value::Object;
use superstep::{Input, MemorySaver, RunConfig, StreamMode, Value, async_trait};
use superstep_document::Document;
use superstep_nodes::expression::{Expression, Scope};
use superstep_nodes::testing::{Person, PersonAsked};

use super::file::refused;
use crate::runs::exchanges;
use crate::what_if::WhatIfHost;
use crate::what_if::bench::Spent;
use crate::wire::{Json, Problem, RunModels};

/// Letters of a question and of a state that a model is shown.
const MAX_SHOWN: usize = 24_000;

/// A person as an evaluation describes it; one of `expression`, `choices` and `model`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedPerson {
    /// Gives the answer, over `question`, `state`, `row` and `asked` (how many questions there were before).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Answers of which chance takes one. The same row in the same repetition is answered in the same way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<WeighedAnswer>,
    /// Where chance begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seed: u64,
    /// A model that plays the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who the model is to be, and what it wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
}

/// An answer, and how often it is given beside the others.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WeighedAnswer {
    /// The answer.
    pub answer: Json,
    /// Its part; 1 when absent.
    #[serde(default = "one")]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl SimulatedPerson {
    /// Checks the description.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let ways = [
            self.expression.is_some(),
            !self.choices.is_empty(),
            self.model.is_some(),
        ];
        if ways.iter().filter(|way| **way).count() != 1 || self.model.is_some() != self.brief.is_some() {
            return Err(refused("`person` is nobody.")
                .remedy("Give `expression`, `choices`, or `model` and `brief`."));
        }
        if let Some(expression) = &self.expression {
            Expression::compile(expression, "the person").map_err(|error| {
                refused(format!(
                    "`person` has an expression that cannot be used: {}",
                    error.message
                ))
                .remedy("Correct the expression over `question`, `state`, `row` and `asked`.")
            })?;
        }
        let is_weight = |one: &WeighedAnswer| one.weight.is_finite() && one.weight >= 0.0;
        let sum: f64 = self.choices.iter().map(|one| one.weight).sum();
        if !self.choices.is_empty() && (!self.choices.iter().all(is_weight) || sum <= 0.0) {
            return Err(refused("The choices of `person` have weights that are none.")
                .remedy("Give numbers from 0, one of them above 0."));
        }
        Ok(())
    }
}

/// A person who answers in one run of a row.
pub(super) struct AskedPerson<'a> {
    pub(super) person: &'a SimulatedPerson,
    pub(super) host: &'a Arc<dyn WhatIfHost>,
    pub(super) models: &'a RunModels,
    /// The row as expressions see it.
    pub(super) row: Value,
    /// The place of the row and the repetition, for chance.
    pub(super) place: (u32, u32),
    /// What the model used.
    pub(super) spent: Mutex<Spent>,
    /// Why it had no answer.
    pub(super) failed: Mutex<Option<String>>,
}

#[async_trait]
impl Person for AskedPerson<'_> {
    async fn answer(&self, asked: PersonAsked<'_>) -> Option<Json> {
        if let Some(expression) = &self.person.expression {
            let scope = Scope::new(asked.state)
                .with("question", asked.question.clone())
                .with("row", self.row.clone())
                .with("asked", Value::from(asked.before as u64));
            let value =
                Expression::compile(expression, "the person").and_then(|compiled| compiled.eval(&scope));
            return match value {
                Ok(Value::Null) => None,
                Ok(value) => Some(value.into()),
                Err(error) => self.silent(error.message.to_string()),
            };
        }
        match (&self.person.model, &self.person.brief) {
            (Some(model), Some(brief)) => match self.ask(model, brief, asked).await {
                Ok(answer) => answer,
                Err(problem) => self.silent(problem.message),
            },
            _ => self.chosen(asked.before),
        }
    }
}

impl AskedPerson<'_> {
    /// Notes why there is no answer.
    fn silent(&self, why: String) -> Option<Json> {
        *self.failed.lock() = Some(why);
        None
    }

    /// Returns the answer that chance takes: the same for the same row, repetition and question.
    fn chosen(&self, before: usize) -> Option<Json> {
        let choices = &self.person.choices;
        let sum: f64 = choices.iter().map(|one| one.weight).sum();
        let of = format!("{} {} {} {before}", self.person.seed, self.place.0, self.place.1);
        #[expect(clippy::cast_precision_loss, reason = "chance needs no more than 53 bits")]
        let part = (xxhash_rust::xxh3::xxh3_64(of.as_bytes()) >> 11) as f64 / (1_u64 << 53) as f64;
        let mut left = part * sum;
        let taken = choices.iter().find(|one| {
            left -= one.weight;
            left < 0.0
        });
        taken.or_else(|| choices.last()).map(|one| one.answer.clone())
    }

    async fn ask(&self, model: &str, brief: &str, asked: PersonAsked<'_>) -> Result<Option<Json>, Problem> {
        let question = Json::from(asked.question);
        let schema = question
            .get("schema")
            .filter(|schema| schema.is_object())
            .cloned();
        let (host, models, document) = (self.host.clone(), self.models.clone(), part_of(model, schema));
        let (graph, _) = crate::base::blocking(move || host.graph(&document, &models)).await??;
        let text = |value: &Json| value.to_string().chars().take(MAX_SHOWN).collect::<String>();
        let input: Object = [
            ("brief", Value::from(brief)),
            ("question", text(&question).into()),
            ("state", text(&Json::from(asked.state)).into()),
        ]
        .into_iter()
        .collect();
        let graph = graph.with_checkpointer(Arc::new(MemorySaver::new()));
        let config = RunConfig::on("person").modes([StreamMode::Tasks]);
        let mut run = graph.stream(Input::Value(input.into()), config);
        while let Some(event) = run.next().await {
            if let Payload::TaskEnd(end) = event.payload {
                let mut spent = self.spent.lock();
                let exchanged = self.host.exchanges(&end.id.to_string()).into_iter();
                exchanged.for_each(|exchange| spent.exchange(&exchanges::view(exchange)));
            }
        }
        let result = run.finish().await?;
        let said = result.value.get("said").and_then(|said| said.get("answer"));
        Ok(said.map(|answer| answer.clone().into()))
    }
}

/// Builds the graph that asks a model to play the person; also shows that it can be asked.
pub(super) fn part_of(model: &str, schema: Option<Json>) -> Document {
    let answer = schema.unwrap_or_else(|| Json::Object(Map::new()));
    let file = json!({
        "format": "superstep/1",
        "name": "Person",
        "state": {
            "brief": {"type": "string"},
            "question": {"type": "string"},
            "state": {"type": "string"},
            "said": {"type": "object"}
        },
        "nodes": {"person": {"kind": "model", "config": {
            "model": model,
            "system": "You play a person whom a program asks. Stay in your part and answer as that person would, in the form that is asked for.\n\n{{ state.brief }}",
            "prompt": "The question (JSON):\n{{ state.question }}\n\nWhat is known so far (JSON):\n{{ state.state }}",
            "into": "said",
            "output": {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        }}},
        "edges": [{"from": "__start__", "to": "person"}, {"from": "person", "to": "__end__"}]
    });
    Document::parse(&file.to_string()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_of_one_kind() {
        let read = |text: &str| serde_json::from_str::<SimulatedPerson>(text).unwrap().check();
        for good in [
            r#"{"expression": "'yes' if asked < 2 else 'no'"}"#,
            r#"{"choices": [{"answer": "yes", "weight": 3}, {"answer": "no"}], "seed": 7}"#,
            r#"{"model": "openai::gpt-4o-mini", "brief": "You are in a hurry."}"#,
        ] {
            assert!(read(good).is_ok(), "{good}");
        }
        for bad in [
            "{}",
            r#"{"model": "m"}"#,
            r#"{"expression": "(("}"#,
            r#"{"expression": "1", "choices": [{"answer": 1}]}"#,
            r#"{"choices": [{"answer": 1, "weight": 0}]}"#,
            r#"{"choices": [{"answer": 1, "weight": -1}]}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
