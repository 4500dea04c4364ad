//! This process as the holder of claims on threads.

use superstep::{ClaimRequest, Holder, TakeOver, ThreadId};
use superstep_workbench::Instance;

use crate::place::{Store, data_dir};

/// How a person calls this program.
pub(crate) const PROGRAM: &str = "the superstep command";

/// Says that this process is alive: a claim of one that died keeps nobody waiting. It says so in the data folder, or among
/// temporary files where there is none: a command on another database makes none.
pub(crate) fn presence() -> Option<Instance> {
    let data = data_dir().ok().filter(|dir| dir.is_dir());
    let user = std::env::var("USER").or_else(|_| std::env::var("USERNAME"));
    let temporary = || std::env::temp_dir().join(format!("superstep-{}", user.unwrap_or_default()));
    Instance::enter(&data.unwrap_or_else(temporary)).ok()
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
