//! Looks at everything stored: what it takes, and whether it can be read.

use std::collections::{HashMap, HashSet};

use superstep::checkpoint::{
    CheckpointUsage, Damage, Integrity, KeySums, ListQuery, Progress, StorageError, ThreadBreakdown,
    ThreadUsage, Usage,
};
use superstep::{CheckpointId, ThreadId};

use crate::codec::record::Delta;

use super::fault::PostgresFault;
use super::reader::View;
use super::store::found as item;
use super::threads::counted;
use crate::base::quarantine::QUARANTINE_REPAIR;

/// Checkpoints that are read at a time.
const PAGE: usize = 100;

/// Checkpoints and items that cannot be read.
#[derive(Debug, Default)]
pub(super) struct Sick {
    /// Checkpoints, by space.
    pub(super) checkpoints: HashMap<i64, HashSet<String>>,
    /// Items of the store, with what is stored.
    pub(super) items: Vec<(Vec<String>, String, String)>,
}

impl View {
    pub(super) async fn usage(&mut self) -> Result<Usage, PostgresFault> {
        let sizes = self
            .session
            .query(
                "SELECT (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
                         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r')::bigint,
                        (SELECT coalesce(sum((refs - 1) * length(data)), 0) FROM parts WHERE refs > 1)::bigint,
                        pg_total_relation_size('store_items')::bigint",
                &[],
            )
            .await?;
        let mut usage = Usage::default();
        if let Some(row) = sizes.first() {
            usage.bytes = row
                .try_get::<_, Option<i64>>(0)?
                .unwrap_or_default()
                .unsigned_abs();
            usage.shared = row.try_get::<_, i64>(1)?.unsigned_abs();
            usage.store = row.try_get::<_, i64>(2)?.unsigned_abs();
        }
        let threads = self
            .session
            .query(
                "SELECT s.thread, sum(s.checkpoints)::bigint AS checkpoints,
                        sum(c.bytes + coalesce(i.bytes, 0) + coalesce(m.bytes, 0) + coalesce(p.bytes, 0))::bigint AS bytes
                 FROM spaces s
                 JOIN (SELECT c.space, sum(length(c.delta) + coalesce(w.bytes, 0)) AS bytes FROM checkpoints c
                       LEFT JOIN (SELECT checkpoint, sum(length(data)) AS bytes FROM writes GROUP BY checkpoint) w
                         ON w.checkpoint = c.seq
                       GROUP BY c.space) c ON c.space = s.id
                 LEFT JOIN (SELECT space, sum(size) AS bytes FROM items GROUP BY space) i ON i.space = s.id
                 LEFT JOIN (SELECT space, sum(length(json)) AS bytes FROM metas GROUP BY space) m ON m.space = s.id
                 LEFT JOIN (SELECT n.space, sum(length(p.data)) AS bytes FROM (
                                SELECT space, unnest(parts) AS id FROM items
                                UNION SELECT c.space, unnest(w.parts)
                                FROM writes w JOIN checkpoints c ON c.seq = w.checkpoint
                            ) n JOIN parts p ON p.id = n.id GROUP BY n.space) p ON p.space = s.id
                 GROUP BY s.thread ORDER BY bytes DESC, s.thread",
                &[],
            )
            .await?;
        for row in threads {
            usage.threads.push(ThreadUsage {
                thread: ThreadId::from(row.try_get::<_, &str>(0)?),
                checkpoints: row.try_get::<_, i64>(1)?.unsigned_abs(),
                bytes: row.try_get::<_, i64>(2)?.unsigned_abs(),
            });
        }
        Ok(usage)
    }

