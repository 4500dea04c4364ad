//! This process as the holder of claims on threads.

use superstep::{ClaimRequest, Holder, TakeOver, ThreadId};
use superstep_workbench::Instance;

use crate::place::{Store, data_dir};

const PROGRAM: &str = "the superstep command";

/// Says that this process uses the data folder, where there is one: a claim of a process that died keeps nobody waiting.
pub(crate) fn presence() -> Option<Instance> {
    Instance::enter(&data_dir().ok()?).ok()
}

/// A request to run, edit or delete a thread as its only runner.
pub(crate) async fn claim(
    presence: &Option<Instance>,
    store: &Store,
    thread: &ThreadId,
    take_over: bool,
) -> ClaimRequest {
    let mut request = match presence {
        Some(presence) => presence.claim(&*store.saver, thread, PROGRAM).await,
        None => {
            let name = format!("{PROGRAM}, process {}", std::process::id());
            ClaimRequest::by(Holder::new(uuid::Uuid::new_v4().simple().to_string(), name))
        }
    };
    if take_over {
        request.take_over = TakeOver::Always;
    }
    request
}
