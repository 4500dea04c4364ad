//! Commits: checkpoints, the values that changed with them, and what tasks wrote.

use super::*;

impl Writer {
    /// Stores the commits of one caller, in order.
    pub(super) fn commits(&mut self, commits: &[Commit]) -> Result<(), SqliteFault> {
        let writes = commits.iter().map(|commit| commit.writes.iter().collect());
        let mut writes: Vec<Vec<&TaskWrites>> = writes.collect();
        for (n, commit) in commits.iter().enumerate() {
            let mut own = std::mem::take(&mut writes[n]);
            // What tasks of a checkpoint write right after it was stored goes into its row at once.
            if let Some(put) = &commit.put {
                for (later, writes) in commits.iter().zip(&mut writes).skip(n + 1) {
                    if later.thread != commit.thread || later.ns != commit.ns {
                        break;
                    }
                    own.extend(writes.extract_if(.., |task| task.checkpoint_id == put.checkpoint.id));
                    if later.put.is_some() {
                        break;
                    }
                }
            }
            self.commit(commit, &own)?;
        }
        Ok(())
    }

    fn commit(&mut self, commit: &Commit, writes: &[&TaskWrites]) -> Result<(), SqliteFault> {
        let Commit {
            thread,
            ns,
            put,
            claim,
            ..
        } = commit;
        let claimed = match claim {
            Some(shown) => self.compare(thread, shown)?,
            None => None,
        };
        if writes.is_empty() && put.is_none() {
            return match claimed {
                Some(row) => self.set_claim_alone(thread, row),
                None => Ok(()),
            };
        }
        let space = self.space(thread, ns)?;
        // Everything that can be refused is refused before the first change.
        let mut owners = HashMap::new();
        let new_id = put.as_ref().map(|put| &put.checkpoint.id);
        for task in writes {
            if Some(&task.checkpoint_id) == new_id || owners.contains_key(&task.checkpoint_id) {
                continue;
            }
            let seq = match space {
                Some(space) => self.seq(space, &task.checkpoint_id)?,
                None => None,
            };
            let seq = seq.ok_or_else(|| StorageError::orphan(thread, task))?;
            owners.insert(&task.checkpoint_id, seq);
        }
        if let Some(row) = claimed {
            self.set_claim(thread, row)?;
        }
        let space = match space {
            Some(space) => space,
            None => self.make_space(thread, ns)?,
        };
        // What belongs to a checkpoint that is stored goes into its row before the next one is stored behind it: a row in
        // the middle that grows would split its page.
        for task in writes {
            if let Some(seq) = owners.get(&task.checkpoint_id) {
                self.write(*seq, thread, task)?;
            }
        }
        if let Some(put) = put {
            let id = &put.checkpoint.id;
            let own = writes.iter().filter(|task| task.checkpoint_id == *id);
            let own: Vec<&TaskWrites> = own.copied().collect();
            let (seq, done) = match self.seq(space, id)? {
                Some(seq) => (seq, 0),
                None => self.put(space, thread, put, &own)?,
            };
            for task in &own[done..] {
                self.write(seq, thread, task)?;
            }
        }
        // The next commit builds on the new checkpoint: what is remembered is one for each thread that moves, not many
        // for one.
        if let Some(parent) = put.as_ref().and_then(|put| put.checkpoint.parent.as_ref()) {
            self.forget_one(space, parent);
        }
        Ok(())
    }

    pub(super) fn space(&mut self, thread: &ThreadId, ns: &Name) -> Result<Option<i64>, SqliteFault> {
        let key = (thread.clone(), ns.clone());
        if let Some(space) = self.spaces.get(&key) {
            return Ok(Some(*space));
        }
        let space: Option<i64> = self
            .conn
            .prepare_cached(
                "SELECT s.id FROM threads t JOIN spaces s ON s.thread = t.id WHERE t.name = ?1 AND s.ns = ?2",
            )?
            .query_row([thread.as_str(), &**ns], |row| row.get(0))
            .optional()?;
        if let Some(space) = space {
            self.remember_space(key, space);
        }
        Ok(space)
    }

