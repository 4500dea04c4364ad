//! What tasks wrote: short writes go into the row of their checkpoint, the others into a row for each task.
//!
//! A commit pays for each page that it changes. The row of the checkpoint that a task belongs to lies on the page on
//! which the next checkpoint is stored, so what stands there costs nothing; a row of its own changes two more pages, one
//! of the table and one of its index.

use super::values::one;
use super::*;

/// Bytes of all writes of a checkpoint that stand in its row.
const SHORT: usize = 512;
/// Bytes of a checkpoint's delta up to which they do: a long row would be rewritten for each task.
const ROOM: usize = 1024;
/// Tasks with rows of their own that are remembered for a checkpoint; for more, the table is asked.
const REMEMBERED: usize = 64;

/// Known state of the writes of a checkpoint.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Those in its row.
    short: Tasks,
    /// May there be any?
    room: bool,
    /// The tasks that have a row of their own, if that is known.
    rows: Option<Vec<TaskId>>,
}

impl Written {
    /// Creates the state of a checkpoint that was just stored with a delta of this many bytes.
    pub(super) fn nothing(delta: usize) -> Self {
        Self {
            short: Tasks::default(),
            room: delta <= ROOM,
            rows: Some(Vec::new()),
        }
    }

    /// Finds the location of the short writes of a task, and their content.
    fn find(&self, task: &TaskId) -> Option<(Place, &[u8])> {
        let position = self.short.0.iter().position(|(id, ..)| id == task)?;
        Some((Place::Short(position), &self.short.0[position].2))
    }

    /// Puts writes of a task into the row of the checkpoint, if they may stand there; returns the new content of the
    /// row.
    fn take_in(&mut self, task: &TaskWrites, joined: Joined, at: Place) -> Result<Vec<u8>, Long> {
        let Joined { status, refers, data } = joined;
        let (position, moves) = match at {
            Place::Short(position) => {
                self.short.0[position].2 = data;
                (position, true)
            }
            _ => {
                let entry = (task.task_id.clone(), task.task_path.clone(), data);
                self.short.0.push(entry);
                (self.short.0.len() - 1, false)
            }
        };
        // Lists look for what asks or has failed in rows only, and so does who counts references.
        let may = self.room && status == 0 && !refers && self.short.fits(SHORT);
        let blob = may
            .then(|| self.short.encode())
            .filter(|blob| blob.len() <= SHORT);
        blob.ok_or_else(|| {
            let (task, path, data) = self.short.0.remove(position);
            let rest = || Some(self.short.encode()).filter(|blob| !blob.is_empty());
            Long {
                task,
                path,
                status,
                data,
                rest: moves.then(rest),
            }
        })
    }
}

/// Writes that a checkpoint is stored with.
pub(super) struct Early {
    pub(super) written: Written,
    /// What its row holds.
    pub(super) blob: Option<Vec<u8>>,
    /// What is too long for that.
    pub(super) long: Option<Long>,
    /// Tasks that are in one or the other.
    pub(super) tasks: usize,
}

/// All that a task wrote.
struct Joined {
    status: i64,
    /// Some of it refers to shared parts.
    refers: bool,
    data: Vec<u8>,
}

/// Writes of a task to be stored in a row of their own.
pub(super) struct Long {
    task: TaskId,
    path: Name,
    status: i64,
    data: Vec<u8>,
    /// It stood in the row of the checkpoint, which has this now.
    rest: Option<Option<Vec<u8>>>,
}

/// Location of the writes that a task already has.
enum Place {
    Nowhere,
    /// In the row of the checkpoint, at this position.
    Short(usize),
    Row(i64),
}

