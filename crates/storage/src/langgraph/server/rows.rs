//! The tables of a server. A checkpoint is a row of JSON, and its values are in rows beside it, under the versions that it
//! names; both are read in statements of a bounded number of rows and bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value as Json;
use superstep::Name;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::schema::Layout;
use super::session::{Param, ReadSession};
use crate::langgraph::record::PACKETS;
use crate::langgraph::rows::{
    Blob, CheckpointRow, Fault, ItemRow, MAX_ROW, RowReader, Wanted, WriteRow, too_large,
};

/// Rows of a statement that reads whole ones.
const MAX_ROWS: i64 = 256;
/// Rows of a statement that reads keys only.
const MAX_KEYS: i64 = 2_000;
/// Bytes of a statement, as they are stored.
const MAX_BYTES: i64 = 1 << 20;
/// Bytes of checkpoints as JSON, in which texts and numbers of the state stand.
const MAX_JSON: i64 = 16 << 20;
/// Index entries that a statement counts.
const MAX_COUNTED: i64 = 20_000;
/// Threads and namespaces that a statement finds.
const MAX_FOUND: usize = 500;

const TEXT: Type = Type::TEXT;
const TEXTS: Type = Type::TEXT_ARRAY;
const NUMBER: Type = Type::INT8;

/// The tables during one operation.
pub(in crate::langgraph) struct ServerRows<'a> {
    session: &'a ReadSession<'a>,
    layout: &'a Layout,
}

/// A value that is stored beside a checkpoint: its channel and version.
type BlobKey = (String, String);
/// Blobs of a thread, each with its bytes.
type BlobBytes = Vec<(BlobKey, Arc<[u8]>)>;

/// A write: its checkpoint, task and place.
type WriteKey = (String, String, i32);

fn limited(limit: usize, most: i64) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).min(most)
}

/// Returns whether a channel shows which tasks there are.
fn tells_tasks(channel: &str) -> bool {
    channel == PACKETS || channel.starts_with("branch:") || channel.starts_with("join:")
}

/// Splits keys into groups whose bytes together fit into one statement; a large one is alone.
fn groups<K>(keys: &[(K, i64)]) -> Vec<&[(K, i64)]> {
    let (mut all, mut begin, mut bytes) = (Vec::new(), 0, 0);
    for (at, (_, size)) in keys.iter().enumerate() {
        if at > begin && (bytes + size > MAX_BYTES || (at - begin) as i64 >= MAX_ROWS) {
            all.push(&keys[begin..at]);
            (begin, bytes) = (at, 0);
        }
        bytes += size;
    }
    if begin < keys.len() {
        all.push(&keys[begin..]);
    }
    all
}

