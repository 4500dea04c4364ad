//! The list of threads, page by page. Storage gives threads in their order and filters what it can; titles and how
//! runs ended are the ledger's, so what asks for those is sifted here, without values and without titles being made.

use std::collections::HashMap;
use std::sync::Arc;

use superstep::checkpoint::{ThreadPlace, ThreadQuery, ThreadStatus, ThreadSummary};
use superstep::value::Object;

use crate::Workbench;
use crate::ledger::ThreadRow;
use crate::session;
use crate::threads::status::RunsOf;
use crate::wire::{ListThreads, Problem, RunStatus, ThreadList, ThreadView};
use superstep_document::text;

/// Threads of a page when nobody says how many.
const PAGE: usize = 200;
/// Largest page: one more is asked for with its `next`. Nothing is reserved by a number that came from outside.
const MAX_PAGE: u32 = 5000;

/// Returns the number of entries of a page: the number that the caller requested, within limits, or the default.
pub(crate) fn page_size(asked: Option<u32>, usual: usize) -> usize {
    asked.map_or(usual, |asked| asked.clamp(1, MAX_PAGE) as usize)
}

/// Threads that are sifted at once.
const SIFTED: usize = 500;

/// Selection of the threads in a list.
struct ThreadFilter {
    /// One per key that a graph is known by in threads; one without an entry for every graph.
    filters: Vec<Object>,
    /// What storage knows.
    stored: Option<ThreadStatus>,
    status: Option<RunStatus>,
    needle: String,
    /// Of threads of another program only those of this graph, where several were seen.
    seen: Option<String>,
}

impl ThreadFilter {
    /// Returns whether storage alone cannot decide which threads belong in the list.
    fn sifts(&self) -> bool {
        !self.needle.is_empty() || self.seen.is_some() || (self.status.is_some() && self.stored.is_none())
    }

    /// Returns whether counting all threads would read each of them for nothing but the number.
    fn is_costly_to_count(&self) -> bool {
        self.seen.is_some() && self.needle.is_empty() && self.status.is_none()
    }

    fn matches(&self, view: &ThreadView) -> bool {
        let contains = |text: &str| text.to_lowercase().contains(&self.needle);
        (self.needle.is_empty() || contains(&view.title) || contains(&view.thread_id))
            && self.status.is_none_or(|status| status == view.status)
    }
}

/// Information of the ledger about the threads of a page.
struct LedgerRows {
    rows: HashMap<String, ThreadRow>,
    runs: RunsOf,
}

/// Formats a place in the list for an interface.
pub(crate) fn place_text(place: &ThreadPlace) -> String {
    format!("{}/{}", place.head, place.thread)
}

/// Parses the place that an interface sends back.
pub(crate) fn place(text: &str) -> Result<ThreadPlace, Problem> {
    let (head, thread) = text.split_once('/').ok_or_else(|| {
        Problem::invalid(format!("{text:?} is not a place in the list of threads."))
            .remedy(text!("Load the list from its beginning."))
    })?;
    Ok(ThreadPlace {
        head: head.into(),
        thread: thread.into(),
    })
}

impl Workbench {
    /// Returns the keys that an open document is known by in threads; none where the threads are another program's, which are
    /// looked through beside any graph.
    pub(crate) fn keys_of_graph(&self, graph_id: &str) -> Result<Vec<String>, Problem> {
        if self.saver().foreign().is_some() {
            return Ok(Vec::new());
        }
        let key = self.document(graph_id)?.key();
        let mut keys = self.ledger.drafts_of(&key)?;
        // A draft that was saved keeps the id that its first threads know it by.
        keys.push(graph_id.to_owned());
        keys.push(key);
        keys.sort();
        keys.dedup();
        Ok(keys)
    }

    fn wanted(&self, request: &ListThreads) -> Result<ThreadFilter, Problem> {
        let mut labels = Object::new();
        if let Some(wanted) = &request.labels {
            wanted.note(&mut labels);
        }
        let filters = match &request.graph_id {
            // Threads of another program belong to no graph here: they are shown beside any.
            _ if self.saver().foreign().is_some() => vec![labels],
            None => vec![labels],
            Some(graph_id) => {
                let keys = self.keys_of_graph(graph_id)?;
                keys.iter()
                    .map(|key| session::of_graph(labels.clone(), key))
                    .collect()
            }
        };
        let stored = match request.status {
            Some(RunStatus::Done) => Some(ThreadStatus::Idle),
            Some(RunStatus::Asking) => Some(ThreadStatus::Interrupted),
            _ => None,
        };
        let needle = request
            .search
            .as_deref()
            .unwrap_or_default()
            .trim()
            .to_lowercase();
        Ok(ThreadFilter {
            filters,
            stored,
            status: request.status,
            needle,
            seen: None,
        })
    }

    /// Returns the graph that the threads of a list must be of, where several were seen in the database and it is one of them.
    async fn only_seen(&self, graph_id: Option<&str>) -> Result<Option<String>, Problem> {
        let seen = self.seen().await?;
        let several = seen.filter(|seen| seen.graphs.len() > 1);
        let of = several.and_then(|seen| seen.graph(graph_id?).map(|graph| graph.id.clone()));
        Ok(of)
    }

    /// Reads the next threads in the order of storage, whichever filter they fit.
    async fn summaries(
        &self,
        wanted: &ThreadFilter,
        after: Option<&ThreadPlace>,
        limit: usize,
    ) -> Result<Vec<ThreadSummary>, Problem> {
        let mut found = Vec::new();
        for filter in &wanted.filters {
            let query = ThreadQuery::new()
                .status(wanted.stored)
                .filter(filter.clone())
                .after(after.cloned())
                .limit(limit)
                .soon(true);
            let page = self.saver().threads(&query).await;
            found.extend(page?);
        }
        if wanted.filters.len() > 1 {
            found.sort_by(|a, b| b.head.id.cmp(&a.head.id).then_with(|| a.thread.cmp(&b.thread)));
            found.truncate(limit);
        }
        Ok(found)
    }

