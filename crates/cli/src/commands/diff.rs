//! `superstep diff`: two moments of any threads, and the ways to them.

use serde_json::{Value as Json, json as json_of};
use superstep::run::StateRef;
use superstep::value::Object;
use superstep::{CheckpointId, Value};
use superstep_workbench::wire::{ChangeKind, PathComparison, PathStep};
use superstep_workbench::{Differences, Differing, PathEnd, common, compare, paths, stored_state};

use crate::args::diff::DiffArgs;
use crate::commands::state::open;
use crate::fault::Fault;
use crate::moment::{Moment, moment};
use crate::out::{self, quoted};
use crate::place::{Store, graph_of};
use crate::progress::json;

/// Letters of a value in a line.
const MAX_SHOWN: usize = 80;
/// Texts from this length on are compared by words.
const LONG: usize = 40;
/// Letters of what is equal beside a changed word.
const MAX_CONTEXT: usize = 24;

pub(crate) async fn diff(args: &DiffArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    let left = moment(&store, &args.left).await?;
    let right = moment(&store, &args.right).await?;
    let (old, new) = (
        state(&store, args, &left).await?,
        state(&store, args, &right).await?,
    );
    for key in &args.keys {
        if old.get(key).is_none() && new.get(key).is_none() {
            out::note(&format!("Neither moment has a value of the key {}.", quoted(key)));
        }
    }
    let (ancestor, paths) = paths(
        &*store.saver,
        PathEnd {
            thread: &left.thread,
            head: &left.head,
        },
        PathEnd {
            thread: &right.thread,
            head: &right.head,
        },
    )
    .await?;
    let equal: Vec<&str> = old
        .iter()
        .filter(|(key, value)| new.get(key) == Some(*value))
        .map(|(key, _)| &**key)
        .collect();
    let (before, after) = (Value::Object(old.clone()), Value::Object(new.clone()));
    let differences = compare(&before, &after);
    if args.reading.json {
        return Ok(out::pretty(&json_of!({
            "left": moment_json(&left),
            "right": moment_json(&right),
            "common_ancestor": ancestor.as_ref().map(CheckpointId::as_str),
            "paths": {
                "stretches": paths.stretches,
                "only_left": paths.only_left,
                "only_right": paths.only_right,
                "cut": paths.cut,
            },
            "differences": differences.found.iter().map(difference_json).collect::<Vec<_>>(),
            "equal_keys": equal,
            "truncated": differences.truncated,
        }))?);
    }
    let shown = |moment: &Moment| {
        format!(
            "{} step {} ({})",
            moment.thread, moment.head.metadata.step, moment.head.id
        )
    };
    out::note(&format!("< {}", shown(&left)));
    out::note(&format!("> {}", shown(&right)));
    if let Some(ancestor) = &ancestor {
        let is_of = match ancestor {
            id if *id == left.head.id && *id == right.head.id => "Both are the same checkpoint.".to_owned(),
            id if *id == left.head.id => "The second continues the first.".to_owned(),
            id if *id == right.head.id => "The first continues the second.".to_owned(),
            id => format!("Both continue checkpoint {id}."),
        };
        out::note(&is_of);
    }
    describe_paths(&paths)?;
    describe_state(&differences, &equal)
}