    fn remember_space(&mut self, key: (ThreadId, Name), space: i64) {
        if self.spaces.len() >= KNOWN {
            self.spaces.clear();
        }
        self.spaces.insert(key, space);
    }

    pub(super) fn make_space(&mut self, thread: &ThreadId, ns: &Name) -> Result<i64, SqliteFault> {
        self.wrote = true;
        let name = thread.as_str();
        self.conn
            .prepare_cached("INSERT INTO threads (name) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([name])?;
        let space = self
            .conn
            .prepare_cached("INSERT INTO spaces (thread, ns) SELECT id, ?2 FROM threads WHERE name = ?1")?
            .insert([name, &**ns])?;
        self.remember_space((thread.clone(), ns.clone()), space);
        Ok(space)
    }

    pub(super) fn seq(&mut self, space: i64, id: &CheckpointId) -> Result<Option<i64>, SqliteFault> {
        if let Some(known) = self.known.get(&(space, id.clone())) {
            return Ok(Some(known.seq));
        }
        if self.is_beyond(space, id)? {
            return Ok(None);
        }
        let seq = self
            .conn
            .prepare_cached("SELECT seq FROM checkpoints WHERE space = ?1 AND id = ?2")?
            .query_row(params![space, id_column(id.as_str())], |row| row.get(0))
            .optional()?;
        Ok(seq)
    }

    /// Checks whether an id comes after every stored one of its namespace. Those that were just created do, without a
    /// query.
    fn is_beyond(&mut self, space: i64, id: &CheckpointId) -> Result<bool, SqliteFault> {
        let Some(id) = uuid_bytes(id.as_str()) else {
            return Ok(false);
        };
        let newest = match self.newest.get(&space) {
            Some(newest) => *newest,
            None => {
                // Bytes come after texts.
                let newest = self
                    .conn
                    .prepare_cached("SELECT id FROM checkpoints WHERE space = ?1 ORDER BY id DESC LIMIT 1")?
                    .query_row([space], |row| {
                        Ok(row.get_ref(0)?.as_blob().unwrap_or_default().try_into())
                    })
                    .optional()?;
                let newest = newest.and_then(Result::ok).unwrap_or_default();
                if self.newest.len() >= KNOWN {
                    self.newest.clear();
                }
                self.newest.insert(space, newest);
                newest
            }
        };
        Ok(id > newest)
    }

    pub(super) fn known(
        &mut self,
        space: i64,
        thread: &ThreadId,
        id: &CheckpointId,
    ) -> Result<Option<Arc<KnownRows>>, SqliteFault> {
        if let Some(known) = self.known.get(&(space, id.clone())) {
            return Ok(Some(known.clone()));
        }
        let row: Option<(i64, i64, i64, i64)> = self
            .conn
            .prepare_cached("SELECT seq, depth, weight, meta FROM checkpoints WHERE space = ?1 AND id = ?2")?
            .query_row(params![space, id_column(id.as_str())], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        let Some((seq, depth, weight, meta)) = row else {
            return Ok(None);
        };
        let place = format!("Checkpoint {id} of thread {thread}");
        let mut view = self.view();
        let (parents, user) = view.meta(meta, &place)?;
        let state = view.state(seq, &place)?;
        let known = Arc::new(KnownRows {
            seq,
            chain: DeltaChain { depth, weight },
            meta,
            parents,
            user,
            texts: state.values.iter().map(|(_, slot)| slot.text_bytes()).sum(),
            state,
        });
        self.remember(space, id, known.clone());
        Ok(Some(known))
    }

    /// Returns the database as this connection sees it.
    pub(super) fn view(&mut self) -> View<'_> {
        self.metas.at(None);
        View {
            conn: &self.conn,
            metas: &mut self.metas,
            names: &mut self.names,
            decoder: self.part_store.decoder(),
            memo: Memo::default(),
            value_cache: None,
            roster: None,
            hurry: false,
        }
    }

    fn remember(&mut self, space: i64, id: &CheckpointId, known: Arc<KnownRows>) {
        if self.known.len() >= KNOWN
            && let Some((space, id)) = self.known.keys().next().cloned()
        {
            // Any will do: with many threads nobody can say whose turn is next.
            self.forget_one(space, &id);
        }
        self.known.insert((space, id.clone()), known);
    }

    pub(super) fn forget_one(&mut self, space: i64, id: &CheckpointId) {
        if let Some(known) = self.known.remove(&(space, id.clone())) {
            self.written.remove(&known.seq);
        }
    }

    /// Stores a checkpoint with what its tasks wrote; gives its row, and how many of the tasks are done with.
    fn put(
        &mut self,
        space: i64,
        thread: &ThreadId,
        put: &Put,
        tasks: &[&TaskWrites],
    ) -> Result<(i64, usize), SqliteFault> {
        let checkpoint = &put.checkpoint;
        let parent = match &checkpoint.parent {
            Some(id) => self.known(space, thread, id)?,
            None => None,
        };
        let metadata = &checkpoint.metadata;
        let mut tables = Values {
            writer: &mut *self,
            thread,
        };
        let mut plan = plan(put, parent.as_deref(), thread, &mut tables)?;
        let parent_column: ToSqlOutput<'_> = match (&parent, &checkpoint.parent) {
            (Some(known), _) => known.seq.into(),
            (None, Some(id)) => id_column(id.as_str()),
            (None, None) => Null.into(),
        };
        let mut early = self.write_early(thread, plan.delta.len(), tasks)?;
        let seq = self.insert(
            "INSERT INTO checkpoints
                (space, id, parent, ts, source, step, meta, next, updated, depth, weight, delta, tasks)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            &[
                &space,
                &id_column(checkpoint.id.as_str()),
                &parent_column,
                &time_column(&checkpoint.ts),
                &plan.source,
                &metadata.step,
                &plan.known.meta,
                &plan.next,
                &plan.updated,
                &plan.known.chain.depth,
                &plan.known.chain.weight,
                &plan.delta,
                &early.blob,
            ],
        )?;
        if let Some(long) = early.long {
            self.own_row(seq, &mut early.written, long)?;
        }
        plan.known.seq = seq;
        // A reader has the last of a thread in memory, and not all that a transaction went through.
        if parent.is_some_and(|parent| {
            self.fresh
                .states
                .last()
                .is_some_and(|(last, _)| *last == parent.seq)
        }) {
            self.fresh.states.pop();
        }
        self.fresh.states.push((seq, plan.known.state.clone()));
        self.remember(space, &checkpoint.id, Arc::new(plan.known));
        if let (Some(newest), Some(id)) = (self.newest.get_mut(&space), uuid_bytes(checkpoint.id.as_str())) {
            *newest = id.max(*newest);
        }
        self.written.insert(seq, early.written);
        self.tail.stored(space, seq);
        Ok((seq, early.tasks))
    }

