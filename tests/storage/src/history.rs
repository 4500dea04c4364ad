//! Random histories of operations, done on a backend and on the model, and compared after each.
//!
//! What an operation is about is named by small numbers (the n-th thread, the n-th checkpoint made so far), so a
//! history stays meaningful when it is made shorter in the search for the smallest one that fails.

mod crossing;
mod making;
mod names;
mod operations;
mod values;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use futures::future::join_all;
use superstep::checkpoint::{
    Checkpoint, CheckpointAddress, Commit, Keep, ListQuery, Pruning, Put, Removal, Scope, StorageError,
    TaskId, TaskWrites, ThreadQuery, WaitingQuery, Write, write_index,
};
use superstep::value::Object;
use superstep::{CheckpointId, Checkpointer, Name, ThreadId, Value};
use superstep_suites::{Draft, id};

use making::{apply, put_of};
use names::{RUNS, TASK_CHANNELS, channel, run_name, space, thread};
pub use operations::{Change, Edit, Look, Made, Operation, Step, Task, Way, histories};
pub use values::{any_json, any_value};

use crate::model::Model;
use crate::place::Place;

/// Performs a history on an opened place and on the model. The error says where they differ.
pub async fn run(place: &Place, history: &[Operation]) -> Result<(), String> {
    let mut run = Run {
        place,
        saver: place.open().await.map_err(message)?,
        beside: None,
        model: Model::default(),
        made: Vec::new(),
        seen: BTreeSet::new(),
    };
    for (n, operation) in history.iter().enumerate() {
        run.step(operation)
            .await
            .map_err(|what| format!("after operation {n}: {what}"))?;
    }
    run.reopen().await?;
    run.compare_everything().await?;
    run.empty().await
}

struct Run<'a> {
    place: &'a Place,
    saver: Arc<dyn Checkpointer>,
    /// Another program on the same place, once there is one.
    beside: Option<Arc<dyn Checkpointer>>,
    model: Model,
    /// Every checkpoint made so far, oldest first, stored or not.
    made: Vec<Checkpoint>,
    /// Threads that were written to.
    seen: BTreeSet<ThreadId>,
}

fn message(error: StorageError) -> String {
    error.to_string()
}

/// Checks that both values are the same.
fn same<T: PartialEq + fmt::Debug>(what: &str, got: &T, want: &T) -> Result<(), String> {
    if got == want {
        Ok(())
    } else {
        same_text(what, got, want)
    }
}

