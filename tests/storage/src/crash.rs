//! Kills a working process at random moments, and asks the oracle after each.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use superstep::checkpoint::ListQuery;

use crate::oracle::{Count, Oracle};
use crate::place::Place;
use crate::random::Random;

/// A process that does nothing for so long is killed all the same.
const PATIENCE: Duration = Duration::from_secs(10);

/// Kills after which it is reported how many there were.
const TELL_EVERY: u64 = 100;

/// Returns the size of the journal in bytes.
fn noted(journal: &Path) -> u64 {
    std::fs::metadata(journal).map_or(0, |file| file.len())
}

/// Settings of a crash test of a place.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The program that has [`victim`] in it.
    pub program: PathBuf,
    /// The number of kills.
    pub kills: u64,
    /// The seed of everything random.
    pub seed: u64,
    /// Threads that the process works on at once.
    pub lines: u64,
    /// It is killed when it has noted a random number of bytes below this: by what it has done and not by the clock,
    /// so that a slow machine kills it in the middle of its work too.
    pub noting: u64,
    /// Stop early when it takes longer.
    pub time: Duration,
}

/// Result of a trial.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Kills.
    pub kills: u64,
    /// What the oracle looked at.
    pub count: Count,
    /// Where the time went.
    pub spent: Spent,
}

/// Durations of the parts of a trial.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Until the processes had the backend open, or were killed before.
    pub opening: Duration,
    /// Until they were killed.
    pub working: Duration,
    /// With the questions of the oracle.
    pub asking: Duration,
}

/// Kills, asks, and kills again; then lets the process come to an end and asks once more.
pub async fn run(place: &Place, trial: &Trial) -> Result<Report, String> {
    let journal = place.folder().join("journal");
    let (mut oracle, mut random) = (Oracle::default(), Random::new(trial.seed));
    let (began, mut kills, mut spent) = (Instant::now(), 0, Spent::default());
    while kills < trial.kills && began.elapsed() < trial.time {
        let (before, mut moment) = (noted(&journal), Instant::now());
        let mut victim = Victim::start(place, trial, &journal, random.below(1 << 40), None)?;
        // One in eight dies while it opens the backend, where it repairs what the kill before left.
        if random.percent(12) {
            std::thread::sleep(Duration::from_millis(random.below(15)));
            lap(&mut moment, &mut spent.opening);
        } else if victim.opened() {
            lap(&mut moment, &mut spent.opening);
            let (until, patience) = (before + random.below(trial.noting), Instant::now());
            while noted(&journal) < until && patience.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_micros(200));
            }
            // Notes are made around what is stored; this gets it in the middle.
            std::thread::sleep(Duration::from_micros(random.below(2000)));
        }
        victim.kill()?;
        lap(&mut moment, &mut spent.working);
        kills += 1;
        if let Err(what) = ask(&mut oracle, place, &journal).await {
            let kept = keep_evidence(place, &journal, trial.seed).await;
            return Err(format!(
                "after kill {kills} (seed {}): {what}\n{kept}",
                trial.seed
            ));
        }
        lap(&mut moment, &mut spent.asking);
        if kills % TELL_EVERY == 0 {
            eprintln!("{kills} kills in {:.0?}: {spent:.1?}", began.elapsed());
        }
    }
    let last = Victim::start(place, trial, &journal, random.below(1 << 40), Some(1))?;
    last.end()?;
    if let Err(what) = ask(&mut oracle, place, &journal).await {
        let kept = keep_evidence(place, &journal, trial.seed).await;
        return Err(format!(
            "after {kills} kills, at the end (seed {}): {what}\n{kept}",
            trial.seed
        ));
    }
    Ok(Report {
        kills,
        count: oracle.count,
        spent,
    })
}

/// Adds what went by since the moment, which starts over.
fn lap(moment: &mut Instant, spent: &mut Duration) {
    *spent += moment.elapsed();
    *moment = Instant::now();
}

async fn ask(oracle: &mut Oracle, place: &Place, journal: &Path) -> Result<(), String> {
    oracle
        .read(journal)
        .map_err(|error| format!("the journal cannot be read: {error}"))??;
    let storage = superstep_storage::open(&place.url)
        .await
        .map_err(|error| format!("it does not open again: {error}"))?;
    oracle.check_items(&*storage.store).await?;
    oracle.check(&*storage.checkpointer).await
}

