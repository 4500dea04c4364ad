//! Reads everything that is stored and says what is wrong with it.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::ErrorCode;
use superstep::checkpoint::{Damage, Integrity, ListQuery, Progress, StorageError};
use superstep::{CheckpointId, ThreadId};

use crate::codec::encoding::read_refs;
use crate::codec::record::Delta;

use super::columns::IdColumn;
use super::fault::SqliteFault;
use super::reader::{Memo, View, refs_of_writes};
use super::space::Space;
use super::step_index;
use super::store::{COLUMNS, Stored};
use super::waiting;
use crate::base::quarantine::QUARANTINE_REPAIR;

/// Messages of the database's own check that are asked for.
const MESSAGES: i64 = 20;

/// Problems found, and what a repair needs to know about them.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) integrity: Integrity,
    /// Checkpoints that cannot be read, by thread.
    pub(super) unreadable: BTreeMap<ThreadId, HashSet<i64>>,
    /// Rows of writes that cannot be read, of checkpoints that can.
    pub(super) writes: Vec<i64>,
    /// Checkpoints that can be read, but for the short writes of their tasks.
    pub(super) short_writes: Vec<i64>,
    /// Checkpoints whose parent is gone and which do not need it.
    pub(super) parentless: Vec<i64>,
    /// Numbers of threads whose name is lost.
    pub(super) nameless: Vec<i64>,
    /// Pages are damaged.
    pages: bool,
    /// An index does not fit its table.
    pub(super) indices: bool,
    /// Checkpoints are not found by their step.
    pub(super) steps: bool,
    /// The table of questions that wait does not say what tasks wrote.
    pub(super) waiting: bool,
    /// Counts of references or rows that belong to nothing.
    pub(super) counts: bool,
    /// Rows of items of the store that cannot be read.
    pub(super) items: Vec<i64>,
    /// The index of the words of items is damaged.
    pub(super) words: bool,
}

impl Findings {
    pub(super) fn into_integrity(self) -> Integrity {
        self.integrity
    }

    fn damage(&mut self, thread: Option<&ThreadId>, what: String, repair: Option<&str>) {
        self.integrity.damage.push(Damage {
            thread: thread.cloned(),
            what,
            repair: repair.map(str::to_owned),
        });
    }
}

/// Items and metadata that are referred to, and how often parts really are.
#[derive(Debug, Default)]
pub(super) struct Reachable {
    pub(super) items: HashSet<i64>,
    pub(super) metas: HashSet<i64>,
    pub(super) parts: HashMap<i64, i64>,
}

