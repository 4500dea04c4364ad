//! Whole threads: deleted and copied.

use super::*;

/// A checkpoint's row as it is copied.
struct CopiedRow {
    id: IdColumn,
    parent: Sql,
    meta: i64,
    blob: Vec<u8>,
    depth: i64,
    weight: i64,
}

impl Writer {
    pub(super) fn spaces_of(&self, thread: &ThreadId) -> Result<Vec<(i64, Name)>, SqliteFault> {
        let mut statement = self.conn.prepare_cached(
            "SELECT s.id, s.ns FROM threads t JOIN spaces s ON s.thread = t.id WHERE t.name = ?1",
        )?;
        let spaces = statement.query_map([thread.as_str()], |row| {
            Ok((row.get(0)?, row.get::<_, String>(1)?.into()))
        })?;
        Ok(spaces.collect::<Result<_, _>>()?)
    }

    /// Removes a thread; gives the bytes that its rows took. Parts that nothing refers to then go when it is settled.
    pub(super) fn delete(&mut self, thread: &ThreadId, step: prune::Step<'_>) -> Result<u64, SqliteFault> {
        let spaces = self.spaces_of(thread)?;
        self.wrote = true;
        let (mut items, mut metas) = (HashSet::new(), HashSet::new());
        let mut freed = 0;
        for (space, _) in &spaces {
            let mut seqs = HashSet::new();
            let mut statement = self
                .conn
                .prepare_cached("SELECT seq, meta, delta FROM checkpoints WHERE space = ?1")?;
            let mut rows = statement.query([space])?;
            while let Some(row) = rows.next()? {
                seqs.insert(row.get::<_, i64>(0)?);
                metas.insert(row.get::<_, i64>(1)?);
                match Delta::decode(row.get_ref(2)?.as_blob().unwrap_or_default()) {
                    Ok(delta) => items.extend(delta.channels.into_iter().map(|(.., item)| item)),
                    // The thread goes anyway; values that only this record knew stay behind, unreachable.
                    Err(cause) => tracing::warn!(%thread, cause, "a damaged checkpoint was deleted"),
                }
            }
            drop(rows);
            drop(statement);
            freed += self.drop_checkpoints(&seqs, step)?;
            if !self.planning {
                self.conn
                    .prepare_cached("DELETE FROM spaces WHERE id = ?1")?
                    .execute([space])?;
            }
        }
        self.add_bases(&mut items)?;
        freed += self.drop_items(&items, step)?;
        freed += self.drop_metas(&metas)?;
        if self.planning {
            return Ok(freed);
        }
        self.conn
            .prepare_cached("DELETE FROM threads WHERE name = ?1")?
            .execute([thread.as_str()])?;
        self.drop_claim(thread)?;
        self.forget_threads();
        Ok(freed)
    }

    pub(super) fn copy(&mut self, from: &ThreadId, to: &ThreadId) -> Result<(), SqliteFault> {
        if from == to {
            return Ok(());
        }
        let mut copied = Copied::default();
        for (source, ns) in self.spaces_of(from)? {
            let target = match self.space(to, &ns)? {
                Some(target) => target,
                None => self.make_space(to, &ns)?,
            };
            self.copy_space(source, target, from, &mut copied)?;
            self.newest.remove(&target);
        }
        Ok(())
    }

