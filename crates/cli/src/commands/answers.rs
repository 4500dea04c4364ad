//! `superstep threads history`: what people answered in the programs of the data folder, and whether it is as it was noted.

use std::num::NonZeroUsize;

use serde_json::{Value as Json, json};
use superstep_workbench::wire::{AnswerState, AnswerView, ChainFault, ListAnswers};

use crate::args::threads::AnswersArgs;
use crate::fault::Fault;
use crate::out;
use crate::place::data_dir;

pub(crate) fn history(args: &AnswersArgs) -> Result<(), Fault> {
    if args.verify {
        return verify(args);
    }
    let which = ListAnswers {
        words: args.search.clone(),
        thread_id: args.thread.clone(),
        ..ListAnswers::default()
    };
    let limit = args.limit.map_or(usize::MAX, NonZeroUsize::get);
    let answers = superstep_workbench::past_answers(&data_dir()?, &which, limit)?;
    if args.json {
        return Ok(out::pretty(&answers.iter().map(described).collect::<Vec<_>>())?);
    }
    if answers.is_empty() {
        out::note("Nobody has answered anything like this.");
        return Ok(());
    }
    let row = |one: &AnswerView| {
        vec![
            one.at.clone(),
            one.person.clone().unwrap_or_default(),
            state(one.state).to_owned(),
            one.question.lines().next().unwrap_or_default().to_owned(),
            match &one.answer {
                Json::Null => String::new(),
                Json::String(text) => text.clone(),
                other => out::short(other, 60),
            },
            one.note.clone().unwrap_or_default(),
            one.thread_id.clone(),
        ]
    };
    let head = ["WHEN", "WHO", "STATE", "QUESTION", "ANSWER", "NOTE", "THREAD"];
    Ok(out::table(&head, &answers.iter().map(row).collect::<Vec<_>>())?)
}

fn state(state: AnswerState) -> &'static str {
    match state {
        AnswerState::Held | AnswerState::Giving => "held",
        AnswerState::Given => "given",
        AnswerState::Returned => "returned",
        AnswerState::Lost => "lost",
        AnswerState::Withdrawn => "withdrawn",
        AnswerState::Delegated => "delegated",
        AnswerState::Escalated => "escalated",
    }
}

fn described(one: &AnswerView) -> Json {
    json!({
        "id": one.id,
        "thread_id": one.thread_id,
        "title": one.thread_title,
        "graph": one.graph_name,
        "checkpoint_id": one.checkpoint_id,
        "node": one.node,
        "question": one.question,
        "answer": one.answer,
        "who": one.person,
        "note": one.note,
        "at": one.at,
        "state": state(one.state),
    })
}

fn verify(args: &AnswersArgs) -> Result<(), Fault> {
    let noted = args.noted.as_deref().map(str::trim);
    let found = superstep_workbench::verify_answers(&data_dir()?, noted)?;
    if args.json {
        let faults: Vec<Json> = found
            .faults
            .iter()
            .map(|fault| json!({"fault": fault, "what": words(fault)}))
            .collect();
        out::pretty(&json!({
            "entries": found.entries, "head": found.head, "faults": faults, "fault_count": found.fault_count,
        }))?;
    } else {
        for fault in &found.faults {
            out::line(&words(fault))?;
        }
        let more = found
            .fault_count
            .saturating_sub(u32::try_from(found.faults.len()).unwrap_or(u32::MAX));
        if more > 0 {
            out::line(&format!("and {}", out::count(more.into(), "more fault")))?;
        }
        let read = out::count(found.entries.into(), "entry").replace("entrys", "entries");
        out::note(&match found.fault_count {
            0 => format!("Read {read}: every answer is as it was noted."),
            faults => format!("Read {read}: {} found.", out::count(faults.into(), "fault")),
        });
        if !found.head.is_empty() {
            out::note(
                "A chain that was written again as a whole looks sound. This hash, noted elsewhere, shows that (--noted):",
            );
            out::line(&found.head)?;
        }
    }
    match found.fault_count {
        0 => Ok(()),
        _ => Err(Fault::quiet(crate::fault::FAILED)),
    }
}

fn words(fault: &ChainFault) -> String {
    match fault {
        ChainFault::AnswerChanged { entry, answer, at } => {
            format!("answer {answer} was changed after it was noted at {at} (entry {entry})")
        }
        ChainFault::AnswerMissing { entry, answer, at } => {
            format!(
                "answer {answer}, noted at {at} (entry {entry}), is not there, and its thread was not deleted"
            )
        }
        ChainFault::AnswerAdded { answer } => format!("answer {answer} was added past the chain"),
        ChainFault::EntryChanged { entry } => format!("entry {entry} was changed"),
        ChainFault::EntriesMissing { before } => {
            format!("entry {before} does not follow the one before it: entries were left out, added or moved")
        }
        ChainFault::HashNotThere { hash } => {
            format!(
                "no entry has the noted hash {hash}: the chain was cut or written again, or is of another data folder"
            )
        }
    }
}
