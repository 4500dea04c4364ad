//! `superstep why` and `superstep explain`: where a value came from, and why edges led where they did.

use std::collections::HashMap;

use serde_json::json as json_of;
use superstep::checkpoint::{
    CheckpointHead, CheckpointTuple, Decision, KeysRead, ListQuery, RecordedValue, TaskRecord,
};
use superstep::inspect::{AnswerGiven, PossibleRead, TaskSnapshot, ValueWrite, WriteOrigin, Writer};
use superstep::run::StateRef;
use superstep::value::Object;
use superstep::{CheckpointId, Failure, StateSnapshot, ThreadId, Value};
use superstep_workbench::wire::{JoinWait, RecordedValueView, UnworkedResult, Visit, VisitsView};
use superstep_workbench::{Branch, TaskWork, task_work};

use crate::args::{ExplainArgs, WhyArgs};
use crate::commands::state::{open, read};
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::listing::next_of;
use crate::out;
use crate::place::Store;
use crate::progress::json;

/// Letters of a value in a line.
const MAX_SHOWN: usize = 60;
/// Writers that a line names; of more, the first.
const MAX_NAMED: usize = 5;

/// Converts a path as people write it to a JSON Pointer: `messages/0/content` becomes `/messages/0/content`.
fn pointer(path: &str) -> String {
    match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("/{path}"),
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| out::brief(value, MAX_SHOWN))
}

fn reads_of(reads: &KeysRead) -> String {
    match reads {
        KeysRead::Unknown => "what it read was not seen".to_owned(),
        KeysRead::All => "read the whole state".to_owned(),
        KeysRead::Keys(keys) if keys.is_empty() => "read nothing of the state".to_owned(),
        KeysRead::Keys(keys) => format!("read {}", keys.join(", ")),
    }
}

fn reads_json(reads: &KeysRead) -> serde_json::Value {
    match reads {
        KeysRead::Unknown => serde_json::Value::Null,
        KeysRead::All => "*".into(),
        KeysRead::Keys(keys) => json_of!(keys.iter().map(|key| &**key).collect::<Vec<_>>()),
    }
}

pub(crate) async fn why(args: &WhyArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let thread = ThreadId::from(args.thread.as_str());
    let head = store.head(&thread).await?;
    if let Some(checkpoint) = &args.checkpoint {
        store.has(&thread, checkpoint).await?;
    }
    let at = StateRef::live(thread.clone()).checkpoint(args.checkpoint.as_deref().map(CheckpointId::from));
    let (path, limit) = (pointer(&args.path), args.limit.get());
    let found = match store.saver.foreign() {
        Some(_) => store.saver.foreign_provenance(&at, &path, limit).await?,
        None => {
            let (_, graph) = open(&store, args.graph.as_deref(), &thread, &head)?;
            graph.provenance(&at, &path, limit).await?
        }
    };
    if args.reading.json {
        let writes: Vec<_> = found.writes.iter().map(write_json).collect();
        return Ok(out::pretty(&json_of!({"writes": writes, "more": found.more}))?);
    }
    if found.writes.is_empty() && !found.more {
        let path = path.trim_start_matches('/');
        return Ok(out::line(&format!(
            "{path}  is what the key begins with; nothing has written it"
        ))?);
    }
    let mut depths: Vec<usize> = Vec::new();
    for write in &found.writes {
        let depth = write
            .read_by
            .and_then(|place| depths.get(place))
            .map_or(0, |depth| depth + 1);
        depths.push(depth);
        out::line(&line(write, depth))?;
        for below in answers(write, depth + 1)
            .into_iter()
            .chain(possible_reads(write, depth + 1))
        {
            out::line(&below)?;
        }
    }
    if found.more {
        out::note("There is more behind them; see --limit.");
    }
    Ok(())
}

