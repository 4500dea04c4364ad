//! Checkpoints by their step: an index that is brought up to date for many commits at once.
//!
//! An index of SQLite's own would change a page with every commit. Who looks for a step also looks at the few
//! checkpoints that were stored since (`epochs.stepped` is the last row that is in the table), so it finds all there are.

use rusqlite::{Connection, OptionalExtension};

/// Checkpoints after which those of a few namespaces are put into the table...
const FEW: i64 = 128;
/// ...and those of many, where each changes a page.
const MANY: i64 = 2048;
/// Namespaces that are few.
const NAMESPACES: usize = 8;

/// Checkpoints that were stored lately and may not be in the table.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// The last checkpoint.
    last: i64,
    /// Namespaces that have some, as far as they are few.
    spaces: Vec<i64>,
}

impl Tail {
    /// Records that a checkpoint was stored.
    pub(super) fn stored(&mut self, space: i64, seq: i64) {
        self.last = seq;
        if self.spaces.len() <= NAMESPACES && !self.spaces.contains(&space) {
            self.spaces.push(space);
        }
    }

    /// Returns whether the tail is long enough, when the table ends at this row.
    pub(super) fn is_due(&self, stepped: i64) -> bool {
        let few = self.spaces.len() <= NAMESPACES;
        self.last - stepped >= if few { FEW } else { MANY }
    }
}

/// Puts into the table what is not there; gives the row at which it ends then.
pub(super) fn fill(conn: &Connection) -> rusqlite::Result<Option<i64>> {
    let begins = "INSERT OR IGNORE INTO steps SELECT space, step, seq FROM checkpoints NOT INDEXED
                  WHERE seq > (SELECT stepped FROM epochs)";
    conn.prepare_cached(begins)?.execute([])?;
    let ends =
        "UPDATE epochs SET stepped = (SELECT coalesce(max(seq), 0) FROM checkpoints) RETURNING stepped";
    conn.prepare_cached(ends)?
        .query_row([], |row| row.get(0))
        .optional()
}

/// Counts the checkpoints that are missing in the table and its rows without a checkpoint, plus one if it claims to
/// have some that are yet to come.
pub(super) fn wrong(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row(
        "SELECT (SELECT count(*) FROM checkpoints c NOT INDEXED WHERE c.seq <= (SELECT stepped FROM epochs)
                 AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.space = c.space AND s.step = c.step AND s.seq = c.seq))
              + (SELECT count(*) FROM steps s WHERE NOT EXISTS
                 (SELECT 1 FROM checkpoints c WHERE c.seq = s.seq AND c.space = s.space AND c.step = s.step))
              + (SELECT count(*) FROM epochs WHERE stepped > (SELECT coalesce(max(seq), 0) FROM checkpoints))",
        [],
        |row| row.get(0),
    )
}

