//! What the rules of a graph say of all that its threads did: invariants that were broken (`superstep check --threads`), and
//! what an edge would have decided with another expression (`superstep reconsider`).

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use superstep_workbench::wire::{BrokenMoment, ChangedDecision, CheckInvariants, Led, ReconsiderEdge};

use crate::args::Db;
use crate::args::search::ReconsiderArgs;
use crate::commands::search::{Searched, desk};
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::listing::absolute;
use crate::out;

/// Moments at which the invariants of a graph were broken.
pub(crate) struct Broken {
    pub(crate) moments: Vec<Json>,
    pub(crate) searched: Searched,
    /// Threads of the graph, and those of them with such moments.
    pub(crate) threads: u64,
    pub(crate) broken_threads: usize,
}

/// Checks the invariants of a graph at all that its threads did. Lines are printed as they are found.
pub(crate) async fn broken(
    file: &GraphFile,
    db: &Db,
    since: Option<&str>,
    as_json: bool,
) -> Result<Broken, Fault> {
    let desk = desk(db).await?;
    let graphs = vec![absolute(&file.path)];
    let mut request = CheckInvariants {
        since: since.map(str::to_owned),
        ..CheckInvariants::default()
    };
    let mut searched = Searched::default();
    let mut moments = Vec::new();
    let mut of_graph = 0;
    let mut threads = BTreeSet::new();
    loop {
        let answer = desk.check(&request, &file.document, &graphs).await?;
        request.after = searched.add(answer.progress);
        of_graph += answer.threads;
        for moment in answer.moments {
            threads.insert(moment.thread_id.clone());
            match as_json {
                true => moments.push(broken_json(&moment)),
                false => {
                    searched.end_line();
                    out::line(&broken_line(&moment))?;
                    moments.push(Json::Null);
                }
            }
        }
        if request.after.is_none() {
            break;
        }
    }
    searched.end_line();
    Ok(Broken {
        moments,
        searched,
        threads: of_graph,
        broken_threads: threads.len(),
    })
}

fn broken_line(moment: &BrokenMoment) -> String {
    let by = match &moment.nodes[..] {
        [] => String::new(),
        nodes => format!("  by {}", nodes.join(", ")),
    };
    let lasted = match moment.checkpoints {
        0 | 1 => String::new(),
        checkpoints => format!("  (for {checkpoints} checkpoints)"),
    };
    format!(
        "{}  step {}  {}: {}{by}{lasted}",
        moment.thread_id, moment.step, moment.invariant, moment.says
    )
}

fn broken_json(moment: &BrokenMoment) -> Json {
    json!({
        "thread_id": moment.thread_id,
        "title": moment.title,
        "status": moment.status,
        "checkpoint_id": moment.checkpoint_id,
        "step": moment.step,
        "at": moment.at,
        "nodes": moment.nodes,
        "invariant": moment.invariant,
        "says": moment.says,
        "checkpoints": moment.checkpoints,
    })
}

pub(crate) async fn reconsider(args: ReconsiderArgs) -> Result<(), Fault> {
    let file = GraphFile::read(&args.graph)?;
    let desk = desk(&args.reading.db).await?;
    let graphs = vec![absolute(&file.path)];
    let mut request = ReconsiderEdge {
        edge: args.edge,
        expression: args.expression,
        since: args.since,
        ..ReconsiderEdge::default()
    };
    let mut searched = Searched::default();
    let (mut decisions, mut not_recorded, mut of_graph) = (0, 0, 0);
    let mut changed: Vec<Json> = Vec::new();
    let mut threads = BTreeSet::new();
    loop {
        let answer = desk.reconsider(&request, &file.document, &graphs).await?;
        request.after = searched.add(answer.progress);
        of_graph += answer.threads;
        decisions += answer.decisions;
        not_recorded += answer.not_recorded;
        for decision in answer.changed {
            threads.insert(decision.thread_id.clone());
            match args.reading.json {
                true => changed.push(changed_json(&decision)),
                false => {
                    searched.end_line();
                    out::line(&changed_line(&decision))?;
                    changed.push(Json::Null);
                }
            }
        }
        if request.after.is_none() {
            break;
        }
    }
    searched.end_line();
    if args.reading.json {
        return Ok(out::pretty(&json!({
            "decisions": decisions,
            "changed": changed,
            "threads": threads.len(),
            "not_recorded": not_recorded,
            "searched": of_graph,
            "unknown": searched.unknown,
            "reason": searched.reason,
        }))?);
    }
    out::line(&format!(
        "{} of {} would change, in {}.",
        changed.len(),
        out::count(decisions, "decision"),
        out::count(threads.len() as u64, "thread")
    ))?;
    if not_recorded > 0 {
        out::note(&format!(
            "{} more: what the edge decided was not recorded.",
            out::count(not_recorded, "task")
        ));
    }
    searched.note_unknown();
    Ok(())
}

fn led(led: &Led) -> String {
    let to = match &led.to[..] {
        [] => "nowhere".to_owned(),
        to => to.join(", "),
    };
    match led.packets {
        0 => to,
        packets => format!("{to} ({})", out::count(packets.into(), "packet")),
    }
}

fn changed_line(decision: &ChangedDecision) -> String {
    format!(
        "{}  step {}  {} -> {}",
        decision.thread_id,
        decision.step,
        led(&decision.was),
        led(&decision.now)
    )
}

fn changed_json(decision: &ChangedDecision) -> Json {
    json!({
        "thread_id": decision.thread_id,
        "title": decision.title,
        "status": decision.status,
        "checkpoint_id": decision.checkpoint_id,
        "step": decision.step,
        "at": decision.at,
        "was": decision.was,
        "now": decision.now,
    })
}