fn line(write: &ValueWrite, depth: usize) -> String {
    let step = write.written.metadata.step;
    let input = |writer: &Writer| shown(writer.input.as_ref());
    let name = |writer: &Writer| match (&writer.packet, &writer.sent_by[..]) {
        (true, [_, ..]) => {
            let senders = writer.sent_by.join(", ");
            format!("{} (a packet of {senders}: {})", writer.node, input(writer))
        }
        (true, []) => format!("{} (a packet: {})", writer.node, input(writer)),
        (false, _) => format!("{} ({})", writer.node, reads_of(&writer.reads)),
    };
    let by = match write.origin {
        WriteOrigin::Input => "the input".to_owned(),
        WriteOrigin::Command => "the update of a command to the run".to_owned(),
        WriteOrigin::Edit => {
            let nodes: Vec<&str> = write.writers.iter().map(|writer| &*writer.node).collect();
            let acting = if nodes.is_empty() { "" } else { " as " };
            format!(
                "an edit{acting}{} (checkpoint {}, {})",
                nodes.join(", "),
                write.written.id,
                write.written.ts
            )
        }
        WriteOrigin::Older => format!(
            "a step before it (look on with --checkpoint {} and the path {})",
            write.written.id,
            write.pointer.trim_start_matches('/')
        ),
        WriteOrigin::Unknown => "a step that is not stored any more".to_owned(),
        WriteOrigin::Task if write.writers.len() > MAX_NAMED => {
            format!(
                "{} and {} more tasks",
                name(&write.writers[0]),
                write.writers.len() - 1
            )
        }
        WriteOrigin::Task => write.writers.iter().map(name).collect::<Vec<_>>().join(" and "),
    };
    format!(
        "{}{}  {} -> {}  step {step}, by {by}",
        "  ".repeat(depth),
        write.pointer.trim_start_matches('/'),
        shown(write.before.as_ref()),
        shown(write.after.as_ref()),
    )
}

/// Says what the writers were answered, a line for each answer.
fn answers(write: &ValueWrite, depth: usize) -> Vec<String> {
    let asked_at = write.from.as_ref().map_or("", CheckpointId::as_str);
    let line = |given: &AnswerGiven| {
        let words = given
            .question
            .as_ref()
            .map(|asked| asked.get("question").unwrap_or(asked));
        let question = words.map_or_else(|| "a question".to_owned(), |asked| shown(Some(asked)));
        format!(
            "{}answer to {question}: {}  asked at checkpoint {asked_at}, answered by {}",
            "  ".repeat(depth),
            shown(Some(&given.answer)),
            write.written.ts
        )
    };
    let writers = write.writers.iter().take(MAX_NAMED);
    writers.flat_map(|writer| &writer.answers).map(line).collect()
}

/// Says what the writers may have read, where that was not seen, and how to follow it.
fn possible_reads(write: &ValueWrite, depth: usize) -> Vec<String> {
    let from = write.from.as_ref().map_or("", CheckpointId::as_str);
    let read = |read: &PossibleRead| format!("{} (step {})", read.key, read.written.metadata.step);
    let line = |writer: &Writer| {
        let keys: Vec<String> = writer.may_have_read.iter().map(read).collect();
        let more = if writer.may_have_read_more {
            " and more"
        } else {
            ""
        };
        format!(
            "{}may have read {}{more}; follow one with --checkpoint {from}",
            "  ".repeat(depth),
            keys.join(", "),
        )
    };
    let writers = write.writers.iter().take(MAX_NAMED);
    let unseen = writers.filter(|writer| !writer.may_have_read.is_empty());
    unseen.map(line).collect()
}

fn possible_json(read: &PossibleRead) -> serde_json::Value {
    json_of!({
        "key": &*read.key,
        "checkpoint": read.written.id.as_str(),
        "step": read.written.metadata.step,
    })
}

fn answer_json(given: &AnswerGiven) -> serde_json::Value {
    json_of!({"question": given.question.as_ref().map(json), "answer": json(&given.answer)})
}

