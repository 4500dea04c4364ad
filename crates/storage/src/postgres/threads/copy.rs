//! Copies a thread on the server: values do not travel.

use std::collections::{HashMap, HashSet};

use superstep::{Name, ThreadId};

use super::Record;
use crate::codec::record::Delta;
use crate::postgres::fault::PostgresFault;
use crate::postgres::writer::Writer;

/// Rows of the source, and of the target beside them.
struct Numbers {
    old: Vec<i64>,
    new: Vec<i64>,
}

impl Numbers {
    fn of(numbers: HashMap<i64, i64>) -> Self {
        let (old, new) = numbers.into_iter().unzip();
        Self { old, new }
    }
}

/// Checkpoints as the target has them, a column each.
#[derive(Default)]
struct Copies<'a> {
    ids: Vec<&'a str>,
    old_seqs: Vec<i64>,
    seqs: Vec<i64>,
    deltas: Vec<Vec<u8>>,
    /// Copied whole, although the source has a change.
    whole: Vec<bool>,
}

impl Writer {
    /// Copies what the target does not have. Values stay on the server.
    pub(in crate::postgres) async fn copy(
        &mut self,
        from: &ThreadId,
        to: &ThreadId,
    ) -> Result<(), PostgresFault> {
        if from == to {
            return Ok(());
        }
        let sources = self.hold(from).await?;
        let targets: HashMap<Name, i64> = self
            .hold(to)
            .await?
            .into_iter()
            .map(|(id, ns)| (ns, id))
            .collect();
        for (source, ns) in sources {
            let target = match targets.get(&ns) {
                Some(target) => *target,
                None => {
                    let id = self.number().await?;
                    self.session()
                        .await?
                        .execute(
                            "INSERT INTO spaces (id, thread, ns, head, checkpoints) VALUES ($1, $2, $3, '', 0)",
                            &[&id, &to.as_str(), &&*ns],
                        )
                        .await?;
                    id
                }
            };
            self.copy_space(source, target).await?;
        }
        Ok(())
    }

    async fn copy_space(&mut self, source: i64, target: i64) -> Result<(), PostgresFault> {
        let there: HashSet<String> = self
            .records(target)
            .await?
            .into_iter()
            .map(|record| record.id)
            .collect();
        let records = self.records(source).await?;
        let new: Vec<&Record> = records
            .iter()
            .filter(|record| !there.contains(&record.id))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        // A copy beside checkpoints that are already there must not build on them: they may differ.
        let alone: Vec<String> = new
            .iter()
            .filter(|record| {
                record.depth > 0
                    && record
                        .parent
                        .as_ref()
                        .is_some_and(|parent| there.contains(parent))
            })
            .map(|record| record.id.clone())
            .collect();
        let wholes: HashMap<String, Delta> = self.wholes(source, &alone).await?.into_iter().collect();
        let mut items = self
            .numbered("SELECT id FROM items WHERE space = $1", source)
            .await?;
        let metas = self
            .numbered("SELECT id FROM metas WHERE space = $1", source)
            .await?;
        let (copies, used) = self.copies(&new, &wholes, &items).await?;
        // Only what is used by what is copied.
        let (lost, _) = self.lost_items(source, used).await?;
        for item in lost {
            items.remove(&item);
        }
        let items = Numbers::of(items);
        self.insert_copies(source, target, &copies, &items, &Numbers::of(metas))
            .await?;
        self.count_copies(target, &copies, &items).await
    }

    /// Assigns a new number to each row that the query finds in a space.
    async fn numbered(&mut self, query: &str, space: i64) -> Result<HashMap<i64, i64>, PostgresFault> {
        let mut numbers = HashMap::new();
        for row in self.session().await?.query(query, &[&space]).await? {
            numbers.insert(row.try_get::<_, i64>(0)?, self.number().await?);
        }
        Ok(numbers)
    }

    /// Returns checkpoints as the target has them, and the items of the source that they use.
    async fn copies<'a>(
        &mut self,
        new: &[&'a Record],
        wholes: &HashMap<String, Delta>,
        items: &HashMap<i64, i64>,
    ) -> Result<(Copies<'a>, HashSet<i64>), PostgresFault> {
        let mut copies = Copies::default();
        let mut used = HashSet::new();
        for record in new {
            let place = || format!("Checkpoint {}", record.id);
            let made = wholes.get(&record.id);
            let mut delta = match made {
                Some(made) => made.clone(),
                None => record
                    .delta
                    .clone()
                    .map_err(|cause| PostgresFault::corrupt(place(), cause))?,
            };
            for (.., item) in &mut delta.channels {
                if *item != 0 {
                    used.insert(*item);
                    let copy = items.get(item);
                    *item = *copy.ok_or_else(|| PostgresFault::corrupt(place(), "a value is missing"))?;
                }
            }
            copies.ids.push(record.id.as_str());
            copies.old_seqs.push(record.seq);
            copies.seqs.push(self.number().await?);
            copies.deltas.push(delta.encode());
            copies.whole.push(made.is_some());
        }
        Ok((copies, used))
    }

