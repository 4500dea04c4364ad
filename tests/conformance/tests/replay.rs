//! Every recorded case, replayed.

use superstep_conformance::{Deviations, cases, replay};

#[test]
fn the_engine_does_what_langgraph_did() {
    let cases = cases(&[]).expect("the case files can be read");
    let deviations = Deviations::read().expect("the list of deviations can be read");
    let mut wrong = String::new();
    let (mut same, mut meant) = (0, 0);
    for case in &cases {
        let found = match replay(&case.value) {
            Ok(found) => found,
            Err(refusal) => {
                wrong += &format!("\n{}: {refusal}", case.name);
                continue;
            }
        };
        match (found.is_empty(), deviations.reason(&case.name)) {
            (true, None) => same += 1,
            (false, Some(_)) => meant += 1,
            (true, Some(reason)) => {
                wrong += &format!("\n{}: no longer differs, remove it from deviations.json ({reason})", case.name);
            }
            (false, None) => {
                wrong += &format!("\n{}: {} differences", case.name, found.len());
                for difference in found.iter().take(5) {
                    wrong += &format!("\n  {difference}");
                }
            }
        }
    }
    for name in deviations.names() {
        if !cases.iter().any(|case| case.name == *name) {
            wrong += &format!("\n{name}: listed in deviations.json, but there is no such case");
        }
    }
    println!("{} cases replayed: {same} the same, {meant} differ as meant", cases.len());
    assert!(wrong.is_empty(), "the engine does something else than LangGraph did:{wrong}");
}
