//! What changes whole threads: deleting, copying, pruning. Each is a transaction that holds the namespaces it changes,
//! so that no writer builds on what goes meanwhile.

mod copy;

use std::collections::{BTreeSet, HashMap, HashSet};

use superstep::checkpoint::{ClaimUse, Progress, Pruning, Removal, Scope};
use superstep::{CheckpointId, Name, ThreadId, Value};

use crate::base::Execution;
use crate::base::quarantine::{QUARANTINE, quarantined};
use crate::codec::pruning::{Looked, doomed};
use crate::codec::record::Delta;

use super::claims::Shown;
use super::fault::PostgresFault;
use super::reader::{CHAINS, Deltas};
use super::server::Params;
use super::survey::Sick;
use super::writer::Writer;

/// How often each part is named, as opposed to how often it says.
macro_rules! counted {
    () => {
        "SELECT p.id, count(n.id) AS counted FROM parts p LEFT JOIN (
             SELECT unnest(parts) AS id FROM items UNION ALL SELECT unnest(parts) FROM writes
         ) n ON n.id = p.id GROUP BY p.id"
    };
}
pub(super) use counted;

/// A checkpoint as removing looks at it.
struct Record {
    id: String,
    seq: i64,
    parent: Option<String>,
    depth: i64,
    delta: Result<Delta, String>,
}

/// Checkpoints that go, as those that stay need to know of them.
struct Leaving {
    /// Row numbers of those that go.
    seqs: Vec<i64>,
    /// Those that stay and are built on one that goes.
    alone: Vec<String>,
    /// Values that those that stay hold.
    kept: HashSet<i64>,
}

impl Leaving {
    fn of(records: &[Record], gone: &HashSet<String>) -> Result<Self, PostgresFault> {
        let (mut kept, mut alone, mut seqs) = (HashSet::new(), Vec::new(), Vec::new());
        for record in records {
            if gone.contains(&record.id) {
                seqs.push(record.seq);
                continue;
            }
            let orphaned = record.parent.as_ref().is_some_and(|parent| gone.contains(parent));
            if record.depth > 0 && orphaned {
                alone.push(record.id.clone());
            }
            let place = || format!("Checkpoint {}", record.id);
            let delta = record
                .delta
                .as_ref()
                .map_err(|cause| PostgresFault::corrupt(place(), cause))?;
            kept.extend(delta.channels.iter().map(|(.., item)| *item));
        }
        Ok(Self { seqs, alone, kept })
    }
}

/// Bytes of the writes, of the checkpoints themselves and of the shared parts that go with checkpoints: for a dry run.
const FREED: &str = "WITH named AS (
        SELECT t.id, count(*) AS refs FROM (
            SELECT unnest(parts) AS id FROM items WHERE space = $2 AND id = ANY($4)
            UNION ALL SELECT unnest(parts) FROM writes WHERE checkpoint = ANY($1)
        ) t GROUP BY t.id
    )
    SELECT (SELECT coalesce(sum(length(data)), 0) FROM writes WHERE checkpoint = ANY($1))::bigint,
           (SELECT coalesce(sum(length(delta)), 0) FROM checkpoints
            WHERE space = $2 AND id = ANY($3))::bigint,
           (SELECT coalesce(sum(length(p.data)), 0) FROM named n JOIN parts p ON p.id = n.id
            WHERE p.refs <= n.refs)::bigint";

impl Writer {
    /// Locks and returns the namespaces of a thread; nobody else changes them until the transaction ends.
    async fn hold(&mut self, thread: &ThreadId) -> Result<Vec<(i64, Name)>, PostgresFault> {
        let sql = "SELECT id, ns FROM spaces WHERE thread = $1 ORDER BY id FOR UPDATE";
        let mut held = self.spaces_by(sql, thread).await?;
        loop {
            // Who was waited for may have made others, which a statement does not see that began before they were there.
            let again = self.spaces_by(sql, thread).await?;
            if again == held {
                return Ok(held);
            }
            held = again;
        }
    }

    /// Returns the namespaces of a thread without a lock: nobody waits for that, and it needs no right to write.
    async fn look_at(&mut self, thread: &ThreadId) -> Result<Vec<(i64, Name)>, PostgresFault> {
        let sql = "SELECT id, ns FROM spaces WHERE thread = $1 ORDER BY id";
        self.spaces_by(sql, thread).await
    }

