//! `superstep run` and `superstep resume`: a run with its events, and how it ended.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use superstep::{
    CheckpointAddress, CheckpointHead, CheckpointId, Effect, EffectState, Graph, Input, Interrupt, Object,
    RunConfig, RunError, StateRef, StateSnapshot, ThreadId, Value, waiting_questions,
};
use superstep_nodes::Grants;
use superstep_nodes::kinds::ask;
use superstep_nodes::schema::{StateSchema, UpdateError};
use superstep_workbench::RunRecord;
use superstep_workbench::wire::RunModels;
use tokio_util::sync::CancellationToken;

use super::questions;
use crate::args::{ResumeArgs, RunArgs, Running};
use crate::claim::{claim, presence};
use crate::fault::{Fault, STOPPED, WAITING};
use crate::graph::GraphFile;
use crate::handover::Handover;
use crate::out;
use crate::place::{Store, graph_of, quoted};
use crate::progress;
use crate::report::Report;

pub(crate) async fn run(args: RunArgs) -> Result<(), Fault> {
    let file = GraphFile::read(&args.graph)?;
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
    let graph = runnable(&file, args.running.trust)?;
    let input = given(&file, args.input, args.example.as_deref())?;
    let input = match (input, &head) {
        (Some(input), _) => Input::Value(input),
        (None, Some(_)) => Input::Continue,
        (None, None) => return Err(no_input(&file, known.as_ref())),
    };
    let thread = known.unwrap_or_else(|| uuid::Uuid::now_v7().to_string().into());
    drive(
        &file,
        graph,
        store,
        thread,
        (args.checkpoint, false),
        input,
        &args.running,
    )
    .await
}

/// Who answers for the models: what is said now, and of the rest what the thread kept where it goes on from.
fn models(said: &Running, before: Option<&CheckpointHead>) -> RunModels {
    let (said, before) = (
        said.models(),
        before.map(|head| RunModels::of(&head.metadata.user)),
    );
    let before = before.unwrap_or_default();
    let models = RunModels {
        scripted: said.scripted.or(before.scripted),
        recording: said.recording.or(before.recording),
    };
    models.cleaned()
}

/// The graph, when it is allowed to run. What cannot run at all is said first.
fn runnable(file: &GraphFile, trust: bool) -> Result<Graph, Fault> {
    let graph = file.build(&Grants::none())?;
    let grants = file.permitted(trust)?;
    match grants == Grants::none() {
        true => Ok(graph),
        false => file.build(&grants),
    }
}

pub(crate) async fn resume(args: ResumeArgs) -> Result<(), Fault> {
    if let Some(there) = Handover::to(&args.running.db, args.running.no_handover).await? {
        return there.resume(args).await;
    }
    let store = Store::existing_here(&args.running.db).await?;
    let thread = ThreadId::from(args.thread.as_str());
    let head = store.head(&thread).await?;
    let before = match &args.checkpoint {
        Some(checkpoint) => store.has(&thread, checkpoint).await?,
        None => head.clone(),
    };
    let file = GraphFile::read(&graph_of(args.graph.as_deref(), &thread, &head)?)?;
    let file = file.with_models(models(&args.running, Some(&before)));
    let graph = runnable(&file, args.running.trust)?;
    let answer = args.answer.or(args.text.map(Value::from));
    let input = match (args.answers, answer) {
        (Some(Value::Object(answers)), _) => Input::answer(Value::Object(answers)),
        (Some(_), _) => {
            return Err(Fault::usage(
                "--answers takes an object of question id to answer, e.g. '{\"ID\": true}'.",
            ));
        }
        (None, Some(answer)) => Input::answer(match args.id {
            Some(id) => Value::Object([(id.as_str(), answer)].into_iter().collect::<Object>()),
            None => answer,
        }),
        (None, None) => Input::Continue,
    };
    let name = args
        .name
        .or_else(|| superstep_workbench::person(&crate::place::data_dir().ok()?));
    let mut waiting = waiting(&graph, &store, &thread, args.checkpoint.as_deref()).await?;
    may_answer(&waiting, &input, name.as_deref())?;
    let pending = {
        let of = CheckpointAddress::new(thread.clone(), "", before.id.clone());
        store.saver.writes_of(of).await?
    };
    let asked = waiting_questions(&pending)
        .into_iter()
        .flat_map(|(_, asked)| asked);
    let asked: Vec<Interrupt> = asked.collect();
    if args.checkpoint.is_none() {
        // What was withdrawn takes no answer, and going on asks it again.
        waiting
            .interrupts
            .retain(|interrupt| asked.iter().any(|asked| asked.id == interrupt.id));
        waits_for(&waiting, &store, &thread, &input).await?;
    }
    // A question that waits is answered where it waits, and what has finished beside it stays; another answer to one that was
    // answered already is a new branch, on which everything of that step runs again.
    let keeps = !asked.is_empty();
    drive(
        &file,
        graph,
        store,
        thread,
        (args.checkpoint, keeps),
        input,
        &args.running,
    )
    .await
}

