//! `storage-trials`: puts backends through what takes longer than a test may.
//!
//! `crash` kills a working process many times and says what came of it; `scale` measures large threads and many of
//! them. `claims` freezes processes that run a thread. `victim`, `runner` and `probe` are the other processes of both and of the tests.

use std::time::{Duration, Instant};

use superstep_storage::Backend;
use superstep_storage_tests::{Place, beside, claims, crash, probe, scale};

const USAGE: &str = "storage-trials crash [KILLS|MINUTESmin] [BACKEND ...]  1000 kills on every durable backend unless said
storage-trials claims [ROUNDS] [BACKEND ...]  two at one thread 1000 times, and 50 threads frozen in a fiftieth of the rounds
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
            let Chosen {
                number: rounds,
                backends,
                ..
            } = chosen(rest)?;
            for backend in backends.into_iter().filter(|backend| backend.is_shared()) {
                claim(backend, rounds.unwrap_or(1000)).await?;
            }
            Ok(())
        }
        Some(("crash", rest)) => {
            let Chosen {
                number,
                minutes,
                backends,
            } = chosen(rest)?;
            let time = minutes.map_or(Duration::MAX, |minutes| Duration::from_secs(60 * minutes));
            let kills = number.unwrap_or(if minutes.is_some() { u64::MAX } else { 1000 });
            for backend in backends {
                kill(backend, kills, time).await?;
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
            let Chosen {
                number: percent,
                backends,
                ..
            } = chosen(rest)?;
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

/// Options of a trial.
struct Chosen {
    /// A number, if one is given.
    number: Option<u64>,
    /// A time, if one is given.
    minutes: Option<u64>,
    /// The backends that are named, or all that outlive their process.
    backends: Vec<Backend>,
}

fn chosen(arguments: &[String]) -> Result<Chosen, String> {
    let (mut number, mut minutes, mut backends) = (None, None, Vec::new());
    for argument in arguments {
        let time = argument.strip_suffix("min").and_then(|text| text.parse().ok());
        match (argument.parse(), time, Backend::named(argument)) {
            (Ok(given), ..) => number = Some(given),
            (_, Some(given), _) => minutes = Some(given),
            (.., Some(backend)) if backend.is_durable() => backends.push(backend),
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
    Ok(Chosen {
        number,
        minutes,
        backends,
    })
}

async fn claim(backend: Backend, rounds: u64) -> Result<(), String> {
    let Some(place) = Place::of(backend) else {
        return Ok(());
    };
    let trial = claims::Trial {
        program: std::env::current_exe().map_err(|error| error.to_string())?,
        rounds,
        threads: 50,
        length: Duration::from_secs(1),
        seed: std::process::id().into(),
    };
    let began = Instant::now();
    let both = claims::at_once(&place, &trial).await?;
    println!(
        "{}: {} rounds of two programs sent at one thread three times, in {:.0?}: {} of {} runs were refused; every answer \
         was taken once, no forks.",
        backend.scheme(),
        both.rounds,
        began.elapsed(),
        both.refused,
        6 * both.rounds,
    );
    let began = Instant::now();
    let trial = claims::Trial {
        rounds: (rounds / 50).max(1),
        ..trial
    };
    let frozen = claims::freeze(&place, &trial).await?;
    println!(
        "{}: {} rounds with {} frozen threads, in {:.0?}: {} runs ended as superseded, no forks. {} rounds were done again: the \
         process was frozen with the lock of its file.",
        backend.scheme(),
        frozen.rounds,
        trial.threads,
        began.elapsed(),
        frozen.refused,
        frozen.locked,
    );
    Ok(())
}

async fn kill(backend: Backend, kills: u64, time: Duration) -> Result<(), String> {
    let Some(place) = Place::of(backend) else {
        return Ok(());
    };
    let began = Instant::now();
    let trial = crash::Trial {
        program: std::env::current_exe().map_err(|error| error.to_string())?,
        kills,
        seed: std::process::id().into(),
        lines: 4,
        noting: 30_000,
        time,
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
         {} items of the store. {} runs began, {} lost their thread to another, {} replays came to their end, {} runs stopped \
         before an effect; {} acts, none of them twice unasked, and {} answers, none of them lost. {:.0?} went by until processes had opened it, {:.0?} until they were killed, {:.0?} with \
         the questions after.",
        backend.scheme(),
        report.kills,
        began.elapsed(),
        count.checkpoints,
        count.writes,
        count.tasks,
        count.turns,
        count.maintenance,
        count.items,
        count.runs,
        count.superseded,
        count.replays,
        count.stopped,
        count.acts,
        count.answers,
        spent.opening,
        spent.working,
        spent.asking,
    );
    Ok(())
}
