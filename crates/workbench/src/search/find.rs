//! What a query finds in one thread.

use std::collections::{HashMap, VecDeque};

use superstep::Checkpointer;
use superstep::checkpoint::{CheckpointHead, GraphVersion, ThreadSummary};
use superstep::value::Object;

use super::condition::{Condition, NAMES, UnknownSteps};
use super::texts::{self, PlacedText};
use super::thread_history::{NeededParts, Read, ThreadHistory};
use super::words::{Words, fold};
use super::{Directory, Listed};
use crate::wire::{FindMoments, MomentFound, MomentReason, Problem, RunStatus, SnippetPart};
use superstep_document::text;

/// Moments of one thread that are listed.
const MAX_MOMENTS: usize = 20;
/// Columns of an answer.
const MAX_COLUMNS: usize = 20;

/// A query whose expressions are compiled.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) words: Option<Words>,
    first_where: Option<Condition>,
    at_end: Option<Condition>,
    passed: Vec<String>,
    pub(super) status: Option<RunStatus>,
    pub(super) since: Option<String>,
    until: Option<String>,
    graph_version: Option<String>,
    cost_from: Option<f64>,
    columns: Vec<Condition>,
    /// What is read of checkpoints.
    wanted: NeededParts,
}

/// Returns a text without surrounding spaces, or `None` if nothing is left.
fn given(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

impl Query {
    pub(super) fn compile(request: &FindMoments) -> Result<Self, Problem> {
        let condition = |source: Option<&String>, place: &str| {
            let source = given(source);
            source
                .map(|source| Condition::compile(source, place, NAMES))
                .transpose()
        };
        if request.columns.len() > MAX_COLUMNS {
            return Err(Problem::invalid(text!(
                "A search has at most {most} columns.",
                most = MAX_COLUMNS
            )));
        }
        let columns = request
            .columns
            .iter()
            .enumerate()
            .map(|(place, source)| Condition::compile(source, &format!("Column {}", place + 1), NAMES));
        let mut passed: Vec<String> = request.passed.iter().map(|node| node.trim().to_owned()).collect();
        passed.retain(|node| !node.is_empty());
        let words = given(request.words.as_ref()).and_then(Words::read);
        let first_where = condition(request.first_where.as_ref(), "First where")?;
        let at_end = condition(request.at_end.as_ref(), "At the end")?;
        let columns: Vec<Condition> = columns.collect::<Result<_, _>>()?;
        // Words may be in any key; expressions say which they read.
        let wanted = match words {
            Some(_) => NeededParts::Whole,
            None => (first_where.iter().chain(&at_end).chain(&columns))
                .fold(NeededParts::Heads, |wanted, expression| {
                    wanted.and(&expression.wanted)
                }),
        };
        Ok(Self {
            words,
            first_where,
            at_end,
            passed,
            status: request.status,
            since: given(request.since.as_ref()).map(str::to_owned),
            until: given(request.until.as_ref()).map(str::to_owned),
            graph_version: given(request.graph_version.as_ref()).map(str::to_owned),
            cost_from: request.cost_from,
            columns,
            wanted,
        })
    }

    /// Returns whether a moment is in time, and made by the version of the graph that is looked for.
    fn admits(&self, head: &CheckpointHead) -> bool {
        let since = self.since.as_ref().is_none_or(|since| head.ts >= *since);
        since && self.until.as_ref().is_none_or(|until| head.ts < *until) && self.is_of_version(head)
    }

    fn is_of_version(&self, head: &CheckpointHead) -> bool {
        let version = self.graph_version.as_deref();
        version.is_none_or(|version| GraphVersion::of(head).is_some_and(|ran| ran.starts_with(version)))
    }
}

/// A moment before it is written out.
#[derive(Debug)]
struct Hit {
    place: usize,
    reason: MomentReason,
    pointer: Option<String>,
    snippet: Vec<SnippetPart>,
    state: Object,
}

impl Hit {
    fn at(place: usize, reason: MomentReason, state: Object) -> Self {
        Self {
            place,
            reason,
            pointer: None,
            snippet: Vec::new(),
            state,
        }
    }
}

/// The words that a step wrote: the text that has the most of them, when the step has them all.
struct Matched<'q> {
    words: &'q Words,
    present: Vec<bool>,
    /// How many of the words it has, and the text.
    best: Option<(usize, Hit, String)>,
}

