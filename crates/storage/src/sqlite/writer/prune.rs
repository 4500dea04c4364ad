//! Taking checkpoints out of a thread that goes on.
//!
//! A checkpoint builds on its parent and a list on its beginning, so whatever builds on something that goes is first
//! made to stand alone. Values that nothing refers to any more go too.

use super::*;

use crate::codec::pruning::{Looked, doomed};

/// Callback that receives how many more are done; its error ends the work.
pub(super) type Step<'a> = &'a dyn Fn(u64) -> Result<(), StorageError>;

/// Row number, that of the parent, depth, metadata, delta and id.
type CheckpointRow = (i64, Option<i64>, i64, i64, Vec<u8>, Option<IdColumn>);

impl Writer {
    pub(super) fn prune(&mut self, pruning: &Pruning, progress: &Progress) -> Result<Removal, SqliteFault> {
        let threads: Vec<ThreadId> = match &pruning.scope {
            Scope::Threads(threads, _) => Scope::distinct(threads),
            Scope::Runs(runs) => self.threads_of(runs)?,
        };
        let mut removal = Removal::default();
        self.planning = pruning.dry_run;
        self.prune_threads(pruning, &threads, &mut removal, progress)?;
        Ok(removal)
    }

    fn prune_threads(
        &mut self,
        pruning: &Pruning,
        threads: &[ThreadId],
        removal: &mut Removal,
        progress: &Progress,
    ) -> Result<(), SqliteFault> {
        let mut total = 0;
        for thread in threads {
            total += self.checkpoints_of(thread)?;
        }
        let done = Cell::new(0);
        // Each checkpoint is looked at, and those that go are removed.
        let step = |more: u64| {
            done.set(done.get() + more);
            progress.at(done.get() / 2, total)
        };
        let mut freed = 0;
        for thread in threads {
            let of_thread = self.checkpoints_of(thread)?;
            if of_thread > 0 && self.is_claimed(thread)? {
                removal.skipped.push(thread.clone());
                done.set(done.get() + 2 * of_thread);
                continue;
            }
            let until = done.get() + 2 * of_thread;
            step(0)?;
            let (mut gone, mut left) = (HashSet::new(), false);
            for (space, ns) in self.spaces_of(thread)? {
                let rows = self.rows(space)?;
                let doomed = doomed(pruning, thread, &ns, &rows, removal);
                left |= doomed.len() < rows.len();
                gone.extend(doomed.into_iter().copied());
            }
            removal.threads += u64::from(!left && !gone.is_empty());
            freed += if left {
                self.remove(thread, &gone, &step)?
            } else {
                // The short way, which works for damaged checkpoints too.
                self.delete(thread, &step)?
            };
            done.set(until);
        }
        freed += match self.planning {
            true => self.part_store.plan(&self.conn)?,
            false => self.part_store.settle(&self.conn)?,
        };
        removal.bytes = Some(freed);
        Ok(())
    }

