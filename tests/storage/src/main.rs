//! `storage-trials`: puts backends through what takes longer than a test may.
//!
//! `crash` kills a working process many times and says what came of it; `scale` measures large threads and many of
//! them. `claims` freezes processes that run a thread. `victim`, `runner` and `probe` are the other processes of both and of the tests.

use std::time::{Duration, Instant};

use superstep_storage_tests::{Backend, beside, claims, crash, probe, scale};

const USAGE: &str = "storage-trials crash [KILLS] [BACKEND ...]    1000 kills on every durable backend unless said
storage-trials claims [ROUNDS] [BACKEND ...]  frozen processes, and two at one thread: 100 rounds unless said
storage-trials beside PYTHON SCRIPT           LangGraph's savers; SCRIPT is tests/peers/python/savers.py
storage-trials scale [PERCENT] [BACKEND ...]  100 percent is 100,000 checkpoints, 10,000 threads, 10,000 turns";

#[tokio::main]
async fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words = arguments
        .split_first()
        .map(|(first, rest)| (first.as_str(), rest));
    match words {
        Some(("victim", rest)) => crash::victim(rest).await,
        Some(("probe", rest)) => probe::obey(rest).await,
        Some(("runner", rest)) => claims::obey(rest).await,
        Some(("claims", rest)) => {
            let (rounds, backends) = chosen(rest)?;
            for backend in backends.into_iter().filter(|backend| backend.is_shared()) {
                claim(backend, rounds.unwrap_or(100)).await?;
            }
            Ok(())
        }
        Some(("crash", rest)) => {
            let (kills, backends) = chosen(rest)?;
            for backend in backends {
                kill(backend, kills.unwrap_or(1000)).await?;
            }
            Ok(())
        }
        Some(("beside", [python, script])) => {
            for backend in [Backend::Sqlite, Backend::Postgres] {
                beside::measure(backend, python.as_ref(), script.as_ref())
                    .await
                    .map_err(|error| error.to_string())?;
            }
            Ok(())
        }
        Some(("scale", rest)) => {
            let (percent, backends) = chosen(rest)?;
            let part = |whole: u64| (whole * percent.unwrap_or(100) / 100).max(100);
            for backend in backends {
                let measured = scale::measure(backend, part(100_000), part(10_000), part(10_000)).await;
                measured.map_err(|error| error.to_string())?;
            }
            Ok(())
        }
        _ => Err(USAGE.to_owned()),
    }
}

/// A number, if one is given, and the backends that are named, or all that outlive their process.
fn chosen(arguments: &[String]) -> Result<(Option<u64>, Vec<Backend>), String> {
    let (mut number, mut backends) = (None, Vec::new());
    for argument in arguments {
        match (argument.parse(), Backend::named(argument)) {
            (Ok(given), _) => number = Some(given),
            (_, Some(backend)) if backend.is_durable() => backends.push(backend),
            _ => {
                return Err(format!(
                    "{argument} is neither a number nor a backend that lasts.\n{USAGE}"
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
    Ok((number, backends))
}

async fn claim(backend: Backend, rounds: u64) -> Result<(), String> {
    let Some(place) = backend.place() else {
        return Ok(());
    };
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let frozen = claims::freeze(&place, &program, rounds, std::process::id().into()).await?;
    let both = claims::at_once(&place, &program, rounds).await?;
    println!(
        "{}: {} frozen runs ended as superseded, {} of {} runs that were sent at once were refused; no forks.",
        backend.scheme(),
        frozen.refused,
        both.refused,
        6 * both.rounds,
    );
    Ok(())
}

async fn kill(backend: Backend, kills: u64) -> Result<(), String> {
    let Some(place) = backend.place() else {
        return Ok(());
    };
    let began = Instant::now();
    let trial = crash::Trial {
        program: std::env::current_exe().map_err(|error| error.to_string())?,
        kills,
        seed: std::process::id().into(),
        lines: 4,
        noting: 20_000,
        time: Duration::MAX,
    };
    let report = match crash::run(&place, &trial).await {
        Ok(report) => report,
        Err(what) => {
            let folder = place.keep();
            return Err(format!(
                "{what}\nWhat was stored, and the journal, stay in {}",
                folder.display()
            ));
        }
    };
    let (count, spent) = (report.count, report.spent);
    println!(
        "{}: {} kills in {:.0?}. Nothing lost, repeated or damaged among {} acknowledged checkpoints, {} acknowledged \
         writes of tasks, {} tasks begun, {} turns with the right state, {} prunings, copies and deletions, \
         {} items of the store. {:.0?} went by until processes had opened it, {:.0?} until they were killed, {:.0?} with \
         the questions after.",
        backend.scheme(),
        report.kills,
        began.elapsed(),
        count.checkpoints,
        count.writes,
        count.tasks,
        count.turns,
        count.upkeep,
        count.items,
        spent.opening,
        spent.working,
        spent.asking,
    );
    Ok(())
}
