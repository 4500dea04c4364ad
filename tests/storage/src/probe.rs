//! Another process that uses a backend and does as it is asked, line by line: another app, another user, another disk.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use superstep::checkpoint::StorageError;
use superstep::{CheckpointId, Checkpointer, Value, json};
use superstep_suites::{Draft, id};

/// Stores the checkpoint after the newest, which counts one further and carries this many bytes; gives its number.
pub async fn store(saver: &dyn Checkpointer, thread: &str, bytes: usize) -> Result<u64, StorageError> {
    let newest = saver
        .get(&thread.into(), "", None)
        .await?
        .map(|tuple| tuple.checkpoint);
    let n = newest
        .as_ref()
        .map_or(0, |newest| newest.metadata.step.unsigned_abs() + 1);
    let mut random = crate::Random::new(n);
    let noise: String = (0..bytes)
        .map(|_| char::from(b'a' + random.below(26) as u8))
        .collect();
    let draft = match &newest {
        Some(newest) => Draft::after(newest, number(n)),
        None => Draft::root(number(n)).with(|checkpoint| checkpoint.metadata.step = 0),
    };
    let put = draft.append("log", vec![json!(n)]).set("noise", noise).put();
    let commit = superstep::checkpoint::Commit {
        claim: None,
        thread: thread.into(),
        ns: "".into(),
        writes: Vec::new(),
        put: Some(put),
    };
    saver.commit(commit).await.map(|()| n)
}

/// Reads the newest checkpoint, which must be whole, and gives its number.
pub async fn read(saver: &dyn Checkpointer, thread: &str) -> Result<u64, String> {
    let newest = saver
        .get(&thread.into(), "", None)
        .await
        .map_err(|error| error.to_string())?;
    let checkpoint = newest.ok_or("there is no checkpoint")?.checkpoint;
    let n = checkpoint.metadata.step.unsigned_abs();
    let log: Value = (0..=n)
        .map(Value::from)
        .collect::<superstep::value::List>()
        .into();
    match checkpoint.channel_values.get("log") == Some(&log) {
        true => Ok(n),
        false => Err(format!(
            "checkpoint {n} holds {:?}",
            checkpoint.channel_values.get("log")
        )),
    }
}

fn number(n: u64) -> CheckpointId {
    id(n + 1)
}

/// The other process.
#[derive(Debug)]
pub struct Probe {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Probe {
    /// Starts it; the command ends with the program that has [`obey`] in it.
    pub fn start(command: &mut Command, url: &str) -> std::io::Result<Self> {
        let command = command
            .args(["probe", url])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let gone = || std::io::Error::other("it has no pipes");
        Ok(Self {
            orders: child.stdin.take().ok_or_else(gone)?,
            answers: BufReader::new(child.stdout.take().ok_or_else(gone)?),
            child,
        })
    }

    /// Returns the process id of the probe.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends an order to the probe and waits for its result: `open`, `close`, `store THREAD BYTES`, `read THREAD`,
    /// `delete THREAD`, `verify`.
    pub fn ask(&mut self, order: &str) -> Result<u64, String> {
        let mut answer = String::new();
        let talk = writeln!(self.orders, "{order}").and_then(|()| self.answers.read_line(&mut answer));
        talk.map_err(|error| format!("it is gone: {error}"))?;
        match answer.trim_end().split_once(' ') {
            Some(("ok", number)) => number.parse().map_err(|_| answer.clone()),
            Some(("error", message)) => Err(message.to_owned()),
            _ => Err(format!("it is gone: {answer:?}")),
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Executes the orders that it receives. Only the other process may call this function.
pub async fn obey(arguments: &[String]) -> Result<(), String> {
    let [url] = arguments else {
        return Err("probe URL".to_owned());
    };
    let mut saver: Option<Arc<dyn Checkpointer>> = None;
    for order in std::io::stdin().lines() {
        let order = order.map_err(|error| error.to_string())?;
        match carry_out(url, &mut saver, &order).await {
            Ok(number) => println!("ok {number}"),
            Err(message) => println!("error {}", message.replace('\n', " ")),
        }
        std::io::stdout().flush().map_err(|error| error.to_string())?;
    }
    Ok(())
}

async fn carry_out(url: &str, saver: &mut Option<Arc<dyn Checkpointer>>, order: &str) -> Result<u64, String> {
    let message = |error: StorageError| error.to_string();
    let words: Vec<&str> = order.split(' ').collect();
    if words == ["close"] {
        *saver = None;
        return Ok(0);
    }
    let open = match saver {
        Some(open) => open.clone(),
        None => saver
            .insert(crate::place::open(url).await.map_err(message)?)
            .clone(),
    };
    match words[..] {
        ["open"] => Ok(0),
        ["store", thread, bytes] => store(&*open, thread, bytes.parse().unwrap_or(0))
            .await
            .map_err(message),
        ["read", thread] => read(&*open, thread).await,
        ["delete", thread] => open
            .delete_thread(&thread.into())
            .await
            .map(|()| 0)
            .map_err(message),
        ["verify"] => match open.verify(false).await {
            Ok(found) if found.is_sound() => Ok(found.checkpoints),
            Ok(found) => Err(format!("{:?}", found.damage)),
            Err(StorageError::Unsupported(_)) => Ok(0),
            Err(error) => Err(error.to_string()),
        },
        _ => Err(format!("no such order: {order}")),
    }
}