    pub(super) fn checkpoints_of(&self, thread: &ThreadId) -> Result<u64, SqliteFault> {
        let sql = "SELECT count(*) FROM threads t JOIN spaces s ON s.thread = t.id
                   JOIN checkpoints c ON c.space = s.id WHERE t.name = ?1";
        let count: i64 = self
            .conn
            .prepare_cached(sql)?
            .query_row([thread.as_str()], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    fn threads_of(&self, runs: &[String]) -> Result<Vec<ThreadId>, SqliteFault> {
        let mut threads = BTreeSet::new();
        for run in runs {
            let mut statement = self.conn.prepare_cached(
                "SELECT DISTINCT t.name FROM metas m JOIN checkpoints c ON c.meta = m.id
                 JOIN spaces s ON s.id = c.space JOIN threads t ON t.id = s.thread
                 WHERE json_extract(m.json, '$[1].run_id') = ?1",
            )?;
            let mut rows = statement.query([run])?;
            while let Some(row) = rows.next()? {
                threads.insert(ThreadId::new(row.get::<_, String>(0)?));
            }
        }
        Ok(threads.into_iter().collect())
    }

    fn rows(&self, space: i64) -> Result<Vec<Looked<i64>>, SqliteFault> {
        let mut statement = self.conn.prepare_cached(
            "SELECT c.seq, c.id, CASE typeof(c.parent) WHEN 'integer' THEN p.id ELSE c.parent END,
             json_extract(m.json, '$[1].run_id')
             FROM checkpoints c LEFT JOIN checkpoints p ON p.seq = c.parent LEFT JOIN metas m ON m.id = c.meta
             WHERE c.space = ?1",
        )?;
        let rows = statement.query_map([space], |row| {
            Ok(Looked {
                key: row.get(0)?,
                id: CheckpointId::new(row.get::<_, IdColumn>(1)?.0),
                parent: row
                    .get::<_, Option<IdColumn>>(2)?
                    .map(|id| CheckpointId::new(id.0)),
                // A number or a list is no run.
                run: row.get_ref(3)?.as_str().ok().map(str::to_owned),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Removes these checkpoints of a thread; gives the bytes that their rows took. `step` is called when one more was
    /// looked at or removed, and may end it.
    pub(super) fn remove(
        &mut self,
        thread: &ThreadId,
        gone: &HashSet<i64>,
        step: Step<'_>,
    ) -> Result<u64, SqliteFault> {
        if gone.is_empty() {
            return Ok(0);
        }
        self.wrote = true;
        let (mut kept, mut lost) = (HashSet::new(), HashSet::new());
        let (mut kept_metas, mut lost_metas) = (HashSet::new(), HashSet::new());
        for (seq, parent, depth, meta, blob, id) in self.rows_of(thread)? {
            step(1)?;
            let decoded = Delta::decode(&blob);
            if gone.contains(&seq) {
                lost_metas.insert(meta);
                match decoded {
                    Ok(delta) => lost.extend(delta.channels.into_iter().map(|(.., item)| item)),
                    // It goes anyway; values that only this record knew stay behind, unreachable.
                    Err(cause) => tracing::warn!(%thread, cause, "a damaged checkpoint was deleted"),
                }
                continue;
            }
            kept_metas.insert(meta);
            let id = id.map_or_else(|| format!("in row {seq}"), |id| id.0);
            let place = format!("Checkpoint {id} of thread {thread}");
            let mut delta = decoded.map_err(|cause| SqliteFault::corrupt(&place, cause))?;
            if let Some(parent) = parent.filter(|parent| gone.contains(parent)) {
                if depth > 0 {
                    delta = self.whole(seq, &place)?;
                }
                if !self.planning {
                    self.conn
                        .prepare_cached(
                            "UPDATE checkpoints SET parent = (SELECT id FROM checkpoints WHERE seq = ?2),
                             depth = 0, weight = 0, delta = ?3 WHERE seq = ?1",
                        )?
                        .execute(params![seq, parent, delta.encode()])?;
                }
            }
            kept.extend(delta.channels.into_iter().map(|(.., item)| item));
        }
        self.add_bases(&mut kept)?;
        self.add_bases(&mut lost)?;
        let mut freed = self.drop_items(lost.difference(&kept), step)?;
        freed += self.drop_metas(lost_metas.difference(&kept_metas))?;
        freed += self.drop_checkpoints(gone, step)?;
        if self.planning {
            return Ok(freed);
        }
        self.drop_empty(thread)?;
        Ok(freed)
    }

    fn rows_of(&self, thread: &ThreadId) -> Result<Vec<CheckpointRow>, SqliteFault> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT c.seq, CASE typeof(c.parent) WHEN 'integer' THEN c.parent END, c.depth, c.meta, c.delta, c.id
                 FROM threads t JOIN spaces s ON s.thread = t.id JOIN checkpoints c ON c.space = s.id
                 WHERE t.name = ?1",
            )?
            .query_map([thread.as_str()], |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                    // One that is damaged must not keep its checkpoint from being removed.
                    row.get(5).ok(),
                ))
            })?
            .collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Removes namespaces without a checkpoint, and the thread without a namespace.
    fn drop_empty(&mut self, thread: &ThreadId) -> Result<(), SqliteFault> {
        for sql in [
            "DELETE FROM spaces WHERE thread = (SELECT id FROM threads WHERE name = ?1)
             AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE space = spaces.id)",
            "DELETE FROM threads WHERE name = ?1
             AND NOT EXISTS (SELECT 1 FROM spaces WHERE thread = threads.id)",
            "DELETE FROM claims WHERE thread = ?1 AND NOT EXISTS (SELECT 1 FROM threads WHERE name = ?1)",
        ] {
            self.conn.prepare_cached(sql)?.execute([thread.as_str()])?;
        }
        self.forget_threads();
        Ok(())
    }

    /// Builds the whole state of a checkpoint as one delta.
    pub(super) fn whole(&mut self, seq: i64, place: &str) -> Result<Delta, SqliteFault> {
        let state = self.view().state(seq, place)?;
        state.snapshot(|name| self.name(name))
    }

    /// Adds the rows that these build on.
    pub(super) fn add_bases(&self, items: &mut HashSet<i64>) -> Result<(), SqliteFault> {
        let mut open: Vec<i64> = items.iter().copied().collect();
        while let Some(item) = open.pop() {
            if let Some((_, Some(base), _)) = self.read_link(item)?
                && items.insert(base)
            {
                open.push(base);
            }
        }
        Ok(())
    }

    /// Returns the statement that looks at rows, or the one that removes them: a dry run only looks.
    fn dropping(&self, looks: &'static str, removes: &'static str) -> &'static str {
        if self.planning { looks } else { removes }
    }

    /// Removes value rows; what they refer to is released.
    pub(super) fn drop_items<'a>(
        &mut self,
        items: impl IntoIterator<Item = &'a i64>,
        step: Step<'_>,
    ) -> Result<u64, SqliteFault> {
        let mut freed = 0;
        let mut statement = self.conn.prepare_cached(self.dropping(
            "SELECT refs, length(data) FROM items WHERE id = ?1",
            "DELETE FROM items WHERE id = ?1 RETURNING refs, length(data)",
        ))?;
        for item in items {
            step(0)?;
            let gone: Option<(Option<Vec<u8>>, i64)> = statement
                .query_row([item], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((refs, bytes)) = gone else { continue };
            freed += bytes + ROW_BYTES;
            match read_refs(refs.as_deref()) {
                Ok(refs) => self.part_store.release(&refs),
                // It goes anyway; parts that only this row knew stay behind, unreachable.
                Err(cause) => tracing::warn!(item, cause, "a damaged value was deleted"),
            }
        }
        Ok(freed.unsigned_abs())
    }

    pub(super) fn drop_metas<'a>(
        &mut self,
        metas: impl IntoIterator<Item = &'a i64>,
    ) -> Result<u64, SqliteFault> {
        let mut freed = 0;
        let mut statement = self.conn.prepare_cached(self.dropping(
            "SELECT length(json) FROM metas WHERE id = ?1",
            "DELETE FROM metas WHERE id = ?1 RETURNING length(json)",
        ))?;
        for meta in metas {
            let gone: Option<i64> = statement.query_row([meta], |row| row.get(0)).optional()?;
            freed += gone.map_or(0, |bytes| bytes + ROW_BYTES);
        }
        Ok(freed.unsigned_abs())
    }

