//! Which questions wait: their list, from what storage says of the checkpoints that ask. What asks is in the
//! writes of its task, so no state is read; a graph is needed only for the name of a node that was sent a packet.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::{StreamExt, stream};
use superstep::checkpoint::{CheckpointAddress, CheckpointHead, PendingWrite, Waiting, WaitingQuery};
use superstep::inspect::Lineage;
use superstep::run::StateRef;
use superstep::{CheckpointId, Interrupt, ThreadId};

use crate::Workbench;
use crate::base::blocking;
use crate::ledger::{AnswerRow, ThreadRow};
use crate::session::{self, Asking, asked};
use crate::threads::listing::page_size;
use crate::wire::{AnswerState, Inbox, ListInbox, Problem, Question, QuestionBranch, ReturnedAnswer};
use superstep_document::text;

/// Checkpoints of a page when nobody says how many.
const PAGE: usize = 100;
/// Checkpoints whose tasks are named at once.
const AT_ONCE: usize = 16;

/// Questions that are being answered, by thread and checkpoint.
pub(super) type AnsweredIn = HashMap<(String, String), HashSet<String>>;
/// Questions by checkpoint and id.
type AnsweredQuestions = HashSet<(String, String)>;

fn place(text: &str) -> Result<(CheckpointId, ThreadId), Problem> {
    let (checkpoint, thread) = text.split_once('/').ok_or_else(|| {
        Problem::invalid(format!("{text:?} is not a place in the list of questions."))
            .remedy(text!("Load the list from its beginning."))
    })?;
    Ok((checkpoint.into(), thread.into()))
}

fn address(thread_id: &str, checkpoint: &CheckpointId) -> CheckpointAddress {
    CheckpointAddress::new(thread_id, "", checkpoint.clone())
}

impl Workbench {
    pub(crate) async fn inbox_list(self: &Arc<Self>, request: ListInbox) -> Result<Inbox, Problem> {
        let limit = page_size(request.limit, PAGE);
        let query = WaitingQuery::new()
            .thread(request.thread_id.as_deref().map(ThreadId::from))
            .after(request.after.as_deref().map(place).transpose()?)
            .limit(limit.saturating_add(1));
        // A run may end while the page is read: what it answers by now waits no more in a moment.
        let open = self.open_answers().await?;
        let leaving: AnsweredQuestions = (self.being_answered(&open).into_iter())
            .flat_map(|((_, checkpoint), answers)| {
                answers.into_iter().map(move |id| (checkpoint.clone(), id))
            })
            .collect();
        let mut page = self.saver().waiting(&query).await?;
        let more = page.len() > limit;
        page.truncate(limit);
        let last = page.last().filter(|_| more);
        let next = last.map(|last| format!("{}/{}", last.checkpoint, last.thread));
        let questions = self.questions_in(&page, &leaving).await?;
        let is_first = request.after.is_none();
        let held = open.iter().filter(|row| {
            is_first
                && row.state == AnswerState::Held
                && request
                    .thread_id
                    .as_ref()
                    .is_none_or(|thread| *thread == row.thread_id)
        });
        Ok(Inbox {
            waiting: self.count_waiting().await?,
            questions,
            held: held.map(AnswerRow::view).collect(),
            next,
        })
    }

