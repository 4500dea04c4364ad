//! Questions that wait, and what tasks wrote.

use superstep::checkpoint::{CheckpointAddress, PendingWrite, Waiting, WaitingQuery};
use superstep::{CheckpointId, ThreadId};
use tokio_postgres::Row;

use super::tuples::pending_writes;
use super::{ConcatRows, View, place};
use crate::postgres::fault::PostgresFault;
use crate::postgres::parts::Library;
use crate::postgres::server::Params;

use super::statements::WRITES_AT;

/// A page of the list, of one thread or of all.
macro_rules! page {
    ($where:literal) => {
        concat!(
            "SELECT w.id, w.thread, c.ts, w.tasks, w.id = s.head FROM (
                 SELECT id, thread, space, count(*) AS tasks FROM waiting WHERE ",
            $where,
            " GROUP BY id, thread, space ORDER BY id, thread LIMIT $1
             ) w JOIN spaces s ON s.id = w.space JOIN checkpoints c ON c.space = w.space AND c.id = w.id
             ORDER BY w.id, w.thread"
        )
    };
}
const ALL: &str = page!("true");
const AFTER: &str = page!("(id, thread) > ($2::text, $3::text)");
const OF_THREAD: &str = page!("thread = $2::text");
const OF_THREAD_AFTER: &str = page!("thread = $4::text AND (id, thread) > ($2::text, $3::text)");

impl View {
    pub(in crate::postgres) async fn waiting(
        &mut self,
        query: &WaitingQuery,
    ) -> Result<Vec<Waiting>, PostgresFault> {
        let limit = query.limit.and_then(|limit| i64::try_from(limit).ok());
        let limit = limit.unwrap_or(i64::MAX);
        let thread = query.thread.as_ref().map(ThreadId::as_str);
        let after = query
            .after
            .as_ref()
            .map(|(id, thread)| (id.as_str(), thread.as_str()));
        let statement: (&str, Params<'_>) = match (&thread, &after) {
            (None, None) => (ALL, &[&limit]),
            (None, Some((id, place))) => (AFTER, &[&limit, id, place]),
            (Some(thread), None) => (OF_THREAD, &[&limit, thread]),
            (Some(thread), Some((id, place))) => (OF_THREAD_AFTER, &[&limit, id, place, thread]),
        };
        let rows = self.together([statement]).await?.concat_rows();
        rows.iter()
            .map(|row| {
                Ok(Waiting {
                    checkpoint: CheckpointId::new(row.try_get::<_, &str>(0)?),
                    thread: ThreadId::from(row.try_get::<_, &str>(1)?),
                    ts: row.try_get(2)?,
                    tasks: u32::try_from(row.try_get::<_, i64>(3)?).unwrap_or(u32::MAX),
                    is_newest: row.try_get(4)?,
                })
            })
            .collect()
    }

    pub(in crate::postgres) async fn count_waiting(&mut self) -> Result<u64, PostgresFault> {
        // One statement by itself sees one moment: it needs no transaction around it.
        let rows = self.session.query("SELECT count(*) FROM waiting", &[]).await?;
        let count: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
        Ok(count.unsigned_abs())
    }

    pub(in crate::postgres) async fn writes(
        &mut self,
        of: &[CheckpointAddress],
    ) -> Result<Vec<Vec<PendingWrite>>, PostgresFault> {
        let threads: Vec<&str> = of.iter().map(|address| address.thread.as_str()).collect();
        let spaces: Vec<&str> = of.iter().map(|address| &*address.ns).collect();
        let ids: Vec<&str> = of.iter().map(|address| address.id.as_str()).collect();
        let params: Params<'_> = &[&threads, &spaces, &ids];
        let rows = self.together([(WRITES_AT, params)]).await?.concat_rows();
        let (mut names, mut parts) = (std::collections::HashSet::new(), Vec::new());
        let mut of_each: Vec<Vec<&Row>> = vec![Vec::new(); of.len()];
        for row in &rows {
            names.insert(row.try_get(4)?);
            parts.extend(row.try_get::<_, Option<Vec<i64>>>(5)?.unwrap_or_default());
            let place = usize::try_from(row.try_get::<_, i64>(7)? - 1).ok();
            if let Some(rows) = place.and_then(|place| of_each.get_mut(place)) {
                rows.push(row);
            }
        }
        let known = self.names.clone();
        known.learn(&mut self.session, names).await?;
        let parts = match parts.is_empty() {
            true => Vec::new(),
            false => self.last(&[], &[], &parts).await?.1,
        };
        let mut library = Library::read(&parts)?;
        let read = |(rows, address): (Vec<&Row>, &CheckpointAddress)| {
            let place = place(&address.id, &address.thread, &address.ns);
            pending_writes(rows.into_iter(), &known, &mut library, &place)
        };
        of_each.into_iter().zip(of).map(read).collect()
    }
}
