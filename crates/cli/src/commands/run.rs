//! `superstep run`: a run with its events, and how it ended.

use std::num::NonZeroUsize;
use std::sync::Arc;

use superstep::checkpoint::CheckpointHead;
use superstep::run::{StateRef, StepTask};
use superstep::{CheckpointId, Graph, ThreadId};
use superstep_nodes::Grants;
use superstep_workbench::session::{self, Given, Start};
use superstep_workbench::wire::{BreakWhen, Breakpoint, RunLabels, RunModels};
use superstep_workbench::{RecordIn, RunRequest, Session};
use tokio_util::sync::CancellationToken;

use crate::args::{RunArgs, Running};
use crate::claim::claimant;
use crate::commands::effects::line;
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::handover::Handover;
use crate::input::{context, given, no_input};
use crate::place::Store;
use crate::report::{Report, left_unanswered, stop_on_ctrl_c};

/// Finds out which edges of the graph the breakpoints are on; without a graph, edges are named by their ends.
pub(crate) fn name_edges(args: &mut Running, file: Option<&GraphFile>) -> Result<(), Fault> {
    for point in &mut args.breaks {
        match file {
            Some(file) => {
                *point = point.on_edge_of(&file.document)?;
                point.reads_only_keys_of(&file.document)?;
            }
            None if point.when == BreakWhen::Edge && point.to.is_none() => {
                return Err(Fault::usage(format!(
                    "--break {point}: another program runs the thread, and knows edges by their ends only. Write \
                     edge:FROM->TO.",
                )));
            }
            None => {}
        }
    }
    Ok(())
}

pub(crate) async fn run(mut args: RunArgs) -> Result<(), Fault> {
    let file = GraphFile::read(&args.graph)?;
    name_edges(&mut args.running, Some(&file))?;
    if !args.running.allow_disabled {
        file.all_enabled()?;
    }
    if let Some(there) = Handover::to(&args.running.db, args.running.no_handover).await? {
        return there.run(file, args).await;
    }
    let store = Store::open_here(&args.running.db).await?;
    let known = args.thread.as_deref().map(ThreadId::from);
    let head = match &known {
        Some(thread) => store.newest(thread).await?,
        None => None,
    };
    let before = match (&known, &args.checkpoint) {
        (Some(thread), Some(checkpoint)) => Some(store.has(thread, checkpoint).await?),
        _ => head.clone(),
    };
    let file = file.with_models(models(&args.running, before.as_ref()));
    let file = file.with_labels(labels(&args.running, before.as_ref())?);
    let file = file.with_pins(&args.running.pins)?;
    let graph = runnable(&file, args.running.trust)?;
    let input = given(&file, args.input, args.example.as_deref())?;
    let checkpoint = args.checkpoint.map(Into::into);
    let start = match (input, &head) {
        (Some(input), _) => {
            file.has_order()?;
            if let (Some(thread), Some(head), None) = (&known, &head, &checkpoint) {
                let waiting = session::waiting_at(&*store.saver, thread, &head.id).await?;
                left_unanswered(
                    thread.as_str(),
                    head.id.as_str(),
                    waiting.len() as u64,
                    &store.option,
                );
            }
            Start::input(input, checkpoint)
        }
        (None, Some(_)) => Start::go_on(checkpoint),
        (None, None) => return Err(no_input(&file, known.as_ref())),
    };
    let thread = known.unwrap_or_else(|| uuid::Uuid::now_v7().to_string().into());
    drive(&file, graph, store, thread, start, &args.running).await
}

/// Returns the models to run with: those chosen now, and for the rest those that the thread kept at the point it
/// continues from.
pub(crate) fn models(args: &Running, before: Option<&CheckpointHead>) -> RunModels {
    let before = before.map(session::models_of).unwrap_or_default();
    args.models().or(before).cleaned()
}

/// Returns the tags and metadata of the run: those given now, and those that the thread has at the point it continues
/// from.
pub(crate) fn labels(args: &Running, before: Option<&CheckpointHead>) -> Result<RunLabels, Fault> {
    let before = before.and_then(RunLabels::of_checkpoint).unwrap_or_default();
    Ok(args.labels().or(before).checked()?)
}

/// Builds the graph if it is allowed to run. Problems that prevent any run are reported first.
pub(crate) fn runnable(file: &GraphFile, trust: bool) -> Result<Graph, Fault> {
    let graph = file.build(&Grants::none())?;
    let grants = file.permitted(trust)?;
    match grants == Grants::none() {
        true => Ok(graph),
        false => file.build(&grants),
    }
}

/// Runs, reports on it, and says how it ended.
pub(crate) async fn drive(
    file: &GraphFile,
    graph: Graph,
    store: Store,
    thread: ThreadId,
    start: Start,
    args: &Running,
) -> Result<(), Fault> {
    let context = context(file, &args.context)?.unwrap_or_default();
    let mut report = Report::new(args, thread.as_str(), &store.option, store.is_durable());
    let graph = graph
        .with_checkpointer(store.saver.clone())
        .with_store(store.memory.clone());
    if args.effects.is_none()
        && let Some(checkpoint) = &start.checkpoint
        && !matches!(start.given, Given::Answers(_))
    {
        repeats_nothing(&graph, &thread, checkpoint).await?;
    }
    let cancel = CancellationToken::new();
    stop_on_ctrl_c(cancel.clone());
    let names = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
    let breakpoints = args.breaks.iter().map(Breakpoint::compile);
    let breakpoints = breakpoints.collect::<Result<Vec<_>, _>>()?;
    let records = store.records();
    let modes = report.modes().to_vec();
    let request = RunRequest {
        graph,
        document: &file.document,
        origin: file.origin(),
        version: Arc::new(file.version()),
        thread,
        start,
        modes: &modes,
        recursion_limit: args.recursion_limit,
        break_before: names(&args.interrupt_before),
        break_after: names(&args.interrupt_after),
        breakpoints,
        step_task: args.step_task.as_deref().map(|task| match task {
            "next" => StepTask::Next,
            id => StepTask::Task(id.into()),
        }),
        pinned: file.pinned.clone(),
        context,
        max_concurrency: args.max_concurrency.map(NonZeroUsize::get),
        effects: args.effects.map(Into::into).unwrap_or_default(),
        take_over: args.take_over,
        cancel,
        record: records.as_deref().map(|data_dir| RecordIn {
            data_dir,
            storage: &store.name,
            exchanges: file.exchanges.clone(),
        }),
    };
    let session = Session::begin(&*store.saver, claimant(), request).await;
    report.begin(session.run_id())?;
    let result = session.follow(&*store.saver, &mut report).await;
    report.ended((&result).into())
}

/// Refuses to go on from the past where that would repeat something, until somebody says how.
async fn repeats_nothing(graph: &Graph, thread: &ThreadId, checkpoint: &CheckpointId) -> Result<(), Fault> {
    let done = graph
        .effects_after(&StateRef::at(thread.clone(), checkpoint.clone()))
        .await?;
    if done.is_empty() {
        return Ok(());
    }
    let lines: String = done.iter().map(|done| format!("\n  {}", line(done))).collect();
    Err(Fault::usage(format!(
        "These worked on the world outside after checkpoint {checkpoint}, and going on from there would do it again:{lines}\n\
         Nothing was begun. Say how to go on: --effects reuse (use their results), again (let them work again), or stop (go \
         on until one is reached)."
    )))
}
