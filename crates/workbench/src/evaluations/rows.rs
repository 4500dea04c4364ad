//! Rows of a data set: a line of JSONL, or of CSV with the columns of its head.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Map;
use superstep::Value;
use superstep_document::Document;
use superstep_nodes::files;
use superstep_nodes::schema::StateSchema;
use superstep_nodes::testing::GraphTest;

use super::file::refused;
use crate::base::files::Staged;
use crate::wire::{Json, Problem};

/// Bytes of the largest file of rows.
const MAX_FILE: u64 = 256 << 20;
/// Rows of a file.
const MAX_ROWS: usize = 100_000;
/// Letters of a name that is made of an input.
const MAX_NAME: usize = 60;
/// Columns of CSV that are no keys of the state.
const NAME: &str = "row";
const ANSWERS: &str = "answers";
const INPUT: &str = "input.";
const EXPECT: &str = "expect.";
const DATA: &str = "data.";

/// A row of a data set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationRow {
    /// Its name; made of the input when it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Inputs, one run each on the same thread.
    pub inputs: Vec<Json>,
    /// Answers to the questions; those of the evaluation when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<Json>>,
    /// What must come, by state key. `"*"` agrees with anything.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub expect: Map<String, Json>,
    /// What scores may look at besides, such as the words that a reply must have.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub data: Map<String, Json>,
}

fn remedy_of_csv(keys: &[&str]) -> String {
    format!(
        "A column is a key of the state ({}), `{INPUT}KEY`, `{EXPECT}KEY`, `{DATA}NAME`, `{NAME}` or `{ANSWERS}`.",
        keys.join(", ")
    )
}

