//! Using another database of threads, which waits until no thread is taken.

use std::sync::Arc;

use superstep_storage::LANGGRAPH_KEY;

use crate::Workbench;
use crate::base::blocking;
use crate::wire::{AppEvent, Empty, Problem, StorageInfo, UseStorage};
use superstep_document::text;

impl Workbench {
    pub(crate) async fn storage_use(self: &Arc<Self>, request: UseStorage) -> Result<StorageInfo, Problem> {
        if self.database.is_of_program() {
            return Err(Problem::new(
                "chosen-by-program",
                text!("The database was chosen when the program was started, with --db."),
            )
            .remedy(text!("Start it without --db to choose one here.")));
        }
        let _changing = self.database.changing().await;
        let chosen = self.database.open_chosen(request.url.as_deref()).await?;
        {
            // Nothing begins between the look at the runs and the change.
            let idle = self.runs.idle().filter(|_| !self.what_ifs.any()).ok_or_else(|| {
                Problem::new(
                    "busy",
                    text!("A thread is running, and goes on writing to the database it began with."),
                )
                .remedy(text!("Wait until it stops, or stop it first."))
            })?;
            self.database.use_chosen(chosen)?;
            self.reembedding.stop();
            // Graphs know the database that they were built for.
            self.graphs.built.clear();
            self.graphs.seen.clear();
            drop(idle);
        }
        self.give_key().await?;
        self.hub.publish(AppEvent::Storage);
        self.publish_inbox(None);
        self.storage_info(Empty {}).await
    }

    /// Gives the database in use the key of its encrypted values, where it is another program's: that of the environment, or
    /// the secret of the same name.
    pub(crate) async fn give_key(&self) -> Result<(), Problem> {
        let saver = self.saver();
        let Some(foreign) = saver.foreign() else {
            return Ok(());
        };
        let secrets = self.keys.named.clone();
        // A keychain may wait for a person.
        let key = blocking(move || secrets.variable(LANGGRAPH_KEY)).await?;
        foreign.set_key(key.as_deref());
        Ok(())
    }
}
