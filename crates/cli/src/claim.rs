//! This process as the holder of claims on threads.

use std::time::Duration;

use superstep::{Checkpointer, ThreadId};
use superstep_workbench::Claimant;

use crate::fault::Fault;
use crate::out;
use crate::place::data_dir;

/// How a person calls this program.
const PROGRAM: &str = "the superstep command";
/// How often is looked whether a thread is free.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Says that this process is alive. It says so in the data folder, or among temporary files where there is none: a command
/// on another database makes none.
pub(crate) fn claimant() -> Claimant {
    Claimant::enter(data_dir().ok().as_deref(), PROGRAM)
}

/// Waits until no other program runs the thread: an answer is not refused because something runs.
pub(crate) async fn wait_until_free(saver: &dyn Checkpointer, thread: &ThreadId) -> Result<(), Fault> {
    let Some(coordination) = saver.coordination() else {
        return Ok(());
    };
    let claimant = claimant();
    let mut is_said = false;
    while let Some(held) = coordination.claim(thread).await?
        && claimant.is_held(&held)
    {
        if !std::mem::replace(&mut is_said, true) {
            out::note(&format!(
                "Thread {thread} is run by {}. The answer is given when it is free; --take-over ends that run.",
                held.holder.name
            ));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}
