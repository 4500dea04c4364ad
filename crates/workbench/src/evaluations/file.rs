//! The file of an evaluation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use superstep_document::Document;
use superstep_nodes::expression::Expression;
use superstep_nodes::files;

use super::person::SimulatedPerson;
use super::rows::{EvaluationRow, read_rows};
use crate::wire::{Json, Problem, RunModels, WhatIfLimit, WhatIfRow, WhatIfScorer};

/// The folder of evaluations, beside the graph's file.
pub const FOLDER: &str = "evaluations";

/// Bytes of the largest file of an evaluation.
const MAX_FILE: u64 = 16 << 20;
/// Variants of an evaluation.
const MAX_VARIANTS: usize = 50;
/// Runs of an evaluation.
const MAX_RUNS: usize = 1_000_000;
/// Rows that run at once.
const MAX_AT_ONCE: u32 = 64;
/// Rows that run at once when nobody says how many.
const AT_ONCE: u32 = 4;
/// The name of the one variant of an evaluation that names none.
const UNCHANGED: &str = "as it is";

/// An evaluation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationFile {
    /// What is evaluated, for people.
    #[serde(default)]
    pub about: String,
    /// The file of rows (CSV or JSONL), from the folder of this one.
    pub rows: String,
    /// Answers to the questions of every row that has none of its own.
    #[serde(default)]
    pub answers: Vec<Json>,
    /// Who answers the questions for which there is no answer.
    #[serde(default)]
    pub person: Option<SimulatedPerson>,
    /// Scores by name. Without them, every key that a row expects must be what came.
    #[serde(default)]
    pub scores: BTreeMap<String, RowScorer>,
    /// What runs side by side; the first is what others are compared with.
    #[serde(default)]
    pub variants: Vec<EvaluationVariant>,
    /// How often each row runs; once when absent.
    #[serde(default)]
    pub repeat: Option<u32>,
    /// Rows that run at once.
    #[serde(default)]
    pub concurrency: Option<u32>,
    /// What a row may use: its seconds are cut, tokens and cost are looked at when it has ended.
    #[serde(default)]
    pub limit: WhatIfLimit,
    /// What all rows together may use. Rows that work when it is used up come to their end.
    #[serde(default)]
    pub total: WhatIfLimit,
    /// The part of rows that must pass, from 0 to 1.
    #[serde(default)]
    pub at_least: Option<f64>,
}

/// A variant of a graph.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationVariant {
    /// Its name.
    pub name: String,
    /// Parts of the graph's document by their JSON Pointers; null takes a part away.
    #[serde(default)]
    pub settings: Option<BTreeMap<String, Json>>,
    /// The model of every node that asks one.
    #[serde(default)]
    pub model: Option<String>,
    /// Who answers for the models.
    #[serde(default)]
    pub models: Option<RunModels>,
    /// Another graph's file, from the folder of the evaluation.
    #[serde(default)]
    pub graph: Option<String>,
}

/// A score of a row.
#[derive(Clone, Debug, Default, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct RowScorer {
    /// A state key, which must be what the row expects of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How like the text of `key` must be to the expected one, from 0 to 1, in place of equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likeness: Option<f64>,
    /// An expression over `state`, `row` and `run`, that gives true, or a number of `at_least`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// A model that grades from 0 to 10 by the rubric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the model is to look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rubric: Option<String>,
    /// The least number that passes. Without it, a number is noted and neither passes nor fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
}

impl RowScorer {
    /// Returns the scorer of an expression or a model, as grids have it.
    pub(super) fn graded(&self) -> WhatIfScorer {
        WhatIfScorer {
            expression: self.expression.clone(),
            model: self.model.clone(),
            rubric: self.rubric.clone(),
        }
    }

