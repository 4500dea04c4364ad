//! Rules of runs and edits that hold in every host, with a workbench or without one: what is written into the metadata of
//! checkpoints, which questions wait and who may answer them, and with what a run goes on.

mod asked;
mod edit;
mod effects;
mod hot_edit;
mod labels;
mod metadata;
mod questions;
mod start;
mod tool_calls;

pub use asked::as_question;
pub(crate) use asked::asked;
pub(crate) use edit::replacing;
pub use edit::{Edit, Write};
pub use effects::effects_after;
pub use hot_edit::{RanOn, go_on_report, onto};
pub use metadata::{
    Origin, disabled_in, disabled_nodes, graph_name, graph_path, is_copied, models_of, name_of, of_graph,
    of_graph_named, pinned_nodes,
};
pub(crate) use metadata::{
    RECORDED_MODELS, SCRIPTED_MODELS, by, edited_keys, mark_what_if, run_id, unmark_what_if, what_if,
};
pub use questions::{
    Answers, Asking, Withdrawal, asking, node_of, not_asked, questions_at, waiting, waiting_at,
};
pub use start::{Given, Start};

use superstep::Interrupt;
use superstep_nodes::kinds::ask;

use crate::base::files::now_ms;

/// Returns the time at which the first wait ends, if nothing but waits is pending.
pub fn only_waits(interrupts: &[Interrupt]) -> Option<u64> {
    let waits =
        |interrupt: &Interrupt| ask::is_wait(&interrupt.value).then(|| ask::deadline(&interrupt.value))?;
    let ends: Option<Vec<u64>> = interrupts.iter().map(waits).collect();
    ends?.into_iter().min()
}

/// Returns whether the deadline of one of these questions has passed. Its thread then continues without an answer.
pub fn has_passed(interrupts: &[Interrupt]) -> bool {
    let now = now_ms();
    let mut deadlines = interrupts
        .iter()
        .filter_map(|interrupt| ask::deadline(&interrupt.value));
    deadlines.any(|until| until <= now)
}

#[cfg(test)]
mod tests {
    use superstep::{Value, json};

    use super::*;

    fn asks(value: Value) -> Interrupt {
        Interrupt::from_json(&json!({"value": value, "id": "0123456789abcdef0123456789abcdef"})).unwrap()
    }

    #[test]
    fn a_thread_that_only_waits_goes_on_at_the_first_of_its_times() {
        let wait = |until: u64| asks(json!({"waits": true, "deadline": until}));
        assert_eq!(only_waits(&[wait(90), wait(20)]), Some(20_000), "in milliseconds");
        assert_eq!(only_waits(&[]), None);
        let question = asks(json!({"question": "Pay?", "deadline": 5}));
        assert_eq!(
            only_waits(&[wait(90), question.clone()]),
            None,
            "a person can answer before that"
        );
        assert!(has_passed(&[asks(json!("really?")), question]));
        assert!(!has_passed(&[asks(json!("really?")), wait(u64::MAX / 4)]));
    }
}