/// How a thread stands.
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

/// The answers by the ids of their questions, when that is what the input holds.
fn by_id(command: &superstep::Command) -> Option<&Object> {
    // An object whose names are all ids of questions is a map of answers; anything else is one answer.
    let looks_like_id = |name: &str| name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit());
    command
        .resume
        .as_ref()
        .and_then(Value::as_object)
        .filter(|answers| !answers.is_empty() && answers.keys().all(|name| looks_like_id(name)))
}

/// Refuses an answer of somebody who was not asked.
fn may_answer(state: &StateSnapshot, input: &Input, name: Option<&str>) -> Result<(), Fault> {
    let Input::Command(command) = input else {
        return Ok(());
    };
    let answers = by_id(command);
    let answered =
        |interrupt: &&Interrupt| answers.is_none_or(|answers| answers.contains_key(interrupt.id.as_str()));
    let mut asked = state.interrupts.iter().filter(answered);
    match asked.find_map(|interrupt| ask::not_asked(&interrupt.value, name)) {
        Some(message) => Err(Fault::usage(format!(
            "{message} Let one of them answer, or say who you are with --as NAME or in the app's settings."
        ))),
        None => Ok(()),
    }
}

/// What is said when an answer is for a question of another branch.
async fn on_another_branch(
    state: &StateSnapshot,
    store: &Store,
    thread: &ThreadId,
    command: &superstep::Command,
) -> Result<Option<Fault>, Fault> {
    let here = |id: &str| {
        state
            .interrupts
            .iter()
            .any(|interrupt| interrupt.id.as_str() == id)
    };
    let answers = by_id(command);
    let missing = match answers {
        Some(answers) => answers.keys().any(|id| !here(id)),
        None => state.interrupts.is_empty(),
    };
    if !missing {
        return Ok(None);
    }
    let elsewhere = questions::of_thread(store, thread).await?;
    let asked = elsewhere.iter().find(|asked| {
        !asked.at.is_newest && answers.is_none_or(|answers| answers.contains_key(asked.question.id.as_str()))
    });
    Ok(asked.map(|asked| {
        Fault::usage(format!(
            "Question {} waits on another branch of thread {thread}. Answer it there with --checkpoint {}.",
            asked.question.id, asked.at.checkpoint
        ))
    }))
}