/// Reads the state keys that are compared.
async fn state(store: &Store, args: &DiffArgs, moment: &Moment) -> Result<Object, Fault> {
    let Moment { thread, head, .. } = moment;
    let values = match graph_of(args.graph.as_deref(), thread, head) {
        Ok(path) => {
            let (_, graph) = open(store, Some(&path), thread, head)?;
            let id = (!moment.is_now).then(|| head.id.clone());
            let at = StateRef::live(thread.clone()).checkpoint(id);
            let values = graph.get_state(&at).await?.values;
            values.as_object().cloned().unwrap_or_default()
        }
        Err(_) => {
            // Threads of another program have no graph here, and are stored as they are read.
            if store.saver.foreign().is_none() {
                out::note(&format!(
                    "The graph of thread {thread} is not known: its values are compared as they are stored. Name the graph's \
                     file with --graph."
                ));
            }
            let tuple = store.saver.get(thread, "", Some(&head.id)).await?;
            tuple.map_or_else(Object::new, |tuple| stored_state(&tuple.checkpoint))
        }
    };
    let wanted = |key: &str| args.keys.is_empty() || args.keys.iter().any(|wanted| wanted == key);
    Ok(values
        .iter()
        .filter(|(key, _)| wanted(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect())
}

fn moment_json(moment: &Moment) -> Json {
    json_of!({
        "thread_id": moment.thread.as_str(),
        "checkpoint_id": moment.head.id.as_str(),
        "step": moment.head.metadata.step,
        "at": moment.head.ts,
    })
}

fn difference_json(found: &Differing<'_>) -> Json {
    let mut object = json_of!({"pointer": found.pointer, "change": found.change});
    if let Some(from) = &found.left_pointer {
        object["left_pointer"] = from.as_str().into();
    }
    for (side, value) in [("left", found.left), ("right", found.right)] {
        if let Some(value) = value {
            object[side] = json(value);
        }
    }
    object
}

fn step_line(step: &PathStep) -> String {
    let nodes: Vec<String> = (step.nodes.iter())
        .map(|count| match count.runs {
            1 => count.node.clone(),
            runs => format!("{} ×{runs}", count.node),
        })
        .collect();
    let what = match (step.source.as_str(), nodes.is_empty()) {
        ("loop", false) => nodes.join(", "),
        ("update", false) => format!("an edit as {}", nodes.join(", ")),
        ("update", true) => "an edit".to_owned(),
        ("input", _) => "the input".to_owned(),
        ("fork", _) => "a copy of the checkpoint".to_owned(),
        _ => "what ran is not stored any more".to_owned(),
    };
    format!("step {}  {what}", step.step)
}

fn describe_paths(paths: &PathComparison) -> Result<(), Fault> {
    if paths.cut {
        out::note("Older steps are left out.");
    }
    for stretch in &paths.stretches {
        if stretch.same {
            let count = out::count(stretch.left.len() as u64, "step");
            out::line(&format!("  {count} with the same nodes"))?;
            continue;
        }
        for (sign, steps) in [('<', &stretch.left), ('>', &stretch.right)] {
            for step in steps {
                out::line(&format!("{sign} {}", step_line(step)))?;
            }
        }
    }
    for (sign, nodes) in [('<', &paths.only_left), ('>', &paths.only_right)] {
        if !nodes.is_empty() {
            out::line(&format!("{sign} only here: {}", nodes.join(", ")))?;
        }
    }
    Ok(())
}

fn describe_state(differences: &Differences<'_>, equal: &[&str]) -> Result<(), Fault> {
    for found in &differences.found {
        out::line(&line(found))?;
    }
    if differences.truncated {
        out::note("There are more differences; --key shows those of one key.");
    }
    if differences.found.is_empty() {
        out::note("The states are equal.");
    } else if !equal.is_empty() {
        out::note(&format!("equal: {}", equal.join(", ")));
    }
    Ok(())
}

fn line(found: &Differing<'_>) -> String {
    let place = |pointer: &str| match pointer {
        "" => "(everything)".to_owned(),
        pointer => pointer.trim_start_matches('/').to_owned(),
    };
    let shown = |value: Option<&Value>| value.map_or_else(String::new, |value| out::brief(value, MAX_SHOWN));
    let at = place(&found.pointer);
    match (found.change, found.left, found.right) {
        (ChangeKind::Removed, left, _) => format!("- {at}  {}", shown(left)),
        (ChangeKind::Added | ChangeKind::Appended, _, right) => format!("+ {at}  {}", shown(right)),
        (ChangeKind::Moved, ..) => {
            let from = place(found.left_pointer.as_deref().unwrap_or_default());
            format!("= {at}  moved from {from}")
        }
        (_, Some(Value::String(left)), Some(Value::String(right)))
            if left.chars().count().max(right.chars().count()) > LONG =>
        {
            format!("~ {at}  {}", words(left, right))
        }
        (_, left, right) => format!("~ {at}  {} -> {}", shown(left), shown(right)),
    }
}

/// Splits a text into its words and what is between them.
fn tokens(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if c.is_alphanumeric() || c == '_' => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let (mut start, mut last) = (0, None);
    for (at, c) in text.char_indices() {
        // Each sign is a token of its own.
        if last.is_some_and(|last| last != kind(c) || last == 2) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    if start < text.len() {
        tokens.push(&text[start..]);
    }
    tokens
}

/// Formats what was removed from a text and added to it, with a little of the equal text around it.
fn words(left: &str, right: &str) -> String {
    let (old, new) = (tokens(left), tokens(right));
    let pairs = common(old.len(), new.len(), |a, b| old[a] == new[b]);
    let mut shown = String::new();
    let (mut old_at, mut new_at) = (0, 0);
    let mut equal = String::new();
    for (a, b) in pairs.into_iter().chain([(old.len(), new.len())]) {
        let (removed, added) = (old[old_at..a].concat(), new[new_at..b].concat());
        if !removed.is_empty() || !added.is_empty() {
            shown.push_str(&around(&equal, shown.is_empty(), false));
            equal.clear();
            if !removed.is_empty() {
                shown.push_str(&format!("[-{removed}-]"));
            }
            if !added.is_empty() {
                shown.push_str(&format!("{{+{added}+}}"));
            }
        }
        equal.push_str(old.get(a).copied().unwrap_or_default());
        (old_at, new_at) = (a + 1, b + 1);
    }
    shown + &around(&equal, false, true)
}

/// Shortens an equal part to what is next to the changes.
fn around(text: &str, is_first: bool, is_last: bool) -> String {
    let letters: Vec<char> = text.chars().collect();
    let head = if is_first { 0 } else { MAX_CONTEXT };
    let tail = if is_last { 0 } else { MAX_CONTEXT };
    if letters.len() <= head + tail + 1 {
        return text.to_owned();
    }
    let head: String = letters[..head].iter().collect();
    let tail: String = letters[letters.len() - tail..].iter().collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_show_the_words_that_changed() {
        assert_eq!(
            words("The brake squeals.", "The front brake squealed!"),
            "The {+front +}brake [-squeals.-]{+squealed!+}"
        );
        let far = "x ".repeat(40);
        let near = "x ".repeat(MAX_CONTEXT / 2);
        assert_eq!(
            words(&format!("{far}old {far}"), &format!("{far}new {far}")),
            format!("…{near}[-old-]{{+new+}} {}x…", &near[2..]),
            "what is equal is shown beside the change"
        );
        assert_eq!(words("", "a"), "{+a+}");
        assert_eq!(words("é ß", "é"), "é[- ß-]");
    }
}