    fn check(&self, name: &str) -> Result<(), Problem> {
        let refused = |what: &str| refused(format!("The score {name:?} {what}"));
        let given = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.trim().is_empty());
        let is_model = given(&self.model) && given(&self.rubric);
        let ways = [given(&self.key), given(&self.expression), is_model];
        let has_part = self.model.is_some() != self.rubric.is_some();
        if ways.iter().filter(|way| **way).count() != 1 || has_part {
            return Err(refused("is none.").remedy("Give `key`, `expression`, or `model` and `rubric`."));
        }
        if self.likeness.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
            return Err(refused("has a `likeness` that is not from 0 to 1.").remedy("Correct the number."));
        }
        if self.likeness.is_some() && self.key.is_none() {
            return Err(
                refused("has a `likeness` of no key.").remedy("Give the `key` whose text is compared.")
            );
        }
        if self.at_least.is_some_and(|least| !least.is_finite())
            || (self.key.is_some() && self.at_least.is_some())
        {
            return Err(refused("cannot have this `at_least`.")
                .remedy("Give a number to an expression or to a model; a key has `likeness`."));
        }
        if let Some(expression) = &self.expression {
            Expression::compile(expression, "the score").map_err(|error| {
                refused(&format!(
                    "has an expression that cannot be used: {}",
                    error.message
                ))
                .remedy("Correct the expression over `state`, `row` and `run`.")
            })?;
        }
        Ok(())
    }
}

pub(super) fn refused(message: impl Into<String>) -> Problem {
    Problem::new("evaluation-invalid", message.into())
}

