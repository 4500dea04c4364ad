//! What a grid asks for, checked and made ready before anything runs: the document, the graph and the values of every row.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;
use superstep::checkpoint::GraphVersion;
use superstep::value::Object;
use superstep::{Graph, Value};
use superstep_document::Document;
use superstep_nodes::expression::Expression;
use superstep_nodes::models::Exchange;
use superstep_nodes::schema::StateSchema;

use crate::wire::{Problem, RunModels, WhatIfGrid, WhatIfLimit, WhatIfRow};
use superstep_document::{Text, text};

/// Rows of a grid.
const MAX_ROWS: usize = 200;
/// Runs of all rows.
const MAX_RUNS: usize = 500;
/// Rows that run at once.
const MAX_AT_ONCE: u32 = 16;
/// Rows that run at once when nobody says how many.
const AT_ONCE: u32 = 2;
/// Characters of a name that is made from a row's changes.
const MAX_NAME: usize = 60;

/// Source of graphs, and of what they asked of models.
pub trait WhatIfHost: Send + Sync {
    /// Builds the graph of a document, ready to run, and the version that its threads keep; refused while the document
    /// has errors or wants access that nobody has allowed.
    fn graph(&self, document: &Document, models: &RunModels) -> Result<(Graph, GraphVersion), Problem>;
    /// Returns what a task that has ended asked of models.
    fn exchanges(&self, task: &str) -> Vec<Exchange>;
}

/// A row that can run.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) document: Document,
    pub(super) graph: Graph,
    pub(super) models: RunModels,
    pub(super) version: Arc<GraphVersion>,
    /// With markers where they take the place of what is there.
    pub(super) values: Object,
    /// Without.
    pub(super) plain: Object,
    pub(super) as_node: Option<String>,
    pub(super) input: Option<Value>,
}

/// Repetitions and concurrency of a grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) repeat: u32,
    pub(super) at_once: u32,
}

fn refused(message: impl Into<Text>, remedy: Text) -> Problem {
    Problem::new("what-if-invalid", message).remedy(remedy)
}

/// Reads a grid from the text of a file; the problem names the place.
pub fn read(text: &str) -> Result<WhatIfGrid, Problem> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let grid: WhatIfGrid = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.inner().to_string();
        let message = match path.as_str() {
            "." | "" => text!("The grid cannot be read: {cause}.", cause),
            path => text!("The grid cannot be read at {path}: {cause}.", path, cause),
        };
        refused(
            message,
            text!("Write an object with `rows`, such as {\"rows\": [{\"values\": {\"days\": 5}}]}."),
        )
    })?;
    deserializer.end().map_err(|error| {
        refused(
            text!(
                "The grid is followed by something else: {error}.",
                error = error.to_string()
            ),
            text!("Write one object into the file."),
        )
    })?;
    Ok(grid)
}

/// Checks everything of a grid but its rows.
pub(super) fn pace(grid: &WhatIfGrid) -> Result<Pace, Problem> {
    let repeat = grid.repeat.unwrap_or(1);
    let at_once = grid.concurrency.unwrap_or(AT_ONCE);
    let runs = grid.rows.len().saturating_mul(repeat as usize);
    if grid.rows.is_empty() {
        return Err(refused(
            text!("The grid has no rows."),
            text!("Add a row that says what is to be different."),
        ));
    }
    if grid.rows.len() > MAX_ROWS || repeat == 0 || runs > MAX_RUNS {
        return Err(refused(
            text!(
                "{count} rows, {repeat} times each, are too many or none.",
                count = grid.rows.len(),
                repeat
            ),
            text!("A grid has at most 200 rows and 500 runs, and each row runs at least once."),
        ));
    }
    if !(1..=MAX_AT_ONCE).contains(&at_once) {
        return Err(refused(
            text!("{at_once} rows cannot run at once.", at_once),
            text!("Give a `concurrency` from 1 to 16."),
        ));
    }
    for (name, limit) in [("limit", &grid.limit), ("total", &grid.total)] {
        let WhatIfLimit {
            seconds,
            tokens,
            cost,
        } = limit;
        let positive = |n: &Option<f64>| n.is_none_or(|n| n.is_finite() && n > 0.0);
        if !positive(seconds) || !positive(cost) || *tokens == Some(0) {
            return Err(refused(
                text!("`{name}` allows nothing.", name),
                text!("Give seconds, tokens and cost above 0, or leave them out."),
            ));
        }
    }
    if let Some(scorer) = &grid.scorer {
        match (&scorer.expression, &scorer.model, &scorer.rubric) {
            (Some(expression), None, None) => {
                Expression::compile(expression, "the scorer").map_err(|error| {
                    refused(
                        text!(
                            "The expression of the scorer cannot be used: {cause}",
                            cause = error.message
                        ),
                        text!("Correct the scorer's expression over `state`, `base` and `run`."),
                    )
                })?;
            }
            (None, Some(model), Some(rubric)) if !model.trim().is_empty() && !rubric.trim().is_empty() => {}
            _ => {
                return Err(refused(
                    text!("The scorer is neither an expression nor a model with a rubric."),
                    text!("Give `expression`, or `model` and `rubric`."),
                ));
            }
        }
    }
    Ok(Pace { repeat, at_once })
}

