//! Programs that run the same threads: a frozen one does not go on beside the one that took its place, and of two that
//! are sent at one thread exactly one runs.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use superstep::checkpoint::{ClaimRequest, Holder, ListQuery, StorageError};
use superstep::{
    Branch, ChannelSpec, Checkpointer, Graph, Input, NodeContext, NodeOutput, RunConfig, RunError, START,
    StateGraph, Target, Value, json,
};

use crate::place::Place;
use crate::random::Random;

/// How long a process may take to say something: one that is frozen with the lock of a file makes each run of the other
/// wait for it in turn.
const PATIENCE: Duration = Duration::from_secs(180);
/// How long a step takes.
const STEP: Duration = Duration::from_millis(20);
/// Steps of a run that is frozen: more than it comes to.
const MANY: u64 = 100_000;

/// Reason why a trial failed.
type Failed = String;

/// Settings of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The program that has [`obey`] in it.
    pub program: PathBuf,
    /// Rounds.
    pub rounds: u64,
    /// Threads that a process is frozen with.
    pub threads: u64,
    /// Length of the claims.
    pub length: Duration,
    /// The seed of everything random.
    pub seed: u64,
}

/// Result of a trial.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Rounds.
    pub rounds: u64,
    /// Frozen runs that ended as superseded, or runs that were refused because another had the thread.
    pub refused: u64,
    /// Rounds that were done again: the process was frozen with the lock of its file, and nobody else could write.
    pub locked: u64,
}

/// Freezes a process that runs threads, lets another take its place, and thaws it.
pub async fn freeze(place: &Place, trial: &Trial) -> Result<Report, Failed> {
    let mut random = Random::new(trial.seed);
    let mut report = Report::default();
    while report.rounds < trial.rounds {
        let round = report.rounds + report.locked;
        let threads: Vec<String> = (0..trial.threads)
            .map(|n| format!("frozen {round} {n}"))
            .collect();
        let (mut one, mut two) = (
            Runner::start(place, trial, "one")?,
            Runner::start(place, trial, "two")?,
        );
        for thread in &threads {
            one.send(&format!("run {MANY} {thread}"))?;
        }
        one.steps_of(&threads)?;
        for _ in 0..random.below(6) {
            one.expect_step()?;
        }
        std::thread::sleep(STEP.mul_f64(random.below(120) as f64 / 100.0));
        one.signal("STOP")?;
        std::thread::sleep(3 * trial.length);
        for thread in &threads {
            two.send(&format!("run 20 {thread}"))?;
        }
        let outcomes = two.outcomes(threads.len())?;
        one.signal("CONT")?;
        if outcomes
            .iter()
            .any(|(_, outcome)| outcome.contains("Another program is writing"))
        {
            // It was frozen while it had the file: nobody can write then, and nobody takes its place.
            report.locked += 1;
            continue;
        }
        let wrong = |outcomes: &[(String, String)], wanted: &str| {
            let wrong = outcomes.iter().find(|(_, outcome)| outcome != wanted);
            wrong.map(|(thread, outcome)| format!("{thread} ended with {outcome}, not with {wanted}"))
        };
        if let Some(wrong) = wrong(&outcomes, "done") {
            return Err(format!("round {round}: the second run of {wrong}"));
        }
        let outcomes = one.outcomes(threads.len())?;
        if let Some(wrong) = wrong(&outcomes, "superseded two") {
            return Err(format!("round {round}: the frozen run of {wrong}"));
        }
        report.refused += trial.threads;
        report.rounds += 1;
        let saver = place.open().await.map_err(|error| error.to_string())?;
        for thread in &threads {
            no_forks(&*saver, thread).await?;
        }
    }
    Ok(report)
}

/// Sends two processes at one thread at the same time.
pub async fn at_once(place: &Place, trial: &Trial) -> Result<Report, Failed> {
    let mut report = Report::default();
    let saver = place.open().await.map_err(|error| error.to_string())?;
    let mut both = [
        Runner::start(place, trial, "one")?,
        Runner::start(place, trial, "two")?,
    ];
    while report.rounds < trial.rounds {
        let thread = format!("both {}", report.rounds);
        for (what, effects_wanted) in [("run 3", None), ("ask", Some(0)), ("answer", Some(1))] {
            for runner in &mut both {
                runner.send(&format!("{what} {thread}"))?;
            }
            let (mut ran, mut effects) = (0, 0);
            for runner in &mut both {
                let (_, outcome) = runner.outcome()?;
                effects += std::mem::take(&mut runner.effects);
                match outcome.split(' ').next() {
                    Some("done") => ran += 1,
                    Some("busy" | "superseded") => report.refused += 1,
                    _ => return Err(format!("{what} {thread}: {outcome}")),
                }
            }
            // The second may come when the first has ended, and runs after it.
            if ran == 0 || effects_wanted.is_some_and(|wanted| wanted != effects) {
                return Err(format!(
                    "{what} {thread}: {ran} ran, {effects} answers were taken"
                ));
            }
            no_forks(&*saver, &thread).await?;
        }
        report.rounds += 1;
    }
    Ok(report)
}

