//! Runs an evaluation: every row through every variant, some at once, within what they may use.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use parking_lot::Mutex;
use serde_json::{Map, json};
use superstep::{Graph, Value};
use superstep_document::Document;
use superstep_nodes::testing::{GraphTest, Person, Played, agrees};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::file::{EvaluationFile, RowScorer, refused};
use super::kept::KeptResults;
use super::person::{AskedPerson, part_of};
use super::rows::EvaluationRow;
use crate::base::files;
use crate::runs::exchanges;
use crate::what_if::WhatIfHost;
use crate::what_if::bench::Spent;
use crate::what_if::plan::changed;
use crate::what_if::score::{self, ComparedWith, Graded, judge};
use crate::wire::{EvaluatedRow, Json, ModelRecording, Problem, RowScore, RunModels};

/// Seconds of a row when nobody says how many.
const SECONDS: f64 = 300.0;
/// The longest time that is counted, in seconds.
const MAX_SECONDS: f64 = 1e7;
/// Keys of a result that are kept.
const MAX_KEYS: usize = 30;
/// Bytes of a value that is kept as it is.
const MAX_VALUE: usize = 4_000;
/// Letters of a text that is kept of a larger value.
const MAX_SHOWN: usize = 1_000;

/// Setup of an evaluation.
pub struct EvaluationSetup<'a> {
    /// Where graphs come from.
    pub host: Arc<dyn WhatIfHost>,
    /// The graph.
    pub document: Document,
    /// Who answers for the models.
    pub models: RunModels,
    /// The evaluation.
    pub file: EvaluationFile,
    /// The path of its file.
    pub path: &'a Path,
    /// The rows, perhaps some of them.
    pub rows: Vec<(u32, EvaluationRow)>,
    /// Names of the variants to run; all when empty.
    pub only: Vec<String>,
    /// Runs also rows whose result is kept.
    pub again: bool,
}

/// A variant that can run.
struct PreparedVariant {
    name: String,
    document: Document,
    graph: Graph,
    models: RunModels,
    version: String,
}

/// An evaluation that can run.
pub struct Evaluator {
    host: Arc<dyn WhatIfHost>,
    file: EvaluationFile,
    rows: Vec<(u32, EvaluationRow)>,
    variants: Vec<PreparedVariant>,
    models: RunModels,
    again: bool,
    spent: Mutex<Spent>,
    judging: Mutex<Spent>,
    over: CancellationToken,
}

impl std::fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Evaluator")
            .field("rows", &self.rows.len())
            .finish_non_exhaustive()
    }
}

/// Place of a run.
#[derive(Clone, Copy)]
struct RunPlace {
    variant: usize,
    row: usize,
    repeat: u32,
}

impl Evaluator {
    /// Makes every variant ready to run.
    ///
    /// # Errors
    /// When a variant cannot be built, or a model that grades cannot be asked.
    pub fn new(setup: EvaluationSetup<'_>) -> Result<Self, Problem> {
        let EvaluationSetup {
            host,
            document,
            models,
            file,
            path,
            rows,
            only,
            again,
        } = setup;
        let folder = path.parent().unwrap_or(Path::new(""));
        let all = file.variants();
        if let Some(name) = only
            .iter()
            .find(|name| all.iter().all(|variant| variant.name != **name))
        {
            let names: Vec<&str> = all.iter().map(|variant| variant.name.as_str()).collect();
            return Err(refused(format!("There is no variant {name:?}."))
                .remedy(format!("The variants are {}.", names.join(", "))));
        }
        let mut variants = Vec::new();
        for variant in all
            .iter()
            .filter(|variant| only.is_empty() || only.contains(&variant.name))
        {
            let of_variant = |problem: Problem| {
                let message = format!("Variant {}: {}", variant.name, problem.message);
                problem.with_message(message.into())
            };
            let document = changed(&document, &variant.changes(folder)?).map_err(of_variant)?;
            let own = variant.models.clone().map(RunModels::cleaned);
            let models = own.map_or_else(|| models.clone(), |own| own.or(models.clone()));
            let (graph, version) = host.graph(&document, &models).map_err(of_variant)?;
            variants.push(PreparedVariant {
                name: variant.name.clone(),
                document,
                graph,
                models,
                version: version.id.to_string(),
            });
        }
        // What cannot be graded is reported first.
        if let Some(model) = file.person.as_ref().and_then(|person| person.model.as_deref()) {
            host.graph(&part_of(model, None), &models)?;
        }
        for model in file.scores.values().filter_map(|scorer| scorer.model.as_deref()) {
            host.graph(&judge(model), &models)?;
        }
        Ok(Self {
            host,
            file,
            rows,
            variants,
            models,
            again,
            spent: Mutex::default(),
            judging: Mutex::default(),
            over: CancellationToken::new(),
        })
    }