/// Refuses an answer that no question waits for, and going on when there is nothing to go on with.
async fn waits_for(
    state: &StateSnapshot,
    store: &Store,
    thread: &ThreadId,
    input: &Input,
) -> Result<(), Fault> {
    if let Input::Command(command) = input
        && let Some(elsewhere) = on_another_branch(state, store, thread, command).await?
    {
        return Err(elsewhere);
    }
    let ids: Vec<&str> = state
        .interrupts
        .iter()
        .map(|interrupt| interrupt.id.as_str())
        .collect();
    match input {
        Input::Continue if state.next.is_empty() => Err(Fault::usage(format!(
            "Thread {thread} is done; there is nothing to go on with. Give it a new input with `superstep run`, or edit it \
             with `superstep update`."
        ))),
        // Those that wait for a time only are waited for here; a deadline that passed goes on without its answer.
        Input::Continue if !ids.is_empty() && !goes_on(&state.interrupts) => {
            for interrupt in &state.interrupts {
                progress::question(interrupt, ids.len() == 1, thread.as_str(), &store.option);
            }
            Err(Fault::quiet(WAITING))
        }
        Input::Command(_) if ids.is_empty() => Err(Fault::usage(format!(
            "Thread {thread} asks no question, or somebody has answered it already. `superstep state {}{}` shows how it \
             stands.",
            quoted(thread.as_str()),
            store.option
        ))),
        Input::Command(command) => {
            let unknown = by_id(command)
                .and_then(|answers| answers.keys().find(|name| !ids.contains(&&***name)).cloned());
            match unknown {
                Some(name) => Err(Fault::usage(format!(
                    "No question {name} waits on thread {thread}. These do: {}.",
                    ids.join(", ")
                ))),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Runs, reports on it, and says how it ended.
async fn drive(
    file: &GraphFile,
    graph: Graph,
    store: Store,
    thread: ThreadId,
    (checkpoint, keep_finished): (Option<String>, bool),
    input: Input,
    args: &Running,
) -> Result<(), Fault> {
    let mut report = Report::new(args, thread.as_str(), &store.option, store.name != "memory:");
    let modes = report.modes().to_vec();
    let cancel = CancellationToken::new();
    let run_id = uuid::Uuid::new_v4().to_string();
    // What the run writes can be found by it, and removed.
    let mut metadata = file.metadata();
    metadata.insert("run_id", run_id.as_str());
    let presence = presence();
    let mut config = RunConfig::on(thread.clone())
        .claim(claim(&presence, &store, &thread, args.take_over).await)
        .checkpoint_id(checkpoint.map(CheckpointId::from))
        .modes(modes.clone())
        .recursion_limit(
            args.recursion_limit
                .unwrap_or_else(|| file.document.recursion_limit()),
        )
        .bounds(superstep_nodes::bounds(&file.document))
        .interrupt_before(args.interrupt_before.iter().map(String::as_str))
        .interrupt_after(args.interrupt_after.iter().map(String::as_str))
        .metadata(metadata)
        .context(args.context.clone().unwrap_or_default())
        .max_concurrency(args.max_concurrency.map(std::num::NonZeroUsize::get))
        .cancel(cancel.clone())
        .run_id(run_id.clone())
        .effects(args.effects.map(Into::into).unwrap_or_default())
        .keep_finished(keep_finished);
    let graph = graph
        .with_checkpointer(store.saver.clone())
        .with_store(store.memory.clone());
    if args.effects.is_none()
        && let Some(checkpoint) = &config.checkpoint_id
        && !matches!(&input, Input::Command(_))
    {
        repeats_nothing(&graph, &thread, checkpoint).await?;
    }
    stop_on_ctrl_c(cancel.clone());
    let mut record = store.record(&thread, &run_id, &file.document, cancel.clone());
    if record.is_some() {
        (config.modes, config.subgraphs) = (RunRecord::with_modes(&modes), true);
    }
    report.begin(&run_id)?;
    let mut input = input;
    let result = loop {
        let mut run = graph.stream(input, config.clone());
        while let Some(happened) = run.next().await {
            if let Some(record) = &mut record {
                record.note(&happened);
            }
            // More is recorded than was asked for.
            if happened.ns.is_empty() && modes.contains(&happened.mode()) && !report.show(&(&happened).into())
            {
                // Nobody reads any more; the thread stays resumable.
                run.cancel();
            }
        }
        let result = run.finish().await;
        report.end_speech();
        let waits = result.as_ref().ok().filter(|_| report.is_read());
        let Some(until) = waits.and_then(|result| only_waits(&result.interrupts)) else {
            break result;
        };
        report.waits(until);
        tokio::select! {
            () = cancel.cancelled() => break Err(RunError::Cancelled),
            () = passed(until) => {}
        }
        // A step of a branch that is not the newest is still open where it was answered.
        let here = result.ok().and_then(|result| result.checkpoint_id);
        match here.filter(|here| config.checkpoint_id.as_ref() == Some(here)) {
            Some(_) => input = Input::answer(Object::new()),
            None => (input, config.checkpoint_id) = (Input::Continue, None),
        }
        // A thread that was taken over once is not taken over again.
        config.claim = Some(claim(&presence, &store, &thread, false).await);
    };
    if let Some(record) = record {
        record.end(&result).await;
    }
    report.ended((&result).into())
}

/// Refuses to go on from the past where that would repeat something, until somebody said how.
async fn repeats_nothing(graph: &Graph, thread: &ThreadId, checkpoint: &CheckpointId) -> Result<(), Fault> {
    let done = graph.effects_after(thread, Some(checkpoint)).await?;
    if done.is_empty() {
        return Ok(());
    }
    let mut lines = String::new();
    for done in &done {
        let path: Vec<&str> = done.path.iter().chain([&done.node]).map(|name| &**name).collect();
        let what = match done.effect {
            Effect::Once => "must not be repeated",
            Effect::Idempotent => "may be repeated, with its old key",
            _ => "not said what it does",
        };
        let state = match done.state {
            EffectState::Done => "done",
            EffectState::Failed => "failed",
            EffectState::Begun => "began and did not end",
        };
        let times = if done.times > 1 {
            format!(" ×{}", done.times)
        } else {
            String::new()
        };
        let result = if done.result.is_some() {
            ""
        } else {
            ", no result is kept"
        };
        lines += &format!(
            "\n  {}{times}: {state} {}, {what}{result}",
            path.join(" > "),
            done.at
        );
    }
    Err(Fault::usage(format!(
        "These worked on the world outside after checkpoint {checkpoint}, and going on from there would do it again:{lines}\n\
         Nothing was begun. Say how to go on: --effects reuse (use their results), again (let them work again), or stop (go \
         on until one is reached)."
    )))
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Waits for a time. The machine may sleep meanwhile, and its timers with it, so the clock is looked at again and again.
async fn passed(until: u64) {
    loop {
        match until.saturating_sub(now_ms()) {
            0 => return,
            left => tokio::time::sleep(Duration::from_millis(left.min(10_000))).await,
        }
    }
}

/// When the first of the waits ends, when nothing else is waited for.
fn only_waits(interrupts: &[Interrupt]) -> Option<u64> {
    let waits =
        |interrupt: &Interrupt| ask::is_wait(&interrupt.value).then(|| ask::deadline(&interrupt.value))?;
    let ends: Option<Vec<u64>> = interrupts.iter().map(waits).collect();
    ends?.into_iter().min()
}

/// Does a thread with these questions go on without an answer?
fn goes_on(interrupts: &[Interrupt]) -> bool {
    let now = now_ms();
    only_waits(interrupts).is_some()
        || interrupts
            .iter()
            .any(|interrupt| ask::deadline(&interrupt.value).is_some_and(|until| until <= now))
}

pub(crate) fn stop_on_ctrl_c(cancel: CancellationToken) {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            cancel.cancel();
            out::note("Stopping; once more to stop without waiting.");
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(i32::from(STOPPED));
            }
        }
    });
}

/// The input that was given, here or by the name of an example.
pub(crate) fn given(
    file: &GraphFile,
    input: Option<Value>,
    named: Option<&str>,
) -> Result<Option<Value>, Fault> {
    let input = match (input, named) {
        (Some(input), _) => input,
        (None, Some(name)) => example(file, name)?,
        (None, None) => return Ok(None),
    };
    check_input(file, &input)?;
    Ok(Some(input))
}

fn example(file: &GraphFile, name: &str) -> Result<Value, Fault> {
    let examples = file.document.examples();
    let numbered = name
        .parse::<usize>()
        .ok()
        .and_then(|number| examples.get(number.checked_sub(1)?));
    let found = examples.iter().find(|example| example.name == name).or(numbered);
    found
        .map(|example| Value::from(example.input.clone()))
        .ok_or_else(|| {
            Fault::usage(match listed(&examples) {
                None => "The graph has no examples. Give it an input with --input.".to_owned(),
                Some(listed) => format!("The graph has no example {name:?}. It has:\n{listed}"),
            })
        })
}

fn listed(examples: &[superstep_document::Example]) -> Option<String> {
    let lines = examples.iter().enumerate().map(|(index, example)| {
        format!(
            "  {}  {}  {}",
            index + 1,
            quoted(&example.name),
            out::short(&example.input, 80)
        )
    });
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|lines| !lines.is_empty())
}