    fn copy_space(
        &mut self,
        source: i64,
        target: i64,
        from: &ThreadId,
        copied: &mut Copied,
    ) -> Result<(), SqliteFault> {
        self.wrote = true;
        let seqs: Vec<i64> = self
            .conn
            .prepare_cached("SELECT seq FROM checkpoints WHERE space = ?1 ORDER BY seq")?
            .query_map([source], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        // Parents have smaller numbers than their children, so they are copied first.
        let mut new_seqs: BTreeMap<i64, i64> = BTreeMap::new();
        let mut stood = HashSet::new();
        for seq in seqs {
            let CopiedRow {
                id,
                parent,
                meta,
                blob,
                mut depth,
                mut weight,
            } = self.copied_row(seq)?;
            if let Some(there) = self.seq(target, &CheckpointId::new(id.0.as_str()))? {
                new_seqs.insert(seq, there);
                stood.insert(seq);
                continue;
            }
            let place = || format!("Checkpoint {} of thread {from}", id.0);
            let mut delta = Delta::decode(&blob).map_err(|cause| SqliteFault::corrupt(place(), cause))?;
            // What stood there before may differ under the same id: nothing is built on it.
            if depth > 0 && matches!(parent, Sql::Integer(parent) if stood.contains(&parent)) {
                delta = self.whole(seq, &place())?;
                (depth, weight) = (0, 0);
            }
            for (.., item) in &mut delta.channels {
                if *item != 0 {
                    *item = self.copy_item(*item, copied).map_err(|fault| match fault {
                        SqliteFault::Sql(rusqlite::Error::QueryReturnedNoRows) => {
                            SqliteFault::corrupt(place(), "a value is missing")
                        }
                        other => other,
                    })?;
                }
            }
            let meta = self.copy_meta(meta, copied)?;
            let parent = match parent {
                Sql::Integer(parent) => {
                    let new = new_seqs.get(&parent).copied();
                    Sql::Integer(new.ok_or_else(|| SqliteFault::corrupt(place(), "its parent is missing"))?)
                }
                other => other,
            };
            let new = self
                .conn
                .prepare_cached(
                    "INSERT INTO checkpoints (space, id, parent, ts, source, step, meta, next, updated, depth, weight, delta, tasks)
                     SELECT ?2, id, ?3, ts, source, step, ?4, next, updated, ?6, ?7, ?5, tasks
                     FROM checkpoints WHERE seq = ?1",
                )?
                .insert(params![seq, target, parent, meta, delta.encode(), depth, weight])?;
            new_seqs.insert(seq, new);
            self.tail.stored(target, new);
            self.copy_writes(seq, new, &place)?;
        }
        Ok(())
    }

    fn copied_row(&self, seq: i64) -> Result<CopiedRow, SqliteFault> {
        let row = self
            .conn
            .prepare_cached("SELECT id, parent, meta, delta, depth, weight FROM checkpoints WHERE seq = ?1")?
            .query_row([seq], |row| {
                Ok(CopiedRow {
                    id: row.get(0)?,
                    parent: row.get(1)?,
                    meta: row.get(2)?,
                    blob: row.get(3)?,
                    depth: row.get(4)?,
                    weight: row.get(5)?,
                })
            })?;
        Ok(row)
    }

    /// Copies the metadata that checkpoints share, once.
    fn copy_meta(&self, meta: i64, copied: &mut Copied) -> Result<i64, SqliteFault> {
        if let Some(meta) = copied.metas.get(&meta) {
            return Ok(*meta);
        }
        let new = self
            .conn
            .prepare_cached("INSERT INTO metas (json) SELECT json FROM metas WHERE id = ?1")?
            .insert([meta])?;
        copied.metas.insert(meta, new);
        Ok(new)
    }

    /// Copies what the tasks of a checkpoint wrote, and counts the parts that the copies name.
    fn copy_writes(&mut self, seq: i64, new: i64, place: &impl Fn() -> String) -> Result<(), SqliteFault> {
        self.conn
            .prepare_cached(
                "INSERT INTO writes (checkpoint, task, path, status, data)
                 SELECT ?2, task, path, status, data FROM writes WHERE checkpoint = ?1",
            )?
            .execute([seq, new])?;
        let mut statement = self
            .conn
            .prepare_cached("SELECT data FROM writes WHERE checkpoint = ?1")?;
        let mut rows = statement.query([new])?;
        while let Some(row) = rows.next()? {
            let refs = refs_of_writes(row.get_ref(0)?.as_blob().unwrap_or_default());
            self.part_store
                .refer(&refs.map_err(|cause| SqliteFault::corrupt(place(), cause))?);
        }
        Ok(())
    }

    /// Copies a value row and every row it builds on, each once.
    fn copy_item(&mut self, item: i64, copied: &mut Copied) -> Result<i64, SqliteFault> {
        let mut chain = Vec::new();
        let mut at = Some(item);
        let mut base: Option<i64> = None;
        while let Some(row) = at {
            if let Some(new) = copied.items.get(&row) {
                base = Some(*new);
                break;
            }
            chain.push(row);
            at = self
                .conn
                .prepare_cached("SELECT base FROM items WHERE id = ?1")?
                .query_row([row], |row| row.get(0))?;
        }
        for row in chain.into_iter().rev() {
            let (new, refs): (i64, Option<Vec<u8>>) = self
                .conn
                .prepare_cached(
                    "INSERT INTO items (base, len, level, run, data, refs, size)
                     SELECT ?2, len, level, run, data, refs, size FROM items WHERE id = ?1 RETURNING id, refs",
                )?
                .query_row(params![row, base], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let refs = read_refs(refs.as_deref()).map_err(|cause| SqliteFault::corrupt("A value", cause))?;
            self.part_store.refer(&refs);
            copied.items.insert(row, new);
            base = Some(new);
        }
        base.ok_or_else(|| SqliteFault::corrupt("A value", "it is missing"))
    }
}

/// Rows that a copy has already made, by the row they were made from.
#[derive(Default)]
struct Copied {
    items: HashMap<i64, i64>,
    metas: HashMap<i64, i64>,
}
