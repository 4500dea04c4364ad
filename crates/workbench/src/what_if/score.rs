//! Grades results: by an expression, or by a model that is asked with a rubric. The model is asked by a graph of one node,
//! so connections, recorded answers and permissions are those of every other model.

use std::sync::Arc;

use serde_json::json;
use superstep::stream::Payload;
use superstep::value::Object;
use superstep::{Input, MemorySaver, RunConfig, StreamMode, Value};
use superstep_document::Document;
use superstep_nodes::expression::{Expression, Scope};

use super::bench::Spent;
use super::plan::WhatIfHost;
use crate::runs::exchanges;
use crate::wire::{Json, Problem, RunModels, WhatIfScorer};

/// Characters of a state that a model is shown.
const MAX_SHOWN: usize = 24_000;

/// Score that a scorer gave, and its reason.
#[derive(Debug, Default)]
pub(crate) struct Score {
    pub(crate) score: Option<Json>,
    pub(crate) note: Option<String>,
    /// What the model that graded used.
    pub(crate) spent: Spent,
}

impl Score {
    fn nothing(problem: impl Into<String>) -> Self {
        Self {
            note: Some(problem.into()),
            ..Self::default()
        }
    }
}

/// Values that are graded.
pub(crate) struct Graded<'a> {
    pub(crate) state: &'a Value,
    pub(crate) compared: ComparedWith<'a>,
    pub(crate) run: Value,
}

/// Something that a result is compared with.
pub(crate) struct ComparedWith<'a> {
    /// Its variable in an expression.
    pub(crate) name: &'static str,
    /// What a model is told that it is.
    pub(crate) title: &'static str,
    pub(crate) value: &'a Value,
}

/// Grades a result.
pub(crate) async fn score(
    host: &Arc<dyn WhatIfHost>,
    models: &RunModels,
    scorer: &WhatIfScorer,
    graded: Graded<'_>,
) -> Score {
    match (&scorer.expression, &scorer.model, &scorer.rubric) {
        (Some(expression), _, _) => by_expression(expression, &graded),
        (None, Some(model), Some(rubric)) => {
            let mut spent = Spent::default();
            let score = by_model(host, models, (model, rubric), &graded, &mut spent).await;
            Score {
                spent,
                ..score.unwrap_or_else(|problem| Score::nothing(problem.message))
            }
        }
        _ => Score::default(),
    }
}

fn by_expression(expression: &str, graded: &Graded<'_>) -> Score {
    let scope = Scope::new(graded.state)
        .with(graded.compared.name, graded.compared.value.clone())
        .with("run", graded.run.clone());
    let value = Expression::compile(expression, "the scorer").and_then(|compiled| compiled.eval(&scope));
    match value {
        Ok(value @ (Value::Number(_) | Value::Bool(_) | Value::String(_))) => Score {
            score: Some(value.into()),
            ..Score::default()
        },
        Ok(value) => Score::nothing(format!(
            "The scorer gave {}; a score is a number, true or false, or text.",
            value.type_name()
        )),
        Err(error) => Score::nothing(error.message),
    }
}

/// Builds the graph that asks the model.
pub(crate) fn judge(model: &str) -> Document {
    let file = json!({
        "format": "superstep/1",
        "name": "Score",
        "state": {
            "rubric": {"type": "string"},
            "result": {"type": "string"},
            "title": {"type": "string"},
            "base": {"type": "string"},
            "score": {"type": "object"}
        },
        "nodes": {"judge": {"kind": "model", "config": {
            "model": model,
            "system": "You grade the result of a program by a rubric. Answer with a score from 0 to 10, 10 for the best, and a reason of one sentence.",
            "prompt": "Rubric:\n{{ state.rubric }}\n\nResult (JSON):\n{{ state.result }}\n\n{{ state.title }} (JSON):\n{{ state.base }}",
            "into": "score",
            "output": {
                "type": "object",
                "properties": {"score": {"type": "number"}, "reason": {"type": "string"}},
                "required": ["score", "reason"]
            }
        }}},
        "edges": [{"from": "__start__", "to": "judge"}, {"from": "judge", "to": "__end__"}]
    });
    Document::parse(&file.to_string()).0
}

async fn by_model(
    host: &Arc<dyn WhatIfHost>,
    models: &RunModels,
    (model, rubric): (&str, &str),
    graded: &Graded<'_>,
    spent: &mut Spent,
) -> Result<Score, Problem> {
    let (builder, models, document) = (host.clone(), models.clone(), judge(model));
    let (graph, _) = crate::base::blocking(move || builder.graph(&document, &models)).await??;
    let text = |value: &Value| -> String {
        let text = serde_json::to_string(value).unwrap_or_default();
        text.chars().take(MAX_SHOWN).collect()
    };
    let input: Object = [
        ("rubric", Value::from(rubric)),
        ("result", text(graded.state).into()),
        ("title", graded.compared.title.into()),
        ("base", text(graded.compared.value).into()),
    ]
    .into_iter()
    .collect();
    let graph = graph.with_checkpointer(Arc::new(MemorySaver::new()));
    let config = RunConfig::on("score").modes([StreamMode::Tasks]);
    let mut run = graph.stream(Input::Value(input.into()), config);
    while let Some(event) = run.next().await {
        if let Payload::TaskEnd(end) = event.payload {
            let asked = host.exchanges(&end.id.to_string()).into_iter();
            asked.for_each(|exchange| spent.exchange(&exchanges::view(exchange)));
        }
    }
    let result = run.finish().await?;
    let score = result.value.get("score");
    Ok(match score.and_then(|score| score.get("score")) {
        Some(value) => Score {
            score: Some(value.clone().into()),
            note: score
                .and_then(|score| score.get("reason"))
                .and_then(Value::as_str)
                .map(str::to_owned),
            ..Score::default()
        },
        None => Score::nothing("The model gave no score."),
    })
}
