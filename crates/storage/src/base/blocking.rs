//! Work that waits for the disk.

use superstep::checkpoint::StorageError;

/// Runs work on a thread that may wait for the disk.
pub(crate) async fn blocking<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    if tokio::runtime::Handle::try_current().is_err() {
        // Another executor: it has no pool of blocking threads that we know of.
        return work();
    }
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(StorageError::Backend {
            what: what.to_owned(),
            cause: error.to_string(),
            remedy: "Try again".to_owned(),
        })
    })
}
