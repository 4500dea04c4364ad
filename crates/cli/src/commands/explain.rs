//! `superstep why` and `superstep explain`: where a value came from, and why edges led where they did.

use serde_json::json as json_of;
use superstep::inspect::{ValueWrite, WriteOrigin, Writer};
use superstep::{
    CheckpointHead, CheckpointId, Decision, KeysRead, ListQuery, Name, Object, RecordedValue, StateRef,
    TaskRecord, ThreadId, Value,
};

use crate::args::{ExplainArgs, WhyArgs};
use crate::commands::state::open;
use crate::fault::Fault;
use crate::out;
use crate::place::Store;
use crate::progress::json;

/// Letters of a value in a line.
const SHOWN: usize = 60;

/// Converts a path as people write it to a JSON Pointer: `messages/0/content` becomes `/messages/0/content`.
fn pointer(path: &str) -> String {
    match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("/{path}"),
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| out::short(&json(value), SHOWN))
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
    let (_, graph) = open(&store, args.graph.as_deref(), &thread, &head)?;
    let at = StateRef::live(thread).checkpoint(args.checkpoint.as_deref().map(CheckpointId::from));
    let found = graph
        .provenance(&at, &pointer(&args.path), args.limit.get())
        .await?;
    if args.reading.json {
        let writes: Vec<_> = found.writes.iter().map(write_json).collect();
        return Ok(out::pretty(&json_of!({"writes": writes, "more": found.more}))?);
    }
    let mut depths: Vec<usize> = Vec::new();
    for write in &found.writes {
        let depth = write
            .read_by
            .and_then(|place| depths.get(place))
            .map_or(0, |depth| depth + 1);
        depths.push(depth);
        out::line(&out::plain(&line(write, depth)))?;
    }
    if found.more {
        out::note("There is more behind them; see --limit.");
    }
    Ok(())
}

fn line(write: &ValueWrite, depth: usize) -> String {
    let step = write.written.metadata.step;
    let name = |writer: &Writer| match (&writer.packet, &writer.sent_by[..]) {
        (true, [_, ..]) => format!("{} (a packet of {})", writer.node, writer.sent_by.join(", ")),
        (true, []) => format!("{} (a packet)", writer.node),
        (false, _) => format!("{} ({})", writer.node, reads_of(&writer.reads)),
    };
    let by = match write.origin {
        WriteOrigin::Input => "the input".to_owned(),
        WriteOrigin::Edit if write.writers.is_empty() => "an edit".to_owned(),
        WriteOrigin::Edit => {
            let nodes: Vec<&str> = write.writers.iter().map(|writer| &*writer.node).collect();
            format!("an edit as {}", nodes.join(", "))
        }
        WriteOrigin::Unknown => "a step that is not stored any more".to_owned(),
        WriteOrigin::Task if write.writers.len() > 5 => {
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

fn write_json(write: &ValueWrite) -> serde_json::Value {
    let writers: Vec<_> = (write.writers.iter())
        .map(|writer| {
            json_of!({
                "node": &*writer.node,
                "task": writer.task.as_ref().map(ToString::to_string),
                "reads": reads_json(&writer.reads),
                "packet": writer.packet,
                "sent_by": writer.sent_by.iter().map(|node| &**node).collect::<Vec<_>>(),
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
    let query = ListQuery {
        thread: Some(thread.clone()),
        ns: Some("".into()),
        id: Some(id.clone()),
        limit: Some(1),
        ..ListQuery::default()
    };
    Ok(store.saver.heads(&query).await?.into_iter().next())
}

/// Explanation of what a task of the step read and decided.
struct TaskExplained {
    task: String,
    node: Name,
    record: Option<TaskRecord>,
}

pub(crate) async fn explain(args: &ExplainArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let thread = ThreadId::from(args.thread.as_str());
    let newest = store.head(&thread).await?;
    let after = match &args.checkpoint {
        Some(id) => {
            store.has(&thread, id).await?;
            let found = checkpoint(&store, &thread, &id.as_str().into()).await?;
            found.unwrap_or_else(|| newest.clone())
        }
        None => newest.clone(),
    };
    let Some(before) = after.parent.clone() else {
        return Err(Fault::usage(format!(
            "Checkpoint {} is the first of its thread: no step led to it.",
            after.id
        )));
    };
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
    let (_, graph) = open(&store, args.graph.as_deref(), &thread, &newest)?;
    let state = graph.get_state(&StateRef::at(thread, before)).await?;
    let records: std::collections::HashMap<_, _> = tuple.records().collect();
    let explained: Vec<TaskExplained> = (state.tasks.iter())
        .filter(|task| args.node.as_deref().is_none_or(|node| *node == *task.name))
        .map(|task| TaskExplained {
            task: task.id.to_string(),
            node: task.name.clone(),
            record: records.get(&task.id).cloned(),
        })
        .collect();
    if args.reading.json {
        let tasks: Vec<_> = explained.iter().map(explained_json).collect();
        let step = after.metadata.step;
        return Ok(out::pretty(
            &json_of!({"checkpoint": after.id.as_str(), "step": step, "tasks": tasks}),
        )?);
    }
    out::note(&format!(
        "step {} led to checkpoint {}",
        after.metadata.step, after.id
    ));
    for task in &explained {
        out::line(&out::plain(&task.node))?;
        let Some(record) = &task.record else {
            out::line("  not recorded")?;
            continue;
        };
        out::line(&out::plain(&format!("  {}", reads_of(&record.reads))))?;
        if record.decisions.is_empty() {
            out::line("  nothing to decide: no edge of it has a condition")?;
        }
        for decision in &record.decisions {
            for line in lines(decision) {
                out::line(&out::plain(&format!("  {line}")))?;
            }
        }
    }
    Ok(())
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

fn explained_json(explained: &TaskExplained) -> serde_json::Value {
    let record = explained.record.as_ref().map(TaskRecord::to_value);
    let part = |name: &str| record.as_ref().and_then(|record| record.get(name)).map(json);
    let mut entries: Object = [("node", explained.node.clone())].into_iter().collect();
    entries.insert("task", explained.task.clone());
    entries.insert("recorded", explained.record.is_some());
    let mut object = json(&Value::Object(entries));
    object["reads"] = part("reads").unwrap_or_default();
    object["decisions"] = part("decisions").unwrap_or_else(|| json_of!([]));
    object
}