    async fn count(&self, wanted: &ThreadFilter) -> Result<u64, Problem> {
        let is_all = wanted.stored.is_none() && wanted.filters.iter().all(Object::is_empty);
        if let Some(foreign) = self.saver().foreign().filter(|_| is_all)
            && let Some(known) = foreign.known_threads()
        {
            return Ok(known);
        }
        let mut count = 0;
        for filter in &wanted.filters {
            let query = ThreadQuery::new().status(wanted.stored).filter(filter.clone());
            let found = self.saver().count_threads(&query).await;
            count += found?;
        }
        Ok(count)
    }

    async fn known(&self, summaries: &[ThreadSummary]) -> Result<LedgerRows, Problem> {
        let ids: Vec<&str> = summaries.iter().map(|summary| summary.thread.as_str()).collect();
        Ok(LedgerRows {
            rows: self.ledger.threads(&ids)?,
            runs: self.runs_of(&ids).await?,
        })
    }

    pub(crate) async fn thread_list(self: &Arc<Self>, request: ListThreads) -> Result<ThreadList, Problem> {
        let wanted = ThreadFilter {
            seen: self.only_seen(request.graph_id.as_deref()).await?,
            ..self.wanted(&request)?
        };
        let limit = page_size((request.limit > 0).then_some(request.limit), PAGE);
        let first = request.after.is_none();
        let mut after = request.after.as_deref().map(place).transpose()?;
        let mut threads = Vec::new();
        let mut next = None;
        let mut total = 0;
        if first {
            let young = self.young_threads(&wanted).await?;
            total += young.len() as u64;
            threads.extend(young);
        }
        loop {
            let size = if wanted.sifts() {
                SIFTED
            } else {
                limit.saturating_add(1)
            };
            let page = self.summaries(&wanted, after.as_ref(), size).await?;
            let sorting = first && self.is_sorting();
            let known = self.known(&page).await?;
            for summary in &page {
                let id = summary.thread.as_str();
                let view = self.thread_view(summary, known.rows.get(id), &known.runs.of(id))?;
                if !wanted.matches(&view) || !self.is_of(id, wanted.seen.as_deref()).await? {
                    continue;
                }
                total += u64::from(wanted.sifts());
                if threads.len() < limit {
                    let mut view = match known.rows.get(id) {
                        Some(_) => view,
                        // Only what is shown is given a title.
                        None => {
                            self.thread_view(summary, Some(&self.adopt(summary).await?), &known.runs.of(id))?
                        }
                    };
                    self.name_asking(&mut view).await?;
                    self.name_seen(&mut view).await?;
                    threads.push(view);
                    next = Some(summary.place());
                } else if sorting {
                    break;
                } else if !wanted.sifts() || !first || wanted.is_costly_to_count() {
                    // One more than the page holds: there is a next one.
                    return self.page(&wanted, first, total, threads, next).await;
                }
            }
            after = page.last().map(ThreadSummary::place);
            // What follows the first in the order of ids is in another order.
            if sorting {
                return Ok(ThreadList {
                    threads,
                    total: None,
                    next: None,
                    sorting,
                });
            }
            if page.len() < size {
                break;
            }
        }
        let more = wanted.sifts() && first && total > threads.len() as u64;
        self.page(&wanted, first, total, threads, next.filter(|_| more))
            .await
    }

    async fn page(
        &self,
        wanted: &ThreadFilter,
        first: bool,
        counted: u64,
        threads: Vec<ThreadView>,
        next: Option<ThreadPlace>,
    ) -> Result<ThreadList, Problem> {
        let total = match first {
            // How many there are of one graph is known when all are shown.
            true if wanted.is_costly_to_count() && next.is_some() => None,
            true if wanted.sifts() => Some(counted),
            true => Some(counted + self.count(wanted).await?),
            false => None,
        };
        Ok(ThreadList {
            threads,
            total: total.map(|total| u32::try_from(total).unwrap_or(u32::MAX)),
            next: next.as_ref().map(place_text),
            sorting: false,
        })
    }

    /// Returns whether threads of another program are looked through for the first time: which are the newest is not known.
    fn is_sorting(&self) -> bool {
        let saver = self.saver();
        let foreign = saver.foreign();
        foreign.is_some_and(|foreign| foreign.known_threads().is_none())
    }

    /// Returns running threads that have stored nothing yet.
    async fn young_threads(&self, wanted: &ThreadFilter) -> Result<Vec<ThreadView>, Problem> {
        let running = self.runs.running();
        let ids: Vec<&str> = running.iter().map(String::as_str).collect();
        let (rows, runs) = (self.ledger.threads(&ids)?, self.runs_of(&ids).await?);
        let mut young = Vec::new();
        for row in rows.values() {
            let own = session::of_graph(Object::new(), &row.graph_key);
            let of_graph = wanted
                .filters
                .iter()
                .any(|filter| filter.is_empty() || *filter == own);
            let stored = self.saver().thread(&row.thread_id.as_str().into()).await;
            if !of_graph || stored?.is_some() {
                continue;
            }
            let view = self.young_thread(row, &runs.of(&row.thread_id))?;
            if wanted.matches(&view) {
                young.push(view);
            }
        }
        young.sort_by(|a, b| (&b.updated_at, &b.thread_id).cmp(&(&a.updated_at, &a.thread_id)));
        Ok(young)
    }
}