/// Makes every row ready to run.
pub(super) fn rows(
    host: &dyn WhatIfHost,
    document: &Document,
    models: &RunModels,
    grid: &WhatIfGrid,
) -> Result<Vec<Planned>, Problem> {
    let known: Vec<&str> = document.node_ids().collect();
    if let Some(node) = grid.effects.keys().find(|node| !known.contains(&node.as_str())) {
        return Err(refused(
            text!(
                "`effects` names the node `{node}`, which the graph does not have.",
                node
            ),
            text!("Name nodes of the graph."),
        ));
    }
    let mut graphs: BTreeMap<String, (Graph, Arc<GraphVersion>)> = BTreeMap::new();
    let mut planned = Vec::with_capacity(grid.rows.len());
    for (place, row) in grid.rows.iter().enumerate() {
        let name = match row.name.as_deref().map(str::trim) {
            Some(name) if !name.is_empty() => name.to_owned(),
            _ => named(row),
        };
        let of_row = |problem: Problem| {
            let message = problem.message_text();
            let row = text!(
                "Row {row} ({name}): {message}",
                row = place + 1,
                name = &name,
                message
            );
            problem.with_message(row)
        };
        let changed = changed(document, row).map_err(of_row)?;
        let answering = row
            .models
            .clone()
            .map_or_else(|| models.clone(), |own| own.cleaned().or(models.clone()));
        let key = format!("{:?}\n{}", answering, changed.to_text());
        let (graph, version) = match graphs.get(&key) {
            Some(made) => made.clone(),
            None => {
                let (graph, version) = host.graph(&changed, &answering).map_err(of_row)?;
                let made = (graph, Arc::new(version));
                graphs.insert(key, made.clone());
                made
            }
        };
        if let Some(node) = row
            .as_node
            .as_ref()
            .filter(|node| !graph.node_names().any(|name| **name == ***node))
        {
            let problem = refused(
                text!("`asNode` names `{node}`, which the graph does not have.", node),
                text!("Name a node, or leave it out."),
            );
            return Err(of_row(problem));
        }
        let RowInput { values, plain, input } = given(&changed, row).map_err(of_row)?;
        planned.push(Planned {
            name,
            document: changed,
            graph,
            models: answering,
            version,
            values,
            plain,
            as_node: row.as_node.clone(),
            input,
        });
    }
    Ok(planned)
}

/// The values and the input of a row.
struct RowInput {
    values: Object,
    plain: Object,
    input: Option<Value>,
}

/// Returns the input of a row, checked against the state's schema.
fn given(document: &Document, row: &WhatIfRow) -> Result<RowInput, Problem> {
    let (schema, _) = StateSchema::of(document);
    let fits = |what: &str, update: &Value| {
        schema.check_update(what, update).map_err(|error| {
            refused(
                error.to_string(),
                text!("Correct the value, or change the key's type in the state panel."),
            )
        })
    };
    if let Some(key) = row
        .values
        .iter()
        .flat_map(BTreeMap::keys)
        .find(|key| document.state_key(key).is_none())
    {
        return Err(refused(
            text!("`values` has `{key}`, which is no key of the state.", key),
            text!("Name a key of the state."),
        ));
    }
    let plain: Object = row
        .values
        .iter()
        .flatten()
        .map(|(name, value)| (name.clone(), Value::from(value.clone())))
        .collect();
    let replacing = crate::session::replacing(document, &plain, |_| true);
    fits("the values", &replacing)?;
    let input = row.input.clone().map(Value::from);
    if let Some(input) = &input {
        if input.as_object().is_none() {
            return Err(refused(
                text!("`input` is not an object of state keys."),
                text!("Give an object such as {\"key\": value}."),
            ));
        }
        fits("the input", input)?;
    }
    Ok(RowInput {
        values: replacing.as_object().cloned().unwrap_or_default(),
        plain,
        input,
    })
}