    /// Removes checkpoint rows with their writes; what the writes refer to is released.
    pub(super) fn drop_checkpoints(
        &mut self,
        seqs: &HashSet<i64>,
        step: Step<'_>,
    ) -> Result<u64, SqliteFault> {
        let mut freed = 0;
        let mut writes = self.conn.prepare_cached(self.dropping(
            "SELECT data FROM writes WHERE checkpoint = ?1",
            "DELETE FROM writes WHERE checkpoint = ?1 RETURNING data",
        ))?;
        let mut checkpoint = self.conn.prepare_cached(self.dropping(
            "SELECT length(delta) + coalesce(length(tasks), 0), space, step FROM checkpoints WHERE seq = ?1",
            "DELETE FROM checkpoints WHERE seq = ?1
             RETURNING length(delta) + coalesce(length(tasks), 0), space, step",
        ))?;
        let mut in_steps = self
            .conn
            .prepare_cached("DELETE FROM steps WHERE space = ?1 AND step = ?2 AND seq = ?3")?;
        for seq in seqs {
            step(1)?;
            let mut rows = writes.query([seq])?;
            while let Some(row) = rows.next()? {
                let data = row.get_ref(0)?.as_bytes().unwrap_or_default();
                freed += data.len() as i64 + ROW_BYTES;
                match refs_of_writes(data) {
                    Ok(refs) => self.part_store.release(&refs),
                    Err(cause) => {
                        tracing::warn!(seq, cause, "the damaged writes of a checkpoint were deleted")
                    }
                }
            }
            let gone: Option<(i64, Sql, Sql)> = checkpoint
                .query_row([seq], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()?;
            let Some((bytes, space, step)) = gone else {
                continue;
            };
            freed += bytes + CHECKPOINT_BYTES;
            // Without it an entry is left that stands for no checkpoint, and nobody finds it.
            if !self.planning && self.has_steps.get() {
                let gone = in_steps.execute(params![space, step, seq]);
                gone.map_err(|error| self.without_steps(error))?;
            }
        }
        Ok(freed.unsigned_abs())
    }
}