impl Writer {
    /// Returns the known writes of a checkpoint, or reads them from its row.
    fn written(&mut self, seq: i64, place: impl Fn() -> String) -> Result<Written, SqliteFault> {
        if let Some(written) = self.written.remove(&seq) {
            return Ok(written);
        }
        let (blob, delta): (Option<Vec<u8>>, i64) = self
            .conn
            .prepare_cached("SELECT tasks, length(delta) FROM checkpoints WHERE seq = ?1")?
            .query_row([seq], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let short =
            Tasks::decode(&blob.unwrap_or_default()).map_err(|cause| SqliteFault::corrupt(place(), cause))?;
        Ok(Written {
            short,
            room: delta <= ROOM as i64,
            rows: None,
        })
    }

    pub(super) fn write(
        &mut self,
        seq: i64,
        thread: &ThreadId,
        task: &TaskWrites,
    ) -> Result<(), SqliteFault> {
        let stored = || format!("The stored writes of task {} of thread {thread}", task.task_id);
        let damaged = |cause: String| SqliteFault::corrupt(stored(), cause);
        let known = self.written.contains_key(&seq);
        let mut written = self.written(seq, stored)?;
        let (at, rows) = self.stored_writes(seq, &task.task_id, &written, damaged)?;
        let joined = self.join(thread, task, rows)?;
        self.wrote = true;
        match at {
            Place::Row(row) => drop(
                self.conn
                    .prepare_cached("UPDATE writes SET status = ?2, data = ?3 WHERE id = ?1")?
                    .execute(params![row, joined.status, joined.data])?,
            ),
            Place::Short(_) | Place::Nowhere => match written.take_in(task, joined, at) {
                Ok(blob) => self.set_short(seq, Some(blob))?,
                Err(long) => self.own_row(seq, &mut written, long)?,
            },
        }
        if known {
            self.written.insert(seq, written);
        }
        Ok(())
    }

    /// Prepares the writes for the row of a checkpoint that is about to be stored. Where a task needs a row of its own,
    /// those after it wait until there is a checkpoint.
    pub(super) fn write_early(
        &mut self,
        thread: &ThreadId,
        delta: usize,
        tasks: &[&TaskWrites],
    ) -> Result<Early, SqliteFault> {
        let mut early = Early {
            written: Written::nothing(delta),
            blob: None,
            long: None,
            tasks: 0,
        };
        for task in tasks {
            let written = &mut early.written;
            let (at, rows) = match written.find(&task.task_id) {
                Some((at, rows)) => (
                    at,
                    Rows::decode(rows).map_err(|cause| SqliteFault::corrupt("a task".to_owned(), cause))?,
                ),
                None => (Place::Nowhere, Rows::default()),
            };
            let joined = self.join(thread, task, rows)?;
            early.tasks += 1;
            match written.take_in(task, joined, at) {
                Ok(blob) => early.blob = Some(blob),
                Err(mut long) => {
                    if let Some(rest) = long.rest.take() {
                        early.blob = rest;
                    }
                    early.long = Some(long);
                    break;
                }
            }
        }
        Ok(early)
    }

    /// Joins the stored writes of a task with those that it made now.
    fn join(&mut self, thread: &ThreadId, task: &TaskWrites, mut rows: Rows) -> Result<Joined, SqliteFault> {
        let place = || format!("a write of task {}", task.task_id);
        let stored = || format!("The stored writes of task {} of thread {thread}", task.task_id);
        for write in &task.writes {
            let there = rows.0.iter().find(|(idx, ..)| *idx == write.idx);
            match there {
                Some(_) if write.idx >= 0 => continue,
                Some((.., old)) => {
                    let old = split(old).map_err(|cause| SqliteFault::corrupt(stored(), cause))?;
                    self.part_store.release(&old.0);
                }
                None => {}
            }
            let channel = self.name(&write.channel)?;
            let encoded = self.encode(one(&write.value), place, thread)?;
            rows.add(write.idx, channel, encoded.into_bytes());
        }
        Ok(Joined {
            status: self.status(&task.task_id, &rows)?,
            refers: rows.0.iter().any(|(.., data)| refers(data)),
            data: rows.encode(),
        })
    }

    /// Stores what a task wrote in a row of its own.
    pub(super) fn own_row(&mut self, seq: i64, written: &mut Written, long: Long) -> Result<(), SqliteFault> {
        if let Some(rest) = long.rest {
            self.set_short(seq, rest)?;
        }
        let id = id_column(long.task.as_str());
        self.conn
            .prepare_cached(
                "INSERT INTO writes (checkpoint, task, path, status, data) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![seq, id, &*long.path, long.status, long.data])?;
        match &mut written.rows {
            Some(tasks) if tasks.len() < REMEMBERED => tasks.push(long.task),
            rows => *rows = None,
        }
        Ok(())
    }

    fn set_short(&self, seq: i64, blob: Option<Vec<u8>>) -> Result<(), SqliteFault> {
        self.conn
            .prepare_cached("UPDATE checkpoints SET tasks = ?2 WHERE seq = ?1")?
            .execute(params![seq, blob])?;
        Ok(())
    }

    /// Returns the stored writes of a task, and their location.
    fn stored_writes(
        &self,
        seq: i64,
        task: &TaskId,
        written: &Written,
        damaged: impl Fn(String) -> SqliteFault,
    ) -> Result<(Place, Rows), SqliteFault> {
        if let Some((place, rows)) = written.find(task) {
            return Ok((place, Rows::decode(rows).map_err(damaged)?));
        }
        if written.rows.as_ref().is_some_and(|tasks| !tasks.contains(task)) {
            return Ok((Place::Nowhere, Rows::default()));
        }
        let stored: Option<(i64, Vec<u8>)> = self
            .conn
            .prepare_cached("SELECT id, data FROM writes WHERE checkpoint = ?1 AND task = ?2")?
            .query_row(params![seq, id_column(task.as_str())], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        match stored {
            Some((row, blob)) => Ok((Place::Row(row), Rows::decode(&blob).map_err(damaged)?)),
            None => Ok((Place::Nowhere, Rows::default())),
        }
    }

    fn status(&mut self, task: &TaskId, rows: &Rows) -> Result<i64, SqliteFault> {
        let channels: Vec<Name> = rows
            .0
            .iter()
            .map(|(_, channel, _)| self.names.name(&self.conn, *channel))
            .collect::<Result<_, _>>()?;
        let status = TaskStatus::of(task, channels.iter().map(|name| &**name));
        Ok(i64::from(status.interrupted) | i64::from(status.failed) << 1)
    }
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "a test tells one story")]
mod tests {
    use rusqlite::Connection;
    use superstep::checkpoint::{Commit, Keep, Maintenance, Pruning, TaskWrites, Write, reserved};
    use superstep::{Checkpointer, MemorySaver, json};
    use superstep_suites::{Draft, id};

    use crate::SqliteSaver;

    #[tokio::test]
    async fn writes_stand_in_the_row_of_their_checkpoint_as_long_as_they_are_short() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("tasks.db");
        let memory = MemorySaver::new();
        let root = Draft::root(id(1)).set("x", 1).put();
        let wide = Draft::root(id(2)).set("x", "0123456789".repeat(9));
        let wide = (0..20).fold(wide, |wide, n| wide.set(&format!("k{n}"), "0123456789".repeat(9)));
        let wide = wide.put();
        let first = |put| Commit {
            claim: None,
            thread: "t".into(),
            ns: "".into(),
            writes: Vec::new(),
            put: Some(put),
        };
        let (none, text) = (json!(null), json!("text ".repeat(5)));
        let long: superstep::Value = (0..400).collect::<Vec<i32>>().into();
        // Whose writes, the checkpoint they are of, and how many tasks have a row of their own then.
        let steps = [
            ("a", 1, 0, "x", &none, 0),
            ("b", 1, 0, "x", &text, 0),
            ("a", 1, 1, "y", &text, 0),
            ("a", 1, 1, "y", &none, 0),
            ("b", 1, 7, "y", &long, 1),
            ("b", 1, 8, "y", &none, 1),
            ("c", 1, -3, reserved::INTERRUPT, &text, 2),
            ("c", 1, 0, "x", &text, 2),
            ("a", 1, 2, "x", &json!("a part of its own ".repeat(60)), 3),
            ("d", 1, -4, reserved::RESUME, &none, 3),
            ("d", 1, -4, reserved::RESUME, &text, 3),
            ("d", 1, -1, reserved::ERROR, &text, 4),
            ("e", 1, 0, "x", &none, 4),
            ("wide", 2, 0, "x", &none, 5),
        ];
        for again in [false, true] {
            let mut saver = SqliteSaver::open(&file).expect("opens");
            for put in [&root, &wide] {
                saver.commit(first(put.clone())).await.expect("stores");
                memory.commit(first(put.clone())).await.expect("stores");
            }
            for (n, (task, of, idx, channel, value, rows)) in steps.iter().enumerate() {
                let commit = Commit {
                    claim: None,
                    put: None,
                    writes: vec![TaskWrites {
                        checkpoint_id: id(*of),
                        task_id: (*task).into(),
                        task_path: format!("path {task} {again}").as_str().into(),
                        writes: vec![Write {
                            idx: *idx,
                            channel: (*channel).into(),
                            value: (*value).clone(),
                        }],
                    }],
                    ..first(root.clone())
                };
                if n % 3 == 0 {
                    // What is known of a checkpoint is read again.
                    drop(saver);
                    saver = SqliteSaver::open(&file).expect("opens");
                }
                saver.commit(commit.clone()).await.expect("stores");
                memory.commit(commit).await.expect("stores");
                let conn = Connection::open(&file).expect("opens");
                let found: i64 = conn
                    .query_row("SELECT count(*) FROM writes", [], |row| row.get(0))
                    .expect("counts");
                let wanted = if again { 5 } else { *rows };
                assert_eq!(found, wanted, "after {n} {task}");
                for of in [1, 2] {
                    let found = saver
                        .get(&"t".into(), "", Some(&id(of)))
                        .await
                        .expect("reads")
                        .expect("there");
                    let wanted = memory
                        .get(&"t".into(), "", Some(&id(of)))
                        .await
                        .expect("reads")
                        .expect("there");
                    assert_eq!(found.pending_writes, wanted.pending_writes, "after {n} {task}");
                }
            }
            assert!(saver.verify(false).await.expect("checks").is_sound());
        }
        let saver = SqliteSaver::open(&file).expect("opens");
        for saver in [&saver as &dyn Checkpointer, &memory] {
            saver.copy_thread(&"t".into(), &"u".into()).await.expect("copies");
            saver
                .prune(&Pruning::threads(["t".into()], Keep::Nothing))
                .await
                .expect("prunes");
        }
        let found = saver.list(&Default::default()).await.expect("reads");
        assert_eq!(found, memory.list(&Default::default()).await.expect("reads"));
        assert!(saver.verify(false).await.expect("checks").is_sound());
        let breakdown = saver.breakdown(&"u".into()).await.expect("measures");
        assert_eq!(breakdown.checkpoints.len(), 2);
    }

    /// Returns the contents of the rows: what tasks wrote beside their checkpoints, and in rows of their own.
    fn stored(file: &std::path::Path) -> Vec<String> {
        let conn = Connection::open(file).expect("opens");
        let mut read = conn
            .prepare(
                "SELECT c.step || ' ' || hex(c.tasks) FROM checkpoints c UNION ALL
                 SELECT w.checkpoint || ' ' || hex(w.task) || w.path || w.status || hex(w.data) FROM writes w",
            )
            .expect("reads");
        let rows = read
            .query_map([], |row| row.get::<_, Option<String>>(0))
            .expect("reads");
        let mut rows: Vec<String> = rows.map(|row| row.expect("reads").unwrap_or_default()).collect();
        rows.sort();
        rows
    }

    #[tokio::test]
    async fn what_is_stored_together_stands_as_what_is_stored_one_by_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let values = [
            json!(null),
            json!("text ".repeat(12)),
            json!("a text of some length ".repeat(30)),
            json!("a part of its own ".repeat(900)),
        ];
        let mut in_rows = 0;
        for seed in 0..40_u64 {
            let files = ["one", "all"].map(|name| folder.path().join(format!("{name} {seed}.db")));
            let [one, all] = [0, 1].map(|n| SqliteSaver::open(&files[n]).expect("opens"));
            let memory = MemorySaver::new();
            let mut state = seed + 1;
            let mut below = |limit: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % limit
            };
            let mut last = Draft::root(id(1)).put();
            let mut commits = vec![Commit {
                claim: None,
                thread: "t".into(),
                ns: "".into(),
                writes: Vec::new(),
                put: Some(last.clone()),
            }];
            for n in 2..40 {
                let writes = (0..below(4)).map(|_| {
                    let (idx, channel) = match below(9) {
                        0 => (-3, reserved::INTERRUPT),
                        1 => (-1, reserved::ERROR),
                        idx => (idx as i32, "x"),
                    };
                    TaskWrites {
                        checkpoint_id: last.checkpoint.id.clone(),
                        task_id: format!("task {}", below(3)).as_str().into(),
                        task_path: "path".into(),
                        writes: vec![Write {
                            idx,
                            channel: channel.into(),
                            value: values[(below(40) as usize).saturating_sub(30).min(3)].clone(),
                        }],
                    }
                });
                let writes = writes.collect();
                let put = (below(3) > 0).then(|| Draft::after(&last.checkpoint, id(n)).set("x", n).put());
                last = put.clone().unwrap_or(last);
                commits.push(Commit {
                    claim: None,
                    thread: "t".into(),
                    ns: "".into(),
                    writes,
                    put,
                });
            }
            for commit in &commits {
                one.commit(commit.clone()).await.expect("stores");
                memory.commit(commit.clone()).await.expect("stores");
            }
            let half = commits.split_off(below(40) as usize);
            for commits in [commits, half] {
                all.commit_all(commits).await.expect("stores");
            }
            let wanted = memory.list(&Default::default()).await.expect("reads");
            for saver in [&one, &all] {
                assert_eq!(
                    saver.list(&Default::default()).await.expect("reads"),
                    wanted,
                    "seed {seed}"
                );
                assert!(
                    saver.verify(false).await.expect("checks").is_sound(),
                    "seed {seed}"
                );
            }
            let rows = stored(&files[0]);
            assert_eq!(stored(&files[1]), rows, "seed {seed}");
            in_rows += rows.len() - wanted.len();
        }
        assert!(in_rows > 100, "{in_rows} tasks had rows of their own");
    }

    #[tokio::test]
    async fn what_another_program_wrote_for_a_checkpoint_stays() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("tasks.db");
        let programs = [(); 2].map(|()| SqliteSaver::open(&file).expect("opens"));
        let memory = MemorySaver::new();
        let put = Draft::root(id(1)).put();
        for n in 0..60 {
            let write = |idx, value: superstep::Value| Write {
                idx,
                channel: "x".into(),
                value,
            };
            let task = TaskWrites {
                checkpoint_id: id(1),
                task_id: format!("task {}", n / 3).as_str().into(),
                task_path: "".into(),
                writes: vec![write(n % 4, n.into()), write(-4, format!("from {n}").into())],
            };
            let commit = Commit {
                claim: None,
                thread: "t".into(),
                ns: "".into(),
                writes: vec![task],
                // With its first writes, and once more with later ones.
                put: (n % 20 == 0).then(|| put.clone()),
            };
            let saver = &programs[usize::try_from(n % 2).expect("small")];
            saver.commit(commit.clone()).await.expect("stores");
            memory.commit(commit).await.expect("stores");
        }
        let all = Default::default();
        let wanted = memory.list(&all).await.expect("reads");
        for saver in &programs {
            assert_eq!(saver.list(&all).await.expect("reads"), wanted);
            assert!(saver.verify(false).await.expect("checks").is_sound());
        }
        let count = |sql| -> i64 {
            let conn = Connection::open(&file).expect("opens");
            conn.query_row(sql, [], |row| row.get(0)).expect("counts")
        };
        let rows = count("SELECT count(*) FROM writes");
        assert!(
            (1..20).contains(&rows),
            "{rows} of 20 tasks have rows of their own"
        );
        assert!(count("SELECT length(tasks) FROM checkpoints") <= 512);
    }
}
