//! What a line does between turns: it goes back in time, forks, edits, prunes, copies and deletes.

use superstep::checkpoint::{Keep, ListQuery, Pruning, reserved};
use superstep::run::StateRef;
use superstep::{Checkpointer, RunError, StateUpdate, ThreadId, json};

use super::{Line, Trouble};
use crate::witness::Note;

impl Line<'_> {
    pub(super) async fn between_turns(&self) -> Result<(), Trouble> {
        let what = self.random().below(12);
        match what {
            0 | 1 => self.back_in_time().await,
            2 => self.fork().await,
            3 => self.edit().await,
            4 => Ok(self.prune(1).await?),
            5 | 6 => Ok(self.prune(15).await?),
            7 => self.copy().await,
            _ => Ok(()),
        }
    }

    /// Returns a random checkpoint of the past that has something to run.
    async fn past(&self) -> Result<Option<StateRef>, Trouble> {
        let query = ListQuery::new().thread(self.thread.clone()).ns("").limit(20);
        let heads = self.graph_saver().heads(&query).await?;
        let open: Vec<_> = heads.iter().filter(|head| !head.next.is_empty()).collect();
        if open.is_empty() {
            return Ok(None);
        }
        let chosen = self.random().below(open.len() as u64) as usize;
        Ok(Some(StateRef::at(self.thread.clone(), open[chosen].id.clone())))
    }

    fn graph_saver(&self) -> &dyn Checkpointer {
        &*self.lines.saver
    }

    async fn back_in_time(&self) -> Result<(), Trouble> {
        let Some(past) = self.past().await? else {
            return Ok(());
        };
        self.replay(past.checkpoint_id).await
    }

    async fn fork(&self) -> Result<(), Trouble> {
        let Some(past) = self.past().await? else {
            return Ok(());
        };
        let copy = StateUpdate {
            as_node: Some(reserved::COPY.into()),
            ..StateUpdate::default()
        };
        self.graph.update_state(&past, copy).await?;
        Ok(())
    }

    async fn edit(&self) -> Result<(), Trouble> {
        let edit = StateUpdate {
            values: json!({"log": ["edit"]}),
            as_node: Some("close".into()),
            ..StateUpdate::default()
        };
        self.graph
            .update_state(&StateRef::live(self.thread.clone()), edit)
            .await?;
        Ok(())
    }

    pub(super) async fn prune(&self, newest: usize) -> Result<(), RunError> {
        let thread = || self.thread.clone();
        self.lines.journal.note(&Note::Pruning {
            thread: thread(),
            newest,
        });
        self.graph
            .prune(&Pruning::threads([thread()], Keep::Newest(newest)))
            .await?;
        self.lines.journal.note(&Note::Pruned { thread: thread() });
        Ok(())
    }

    async fn copy(&self) -> Result<(), Trouble> {
        let to = ThreadId::from(format!("copy of {}", self.thread));
        self.graph.delete_thread(&to).await?;
        if self.percent(80) {
            self.graph.copy_thread(&self.thread, &to).await?;
        }
        Ok(())
    }
}