async fn no_forks(saver: &dyn Checkpointer, thread: &str) -> Result<(), Failed> {
    let query = ListQuery::new().thread(thread).ns("");
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
    lines: Receiver<String>,
    /// Answers that its nodes took.
    effects: u64,
}

impl Runner {
    fn start(place: &Place, trial: &Trial, name: &str) -> Result<Self, Failed> {
        let program = &trial.program;
        let mut child = Command::new(program)
            .args(["runner", &place.url, name, &trial.length.as_millis().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", program.display()))?;
        let orders = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let (tell, lines) = channel();
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
            lines,
            effects: 0,
        };
        match runner.line()?.as_str() {
            "open" => Ok(runner),
            other => Err(format!("a process said {other:?} and not that it is open")),
        }
    }

    fn send(&mut self, order: &str) -> Result<(), Failed> {
        writeln!(self.orders, "{order}").map_err(|error| error.to_string())
    }

    fn line(&mut self) -> Result<String, Failed> {
        self.lines.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => "a process says nothing".to_owned(),
            RecvTimeoutError::Disconnected => "a process ended".to_owned(),
        })
    }

    fn expect_step(&mut self) -> Result<String, Failed> {
        let line = self.line()?;
        let step = line.strip_prefix("step ").map(str::to_owned);
        step.ok_or_else(|| format!("a process said {line:?} and not that it is at a step"))
    }

    /// Waits until each of the threads is at its second step at least.
    fn steps_of(&mut self, threads: &[String]) -> Result<(), Failed> {
        let mut steps: HashMap<String, u32> = HashMap::new();
        while steps.values().filter(|steps| **steps > 1).count() < threads.len() {
            *steps.entry(self.expect_step()?).or_default() += 1;
        }
        Ok(())
    }

    /// Returns the thread of the next run that has ended, and how it ended.
    fn outcome(&mut self) -> Result<(String, String), Failed> {
        loop {
            let line = self.line()?;
            if let Some((thread, outcome)) = line
                .strip_prefix("ended ")
                .and_then(|ended| ended.split_once(": "))
            {
                return Ok((thread.to_owned(), outcome.to_owned()));
            }
            self.effects += u64::from(line == "effect");
        }
    }

    fn outcomes(&mut self, count: usize) -> Result<Vec<(String, String)>, Failed> {
        (0..count).map(|_| self.outcome()).collect()
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

/// Builds a graph that counts `n` up to `until`, one per step, and asks a question when requested.
fn graph(saver: std::sync::Arc<dyn Checkpointer>) -> Result<Graph, Failed> {
    let number = |state: &Value, key: &str| state.get(key).and_then(Value::as_i64).unwrap_or(0);
    let work = move |context: NodeContext, state: Value| async move {
        let thread = context.info().thread.as_ref();
        say(&format!(
            "step {}",
            thread.map_or("none", |thread| thread.as_str())
        ));
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

/// Runs threads of a URL as its input says, all that it receives at the same time. Only a trial may call this function.
pub async fn obey(arguments: &[String]) -> Result<(), String> {
    let [url, name, length] = arguments else {
        return Err("runner URL NAME MILLISECONDS".to_owned());
    };
    let length = length
        .parse()
        .map_err(|error| format!("the length of a claim is in milliseconds: {length}: {error}"))?;
    let claim =
        ClaimRequest::by(Holder::new(name.as_str(), name.as_str())).length(Duration::from_millis(length));
    let saver = crate::place::open(url).await.map_err(|error| error.to_string())?;
    let graph = graph(saver)?;
    say("open");
    let (give, mut orders) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lines().map_while(Result::ok);
        lines.map_while(|line| give.send(line).ok()).for_each(drop);
    });
    while let Some(order) = orders.recv().await {
        let (graph, claim) = (graph.clone(), claim.clone());
        tokio::spawn(async move { run(&graph, claim, &order).await });
    }
    Ok(())
}

async fn run(graph: &Graph, claim: ClaimRequest, order: &str) {
    let (word, rest) = order.split_once(' ').unwrap_or((order, ""));
    let numbered = rest.split_once(' ').filter(|_| word == "run");
    let (until, thread) = match numbered {
        Some((until, thread)) => (until.parse::<i64>().unwrap_or(1), thread),
        None => (0, rest),
    };
    let input = match word {
        "answer" => Input::answer(1),
        _ => Input::value(json!({"until": until, "n": 0})),
    };
    let config = RunConfig::on(thread).claim(claim).recursion_limit(u32::MAX >> 2);
    let outcome = match graph.invoke(input, config).await {
        Ok(_) => "done".to_owned(),
        Err(RunError::Storage(StorageError::Busy { held, .. })) => format!("busy {}", held.holder.name),
        Err(RunError::Storage(StorageError::Superseded { by, .. })) => {
            let by = by.map_or_else(String::new, |by| by.name.to_string());
            format!("superseded {by}")
        }
        Err(error) => format!("error {error}"),
    };
    say(&format!("ended {thread}: {outcome}"));
}