/// Versions of channels as a stored checkpoint has them, as texts.
fn versions(json: &Json) -> BTreeMap<String, String> {
    let versions = json.get("channel_versions").and_then(Json::as_object);
    let text = |version: &Json| match version {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let versions = versions.into_iter().flatten();
    versions
        .filter(|(_, version)| !version.is_null())
        .map(|(channel, version)| (channel.clone(), text(version)))
        .collect()
}

impl<'a> ServerRows<'a> {
    pub(super) fn of(session: &'a ReadSession<'a>, layout: &'a Layout) -> Self {
        Self { session, layout }
    }

    fn table(&self, name: &str) -> String {
        self.layout.table(name)
    }

    fn one_text(&self, sql: &str, thread: &str, ns: &str) -> Result<Option<String>, Fault> {
        let rows = self.session.query(sql, &[(&thread, TEXT), (&ns, TEXT)])?;
        Ok(rows.first().and_then(|row| row.get(0)))
    }

    /// Reads rows of checkpoints without their values: those that `wanted` says, in its order.
    fn records(
        &self,
        wanted: &str,
        thread: &str,
        ns: &str,
        id: Option<&str>,
        limit: i64,
    ) -> Result<Vec<CheckpointRow>, Fault> {
        let json = |column: &str| {
            // The stored size is cheap; that of the text is asked for where it may be too large.
            format!(
                "CASE WHEN pg_column_size({column}) > {MAX_BYTES} AND octet_length({column}::text) > {MAX_JSON} \
                 THEN NULL ELSE {column}::text END"
            )
        };
        let sql = format!(
            "SELECT checkpoint_id, parent_checkpoint_id, {}, {} FROM (SELECT page.*, row_number() OVER () AS place, \
             sum(pg_column_size(checkpoint)::bigint + pg_column_size(metadata)) OVER (ROWS UNBOUNDED PRECEDING) AS total \
             FROM (SELECT checkpoint_id, parent_checkpoint_id, checkpoint, metadata FROM {} \
             WHERE thread_id = $1 AND checkpoint_ns = $2 AND {wanted} LIMIT $4) AS page) AS summed \
             WHERE place = 1 OR total <= {MAX_BYTES} ORDER BY place",
            json("checkpoint"),
            json("metadata"),
            self.table("checkpoints")
        );
        let params: [Param<'_>; 4] = [(&thread, TEXT), (&ns, TEXT), (&id, TEXT), (&limit, NUMBER)];
        let rows = self.session.query(&sql, &params)?;
        let row = |row: &Row| {
            let json = |at: usize, what: &str| {
                let text: Option<String> = row.get(at);
                text.map(String::into_bytes)
                    .ok_or_else(|| format!("its {what} has more than the {MAX_JSON} bytes that are read"))
            };
            CheckpointRow {
                ns: ns.to_owned(),
                id: row.get(0),
                parent: row
                    .get::<_, Option<String>>(1)
                    .filter(|parent| !parent.is_empty()),
                kind: "json".to_owned(),
                checkpoint: json(2, "checkpoint"),
                metadata: Some(json(3, "metadata")),
                blobs: Vec::new(),
                sends: Vec::new(),
            }
        };
        Ok(rows.iter().map(row).collect())
    }

    /// Adds the values that are stored beside checkpoints.
    fn fill(
        &self,
        thread: &str,
        ns: &str,
        mut rows: Vec<CheckpointRow>,
        wanted: Wanted<'_>,
    ) -> Result<Vec<CheckpointRow>, Fault> {
        let parsed = rows.iter().map(|row| match &row.checkpoint {
            Ok(bytes) => serde_json::from_slice::<Json>(bytes).unwrap_or_default(),
            Err(_) => Json::Null,
        });
        let parsed: Vec<Json> = parsed.collect();
        let versions: Vec<BTreeMap<String, String>> = parsed.iter().map(versions).collect();
        let keys: BTreeSet<BlobKey> = versions
            .iter()
            .flatten()
            .map(|(a, b)| (a.clone(), b.clone()))
            .collect();
        let blobs = self.blobs(thread, ns, keys.into_iter().collect(), wanted)?;
        for (row, versions) in rows.iter_mut().zip(versions) {
            let own = versions.into_iter().filter_map(|key| blobs.get(&key));
            row.blobs = own.cloned().collect();
        }
        self.add_sends(thread, ns, &mut rows, &parsed)?;
        Ok(rows)
    }

    /// Reads values that are stored beside checkpoints. A channel that is empty has none.
    fn blobs(
        &self,
        thread: &str,
        ns: &str,
        keys: Vec<BlobKey>,
        wanted: Wanted<'_>,
    ) -> Result<HashMap<BlobKey, Blob>, Fault> {
        let sql = format!(
            "SELECT b.channel, b.version, b.type, octet_length(b.blob)::bigint FROM unnest($3, $4) AS k(channel, version) \
             JOIN {} AS b ON b.thread_id = $1 AND b.checkpoint_ns = $2 AND b.channel = k.channel \
             AND b.version = k.version WHERE b.type <> 'empty'",
            self.table("checkpoint_blobs")
        );
        let (mut found, mut due) = (HashMap::new(), Vec::new());
        for page in keys.chunks(MAX_KEYS.unsigned_abs() as usize) {
            let channels: Vec<&str> = page.iter().map(|key| &*key.0).collect();
            let versions: Vec<&str> = page.iter().map(|key| &*key.1).collect();
            let params: [Param<'_>; 4] = [
                (&thread, TEXT),
                (&ns, TEXT),
                (&channels, TEXTS),
                (&versions, TEXTS),
            ];
            for row in self.session.query(&sql, &params)? {
                let key: BlobKey = (row.get(0), row.get(1));
                let (kind, size): (String, Option<i64>) = (row.get(2), row.get(3));
                let size = size.unwrap_or(0);
                let channel = Name::from(&*key.0);
                let is_due = match wanted {
                    Wanted::All => true,
                    Wanted::Channels(names) => names.contains(&channel) || tells_tasks(&channel),
                    Wanted::Structure => tells_tasks(&channel),
                };
                let bytes = (is_due && size > MAX_ROW).then(|| Err(too_large("value", size)));
                if is_due && bytes.is_none() {
                    due.push((key.clone(), size));
                }
                let blob = Blob {
                    channel,
                    kind: kind.into(),
                    size: size.unsigned_abs(),
                    bytes,
                };
                found.insert(key, blob);
            }
        }
        for (key, bytes) in self.blob_bytes(thread, ns, &due)? {
            if let Some(blob) = found.get_mut(&key) {
                blob.bytes = Some(Ok(bytes));
            }
        }
        Ok(found)
    }

    fn blob_bytes(&self, thread: &str, ns: &str, due: &[(BlobKey, i64)]) -> Result<BlobBytes, Fault> {
        let table = self.table("checkpoint_blobs");
        let mut found = Vec::with_capacity(due.len());
        for group in groups(due) {
            let channels: Vec<&str> = group.iter().map(|((channel, _), _)| &**channel).collect();
            let versions: Vec<&str> = group.iter().map(|((_, version), _)| &**version).collect();
            let sql = format!(
                "SELECT b.channel, b.version, substring(b.blob FROM $5::int FOR {MAX_BYTES}) \
                 FROM unnest($3, $4) AS k(channel, version) JOIN {table} AS b ON b.thread_id = $1 \
                 AND b.checkpoint_ns = $2 AND b.channel = k.channel AND b.version = k.version"
            );
            let read = |from: i32| {
                self.session.query(
                    &sql,
                    &[
                        (&thread, TEXT),
                        (&ns, TEXT),
                        (&channels, TEXTS),
                        (&versions, TEXTS),
                        (&from, Type::INT4),
                    ],
                )
            };
            for (row, bytes) in pieces(group, read, 2)? {
                found.push(((row.get(0), row.get(1)), bytes.into()));
            }
        }
        Ok(found)
    }

    /// Adds the packets that tasks of the parent stored for a checkpoint, as releases of before 2025 do.
    fn add_sends(
        &self,
        thread: &str,
        ns: &str,
        rows: &mut [CheckpointRow],
        parsed: &[Json],
    ) -> Result<(), Fault> {
        let is_old = |json: &Json| {
            json.get("v")
                .and_then(Json::as_i64)
                .is_some_and(|format| format < 4)
        };
        let mut parents: Vec<&str> = (rows.iter().zip(parsed))
            .filter(|(_, json)| is_old(json))
            .filter_map(|(row, _)| row.parent.as_deref())
            .collect();
        parents.sort_unstable();
        parents.dedup();
        if parents.is_empty() {
            return Ok(());
        }
        let mut sends: HashMap<String, Vec<Blob>> = HashMap::new();
        let mut writes = self.write_rows(thread, ns, &parents, true, Some(PACKETS))?;
        // In the order in which the library takes them.
        writes.sort_by(|(_, a), (_, b)| (&a.path, &a.task, a.idx).cmp(&(&b.path, &b.task, b.idx)));
        for (id, row) in writes {
            let bytes: Option<Result<Arc<[u8]>, String>> = row.value.map(|value| value.map(Arc::from));
            let size = match &bytes {
                Some(Ok(bytes)) => bytes.len() as u64,
                _ => 0,
            };
            sends.entry(id).or_default().push(Blob {
                channel: PACKETS.into(),
                kind: row.kind.into(),
                size,
                bytes,
            });
        }
        for (row, json) in rows.iter_mut().zip(parsed) {
            let own = row.parent.as_ref().and_then(|parent| sends.get(parent));
            if let Some(own) = own.filter(|_| is_old(json)) {
                row.sends = own.clone();
            }
        }
        Ok(())
    }

    /// Reads what tasks of checkpoints stored, each with its checkpoint.
    fn write_rows(
        &self,
        thread: &str,
        ns: &str,
        ids: &[&str],
        with_values: bool,
        channel: Option<&str>,
    ) -> Result<Vec<(String, WriteRow)>, Fault> {
        let path = if self.layout.has_paths { "task_path" } else { "''" };
        let sql = format!(
            "SELECT checkpoint_id, task_id, {path}, idx, channel, type, octet_length(blob)::bigint FROM {} \
             WHERE thread_id = $1 AND checkpoint_ns = $2 AND checkpoint_id = ANY($3) \
             AND (checkpoint_id, task_id, idx) > ($4, $5, $6) ORDER BY checkpoint_id, task_id, idx LIMIT {MAX_KEYS}",
            self.table("checkpoint_writes")
        );
        let (mut found, mut last): (Vec<(String, WriteRow)>, WriteKey) =
            (Vec::new(), (String::new(), String::new(), i32::MIN));
        let mut due = Vec::new();
        loop {
            let params: [Param<'_>; 6] = [
                (&thread, TEXT),
                (&ns, TEXT),
                (&ids, TEXTS),
                (&last.0, TEXT),
                (&last.1, TEXT),
                (&last.2, Type::INT4),
            ];
            let rows = self.session.query(&sql, &params)?;
            for row in &rows {
                last = (row.get(0), row.get(1), row.get(3));
                let name: String = row.get(4);
                if channel.is_some_and(|channel| name != channel) {
                    continue;
                }
                let size = row.get::<_, Option<i64>>(6).unwrap_or(0);
                if with_values && size <= MAX_ROW {
                    due.push((last.clone(), size));
                }
                let write = WriteRow {
                    task: last.1.clone(),
                    path: row.get::<_, Option<String>>(2).unwrap_or_default(),
                    idx: last.2.into(),
                    channel: name,
                    kind: row.get::<_, Option<String>>(5).unwrap_or_default(),
                    value: with_values.then(|| Err(too_large("value", size))),
                };
                found.push((last.0.clone(), write));
            }
            if (rows.len() as i64) < MAX_KEYS {
                break;
            }
        }
        let mut bytes = self.write_bytes(thread, ns, &due)?;
        for (id, row) in &mut found {
            let idx = i32::try_from(row.idx).unwrap_or_default();
            if let Some(read) = bytes.remove(&(id.clone(), row.task.clone(), idx)) {
                row.value = Some(Ok(read));
            }
        }
        Ok(found)
    }

    fn write_bytes(
        &self,
        thread: &str,
        ns: &str,
        due: &[(WriteKey, i64)],
    ) -> Result<HashMap<WriteKey, Vec<u8>>, Fault> {
        let table = self.table("checkpoint_writes");
        let mut found = HashMap::with_capacity(due.len());
        for group in groups(due) {
            let ids: Vec<&str> = group.iter().map(|((id, ..), _)| &**id).collect();
            let tasks: Vec<&str> = group.iter().map(|((_, task, _), _)| &**task).collect();
            let places: Vec<i32> = group.iter().map(|((.., idx), _)| *idx).collect();
            let sql = format!(
                "SELECT w.checkpoint_id, w.task_id, w.idx, substring(w.blob FROM $6::int FOR {MAX_BYTES}) \
                 FROM unnest($3, $4, $5) AS k(id, task, idx) JOIN {table} AS w ON w.thread_id = $1 \
                 AND w.checkpoint_ns = $2 AND w.checkpoint_id = k.id AND w.task_id = k.task AND w.idx = k.idx"
            );
            let read = |from: i32| {
                self.session.query(
                    &sql,
                    &[
                        (&thread, TEXT),
                        (&ns, TEXT),
                        (&ids, TEXTS),
                        (&tasks, TEXTS),
                        (&places, Type::INT4_ARRAY),
                        (&from, Type::INT4),
                    ],
                )
            };
            for (row, bytes) in pieces(group, read, 3)? {
                found.insert((row.get(0), row.get(1), row.get(2)), bytes);
            }
        }
        Ok(found)
    }
}

/// Reads the rows of a group; one that is alone because it is large is read piece by piece.
fn pieces<K>(
    group: &[(K, i64)],
    read: impl Fn(i32) -> Result<Vec<Row>, Fault>,
    column: usize,
) -> Result<Vec<(Row, Vec<u8>)>, Fault> {
    let body = |row: &Row| row.get::<_, Option<Vec<u8>>>(column).unwrap_or_default();
    let mut found: Vec<(Row, Vec<u8>)> = (read(1)?.into_iter())
        .map(|row| {
            let bytes = body(&row);
            (row, bytes)
        })
        .collect();
    let ([(_, size)], [(_, whole)]) = (group, &mut found[..]) else {
        return Ok(found);
    };
    while (whole.len() as i64) < *size {
        let from = i32::try_from(whole.len() + 1).unwrap_or(i32::MAX);
        let piece = read(from)?.first().map(body).unwrap_or_default();
        if piece.is_empty() {
            // It was replaced meanwhile by a shorter one.
            break;
        }
        whole.extend(piece);
    }
    Ok(found)
}

impl RowReader for ServerRows<'_> {
    fn threads_after(
        &self,
        thread: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Option<String>)>, Fault> {
        let table = self.table("checkpoints");
        let first = if thread.is_some() { ">" } else { ">=" };
        // From one thread to the next over the index: it is not read in between.
        let sql = format!(
            "WITH RECURSIVE t(id) AS ((SELECT thread_id::text FROM {table} WHERE thread_id {first} $1 ORDER BY thread_id LIMIT 1) \
             UNION ALL SELECT (SELECT c.thread_id::text FROM {table} AS c WHERE c.thread_id > t.id ORDER BY c.thread_id LIMIT 1) \
             FROM t WHERE t.id IS NOT NULL) SELECT t.id, (SELECT c.checkpoint_id::text FROM {table} AS c \
             WHERE c.thread_id = t.id AND c.checkpoint_ns = '' ORDER BY c.checkpoint_id DESC LIMIT 1) \
             FROM t WHERE t.id IS NOT NULL LIMIT $2"
        );
        let limit = limited(limit, MAX_FOUND as i64);
        let thread = thread.unwrap_or_default();
        let rows = self.session.query(&sql, &[(&thread, TEXT), (&limit, NUMBER)])?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    fn namespaces_after(&self, thread: &str, ns: Option<&str>, limit: usize) -> Result<Vec<String>, Fault> {
        let table = self.table("checkpoints");
        let first = if ns.is_some() { ">" } else { ">=" };
        let sql = format!(
            "WITH RECURSIVE t(ns) AS ((SELECT checkpoint_ns::text FROM {table} WHERE thread_id = $1 AND checkpoint_ns {first} $2 \
             ORDER BY checkpoint_ns LIMIT 1) UNION ALL SELECT (SELECT c.checkpoint_ns::text FROM {table} AS c \
             WHERE c.thread_id = $1 AND c.checkpoint_ns > t.ns ORDER BY c.checkpoint_ns LIMIT 1) \
             FROM t WHERE t.ns IS NOT NULL) SELECT t.ns FROM t WHERE t.ns IS NOT NULL LIMIT $3"
        );
        let limit = limited(limit, MAX_FOUND as i64);
        let ns = ns.unwrap_or_default();
        let rows = self
            .session
            .query(&sql, &[(&thread, TEXT), (&ns, TEXT), (&limit, NUMBER)])?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    fn newest(&self, thread: &str, ns: &str) -> Result<Option<String>, Fault> {
        let sql = format!(
            "SELECT checkpoint_id FROM {} WHERE thread_id = $1 AND checkpoint_ns = $2 ORDER BY checkpoint_id DESC LIMIT 1",
            self.table("checkpoints")
        );
        self.one_text(&sql, thread, ns)
    }

    fn oldest(&self, thread: &str, ns: &str) -> Result<Option<String>, Fault> {
        let sql = format!(
            "SELECT checkpoint_id FROM {} WHERE thread_id = $1 AND checkpoint_ns = $2 ORDER BY checkpoint_id LIMIT 1",
            self.table("checkpoints")
        );
        self.one_text(&sql, thread, ns)
    }

    fn count(&self, thread: &str, ns: &str) -> Result<u64, Fault> {
        let sql = format!(
            "SELECT count(*), max(checkpoint_id) FROM (SELECT checkpoint_id FROM {} WHERE thread_id = $1 \
             AND checkpoint_ns = $2 AND checkpoint_id > $3 ORDER BY checkpoint_id LIMIT {MAX_COUNTED}) AS page",
            self.table("checkpoints")
        );
        let (mut total, mut last) = (0, String::new());
        loop {
            let rows = self
                .session
                .query(&sql, &[(&thread, TEXT), (&ns, TEXT), (&last, TEXT)])?;
            let Some(row) = rows.first() else { return Ok(total) };
            let count: i64 = row.get(0);
            total += count.unsigned_abs();
            match row.get::<_, Option<String>>(1).filter(|_| count >= MAX_COUNTED) {
                Some(end) => last = end,
                None => return Ok(total),
            }
        }
    }

    fn ids(&self, thread: &str, ns: &str, before: Option<&str>, limit: usize) -> Result<Vec<String>, Fault> {
        let sql = format!(
            "SELECT checkpoint_id FROM {} WHERE thread_id = $1 AND checkpoint_ns = $2 \
             AND ($3 IS NULL OR checkpoint_id < $3) ORDER BY checkpoint_id DESC LIMIT $4",
            self.table("checkpoints")
        );
        let (mut found, mut below) = (Vec::new(), before.map(str::to_owned));
        loop {
            let page = limited(limit - found.len(), MAX_COUNTED);
            let params: [Param<'_>; 4] = [(&thread, TEXT), (&ns, TEXT), (&below, TEXT), (&page, NUMBER)];
            let rows = self.session.query(&sql, &params)?;
            found.extend(rows.iter().map(|row| row.get::<_, String>(0)));
            if (rows.len() as i64) < MAX_COUNTED || found.len() >= limit {
                return Ok(found);
            }
            below = found.last().cloned();
        }
    }

    fn checkpoints(
        &self,
        thread: &str,
        ns: &str,
        below: Option<&str>,
        limit: usize,
        wanted: Wanted<'_>,
    ) -> Result<Vec<CheckpointRow>, Fault> {
        let order = "($3 IS NULL OR checkpoint_id < $3) ORDER BY checkpoint_id DESC";
        let rows = self.records(order, thread, ns, below, limited(limit, MAX_ROWS))?;
        self.fill(thread, ns, rows, wanted)
    }

    fn checkpoint(
        &self,
        thread: &str,
        ns: &str,
        id: &str,
        wanted: Wanted<'_>,
    ) -> Result<Option<CheckpointRow>, Fault> {
        let rows = self.records("checkpoint_id = $3", thread, ns, Some(id), 1)?;
        Ok(self.fill(thread, ns, rows, wanted)?.pop())
    }

    fn following(&self, thread: &str, ns: &str, id: &str, limit: usize) -> Result<Vec<CheckpointRow>, Fault> {
        let order = "checkpoint_id > $3 ORDER BY checkpoint_id";
        let rows = self.records(order, thread, ns, Some(id), limited(limit, MAX_ROWS))?;
        self.fill(thread, ns, rows, Wanted::Structure)
    }

    fn writes(
        &self,
        thread: &str,
        ns: &str,
        ids: &[&str],
        with_values: bool,
    ) -> Result<Vec<Vec<WriteRow>>, Fault> {
        let mut by_id: HashMap<String, Vec<WriteRow>> = HashMap::new();
        for (id, row) in self.write_rows(thread, ns, ids, with_values, None)? {
            by_id.entry(id).or_default().push(row);
        }
        Ok(ids
            .iter()
            .map(|id| by_id.remove(*id).unwrap_or_default())
            .collect())
    }

    fn strange(&self) -> Result<Vec<String>, Fault> {
        // A column of a server has one type.
        Ok(Vec::new())
    }

    fn asked(&self, thread: &str) -> Result<Vec<String>, Fault> {
        let sql = format!(
            "SELECT checkpoint_id, task_id, idx, channel = '__interrupt__' FROM {} WHERE thread_id = $1 \
             AND checkpoint_ns = '' AND (checkpoint_id, task_id, idx) > ($2, $3, $4) \
             ORDER BY checkpoint_id, task_id, idx LIMIT {MAX_KEYS}",
            self.table("checkpoint_writes")
        );
        let (mut found, mut last): (Vec<String>, WriteKey) =
            (Vec::new(), (String::new(), String::new(), i32::MIN));
        loop {
            let params: [Param<'_>; 4] = [
                (&thread, TEXT),
                (&last.0, TEXT),
                (&last.1, TEXT),
                (&last.2, Type::INT4),
            ];
            let rows = self.session.query(&sql, &params)?;
            for row in &rows {
                last = (row.get(0), row.get(1), row.get(2));
                if row.get(3) && found.last() != Some(&last.0) {
                    found.push(last.0.clone());
                }
            }
            if (rows.len() as i64) < MAX_KEYS {
                return Ok(found);
            }
        }
    }

    fn items_after(&self, last: Option<(&str, &str)>) -> Result<Option<Vec<ItemRow>>, Fault> {
        let Some(expire) = self.layout.store else {
            return Ok(None);
        };
        let ms = |column: &str| format!("(extract(epoch FROM {column}) * 1000)::bigint");
        let sql = format!(
            "SELECT prefix, key, CASE WHEN pg_column_size(value) > {MAX_BYTES} AND octet_length(value::text) > {MAX_JSON} \
             THEN NULL ELSE value::text END, {}, {}, {} FROM (SELECT page.*, row_number() OVER () AS place, \
             sum(pg_column_size(value)::bigint) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM (SELECT * FROM {} \
             WHERE (prefix, key) > ($1, $2) ORDER BY prefix, key LIMIT {MAX_ROWS}) AS page) AS summed \
             WHERE place = 1 OR total <= {MAX_BYTES} ORDER BY place",
            ms("created_at"),
            ms("updated_at"),
            if expire {
                ms("expires_at")
            } else {
                "NULL::bigint".to_owned()
            },
            self.table("store")
        );
        let (prefix, key) = last.unwrap_or_default();
        let rows = self.session.query(&sql, &[(&prefix, TEXT), (&key, TEXT)])?;
        let item = |row: &Row| ItemRow {
            prefix: row.get(0),
            key: row.get(1),
            value: row
                .get::<_, Option<String>>(2)
                .map(String::into_bytes)
                .ok_or_else(|| format!("its value has more than the {MAX_JSON} bytes that are read")),
            created: row.get::<_, Option<i64>>(3).unwrap_or(0),
            updated: row.get::<_, Option<i64>>(4).unwrap_or(0),
            expires: row.get(5),
        };
        Ok(Some(rows.iter().map(item).collect()))
    }
}
