//! Lists of threads, which the server pages and searches.

use superstep::ThreadId;
use superstep::checkpoint::{StorageError, ThreadQuery, ThreadStatus, ThreadSummary};
use tokio_postgres::Row;

use super::statements::{COUNT, THREAD, THREADS};
use super::{AFTER_ALL, ConcatRows, PAGE, View};
use crate::base::quarantine::passed_over;
use crate::postgres::fault::PostgresFault;
use crate::postgres::server::Params;

impl View {
    pub(in crate::postgres) async fn threads(
        &mut self,
        query: &ThreadQuery,
    ) -> Result<Vec<ThreadSummary>, PostgresFault> {
        let limit = query.limit.unwrap_or(usize::MAX);
        let (search, status) = conditions(query);
        let idle = query.idle_since.as_deref();
        let (mut head, mut name) = match &query.after {
            Some(place) => (place.head.as_str().to_owned(), place.thread.as_str().to_owned()),
            None => (AFTER_ALL.to_owned(), String::new()),
        };
        let exact = query.filter.is_empty() && (search.is_some() || query.search.is_none());
        let wanted = i64::try_from(limit).unwrap_or(i64::MAX);
        let page = if exact || limit == usize::MAX {
            wanted
        } else {
            PAGE.max(wanted)
        };
        let mut found = Vec::new();
        while found.len() < limit {
            let params: Params<'_> = &[&search, &idle, &status, &head, &name, &page];
            let rows = self.together([(THREADS, params)]).await?.concat_rows();
            self.learn_names(&rows).await?;
            for row in &rows {
                let thread: &str = row.try_get(1)?;
                match self.summary(row) {
                    Ok(summary) if query.matches(&summary) => found.push(summary),
                    Ok(_) => {}
                    // One damaged thread must not hide the others.
                    Err(PostgresFault::Storage(error @ StorageError::Corrupt { .. })) => {
                        passed_over(&ThreadId::from(thread), &error);
                    }
                    Err(other) => return Err(other),
                }
            }
            match rows.last() {
                Some(row) if rows.len() as i64 == page => {
                    head = row.try_get(4)?;
                    name = row.try_get(1)?;
                }
                _ => break,
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    pub(in crate::postgres) async fn thread(
        &mut self,
        thread: &ThreadId,
    ) -> Result<Option<ThreadSummary>, PostgresFault> {
        let any = None::<&str>;
        let params: Params<'_> = &[&any, &any, &any, &thread.as_str()];
        let rows = self.together([(THREAD, params)]).await?.concat_rows();
        self.learn_names(&rows).await?;
        rows.first().map(|row| self.summary(row)).transpose()
    }

    pub(in crate::postgres) async fn count_threads(
        &mut self,
        query: &ThreadQuery,
    ) -> Result<u64, PostgresFault> {
        let (search, status) = conditions(query);
        if query.filter.is_empty() && (search.is_some() || query.search.is_none()) {
            let params: Params<'_> = &[&search, &query.idle_since, &status];
            let rows = self.together([(COUNT, params)]).await?.concat_rows();
            let count = rows.first().map_or(Ok(0), |row| row.try_get::<_, i64>(0))?;
            return Ok(count.unsigned_abs());
        }
        let all = query.clone().after(None).limit(None);
        Ok(self.threads(&all).await?.len() as u64)
    }

    fn summary(&mut self, row: &Row) -> Result<ThreadSummary, PostgresFault> {
        let found = self.head(row)?;
        Ok(ThreadSummary {
            thread: found.thread,
            head: found.head,
            checkpoints: row.try_get::<_, i64>(14)?.unsigned_abs(),
            created: row.try_get(15)?,
        })
    }
}

/// Returns what the server can search for: text without case where ASCII defines that, and the status.
fn conditions(query: &ThreadQuery) -> (Option<String>, Option<&'static str>) {
    let search = query.search.as_ref().filter(|search| search.is_ascii());
    (
        search.map(|search| search.to_ascii_lowercase()),
        query.status.map(ThreadStatus::as_str),
    )
}