    /// Returns the names of the variants, in their order.
    pub fn variants(&self) -> Vec<String> {
        self.variants.iter().map(|variant| variant.name.clone()).collect()
    }

    /// Returns how many runs there are.
    pub fn runs(&self) -> usize {
        self.variants.len() * self.rows.len() * self.file.times() as usize
    }

    /// Runs everything, and returns the results in the order of variants, rows and repetitions. `ended` is called with each
    /// result when it is there.
    pub async fn run(
        &self,
        kept: &KeptResults,
        stop: &CancellationToken,
        ended: &(dyn Fn(&EvaluatedRow) + Send + Sync),
    ) -> Vec<EvaluatedRow> {
        let rows = 0..self.rows.len();
        let times = 1..=self.file.times();
        let places = rows.flat_map(|row| times.clone().map(move |repeat| (row, repeat)));
        // Rows go through all variants one after the other, so that a stop leaves what can be compared.
        let places = places.flat_map(|(row, repeat)| {
            (0..self.variants.len()).map(move |variant| RunPlace { variant, row, repeat })
        });
        // Rows that work when the time is over come to their end; later ones do not begin.
        let seconds = self.file.total.seconds.map(|seconds| seconds.min(MAX_SECONDS));
        let deadline = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        let mut all: Vec<(RunPlace, EvaluatedRow)> = stream::iter(places)
            .map(|place| async move {
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    self.over.cancel();
                }
                let result = self.one(place, kept, stop).await;
                ended(&result);
                (place, result)
            })
            .buffer_unordered(self.file.at_once())
            .collect()
            .await;
        all.sort_by_key(|(place, _)| (place.variant, place.row, place.repeat));
        all.into_iter().map(|(_, result)| result).collect()
    }

    /// Returns the result of a run that has not begun, under what it depends on.
    fn unbegun(&self, place: RunPlace) -> EvaluatedRow {
        let variant = &self.variants[place.variant];
        let (number, row) = &self.rows[place.row];
        let answers = row.answers.as_ref().unwrap_or(&self.file.answers);
        let case = hash(&json!([
            row.inputs,
            answers,
            row.expect,
            row.data,
            self.file.scores,
            self.file.limit,
            self.file.person
        ]));
        let key = hash(&json!([case, variant.version, variant.models, place.repeat]));
        EvaluatedRow {
            key,
            case,
            variant: variant.name.clone(),
            graph: variant.version.clone(),
            row: *number,
            name: row.name.clone(),
            repeat: place.repeat,
            ..EvaluatedRow::default()
        }
    }

    async fn one(&self, place: RunPlace, kept: &KeptResults, stop: &CancellationToken) -> EvaluatedRow {
        let variant = &self.variants[place.variant];
        let (number, row) = &self.rows[place.row];
        let mut result = self.unbegun(place);
        // What is replayed costs nothing, and who answers is not part of the key.
        let is_replayed = variant.models.recording == Some(ModelRecording::Replay);
        if let Some(known) = kept.find(&result.key).filter(|_| !self.again && !is_replayed) {
            return EvaluatedRow {
                row: result.row,
                name: result.name,
                variant: result.variant,
                reused: true,
                ..known.clone()
            };
        }
        if stop.is_cancelled() || self.over.is_cancelled() {
            match stop.is_cancelled() {
                true => cut(&mut result, false, "It did not begin."),
                false => cut(
                    &mut result,
                    true,
                    "It did not begin: the limit of all rows is used up.",
                ),
            }
            return result;
        }
        let test = GraphTest {
            inputs: row.inputs.clone(),
            answers: row.answers.as_ref().unwrap_or(&self.file.answers).clone(),
            ..GraphTest::default()
        };
        let asked = self.file.person.as_ref().map(|person| AskedPerson {
            person,
            host: &self.host,
            models: &self.models,
            row: of_row(row),
            place: (*number, place.repeat),
            spent: Mutex::default(),
            failed: Mutex::default(),
        });
        let person = asked.as_ref().map(|person| person as &dyn Person);
        let began = Instant::now();
        let seconds = self.file.limit.seconds.unwrap_or(SECONDS).min(MAX_SECONDS);
        let played = tokio::select! {
            played = test.play_with(variant.graph.clone(), &variant.document, person) => Some(played),
            () = stop.cancelled() => None,
            () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => {
                cut(&mut result, true, &format!("The row took longer than {seconds} s."));
                None
            }
        };
        if let Some(asked) = &asked {
            let spent = asked.spent.lock().clone();
            self.spend(&spent);
            self.judging.lock().add(&spent);
        }
        result.millis = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
        result.at = files::now();
        match played {
            Some(played) => {
                self.note(&mut result, variant, row, &played).await;
                if let Some(why) = asked.and_then(|asked| asked.failed.into_inner()) {
                    result.error = Some(format!("The person could not answer: {why}"));
                }
            }
            None if result.status.is_empty() => cut(&mut result, false, "It was stopped."),
            None => {}
        }
        if !result.is_cut() {
            kept.keep(&result);
        }
        result
    }

    /// Notes what came of a row, counted and scored.
    async fn note(
        &self,
        result: &mut EvaluatedRow,
        variant: &PreparedVariant,
        row: &EvaluationRow,
        played: &Played,
    ) {
        let mut spent = Spent::default();
        for exchange in played.task_ids.iter().flat_map(|task| self.host.exchanges(task)) {
            spent.exchange(&exchanges::view(exchange));
        }
        result.tokens = spent.tokens;
        result.cost.clone_from(&spent.cost);
        result.unpriced = spent.unpriced;
        let beyond = spent.beyond(&self.file.limit);
        self.spend(&spent);
        let outcome = &played.outcome;
        let values = outcome.values.clone().unwrap_or_default();
        result.status = outcome.status.clone().unwrap_or_default();
        result.error = outcome.error.clone().or_else(|| {
            let asked = outcome.questions.as_ref().and_then(|questions| questions.last());
            (result.status == "interrupted").then(|| {
                format!(
                    "No answer is left for the question {}.",
                    asked.unwrap_or(&Json::Null)
                )
            })
        });
        result.values = shown(&values, row, &variant.document);
        if let Some(what) = beyond {
            cut(result, true, &format!("The row used more {what} than one may."));
            return;
        }
        if result.status == "failed" {
            result.passed = Some(false);
            return;
        }
        result.scores = self
            .scores(result, row, &values, outcome.nodes.as_deref().unwrap_or_default())
            .await;
        let said: Vec<bool> = result.scores.values().filter_map(|score| score.passed).collect();
        result.passed = (!said.is_empty()).then(|| said.iter().all(|passed| *passed));
    }

    /// Counts what a run or a judging model used.
    fn spend(&self, more: &Spent) {
        let mut all = self.spent.lock();
        all.add(more);
        if all.beyond(&self.file.total).is_some() {
            self.over.cancel();
        }
    }

    /// Returns what judging models used: tokens, and cost by currency.
    pub fn judging(&self) -> (u64, BTreeMap<String, f64>) {
        let judging = self.judging.lock();
        (judging.tokens, judging.cost.clone())
    }

    async fn scores(
        &self,
        result: &EvaluatedRow,
        row: &EvaluationRow,
        values: &Map<String, Json>,
        nodes: &[String],
    ) -> BTreeMap<String, RowScore> {
        if self.file.scores.is_empty() {
            let scored = |key: &String| {
                let scorer = RowScorer {
                    key: Some(key.clone()),
                    ..RowScorer::default()
                };
                Some((key.clone(), by_key(&scorer, key, row, values)?))
            };
            return row.expect.keys().filter_map(scored).collect();
        }
        let state = Value::from(Json::Object(values.clone()));
        let of_row = of_row(row);
        let of_run = json!({
            "status": result.status,
            "nodes": nodes,
            "steps": nodes.len(),
            "tokens": result.tokens,
            "cost": result.cost.values().copied().fold(0.0, f64::max),
            "seconds": f64::from(result.millis) / 1000.0,
        });
        let mut scores = BTreeMap::new();
        for (name, scorer) in &self.file.scores {
            let score = match &scorer.key {
                Some(key) => by_key(scorer, key, row, values),
                None => {
                    let graded = Graded {
                        state: &state,
                        compared: ComparedWith {
                            name: "row",
                            title: "The row, with what is expected",
                            value: &of_row,
                        },
                        run: Value::from(of_run.clone()),
                    };
                    let score = score::score(&self.host, &self.models, &scorer.graded(), graded).await;
                    self.spend(&score.spent);
                    self.judging.lock().add(&score.spent);
                    Some(RowScore {
                        passed: passes(scorer, score.score.as_ref()),
                        value: score.score,
                        note: score.note,
                    })
                }
            };
            scores.extend(score.map(|score| (name.clone(), score)));
        }
        scores
    }
}