impl<'q> Matched<'q> {
    fn of(words: &'q Words) -> Self {
        Self {
            words,
            present: vec![false; words.count()],
            best: None,
        }
    }

    fn see(&mut self, text: &PlacedText<'_>) {
        let present = self.words.present(&fold(&text.text));
        let count = present.iter().filter(|present| **present).count();
        if count == 0 {
            return;
        }
        for (all, here) in self.present.iter_mut().zip(present) {
            *all |= here;
        }
        if self.best.as_ref().is_none_or(|(best, ..)| count > *best) {
            let hit = Hit {
                pointer: (text.reason == MomentReason::State).then(|| text.pointer.to_owned()),
                ..Hit::at(0, text.reason, Object::new())
            };
            self.best = Some((count, hit, text.text.clone().into_owned()));
        }
    }

    /// Returns the hit if all words are present.
    fn hit(self, place: usize, state: &Object) -> Option<Hit> {
        let (_, hit, text) = self
            .best
            .filter(|_| self.present.iter().all(|present| *present))?;
        Some(Hit {
            place,
            snippet: self.words.snippet(&text),
            state: state.clone(),
            ..hit
        })
    }
}

/// Matches found so far while a thread is read.
#[derive(Debug, Default)]
struct ThreadMatches {
    /// The newest hits of the words, the oldest first.
    hits: VecDeque<Hit>,
    /// Older ones that are not listed.
    older: u32,
    /// Where the condition held first.
    first: Option<usize>,
    ends_so: bool,
    /// States that a moment without words may need for its columns.
    kept: HashMap<usize, Object>,
}

/// One thread of a search.
pub(super) struct ThreadSearch<'a> {
    pub(super) query: &'a Query,
    pub(super) saver: &'a dyn Checkpointer,
    pub(super) directory: &'a dyn Directory,
    pub(super) summary: &'a ThreadSummary,
    pub(super) listed: &'a Listed,
}

