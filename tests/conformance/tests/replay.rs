//! Every recorded case, replayed.

use superstep_conformance::{Deviations, Verdict, cases, judge};

#[test]
fn the_engine_does_what_langgraph_did() {
    let cases = cases(&[]).expect("the case files can be read");
    let deviations = Deviations::read().expect("the list of deviations can be read");
    let mut wrong = String::new();
    let (mut same, mut meant) = (0, 0);
    for case in &cases {
        match judge(case, &deviations) {
            Verdict::Same => same += 1,
            Verdict::Meant(_) => meant += 1,
            Verdict::Outdated(reason) => {
                wrong += &format!(
                    "\n{}: no longer differs, remove it from deviations.json ({reason})",
                    case.name
                );
            }
            Verdict::Refused(refusal) => wrong += &format!("\n{}: {refusal}", case.name),
            Verdict::Different(found) => {
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
    println!(
        "{} cases replayed: {same} the same, {meant} differ as meant",
        cases.len()
    );
    assert!(
        wrong.is_empty(),
        "the engine does something else than LangGraph did:{wrong}"
    );
}