    /// Returns the questions of these checkpoints, without those that are being answered.
    async fn questions_in(
        self: &Arc<Self>,
        page: &[Waiting],
        leaving: &AnsweredQuestions,
    ) -> Result<Vec<Question>, Problem> {
        let ids: Vec<&str> = page.iter().map(|waiting| waiting.thread.as_str()).collect();
        let (rows, runs) = (self.rows_of(page, &ids).await?, self.ledger.last_runs(&ids)?);
        let threads: Vec<String> = page.iter().map(|waiting| waiting.thread.to_string()).collect();
        // After what was handed in before.
        let keeper = self.runs.records.keeper();
        let asked_at = keeper
            .ask(move |ledger| {
                let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
                ledger.asked(&threads)
            })
            .await?;
        let asked_by = self.asked_by(page, &rows).await?;
        let mut branches = self.branches(page).await?;
        let mut returned = self.came_back(&ids)?;
        let (mut delegations, mut snoozes) = (self.delegations(&ids)?, self.ledger.snoozes(&ids)?);
        let mut paths: HashMap<&str, Option<String>> = HashMap::new();
        let mut questions = Vec::with_capacity(page.len());
        for (waiting, asked_by) in page.iter().zip(asked_by) {
            let id = waiting.thread.as_str();
            // Deleted meanwhile.
            let Some(row) = rows.get(id) else { continue };
            let path = match paths.get(&*row.graph_key) {
                Some(path) => path.clone(),
                None => {
                    let key = self.ledger.followed(&row.graph_key)?;
                    let path = Some(key).filter(|key| !key.is_empty() && !key.starts_with("draft-"));
                    paths.insert(&row.graph_key, path.clone());
                    path
                }
            };
            let (graph_name, path) = match self.seen_as(id).await? {
                Some((name, id)) => (name, Some(id)),
                None => (row.graph_name.clone(), path),
            };
            let answered = self.runs.answering(id);
            let run = runs.get(id).filter(|_| waiting.is_newest);
            // Of what an older release asked nothing else is known.
            let run_ended = run
                .and_then(|run| run.ended_at.clone())
                .filter(|ended| *ended > waiting.ts)
                .unwrap_or_else(|| waiting.ts.clone());
            let branch = branches.remove(&(waiting.checkpoint.clone(), waiting.thread.clone()));
            for (node, interrupt) in asked_by {
                let id_of = interrupt.id.as_str();
                let place = (waiting.checkpoint.to_string(), id_of.to_owned());
                if leaving.contains(&place) || answered.contains(&place.1) {
                    continue;
                }
                let since = asked_at
                    .get(&(id.to_owned(), id_of.to_owned()))
                    .unwrap_or(&run_ended);
                questions.push(Question {
                    since: since.clone(),
                    interrupt_id: interrupt.id.to_string(),
                    thread_id: id.to_owned(),
                    thread_title: row.title.clone(),
                    graph_name: graph_name.clone(),
                    graph_path: path.clone(),
                    node,
                    asked: asked(&interrupt.value),
                    checkpoint_id: waiting.checkpoint.to_string(),
                    branch: branch.clone(),
                    delegation: delegations.remove(&place),
                    snoozed_until: snoozes.remove(&place),
                    returned: returned.remove(&place),
                });
            }
        }
        Ok(questions)
    }

    /// Returns the answers that could not be given, by checkpoint and question.
    fn came_back(&self, ids: &[&str]) -> Result<HashMap<(String, String), ReturnedAnswer>, Problem> {
        let rows = self.ledger.returned_answers(ids)?.into_iter();
        let returned = rows.filter_map(|row| {
            let came_back = ReturnedAnswer {
                answer: row.answer,
                note: row.note,
                problem: row.problem?,
            };
            Some(((row.checkpoint_id, row.interrupt_id), came_back))
        });
        Ok(returned.collect())
    }

    /// Reads the ledger's rows of the threads; one that came from elsewhere gets its row.
    async fn rows_of(
        self: &Arc<Self>,
        page: &[Waiting],
        ids: &[&str],
    ) -> Result<Arc<HashMap<String, ThreadRow>>, Problem> {
        let mut rows = self.ledger.threads(ids)?;
        for waiting in page {
            if !rows.contains_key(waiting.thread.as_str())
                && let Some(summary) = self.saver().thread(&waiting.thread).await?
            {
                rows.insert(waiting.thread.to_string(), self.adopt(&summary).await?);
            }
        }
        Ok(Arc::new(rows))
    }

    /// Returns what each checkpoint of a page asks, with the nodes that ask.
    async fn asked_by(
        self: &Arc<Self>,
        page: &[Waiting],
        rows: &Arc<HashMap<String, ThreadRow>>,
    ) -> Result<Vec<Vec<(String, Interrupt)>>, Problem> {
        let places = page
            .iter()
            .map(|waiting| address(waiting.thread.as_str(), &waiting.checkpoint));
        let writes = self.saver().writes(&places.collect::<Vec<_>>()).await?;
        let page = page.to_vec();
        let asked_by = stream::iter(page.into_iter().zip(writes)).map(|(waiting, pending)| {
            let (this, rows) = (self.clone(), rows.clone());
            async move {
                let row = rows.get(waiting.thread.as_str());
                this.asked_in(&pending, &waiting, row).await
            }
        });
        Ok(asked_by.buffered(AT_ONCE).collect().await)
    }

