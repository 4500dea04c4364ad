//! `superstep-crash`: kills a working process many times, on every backend that is named, and prints what came of it.

use std::time::{Duration, Instant};

use superstep_storage_tests::{Backend, crash, probe};

const USAGE: &str =
    "superstep-crash [KILLS] [BACKEND ...]   (1000 kills on every durable backend unless said)";

#[tokio::main]
async fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest))
    {
        Some(("victim", rest)) => return crash::victim(rest).await,
        Some(("probe", rest)) => return probe::obey(rest).await,
        _ => {}
    }
    let (mut kills, mut backends) = (1000, Vec::new());
    for argument in &arguments {
        match (argument.parse(), Backend::named(argument)) {
            (Ok(number), _) => kills = number,
            (_, Some(backend)) if backend.is_durable() => backends.push(backend),
            _ => {
                return Err(format!(
                    "{argument} is neither a number nor a backend that outlives its process.\n{USAGE}"
                ));
            }
        }
    }
    if backends.is_empty() {
        backends.extend(
            Backend::ALL
                .iter()
                .copied()
                .filter(|backend| backend.is_durable()),
        );
    }
    for backend in backends {
        let Some(place) = backend.place() else { continue };
        let began = Instant::now();
        let trial = crash::Trial {
            program: std::env::current_exe().map_err(|error| error.to_string())?,
            kills,
            seed: std::process::id().into(),
            lines: 4,
            within: 250,
            time: Duration::MAX,
        };
        let report = match crash::run(&place, &trial).await {
            Ok(report) => report,
            Err(what) => {
                return Err(format!(
                    "{what}\nWhat was stored, and the journal, stay in {}",
                    place.keep().display()
                ));
            }
        };
        let count = report.count;
        println!(
            "{}: {} kills in {:.0?}. Nothing lost, repeated or damaged among {} acknowledged checkpoints, {} acknowledged \
             writes of tasks, {} tasks begun, {} turns with the right state, {} prunings, copies and deletions.",
            backend.scheme(),
            report.kills,
            began.elapsed(),
            count.checkpoints,
            count.writes,
            count.tasks,
            count.turns,
            count.upkeep,
        );
    }
    Ok(())
}