/// Returns a row as expressions see it.
fn of_row(row: &EvaluationRow) -> Value {
    Value::from(json!({
        "name": row.name,
        "inputs": row.inputs,
        "input": row.inputs.first(),
        "expect": row.expect,
        "data": row.data,
    }))
}

/// Marks a result that did not come to its end.
fn cut(result: &mut EvaluatedRow, is_limit: bool, why: &str) {
    result.status = if is_limit { "limit" } else { "stopped" }.to_owned();
    result.error = Some(why.to_owned());
}

/// Returns whether a score passes. One that could not be given does not; a number without a least one says nothing.
fn passes(scorer: &RowScorer, value: Option<&Json>) -> Option<bool> {
    match (value, scorer.at_least) {
        (None, _) => Some(false),
        (Some(Json::Bool(passed)), _) => Some(*passed),
        (Some(Json::Number(number)), Some(least)) => {
            Some(number.as_f64().is_some_and(|number| number >= least))
        }
        (Some(Json::Number(_)), None) => None,
        (Some(_), Some(_)) => Some(false),
        (Some(_), None) => None,
    }
}

/// Scores a key of the state by what the row expects of it; nothing where the row expects nothing.
fn by_key(
    scorer: &RowScorer,
    key: &str,
    row: &EvaluationRow,
    values: &Map<String, Json>,
) -> Option<RowScore> {
    let expected = row.expect.get(key)?;
    let found = values.get(key).unwrap_or(&Json::Null);
    if let Some(least) = scorer.likeness {
        let words = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let likeness = strsim::sorensen_dice(&words(expected).to_lowercase(), &words(found).to_lowercase());
        return Some(RowScore {
            value: Some(json!(likeness)),
            passed: Some(likeness >= least),
            note: (likeness < least).then(|| differs(expected, found)),
        });
    }
    let is_same = is_same(expected, found);
    Some(RowScore {
        value: Some(Json::Bool(is_same)),
        passed: Some(is_same),
        note: (!is_same).then(|| differs(expected, found)),
    })
}