/// Reads a file of rows for a graph.
pub(super) fn read_rows(path: &Path, document: &Document) -> Result<Vec<EvaluationRow>, Problem> {
    let shown = path.display();
    let text = files::read_text(path, MAX_FILE).map_err(|error| {
        refused(format!("The rows {shown} cannot be read: {error}."))
            .remedy("`rows` names a CSV or JSONL file, from the folder of the evaluation.")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_csv = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("csv") || ending.eq_ignore_ascii_case("tsv"));
    let rows = match is_csv {
        true => of_csv(text, document),
        false => of_json_lines(text, document),
    };
    let mut rows = rows.map_err(|problem| {
        let message = format!("{shown}, {}", problem.message);
        problem.with_message(message.into())
    })?;
    if rows.is_empty() {
        return Err(refused(format!("{shown} has no rows.")).remedy("Write a row, or name another file."));
    }
    let (schema, _) = StateSchema::of(document);
    for (place, row) in rows.iter_mut().enumerate() {
        for input in &row.inputs {
            schema
                .check_update("the input", &Value::from(input.clone()))
                .map_err(|error| {
                    refused(format!("{shown}, row {}: {error}", place + 1))
                        .remedy("Correct the row, or change the key's type in the state panel.")
                })?;
        }
        if let Some(key) = row.expect.keys().find(|key| document.state_key(key).is_none()) {
            return Err(refused(format!(
                "{shown}, row {}: it expects {key:?}, which is no key of the state.",
                place + 1
            ))
            .remedy("Name a key of the state."));
        }
        if row.name.trim().is_empty() {
            row.name = format!("{} {}", place + 1, words_of(row)).trim_end().to_owned();
        }
    }
    Ok(rows)
}

/// Returns the first text of the input, for a row without a name.
fn words_of(row: &EvaluationRow) -> String {
    let first = row.inputs.first().and_then(Json::as_object);
    let texts = first
        .into_iter()
        .flat_map(|input| input.values())
        .filter_map(Json::as_str);
    let words = texts
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
        .find(|text| !text.is_empty());
    let words = words.unwrap_or_default();
    match words.chars().count() > MAX_NAME {
        true => words.chars().take(MAX_NAME).chain(['…']).collect(),
        false => words,
    }
}

fn too_many() -> Problem {
    refused("it has too many rows.").remedy(format!(
        "A data set has at most {MAX_ROWS} rows: divide the file."
    ))
}

fn of_json_lines(text: &str, document: &Document) -> Result<Vec<EvaluationRow>, Problem> {
    let mut rows = Vec::new();
    for (place, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        if rows.len() == MAX_ROWS {
            return Err(too_many());
        }
        rows.push(of_json_line(line, document).map_err(|cause| {
            refused(format!("line {}: {cause}", place + 1)).remedy(
                "Each line is an object: the input itself, or {\"input\": {…}, \"expect\": {…}, \"answers\": […], \"data\": {…}, \"name\": …}.",
            )
        })?);
    }
    Ok(rows)
}

/// Reads a line: the fields of a row, or else the input itself.
fn of_json_line(line: &str, document: &Document) -> Result<EvaluationRow, String> {
    let Json::Object(mut fields) =
        serde_json::from_str(line).map_err(|error| format!("it is not JSON: {error}."))?
    else {
        return Err("it is no object.".to_owned());
    };
    let has_inputs = ["input", "inputs"]
        .iter()
        .any(|name| fields.contains_key(*name) && document.state_key(name).is_none());
    if !has_inputs {
        return Ok(EvaluationRow {
            inputs: vec![Json::Object(fields)],
            ..EvaluationRow::default()
        });
    }
    if let Some(input) = fields.remove("input")
        && fields
            .insert("inputs".to_owned(), Json::Array(vec![input]))
            .is_some()
    {
        return Err("it has `input` and `inputs`.".to_owned());
    }
    let row: EvaluationRow =
        serde_json::from_value(Json::Object(fields)).map_err(|error| format!("it is no row: {error}."))?;
    match row.inputs.iter().all(Json::is_object) && !row.inputs.is_empty() {
        true => Ok(row),
        false => Err("an input is no object of state keys, or there is none.".to_owned()),
    }
}

/// A column of CSV.
enum Column {
    Name,
    Answers,
    Input(String),
    Expect(String),
    Data(String),
}

fn of_csv(text: &str, document: &Document) -> Result<Vec<EvaluationRow>, Problem> {
    let head = text.lines().next().unwrap_or_default();
    let delimiter = [b';', b'\t']
        .into_iter()
        .find(|other| head.contains(char::from(*other)) && !head.contains(','))
        .unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let broken = |error: csv::Error| {
        refused(format!("it is not CSV: {error}."))
            .remedy("A row has as many cells as the head. A cell with a comma, a quote or a line break stands in quotes.")
    };
    let keys: Vec<&str> = document.state_keys().map(|(key, _)| key).collect();
    let columns = reader.headers().map_err(broken)?.clone();
    let columns: Vec<Column> = columns
        .iter()
        .map(|head| column(head.trim(), &keys))
        .collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(broken)?;
        if rows.len() == MAX_ROWS {
            return Err(too_many());
        }
        let (mut row, mut input) = (EvaluationRow::default(), Map::new());
        for (column, cell) in columns
            .iter()
            .zip(record.iter())
            .filter(|(_, cell)| !cell.is_empty())
        {
            let read = |key: &str| {
                cell_value(cell, key, document).map_err(|cause| {
                    let line = record.position().map_or(0, csv::Position::line);
                    refused(format!("line {line}: {cause}"))
                        .remedy("Correct the cell; an empty one leaves the key out.")
                })
            };
            match column {
                Column::Name => cell.trim().clone_into(&mut row.name),
                Column::Answers => row.answers = Some(answers_of(cell)),
                Column::Input(key) => drop(input.insert(key.clone(), read(key)?)),
                Column::Expect(key) => drop(row.expect.insert(key.clone(), read(key)?)),
                Column::Data(name) => {
                    let value = serde_json::from_str(cell).unwrap_or_else(|_| Json::from(cell));
                    row.data.insert(name.clone(), value);
                }
            }
        }
        row.inputs.push(Json::Object(input));
        rows.push(row);
    }
    Ok(rows)
}