impl View<'_> {
    pub(super) fn check(&mut self, progress: &Progress) -> Result<Findings, SqliteFault> {
        let mut findings = Findings::default();
        // It is the file that is checked, and not what is in memory.
        self.value_cache = None;
        let counted = self
            .conn
            .query_row("SELECT count(*) FROM checkpoints", [], |row| row.get::<_, i64>(0));
        // Where the pages to be counted are damaged, nobody knows how much there is.
        let total = counted.map_or(0, i64::unsigned_abs);
        let step = |findings: &Findings| {
            let done = findings.integrity.checkpoints;
            progress.at(done, total.max(done))
        };
        step(&findings)?;
        self.check_pages(&mut findings)?;
        let everything = self.spaces(&ListQuery::default())?;
        for of_thread in everything.chunk_by(|a, b| a.thread == b.thread) {
            findings.integrity.threads += 1;
            // Decoded once for all checkpoints of the thread.
            self.memo = Memo::keeping();
            for space in of_thread {
                self.check_space(space, &mut findings, &step)?;
            }
        }
        self.memo = Memo::default();
        self.check_names(&mut findings)?;
        self.check_steps(&mut findings)?;
        self.check_waiting(&mut findings)?;
        self.check_counts(&mut findings)?;
        self.check_items(&mut findings, &step)?;
        Ok(findings)
    }

    /// Reads every item of the store.
    fn check_items(
        &mut self,
        findings: &mut Findings,
        step: &dyn Fn(&Findings) -> Result<(), StorageError>,
    ) -> Result<(), SqliteFault> {
        let mut statement = self.conn.prepare(&format!("SELECT {COLUMNS} FROM store_items"))?;
        let mut rows = statement.query([])?;
        loop {
            let read = match rows.next() {
                Ok(None) => return Ok(()),
                Ok(Some(row)) => Stored::read(row)
                    .map(drop)
                    .map_err(|fault| (row.get(0).ok(), fault)),
                // A damaged page: what lies behind it cannot be reached.
                Err(error) => Err((None, error.into())),
            };
            findings.integrity.items += 1;
            step(findings)?;
            let Err((id, fault)) = read else { continue };
            let Some(what) = unreadable::<()>(Err(fault))? else {
                continue;
            };
            match id {
                Some(id) => {
                    findings.items.push(id);
                    findings.damage(None, what, Some(QUARANTINE_REPAIR));
                }
                None => {
                    findings.damage(None, format!("Items of the store: {what}"), None);
                    return Ok(());
                }
            }
        }
    }

    fn check_pages(&mut self, findings: &mut Findings) -> Result<(), SqliteFault> {
        let mut statement = self
            .conn
            .prepare(&format!("PRAGMA integrity_check({MESSAGES})"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let message: String = row.get(0)?;
            if message == "ok" {
                continue;
            }
            let index = [
                "missing from index",
                "entries in index",
                "non-unique entry in index",
            ];
            if message.contains("store_words") {
                findings.words = true;
                findings.damage(
                    None,
                    format!("The file: {message}"),
                    Some("the words that items are found by are cut again from their values"),
                );
            } else if index.iter().any(|part| message.contains(part)) {
                findings.indices = true;
                findings.damage(
                    None,
                    format!("The file: {message}"),
                    Some("the index is made again"),
                );
            } else {
                findings.pages = true;
                // The pages themselves: only a copy from before, or SQLite's own recovery, brings them back.
                findings.damage(None, format!("The file: {message}"), None);
            }
        }
        Ok(())
    }

    /// Checks that threads have names: one without cannot be asked for, and a new one would get its number and its
    /// past.
    fn check_names(&mut self, findings: &mut Findings) -> Result<(), SqliteFault> {
        let mut statement = self.conn.prepare(
            "SELECT DISTINCT thread FROM spaces WHERE thread NOT IN (SELECT id FROM threads) ORDER BY thread",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let thread: i64 = row.get(0)?;
            findings.nameless.push(thread);
            let what = format!("The name of thread number {thread} is lost");
            findings.damage(None, what, Some("it is called `recovered` and its number"));
        }
        Ok(())
    }

    /// Checks that the table of steps has every checkpoint up to the row that it states, and no other.
    fn check_steps(&self, findings: &mut Findings) -> Result<(), SqliteFault> {
        if findings.pages {
            // They are named, and what stands on them cannot be asked for.
            return Ok(());
        }
        let wrong = step_index::wrong(self.conn)?;
        if wrong > 0 {
            findings.steps = true;
            let what = format!("{wrong} entries of the table of steps are wrong or missing");
            findings.damage(None, what, Some("the table is made again"));
        }
        Ok(())
    }

    /// Checks that the table of waiting questions matches what tasks wrote.
    fn check_waiting(&self, findings: &mut Findings) -> Result<(), SqliteFault> {
        if findings.pages {
            return Ok(());
        }
        let wrong = waiting::wrong(self.conn)?;
        if wrong > 0 {
            findings.waiting = true;
            let what = format!("{wrong} entries of the table of questions that wait are wrong or missing");
            findings.damage(None, what, Some("the table is made again"));
        }
        Ok(())
    }

    fn check_space(
        &mut self,
        space: &Space,
        findings: &mut Findings,
        step: &dyn Fn(&Findings) -> Result<(), StorageError>,
    ) -> Result<(), SqliteFault> {
        let conn = self.conn;
        let mut statement = conn.prepare_cached(
            "SELECT c.seq, c.id, typeof(c.parent) = 'integer' AND p.seq IS NULL
             FROM checkpoints c LEFT JOIN checkpoints p ON p.seq = c.parent WHERE c.space = ?1 ORDER BY c.seq",
        )?;
        let mut rows = statement.query([space.row])?;
        while let Some(row) = rows.next()? {
            let seq: i64 = row.get(0)?;
            findings.integrity.checkpoints += 1;
            step(findings)?;
            let read = row
                .get::<_, IdColumn>(1)
                .map_err(SqliteFault::from)
                .map(|id| CheckpointId::new(id.0))
                .and_then(|id| self.read_whole(space, seq, &id))
                .map_err(|fault| fault.at(|| format!("A checkpoint of thread {}", space.thread)));
            let Some(what) = unreadable(read)? else { continue };
            let orphan: bool = row.get(2)?;
            if orphan && unreadable(self.state(seq, "A checkpoint").map(drop))?.is_none() {
                findings.parentless.push(seq);
                findings.damage(Some(&space.thread), what, Some("it goes on without a past"));
                continue;
            }
            let bad = self.bad_writes(seq)?;
            let short = unreadable(self.short_writes(seq, "A checkpoint", &mut Vec::new()))?.is_some();
            if (short || !bad.is_empty()) && unreadable(self.read_values(space, seq))?.is_none() {
                findings.writes.extend(bad);
                findings.short_writes.extend(short.then_some(seq));
                let repair = "these writes are removed, and their task runs again";
                findings.damage(Some(&space.thread), what, Some(repair));
                continue;
            }
            findings
                .unreadable
                .entry(space.thread.clone())
                .or_default()
                .insert(seq);
            let repair = "the checkpoint is removed, and what continues it goes on without a past";
            findings.damage(Some(&space.thread), what, Some(repair));
        }
        Ok(())
    }

    fn read_whole(&mut self, space: &Space, seq: i64, id: &CheckpointId) -> Result<(), SqliteFault> {
        let query = ListQuery::new().id(id.clone());
        match self.select_in(&query, space, 1)?.pop() {
            Some((found, head)) if found == seq => self.tuple(space, seq, head).map(drop),
            _ => Err(SqliteFault::corrupt(space.place(id), "it is not found by its id")),
        }
    }

    fn read_values(&mut self, space: &Space, seq: i64) -> Result<(), SqliteFault> {
        let place = format!("A checkpoint of thread {}", space.thread);
        let state = self.state(seq, &place)?;
        for (channel, slot) in &state.values {
            self.channel(channel, slot, &place)?;
        }
        Ok(())
    }

    /// Returns the rows of writes of a checkpoint that cannot be read.
    fn bad_writes(&mut self, seq: i64) -> Result<Vec<i64>, SqliteFault> {
        let conn = self.conn;
        let rows: Vec<i64> = conn
            .prepare_cached("SELECT id FROM writes WHERE checkpoint = ?1")?
            .query_map([seq], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut bad = Vec::new();
        for row in rows {
            if unreadable(self.writes_of_row(row))?.is_some() {
                bad.push(row);
            }
        }
        Ok(bad)
    }

    fn check_counts(&mut self, findings: &mut Findings) -> Result<(), SqliteFault> {
        let found = match self.reachable() {
            Ok(found) => found,
            // What is damaged was named already.
            Err(fault) => return unreadable(Err::<(), _>(fault)).map(drop),
        };
        let repair = Some("it is removed");
        let stray = |table: &str, known: &dyn Fn(i64) -> bool| -> Result<u64, SqliteFault> {
            let mut count = 0;
            let mut statement = self.conn.prepare(&format!("SELECT id FROM {table}"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                count += u64::from(!known(row.get(0)?));
            }
            Ok(count)
        };
        let items = stray("items", &|row| found.items.contains(&row))?;
        let metas = stray("metas", &|row| found.metas.contains(&row))?;
        let writes: i64 = self.conn.query_row(
            "SELECT count(*) FROM writes WHERE checkpoint NOT IN (SELECT seq FROM checkpoints)",
            [],
            |row| row.get(0),
        )?;
        for (count, what) in [
            (items, "values"),
            (metas, "metadata"),
            (writes.unsigned_abs(), "writes"),
        ] {
            if count > 0 {
                findings.counts = true;
                findings.damage(
                    None,
                    format!("{count} rows of {what} belong to no checkpoint"),
                    repair,
                );
            }
        }
        let mut wrong = 0;
        let mut statement = self.conn.prepare(
            "SELECT p.id, 1 + coalesce(s.more, 0) FROM parts p LEFT JOIN shares s ON s.part = p.id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (part, counted): (i64, i64) = (row.get(0)?, row.get(1)?);
            wrong += u64::from(found.parts.get(&part).copied().unwrap_or(0) != counted);
        }
        if wrong > 0 {
            findings.counts = true;
            let what = format!("{wrong} shared parts of values are counted wrong");
            findings.damage(None, what, Some("they are counted again"));
        }
        Ok(())
    }

    /// Returns what checkpoints and their writes refer to, through lists and parts.
    pub(super) fn reachable(&mut self) -> Result<Reachable, SqliteFault> {
        let mut found = Reachable::default();
        let mut open = Vec::new();
        {
            let mut statement = self.conn.prepare("SELECT meta, delta FROM checkpoints")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                found.metas.insert(row.get(0)?);
                let delta = Delta::decode(row.get_ref(1)?.as_bytes().unwrap_or_default());
                // A damaged one was named already; what it alone refers to cannot be known.
                open.extend(
                    delta
                        .unwrap_or_default()
                        .channels
                        .into_iter()
                        .map(|(.., item)| item),
                );
            }
        }
        let mut bases: HashMap<i64, i64> = HashMap::new();
        {
            let mut statement = self
                .conn
                .prepare("SELECT id, base FROM items WHERE base IS NOT NULL")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                bases.insert(row.get(0)?, row.get(1)?);
            }
        }
        while let Some(item) = open.pop() {
            if item != 0 && found.items.insert(item) {
                open.extend(bases.get(&item));
            }
        }
        let mut count = |refs: Result<Vec<i64>, String>| {
            for part in refs.unwrap_or_default() {
                *found.parts.entry(part).or_default() += 1;
            }
        };
        {
            let mut statement = self
                .conn
                .prepare("SELECT refs, id FROM items WHERE refs IS NOT NULL")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if found.items.contains(&row.get(1)?) {
                    count(read_refs(row.get_ref(0)?.as_bytes_or_null().unwrap_or_default()));
                }
            }
        }
        {
            let sql = "SELECT data FROM writes WHERE checkpoint IN (SELECT seq FROM checkpoints)";
            let mut statement = self.conn.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                count(refs_of_writes(row.get_ref(0)?.as_bytes().unwrap_or_default()));
            }
        }
        // A part only refers to earlier ones: from the last to the first, each is known to be needed or not.
        let mut statement = self.conn.prepare("SELECT id, refs FROM parts ORDER BY id DESC")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if found.parts.contains_key(&row.get(0)?) {
                let refs = row.get_ref(1)?.as_bytes_or_null().unwrap_or_default();
                for part in read_refs(refs).unwrap_or_default() {
                    *found.parts.entry(part).or_default() += 1;
                }
            }
        }
        Ok(found)
    }
}

/// Returns why something could not be read, when it is damaged; other errors end the check.
fn unreadable<T>(read: Result<T, SqliteFault>) -> Result<Option<String>, SqliteFault> {
    match read {
        Ok(_) => Ok(None),
        Err(SqliteFault::Storage(StorageError::Corrupt { place, cause })) => {
            Ok(Some(format!("{place}: {cause}")))
        }
        Err(SqliteFault::Sql(error))
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
            ) =>
        {
            Ok(Some(error.to_string()))
        }
        Err(fault) => match fault.at(|| "A record".to_owned()) {
            SqliteFault::Storage(StorageError::Corrupt { place, cause }) => {
                Ok(Some(format!("{place}: {cause}")))
            }
            fault => Err(fault),
        },
    }
}
