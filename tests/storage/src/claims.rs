//! Programs that run the same threads: a frozen one does not go on beside the one that took its place, and of two that
//! are sent at one thread exactly one runs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use superstep::{
    Branch, ChannelSpec, Checkpointer, ClaimRequest, Graph, Holder, Input, ListQuery, NodeContext,
    NodeOutput, RunConfig, RunError, START, StateGraph, StorageError, Target, Value, json,
};

use crate::place::Place;
use crate::random::Random;

/// How long the claims of a trial last.
const LENGTH: Duration = Duration::from_millis(600);
/// How long a process may take to say something.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a step takes.
const STEP: Duration = Duration::from_millis(20);
/// Steps of a run that is frozen: more than it comes to.
const MANY: u64 = 100_000;

/// Why a trial did not go as it must.
type Failed = String;

/// What a trial came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Rounds.
    pub rounds: u64,
    /// Rounds in which the first run was refused as superseded, or one of two runs was refused.
    pub refused: u64,
}

/// Freezes a process that runs a thread, lets another take its place, and thaws it.
pub async fn freeze(place: &Place, program: &PathBuf, rounds: u64, seed: u64) -> Result<Report, Failed> {
    let mut random = Random::new(seed);
    let (mut report, mut threads) = (Report::default(), 0);
    while report.rounds < rounds {
        threads += 1;
        let thread = format!("frozen {threads}");
        let (mut one, mut two) = (
            Runner::start(place, program, "one")?,
            Runner::start(place, program, "two")?,
        );
        one.send(&format!("run {MANY} {thread}"))?;
        for _ in 0..2 + random.below(6) {
            one.expect("step")?;
        }
        std::thread::sleep(STEP.mul_f64(random.below(120) as f64 / 100.0));
        one.signal("STOP")?;
        std::thread::sleep(3 * LENGTH);
        two.send(&format!("run 20 {thread}"))?;
        let outcome = two.outcome()?;
        if outcome.contains("Another program is writing") {
            // It was frozen while it had the file: nobody can write then, and nobody takes its place.
            one.signal("CONT")?;
            continue;
        }
        if outcome != "done" {
            return Err(format!(
                "round {}: the second run ended with {outcome}",
                report.rounds
            ));
        }
        one.signal("CONT")?;
        let outcome = one.outcome()?;
        if outcome != "superseded two" {
            return Err(format!(
                "round {}: the frozen run ended with {outcome}",
                report.rounds
            ));
        }
        report.refused += 1;
        report.rounds += 1;
        no_forks(place, &thread).await?;
    }
    Ok(report)
}

/// Sends two processes at one thread at the same time.
pub async fn at_once(place: &Place, program: &PathBuf, rounds: u64) -> Result<Report, Failed> {
    let mut report = Report::default();
    let mut both = [
        Runner::start(place, program, "one")?,
        Runner::start(place, program, "two")?,
    ];
    while report.rounds < rounds {
        let thread = format!("both {}", report.rounds);
        for (what, effects_wanted) in [("run 3", None), ("ask", Some(0)), ("answer", Some(1))] {
            for runner in &mut both {
                runner.send(&format!("{what} {thread}"))?;
            }
            let (mut ran, mut effects) = (0, 0);
            for runner in &mut both {
                let outcome = runner.outcome()?;
                effects += std::mem::take(&mut runner.effects);
                match outcome.split(' ').next() {
                    Some("done") => ran += 1,
                    Some("busy" | "superseded") => report.refused += 1,
                    _ => return Err(format!("{what} {thread}: {outcome}")),
                }
            }
            // Whoever comes when the first has ended runs after it.
            if ran == 0 || effects_wanted.is_some_and(|wanted| wanted != effects) {
                return Err(format!(
                    "{what} {thread}: {ran} ran, {effects} answers were taken"
                ));
            }
            no_forks(place, &thread).await?;
        }
        report.rounds += 1;
    }
    Ok(report)
}

async fn no_forks(place: &Place, thread: &str) -> Result<(), Failed> {
    let saver = place.open().await.map_err(|error| error.to_string())?;
    let query = ListQuery {
        thread: Some(thread.into()),
        ns: Some("".into()),
        ..ListQuery::default()
    };
    let heads = saver.heads(&query).await.map_err(|error| error.to_string())?;
    let mut parents: Vec<_> = heads.iter().map(|head| head.parent.clone()).collect();
    parents.sort();
    match parents.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("thread {thread} has a fork at {:?}", pair[0])),
        None => Ok(()),
    }
}

/// A process that runs threads.
struct Runner {
    child: Child,
    orders: ChildStdin,
    said: Receiver<String>,
    /// Answers that its nodes took.
    effects: u64,
}

