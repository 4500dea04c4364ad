//! `superstep effects`: what a run from a moment would do again to the world outside.

use superstep::graph::Effect;
use superstep::run::{EffectDone, EffectState, StateRef};
use superstep_workbench::session::effects_after;

use crate::args::effects::EffectsArgs;
use crate::commands::state::open;
use crate::fault::Fault;
use crate::moment::moment;
use crate::out;
use crate::place::Store;

pub(crate) async fn effects(args: &EffectsArgs) -> Result<(), Fault> {
    let store = Store::existing(&args.reading.db).await?;
    store.refuse_unknown("What a run would do again to the world outside")?;
    let moment = moment(&store, &args.moment).await?;
    let (file, graph) = open(&store, args.graph.as_deref(), &moment.thread, &moment.head)?;
    let at = StateRef::at(moment.thread.clone(), moment.head.id.clone());
    if args.reading.json {
        let list = effects_after(&graph, &file.document, &*store.saver, &at);
        return Ok(out::pretty(&list.await?)?);
    }
    out::note(&format!(
        "From step {} of thread {} ({}):",
        moment.head.metadata.step, moment.thread, moment.head.id
    ));
    let done = graph.effects_after(&at).await?;
    if done.is_empty() {
        out::note("nothing was done to the world outside that a run from here would do again");
    }
    for done in &done {
        out::line(&line(done))?;
    }
    Ok(())
}

/// Formats the node, how its work ended and when, and whether it may be repeated: `pay: done 2026-11-26T10:00:00Z, must
/// not be repeated`.
pub(crate) fn line(done: &EffectDone) -> String {
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
    let times = match done.times {
        0 | 1 => String::new(),
        times => format!(" ×{times}"),
    };
    let result = match done.result {
        Some(_) => "",
        None => ", no result is kept",
    };
    format!("{}{times}: {state} {}, {what}{result}", path.join(" > "), done.at)
}