    async fn spaces_by(&mut self, sql: &str, thread: &ThreadId) -> Result<Vec<(i64, Name)>, PostgresFault> {
        let rows = self.session().await?.query(sql, &[&thread.as_str()]).await?;
        rows.iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get::<_, &str>(1)?.into())))
            .collect()
    }

    pub(super) async fn delete(
        &mut self,
        thread: &ThreadId,
        shown: Option<&ClaimUse>,
    ) -> Result<Removal, PostgresFault> {
        let session = self.session().await?;
        if let Some(shown) = shown {
            let mut all = Shown::default();
            all.add_deletion(thread, shown);
            session.query("SELECT show_claims($1)", &[&all.text()]).await?;
        }
        session
            .execute("DELETE FROM claims WHERE thread = $1", &[&thread.as_str()])
            .await?;
        let spaces: Vec<i64> = self.hold(thread).await?.into_iter().map(|(id, _)| id).collect();
        let bytes = self.delete_spaces(&spaces).await?;
        Ok(Removal {
            bytes: Some(bytes),
            ..Removal::default()
        })
    }

    /// Removes namespaces with everything in them, whatever state it is in, and says how many bytes that was.
    async fn delete_spaces(&mut self, spaces: &[i64]) -> Result<u64, PostgresFault> {
        if spaces.is_empty() {
            return Ok(0);
        }
        let mut bytes = self
            .let_go(
                "DELETE FROM writes WHERE checkpoint IN (SELECT seq FROM checkpoints WHERE space = ANY($1))
                 RETURNING parts, length(data)",
                &[&spaces],
            )
            .await?;
        bytes += self
            .let_go(
                "DELETE FROM items WHERE space = ANY($1) RETURNING parts, length(data)",
                &[&spaces],
            )
            .await?;
        let session = self.session().await?;
        for sql in [
            "WITH gone AS (DELETE FROM checkpoints WHERE space = ANY($1) RETURNING length(delta) AS size)
             SELECT coalesce(sum(size), 0)::bigint FROM gone",
            "WITH gone AS (DELETE FROM metas WHERE space = ANY($1) RETURNING length(json) AS size)
             SELECT coalesce(sum(size), 0)::bigint FROM gone",
        ] {
            for row in session.query(sql, &[&spaces]).await? {
                bytes += row.try_get::<_, i64>(0)?;
            }
        }
        session
            .execute("DELETE FROM spaces WHERE id = ANY($1)", &[&spaces])
            .await?;
        Ok(bytes.unsigned_abs())
    }

    /// Removes rows that name parts, and the parts that nothing names any more. `delete` returns the parts of a row
    /// and its bytes.
    async fn let_go(&mut self, delete: &str, params: Params<'_>) -> Result<i64, PostgresFault> {
        let sql = format!(
            "WITH gone (parts, size) AS ({delete}),
             lost AS (SELECT t.id, count(*) AS refs FROM (SELECT unnest(parts) AS id FROM gone) t GROUP BY t.id),
             counted AS (
                 UPDATE parts p SET refs = p.refs - l.refs
                 FROM (SELECT * FROM lost ORDER BY id) l WHERE p.id = l.id RETURNING p.id, p.refs
             )
             SELECT (SELECT coalesce(sum(size), 0) FROM gone)::bigint,
                    (SELECT array_agg(id) FROM counted WHERE refs <= 0)"
        );
        let session = self.session().await?;
        let rows = session.query(&sql, params).await?;
        let Some(row) = rows.first() else { return Ok(0) };
        let mut bytes: i64 = row.try_get(0)?;
        if let Some(unused) = row.try_get::<_, Option<Vec<i64>>>(1)? {
            let rows = session
                .query(
                    "WITH gone AS (DELETE FROM parts WHERE id = ANY($1) AND refs <= 0 RETURNING length(data) AS size)
                     SELECT coalesce(sum(size), 0)::bigint FROM gone",
                    &[&unused],
                )
                .await?;
            bytes += rows.first().map_or(Ok(0), |row| row.try_get::<_, i64>(0))?;
        }
        Ok(bytes)
    }

    pub(super) async fn prune(
        &mut self,
        pruning: &Pruning,
        progress: &Progress,
    ) -> Result<Removal, PostgresFault> {
        let threads = match &pruning.scope {
            Scope::Threads(threads, _) => Scope::distinct(threads),
            Scope::Runs(runs) => self.threads_of(runs).await?,
        };
        let mut removal = Removal::default();
        let mut bytes = 0;
        let total: u64 = self.checkpoints_of(&threads).await?;
        let mut done = 0;
        for thread in &threads {
            if self.is_claimed(thread).await? {
                removal.skipped.push(thread.clone());
                continue;
            }
            let mut doomed_of: Vec<(i64, HashSet<String>, bool)> = Vec::new();
            let spaces = match pruning.dry_run {
                true => self.look_at(thread).await?,
                false => self.hold(thread).await?,
            };
            for (space, ns) in &spaces {
                progress.at(done, total)?;
                let rows = self.rows(*space).await?;
                let doomed = doomed(pruning, thread, ns, &rows, &mut removal);
                let all = doomed.len() == rows.len();
                let ids = doomed.into_iter().cloned().collect();
                doomed_of.push((*space, ids, all));
            }
            let gone = doomed_of.iter().any(|(_, ids, _)| !ids.is_empty());
            removal.threads += u64::from(gone && doomed_of.iter().all(|(.., all)| *all));
            for (space, ids, all) in doomed_of {
                progress.at(done, total)?;
                done += ids.len() as u64;
                bytes += match all {
                    // The short way, which works for damaged checkpoints too.
                    true if pruning.dry_run => self.bytes_of(space).await?,
                    true => self.delete_spaces(&[space]).await?,
                    false => self.remove(space, &ids, Execution::of(pruning)).await?,
                };
            }
            if gone && !pruning.dry_run {
                let sql = "DELETE FROM claims WHERE thread = $1 AND NOT EXISTS (SELECT 1 FROM spaces WHERE thread = $1)";
                self.session().await?.execute(sql, &[&thread.as_str()]).await?;
            }
        }
        removal.bytes = Some(bytes);
        Ok(removal)
    }

    /// Returns whether a run holds the thread.
    async fn is_claimed(&mut self, thread: &ThreadId) -> Result<bool, PostgresFault> {
        let sql = "SELECT 1 FROM claims WHERE thread = $1 AND until > claim_clock()";
        let rows = self.session().await?.query(sql, &[&thread.as_str()]).await?;
        Ok(!rows.is_empty())
    }

    /// Takes away checkpoints that cannot be read, and what nothing refers to; counts parts again.
    pub(super) async fn repair(&mut self, sick: &Sick) -> Result<Removal, PostgresFault> {
        let mut removal = Removal::default();
        let mut bytes = 0;
        for (ns, key, stored) in &sick.items {
            let value = Value::Object(quarantined(stored)).to_string();
            let suffix = format!(" ({})", uuid::Uuid::new_v4().simple());
            self.session()
                .await?
                .execute(
                    "UPDATE store_items i SET ns = ARRAY[$4::text] || i.ns, value = $3, ttl = NULL, expires_at = NULL,
                            words = '{}', dims = 0, vectors = '{}',
                            key = CASE WHEN EXISTS (SELECT 1 FROM store_items o
                                                    WHERE o.ns = ARRAY[$4::text] || i.ns AND o.key = i.key)
                                  THEN i.key || $5 ELSE i.key END
                     WHERE i.ns = $1 AND i.key = $2",
                    &[ns, key, &value, &QUARANTINE, &suffix],
                )
                .await?;
        }
        for (space, ids) in &sick.checkpoints {
            let held = self
                .session()
                .await?
                .query(
                    "SELECT checkpoints FROM spaces WHERE id = $1 FOR UPDATE",
                    &[space],
                )
                .await?;
            if held.is_empty() {
                continue;
            }
            bytes += self.remove(*space, ids, Execution::Apply).await?;
            removal.checkpoints += ids.len() as u64;
        }
        // Nobody writes while everything is counted.
        self.session()
            .await?
            .batch(concat!(
                "LOCK TABLE spaces, parts, items, writes IN SHARE ROW EXCLUSIVE MODE;
                 DELETE FROM writes w WHERE NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.seq = w.checkpoint);
                 DELETE FROM items i WHERE NOT EXISTS (SELECT 1 FROM spaces s WHERE s.id = i.space);
                 UPDATE parts p SET refs = t.counted FROM (",
                counted!(),
                ") t WHERE t.id = p.id AND t.counted <> p.refs;
                 DELETE FROM parts WHERE refs <= 0;
                 UPDATE spaces s SET epoch = epoch + 1, checkpoints = t.count, head = t.head
                 FROM (SELECT space, count(*) AS count, max(id) AS head FROM checkpoints GROUP BY space) t
                 WHERE t.space = s.id AND (t.count <> s.checkpoints OR t.head <> s.head);
                 DELETE FROM waiting;
                 INSERT INTO waiting (id, thread, task, checkpoint, space)
                 SELECT id, thread, task, checkpoint, space FROM asked ON CONFLICT DO NOTHING;"
            ))
            .await?;
        removal.bytes = Some(bytes);
        Ok(removal)
    }

    async fn checkpoints_of(&mut self, threads: &[ThreadId]) -> Result<u64, PostgresFault> {
        let names: Vec<&str> = threads.iter().map(ThreadId::as_str).collect();
        let sql = "SELECT coalesce(sum(checkpoints), 0)::bigint FROM spaces WHERE thread = ANY($1)";
        let rows = self.session().await?.query(sql, &[&names]).await?;
        let count: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
        Ok(count.unsigned_abs())
    }

    async fn threads_of(&mut self, runs: &[String]) -> Result<Vec<ThreadId>, PostgresFault> {
        let rows = self
            .session()
            .await?
            .query(
                "SELECT DISTINCT s.thread FROM metas m JOIN spaces s ON s.id = m.space WHERE m.run = ANY($1)",
                &[&runs],
            )
            .await?;
        let threads: Result<BTreeSet<ThreadId>, PostgresFault> = rows
            .iter()
            .map(|row| Ok(ThreadId::from(row.try_get::<_, &str>(0)?)))
            .collect();
        Ok(threads?.into_iter().collect())
    }

    async fn rows(&mut self, space: i64) -> Result<Vec<Looked<String>>, PostgresFault> {
        let rows = self
            .session()
            .await?
            .query(
                "SELECT c.id, c.parent, m.run FROM checkpoints c
                 LEFT JOIN metas m ON m.space = c.space AND m.id = c.meta WHERE c.space = $1",
                &[&space],
            )
            .await?;
        rows.iter()
            .map(|row| {
                Ok(Looked {
                    key: row.try_get(0)?,
                    id: CheckpointId::new(row.try_get::<_, &str>(0)?),
                    parent: row.try_get::<_, Option<&str>>(1)?.map(CheckpointId::new),
                    run: row.try_get(2)?,
                })
            })
            .collect()
    }

    async fn bytes_of(&mut self, space: i64) -> Result<u64, PostgresFault> {
        let rows = self
            .session()
            .await?
            .query(
                "SELECT (
                     (SELECT coalesce(sum(length(w.data)), 0) FROM checkpoints c JOIN writes w ON w.checkpoint = c.seq
                      WHERE c.space = $1)
                     + (SELECT coalesce(sum(size), 0) FROM items WHERE space = $1)
                     + (SELECT coalesce(sum(length(delta)), 0) FROM checkpoints WHERE space = $1)
                     + (SELECT coalesce(sum(length(json)), 0) FROM metas WHERE space = $1)
                     + (SELECT coalesce(sum(length(p.data)), 0) FROM parts p JOIN (
                            SELECT t.id, count(*) AS refs FROM (
                                SELECT unnest(parts) AS id FROM items WHERE space = $1
                                UNION ALL SELECT unnest(w.parts)
                                FROM checkpoints c JOIN writes w ON w.checkpoint = c.seq WHERE c.space = $1
                            ) t GROUP BY t.id
                        ) n ON n.id = p.id WHERE p.refs <= n.refs)
                 )::bigint",
                &[&space],
            )
            .await?;
        let bytes: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
        Ok(bytes.unsigned_abs())
    }

    async fn records(&mut self, space: i64) -> Result<Vec<Record>, PostgresFault> {
        let rows = self
            .session()
            .await?
            .query(
                "SELECT id, seq, parent, depth, delta FROM checkpoints WHERE space = $1",
                &[&space],
            )
            .await?;
        rows.iter()
            .map(|row| {
                Ok(Record {
                    id: row.try_get(0)?,
                    seq: row.try_get(1)?,
                    parent: row.try_get(2)?,
                    depth: row.try_get(3)?,
                    delta: Delta::decode(row.try_get(4)?),
                })
            })
            .collect()
    }

    /// Removes checkpoints of a namespace that is held, and says how many bytes that frees. A checkpoint builds on its
    /// parent and a list on its beginning, so whatever builds on something that goes is first made to stand alone.
    async fn remove(
        &mut self,
        space: i64,
        gone: &HashSet<String>,
        execution: Execution,
    ) -> Result<u64, PostgresFault> {
        if gone.is_empty() {
            return Ok(0);
        }
        let Leaving {
            seqs,
            alone,
            mut kept,
        } = Leaving::of(&self.records(space).await?, gone)?;
        let wholes = self.wholes(space, &alone).await?;
        for (_, delta) in &wholes {
            kept.extend(delta.channels.iter().map(|(.., item)| *item));
        }
        let (lost, values) = self.lost_items(space, kept).await?;
        let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
        let session = self.session().await?;
        let sums = session.query(FREED, &[&seqs, &space, &gone, &lost]).await?;
        let Some(sums) = sums.first() else { return Ok(0) };
        let deltas: i64 = sums.try_get(1)?;
        if execution == Execution::DryRun {
            let freed = values + deltas + sums.try_get::<_, i64>(0)? + sums.try_get::<_, i64>(2)?;
            return Ok(freed.unsigned_abs());
        }
        for (id, delta) in wholes {
            session
                .execute(
                    "UPDATE checkpoints SET depth = 0, weight = 0, delta = $3 WHERE space = $1 AND id = $2",
                    &[&space, &id, &delta.encode()],
                )
                .await?;
        }
        // What really goes, parts included; the sums above are for a dry run.
        let mut bytes = deltas
            + self
                .let_go(
                    "DELETE FROM items WHERE space = $1 AND id = ANY($2) RETURNING parts, length(data)",
                    &[&space, &lost],
                )
                .await?;
        bytes += self
            .let_go(
                "DELETE FROM writes WHERE checkpoint = ANY($1) RETURNING parts, length(data)",
                &[&seqs],
            )
            .await?;
        self.forget_rows(space, &gone).await?;
        Ok(bytes.unsigned_abs())
    }

    /// Removes the rows of checkpoints, and of a namespace in which none is left.
    async fn forget_rows(&mut self, space: i64, gone: &[&str]) -> Result<(), PostgresFault> {
        let session = self.session().await?;
        session
            .execute(
                "DELETE FROM checkpoints WHERE space = $1 AND id = ANY($2)",
                &[&space, &gone],
            )
            .await?;
        session
            .execute(
                "DELETE FROM metas m WHERE space = $1
                 AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.space = $1 AND c.meta = m.id)",
                &[&space],
            )
            .await?;
        session
            .execute(
                "UPDATE spaces SET epoch = epoch + 1, checkpoints = t.count, head = t.head
                 FROM (SELECT count(*) AS count, max(id) AS head FROM checkpoints WHERE space = $1) t
                 WHERE spaces.id = $1 AND t.count > 0",
                &[&space],
            )
            .await?;
        session
            .execute(
                "DELETE FROM spaces WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM checkpoints WHERE space = $1)",
                &[&space],
            )
            .await?;
        Ok(())
    }

    /// Builds the whole states of checkpoints as one delta each.
    async fn wholes(&mut self, space: i64, ids: &[String]) -> Result<Vec<(String, Delta)>, PostgresFault> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let names = self.names.clone();
        let session = self.session().await?;
        let chain = session.query(CHAINS, &[&vec![space; ids.len()], &ids]).await?;
        let mut deltas = Deltas::read(&chain)?;
        let used: HashSet<i64> = deltas.names().collect();
        names.learn(session, used).await?;
        let mut wholes = Vec::with_capacity(ids.len());
        for id in ids {
            let state = deltas
                .state(&names, space, id)
                .map_err(|cause| PostgresFault::corrupt(format!("Checkpoint {id}"), cause))?;
            let delta = state.snapshot(|name| self.name(name))?;
            wholes.push((id.clone(), delta));
        }
        Ok(wholes)
    }

    /// Returns the items of a namespace that are neither kept nor built on by one that is, and their bytes.
    async fn lost_items(
        &mut self,
        space: i64,
        mut kept: HashSet<i64>,
    ) -> Result<(Vec<i64>, i64), PostgresFault> {
        let rows = self
            .session()
            .await?
            .query("SELECT id, base, size FROM items WHERE space = $1", &[&space])
            .await?;
        let mut items: HashMap<i64, (Option<i64>, i64)> = HashMap::new();
        for row in rows {
            items.insert(row.try_get(0)?, (row.try_get(1)?, row.try_get(2)?));
        }
        let mut open: Vec<i64> = kept.iter().copied().collect();
        while let Some(item) = open.pop() {
            if let Some((Some(base), _)) = items.get(&item)
                && kept.insert(*base)
            {
                open.push(*base);
            }
        }
        items.retain(|id, _| !kept.contains(id));
        let bytes = items.values().map(|(_, size)| size).sum();
        Ok((items.into_keys().collect(), bytes))
    }
}
