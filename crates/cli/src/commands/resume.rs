//! `superstep resume`: a thread goes on, with an answer or without one.

use superstep::run::StateRef;
use superstep::{Graph, StateSnapshot, ThreadId};
use superstep_workbench::session::{self, Answers, Given, Start};

use super::hot_edit;
use super::questions;
use super::run::{drive, labels, models, name_edges, runnable};
use crate::args::ResumeArgs;
use crate::claim::wait_until_free;
use crate::fault::{Fault, WAITING};
use crate::graph::GraphFile;
use crate::handover::Handover;
use crate::input::Answered;
use crate::out::quoted;
use crate::place::{Store, graph_of};
use crate::progress;

pub(crate) async fn resume(mut args: ResumeArgs) -> Result<(), Fault> {
    if let Some(there) = Handover::to(&args.running.db, args.running.no_handover).await? {
        name_edges(&mut args.running, None)?;
        return there.resume(args).await;
    }
    let store = Store::existing_here(&args.running.db).await?.refuse_foreign()?;
    let thread = ThreadId::from(args.thread.as_str());
    let answered = Answered::of(&args)?;
    if answered.is_some() && !args.running.take_over {
        wait_until_free(&*store.saver, &thread).await?;
    }
    let head = store.head(&thread).await?;
    let before = match &args.checkpoint {
        Some(checkpoint) => store.has(&thread, checkpoint).await?,
        None => head.clone(),
    };
    let file = GraphFile::read(&graph_of(args.graph.as_deref(), &thread, &head)?)?;
    let (file, renamed) =
        hot_edit::version_to_run(file, &*store.saver, &thread, &before, &args.running).await?;
    name_edges(&mut args.running, Some(&file))?;
    if !args.running.allow_disabled {
        file.all_enabled()?;
    }
    let file = file.with_models(models(&args.running, Some(&before)));
    let file = file.with_labels(labels(&args.running, Some(&before))?);
    let file = file.with_pins(&args.running.pins)?;
    let graph = runnable(&file, args.running.trust)?;
    let given = match answered {
        Some(answered) => Given::Answers(answered.value()),
        None => Given::Nothing,
    };
    let answers = match &given {
        Given::Answers(answers) => Some(Answers::of(answers)),
        _ => None,
    };
    let name = args
        .name
        .or_else(|| superstep_workbench::person(&crate::place::data_dir().ok()?));
    let mut waiting = waiting(&graph, &store, &thread, args.checkpoint.as_deref()).await?;
    if let Some(answers) = &answers
        && let Some(message) = session::not_asked(&waiting.interrupts, answers, name.as_deref())
    {
        return Err(Fault::usage(format!(
            "{message} Let one of them answer, or say who you are with --as NAME or in the app's settings."
        )));
    }
    let asked = session::waiting_at(&*store.saver, &thread, &before.id).await?;
    if args.checkpoint.is_none() {
        // What was withdrawn takes no answer, and going on asks it again.
        waiting
            .interrupts
            .retain(|interrupt| asked.iter().any(|asked| asked.id == interrupt.id));
        match &answers {
            // What runs in the place of others asks again.
            _ if !renamed.is_empty() => {}
            Some(answers) => takes(&waiting, &store, &thread, answers).await?,
            None => goes_on(&waiting, &store, &thread)?,
        }
    }
    let start = Start {
        given,
        keep_finished: !asked.is_empty(),
        person: name,
        ..Start::go_on(args.checkpoint.map(Into::into))
    };
    let start = session::onto(start, &renamed, &before);
    drive(&file, graph, store, thread, start, &args.running).await
}

/// Reads the current state of a thread.
async fn waiting(
    graph: &Graph,
    store: &Store,
    thread: &ThreadId,
    checkpoint: Option<&str>,
) -> Result<StateSnapshot, Fault> {
    let graph = graph
        .clone()
        .with_checkpointer(store.saver.clone())
        .with_store(store.memory.clone());
    let place = match checkpoint {
        Some(checkpoint) => StateRef::at(thread.clone(), checkpoint),
        None => StateRef::live(thread.clone()),
    };
    Ok(graph.get_state(&place).await?)
}

/// Refuses an answer that no question waits for.
async fn takes(
    state: &StateSnapshot,
    store: &Store,
    thread: &ThreadId,
    answers: &Answers<'_>,
) -> Result<(), Fault> {
    let unknown = answers.unknown(&state.interrupts);
    let missing = unknown.is_some() || state.interrupts.is_empty();
    if missing && let Some(elsewhere) = on_another_branch(store, thread, answers).await? {
        return Err(elsewhere);
    }
    if state.interrupts.is_empty() {
        return Err(Fault::usage(format!(
            "Thread {thread} asks no question, or somebody has answered it already. `superstep state {}{}` shows how it \
             stands.",
            quoted(thread.as_str()),
            store.option
        )));
    }
    let Some(name) = unknown else { return Ok(()) };
    let ids: Vec<&str> = state
        .interrupts
        .iter()
        .map(|interrupt| interrupt.id.as_str())
        .collect();
    Err(Fault::usage(format!(
        "No question {name} waits on thread {thread}. These do: {}.",
        ids.join(", ")
    )))
}

/// Returns the fault of an answer to a question that waits on another branch.
async fn on_another_branch(
    store: &Store,
    thread: &ThreadId,
    answers: &Answers<'_>,
) -> Result<Option<Fault>, Fault> {
    let elsewhere = questions::of_thread(store, thread).await?;
    let asked = elsewhere
        .iter()
        .find(|asked| !asked.at.is_newest && answers.includes(&asked.question));
    Ok(asked.map(|asked| {
        Fault::usage(format!(
            "Question {} waits on another branch of thread {thread}. Answer it there with --checkpoint {}.",
            asked.question.id, asked.at.checkpoint
        ))
    }))
}

/// Refuses to go on without an answer when there is nothing to go on with, or when somebody has to answer first.
fn goes_on(state: &StateSnapshot, store: &Store, thread: &ThreadId) -> Result<(), Fault> {
    if state.next.is_empty() {
        return Err(Fault::usage(format!(
            "Thread {thread} is done; there is nothing to go on with. Give it a new input with `superstep run`, or edit it \
             with `superstep update`."
        )));
    }
    let asked = &state.interrupts;
    // Those that wait for a time only are waited for here; a deadline that passed goes on without its answer.
    if asked.is_empty() || session::only_waits(asked).is_some() || session::has_passed(asked) {
        return Ok(());
    }
    for interrupt in asked {
        progress::question(interrupt, asked.len() == 1, thread.as_str(), &store.option);
    }
    Err(Fault::quiet(WAITING))
}
