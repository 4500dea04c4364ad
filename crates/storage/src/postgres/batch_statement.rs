//! The one statement that stores a batch.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::types::ToSql;

use super::batch::{Asking, Batch, CheckpointRow, ItemRow, Touch, WriteRow};
use super::parts::{PartStore, Stored};

/// Parameters that a statement takes with it.
pub(super) type OwnedParams = Vec<Box<dyn ToSql + Sync + Send>>;

impl Batch {
    /// Builds the statement that stores everything or nothing, with only the parts that are needed.
    pub(super) fn statement(self, part_store: &PartStore) -> (String, OwnedParams) {
        let (mut parts, mut naming) = (Parts::default(), Vec::new());
        if !self.claims.is_empty() {
            // First, so that it sees the thread as it was.
            parts.call("show_claims({text})", vec![Box::new(self.claims.text())]);
        }
        add_spaces(&mut parts, self.spaces, self.touched);
        add_metas(&mut parts, self.metas);
        if !self.items.is_empty() {
            naming.push("item");
            add_items(&mut parts, self.items);
        }
        // Nobody else knows a checkpoint that is not stored yet: nothing of it waits.
        let fresh: BTreeSet<i64> = self.checkpoints.iter().map(|row| row.seq).collect();
        let (asking, mut answering) = (self.asking, self.answering);
        answering.retain(|task| !fresh.contains(&task.0) && !asking.contains_key(task));
        add_checkpoints(&mut parts, self.checkpoints);
        if !self.writes.is_empty() {
            naming.push("write");
            add_writes(&mut parts, self.writes);
        }
        add_parts(&mut parts, self.parts, &naming, part_store);
        settle(&mut parts, asking, answering);
        parts.finish()
    }
}

/// Adds the rows of namespaces: those that are new, and those that the batch builds on.
fn add_spaces(parts: &mut Parts, spaces: Vec<(i64, String, String)>, touched: BTreeMap<i64, Touch>) {
    let new: Vec<i64> = spaces.iter().map(|(id, ..)| *id).collect();
    let (mut grown, mut held) = (Vec::new(), Vec::new());
    let mut heads = BTreeMap::new();
    for (space, touch) in touched {
        match (new.contains(&space), touch.head) {
            (true, head) => {
                heads.insert(space, (head.unwrap_or_default(), touch.added));
            }
            (false, None) if !touch.takes_over => held.push((space, touch.epoch)),
            (false, head) => {
                let after = touch.epoch + i64::from(touch.takes_over);
                grown.push((
                    (space, touch.epoch),
                    (after, head.unwrap_or_default(), touch.added),
                ));
            }
        }
    }
    if !grown.is_empty() {
        let wanted = grown.len() as i64;
        let (known, new): (Vec<_>, Vec<_>) = grown.into_iter().unzip();
        let (spaces, epochs): (Vec<i64>, Vec<i64>) = known.into_iter().unzip();
        let (after, heads, added) = unzip3(new);
        parts.check(
            "grown",
            "UPDATE spaces s
             SET head = greatest(s.head, u.head), checkpoints = s.checkpoints + u.added, epoch = u.after
             FROM unnest({bigint[]}, {bigint[]}, {bigint[]}, {text[]}, {bigint[]})
                  u (id, epoch, after, head, added)
             WHERE s.id = u.id AND s.epoch = u.epoch RETURNING s.id",
            vec![
                Box::new(spaces),
                Box::new(epochs),
                Box::new(after),
                Box::new(heads),
                Box::new(added),
            ],
            wanted,
        );
    }
    if !held.is_empty() {
        let wanted = held.len() as i64;
        let (spaces, epochs): (Vec<i64>, Vec<i64>) = held.into_iter().unzip();
        parts.check(
            "held",
            "SELECT s.id FROM spaces s, unnest({bigint[]}, {bigint[]}) u (id, epoch)
             WHERE s.id = u.id AND s.epoch = u.epoch FOR KEY SHARE OF s",
            vec![Box::new(spaces), Box::new(epochs)],
            wanted,
        );
    }
    add_new_spaces(parts, spaces, heads);
}

