//! What every part of the workbench uses: problems, files, notes, and values as interfaces receive them.

pub(crate) mod browser;
pub(crate) mod file_events;
pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod instance;
pub(crate) mod jobs;
pub(crate) mod logging;
pub(crate) mod notes;
pub(crate) mod problem;
pub(crate) mod table;
pub(crate) mod values;

use crate::wire::Problem;
use superstep_document::text;

/// Runs file work where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        Problem::new(
            "internal",
            text!("A background task failed: {error}.", error = error.to_string()),
        )
        .remedy(text!("Try again."))
    })
}