    /// Stores copies with their values, metadata, writes and questions.
    async fn insert_copies(
        &mut self,
        source: i64,
        target: i64,
        copies: &Copies<'_>,
        items: &Numbers,
        metas: &Numbers,
    ) -> Result<(), PostgresFault> {
        let Copies {
            ids,
            old_seqs,
            seqs,
            deltas,
            whole,
        } = copies;
        let session = self.session().await?;
        session
            .execute(
                "INSERT INTO items (space, id, base, len, level, run, size, whole, parts, data)
                 SELECT $2, u.new, b.new, i.len, i.level, i.run, i.size, i.whole, i.parts, i.data
                 FROM unnest($3::bigint[], $4::bigint[]) u (old, new)
                 JOIN items i ON i.space = $1 AND i.id = u.old
                 LEFT JOIN unnest($3::bigint[], $4::bigint[]) b (old, new) ON b.old = i.base",
                &[&source, &target, &items.old, &items.new],
            )
            .await?;
        session
            .execute(
                "INSERT INTO checkpoints (space, id, seq, parent, ts, source, step, meta, next, updated, depth, weight,
                                          delta)
                 SELECT $2, c.id, u.seq, c.parent, c.ts, c.source, c.step, m.new, c.next, c.updated,
                        CASE WHEN u.whole THEN 0 ELSE c.depth END, CASE WHEN u.whole THEN 0 ELSE c.weight END, u.delta
                 FROM unnest($3::text[], $4::bigint[], $5::bytea[], $6::bool[]) u (id, seq, delta, whole)
                 JOIN checkpoints c ON c.space = $1 AND c.id = u.id
                 JOIN unnest($7::bigint[], $8::bigint[]) m (old, new) ON m.old = c.meta",
                &[&source, &target, ids, seqs, deltas, whole, &metas.old, &metas.new],
            )
            .await?;
        session
            .execute(
                "INSERT INTO metas (space, id, run, json)
                 SELECT $2, u.new, m.run, m.json FROM unnest($3::bigint[], $4::bigint[]) u (old, new)
                 JOIN metas m ON m.space = $1 AND m.id = u.old
                 WHERE EXISTS (SELECT 1 FROM checkpoints c WHERE c.space = $2 AND c.meta = u.new)",
                &[&source, &target, &metas.old, &metas.new],
            )
            .await?;
        session
            .execute(
                "INSERT INTO writes (checkpoint, task, idx, path, channel, kind, parts, data)
                 SELECT u.new, w.task, w.idx, w.path, w.channel, w.kind, w.parts, w.data
                 FROM unnest($1::bigint[], $2::bigint[]) u (old, new) JOIN writes w ON w.checkpoint = u.old",
                &[old_seqs, seqs],
            )
            .await?;
        session
            .execute(
                "INSERT INTO waiting (id, thread, task, checkpoint, space)
                 SELECT u.id, s.thread, w.task, w.checkpoint, s.id
                 FROM unnest($2::text[], $3::bigint[]) u (id, seq) JOIN spaces s ON s.id = $1 AND s.ns = ''
                 JOIN writes w ON w.checkpoint = u.seq AND w.kind = 1
                 WHERE NOT EXISTS (
                     SELECT 1 FROM writes f WHERE f.checkpoint = w.checkpoint AND f.task = w.task AND f.kind IN (0, 4)
                 ) ON CONFLICT DO NOTHING",
                &[&target, ids, seqs],
            )
            .await?;
        Ok(())
    }

    /// Counts what the copies refer to, and the checkpoints of the target.
    async fn count_copies(
        &mut self,
        target: i64,
        copies: &Copies<'_>,
        items: &Numbers,
    ) -> Result<(), PostgresFault> {
        let session = self.session().await?;
        session
            .execute(
                "UPDATE parts p SET refs = p.refs + n.refs FROM (
                     SELECT t.id, count(*) AS refs FROM (
                         SELECT unnest(parts) AS id FROM items WHERE space = $1 AND id = ANY($2)
                         UNION ALL SELECT unnest(parts) FROM writes WHERE checkpoint = ANY($3)
                     ) t GROUP BY t.id ORDER BY t.id
                 ) n WHERE n.id = p.id",
                &[&target, &items.new, &copies.seqs],
            )
            .await?;
        session
            .execute(
                "UPDATE spaces SET checkpoints = t.count, head = t.head
                 FROM (SELECT count(*) AS count, max(id) AS head FROM checkpoints WHERE space = $1) t
                 WHERE spaces.id = $1",
                &[&target],
            )
            .await?;
        Ok(())
    }
}