impl Runner {
    fn start(place: &Place, program: &PathBuf, name: &str) -> Result<Self, Failed> {
        let mut child = Command::new(program)
            .args(["runner", &place.url, name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", program.display()))?;
        let orders = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let (tell, said) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        let mut runner = Self {
            child,
            orders,
            said,
            effects: 0,
        };
        runner.expect("open")?;
        Ok(runner)
    }

    fn send(&mut self, order: &str) -> Result<(), Failed> {
        writeln!(self.orders, "{order}").map_err(|error| error.to_string())
    }

    fn line(&mut self) -> Result<String, Failed> {
        self.said.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => "a process says nothing".to_owned(),
            RecvTimeoutError::Disconnected => "a process ended".to_owned(),
        })
    }

    fn expect(&mut self, wanted: &str) -> Result<(), Failed> {
        let line = self.line()?;
        match line == wanted {
            true => Ok(()),
            false => Err(format!("expected {wanted}, heard {line}")),
        }
    }

    /// How the run that it was sent to ended.
    fn outcome(&mut self) -> Result<String, Failed> {
        loop {
            let line = self.line()?;
            if let Some(outcome) = line.strip_prefix("ended ") {
                return Ok(outcome.to_owned());
            }
            self.effects += u64::from(line == "effect");
        }
    }

    fn signal(&self, name: &str) -> Result<(), Failed> {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status();
        match sent {
            Ok(status) if status.success() => Ok(()),
            other => Err(format!("kill -{name}: {other:?}")),
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(line: &str) {
    println!("{line}");
    let _ = std::io::stdout().flush();
}

/// A graph that counts `n` up to `until`, a step each, and asks when it is told to.
fn graph(saver: std::sync::Arc<dyn Checkpointer>) -> Result<Graph, Failed> {
    let number = |state: &Value, key: &str| state.get(key).and_then(Value::as_i64).unwrap_or(0);
    let work = move |_: NodeContext, state: Value| async move {
        say("step");
        tokio::time::sleep(STEP).await;
        Ok(NodeOutput::update([("n", number(&state, "n") + 1)]))
    };
    let asks = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt(json!("?"))?;
        say("effect");
        Ok(NodeOutput::update([("answer", answer)]))
    };
    let next = move |_: NodeContext, state: Value| async move {
        let to = match (number(&state, "until"), number(&state, "n")) {
            (0, _) => "asks",
            (until, n) if n < until => "work",
            _ => superstep::END,
        };
        Ok(vec![Target::node(to)])
    };
    StateGraph::new()
        .channel("n", ChannelSpec::last_value())
        .channel("until", ChannelSpec::last_value())
        .channel("answer", ChannelSpec::last_value())
        .node("work", work)
        .node("asks", asks)
        .branch(START, Branch::new(next))
        .branch("work", Branch::new(next))
        .compile()
        .map_err(|error| error.to_string())
        .map(|graph| graph.with_checkpointer(saver))
}

/// Not to be called but by a trial: runs threads of a URL as it is told on its input.
pub async fn obey(arguments: &[String]) -> Result<(), String> {
    let [url, name] = arguments else {
        return Err("runner URL NAME".to_owned());
    };
    let saver = crate::place::open(url).await.map_err(|error| error.to_string())?;
    let graph = graph(saver)?;
    say("open");
    let orders = std::io::stdin().lines();
    for order in orders.map_while(Result::ok) {
        let (word, rest) = order.split_once(' ').unwrap_or((&order, ""));
        let numbered = rest.split_once(' ').filter(|_| word == "run");
        let (until, thread) = match numbered {
            Some((until, thread)) => (until.parse::<i64>().unwrap_or(1), thread),
            None => (0, rest),
        };
        let input = match word {
            "answer" => Input::resume(1),
            _ => Input::value(json!({"until": until, "n": 0})),
        };
        let config = RunConfig {
            claim: Some(ClaimRequest {
                length: LENGTH,
                ..ClaimRequest::by(Holder::new(name.as_str(), name.as_str()))
            }),
            recursion_limit: u32::MAX >> 2,
            ..RunConfig::on(thread)
        };
        let outcome = match graph.invoke(input, config).await {
            Ok(_) => "done".to_owned(),
            Err(RunError::Storage(StorageError::Busy { held, .. })) => format!("busy {}", held.holder.name),
            Err(RunError::Storage(StorageError::Superseded { by, .. })) => {
                format!(
                    "superseded {}",
                    by.map_or_else(String::new, |by| by.name.to_string())
                )
            }
            Err(error) => format!("error {error}"),
        };
        say(&format!("ended {outcome}"));
    }
    Ok(())
}