fn column(head: &str, keys: &[&str]) -> Result<Column, Problem> {
    let known = |key: &str| keys.contains(&key);
    match head {
        head if known(head) => Ok(Column::Input(head.to_owned())),
        NAME => Ok(Column::Name),
        ANSWERS => Ok(Column::Answers),
        head => {
            let input = head.strip_prefix(INPUT).filter(|key| known(key));
            let expect = head.strip_prefix(EXPECT).filter(|key| known(key));
            if let Some(name) = head.strip_prefix(DATA).filter(|name| !name.is_empty()) {
                return Ok(Column::Data(name.to_owned()));
            }
            match (input, expect) {
                (Some(key), _) => Ok(Column::Input(key.to_owned())),
                (_, Some(key)) => Ok(Column::Expect(key.to_owned())),
                _ => Err(refused(format!("the column {head:?} is no key of the state."))
                    .remedy(remedy_of_csv(keys))),
            }
        }
    }
}

/// Reads a cell of `answers`: a list of answers, or one answer; what is not JSON is a text.
fn answers_of(cell: &str) -> Vec<Json> {
    match serde_json::from_str(cell) {
        Ok(Json::Array(answers)) => answers,
        Ok(answer) => vec![answer],
        Err(_) => vec![Json::from(cell)],
    }
}

/// Reads a cell as a value of its key: text where the key is one, JSON otherwise.
fn cell_value(cell: &str, key: &str, document: &Document) -> Result<Json, String> {
    let schema = document.state_key(key).map(|key| key.schema).unwrap_or_default();
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Json::String(kind)) => vec![kind],
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    if kinds == ["string"] || cell == "*" {
        return Ok(Json::from(cell));
    }
    match serde_json::from_str(cell.trim()) {
        Ok(value) => Ok(value),
        Err(_) if kinds.is_empty() || kinds.contains(&"string") => Ok(Json::from(cell)),
        // As spreadsheets write them.
        Err(_) if kinds.contains(&"boolean") && cell.trim().eq_ignore_ascii_case("true") => {
            Ok(Json::Bool(true))
        }
        Err(_) if kinds.contains(&"boolean") && cell.trim().eq_ignore_ascii_case("false") => {
            Ok(Json::Bool(false))
        }
        Err(error) => Err(format!(
            "{key:?} is {}, and the cell {cell:?} is not JSON: {error}.",
            kinds.join(" or ")
        )),
    }
}

/// Makes a row of what happened on a thread: its inputs, the answers of people, and of `keys` what came of it.
pub fn row_of_test(test: &GraphTest, name: String, keys: &[&str]) -> EvaluationRow {
    let came = test.expect.values.clone().unwrap_or_default();
    EvaluationRow {
        name,
        inputs: test.inputs.clone(),
        answers: (!test.answers.is_empty()).then(|| test.answers.clone()),
        expect: came
            .into_iter()
            .filter(|(key, _)| keys.contains(&key.as_str()))
            .collect(),
        ..EvaluationRow::default()
    }
}

