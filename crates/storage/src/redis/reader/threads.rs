//! Lists of threads, read page by page in the order of their newest checkpoints.

use superstep::checkpoint::{ListQuery, StorageError, ThreadQuery, ThreadSummary};
use superstep::{CheckpointId, ThreadId};

use super::{PAGE, index_key};
use crate::base::quarantine::passed_over;
use crate::redis::server::{Server, bytes, number, parts, placed, text};

impl Server {
    /// Returns every thread that has any data.
    pub(in crate::redis) async fn all_threads(&self) -> Result<Vec<ThreadId>, StorageError> {
        let gone = self.sweep().await?;
        let mut ask = redis::cmd("HKEYS");
        ask.arg(self.keys.of_all("threads"));
        let names = parts(self.call(ask, "listing threads").await?);
        let mut threads: Vec<ThreadId> = names.into_iter().map(|name| text(name).into()).collect();
        threads.retain(|thread| !gone.contains(thread));
        threads.sort();
        Ok(threads)
    }

    pub(in crate::redis) async fn threads(
        &self,
        query: &ThreadQuery,
    ) -> Result<Vec<ThreadSummary>, StorageError> {
        self.sweep().await?;
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut found = Vec::new();
        let mut from = match &query.after {
            Some(after) => [
                b"(",
                crate::redis::server::place(&after.head, &after.thread).as_slice(),
            ]
            .concat(),
            None => b"+".to_vec(),
        };
        while found.len() < limit {
            let mut ask = redis::cmd("ZRANGE");
            ask.arg(self.keys.of_all("places"))
                .arg(&from)
                .arg("-")
                .arg("BYLEX")
                .arg("REV");
            ask.arg("LIMIT").arg(0).arg(PAGE);
            let places: Vec<Vec<u8>> = parts(self.call(ask, "listing threads").await?)
                .into_iter()
                .map(bytes)
                .collect();
            let Some(last) = places.last() else { break };
            from = [b"(", last.as_slice()].concat();
            let wanted = places.iter().filter_map(|place| placed(place));
            let wanted = wanted.filter(|(_, thread)| {
                let search = query.search.as_ref().map(|search| search.to_lowercase());
                search.is_none_or(|search| thread.as_str().to_lowercase().contains(&search))
            });
            let asked = wanted.map(|(head, thread)| async move {
                let summary = self.summary(head, thread.clone()).await;
                (thread, summary)
            });
            for (thread, summary) in futures::future::join_all(asked).await {
                let summary = match summary {
                    // One damaged thread does not hide the others.
                    Err(error @ StorageError::Corrupt { .. }) => {
                        passed_over(&thread, &error);
                        continue;
                    }
                    other => other?,
                };
                found.extend(summary.filter(|summary| found.len() < limit && query.matches(summary)));
            }
        }
        Ok(found)
    }

    pub(in crate::redis) async fn thread(
        &self,
        thread: &ThreadId,
    ) -> Result<Option<ThreadSummary>, StorageError> {
        let newest = ListQuery::new().thread(thread.clone()).ns("").limit(1);
        match self.heads(&newest).await?.pop() {
            Some(head) => self.summary(head.id, thread.clone()).await,
            None => Ok(None),
        }
    }

    async fn summary(
        &self,
        head: CheckpointId,
        thread: ThreadId,
    ) -> Result<Option<ThreadSummary>, StorageError> {
        let mut ask = redis::cmd("HMGET");
        ask.arg(self.keys.of("facts", &thread))
            .arg("created")
            .arg("roots");
        let keys = [index_key("", &head)];
        let (facts, heads) = futures::try_join!(
            self.call(ask, "reading the list of threads"),
            self.heads_of(&thread, &keys)
        )?;
        let mut facts = parts(facts).into_iter();
        let mut fact = || facts.next().unwrap_or(redis::Value::Nil);
        let (created, checkpoints) = (text(fact()), number(fact()) as u64);
        Ok(heads.into_iter().next().map(|(_, head)| ThreadSummary {
            thread,
            head,
            created,
            checkpoints,
        }))
    }

    pub(in crate::redis) async fn count_threads(&self, query: &ThreadQuery) -> Result<u64, StorageError> {
        let plain = query.search.is_none() && query.status.is_none() && query.idle_since.is_none();
        if plain && query.filter.is_empty() {
            let mut gone = 0;
            for thread in self.sweep().await? {
                let mut ask = redis::cmd("HGET");
                ask.arg(self.keys.of_all("threads")).arg(thread.as_str());
                // Without a root checkpoint it has no place.
                gone += u64::from(!bytes(self.call(ask, "counting threads").await?).is_empty());
            }
            let mut ask = redis::cmd("ZCARD");
            ask.arg(self.keys.of_all("places"));
            let listed = number(self.call(ask, "counting threads").await?) as u64;
            return Ok(listed.saturating_sub(gone));
        }
        let all = query.clone().after(None).limit(None);
        Ok(self.threads(&all).await?.len() as u64)
    }
}
