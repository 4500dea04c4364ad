//! Deleting a thread with everything that is kept of it.

use std::sync::Arc;

use superstep::ThreadId;

use crate::Workbench;
use crate::wire::{AppEvent, DeleteThread, Empty, Problem};

impl Workbench {
    pub(crate) async fn thread_delete(self: &Arc<Self>, request: DeleteThread) -> Result<Empty, Problem> {
        let _slot = self.reserve_claimed(&request.thread_id, Vec::new())?;
        // Says so when there is no such thread.
        self.thread(&request.thread_id).await?;
        // What rows still store would bring the thread back.
        self.stop_what_ifs(&request.thread_id).await;
        let by = self.claim(&request.thread_id, request.take_over).await;
        superstep::checkpoint::delete_thread(
            &*self.saver(),
            &ThreadId::from(request.thread_id.as_str()),
            &by,
        )
        .await?;
        self.forget_thread(&request.thread_id)?;
        self.indexing.note_removed();
        self.publish_inbox(Some(&request.thread_id));
        self.hub.publish(AppEvent::ThreadDeleted {
            thread_id: request.thread_id,
        });
        Ok(Empty {})
    }
}
