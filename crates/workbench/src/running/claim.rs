//! Who runs a thread, as other programs on the same database see it. A claim of a process of this data folder that is
//! dead keeps nobody waiting: what it was doing is over.

use std::collections::HashMap;
use std::path::Path;

use superstep::checkpoint::{ClaimRequest, ClaimView, Holder, StorageError, TakeOver};
use superstep::{Checkpointer, ThreadId};

use crate::Workbench;
use crate::base::instance::Instance;
use crate::wire::Problem;

impl Instance {
    /// Returns this process as a holder of claims; `program` is its name for people.
    pub fn holder(&self, program: &str) -> Holder {
        let host = host().map_or_else(String::new, |host| format!(" on {host}"));
        let name = format!("{program}{host}, process {}", std::process::id());
        Holder::new(format!("{}{}", self.prefix(), self.id()), name)
    }

    /// Creates a request to run, edit or delete a thread as its only runner.
    pub async fn claim(&self, saver: &dyn Checkpointer, thread: &ThreadId, program: &str) -> ClaimRequest {
        let mut request = ClaimRequest::by(self.holder(program));
        if let Some(coordination) = saver.coordination()
            // Where that cannot be read, the run says so.
            && let Ok(Some(held)) = coordination.claim(thread).await
            && held.is_live()
            && self.is_dead(&held)
        {
            request.take_over = TakeOver::Only(held.claim);
        }
        request
    }

    /// Returns whether the claim belongs to a running process other than this one.
    pub(crate) fn is_of_another(&self, held: &ClaimView) -> bool {
        held.is_live() && !self.is_dead(held)
    }

    /// Returns whether the holder is a process of this data folder that has ended. A claim of this process belongs to a
    /// run that has ended: it begins no second one on a thread.
    fn is_dead(&self, held: &ClaimView) -> bool {
        let id = held.holder.id.strip_prefix(&*self.prefix());
        id.is_some_and(|id| !self.is_other_alive(id))
    }
}

/// A program without a workbench as the holder of claims on threads.
#[derive(Debug)]
pub struct Claimant {
    /// Absent where no folder may be written to.
    instance: Option<Instance>,
    program: &'static str,
}

impl Claimant {
    /// Says that this process is alive, so that a claim of one that died keeps nobody waiting: in the data folder, or among
    /// temporary files where there is none. `program` is how a person calls it.
    pub fn enter(data_dir: Option<&Path>, program: &'static str) -> Self {
        let user = std::env::var("USER").or_else(|_| std::env::var("USERNAME"));
        let temporary = || std::env::temp_dir().join(format!("superstep-{}", user.unwrap_or_default()));
        let dir = data_dir.filter(|dir| dir.is_dir());
        Self {
            instance: Instance::enter(&dir.map_or_else(temporary, Path::to_owned)).ok(),
            program,
        }
    }

    /// Returns whether the claim belongs to a running process, as far as this one can know.
    pub fn is_held(&self, held: &ClaimView) -> bool {
        match &self.instance {
            Some(instance) => instance.is_of_another(held),
            None => held.is_live(),
        }
    }

    pub(crate) fn program(&self) -> &'static str {
        self.program
    }

    /// Creates a request to run, edit or delete a thread as its only runner.
    pub async fn claim(&self, saver: &dyn Checkpointer, thread: &ThreadId, take_over: bool) -> ClaimRequest {
        let mut request = match &self.instance {
            Some(instance) => instance.claim(saver, thread, self.program).await,
            None => {
                let name = format!("{}, process {}", self.program, std::process::id());
                ClaimRequest::by(Holder::new(uuid::Uuid::new_v4().simple().to_string(), name))
            }
        };
        if take_over {
            request.take_over = TakeOver::Always;
        }
        request
    }
}

/// How a person calls a workbench.
pub(crate) const PROGRAM: &str = "the Superstep app";

/// Returns the name of this machine.
fn host() -> Option<String> {
    let named = std::fs::read_to_string("/etc/hostname").ok();
    let named = named.or_else(|| std::env::var("COMPUTERNAME").ok())?;
    let name = named.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

impl Workbench {
    pub(crate) async fn claim(&self, thread: &str, take_over: bool) -> ClaimRequest {
        let mut request = self.instance.claim(&*self.saver(), &thread.into(), PROGRAM).await;
        if take_over {
            request.take_over = TakeOver::Always;
        }
        request
    }

    /// Creates a request to run a thread. While somebody else runs it, it is refused before anything of the run is
    /// recorded.
    pub(crate) async fn claim_to_run(&self, thread: &str, take_over: bool) -> Result<ClaimRequest, Problem> {
        let request = self.claim(thread, take_over).await;
        let saver = self.saver();
        if let Some(coordination) = saver.coordination()
            && request.take_over == TakeOver::Never
        {
            let thread = ThreadId::from(thread);
            let held = coordination.claim(&thread).await?;
            if let Some(held) = held.filter(ClaimView::is_live) {
                return Err(StorageError::busy(&thread, held).into());
            }
        }
        Ok(request)
    }
}

impl Workbench {
    /// Returns the other programs that run some of these threads, with their names for people: by their claims, so
    /// those of other data folders and machines too.
    pub(crate) async fn programs_of(&self, thread_ids: &[&str]) -> Result<HashMap<String, String>, Problem> {
        let saver = self.saver();
        let Some(coordination) = saver.coordination().filter(|_| !thread_ids.is_empty()) else {
            return Ok(HashMap::new());
        };
        let ids: Vec<ThreadId> = thread_ids.iter().map(|id| ThreadId::from(*id)).collect();
        let claims = coordination.claims(&ids).await;
        let mut programs = HashMap::new();
        for (thread, held) in claims? {
            if self.instance.is_of_another(&held) {
                self.programs.changes.look_after(held.remaining);
                programs.insert(thread.to_string(), held.holder.name.to_string());
            }
        }
        Ok(programs)
    }
}

#[cfg(test)]
mod tests {
    use superstep::MemorySaver;
    use superstep::checkpoint::{ClaimUse, Commit};

    use super::*;

    #[tokio::test]
    async fn the_claim_of_a_process_that_died_is_taken_over_and_no_other() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let one = Instance::enter(dir.path()).unwrap();
        let two = Instance::enter(dir.path()).unwrap();
        let stranger = Instance::enter(elsewhere.path()).unwrap();
        let (saver, thread) = (MemorySaver::new(), ThreadId::from("t"));
        let shown = ClaimUse {
            ends: false,
            ..one.claim(&saver, &thread, "one").await.change()
        };
        let commit = Commit {
            thread: thread.clone(),
            ns: "".into(),
            writes: Vec::new(),
            put: None,
            claim: Some(shown.clone()),
        };
        saver.commit(commit).await.unwrap();
        let asked = two.claim(&saver, &thread, "two").await;
        assert_eq!(asked.take_over, TakeOver::Never, "the holder is alive");
        assert!(asked.holder.name.starts_with("two"), "{:?}", asked.holder);
        drop(one);
        let asked = two.claim(&saver, &thread, "two").await;
        assert_eq!(asked.take_over, TakeOver::Only(shown.claim));
        let asked = stranger.claim(&saver, &thread, "three").await;
        assert_eq!(
            asked.take_over,
            TakeOver::Never,
            "another folder cannot know that it is dead"
        );
    }
}