    pub(super) fn insert(&mut self, sql: &str, values: &[&dyn ToSql]) -> Result<i64, SqliteFault> {
        self.wrote = true;
        Ok(self.conn.prepare_cached(sql)?.insert(values)?)
    }

    pub(super) fn name(&mut self, name: &Name) -> Result<i64, SqliteFault> {
        // Making a name is harmless on its own: nothing refers to it until the job's rows do.
        self.names.row(&self.conn, name)
    }
}

/// The tables of a writer, for the values of one thread.
struct Values<'w> {
    writer: &'w mut Writer,
    thread: &'w ThreadId,
}

impl Tables for Values<'_> {
    type Slot = SqliteSlot;
    type Error = SqliteFault;

    fn name(&mut self, name: &Name) -> Result<i64, SqliteFault> {
        self.writer.name(name)
    }

    fn value(
        &mut self,
        channel: &Name,
        value: &Value,
        before: Option<&SqliteSlot>,
        appended_from: Option<usize>,
    ) -> Result<SqliteSlot, SqliteFault> {
        self.writer
            .store(channel, value, appended_from.zip(before), self.thread)
    }

    fn metadata(&mut self, _: &Metadata, text: String) -> Result<i64, SqliteFault> {
        self.writer
            .insert("INSERT INTO metas (json) VALUES (?1)", &[&text])
    }
}