    pub(super) async fn breakdown(&mut self, thread: &ThreadId) -> Result<ThreadBreakdown, PostgresFault> {
        let thread = thread.as_str();
        // A part counts for the row that named it first.
        let items = self
            .session
            .query(
                "SELECT i.id, i.size + coalesce(p.bytes, 0)::bigint, i.whole FROM spaces s
                 JOIN items i ON i.space = s.id
                 LEFT JOIN (
                     SELECT n.item, sum(length(p.data)) AS bytes FROM (
                         SELECT min(i.id) AS item, u.id FROM spaces s JOIN items i ON i.space = s.id
                         CROSS JOIN LATERAL unnest(i.parts) u (id) WHERE s.thread = $1 GROUP BY u.id
                     ) n JOIN parts p ON p.id = n.id GROUP BY n.item
                 ) p ON p.item = i.id
                 WHERE s.thread = $1 ORDER BY i.id",
                &[&thread],
            )
            .await?;
        let mut sizes: HashMap<i64, (i64, i64)> = HashMap::new();
        for row in items {
            sizes.insert(row.try_get(0)?, (row.try_get(1)?, row.try_get(2)?));
        }
        let checkpoints = self
            .session
            .query(
                "SELECT s.ns, c.id, c.step, c.ts, c.delta, c.depth,
                        (SELECT coalesce(sum(length(w.data)), 0)::bigint FROM writes w WHERE w.checkpoint = c.seq)
                 FROM spaces s JOIN checkpoints c ON c.space = s.id WHERE s.thread = $1 ORDER BY c.id, s.ns",
                &[&thread],
            )
            .await?;
        let mut deltas = Vec::with_capacity(checkpoints.len());
        let mut names = HashSet::new();
        for row in &checkpoints {
            let delta = Delta::decode(row.try_get(4)?).unwrap_or_default();
            names.extend(delta.channels.iter().map(|(channel, ..)| *channel));
            deltas.push(delta);
        }
        let known = self.names.clone();
        known.learn(&mut self.session, names).await?;
        let mut breakdown = ThreadBreakdown::default();
        let (mut keys, mut met) = (KeySums::default(), HashSet::new());
        for (row, delta) in checkpoints.iter().zip(deltas) {
            let record: &[u8] = row.try_get(4)?;
            let mut bytes = record.len() as i64 + row.try_get::<_, i64>(6)?;
            for (channel, _, item) in delta.channels {
                // A snapshot names values that were stored before.
                if item == 0 || !met.insert(item) {
                    continue;
                }
                let Some(key) = known.name(channel) else { continue };
                let (own, whole) = sizes.get(&item).copied().unwrap_or_default();
                bytes += own;
                keys.add(&key, own.unsigned_abs(), whole.unsigned_abs());
            }
            breakdown.checkpoints.push(CheckpointUsage {
                ns: row.try_get::<_, &str>(0)?.into(),
                id: CheckpointId::new(row.try_get::<_, &str>(1)?),
                step: row.try_get(2)?,
                ts: row.try_get(3)?,
                bytes: bytes.unsigned_abs(),
            });
        }
        breakdown.keys = keys.sorted();
        Ok(breakdown)
    }

    /// Reads everything.
    pub(super) async fn survey(&mut self, progress: &Progress) -> Result<(Integrity, Sick), PostgresFault> {
        self.afresh = true;
        let mut found = Integrity::default();
        let mut sick = Sick::default();
        let spaces = self
            .session
            .query("SELECT id, thread, ns FROM spaces ORDER BY thread, ns", &[])
            .await?;
        let counted = self
            .session
            .query("SELECT count(*) FROM checkpoints", &[])
            .await?;
        let total: i64 = counted.first().map_or(Ok(0), |row| row.try_get(0))?;
        let mut done = 0;
        let mut threads = HashSet::new();
        for row in &spaces {
            let (space, thread, ns): (i64, &str, &str) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            threads.insert(thread);
            let ids = self
                .session
                .query(
                    "SELECT id FROM checkpoints WHERE space = $1 ORDER BY id DESC",
                    &[&space],
                )
                .await?;
            let ids: Vec<String> = ids.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
            found.checkpoints += ids.len() as u64;
            let mut before = None;
            for page in ids.chunks(PAGE) {
                progress.at(done, total.unsigned_abs())?;
                done += page.len() as u64;
                let query = ListQuery::new()
                    .thread(thread)
                    .ns(ns)
                    .before(before.take())
                    .limit(page.len());
                before = page.last().map(|id| CheckpointId::new(id.as_str()));
                match self.list(&query).await {
                    Ok(_) => {}
                    Err(PostgresFault::Storage(StorageError::Corrupt { .. })) => {
                        for id in page {
                            self.look_at(space, thread, ns, id, &mut found, &mut sick).await?;
                        }
                    }
                    Err(other) => return Err(other),
                }
            }
        }
        found.threads = threads.len() as u64;
        self.survey_items(&mut found, &mut sick).await?;
        self.survey_counts(&mut found).await?;
        Ok((found, sick))
    }