fn write_json(write: &ValueWrite) -> serde_json::Value {
    let writers: Vec<_> = (write.writers.iter())
        .map(|writer| {
            json_of!({
                "node": &*writer.node,
                "task": writer.task.as_ref().map(ToString::to_string),
                "reads": reads_json(&writer.reads),
                "packet": writer.packet,
                "input": writer.input.as_ref().map(json),
                "sent_by": writer.sent_by.iter().map(|node| &**node).collect::<Vec<_>>(),
                "answers": writer.answers.iter().map(answer_json).collect::<Vec<_>>(),
                "may_have_read": writer.may_have_read.iter().map(possible_json).collect::<Vec<_>>(),
                "may_have_read_more": writer.may_have_read_more,
            })
        })
        .collect();
    json_of!({
        "pointer": write.pointer,
        "read_by": write.read_by,
        "checkpoint": write.written.id.as_str(),
        "step": write.written.metadata.step,
        "at": write.written.ts,
        "from": write.from.as_ref().map(CheckpointId::as_str),
        "before": write.before.as_ref().map(json),
        "after": write.after.as_ref().map(json),
        "origin": write.origin.as_str(),
        "writers": writers,
    })
}

/// Reads a checkpoint without its values.
async fn checkpoint(
    store: &Store,
    thread: &ThreadId,
    id: &CheckpointId,
) -> Result<Option<CheckpointHead>, Fault> {
    let query = ListQuery::new()
        .thread(thread.clone())
        .ns("")
        .id(id.clone())
        .limit(1);
    Ok(store.saver.heads(&query).await?.into_iter().next())
}

/// Explanation of what a task of the step read and decided, and of how it ran.
struct TaskExplained {
    snapshot: TaskSnapshot,
    record: Option<TaskRecord>,
    work: TaskWork,
}

/// Status of a task, as JSON names it.
fn status(task: &TaskSnapshot) -> &'static str {
    match (&task.result, &task.error, task.interrupts.is_empty()) {
        (Some(_), ..) => "done",
        (None, Some(_), _) => "failed",
        (None, None, false) => "asking",
        (None, None, true) => "queued",
    }
}

impl TaskExplained {
    fn failed_attempts(&self) -> usize {
        self.work.spans.iter().map(|span| span.attempts.len()).sum()
    }

    /// Returns whether some run has begun the task.
    fn was_begun(&self) -> bool {
        !self.work.spans.is_empty()
    }

    /// Returns where the result came from when the task did not work for it.
    fn result_of(&self) -> Option<&'static str> {
        if self.record.as_ref().is_some_and(|record| record.pinned) {
            return Some("pin");
        }
        self.snapshot.result.as_ref()?;
        self.work.unworked().map(UnworkedResult::as_str)
    }

    /// Returns why it ran as it did, or did not; nothing of a task that simply ran.
    fn how(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match self.result_of() {
            Some("pin") => lines.push("did not run: its output is pinned".to_owned()),
            Some("cache") => lines.push("did not run: its result came from the cache".to_owned()),
            Some("answer") => lines.push("did not run: went on with a person's answer".to_owned()),
            Some(_) => lines.push("did not run: used the result of another branch".to_owned()),
            None if self.snapshot.result.is_some() && self.work.instead.is_some() => {
                lines.push("repeated a side effect of another branch".to_owned());
            }
            None => {}
        }
        let attempts = self.failed_attempts();
        match status(&self.snapshot) {
            "done" if attempts > 0 => lines.push(format!(
                "succeeded after {}",
                out::count(attempts as u64, "failed attempt")
            )),
            "failed" => {
                let failure = self.snapshot.error.as_deref().unwrap_or_default();
                let gave_up = match attempts {
                    0 => "failed".to_owned(),
                    _ => format!("gave up after {}", out::count(attempts as u64 + 1, "attempt")),
                };
                let timed_out = matches!(
                    &*Failure::from_shown(failure).class,
                    "NodeTimeoutError" | "TimeoutError"
                );
                let timed_out = if timed_out { ", timed out" } else { "" };
                lines.push(format!("{gave_up}{timed_out}: {failure}"));
            }
            "asking" => lines.push("waits for an answer".to_owned()),
            "queued" if self.was_begun() => {
                lines.push("was begun, and left before it ended: going on begins it again".to_owned());
            }
            "queued" => lines.push("queued: the step has not run it".to_owned()),
            _ => {}
        }
        lines
    }
}

