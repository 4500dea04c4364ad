//! Removes what has expired, at once and then now and then.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use super::Store;

/// Sweeps a store in the background until it or the store is dropped.
#[derive(Debug)]
pub struct Sweeper(JoinHandle<()>);

impl Sweeper {
    /// Begins to sweep, at once for the first time: what expired while nothing ran would otherwise stay wherever programs
    /// run for less than `every`. A sweep that fails is reported in the log and tried again at its next turn. Must be called
    /// within a tokio runtime.
    pub fn start(store: Arc<dyn Store>, every: Duration) -> Self {
        // What waits for its next turn must not keep a store open that nobody uses any more.
        let store = Arc::downgrade(&store);
        Self(tokio::spawn(async move {
            loop {
                let Some(store) = store.upgrade() else { return };
                match store.sweep().await {
                    Ok(0) => {}
                    Ok(removed) => tracing::debug!(removed, "expired items of the store are gone"),
                    Err(error) => tracing::warn!(%error, "expired items of the store could not be removed"),
                }
                drop(store);
                tokio::time::sleep(every).await;
            }
        }))
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}