/// Adds new namespaces; `heads` has the newest checkpoint and the number of checkpoints of each.
fn add_new_spaces(
    parts: &mut Parts,
    spaces: Vec<(i64, String, String)>,
    mut heads: BTreeMap<i64, (String, i64)>,
) {
    if spaces.is_empty() {
        return;
    }
    let (mut ids, mut threads, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let (mut newest, mut added) = (Vec::new(), Vec::new());
    for (id, thread, ns) in spaces {
        let (head, count) = heads.remove(&id).unwrap_or_default();
        ids.push(id);
        threads.push(thread);
        names.push(ns);
        newest.push(head);
        added.push(count);
    }
    parts.add(
        "made",
        "INSERT INTO spaces (id, thread, ns, head, checkpoints)
         SELECT * FROM unnest({bigint[]}, {text[]}, {text[]}, {text[]}, {bigint[]})",
        vec![
            Box::new(ids),
            Box::new(threads),
            Box::new(names),
            Box::new(newest),
            Box::new(added),
        ],
    );
}

/// Adds rows of metadata.
fn add_metas(parts: &mut Parts, metas: Vec<(i64, i64, Option<String>, String)>) {
    if metas.is_empty() {
        return;
    }
    let (spaces, ids, runs, texts) = unzip4(metas);
    parts.add(
        "meta",
        "INSERT INTO metas (space, id, run, json)
         SELECT * FROM unnest({bigint[]}, {bigint[]}, {text[]}, {text[]})",
        vec![Box::new(spaces), Box::new(ids), Box::new(runs), Box::new(texts)],
    );
}

/// Adds values.
fn add_items(parts: &mut Parts, items: Vec<(ItemRow, Stored)>) {
    let (rows, values): (Vec<ItemRow>, Vec<Stored>) = items.into_iter().unzip();
    let named: Vec<Option<String>> = values.iter().map(|value| array(&value.parts)).collect();
    let data: Vec<Vec<u8>> = values.into_iter().map(|value| value.data).collect();
    let column = |of: fn(&ItemRow) -> i64| rows.iter().map(of).collect::<Vec<i64>>();
    let optional = |of: fn(&ItemRow) -> Option<i64>| rows.iter().map(of).collect::<Vec<Option<i64>>>();
    parts.add(
        "item",
        "INSERT INTO items (space, id, base, len, level, run, size, whole, parts, data)
         SELECT u.space, u.id, u.base, u.len, u.level, u.run, u.size, u.whole, u.parts::bigint[], u.data
         FROM unnest({bigint[]}, {bigint[]}, {bigint[]}, {bigint[]}, {bigint[]}, {bigint[]}, {bigint[]},
                     {bigint[]}, {text[]}, {bytea[]}) u (space, id, base, len, level, run, size, whole, parts, data)
         RETURNING parts",
        vec![
            Box::new(column(|row| row.space)),
            Box::new(column(|row| row.id)),
            Box::new(optional(|row| row.base)),
            Box::new(optional(|row| row.len)),
            Box::new(column(|row| row.level)),
            Box::new(column(|row| row.run)),
            Box::new(column(|row| row.size)),
            Box::new(column(|row| row.whole)),
            Box::new(named),
            Box::new(data),
        ],
    );
}

/// Adds checkpoints.
fn add_checkpoints(parts: &mut Parts, checkpoints: Vec<CheckpointRow>) {
    if checkpoints.is_empty() {
        return;
    }
    parts.add(
        "checkpoint",
        "INSERT INTO checkpoints (space, id, seq, parent, ts, source, step, meta, next, updated, depth, weight,
                                  delta)
         SELECT * FROM unnest({bigint[]}, {text[]}, {bigint[]}, {text[]}, {text[]}, {smallint[]}, {bigint[]},
                              {bigint[]}, {bytea[]}, {bytea[]}, {bigint[]}, {bigint[]}, {bytea[]})",
        columns(checkpoints),
    );
}