impl ThreadSearch<'_> {
    /// Returns the moments that fit, the newest first.
    pub(super) async fn run(&self, unknown: &mut UnknownSteps) -> Result<Vec<MomentFound>, Problem> {
        let query = self.query;
        if let Some(least) = query.cost_from
            && self.directory.cost(self.summary.thread.as_str()).await? < least
        {
            return Ok(Vec::new());
        }
        let mut past = ThreadHistory::read(self.saver, self.directory, self.summary, &query.wanted).await?;
        let passed = past.passed(&query.passed, |head| query.admits(head));
        if !query.passed.is_empty() && passed.is_none() {
            return Ok(Vec::new());
        }
        // The newest that the version made: the thread may have gone on with another.
        let Some(newest) = past.heads.iter().rposition(|head| query.is_of_version(head)) else {
            return Ok(Vec::new());
        };
        let mut found = ThreadMatches::default();
        if query.wanted != NeededParts::Heads {
            self.look(&mut past, passed.unwrap_or(newest), &mut found, unknown)
                .await?;
        }
        if (query.first_where.is_some() && found.first.is_none())
            || (query.at_end.is_some() && !found.ends_so)
        {
            return Ok(Vec::new());
        }
        let moment = |place: usize, reason: MomentReason| {
            let state = found.kept.get(&place).cloned().unwrap_or_default();
            Hit::at(place, reason, state)
        };
        let mut hits: Vec<Hit> = Vec::new();
        if let Some(words) = &query.words {
            let in_title = words.present(&fold(&self.listed.title));
            if in_title.iter().all(|present| *present) && query.admits(&past.heads[newest]) {
                hits.push(Hit {
                    snippet: words.snippet(&self.listed.title),
                    ..moment(newest, MomentReason::Title)
                });
            }
            hits.extend(found.hits.into_iter().rev());
        } else if let Some(first) = found.first {
            hits.push(moment(first, MomentReason::Condition));
        } else if let Some(passed) = passed {
            hits.push(moment(passed, MomentReason::Passed));
        } else if query.admits(&past.heads[newest]) {
            hits.push(moment(newest, MomentReason::Thread));
        }
        let mut moments: Vec<MomentFound> = hits.into_iter().map(|hit| self.moment(&past, hit)).collect();
        if let Some(oldest) = moments.last_mut() {
            oldest.more = found.older;
        }
        Ok(moments)
    }

    /// Reads the states; `passed` is the moment of a search without words and without a condition.
    async fn look(
        &self,
        past: &mut ThreadHistory<'_>,
        passed: usize,
        found: &mut ThreadMatches,
        unknown: &mut UnknownSteps,
    ) -> Result<(), Problem> {
        let query = self.query;
        let last = past.heads.len() - 1;
        let all = query.words.is_some() || query.first_where.is_some();
        let mut from = if all { 0 } else { passed };
        // What the chunk before had: parents are most often there.
        let mut before: HashMap<usize, Object> = HashMap::new();
        while from <= last {
            let read = past.chunk(from, self.directory).await?;
            let mut states: HashMap<usize, Object> = HashMap::with_capacity(read.len());
            for checkpoint in read {
                let Read { place, state, writes } = &checkpoint;
                let admitted = query.admits(&past.heads[*place]);
                if let Some(words) = query.words.as_ref().filter(|_| admitted) {
                    let parent = past.parent(*place);
                    let near = parent.and_then(|parent| states.get(&parent).or_else(|| before.get(&parent)));
                    let old = match (near, parent) {
                        (Some(near), _) => Some(near.clone()),
                        (None, Some(parent)) => past.state(parent, self.directory).await?,
                        (None, None) => None,
                    };
                    let old = old.unwrap_or_else(|| past.initial.clone());
                    let mut matched = Matched::of(words);
                    texts::written(&old, state, &mut |text| matched.see(&text));
                    texts::of_tasks(writes, &mut |text| matched.see(&text));
                    if let Some(hit) = matched.hit(*place, state) {
                        found.hits.push_back(hit);
                        if found.hits.len() > MAX_MOMENTS {
                            found.hits.pop_front();
                            found.older += 1;
                        }
                    }
                }
                if let Some(condition) = query
                    .first_where
                    .as_ref()
                    .filter(|_| found.first.is_none() && admitted)
                    && condition.holds(past, *place, state, unknown)
                {
                    found.first = Some(*place);
                    found.kept.insert(*place, state.clone());
                }
                if *place == last {
                    let holds = |condition: &Condition| condition.holds(past, last, state, unknown);
                    found.ends_so = query.at_end.as_ref().is_some_and(holds);
                }
                if *place == last || *place == passed {
                    found.kept.insert(*place, state.clone());
                }
                states.insert(*place, checkpoint.state);
            }
            before = states;
            let done = found.first.is_some() && query.words.is_none();
            from = match done && from < last {
                // What is between says nothing more.
                true if query.at_end.is_some() => last.max(past.next(from)),
                true => return Ok(()),
                false => past.next(from),
            };
        }
        Ok(())
    }

    fn moment(&self, past: &ThreadHistory<'_>, hit: Hit) -> MomentFound {
        let head = &past.heads[hit.place];
        let columns = self.query.columns.iter();
        MomentFound {
            thread_id: self.summary.thread.to_string(),
            title: self.listed.title.clone(),
            graph_name: self.listed.graph_name.clone(),
            graph_path: self.listed.graph_path.clone(),
            status: self.listed.status,
            checkpoint_id: head.id.to_string(),
            step: i32::try_from(head.metadata.step).unwrap_or(i32::MAX),
            at: head.ts.clone(),
            reason: hit.reason,
            nodes: past.ran(hit.place).into_iter().map(ToString::to_string).collect(),
            pointer: hit.pointer,
            snippet: hit.snippet,
            columns: columns
                .map(|column| column.value_at(past, hit.place, &hit.state))
                .collect(),
            more: 0,
        }
    }
}