    /// Returns the questions in the writes of a checkpoint, with the nodes that ask.
    async fn asked_in(
        self: &Arc<Self>,
        pending: &[PendingWrite],
        waiting: &Waiting,
        row: Option<&ThreadRow>,
    ) -> Vec<(String, Interrupt)> {
        let asking = session::asking(pending);
        let names = match asking.iter().all(|asking| asking.node.is_some()) {
            true => HashMap::new(),
            false => self.task_names(waiting, row).await,
        };
        let named = |Asking {
                         task_id,
                         node,
                         question,
                     }| {
            let node = names.get(task_id.as_str()).cloned().or(node);
            (node.unwrap_or_default(), question)
        };
        asking.into_iter().map(named).collect()
    }

    /// Returns the names of a checkpoint's tasks, from the thread's graph. Without the graph, questions are shown
    /// nevertheless: they must not disappear because a file did.
    async fn task_names(
        self: &Arc<Self>,
        waiting: &Waiting,
        row: Option<&ThreadRow>,
    ) -> HashMap<String, String> {
        let Some(key) = row.map(|row| row.graph_key.clone()).filter(|key| !key.is_empty()) else {
            return HashMap::new();
        };
        let this = self.clone();
        let built = blocking(move || this.build_to_read(&key)).await.ok().flatten();
        let Some(built) = built else {
            return HashMap::new();
        };
        let at = StateRef::at(waiting.thread.as_str(), waiting.checkpoint.clone());
        match built.graph.get_state(&at).await {
            Ok(state) => (state.tasks.iter())
                .map(|task| (task.id.to_string(), task.name.to_string()))
                .collect(),
            Err(error) => {
                tracing::warn!(thread = %waiting.thread, %error, "its state could not be read");
                HashMap::new()
            }
        }
    }

    /// Locates the branches of those checkpoints of a page that are not the newest of their threads.
    async fn branches(
        &self,
        page: &[Waiting],
    ) -> Result<HashMap<(CheckpointId, ThreadId), QuestionBranch>, Problem> {
        let mut of_thread: HashMap<&ThreadId, Vec<&CheckpointId>> = HashMap::new();
        for waiting in page.iter().filter(|waiting| !waiting.is_newest) {
            of_thread
                .entry(&waiting.thread)
                .or_default()
                .push(&waiting.checkpoint);
        }
        let mut found = HashMap::new();
        for (thread, checkpoints) in of_thread {
            let newest: Option<CheckpointHead> = self
                .heads(thread.as_str(), None, Some(1))
                .await?
                .into_iter()
                .next();
            let Some(newest) = newest else { continue };
            let saver = self.saver();
            let mut lineage = Lineage::from(&*saver, thread, [newest.clone()]);
            for checkpoint in checkpoints {
                let Some(step) = lineage.get(checkpoint).await?.map(|head| head.metadata.step) else {
                    continue;
                };
                let left = lineage.common_ancestor(checkpoint, &newest.id).await?;
                let left_at = match &left {
                    Some(left) => lineage.get(left).await?.map(|head| head.metadata.step),
                    None => None,
                };
                let branch = QuestionBranch {
                    step,
                    left_at: left_at.unwrap_or(-1),
                };
                found.insert((checkpoint.clone(), thread.clone()), branch);
            }
        }
        Ok(found)
    }

    /// Returns the questions that are answered and not stored as such, by thread and checkpoint.
    pub(super) fn being_answered(&self, open: &[AnswerRow]) -> AnsweredIn {
        let runs = self.runs.being_answered().into_iter();
        let by_runs = runs.map(|(thread, checkpoint, answers)| ((thread, checkpoint), answers));
        let held = open.iter().map(|row| {
            let place = (row.thread_id.clone(), row.checkpoint_id.clone());
            (place, vec![row.interrupt_id.clone()])
        });
        let mut answered = AnsweredIn::new();
        for (place, answers) in by_runs.chain(held) {
            answered.entry(place).or_default().extend(answers);
        }
        answered
    }
}