/// Adds writes of tasks.
fn add_writes(parts: &mut Parts, writes: BTreeMap<(i64, String, i32), (WriteRow, Stored)>) {
    let (mut seqs, mut tasks, mut indexes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut paths, mut channels, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    let (mut named, mut data) = (Vec::new(), Vec::new());
    for ((seq, task, idx), (row, value)) in writes {
        seqs.push(seq);
        tasks.push(task);
        indexes.push(idx);
        paths.push(row.path);
        channels.push(row.channel as i32);
        kinds.push(row.kind);
        named.push(array(&value.parts));
        data.push(value.data);
    }
    // A task keeps the path of its first writes; special slots replace, the others are kept when already there.
    parts.add(
        "write",
        "INSERT INTO writes (checkpoint, task, idx, path, channel, kind, parts, data)
         SELECT u.checkpoint, u.task, u.idx, coalesce((
                    SELECT w.path FROM writes w WHERE w.checkpoint = u.checkpoint AND w.task = u.task LIMIT 1
                ), u.path), u.channel, u.kind, u.parts::bigint[], u.data
         FROM unnest({bigint[]}, {text[]}, {int[]}, {text[]}, {int[]}, {smallint[]}, {text[]},
                     {bytea[]})
              u (checkpoint, task, idx, path, channel, kind, parts, data)
         ON CONFLICT (checkpoint, task, idx) DO UPDATE
         SET channel = excluded.channel, kind = excluded.kind, data = excluded.data
         WHERE excluded.idx < 0 RETURNING parts",
        vec![
            Box::new(seqs),
            Box::new(tasks),
            Box::new(indexes),
            Box::new(paths),
            Box::new(channels),
            Box::new(kinds),
            Box::new(named),
            Box::new(data),
        ],
    );
}

/// Brings the table of questions that wait up to date, after everything else.
fn settle(parts: &mut Parts, asking: BTreeMap<(i64, String), Asking>, answering: BTreeSet<(i64, String)>) {
    if !answering.is_empty() {
        let (of, by): (Vec<i64>, Vec<String>) = answering.into_iter().unzip();
        let mut checkpoints = of.clone();
        checkpoints.dedup();
        parts.call(
            "answer({bigint[]}, {bigint[]}, {text[]})",
            vec![Box::new(checkpoints), Box::new(of), Box::new(by)],
        );
    }
    if !asking.is_empty() {
        let (places, tasks): (Vec<_>, Vec<Asking>) = asking.into_iter().unzip();
        let (of, by): (Vec<i64>, Vec<String>) = places.into_iter().unzip();
        let (mut spaces, mut ids, mut threads) = (Vec::new(), Vec::new(), Vec::new());
        for task in tasks {
            spaces.push(task.space);
            ids.push(task.id);
            threads.push(task.thread);
        }
        parts.call(
            "ask((SELECT count(*) FROM write), {bigint[]}, {text[]}, {bigint[]}, {text[]}, {text[]})",
            vec![
                Box::new(of),
                Box::new(by),
                Box::new(spaces),
                Box::new(ids),
                Box::new(threads),
            ],
        );
    }
}

/// Stores parts that are new, and counts for each how many of the rows that were stored just now name it. In the order
/// of their numbers, so that two programs cannot wait for each other.
fn add_parts(parts: &mut Parts, all: BTreeSet<i64>, naming: &[&str], part_store: &PartStore) {
    let (mut ids, mut hashes, mut below, mut data) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut known, mut known_hashes) = (Vec::new(), Vec::new());
    for id in all {
        // Every part that a row names was encoded together with it.
        let Some(part) = part_store.part(id) else { continue };
        match part.data {
            Some(bytes) => {
                ids.push(id);
                hashes.push(part.hash);
                below.push(array(&part.below));
                data.push(bytes);
            }
            None => {
                known.push(id);
                known_hashes.push(part.hash);
            }
        }
    }
    if ids.is_empty() && known.is_empty() {
        return;
    }
    let rows: Vec<String> = naming
        .iter()
        .map(|name| format!("SELECT unnest(parts) AS id FROM {name}"))
        .collect();
    parts.add(
        "named",
        &format!(
            "SELECT t.id, count(*) AS refs FROM ({}) t GROUP BY t.id",
            rows.join(" UNION ALL ")
        ),
        Vec::new(),
    );
    let mut counted = Vec::new();
    if !ids.is_empty() {
        counted.push("(SELECT count(*) FROM part)");
        parts.add(
            "part",
            "INSERT INTO parts AS p (id, hash, refs, below, data)
             SELECT u.id, u.hash, n.refs, u.below::bigint[], u.data
             FROM unnest({bigint[]}, {bytea[]}, {text[]}, {bytea[]}) u (id, hash, below, data)
             JOIN named n ON n.id = u.id ORDER BY u.id
             ON CONFLICT (id) DO UPDATE SET refs = p.refs + excluded.refs WHERE p.hash = excluded.hash
             RETURNING p.id",
            vec![Box::new(ids), Box::new(hashes), Box::new(below), Box::new(data)],
        );
    }
    if !known.is_empty() {
        counted.push("(SELECT count(*) FROM known)");
        parts.add(
            "known",
            "UPDATE parts p SET refs = p.refs + u.refs
             FROM (SELECT v.id, v.hash, n.refs FROM unnest({bigint[]}, {bytea[]}) v (id, hash)
                   JOIN named n ON n.id = v.id ORDER BY v.id) u
             WHERE p.id = u.id AND p.hash = u.hash RETURNING p.id",
            vec![Box::new(known), Box::new(known_hashes)],
        );
    }
    parts.checks.push(format!(
        "expect({}, (SELECT count(*) FROM named))",
        counted.join(" + ")
    ));
}