pub(crate) async fn explain(args: &ExplainArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let thread = ThreadId::from(args.thread.as_str());
    let newest = store.head(&thread).await?;
    let (before, after) = ends(args, &store, &thread, &newest).await?;
    let tuple = store
        .saver
        .get(&thread, "", Some(&before))
        .await?
        .ok_or_else(|| {
            Fault::usage(format!(
                "The checkpoint before {} is not stored any more, so nothing is known of the step.",
                after.id
            ))
        })?;
    let step = after.metadata.step.saturating_add(i64::from(args.open));
    if store.saver.foreign().is_some() {
        let at = StateRef::at(thread.clone(), before.clone());
        let state = read(&store, None, &at, &newest).await?;
        return explain_foreign(args, &state, &before, &after, step);
    }
    let (file, graph) = open(&store, args.graph.as_deref(), &thread, &newest)?;
    let state = graph
        .get_state(&StateRef::at(thread.clone(), before.clone()))
        .await?;
    let explained = explained_tasks(args, state.tasks, &tuple)?;
    let branch = Branch {
        graph: &graph,
        document: &file.document,
        saver: &*store.saver,
        thread: &thread,
        tip: &newest,
    };
    let visits = match &args.node {
        Some(node) => {
            is_there(&file, node)?;
            Some((node, branch.visits(node, &before).await?))
        }
        None => None,
    };
    if args.reading.json {
        let tasks: Vec<_> = explained.iter().map(explained_json).collect();
        let made = (!args.open).then(|| after.id.as_str());
        let mut shown = json_of!({"checkpoint": made, "from": before.as_str(), "step": step, "tasks": tasks});
        if let Some((_, visits)) = &visits {
            shown["visits"] = json_of!(visits);
        }
        return Ok(out::pretty(&shown)?);
    }
    out::note(&match args.open {
        true => format!("step {step} begins from checkpoint {before}"),
        false => format!("step {step} led to checkpoint {}", after.id),
    });
    if let Some((node, visits)) = &visits
        && explained.is_empty()
    {
        for line in absence(node, visits) {
            out::line(&line)?;
        }
    }
    let waits = visits.as_ref().map_or(&[][..], |(_, visits)| &visits.waits);
    for task in &explained {
        print_task(task, waits)?;
    }
    Ok(())
}

/// Explains a step of a thread that another program makes: what its tasks wrote and where that led. Why they did, and what
/// they read, is not in its database.
fn explain_foreign(
    args: &ExplainArgs,
    state: &StateSnapshot,
    before: &CheckpointId,
    after: &CheckpointHead,
    step: i64,
) -> Result<(), Fault> {
    let is_wanted = |task: &&TaskSnapshot| args.node.as_deref().is_none_or(|node| *node == *task.name);
    let tasks: Vec<&TaskSnapshot> = state.tasks.iter().filter(is_wanted).collect();
    let keys = |task: &TaskSnapshot| -> Vec<String> {
        let written = task.result.as_ref().and_then(Value::as_object);
        written
            .map(|written| written.keys().map(ToString::to_string).collect())
            .unwrap_or_default()
    };
    if args.reading.json {
        let tasks: Vec<_> = (tasks.iter())
            .map(|task| {
                json_of!({
                    "node": &*task.name,
                    "task": task.id.as_str(),
                    "recorded": false,
                    "status": status(task),
                    "wrote": keys(task),
                    "to": task.targets.iter().map(|to| &**to).collect::<Vec<_>>(),
                    "error": task.error,
                    "questions": task.interrupts.iter().map(|asked| json(&asked.value)).collect::<Vec<_>>(),
                })
            })
            .collect();
        let made = (!args.open).then(|| after.id.as_str());
        let shown = json_of!({"checkpoint": made, "from": before.as_str(), "step": step, "tasks": tasks});
        return Ok(out::pretty(&shown)?);
    }
    out::note(&match args.open {
        true => format!("step {step} begins from checkpoint {before}"),
        false => format!("step {step} led to checkpoint {}", after.id),
    });
    if let (Some(node), true) = (&args.node, tasks.is_empty()) {
        out::line(&format!("{node} did not run in this step"))?;
    }
    for task in tasks {
        out::line(&task.name)?;
        if let Some(error) = &task.error {
            out::line(&format!("  failed: {error}"))?;
        }
        for asked in &task.interrupts {
            out::line(&format!("  asked {}", shown(Some(&asked.value))))?;
        }
        match (keys(task), &task.result) {
            (keys, _) if !keys.is_empty() => out::line(&format!("  wrote {}", keys.join(", ")))?,
            (_, Some(_)) => out::line("  finished and wrote nothing")?,
            (_, None) => out::line("  has not finished")?,
        }
        if !task.targets.is_empty() {
            out::line(&format!("  led to {}", next_of(&task.targets)))?;
        }
    }
    out::note("What the tasks read, and why they led where they did, is not in a LangGraph database.");
    Ok(())
}