/// Builds the document that a row runs.
pub(crate) fn changed(document: &Document, row: &WhatIfRow) -> Result<Document, Problem> {
    if row.graph.is_none() && row.settings.is_none() && row.model.is_none() {
        return Ok(document.clone());
    }
    let mut file = match &row.graph {
        Some(graph) => graph.clone(),
        None => document.to_json(),
    };
    for (pointer, value) in row.settings.iter().flatten() {
        set(&mut file, pointer, value)?;
    }
    if let Some(model) = &row.model {
        let nodes = file.get_mut("nodes").and_then(Json::as_object_mut);
        let configs = nodes.into_iter().flat_map(|nodes| nodes.values_mut());
        let mut any = false;
        for asked in configs.filter_map(|node| node.pointer_mut("/config/model")) {
            *asked = Json::from(model.as_str());
            any = true;
        }
        if !any {
            return Err(refused(
                text!("No node of the graph asks a model."),
                text!("Leave `model` out, or name the setting in `settings`."),
            ));
        }
    }
    let (changed, problems) = Document::parse(&file.to_string());
    match problems.iter().find(|problem| problem.is_error()) {
        Some(problem) => Err(refused(
            text!("The graph cannot be read: {message}", message = &problem.message),
            problem.remedy.clone(),
        )),
        None => Ok(changed),
    }
}

/// Sets a part of a document, or takes it away.
fn set(file: &mut Json, pointer: &str, value: &Json) -> Result<(), Problem> {
    let missing = || {
        refused(
            text!(
                "`settings` has `{pointer}`, which the graph's document does not have.",
                pointer
            ),
            text!("Give a JSON Pointer into the document, such as `/nodes/reply/config/prompt`."),
        )
    };
    let (parent, last) = pointer.rsplit_once('/').ok_or_else(missing)?;
    let name = last.replace("~1", "/").replace("~0", "~");
    match file.pointer_mut(parent).ok_or_else(missing)? {
        Json::Object(members) if value.is_null() => {
            members.remove(&name).ok_or_else(missing)?;
        }
        Json::Object(members) => {
            members.insert(name, value.clone());
        }
        Json::Array(items) => {
            let index: usize = name.parse().map_err(|_| missing())?;
            let item = items.get_mut(index).ok_or_else(missing)?;
            match value.is_null() {
                true => drop(items.remove(index)),
                false => *item = value.clone(),
            }
        }
        _ => return Err(missing()),
    }
    Ok(())
}

/// Returns a name for a row that has none: the differences in it.
fn named(row: &WhatIfRow) -> String {
    let shown = |value: &Json| match value {
        Json::String(text) => format!("“{}”", text.split_whitespace().collect::<Vec<_>>().join(" ")),
        value => value.to_string(),
    };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(row.graph.iter().map(|_| "another graph".to_owned()));
    parts.extend(row.input.iter().map(|input| format!("input {}", shown(input))));
    parts.extend(
        row.values
            .iter()
            .flatten()
            .map(|(key, value)| format!("{key} = {}", shown(value))),
    );
    parts.extend(row.model.iter().cloned());
    for (pointer, value) in row.settings.iter().flatten() {
        let place: Vec<&str> = pointer
            .trim_start_matches("/nodes/")
            .split('/')
            .filter(|part| *part != "config" && !part.is_empty())
            .collect();
        parts.push(format!("{} = {}", place.join(" "), shown(value)));
    }
    let answering = row.models.iter().filter_map(|models| models.scripted.clone());
    parts.extend(answering);
    let name = match parts.is_empty() {
        true => "No change".to_owned(),
        false => parts.join(", "),
    };
    match name.chars().count() > MAX_NAME {
        true => format!("{}…", name.chars().take(MAX_NAME).collect::<String>()),
        false => name,
    }
}