/// Numbers as the text of an array; nothing when there are none.
fn array(numbers: &[i64]) -> Option<String> {
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    (!texts.is_empty()).then(|| format!("{{{}}}", texts.join(",")))
}

fn columns(rows: Vec<CheckpointRow>) -> OwnedParams {
    let count = rows.len();
    let mut spaces = Vec::with_capacity(count);
    let mut ids = Vec::with_capacity(count);
    let mut seqs = Vec::with_capacity(count);
    let mut parents = Vec::with_capacity(count);
    let mut times = Vec::with_capacity(count);
    let mut sources = Vec::with_capacity(count);
    let mut steps = Vec::with_capacity(count);
    let mut metas = Vec::with_capacity(count);
    let mut nexts = Vec::with_capacity(count);
    let mut updates = Vec::with_capacity(count);
    let mut depths = Vec::with_capacity(count);
    let mut weights = Vec::with_capacity(count);
    let mut deltas = Vec::with_capacity(count);
    for row in rows {
        spaces.push(row.space);
        ids.push(row.id);
        seqs.push(row.seq);
        parents.push(row.parent);
        times.push(row.ts);
        sources.push(row.source);
        steps.push(row.step);
        metas.push(row.meta);
        nexts.push(row.next);
        updates.push(row.updated);
        depths.push(row.depth);
        weights.push(row.weight);
        deltas.push(row.delta);
    }
    vec![
        Box::new(spaces),
        Box::new(ids),
        Box::new(seqs),
        Box::new(parents),
        Box::new(times),
        Box::new(sources),
        Box::new(steps),
        Box::new(metas),
        Box::new(nexts),
        Box::new(updates),
        Box::new(depths),
        Box::new(weights),
        Box::new(deltas),
    ]
}

fn unzip3<A, B, C>(rows: Vec<(A, B, C)>) -> (Vec<A>, Vec<B>, Vec<C>) {
    let mut columns = (Vec::new(), Vec::new(), Vec::new());
    for (a, b, c) in rows {
        columns.0.push(a);
        columns.1.push(b);
        columns.2.push(c);
    }
    columns
}

fn unzip4<A, B, C, D>(rows: Vec<(A, B, C, D)>) -> (Vec<A>, Vec<B>, Vec<C>, Vec<D>) {
    let mut columns = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (a, b, c, d) in rows {
        columns.0.push(a);
        columns.1.push(b);
        columns.2.push(c);
        columns.3.push(d);
    }
    columns
}

/// A statement in the making: named parts that are all carried out, and what must have been found.
#[derive(Default)]
struct Parts {
    with: Vec<String>,
    checks: Vec<String>,
    params: OwnedParams,
}

impl Parts {
    /// Adds a part; `{type}` stands for its next parameter.
    fn add(&mut self, name: &str, sql: &str, params: OwnedParams) {
        let text = self.numbered(sql, params);
        self.with.push(format!("{name} AS ({text})"));
    }

    /// Calls a function once what was added before is checked.
    fn call(&mut self, sql: &str, params: OwnedParams) {
        let text = self.numbered(sql, params);
        self.checks.push(text);
    }

    fn numbered(&mut self, sql: &str, params: OwnedParams) -> String {
        let mut text = String::new();
        let mut rest = sql;
        let mut number = self.params.len();
        while let Some((before, after)) = rest.split_once('{') {
            let (kind, after) = after.split_once('}').unwrap_or((after, ""));
            number += 1;
            text.push_str(&format!("{before}${number}::{kind}"));
            rest = after;
        }
        text.push_str(rest);
        self.params.extend(params);
        text
    }

    /// Adds a part that must find this number of rows.
    fn check(&mut self, name: &str, sql: &str, params: OwnedParams, wanted: i64) {
        self.add(name, sql, params);
        self.params.push(Box::new(wanted));
        self.checks.push(format!(
            "expect((SELECT count(*) FROM {name}), ${}::bigint)",
            self.params.len()
        ));
    }

    fn finish(self) -> (String, OwnedParams) {
        let checks = match self.checks.is_empty() {
            true => "1".to_owned(),
            false => self.checks.join(", "),
        };
        let with = match self.with.is_empty() {
            true => String::new(),
            false => format!("WITH {} ", self.with.join(", ")),
        };
        (format!("{with}SELECT {checks}"), self.params)
    }
}