/// Returns whether a value is the expected one. 40 of a table is 40.0 of a program, wherever it stands.
fn is_same(expected: &Json, found: &Json) -> bool {
    match (expected, found) {
        (Json::Number(one), Json::Number(other)) if one.is_f64() || other.is_f64() => {
            one.as_f64() == other.as_f64()
        }
        (Json::Array(items), Json::Array(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(one, other)| is_same(one, other))
        }
        (Json::Object(fields), Json::Object(others)) => {
            let same =
                |(name, one): (&String, &Json)| others.get(name).is_some_and(|other| is_same(one, other));
            fields.len() == others.len() && fields.iter().all(same)
        }
        _ => agrees(expected, found),
    }
}

fn differs(expected: &Json, found: &Json) -> String {
    let brief = |value: &Json| {
        let text = if value.is_null() {
            "nothing".to_owned()
        } else {
            value.to_string()
        };
        match text.char_indices().nth(MAX_SHOWN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    };
    format!("{} expected, {} found", brief(expected), brief(found))
}

/// Returns the values that are kept: of the keys that the row expects, and of the graph's output.
fn shown(values: &Map<String, Json>, row: &EvaluationRow, document: &Document) -> Map<String, Json> {
    let output = document.output_keys().unwrap_or_default();
    let keys = values
        .iter()
        .filter(|(key, _)| row.expect.contains_key(*key) || output.contains(&key.as_str()));
    let brief = |value: &Json| match value.to_string() {
        text if text.len() > MAX_VALUE => {
            Json::from(text.chars().take(MAX_SHOWN).chain(['…']).collect::<String>())
        }
        _ => value.clone(),
    };
    keys.take(MAX_KEYS)
        .map(|(key, value)| (key.clone(), brief(value)))
        .collect()
}

fn hash(of: &Json) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(of.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_expected_one_by_number_and_never_by_its_text() {
        for (one, other) in [
            (json!(1), json!(1.0)),
            (json!([{"a": 40}]), json!([{"a": 40.0}])),
            (json!({"a": 1, "b": [2.0]}), json!({"b": [2], "a": 1})),
            (json!({"a": "*"}), json!({"a": [1]})),
            (json!(null), json!(null)),
        ] {
            assert!(is_same(&one, &other), "{one} {other}");
        }
        for (one, other) in [
            (json!(1), json!("1")),
            (json!(1), json!(true)),
            (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)),
            (json!({"a": 1}), json!({"a": 1, "b": 2})),
            (json!([1, 2]), json!([2, 1])),
            (json!(null), json!("None")),
        ] {
            assert!(!is_same(&one, &other), "{one} {other}");
        }
    }
}
