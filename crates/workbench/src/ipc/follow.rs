//! What happens in the other programs of the data folder, for who listens here: they get it as if it happened here. When a
//! program cannot be followed any more, they see a gap, load again what they show, and see checkpoints as storage has them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::client::{Happened, Peer};
use super::message::storage_of;
use crate::Workbench;
use crate::base::blocking;
use crate::base::instance;
use crate::wire::{AppEvent, RunStatus};

/// A program that could not be followed is tried again after this time.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// Programs that are followed at once.
const MAX_FOLLOWED: usize = 32;

/// The programs that are followed.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    by_instance: Mutex<HashMap<String, State>>,
}

#[derive(Debug)]
enum State {
    Connecting,
    Open(Arc<Peer>),
    Refused(Instant),
}

impl Followed {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, State>> {
        self.by_instance.lock()
    }

    /// Returns a program that is followed.
    pub(crate) fn peer(&self, id: &str) -> Option<Arc<Peer>> {
        match self.lock().get(id) {
            Some(State::Open(peer)) => Some(peer.clone()),
            _ => None,
        }
    }

    /// Returns those of these sockets that are to be connected to now.
    fn begin(&self, sockets: Vec<(String, PathBuf)>) -> Vec<(String, PathBuf)> {
        let mut known = self.lock();
        known.retain(|id, state| {
            !matches!(state, State::Refused(at) if at.elapsed() >= AGAIN_AFTER)
                && (!matches!(state, State::Refused(_)) || sockets.iter().any(|(there, _)| there == id))
        });
        let mut begun = Vec::new();
        for (id, socket) in sockets {
            let open = known.values().filter(|state| !matches!(state, State::Refused(_)));
            if open.count() < MAX_FOLLOWED && !known.contains_key(&id) {
                known.insert(id.clone(), State::Connecting);
                begun.push((id, socket));
            }
        }
        begun
    }
}

/// Connects to the programs of the data folder that are not followed yet.
pub(crate) async fn follow(workbench: &Arc<Workbench>) {
    let this = workbench.clone();
    let sockets = blocking(move || {
        let mut sockets = instance::sockets(this.instance.data_dir());
        sockets.retain(|(id, _)| id != this.instance.id());
        sockets
    });
    for (id, socket) in workbench
        .programs
        .followed
        .begin(sockets.await.unwrap_or_default())
    {
        let (weak, stop) = (Arc::downgrade(workbench), workbench.jobs.ending.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = follow_one(&weak, &id, socket) => {}
            }
            if let Some(workbench) = weak.upgrade() {
                let refused = State::Refused(Instant::now());
                workbench.programs.followed.lock().insert(id.clone(), refused);
                workbench.lost_sight(&id);
            }
        });
    }
}

async fn follow_one(weak: &Weak<Workbench>, id: &str, socket: PathBuf) {
    let (peer, mut happens) = match Peer::connect(&socket).await {
        Ok(connected) => connected,
        Err(error) => return tracing::debug!(%error, "another program is not followed"),
    };
    let peer = Arc::new(peer);
    let same_threads = || weak.upgrade().filter(|this| this.has_threads_of(&peer));
    let Some(workbench) = same_threads() else { return };
    workbench
        .programs
        .followed
        .lock()
        .insert(id.to_owned(), State::Open(peer.clone()));
    drop(workbench);
    if peer.subscribe().await.is_err() {
        return;
    }
    let mut first = true;
    loop {
        // What came before the end of the connection is taken first.
        let (Some(happened), Some(workbench)) = (happens.recv().await, same_threads()) else {
            return;
        };
        if happened
            .events
            .iter()
            .any(|event| matches!(event, AppEvent::Storage))
        {
            return;
        }
        workbench.relay(id, &peer, happened, std::mem::take(&mut first));
    }
}

impl Workbench {
    /// Gives events of another program to who listens here.
    fn relay(&self, id: &str, peer: &Peer, happened: Happened, first: bool) {
        if happened.lost {
            self.hub.gap();
        }
        if first || happened.lost {
            // What happened before is read again, beside what runs now.
            self.hub.publish(AppEvent::Changed {
                threads: true,
                settings: false,
            });
            self.hub.repeat(id);
        }
        for mut event in happened.events {
            let program = || Some(peer.hello().program.clone());
            match &mut event {
                AppEvent::Run { run } => run.program = program(),
                AppEvent::Thread { thread } if thread.status == RunStatus::Running => {
                    thread.program = thread.program.take().or_else(program);
                }
                _ => {}
            }
            self.hub.relay(id, event);
        }
    }

    /// Stops following another program: what it ran is not known to run any more.
    fn lost_sight(&self, id: &str) {
        if self.hub.forget_all_of(id) {
            self.hub.gap();
            self.hub.publish(AppEvent::Changed {
                threads: true,
                settings: false,
            });
        }
    }

    fn has_threads_of(&self, peer: &Peer) -> bool {
        peer.hello().storage == storage_of(&self.database.place())
    }

    /// Returns the program of another instance, when it keeps its threads where this one does and answers.
    pub(crate) async fn peer(&self, id: &str) -> Option<Arc<Peer>> {
        let peer = match self.programs.followed.peer(id) {
            Some(peer) => peer,
            None => {
                let sockets = instance::sockets(self.instance.data_dir());
                let (_, socket) = sockets.into_iter().find(|(there, _)| there == id)?;
                Arc::new(Peer::connect(&socket).await.ok()?.0)
            }
        };
        self.has_threads_of(&peer).then_some(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_followed_up_to_a_number() {
        let sockets = (0..=MAX_FOLLOWED).map(|n| (n.to_string(), PathBuf::from(n.to_string())));
        let followed = Followed::default();
        assert_eq!(followed.begin(sockets.clone().collect()).len(), MAX_FOLLOWED);
        assert!(followed.begin(sockets.collect()).is_empty(), "nobody has left");
    }
}
