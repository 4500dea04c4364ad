//! Questions before something that cannot be undone.

use std::io::{BufRead, IsTerminal};

use crate::args::DeleteArgs;
use crate::fault::{Fault, STOPPED};
use crate::out;

/// Asks before something that cannot be undone; an answer that is not yes ends the command.
pub(crate) fn confirm(yes: bool, doing: &str, question: &str) -> Result<(), Fault> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(Fault::usage(format!(
            "{doing} cannot be undone; say --yes when there is nobody to ask."
        )));
    }
    out::note_part(&format!("{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    out::note("Nothing was changed.");
    Err(Fault::quiet(STOPPED))
}

/// Asks before threads are deleted.
pub(crate) fn confirm_deletion(args: &DeleteArgs, checkpoints: u64) -> Result<(), Fault> {
    let what = out::count(args.threads.len() as u64, "thread");
    let checkpoints = out::count(checkpoints, "checkpoint");
    confirm(
        args.yes,
        "Deleting",
        &format!("Delete {what} with {checkpoints} for good?"),
    )
}