    /// Looks for rows that belong to nothing, and for sums that do not agree with what they are of.
    async fn survey_counts(&mut self, found: &mut Integrity) -> Result<(), PostgresFault> {
        let lost = "SELECT (SELECT count(*) FROM writes w
                            WHERE NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.seq = w.checkpoint)),
                           (SELECT count(*) FROM items i
                            WHERE NOT EXISTS (SELECT 1 FROM spaces s WHERE s.id = i.space)),
                           (SELECT count(*) FROM (";
        let wrong = ") t JOIN parts p ON p.id = t.id WHERE p.refs <> t.counted),
                     (SELECT count(*) FROM spaces s LEFT JOIN (
                          SELECT space, count(*) AS count, max(id) AS head FROM checkpoints GROUP BY space
                      ) t ON t.space = s.id
                      WHERE t.count IS DISTINCT FROM s.checkpoints OR t.head IS DISTINCT FROM s.head),
                     (SELECT count(*) FROM (
                          (SELECT id, thread, task, checkpoint, space FROM asked EXCEPT
                           SELECT id, thread, task, checkpoint, space FROM waiting)
                          UNION ALL
                          (SELECT id, thread, task, checkpoint, space FROM waiting EXCEPT
                           SELECT id, thread, task, checkpoint, space FROM asked)
                      ) d)";
        let counts = self
            .session
            .query(&format!("{lost}{}{wrong}", counted!()), &[])
            .await?;
        let Some(row) = counts.first() else {
            return Ok(());
        };
        for (column, what, repair) in [
            (0, "writes belong to no checkpoint", "they are removed"),
            (1, "values belong to no thread", "they are removed"),
            (
                2,
                "shared parts do not count their uses",
                "they are counted again",
            ),
            (
                3,
                "namespaces do not know their newest checkpoint",
                "it is looked up again",
            ),
            (
                4,
                "tasks are wrongly listed as waiting for an answer, or not listed",
                "they are looked up again",
            ),
        ] {
            let count: i64 = row.try_get(column)?;
            if count > 0 {
                found.damage.push(Damage {
                    thread: None,
                    what: format!("{count} {what}"),
                    repair: Some(repair.to_owned()),
                });
            }
        }
        Ok(())
    }

    /// Reads every item of the store.
    async fn survey_items(&mut self, found: &mut Integrity, sick: &mut Sick) -> Result<(), PostgresFault> {
        let mut after: (Vec<String>, String) = Default::default();
        loop {
            let rows = self
                .session
                .query(
                    "SELECT ns, key, value, created_at, updated_at, ttl, NULL::float8, expires_at FROM store_items
                     WHERE (ns, key) > ($1::text[], $2::text) ORDER BY ns, key LIMIT $3",
                    &[&after.0, &after.1, &(PAGE as i64)],
                )
                .await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = (last.try_get(0)?, last.try_get(1)?);
            found.items += rows.len() as u64;
            for row in &rows {
                match item(row) {
                    Ok(_) => {}
                    Err(PostgresFault::Storage(StorageError::Corrupt { place, cause })) => {
                        sick.items
                            .push((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
                        found.damage.push(Damage {
                            thread: None,
                            what: format!("{place} cannot be read: {cause}"),
                            repair: Some(QUARANTINE_REPAIR.to_owned()),
                        });
                    }
                    Err(other) => return Err(other),
                }
            }
        }
    }

    async fn look_at(
        &mut self,
        space: i64,
        thread: &str,
        ns: &str,
        id: &str,
        found: &mut Integrity,
        sick: &mut Sick,
    ) -> Result<(), PostgresFault> {
        let thread = ThreadId::from(thread);
        match self.get(&thread, ns, Some(&CheckpointId::new(id))).await {
            Ok(_) => Ok(()),
            Err(PostgresFault::Storage(StorageError::Corrupt { place, cause })) => {
                sick.checkpoints.entry(space).or_default().insert(id.to_owned());
                found.damage.push(Damage {
                    thread: Some(thread),
                    what: format!("{place} cannot be read: {cause}"),
                    repair: Some("it is removed, and what continues it goes on without a past".to_owned()),
                });
                Ok(())
            }
            Err(other) => Err(other),
        }
    }
}