/// Checks that both values print the same: objects keep the order of their keys.
fn same_text<T: fmt::Debug>(what: &str, got: &T, want: &T) -> Result<(), String> {
    let (shown, wanted) = (format!("{got:?}"), format!("{want:?}"));
    if shown == wanted {
        return Ok(());
    }
    let differs = shown
        .bytes()
        .zip(wanted.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let cut = |text: &str| {
        let start = text.floor_char_boundary(differs.saturating_sub(300));
        let end = text.floor_char_boundary((differs + 300).min(text.len()));
        text[start..end].to_owned()
    };
    Err(format!(
        "{what}: there is …{}…, there should be …{}…",
        cut(&shown),
        cut(&wanted)
    ))
}

impl Run<'_> {
    fn pick(&self, from_newest: u16) -> Option<&Checkpoint> {
        let count = self.made.len();
        (count > 0).then(|| &self.made[count - 1 - usize::from(from_newest) % count])
    }

    fn pick_id(&self, n: Option<u16>) -> Option<CheckpointId> {
        n.map(|n| self.pick(n).map_or_else(|| id(999), |found| found.id.clone()))
    }

    fn commit(&mut self, change: &Change) -> Commit {
        let (thread, ns) = (thread(change.thread), space(change.space));
        let put = change
            .put
            .as_ref()
            .map(|(made, edits)| self.put(&thread, &ns, made, edits));
        let writes = change
            .tasks
            .iter()
            .filter_map(|task| self.task(task, put.as_ref()))
            .collect();
        if let Some(put) = &put
            && !self.made.iter().any(|made| made.id == put.checkpoint.id)
        {
            self.made.push(put.checkpoint.clone());
        }
        self.seen.insert(thread.clone());
        Commit {
            claim: None,
            thread,
            ns,
            writes,
            put,
        }
    }

    fn put(&self, thread: &ThreadId, ns: &Name, made: &Made, edits: &[Edit]) -> Put {
        let parent = match made {
            Made::Again(n, other) if !self.made.is_empty() => {
                let again = self.pick(*n).expect("there is one");
                let parent = self
                    .made
                    .iter()
                    .find(|made| Some(&made.id) == again.parent.as_ref());
                let mut put = put_of(parent, again.clone(), &[]);
                if *other && self.model.has(thread, ns, &again.id) {
                    // Nobody may see this: what is stored is never changed.
                    put.checkpoint
                        .channel_values
                        .insert("x".into(), "somebody else's".into());
                }
                return put;
            }
            Made::After(Some(n)) => self.pick(*n),
            _ => None,
        };
        let id = id(1000 + self.made.len() as u64);
        let draft = match parent {
            Some(parent) => Draft::after(parent, id),
            None => Draft::root(id),
        };
        // A channel that disappears and comes back in one step would have the version that it had before.
        let (forgets, others): (Vec<&Edit>, Vec<&Edit>) =
            edits.iter().partition(|edit| matches!(edit, Edit::Forget(_)));
        let draft = others.into_iter().chain(forgets).fold(draft, apply);
        put_of(parent, draft.put().checkpoint, edits)
    }

    fn task(&self, task: &Task, put: Option<&Put>) -> Option<TaskWrites> {
        let of = match (task.of, put) {
            (0, Some(put)) => put.checkpoint.id.clone(),
            (n, _) => self.pick(n)?.id.clone(),
        };
        let task_id = match task.task {
            0 => TaskId::null(),
            n => TaskId::new(format!("task {n}")),
        };
        let path = if task_id.is_null() {
            String::new()
        } else {
            format!("path {}", 9 - task.task)
        };
        let writes = task.writes.iter().enumerate().map(|(n, (channel, value))| {
            let channel: Name = TASK_CHANNELS[usize::from(*channel) % TASK_CHANNELS.len()].into();
            Write {
                idx: write_index(&channel, task.from + n),
                channel,
                value: value.clone(),
            }
        });
        Some(TaskWrites {
            checkpoint_id: of,
            task_id,
            task_path: path.into(),
            writes: writes.collect(),
        })
    }

    async fn step(&mut self, operation: &Operation) -> Result<(), String> {
        match operation {
            Operation::Commit(way, changes) => self.store(*way, changes).await?,
            Operation::Cross(lines) => self.cross(lines).await?,
            Operation::Delete(n) => {
                let thread = thread(*n);
                self.saver.delete_thread(&thread).await.map_err(message)?;
                self.model.delete(&thread);
            }
            Operation::Copy(from, to) => {
                let (from, to) = (thread(*from), thread(*to));
                self.saver.copy_thread(&from, &to).await.map_err(message)?;
                self.model.copy(&from, &to);
                self.seen.insert(to);
            }
            Operation::Prune {
                threads,
                keep,
                retain,
                dry_run,
            } => self.prune(threads, *keep, retain, *dry_run).await?,
            Operation::Reopen => self.reopen().await?,
            Operation::Look(look) => return self.look(look).await,
            Operation::Inspect => return self.inspect().await,
        }
        self.compare_waiting().await?;
        let all = ListQuery::default();
        same(
            "heads",
            &self.saver.heads(&all).await.map_err(message)?,
            &self.model.heads(&all),
        )
    }

    async fn compare_waiting(&self) -> Result<(), String> {
        let all = WaitingQuery::default();
        let found = self.saver.waiting(&all).await.map_err(message)?;
        same("questions that wait", &found, &self.model.waiting(&all))?;
        let count = self.saver.count_waiting().await.map_err(message)?;
        same("how many questions wait", &count, &self.model.count_waiting())
    }

    async fn store(&mut self, way: Way, changes: &[Change]) -> Result<(), String> {
        let mut commits = Vec::new();
        let mut expected = Vec::new();
        let before = self.model.clone();
        for change in changes {
            let commit = self.commit(change);
            expected.push(self.model.commit(&commit));
            commits.push(commit);
        }
        let outcomes = match way {
            Way::Awaited => {
                let mut outcomes = Vec::new();
                for commit in commits {
                    outcomes.push(self.saver.commit(commit).await);
                }
                outcomes
            }
            Way::Queued => {
                let queued: Vec<_> = commits
                    .into_iter()
                    .map(|commit| self.saver.commit(commit))
                    .collect();
                // Polled in another order than the calls, which is the one that counts.
                let mut outcomes = join_all(queued.into_iter().rev()).await;
                outcomes.reverse();
                outcomes
            }
            Way::Together => {
                let outcome = self.saver.commit_all(commits.clone()).await;
                if expected.iter().all(|accepted| *accepted) {
                    return outcome.map_err(message);
                }
                if outcome.is_ok() {
                    return Err("a commit that belongs to no checkpoint was accepted with others".to_owned());
                }
                return self.after_refusal(before, commits, &expected).await;
            }
        };
        let accepted: Vec<bool> = outcomes.iter().map(Result::is_ok).collect();
        let errors: Vec<String> = outcomes
            .into_iter()
            .filter_map(Result::err)
            .map(message)
            .collect();
        same(&format!("what was accepted ({errors:?})"), &accepted, &expected)
    }

    /// Checks what a refused commit left: nothing from that commit on may be stored; what came before it may be undone
    /// with it.
    async fn after_refusal(
        &mut self,
        before: Model,
        commits: Vec<Commit>,
        expected: &[bool],
    ) -> Result<(), String> {
        let all = ListQuery::default();
        let there = self.saver.list(&all).await.map_err(message)?;
        let first = expected.iter().position(|accepted| !accepted);
        self.model = before;
        for commit in commits.iter().take(first.unwrap_or(commits.len())) {
            if there == self.model.list(&all) {
                break;
            }
            self.model.commit(commit);
        }
        same("what a refused unit left", &there, &self.model.list(&all))
    }

    async fn prune(
        &mut self,
        threads: &[u8],
        keep: Option<Keep>,
        retain: &[u16],
        dry_run: bool,
    ) -> Result<(), String> {
        let scope = match keep {
            Some(keep) => Scope::Threads(threads.iter().map(|n| thread(*n)).collect(), keep),
            None => Scope::Runs(threads.iter().map(|n| run_name(*n).to_owned()).collect()),
        };
        let retain = retain.iter().filter_map(|n| Some(self.pick(*n)?.id.clone()));
        let mut pruning = Pruning::new(scope).retain(retain);
        pruning.dry_run = dry_run;
        let got = self.saver.prune(&pruning).await.map_err(message)?;
        let sorted = |mut removal: Removal| {
            removal.branches.sort();
            Removal {
                bytes: None,
                ..removal
            }
        };
        same(
            &format!("{pruning:?}"),
            &sorted(got),
            &sorted(self.model.prune(&pruning)),
        )
    }

    async fn reopen(&mut self) -> Result<(), String> {
        if self.place.backend.is_durable() {
            // The last handle goes before the next comes, for backends that only one may hold.
            self.beside = None;
            self.saver = Arc::new(superstep::MemorySaver::new());
            self.saver = self.place.open().await.map_err(message)?;
        }
        Ok(())
    }

    /// Opens the place as another program; returns the same checkpointer where only one program may open the place.
    async fn another(&mut self) -> Result<Arc<dyn Checkpointer>, String> {
        if !self.place.backend.is_shared() {
            return Ok(self.saver.clone());
        }
        if self.beside.is_none() {
            self.beside = Some(self.place.open().await.map_err(message)?);
        }
        Ok(self.beside.clone().unwrap_or_else(|| self.saver.clone()))
    }

    async fn look(&self, look: &Look) -> Result<(), String> {
        match look {
            Look::Get(t, s, n) => {
                let (thread, ns, id) = (thread(*t), space(*s), self.pick_id(*n));
                let got = self.saver.get(&thread, &ns, id.as_ref()).await.map_err(message)?;
                same("a checkpoint", &got, &self.model.get(&thread, &ns, id.as_ref()))
            }
            Look::Writes(t, s, n) => {
                let (thread, ns, id) = (thread(*t), space(*s), self.pick_id(Some(*n)));
                let Some(id) = id else { return Ok(()) };
                let wanted = self.model.writes(&thread, &ns, &id);
                let got = self.saver.writes_of(CheckpointAddress::new(thread, ns, id));
                same("what tasks wrote", &got.await.map_err(message)?, &wanted)
            }
            Look::Waiting {
                thread: t,
                after,
                page,
            } => {
                let after = after.and_then(|(n, t)| Some((self.pick(n)?.id.clone(), thread(t))));
                let mut query = WaitingQuery::new()
                    .thread(t.map(thread))
                    .after(after)
                    .limit(*page);
                loop {
                    let got = self.saver.waiting(&query).await.map_err(message)?;
                    same(&format!("{query:?}"), &got, &self.model.waiting(&query))?;
                    match got.into_iter().next_back() {
                        Some(last) => query.after = Some((last.checkpoint, last.thread)),
                        None => return Ok(()),
                    }
                }
            }
            Look::Values(t, s, n, keys) => {
                let (thread, ns, id) = (thread(*t), space(*s), self.pick_id(*n));
                let keys: Vec<Name> = keys.iter().map(|key| channel(*key).into()).collect();
                let got = self
                    .saver
                    .values(&thread, &ns, id.as_ref(), &keys)
                    .await
                    .map_err(message)?;
                let want = self.model.get(&thread, &ns, id.as_ref()).map(|tuple| {
                    let all = tuple.checkpoint.channel_values;
                    all.iter()
                        .filter(|(key, _)| keys.contains(key))
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect()
                });
                same("values", &got, &want)
            }
            Look::List {
                thread: t,
                space: s,
                before,
                filter,
                limit,
            } => {
                let mut query = ListQuery::new()
                    .before(self.pick_id(*before))
                    .filter(
                        filter
                            .iter()
                            .map(|(key, value)| self.filter(*key, value))
                            .collect(),
                    )
                    .limit(*limit);
                query.thread = t.map(thread);
                query.ns = s.map(space);
                let got = self.saver.list(&query).await.map_err(message)?;
                same(&format!("{query:?}"), &got, &self.model.list(&query))?;
                let got = self.saver.heads(&query).await.map_err(message)?;
                same(&format!("heads of {query:?}"), &got, &self.model.heads(&query))
            }
            Look::Threads {
                search,
                status,
                idle_since,
                page,
            } => {
                let mut query = ThreadQuery::new()
                    .search(search.map(str::to_owned))
                    .status(*status)
                    .idle_since(
                        idle_since.map(|n| superstep::run::iso8601(1_795_000_000_000 + u64::from(n) % 20)),
                    )
                    .limit(*page);
                let count = self.saver.count_threads(&query).await.map_err(message)?;
                let all = query.clone().limit(None);
                same(
                    "the count of threads",
                    &count,
                    &(self.model.threads(&all).len() as u64),
                )?;
                loop {
                    let got = self.saver.threads(&query).await.map_err(message)?;
                    same(&format!("{query:?}"), &got, &self.model.threads(&query))?;
                    match got.last() {
                        Some(last) => query.after = Some(last.place()),
                        None => return Ok(()),
                    }
                }
            }
        }
    }

    /// Returns an entry to filter by: one that a checkpoint has, or one that hardly any checkpoint has.
    fn filter(&self, key: u8, value: &Value) -> (&'static str, Value) {
        match key {
            0 => ("step", 3.into()),
            1 => ("source", "loop".into()),
            2 => ("run_id", RUNS[0].into()),
            3 => ("parents", Value::Object(Object::new())),
            4 => ("key 0", value.clone()),
            n => {
                let user = self.pick(u16::from(n)).map(|made| &made.metadata.user);
                (
                    "key 1",
                    user.and_then(|user| user.get("key 1").cloned())
                        .unwrap_or_default(),
                )
            }
        }
    }

    async fn inspect(&self) -> Result<(), String> {
        let spaces: BTreeSet<&ThreadId> = self.model.addresses().map(|(thread, ..)| thread).collect();
        let count = self.model.addresses().count() as u64;
        match self.saver.verify(false).await {
            Err(StorageError::Unsupported(_)) => {}
            found => {
                let found = found.map_err(message)?;
                same("damage", &found.damage, &Vec::new())?;
                same("threads checked", &found.threads, &(spaces.len() as u64))?;
                same("checkpoints checked", &found.checkpoints, &count)?;
            }
        }
        match self.saver.usage().await {
            Err(StorageError::Unsupported(_)) => {}
            usage => {
                let usage = usage.map_err(message)?;
                let measured: BTreeSet<&ThreadId> =
                    usage.threads.iter().map(|thread| &thread.thread).collect();
                same("threads measured", &measured, &spaces)?;
                let total: u64 = usage.threads.iter().map(|thread| thread.checkpoints).sum();
                same("checkpoints measured", &total, &count)?;
            }
        }
        for thread in spaces {
            let breakdown = match self.saver.breakdown(thread).await {
                Err(StorageError::Unsupported(_)) => return Ok(()),
                breakdown => breakdown.map_err(message)?,
            };
            let mut measured: Vec<_> = breakdown
                .checkpoints
                .iter()
                .map(|one| (one.ns.clone(), one.id.clone()))
                .collect();
            measured.sort();
            let own = self.model.addresses().filter(|(of, ..)| of == thread);
            let own: Vec<_> = own.map(|(_, ns, id)| (ns.clone(), id.clone())).collect();
            same("checkpoints in the breakdown", &measured, &own)?;
        }
        Ok(())
    }

    async fn compare_everything(&self) -> Result<(), String> {
        let all = ListQuery::default();
        same_text(
            "everything",
            &self.saver.list(&all).await.map_err(message)?,
            &self.model.list(&all),
        )?;
        self.compare_waiting().await?;
        for (thread, ns, id) in self.model.addresses() {
            let got = self.saver.get(thread, ns, Some(id)).await.map_err(message)?;
            same("one by one", &got, &self.model.get(thread, ns, Some(id)))?;
        }
        let (mut addresses, mut wanted) = (Vec::new(), Vec::new());
        for (thread, ns, id) in self.model.addresses() {
            addresses.push(CheckpointAddress::new(thread.clone(), ns.clone(), id.clone()));
            wanted.push(self.model.writes(thread, ns, id));
        }
        let got = self.saver.writes(&addresses).await.map_err(message)?;
        same_text("the writes of all", &got, &wanted)?;
        self.inspect().await
    }

    /// Deletes every thread and checks that nothing is left, which the next history relies on.
    async fn empty(&self) -> Result<(), String> {
        for thread in &self.seen {
            self.saver.delete_thread(thread).await.map_err(message)?;
        }
        same(
            "questions of nothing",
            &self.saver.count_waiting().await.map_err(message)?,
            &0,
        )?;
        same(
            "heads of nothing",
            &self.saver.heads(&ListQuery::default()).await.map_err(message)?,
            &Vec::new(),
        )?;
        same(
            "threads of nothing",
            &self
                .saver
                .threads(&ThreadQuery::default())
                .await
                .map_err(message)?,
            &Vec::new(),
        )
    }
}
