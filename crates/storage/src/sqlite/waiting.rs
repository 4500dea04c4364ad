//! Questions that wait: a table that triggers keep (`migrations/0006_waiting.sql`), so that who stores, copies, prunes or
//! repairs need not know of it. Here it is read, checked and filled.

use rusqlite::types::{ToSqlOutput, Value as Sql};
use rusqlite::{Connection, OptionalExtension, Row, Statement, params};
use superstep::checkpoint::{
    CheckpointAddress, PendingWrite, StorageError, Waiting, WaitingQuery, reserved, write_index,
};
use superstep::{CheckpointId, ThreadId};

use crate::base::quarantine::{ABANDONED, passed_over};
use crate::codec::encoding::split;
use crate::codec::record::Rows;

use super::columns::{IdColumn, id_column, time_text};
use super::fault::SqliteFault;
use super::reader::View;
use super::space::Space;

/// What the table is to hold.
macro_rules! asked {
    () => {
        "SELECT w.checkpoint, c.space, c.id, count(*) AS tasks FROM writes w
         JOIN checkpoints c ON c.seq = w.checkpoint JOIN spaces s ON s.id = c.space AND s.ns = ''
         WHERE w.status > 0 AND w.status & 1 GROUP BY w.checkpoint"
    };
}

/// What is shown of each; the names of threads decide between copies, which have the same ids.
macro_rules! listed {
    ($from:literal) => {
        concat!(
            "SELECT w.id, t.name, c.ts, w.tasks, w.id = (SELECT max(n.id) FROM checkpoints n WHERE n.space = w.space)
             FROM ",
            $from,
            " CROSS JOIN spaces s ON s.id = w.space CROSS JOIN threads t ON t.id = s.thread
             CROSS JOIN checkpoints c ON c.seq = w.checkpoint
             WHERE w.id >= ?1 AND (w.id > ?1 OR t.name > ?2) ORDER BY w.id, t.name LIMIT ?3"
        )
    };
}
const ALL: &str = listed!("waiting w INDEXED BY waiting_by_id");
const OF_THREAD: &str = listed!(
    "(SELECT s.id FROM threads t JOIN spaces s ON s.thread = t.id AND s.ns = '' WHERE t.name = ?4) o
     CROSS JOIN waiting w INDEXED BY waiting_by_space ON w.space = o.id"
);

