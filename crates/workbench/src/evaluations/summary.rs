//! Counts of an evaluation: how many rows pass, how sure that is, and which came out otherwise than before.

use std::collections::BTreeMap;

use super::kept::KeptResults;
use crate::wire::{EvaluatedRow, EvaluatedVariant};

/// Rows under which nothing is said of a difference.
const MIN_ROWS: u32 = 20;
/// The number of standard deviations of an interval of 95 %.
const Z: f64 = 1.959_963_985;

/// Returns the Wilson interval of 95 % of a part.
pub fn wilson(passed: u32, of: u32) -> Option<[f64; 2]> {
    if of == 0 {
        return None;
    }
    let (n, part) = (f64::from(of), f64::from(passed) / f64::from(of));
    let square = Z * Z;
    let middle = part + square / (2.0 * n);
    let spread = Z * (part * (1.0 - part) / n + square / (4.0 * n * n)).sqrt();
    let whole = 1.0 + square / n;
    Some([
        ((middle - spread) / whole).max(0.0),
        ((middle + spread) / whole).min(1.0),
    ])
}

/// Counts the results of each variant, in the order of `variants`.
pub fn summarize(variants: &[String], results: &[EvaluatedRow], kept: &KeptResults) -> Vec<EvaluatedVariant> {
    let of = |name: &str| {
        results
            .iter()
            .filter(|row| row.variant == name)
            .collect::<Vec<_>>()
    };
    let first = variants.first().map(|name| (name, of(name)));
    variants
        .iter()
        .enumerate()
        .map(|(place, name)| {
            let own = of(name);
            let mut summary = counted(name, &own);
            match (&first, place) {
                (Some((first, theirs)), 1..) => {
                    let theirs: BTreeMap<(u32, u32), &EvaluatedRow> =
                        theirs.iter().map(|row| ((row.row, row.repeat), *row)).collect();
                    summary.compared = Some((*first).clone());
                    compare(&mut summary, &own, |row| {
                        theirs.get(&(row.row, row.repeat)).copied()
                    });
                }
                _ => {
                    let other =
                        |row: &EvaluatedRow| kept.before(row).filter(|before| before.graph != row.graph);
                    let earlier = own
                        .iter()
                        .find_map(|row| other(row))
                        .map(|before| before.graph.clone());
                    summary.compared = earlier.map(|graph| format!("graph {}", short(&graph)));
                    compare(&mut summary, &own, other);
                }
            }
            summary
        })
        .collect()
}

/// Returns the beginning of a version, as lists show it.
pub(super) fn short(version: &str) -> String {
    version.chars().take(8).collect()
}

fn counted(name: &str, own: &[&EvaluatedRow]) -> EvaluatedVariant {
    let mut summary = EvaluatedVariant {
        variant: name.to_owned(),
        ..EvaluatedVariant::default()
    };
    let mut millis = Vec::new();
    for row in own {
        summary.graph.clone_from(&row.graph);
        if row.is_cut() {
            summary.cut += 1;
            continue;
        }
        match row.passed {
            Some(passed) => {
                summary.scored += 1;
                summary.passed += u32::from(passed);
            }
            None => summary.unscored += 1,
        }
        summary.failed += u32::from(row.status == "failed");
        summary.reused += u32::from(row.reused);
        summary.tokens += row.tokens;
        for (currency, amount) in &row.cost {
            *summary.cost.entry(currency.clone()).or_default() += amount;
        }
        summary.unpriced |= row.unpriced && row.tokens > 0;
        millis.push(row.millis);
    }
    millis.sort_unstable();
    summary.median_millis = millis.get(millis.len() / 2).copied().unwrap_or_default();
    summary.rate = wilson(summary.passed, summary.scored)
        .map(|[low, high]| [f64::from(summary.passed) / f64::from(summary.scored), low, high]);
    summary.too_few = summary.scored < MIN_ROWS;
    summary
}

fn compare<'a>(
    summary: &mut EvaluatedVariant,
    own: &[&EvaluatedRow],
    other: impl Fn(&EvaluatedRow) -> Option<&'a EvaluatedRow>,
) {
    for row in own {
        match (other(row).and_then(|other| other.passed), row.passed) {
            (Some(true), Some(false)) => summary.worse.push(row.name.clone()),
            (Some(false), Some(true)) => summary.better.push(row.name.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // From the tables of Newcombe, Statistics in Medicine 17 (1998), method 3.
        for (passed, of, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let [found_low, found_high] = wilson(passed, of).unwrap();
            assert!(
                (found_low - low).abs() < 1e-4 && (found_high - high).abs() < 1e-4,
                "{found_low} {found_high}"
            );
        }
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn rows_that_turned_are_named_and_cut_ones_count_nowhere() {
        let row = |variant: &str, row: u32, passed: Option<bool>, status: &str| EvaluatedRow {
            variant: variant.to_owned(),
            row,
            name: format!("row {row}"),
            repeat: 1,
            passed,
            status: status.to_owned(),
            ..EvaluatedRow::default()
        };
        let results = [
            row("a", 1, Some(true), "done"),
            row("a", 2, Some(false), "failed"),
            row("a", 3, None, "done"),
            row("b", 1, Some(false), "done"),
            row("b", 2, Some(true), "done"),
            row("b", 3, None, "limit"),
        ];
        let names = ["a".to_owned(), "b".to_owned()];
        let found = summarize(&names, &results, &KeptResults::default());
        assert_eq!(
            (
                found[0].scored,
                found[0].passed,
                found[0].unscored,
                found[0].failed
            ),
            (2, 1, 1, 1)
        );
        assert_eq!((found[1].cut, found[1].unscored), (1, 0));
        assert_eq!(
            (found[1].worse.as_slice(), found[1].better.as_slice()),
            (["row 1".to_owned()].as_slice(), ["row 2".to_owned()].as_slice())
        );
        assert!(found[1].too_few);
        assert_eq!(found[0].compared, None);
    }
}
