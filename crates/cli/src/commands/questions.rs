//! `superstep threads waiting` and `withdraw`: questions of every thread and every branch.

use std::num::NonZeroUsize;

use serde_json::{Value as Json, json};
use superstep::checkpoint::{CheckpointAddress, Waiting, WaitingQuery};
use superstep::{Interrupt, ThreadId};
use superstep_workbench::session::{self, Withdrawal};

use crate::args::threads::{WaitingArgs, WithdrawArgs};
use crate::claim::claimant;
use crate::fault::Fault;
use crate::out::{self, quoted};
use crate::place::Store;

/// A question with the checkpoint that asks it.
pub(crate) struct Asked {
    pub(crate) at: Waiting,
    /// Empty for a node that was sent a packet: it is not named by its task.
    pub(crate) node: String,
    pub(crate) question: Interrupt,
}

/// Collects the questions of these checkpoints.
async fn asked(store: &Store, page: Vec<Waiting>) -> Result<Vec<Asked>, Fault> {
    let mut found: Vec<Asked> = Vec::new();
    for at in page {
        let of = CheckpointAddress::new(at.thread.clone(), "", at.checkpoint.clone());
        let asking = session::asking(&store.saver.writes_of(of).await?);
        found.extend(asking.into_iter().map(|asking| Asked {
            at: at.clone(),
            node: asking.node.unwrap_or_default(),
            question: asking.question,
        }));
    }
    Ok(found)
}

/// Reads every question that waits on a thread, on any branch.
pub(crate) async fn of_thread(store: &Store, thread: &ThreadId) -> Result<Vec<Asked>, Fault> {
    let query = WaitingQuery::new().thread(thread.clone());
    asked(store, store.saver.waiting(&query).await?).await
}

/// Formats a question as one line.
fn text(question: &Interrupt) -> String {
    let value = session::as_question(&question.value);
    let asked = value.get("question").unwrap_or(&value);
    match asked.as_str() {
        Some(text) => text.to_owned(),
        None => out::short(asked, 60),
    }
}

pub(crate) async fn waiting(args: &WaitingArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.db).await?;
    if let Some(thread) = &args.thread {
        store.thread(&ThreadId::from(thread.as_str())).await?;
    }
    if args.count {
        let query = WaitingQuery::new().thread(args.thread.as_deref().map(ThreadId::from));
        let places = store.saver.waiting(&query).await?;
        let questions = session::questions_at(&*store.saver, &places).await?;
        let waiting: usize = questions.iter().map(Vec::len).sum();
        return Ok(out::line(&waiting.to_string())?);
    }
    let after = match &args.after {
        Some(place) => {
            let (checkpoint, thread) = place.split_once('/').ok_or_else(|| {
                Fault::usage(
                    "--after takes CHECKPOINT/THREAD, as the last line of the page before shows them.",
                )
            })?;
            Some((checkpoint.into(), thread.into()))
        }
        None => None,
    };
    let query = WaitingQuery::new()
        .thread(args.thread.as_deref().map(ThreadId::from))
        .after(after)
        .limit(args.limit.map(NonZeroUsize::get));
    let questions = asked(&store, store.saver.waiting(&query).await?).await?;
    if args.json {
        let described = |asked: &Asked| {
            json!({
                "thread_id": asked.at.thread,
                "checkpoint_id": asked.at.checkpoint,
                "question_id": asked.question.id,
                "node": asked.node,
                "value": Json::from(&asked.question.value),
                "since": asked.at.ts,
                "newest": asked.at.is_newest,
            })
        };
        return Ok(out::pretty(&questions.iter().map(described).collect::<Vec<_>>())?);
    }
    if questions.is_empty() {
        out::note("No question waits.");
        return Ok(());
    }
    let row = |asked: &Asked| {
        vec![
            asked.at.thread.to_string(),
            asked.question.id.to_string(),
            asked.node.clone(),
            asked.at.ts.clone(),
            match asked.at.is_newest {
                true => String::new(),
                false => asked.at.checkpoint.to_string(),
            },
            text(&asked.question),
        ]
    };
    let rows: Vec<Vec<String>> = questions.iter().map(row).collect();
    Ok(out::table(
        &["THREAD", "QUESTION", "NODE", "SINCE", "BRANCH", "TEXT"],
        &rows,
    )?)
}

pub(crate) async fn withdraw(args: &WithdrawArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.db).await?.refuse_foreign()?;
    let thread = ThreadId::from(args.thread.as_str());
    store.thread(&thread).await?;
    let mut questions = of_thread(&store, &thread).await?;
    questions.retain(|asked| {
        args.id
            .as_deref()
            .is_none_or(|id| id == asked.question.id.as_str())
            && (args.checkpoint.as_deref())
                .is_none_or(|checkpoint| checkpoint == asked.at.checkpoint.as_str())
    });
    let [asked] = &questions[..] else {
        return Err(Fault::usage(match questions.is_empty() {
            true => format!(
                "No such question waits on thread {thread}. `superstep threads waiting --thread {}{}` lists those that do.",
                quoted(thread.as_str()),
                store.option
            ),
            false => {
                let ids: Vec<&str> = questions.iter().map(|asked| asked.question.id.as_str()).collect();
                format!(
                    "Several questions wait on thread {thread}. Say which with --id: {}.",
                    ids.join(", ")
                )
            }
        }));
    };
    let name = args
        .name
        .clone()
        .or_else(|| superstep_workbench::person(&crate::place::data_dir().ok()?));
    let id = &asked.question.id;
    let withdrawal = Withdrawal {
        thread: &thread,
        checkpoint: &asked.at.checkpoint,
        question: id,
        by: name.as_deref(),
        why: args.why.as_deref(),
    };
    let claim = claimant().claim(&*store.saver, &thread, args.take_over).await;
    let withdrawn = withdrawal.apply(&*store.saver, &claim).await?;
    if !withdrawn {
        return Err(Fault::usage(format!(
            "Question {id} does not wait any more: somebody has just answered it."
        )));
    }
    out::note(&format!("Withdrew {id}: {}", text(&asked.question)));
    Ok(())
}