/// Adds a row at the end of a file of JSONL, which is there afterwards as it was or with the row.
///
/// # Errors
/// When the file is not JSONL, or cannot be written.
pub fn append_row(path: &Path, row: &EvaluationRow) -> Result<(), Problem> {
    let shown = path.display();
    if !path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl"))
    {
        return Err(refused(format!("A thread cannot be added to {shown}.")).remedy(
            "Let `rows` name a file that ends with .jsonl: a thread has more than the cells of a table.",
        ));
    }
    let before = match files::read_text(path, MAX_FILE) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(refused(format!("The rows {shown} cannot be read: {error}."))),
    };
    let unwritten = |error: std::io::Error| {
        refused(format!("The rows {shown} cannot be written: {error}."))
            .remedy("Check the folder and its space.")
    };
    let line = serde_json::to_string(row).map_err(|error| unwritten(error.into()))?;
    let gap = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let mut staged = Staged::begin(path).map_err(unwritten)?;
    writeln!(staged.file, "{before}{gap}{line}").map_err(unwritten)?;
    staged.finish().map_err(unwritten)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Document {
        let text = r#"{"format":"superstep/1","name":"t","state":{"text":{"type":"string"},"price":{"type":"number"},
            "ok":{"type":"boolean"},"free":{}},"nodes":{},"edges":[]}"#;
        Document::parse(text).0
    }

    #[test]
    fn cells_are_read_by_the_type_of_their_key() {
        let text = "row,text,price,ok,free,expect.text,data.word,answers\n\
                    one,12,12,TRUE,\"[1, 2]\",*,lamp,\"[{\"\"a\"\": 1}]\"\n\
                    ,\"a, \"\"b\"\"\nc\",,,word,,,yes\n";
        let rows = of_csv(text, &graph()).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].name, "one");
        assert_eq!(
            rows[0].inputs,
            [serde_json::json!({"text": "12", "price": 12, "ok": true, "free": [1, 2]})]
        );
        assert_eq!(rows[0].expect["text"], "*");
        assert_eq!(rows[0].data["word"], "lamp");
        assert_eq!(rows[0].answers, Some(vec![serde_json::json!({"a": 1})]));
        assert_eq!(
            rows[1].inputs,
            [serde_json::json!({"text": "a, \"b\"\nc", "free": "word"})]
        );
        assert_eq!(rows[1].answers, Some(vec![Json::from("yes")]));
    }

    #[test]
    fn tables_of_other_countries_are_read_and_bad_ones_named() {
        let rows = of_csv("text;price\na,b;1.5\n", &graph()).unwrap();
        assert_eq!(rows[0].inputs, [serde_json::json!({"text": "a,b", "price": 1.5})]);
        for (text, word) in [
            ("txt\na\n", "\"txt\" is no key"),
            ("price\n1,5\n", "not CSV"),
            ("price\nmany\n", "line 2: \"price\" is number"),
            ("expect.nothing\n1\n", "no key of the state"),
        ] {
            let problem = of_csv(text, &graph()).unwrap_err();
            assert!(problem.message.contains(word), "{}", problem.message);
        }
    }

    #[test]
    fn lines_are_rows_or_inputs() {
        let text = "{\"text\": \"a\"}\n\n{\"input\": {\"text\": \"b\"}, \"expect\": {\"ok\": true}, \"name\": \"second\"}\n";
        let rows = of_json_lines(text, &graph()).unwrap();
        assert_eq!(rows[0].inputs, [serde_json::json!({"text": "a"})]);
        assert_eq!(
            (rows[1].name.as_str(), &rows[1].expect["ok"]),
            ("second", &Json::Bool(true))
        );
        for bad in [
            "[]",
            "{\"input\": 3}",
            "{\"input\": {}, \"inputs\": []}",
            "{\"input\": {}, \"expct\": {}}",
            "{",
        ] {
            let problem = of_json_lines(bad, &graph()).unwrap_err();
            assert!(problem.message.starts_with("line 1: "), "{}", problem.message);
        }
    }

    #[test]
    fn a_row_is_added_to_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        std::fs::write(&path, "{\"text\": \"a\"}").unwrap();
        let row = EvaluationRow {
            name: "t1".to_owned(),
            inputs: vec![serde_json::json!({"text": "b"})],
            ..EvaluationRow::default()
        };
        append_row(&path, &row).unwrap();
        let rows = read_rows(&path, &graph()).unwrap();
        assert_eq!(rows[0].name, "1 a");
        assert_eq!(rows[1], row);
        assert!(append_row(&folder.path().join("rows.csv"), &row).is_err());
    }
}
