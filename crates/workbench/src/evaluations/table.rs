//! The results of an evaluation as a table.

use std::collections::BTreeSet;

use crate::base::table::write_cells;
use crate::wire::{EvaluatedRow, Json};

/// Returns the results as CSV (RFC 4180): a line for each run of a row, a column for each score and each currency.
pub fn write_table(results: &[EvaluatedRow]) -> String {
    let scores: BTreeSet<&str> = names(results.iter().flat_map(|row| row.scores.keys()));
    let currencies: BTreeSet<&str> = names(results.iter().flat_map(|row| row.cost.keys()));
    let keys: BTreeSet<&str> = names(results.iter().flat_map(|row| row.values.keys()));
    let mut csv = String::new();
    let named = |of: &BTreeSet<&str>, what: &str| of.iter().map(|name| format!("{what}{name}")).collect();
    let head: [Vec<String>; 5] = [
        ["row", "name", "variant", "graph", "repeat", "status", "passed"]
            .map(str::to_owned)
            .into(),
        named(&scores, "score."),
        ["tokens".to_owned()].into(),
        named(&currencies, "cost."),
        ["seconds", "error"].map(str::to_owned).into(),
    ];
    let head = head.concat();
    let values: Vec<String> = named(&keys, "state.");
    write_cells(&mut csv, head.iter().chain(&values).map(String::as_str));
    for row in results {
        let mut cells = vec![
            row.row.to_string(),
            row.name.clone(),
            row.variant.clone(),
            row.graph.clone(),
            row.repeat.to_string(),
            row.status.clone(),
            row.passed.map(|passed| passed.to_string()).unwrap_or_default(),
        ];
        let value = |value: Option<&Json>| match value {
            None | Some(Json::Null) => String::new(),
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let score = |name: &&str| value(row.scores.get(*name).and_then(|score| score.value.as_ref()));
        cells.extend(scores.iter().map(score));
        cells.push(row.tokens.to_string());
        let cost = |name: &&str| row.cost.get(*name).map(f64::to_string).unwrap_or_default();
        cells.extend(currencies.iter().map(cost));
        cells.push((f64::from(row.millis) / 1000.0).to_string());
        cells.push(row.error.clone().unwrap_or_default());
        cells.extend(keys.iter().map(|key| value(row.values.get(*key))));
        write_cells(&mut csv, cells.iter().map(String::as_str));
    }
    csv
}

fn names<'a>(all: impl Iterator<Item = &'a String>) -> BTreeSet<&'a str> {
    all.map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::RowScore;

    #[test]
    fn a_line_has_the_columns_of_all_rows_and_no_formula() {
        let mut one = EvaluatedRow {
            row: 1,
            name: "=A1".to_owned(),
            passed: Some(true),
            ..EvaluatedRow::default()
        };
        let score = RowScore {
            value: Some(Json::from(0.5)),
            ..RowScore::default()
        };
        one.scores.insert("likeness".to_owned(), score);
        let mut two = EvaluatedRow {
            row: 2,
            ..EvaluatedRow::default()
        };
        two.cost.insert("USD".to_owned(), 0.25);
        two.values.insert("reply".to_owned(), Json::from("a\"b"));
        let table = write_table(&[one, two]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(
            lines[0],
            r#""row","name","variant","graph","repeat","status","passed","score.likeness","tokens","cost.USD","seconds","error","state.reply""#
        );
        assert_eq!(
            lines[1],
            r#""1","'=A1","","","0","","true","0.5","0","","0","","""#
        );
        assert_eq!(lines[2], r#""2","","","","0","","","","0","0.25","0","","a""b""#);
        assert_eq!(lines.len(), 3);
    }
}