impl EvaluationFile {
    /// Reads the file of an evaluation.
    ///
    /// # Errors
    /// When it cannot be read, is too large, or holds anything but an evaluation; the problem names the place.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let shown = path.display();
        let text = files::read_text(path, MAX_FILE).map_err(|error| {
            refused(format!("The evaluation {shown} cannot be read: {error}."))
                .remedy("Name a file evaluations/NAME.json beside a graph, or the graph's folder.")
        })?;
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let file: Self = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let place = match error.path().to_string().as_str() {
                "" | "." => String::new(),
                place => format!(" at {place}"),
            };
            refused(format!("{shown} is no evaluation{place}: {}.", error.inner())).remedy(
                "Write an object such as {\"rows\": \"rows.csv\", \"scores\": {\"right\": {\"key\": \"outcome\"}}}.",
            )
        })?;
        deserializer.end().map_err(|error| {
            refused(format!("{shown} is followed by something else: {error}."))
                .remedy("Write one object into the file.")
        })?;
        file.check().map_err(|problem| {
            let message = format!("{shown}: {}", problem.message);
            problem.with_message(message.into())
        })?;
        Ok(file)
    }

    /// Returns the evaluations beside a graph's file, by name.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn files_beside(graph: &Path) -> std::io::Result<Vec<PathBuf>> {
        let folder = graph.parent().unwrap_or(Path::new(".")).join(FOLDER);
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    fn check(&self) -> Result<(), Problem> {
        for (name, scorer) in &self.scores {
            scorer.check(name)?;
        }
        if let Some(person) = &self.person {
            person.check()?;
        }
        let mut names = BTreeSet::new();
        for variant in &self.variants {
            if variant.name.trim().is_empty() || !names.insert(variant.name.as_str()) {
                return Err(refused(format!(
                    "A variant has the name {:?}, twice or empty.",
                    variant.name
                ))
                .remedy("Give each variant a name of its own."));
            }
        }
        if self.variants.len() > MAX_VARIANTS {
            return Err(refused(format!("{} variants are too many.", self.variants.len()))
                .remedy(format!("An evaluation has at most {MAX_VARIANTS}.")));
        }
        if self.repeat == Some(0)
            || self
                .concurrency
                .is_some_and(|many| !(1..=MAX_AT_ONCE).contains(&many))
        {
            return Err(
                refused("`repeat` or `concurrency` is out of range.").remedy(format!(
                    "Give a `repeat` above 0, and a `concurrency` from 1 to {MAX_AT_ONCE}."
                )),
            );
        }
        if self.at_least.is_some_and(|part| !(0.0..=1.0).contains(&part)) {
            return Err(refused("`at_least` is not from 0 to 1.").remedy("Give 0.9 where 90 % must pass."));
        }
        for (name, limit) in [("limit", &self.limit), ("total", &self.total)] {
            let positive = |n: Option<f64>| n.is_none_or(|n| n.is_finite() && n > 0.0);
            if !positive(limit.seconds) || !positive(limit.cost) || limit.tokens == Some(0) {
                return Err(refused(format!("`{name}` allows nothing."))
                    .remedy("Give seconds, tokens and cost above 0, or leave them out."));
            }
        }
        Ok(())
    }

    /// Returns how often each row runs.
    pub(super) fn times(&self) -> u32 {
        self.repeat.unwrap_or(1)
    }

    /// Returns how many rows run at once.
    pub(super) fn at_once(&self) -> usize {
        self.concurrency.unwrap_or(AT_ONCE) as usize
    }

    /// Returns the variants; the graph as it is when the file names none.
    pub fn variants(&self) -> Vec<EvaluationVariant> {
        match self.variants.is_empty() {
            true => vec![EvaluationVariant {
                name: UNCHANGED.to_owned(),
                ..EvaluationVariant::default()
            }],
            false => self.variants.clone(),
        }
    }

    /// Returns the state keys that a row is scored by; those of the graph's output where no score names one.
    pub fn expected_keys<'a>(&'a self, document: &'a Document) -> Vec<&'a str> {
        let scored: Vec<&str> = (self.scores.values())
            .filter_map(|scorer| scorer.key.as_deref())
            .collect();
        match scored.is_empty() {
            true => (document.output_keys())
                .unwrap_or_else(|| document.state_keys().map(|(key, _)| key).collect()),
            false => scored,
        }
    }

    /// Returns the place of the rows of an evaluation at `path`.
    pub fn rows_file(&self, path: &Path) -> PathBuf {
        path.parent().unwrap_or(Path::new("")).join(&self.rows)
    }

    /// Reads the rows of an evaluation at `path` for a graph.
    ///
    /// # Errors
    /// When the file cannot be read, a row does not fit the state, or there is nothing to score; the problem names the row.
    pub fn read_rows(&self, path: &Path, document: &Document) -> Result<Vec<EvaluationRow>, Problem> {
        let rows = read_rows(&self.rows_file(path), document)?;
        let runs = rows.len() * self.variants().len() * self.times() as usize;
        if runs > MAX_RUNS {
            return Err(refused(format!("{runs} runs are too many.")).remedy(format!(
                "Rows, variants and repetitions make at most {MAX_RUNS} runs: leave some out."
            )));
        }
        if self.scores.is_empty()
            && let Some(row) = rows.iter().find(|row| row.expect.is_empty())
        {
            return Err(refused(format!(
                "The row {} expects nothing, and the evaluation has no scores.",
                row.name
            ))
            .remedy("Give the row an `expect`, or the evaluation `scores`."));
        }
        Ok(rows)
    }
}

impl EvaluationVariant {
    /// Returns the changes of the variant as a row of a grid has them. `folder` is that of the evaluation.
    pub(super) fn changes(&self, folder: &Path) -> Result<WhatIfRow, Problem> {
        let graph = match &self.graph {
            None => None,
            Some(file) => {
                let path = folder.join(file);
                let unreadable = |cause: String| {
                    refused(format!(
                        "The graph {} of the variant {:?} cannot be read: {cause}.",
                        path.display(),
                        self.name
                    ))
                    .remedy("Name a graph's file, from the folder of the evaluation.")
                };
                let text = files::read_text(&path, files::MAX_GRAPH)
                    .map_err(|error| unreadable(error.to_string()))?;
                Some(serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?)
            }
        };
        Ok(WhatIfRow {
            settings: self.settings.clone(),
            model: self.model.clone(),
            graph,
            ..WhatIfRow::default()
        })
    }
}