/// Finds the checkpoints at both ends of the step: the one that it begins from, and the one that it led to (with
/// `--open`, the same).
async fn ends(
    args: &ExplainArgs,
    store: &Store,
    thread: &ThreadId,
    newest: &CheckpointHead,
) -> Result<(CheckpointId, CheckpointHead), Fault> {
    let after = match &args.checkpoint {
        Some(id) => {
            store.has(thread, id).await?;
            let found = checkpoint(store, thread, &id.as_str().into()).await?;
            found.unwrap_or_else(|| newest.clone())
        }
        None => newest.clone(),
    };
    let before = match args.open {
        true => after.id.clone(),
        false => after.parent.clone().ok_or_else(|| {
            Fault::usage(format!(
                "Checkpoint {} is the first of its thread: no step led to it. --open shows the step that begins from it.",
                after.id
            ))
        })?,
    };
    Ok((before, after))
}

/// Reads what is known of the step's tasks: of all, or of those of the node that is asked for.
fn explained_tasks(
    args: &ExplainArgs,
    tasks: Vec<TaskSnapshot>,
    tuple: &CheckpointTuple,
) -> Result<Vec<TaskExplained>, Fault> {
    let records: HashMap<_, _> = tuple.records().collect();
    let dir = superstep_workbench::default_data_dir();
    let is_wanted = |task: &TaskSnapshot| args.node.as_deref().is_none_or(|node| *node == *task.name);
    tasks
        .into_iter()
        .filter(is_wanted)
        .map(|snapshot| {
            let work = match &dir {
                Some(dir) => task_work(
                    dir,
                    tuple.thread.as_str(),
                    tuple.checkpoint.id.as_str(),
                    snapshot.id.as_str(),
                    &tuple.pending_writes,
                )?,
                None => TaskWork::default(),
            };
            Ok(TaskExplained {
                record: records.get(&snapshot.id).cloned(),
                snapshot,
                work,
            })
        })
        .collect()
}

/// Prints a task: its name, how it went, who came to the joins that it waited for, what it read and what it decided.
fn print_task(task: &TaskExplained, waits: &[JoinWait]) -> Result<(), Fault> {
    out::line(&task.snapshot.name)?;
    for line in task.how() {
        out::line(&format!("  {line}"))?;
    }
    for join in waits.iter().filter(|join| join.missing.is_empty()) {
        out::line(&format!("  {}", join_line(join)))?;
    }
    let Some(record) = &task.record else {
        return Ok(out::line("  not recorded")?);
    };
    for line in record.summary.iter().flat_map(|summary| summary.lines()) {
        out::line(&format!("  {line}"))?;
    }
    out::line(&format!("  {}", reads_of(&record.reads)))?;
    if record.decisions.is_empty() {
        out::line("  nothing to decide: no edge of it has a condition")?;
    }
    for line in record.decisions.iter().flat_map(lines) {
        out::line(&format!("  {line}"))?;
    }
    Ok(())
}

