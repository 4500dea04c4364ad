//! `superstep preview`: what each answer to a waiting question would lead to.

use serde_json::{Value as Json, json};
use superstep::run::StateRef;
use superstep::{CheckpointId, END, ThreadId, Value};
use superstep_nodes::{Grants, Registry};
use superstep_workbench::session::effects_after;
use superstep_workbench::what_if;
use superstep_workbench::wire::{AnswerPreview, PreviewEnd, PreviewNode};
use superstep_workbench::{Previewer, WaitingQuestion, mark_done};

use super::what_if::cannot_run;
use crate::args::PreviewArgs;
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::input::context;
use crate::out;
use crate::place::{Store, graph_of};

/// Letters of an answer in a line.
const MAX_ANSWER: usize = 40;

pub(crate) async fn preview(args: PreviewArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    store.refuse_unknown("What an answer would lead to")?;
    let thread = ThreadId::from(args.thread.as_str());
    let head = store.head(&thread).await?;
    let file = GraphFile::read(&graph_of(args.graph.as_deref(), &thread, &head)?)?;
    if let Some(problem) = file.unread().iter().find(|problem| problem.is_error()) {
        return Err(Fault::failed(format!("{} {}", problem.message, problem.remedy)));
    }
    let checkpoint = args.checkpoint.as_deref().map(CheckpointId::from);
    let question = WaitingQuestion::read(&*store.saver, &thread, checkpoint.as_ref(), args.id.as_deref());
    let question = question.await?;
    let texts = args.texts.into_iter().map(Json::String);
    let answers: Vec<Json> = args.answers.iter().map(Json::from).chain(texts).collect();
    let kept = || {
        let dir = store.records()?;
        what_if::context_of(&dir, &thread)
    };
    let context = context(&file, &args.context)?
        .or_else(kept)
        .unwrap_or_else(|| Value::Object(superstep::value::Object::new()));
    let (registry, document, known) = (Registry::standard(), file.document.clone(), file.document.clone());
    let graph = file
        .build(&Grants::none())?
        .with_checkpointer(store.saver.clone());
    let previewer = Previewer::new(document, context, move |without| {
        registry
            .build_preview(&file.document, &file.environment(), without)
            .map_err(cannot_run)
    });
    let mut previews = previewer.previews(&question, &answers).await?;
    let at = StateRef::at(thread, question.at().clone());
    let done = effects_after(&graph, &known, &*store.saver, &at);
    mark_done(&mut previews, &done.await?.effects);
    if args.reading.json {
        return Ok(out::pretty(&json!({"previews": previews}))?);
    }
    if previews.is_empty() {
        out::note("The question offers no choices. Name an answer with --answer or --text.");
    }
    for preview in &previews {
        out::line(&line(preview))?;
    }
    Ok(())
}

/// Formats a preview: `Approve: pay (once) -> close -> End`.
fn line(preview: &AnswerPreview) -> String {
    let answer = match &preview.label {
        Some(label) => label.clone(),
        None => out::short(&preview.answer, MAX_ANSWER),
    };
    let steps = preview.steps.iter().map(|nodes| {
        let nodes: Vec<String> = nodes.iter().map(node).collect();
        nodes.join(" + ")
    });
    let way: Vec<String> = steps.chain([end(&preview.end)]).collect();
    format!("{answer}: {}", way.join(" -> "))
}

fn node(node: &PreviewNode) -> String {
    let tasks = match node.tasks {
        1 => String::new(),
        tasks => format!(" x{tasks}"),
    };
    let effect = match node.effect.as_deref() {
        Some("unknown") => Some("side effects not declared".to_owned()),
        effect => effect.map(str::to_owned),
    };
    let done = node.done.last();
    let done = done.map(|done| format!("done on another branch {}", done.last_at));
    let marks: Vec<String> = effect.into_iter().chain(done).collect();
    match marks.is_empty() {
        true => format!("{}{tasks}", node.node),
        false => format!("{}{tasks} ({})", node.node, marks.join(", ")),
    }
}

fn name(target: &str) -> &str {
    if target == END { "End" } else { target }
}

fn end(end: &PreviewEnd) -> String {
    match end {
        PreviewEnd::Done => "End".to_owned(),
        PreviewEnd::Asks {
            refused: Some(why), ..
        } => format!("rejected: {why}"),
        PreviewEnd::Asks { node, text, .. } => match text {
            Some(text) => format!("{node} asks: {text}"),
            None => format!("{node} asks"),
        },
        PreviewEnd::Fails { node, error } => format!("{node} fails: {error}"),
        PreviewEnd::Depends { node, keys, targets } => {
            let targets: Vec<&str> = targets.iter().map(|target| name(target)).collect();
            match &keys[..] {
                [] => format!("{node} decides: {}", targets.join(" or ")),
                keys => format!("{}, depending on {}", targets.join(" or "), keys.join(", ")),
            }
        }
        PreviewEnd::GoesOn => "more steps".to_owned(),
    }
}