impl View<'_> {
    pub(super) fn waiting(&mut self, query: &WaitingQuery) -> Result<Vec<Waiting>, SqliteFault> {
        // A number comes before every id.
        let (id, thread) = match &query.after {
            Some((id, thread)) => (id_column(id.as_str()), ToSqlOutput::from(thread.as_str())),
            None => (ToSqlOutput::Owned(Sql::Integer(0)), ToSqlOutput::from("")),
        };
        let limit = query
            .limit
            .and_then(|limit| i64::try_from(limit).ok())
            .unwrap_or(-1);
        let conn = self.conn;
        let read = |statement: &mut Statement<'_>, params: &[&dyn rusqlite::ToSql]| {
            let mut found = Vec::new();
            let mut rows = statement.query(params)?;
            while let Some(row) = rows.next()? {
                let thread = ThreadId::new(row.get::<_, String>(1)?);
                match shown(row, &thread) {
                    Ok(one) => found.push(one),
                    // One damaged checkpoint must not hide the questions of others.
                    Err(SqliteFault::Storage(error @ StorageError::Corrupt { .. })) => {
                        passed_over(&thread, &error)
                    }
                    Err(other) => return Err(other),
                }
            }
            Ok(found)
        };
        match &query.thread {
            None => read(&mut *conn.prepare_cached(ALL)?, &[&id, &thread, &limit]),
            Some(of) => read(
                &mut *conn.prepare_cached(OF_THREAD)?,
                &[&id, &thread, &limit, &of.as_str()],
            ),
        }
    }

    pub(super) fn count_waiting(&mut self) -> Result<u64, SqliteFault> {
        let sum = "SELECT coalesce(sum(tasks), 0) FROM waiting INDEXED BY waiting_by_id";
        let count: i64 = self.conn.prepare_cached(sum)?.query_row([], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Reads the writes of a checkpoint, and nothing else of it.
    pub(super) fn writes(&mut self, address: &CheckpointAddress) -> Result<Vec<PendingWrite>, SqliteFault> {
        let CheckpointAddress { thread, ns, id } = address;
        let found: Option<(i64, i64)> = self
            .conn
            .prepare_cached(
                "SELECT s.id, c.seq FROM threads t JOIN spaces s ON s.thread = t.id AND s.ns = ?2
                 JOIN checkpoints c INDEXED BY checkpoints_by_id ON c.space = s.id AND c.id = ?3 WHERE t.name = ?1",
            )?
            .query_row(params![thread.as_str(), &**ns, id_column(id.as_str())], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let Some((row, seq)) = found else {
            return Ok(Vec::new());
        };
        let space = Space {
            row,
            thread: thread.clone(),
            ns: ns.clone(),
        };
        self.pending_writes(seq, &space.place(id))
    }
}

fn shown(row: &Row<'_>, thread: &ThreadId) -> Result<Waiting, SqliteFault> {
    let damaged = |fault: rusqlite::Error| {
        SqliteFault::from(fault).at(|| format!("A checkpoint of thread {thread} that asks"))
    };
    Ok(Waiting {
        thread: thread.clone(),
        checkpoint: CheckpointId::new(row.get::<_, IdColumn>(0).map_err(damaged)?.0),
        ts: time_text(row.get_ref(2)?).map_err(|e| SqliteFault::corrupt("A time stamp", e))?,
        tasks: row.get(3).map_err(damaged)?,
        is_newest: row.get(4).map_err(damaged)?,
    })
}

/// Counts the rows of the table that are wrong or missing.
pub(super) fn wrong(conn: &Connection) -> rusqlite::Result<i64> {
    conn.query_row(
        concat!(
            "WITH a (checkpoint, space, id, tasks) AS (",
            asked!(),
            ") SELECT (SELECT count(*) FROM (SELECT * FROM a EXCEPT SELECT checkpoint, space, id, tasks FROM waiting))
                 + (SELECT count(*) FROM waiting WHERE checkpoint NOT IN (SELECT checkpoint FROM a))"
        ),
        [],
        |row| row.get(0),
    )
}

/// Rebuilds the table from nothing.
pub(super) fn refill(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(concat!(
        "DELETE FROM waiting; INSERT INTO waiting (checkpoint, space, id, tasks) ",
        asked!()
    ))
}

/// Returns whether there is anything to do for [`fill`].
pub(super) fn is_unfilled(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row(
        "SELECT EXISTS (SELECT 1 FROM epochs WHERE asked = 0)",
        [],
        |row| row.get(0),
    )
}

/// Completes the migration to schema 6, in a transaction of its own for the same reason as `steps_of_index`: questions
/// that were asked before the table existed are added to it. Older releases did not withdraw those that were followed
/// by a new input; this is corrected, so that they wait for nobody.
pub(super) fn fill(conn: &Connection) -> rusqlite::Result<()> {
    let abandoned = "SELECT w.id, w.data FROM writes w JOIN checkpoints q ON q.seq = w.checkpoint
                     JOIN spaces s ON s.id = q.space AND s.ns = ''
                     WHERE w.status > 0 AND w.status & 1 AND w.checkpoint IN
                         (SELECT c.parent FROM checkpoints c NOT INDEXED WHERE c.source = 0 AND typeof(c.parent) = 'integer')";
    let some: bool = conn.query_row(
        "SELECT EXISTS (SELECT 1 FROM writes WHERE status > 0 AND status & 1)",
        [],
        |row| row.get(0),
    )?;
    if some {
        let rows: Vec<(i64, Vec<u8>)> = conn
            .prepare(abandoned)?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        conn.execute(
            "INSERT INTO names (name) VALUES (?1) ON CONFLICT DO NOTHING",
            [reserved::WITHDRAWN],
        )?;
        let channel: i64 = conn.query_row(
            "SELECT id FROM names WHERE name = ?1",
            [reserved::WITHDRAWN],
            |row| row.get(0),
        )?;
        for (row, data) in rows {
            // What cannot be read is named by a check, and its task runs again after a repair.
            let Ok(mut writes) = Rows::decode(&data) else {
                continue;
            };
            if writes.0.iter().any(|(.., data)| split(data).is_err()) {
                continue;
            }
            writes.add(
                write_index(reserved::WITHDRAWN, 0),
                channel,
                ABANDONED.as_bytes().to_vec(),
            );
            conn.execute(
                "UPDATE writes SET status = status & ~1, data = ?2 WHERE id = ?1",
                params![row, writes.encode()],
            )?;
        }
    }
    refill(conn)?;
    conn.execute("UPDATE epochs SET asked = 1", []).map(drop)
}