/// Keeps the journal and a list of what is stored, since the moments of the kills cannot be repeated. Returns a sentence
/// that says where.
async fn keep_evidence(place: &Place, journal: &Path, seed: u64) -> String {
    let folder = std::env::temp_dir().join(format!("superstep-crash-{seed}"));
    let kept = async {
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        std::fs::copy(journal, folder.join("journal")).map_err(|error| error.to_string())?;
        let saver = place.open().await.map_err(|error| error.to_string())?;
        let all = saver.list(&ListQuery::default()).await;
        let mut text = String::new();
        for tuple in all.map_err(|error| error.to_string())? {
            let checkpoint = &tuple.checkpoint;
            let _ = writeln!(
                text,
                "{} {:?} {} after {:?}: {:?}, {:?}",
                tuple.thread,
                tuple.ns,
                checkpoint.id,
                checkpoint.parent,
                checkpoint.metadata,
                checkpoint.channel_values
            );
            for pending in &tuple.pending_writes {
                let _ = writeln!(
                    text,
                    "    {} {} {:?}",
                    pending.task_id, pending.write.channel, pending.write.value
                );
            }
        }
        std::fs::write(folder.join("stored"), text).map_err(|error| error.to_string())
    };
    match kept.await {
        Ok(()) => format!("The journal and what was stored are in {}.", folder.display()),
        Err(error) => format!("What was stored could not be kept: {error}"),
    }
}

/// The process that is killed.
struct Victim {
    child: Child,
    errors: PathBuf,
}

impl Victim {
    fn start(
        place: &Place,
        trial: &Trial,
        journal: &Path,
        seed: u64,
        turns: Option<u64>,
    ) -> Result<Self, String> {
        let errors = place.folder().join("errors");
        let file = std::fs::File::create(&errors).map_err(|error| error.to_string())?;
        let mut command = Command::new(&trial.program);
        command.arg("victim").arg(&place.url).arg(journal);
        command.arg(seed.to_string()).arg(trial.lines.to_string());
        command.args(turns.map(|turns| turns.to_string()));
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", trial.program.display()))?;
        Ok(Self { child, errors })
    }

    /// Waits until it says that the backend is open.
    fn opened(&mut self) -> bool {
        let output = self.child.stdout.take().map(BufReader::new);
        output.is_some_and(|mut output| output.read_line(&mut String::new()).is_ok_and(|read| read > 0))
    }

    fn words(&self) -> String {
        std::fs::read_to_string(&self.errors).unwrap_or_default()
    }

    /// Kills the process with SIGKILL on Unix, so that nothing in it gets a chance to tidy up.
    fn kill(mut self) -> Result<(), String> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Err(format!(
                "the process ended by itself ({status}): {}",
                self.words()
            ));
        }
        self.child
            .kill()
            .and_then(|()| self.child.wait())
            .map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Waits for it to come to its end.
    fn end(mut self) -> Result<(), String> {
        let status = self.child.wait().map_err(|error| error.to_string())?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("the process failed ({status}): {}", self.words())),
        }
    }
}

/// Works on the threads of a URL. Only the program that is killed may call this function.
pub async fn victim(arguments: &[String]) -> Result<(), String> {
    use std::io::Write as _;
    let [url, journal, seed, lines, turns @ ..] = arguments else {
        return Err("victim URL JOURNAL SEED LINES [TURNS]".to_owned());
    };
    let number = |text: &String| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
    let journal = crate::witness::Journal::open(Path::new(journal)).map_err(|error| error.to_string())?;
    let turns = turns.first().map(number).transpose()?;
    let storage = superstep_storage::open(url)
        .await
        .map_err(|error| error.to_string())?;
    println!("open");
    std::io::stdout().flush().map_err(|error| error.to_string())?;
    let lines = crate::workload::Lines::new(
        storage.checkpointer,
        std::sync::Arc::new(journal),
        "line",
        number(lines)?,
        number(seed)?,
    );
    let lines = lines.with_store(storage.store);
    lines.work(turns).await;
    Ok(())
}