/// Refuses the name of a node that the graph does not have.
fn is_there(file: &GraphFile, node: &str) -> Result<(), Fault> {
    let names: Vec<&str> = file.document.nodes().map(|(name, _)| name).collect();
    if names.contains(&node) {
        return Ok(());
    }
    Err(Fault::usage(format!(
        "--node {node}: the graph has no such node. Its nodes are {}.",
        names.join(", ")
    )))
}

fn join_line(join: &JoinWait) -> String {
    let came: Vec<String> = (join.came.iter())
        .map(|arrival| match &arrival.visit {
            Some(visit) => format!("{} (step {})", arrival.node, visit.step),
            None => arrival.node.clone(),
        })
        .collect();
    let (came, missing) = (came.join(", "), join.missing.join(", "));
    match (came.is_empty(), missing.is_empty()) {
        (true, _) => format!("waits for {missing}"),
        (false, true) => format!("ran after {came}"),
        (false, false) => format!("waits for {missing}; came: {came}"),
    }
}

/// Says why a node has no task in the step, and where it has one.
fn absence(node: &str, visits: &VisitsView) -> Vec<String> {
    let place = |visit: &Visit| format!("step {} (from checkpoint {})", visit.step, visit.checkpoint_id);
    let within = visits
        .counted
        .map_or(String::new(), |counted| format!(", in the last {counted} steps"));
    let mut lines = match visits.total {
        0 => vec![format!("{node} has not run on this branch{within}")],
        _ => vec![format!("{node} did not run in this step")],
    };
    let waiting = visits.waits.iter().filter(|join| !join.missing.is_empty());
    lines.extend(waiting.map(|join| format!("  {}", join_line(join))));
    for way in &visits.not_taken {
        let (from, edge) = (&way.from, &way.edge);
        if !way.ran {
            lines.push(format!("  {from} leads here and did not run in the step before"));
            continue;
        }
        let decision = way.decision.as_ref();
        lines.push(match decision.map(|decision| &decision.to[..]) {
            None | Some([]) => format!("  {from} ran, and edge {edge} was not taken"),
            Some(to) => format!("  {from} led to {} instead, edge {edge}", to.join(", ")),
        });
        let Some(decision) = decision else { continue };
        if let Some(expression) = &decision.expression {
            let result = decision.result.as_ref().map_or("", |_| "  ->  ");
            let value = decision.result.as_ref().map_or_else(String::new, recorded_view);
            lines.push(format!("      {expression}{result}{value}"));
        }
        for read in &decision.values {
            lines.push(format!("      {} = {}", read.key, recorded_view(&read.value)));
        }
    }
    lines.extend(
        visits
            .here
            .as_ref()
            .map(|visit| format!("  last ran in {}", place(visit))),
    );
    lines.extend(
        visits
            .next
            .as_ref()
            .map(|visit| format!("  runs next in {}", place(visit))),
    );
    lines
}

fn recorded_view(value: &RecordedValueView) -> String {
    match (&value.value, value.size) {
        (Some(value), _) => out::short(value, MAX_SHOWN),
        (None, Some(size)) => format!("{size} bytes"),
        (None, None) => "more than 64 KiB".to_owned(),
    }
}

fn recorded(value: &RecordedValue) -> String {
    match value {
        RecordedValue::Whole(value) => shown(Some(value)),
        RecordedValue::Large { size: Some(size), .. } => format!("{size} bytes"),
        RecordedValue::Large { size: None, .. } => "more than 64 KiB".to_owned(),
    }
}