/// What to say when there is nothing to run with.
pub(crate) fn no_input(file: &GraphFile, thread: Option<&ThreadId>) -> Fault {
    let start = match thread {
        Some(thread) => format!("There is no thread {thread} yet, so a run needs an input."),
        None => "A new thread needs an input.".to_owned(),
    };
    let keys: Vec<&str> = match file.document.input_keys() {
        Some(keys) => keys,
        None => file.document.state_keys().map(|(name, _)| name).collect(),
    };
    let examples = match listed(&file.document.examples()) {
        Some(listed) => format!("\nOr take one of the graph's examples with --example:\n{listed}"),
        None => String::new(),
    };
    let keys = if keys.is_empty() {
        "none".to_owned()
    } else {
        keys.join(", ")
    };
    Fault::usage(format!(
        "{start} Give it with --input JSON; its keys: {keys}.{examples}"
    ))
}

/// Holds the input against the state, so that a typing mistake is found before anything runs.
pub(crate) fn check_input(file: &GraphFile, input: &Value) -> Result<(), Fault> {
    let Some(object) = input.as_object() else {
        return Err(Fault::usage(format!(
            "The input is {}, and a graph takes an object of state keys, e.g. '{{\"key\": \"value\"}}'.",
            input.type_name()
        )));
    };
    if let Some(allowed) = file.document.input_keys()
        && let Some(key) = object.keys().find(|key| !allowed.contains(&&***key))
    {
        return Err(Fault::usage(format!(
            "The input sets `{key}`, which the graph does not take. It takes: {}.",
            allowed.join(", ")
        )));
    }
    check_values(file, input, "The input")
}

/// Holds values against the state.
pub(crate) fn check_values(file: &GraphFile, values: &Value, what: &str) -> Result<(), Fault> {
    let (schema, _) = StateSchema::of(&file.document);
    schema.check_update("", values).map_err(|error| {
        Fault::usage(match error {
            UpdateError::NotAnObject { found, .. } => {
                format!("{what} is {found}, and must be an object of state keys.")
            }
            UpdateError::UnknownKey { key, hint, known, .. } => {
                format!("{what} sets `{key}`, which is no state key.{hint} Keys: {known}.")
            }
            UpdateError::Mismatch {
                key,
                path,
                expected,
                found,
                ..
            } => {
                let inside = if path.is_empty() {
                    String::new()
                } else {
                    format!(" at {path}")
                };
                format!(
                    "{what} does not fit the state key `{key}`: expected {expected}, found {found}{inside}."
                )
            }
        })
    })
}
