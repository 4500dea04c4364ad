//! Whole checkpoints, with what tasks wrote.

use rusqlite::{OptionalExtension, Row};
use superstep::Name;
use superstep::checkpoint::{
    ChannelValues, Checkpoint, CheckpointHead, CheckpointTuple, PendingWrite, TaskId, Write,
};

use super::values::Unreadable;
use super::{FEW, Space, View, lower};
use crate::codec::encoding::split;
use crate::codec::record::{Rows, Tasks};
use crate::sqlite::columns::IdColumn;
use crate::sqlite::fault::SqliteFault;

impl View<'_> {
    pub(in crate::sqlite) fn tuple(
        &mut self,
        space: &Space,
        seq: i64,
        head: CheckpointHead,
    ) -> Result<CheckpointTuple, SqliteFault> {
        let place = space.place(&head.id);
        let state = self.state(seq, &place)?;
        let mut channel_values = ChannelValues::new();
        for (channel, slot) in &state.values {
            let value = self.channel(channel, slot, &place)?;
            channel_values.insert(channel.clone(), value);
        }
        let pending_writes = self.pending_writes(seq, &place)?;
        Ok(CheckpointTuple {
            thread: space.thread.clone(),
            ns: space.ns.clone(),
            checkpoint: Checkpoint {
                id: head.id,
                parent: head.parent,
                ts: head.ts,
                channel_values,
                channel_versions: state.versions,
                versions_seen: state.seen,
                updated_channels: head.updated_channels,
                metadata: head.metadata,
                next: head.next,
            },
            pending_writes,
        })
    }

    pub(in crate::sqlite) fn pending_writes(
        &mut self,
        seq: i64,
        place: &str,
    ) -> Result<Vec<PendingWrite>, SqliteFault> {
        let mut found = Vec::new();
        self.short_writes(seq, place, &mut found)?;
        let conn = self.conn;
        let mut statement =
            conn.prepare_cached("SELECT task, path, data FROM writes WHERE checkpoint = ?1")?;
        let mut rows = statement.query([seq])?;
        while let Some(row) = rows.next()? {
            if self.hurry && found.len() > FEW {
                return Err(SqliteFault::Cold);
            }
            self.row_of_writes(row, place, &mut found)?;
        }
        found.sort_by(|a, b| {
            (&a.task_path, &a.task_id, a.write.idx).cmp(&(&b.task_path, &b.task_id, b.write.idx))
        });
        Ok(found)
    }

    /// Reads the writes in the row of a checkpoint.
    pub(in crate::sqlite) fn short_writes(
        &mut self,
        seq: i64,
        place: &str,
        found: &mut Vec<PendingWrite>,
    ) -> Result<(), SqliteFault> {
        let damaged =
            |cause: String| SqliteFault::corrupt(format!("The writes of tasks of {}", lower(place)), cause);
        let blob: Option<Option<Vec<u8>>> = self
            .conn
            .prepare_cached("SELECT tasks FROM checkpoints WHERE seq = ?1")?
            .query_row([seq], |row| row.get(0))
            .optional()
            .map_err(|error| {
                SqliteFault::from(error).at(|| format!("The writes of tasks of {}", lower(place)))
            })?;
        let Some(blob) = blob.flatten() else { return Ok(()) };
        for (task, path, rows) in Tasks::decode(&blob).map_err(damaged)?.0 {
            self.task_writes(&task, &path, &rows, place, found)?;
        }
        Ok(())
    }

    /// Reads one row of writes; whether it can be read is what the check of everything wants to know.
    pub(in crate::sqlite) fn writes_of_row(&mut self, row: i64) -> Result<(), SqliteFault> {
        let conn = self.conn;
        let mut statement = conn.prepare_cached("SELECT task, path, data FROM writes WHERE id = ?1")?;
        let mut rows = statement.query([row])?;
        match rows.next()? {
            Some(row) => self.row_of_writes(row, "A checkpoint", &mut Vec::new()),
            None => Ok(()),
        }
    }

    fn row_of_writes(
        &mut self,
        row: &Row<'_>,
        place: &str,
        found: &mut Vec<PendingWrite>,
    ) -> Result<(), SqliteFault> {
        let unreadable =
            |e: rusqlite::Error| SqliteFault::from(e).at(|| format!("A task of {}", lower(place)));
        let task = TaskId::new(row.get::<_, IdColumn>(0).map_err(unreadable)?.0);
        let path: Name = row.get(1).map_err(unreadable)?;
        let blob = row
            .get_ref(2)?
            .as_blob()
            .map_err(|e| SqliteFault::corrupt(format!("The writes of task {task} of {}", lower(place)), e))?;
        self.task_writes(&task, &path, blob, place, found)
    }

    fn task_writes(
        &mut self,
        task: &TaskId,
        path: &Name,
        blob: &[u8],
        place: &str,
        found: &mut Vec<PendingWrite>,
    ) -> Result<(), SqliteFault> {
        let damaged = |cause: String| {
            SqliteFault::corrupt(format!("The writes of task {task} of {}", lower(place)), cause)
        };
        for (idx, channel, data) in Rows::decode(blob).map_err(damaged)?.0 {
            let (refs, data) = split(&data).map_err(damaged)?;
            let value = self.decode(data, &refs).map_err(|cause| match cause {
                Unreadable::SqliteFault(fault) => fault,
                Unreadable::Damaged(cause) => damaged(cause),
            })?;
            let channel = self.names.name(self.conn, channel)?;
            found.push(PendingWrite {
                task_id: task.clone(),
                task_path: path.clone(),
                write: Write { idx, channel, value },
            });
        }
        Ok(())
    }
}

/// Returns the parts that the stored writes of a task refer to, once for each reference.
pub(in crate::sqlite) fn refs_of_writes(blob: &[u8]) -> Result<Vec<i64>, String> {
    let mut all = Vec::new();
    for (.., data) in Rows::decode(blob)?.0 {
        all.extend(split(&data)?.0);
    }
    Ok(all)
}