fn lines(decision: &Decision) -> Vec<String> {
    let what = match (&decision.edge, decision.packets) {
        (Some(edge), _) => format!("edge {edge}"),
        (None, _) => "the node".to_owned(),
    };
    let led = match (&decision.to[..], decision.packets, &decision.edge) {
        ([], 0, Some(_)) => "was not taken".to_owned(),
        ([], 0, None) => "chose".to_owned(),
        (to, 0, _) => format!("led to {}", to.join(", ")),
        (to, packets, _) => format!("sent {packets} packets to {}", to.join(", ")),
    };
    let mut lines = vec![format!("{what} {led}")];
    let Some(reason) = &decision.reason else {
        return lines;
    };
    let result = reason.result.as_ref().map(recorded);
    match (&reason.expression, result) {
        (Some(expression), Some(result)) => lines.push(format!("    {expression}  ->  {result}")),
        (None, Some(result)) => lines.push(format!("    ->  {result}")),
        _ => {}
    }
    for tried in &reason.conditions {
        let held = if tried.held { "true" } else { "false" };
        let expression = tried.expression.as_deref().unwrap_or("otherwise");
        lines.push(format!("    {}: {expression}  ->  {held}", tried.label));
    }
    for (key, value) in &reason.values {
        lines.push(format!("    {key} = {}", recorded(value)));
    }
    if decision.cut {
        lines.push("    and more".to_owned());
    }
    lines
}

/// Returns a value as it was when it was read: itself as `value`, or `size` and `hash` of a large one.
fn recorded_json(value: &RecordedValue) -> serde_json::Value {
    match value {
        RecordedValue::Whole(value) => json_of!({"value": value}),
        RecordedValue::Large { size, hash } => json_of!({"size": size, "hash": hash}),
    }
}

/// Returns a decision as `--json` prints it. Its form in storage may change, this one may not.
fn decision_json(decision: &Decision) -> serde_json::Value {
    let mut object = serde_json::Map::new();
    let mut set = |key: &str, value: serde_json::Value| drop(object.insert(key.to_owned(), value));
    if let Some(edge) = &decision.edge {
        set("edge", json_of!(**edge));
    }
    set("to", decision.to.iter().map(|to| json_of!(**to)).collect());
    if decision.packets > 0 {
        set("packets", json_of!(decision.packets));
    }
    if let Some(reason) = &decision.reason {
        if let Some(expression) = &reason.expression {
            set("expression", json_of!(**expression));
        }
        if let Some(result) = &reason.result {
            set("result", recorded_json(result));
        }
        if !reason.values.is_empty() {
            let values = reason.values.iter();
            let values: serde_json::Map<_, _> = values
                .map(|(key, value)| (key.to_string(), recorded_json(value)))
                .collect();
            set("values", values.into());
        }
        if !reason.conditions.is_empty() {
            let tried = reason.conditions.iter().map(|tried| match &tried.expression {
                Some(expression) => {
                    json_of!({"label": *tried.label, "expression": **expression, "held": tried.held})
                }
                None => json_of!({"label": *tried.label, "held": tried.held}),
            });
            set("conditions", tried.collect());
        }
    }
    if decision.cut {
        set("cut", json_of!(true));
    }
    object.into()
}

fn explained_json(explained: &TaskExplained) -> serde_json::Value {
    let task = &explained.snapshot;
    let mut entries: Object = [("node", task.name.clone())].into_iter().collect();
    entries.insert("task", task.id.to_string());
    entries.insert("recorded", explained.record.is_some());
    let mut object = json(&Value::Object(entries));
    let reads = explained.record.as_ref().map(|record| reads_json(&record.reads));
    object["reads"] = reads.unwrap_or_default();
    let decisions = explained.record.iter().flat_map(|record| &record.decisions);
    object["decisions"] = decisions.map(decision_json).collect();
    let summary = explained
        .record
        .as_ref()
        .and_then(|record| record.summary.as_deref());
    if let Some(summary) = summary {
        object["summary"] = summary.into();
    }
    object["status"] = status(task).into();
    object["failed_attempts"] = explained.failed_attempts().into();
    object["result_of"] = json_of!(explained.result_of());
    object["error"] = json_of!(task.error);
    object
}