/// Rebuilds the table from nothing.
pub(super) fn refill(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch("DELETE FROM steps; UPDATE epochs SET stepped = 0")?;
    fill(conn).map(drop)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use superstep::checkpoint::{Checkpoint, CheckpointHead, Keep, ListQuery, Maintenance, Pruning};
    use superstep::{Checkpointer, MemorySaver, json};
    use superstep_suites::{Draft, id};

    use super::*;
    use crate::{SqliteOptions, SqliteSaver, Synchronous};

    fn number(file: &Path, sql: &str) -> i64 {
        let conn = Connection::open(file).expect("opens");
        conn.query_row(sql, [], |row| row.get(0)).expect("counts")
    }

    fn open(file: &Path) -> SqliteSaver {
        let options = SqliteOptions::default().synchronous(Synchronous::Normal);
        SqliteSaver::open_with(file, options).expect("opens")
    }

    /// Checks that both savers return the same for each step.
    async fn same(saver: &SqliteSaver, memory: &MemorySaver, when: &str) {
        for step in [-1, 0, 1, 40, 52, 90, 127, 128, 129, 250, 299, 300, 4000] {
            for thread in ["a", "many 3", "copy"] {
                let query = ListQuery::new()
                    .thread(thread)
                    .filter([("step", json!(step))].into_iter().collect());
                let ids =
                    |heads: Vec<CheckpointHead>| heads.into_iter().map(|head| head.id).collect::<Vec<_>>();
                let found = ids(saver.heads(&query).await.expect("finds"));
                let wanted = ids(memory.heads(&query).await.expect("finds"));
                assert_eq!(found, wanted, "{when}: step {step} of {thread}");
            }
        }
        let integrity = saver.verify(false).await.expect("checks");
        assert!(integrity.is_sound(), "{when}: {integrity:?}");
    }

    /// Stores this many checkpoints after one in both.
    async fn go_on(
        savers: &[&dyn Checkpointer],
        last: &Checkpoint,
        ids: std::ops::Range<u64>,
    ) -> Vec<Checkpoint> {
        let mut made = vec![last.clone()];
        for n in ids {
            let put = Draft::after(&made[made.len() - 1], id(n)).set("n", n).put();
            for saver in savers {
                saver
                    .commit(superstep::checkpoint::Commit {
                        claim: None,
                        thread: "a".into(),
                        ns: "".into(),
                        writes: Vec::new(),
                        put: Some(put.clone()),
                    })
                    .await
                    .expect("stores");
            }
            made.push(put.checkpoint);
        }
        made
    }

    #[tokio::test]
    async fn every_checkpoint_is_found_by_its_step_wherever_it_stands() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("steps.db");
        let (saver, memory) = (open(&file), MemorySaver::new());
        let both: [&dyn Checkpointer; 2] = [&saver, &memory];
        let mut root = None;
        for saver in both {
            let stored = Draft::root(id(1)).store(saver, "a", "").await;
            root = Some(stored.expect("stores"));
        }
        let root = root.expect("stored twice");
        let made = go_on(&both, &root, 10..310).await;
        // Other branches have the same steps once more, and other threads too.
        go_on(&both, &made[50], 400..480).await;
        go_on(&both, &made[51], 500..533).await;
        let table = "SELECT count(*) FROM steps";
        let few = number(&file, table);
        assert_eq!(few, 384, "of 414 that were stored");
        same(&saver, &memory, "grown").await;
        for n in 0..300 {
            for saver in both {
                let thread = format!("many {}", n % 20);
                Draft::root(id(n))
                    .store(saver, &thread, "")
                    .await
                    .expect("stores");
            }
        }
        assert_eq!(number(&file, table), few, "those of many wait for more");
        same(&saver, &memory, "many threads").await;
        for saver in both {
            saver
                .copy_thread(&"a".into(), &"copy".into())
                .await
                .expect("copies");
        }
        same(&saver, &memory, "copied").await;
        let last = &made[made.len() - 1];
        go_on(&both, last, 600..740).await;
        same(&saver, &memory, "one thread went on").await;
        // The last rows go, and their numbers are given again.
        for saver in both {
            saver
                .prune(&Pruning::threads(["a".into()], Keep::Newest(30)))
                .await
                .expect("prunes");
            saver.delete_thread(&"copy".into()).await.expect("deletes");
        }
        same(&saver, &memory, "pruned").await;
        assert!(number(&file, table) <= number(&file, "SELECT count(*) FROM checkpoints"));
        let last = memory
            .get(&"a".into(), "", None)
            .await
            .expect("reads")
            .expect("there")
            .checkpoint;
        go_on(&both, &last, 800..860).await;
        same(&saver, &memory, "gone on after that").await;
        for saver in both {
            saver
                .prune(&Pruning::threads(["a".into()], Keep::Nothing))
                .await
                .expect("prunes");
        }
        go_on(&both, &root, 900..1200).await;
        same(&saver, &memory, "started again").await;
        drop(saver);
        same(&open(&file), &memory, "opened again").await;
    }

    #[tokio::test]
    async fn programs_that_write_in_turns_keep_one_table() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("turns.db");
        let (one, two, memory) = (open(&file), open(&file), MemorySaver::new());
        let programs = [&one, &two];
        let root = Draft::root(id(1)).put().checkpoint;
        for (round, steps) in [(1, 260), (2, 100), (3, 200)] {
            let mut last = root.clone();
            for saver in [&one as &dyn Checkpointer, &memory] {
                last = Draft::root(id(1)).store(saver, "a", "").await.expect("stores");
            }
            for n in 0..steps {
                // Each alone stores too few to put them into the table when the other has just done so.
                let saver = programs[usize::try_from(n / 3 % 2).expect("small")];
                let ids = 1000 * round + n..1000 * round + n + 1;
                last = go_on(&[saver, &memory], &last, ids).await.remove(1);
            }
            let when = format!("round {round}");
            same(&one, &memory, &when).await;
            same(&two, &memory, &when).await;
            let filled = number(&file, "SELECT count(*) FROM steps") > 0;
            assert_eq!(filled, steps > 128, "{when}");
            // What one removes, the other counts with: it gives the numbers again.
            for saver in [
                programs[usize::try_from(round % 2).expect("small")] as &dyn Checkpointer,
                &memory,
            ] {
                let keep = if round == 2 {
                    Keep::Newest(20)
                } else {
                    Keep::Nothing
                };
                let pruning = Pruning::threads(["a".into()], keep);
                saver.prune(&pruning).await.expect("prunes");
            }
            same(&one, &memory, &when).await;
            assert!(
                number(&file, "SELECT stepped FROM epochs")
                    <= number(&file, "SELECT coalesce(max(seq), 0) FROM checkpoints"),
                "{when}"
            );
        }
    }
}
