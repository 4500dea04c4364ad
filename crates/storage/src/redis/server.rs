//! The connection to the server: its keys, its scripts, and what its errors mean.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Cmd, ErrorKind, RedisError, Script, ServerErrorKind, Value};
use superstep::checkpoint::{ClaimUse, StorageError};
use superstep::{CheckpointId, ThreadId};

use super::claims::{last_arguments, refusal};

/// Layout of the keys that this release knows: since the second, long values are compressed; since the
/// third, questions that wait are listed and can be withdrawn.
const SCHEMA: i64 = 3;
/// Oldest server that has what the scripts use (COPY, ranges by text in reverse).
const OLDEST: (u32, u32) = (6, 2);
/// How often something is tried while the server comes back, with twice the pause each time.
const TRIES: u32 = 7;
/// How long somebody may take to answer whom we never spoke with.
const OPENING: Duration = Duration::from_secs(12);
const FIRST_PAUSE: Duration = Duration::from_millis(25);
/// How long the server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The scripts, each atomic.
pub(super) static COMMIT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(concat!(
        include_str!("waiting.lua"),
        include_str!("claims.lua"),
        include_str!("changes.lua"),
        include_str!("commit.lua")
    ))
});
pub(super) static CLAIMS: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("held.lua")));
pub(super) static READ: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("read.lua")));
pub(super) static WRITES: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("writes.lua")));
pub(super) static VALUES: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("values.lua")));
pub(super) static REMOVE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(concat!(
        include_str!("waiting.lua"),
        include_str!("claims.lua"),
        include_str!("changes.lua"),
        include_str!("remove.lua")
    ))
});
pub(super) static COPY: LazyLock<Script> = LazyLock::new(|| {
    Script::new(concat!(
        include_str!("waiting.lua"),
        include_str!("changes.lua"),
        include_str!("copy.lua")
    ))
});
pub(super) static FILL: LazyLock<Script> =
    LazyLock::new(|| Script::new(concat!(include_str!("waiting.lua"), include_str!("fill.lua"))));
pub(super) static STORE: LazyLock<Script> =
    LazyLock::new(|| Script::new(concat!(include_str!("changes.lua"), include_str!("store.lua"))));
static CHANGES: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("noticed.lua")));
pub(super) static TOUCH: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("touch.lua")));

/// Names of keys. Everything of a thread is in six keys.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    pub(super) fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
        }
    }

    /// Returns a key of all threads together.
    pub(super) fn of_all(&self, kind: &str) -> Vec<u8> {
        format!("{}:{kind}", self.prefix).into_bytes()
    }

    /// Returns a key of one thread: facts, index, heads, values, writes or open.
    pub(super) fn of(&self, kind: &str, thread: &ThreadId) -> Vec<u8> {
        format!("{}:{kind}:{thread}", self.prefix).into_bytes()
    }

    /// Returns the six keys of a thread.
    pub(super) fn thread(&self, thread: &ThreadId) -> Vec<Vec<u8>> {
        ["facts", "index", "heads", "values", "writes", "open"]
            .map(|kind| self.of(kind, thread))
            .into()
    }

    /// Returns the six keys of a thread and those that list threads.
    pub(super) fn thread_and_lists(&self, thread: &ThreadId) -> Vec<Vec<u8>> {
        let mut keys = self.thread(thread);
        keys.extend(["places", "threads", "expiry", "waiting", "asking"].map(|kind| self.of_all(kind)));
        keys
    }
}

/// Builds the place of a thread in the list of threads: it sorts by head, and backwards by name, because the list is
/// read from its end. Zero is below every byte of text, 0xff above every changed one.
pub(super) fn place(head: &CheckpointId, thread: &ThreadId) -> Vec<u8> {
    let mut place = head.as_str().as_bytes().to_vec();
    place.push(0);
    place.extend(thread.as_str().bytes().map(|byte| 0xfe - byte));
    place.push(0xff);
    place
}

/// Parses a place into its head and thread.
pub(super) fn placed(place: &[u8]) -> Option<(CheckpointId, ThreadId)> {
    let end = place.iter().position(|byte| *byte == 0)?;
    let (head, thread) = (&place[..end], place[end + 1..].strip_suffix(&[0xff])?);
    let thread = thread.iter().map(|byte| 0xfe_u8.wrapping_sub(*byte)).collect();
    let head = String::from_utf8(head.to_vec()).ok()?;
    Some((head.into(), String::from_utf8(thread).ok()?.into()))
}

/// The server. A clone is the same connection.
#[derive(Clone)]
pub(super) struct Server {
    manager: ConnectionManager,
    pub(super) keys: Keys,
    shown: String,
    life: Option<Life>,
    own: Arc<Own>,
}

/// A saver and its stores, to which each other's changes are their own.
#[derive(Debug)]
pub(super) struct Own {
    id: uuid::Uuid,
    /// Something was written.
    wrote: AtomicBool,
}

impl Default for Own {
    fn default() -> Self {
        Self {
            id: uuid::Uuid::new_v4(),
            wrote: AtomicBool::new(false),
        }
    }
}

/// Lifetime of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// A thread goes when nothing was stored in it for so long.
    pub time: Duration,
    /// Reading a checkpoint counts as well.
    pub reading_counts: bool,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Server {
    /// Connects, and looks whether the server can be used. Nothing is stored there yet.
    pub(super) async fn open(
        url: &str,
        shown: &str,
        prefix: &str,
        life: Option<Life>,
        own: Arc<Own>,
    ) -> Result<Self, StorageError> {
        let what = format!("connecting to {shown}");
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(3)
            .set_min_delay(FIRST_PAUSE)
            .set_max_delay(Duration::from_secs(1))
            .set_connection_timeout(Some(Duration::from_secs(10)))
            .set_response_timeout(Some(PATIENCE));
        let client = redis::Client::open(url).map_err(|error| failed(&what, &error))?;
        // Who opens a place that nobody answers at gets the error at once: the manager alone would try for a while.
        let opening = tokio::time::timeout(OPENING, ConnectionManager::new_with_config(client, config));
        let manager = match opening.await {
            Ok(manager) => manager.map_err(|error| failed(&what, &error))?,
            Err(_) => {
                return Err(StorageError::Backend {
                    what,
                    cause: "nothing that the server said could be understood in time".to_owned(),
                    remedy: match url.starts_with("rediss:") {
                        true => "Check that the server offers TLS on this port, or write redis:// with one s",
                        false => "Check that a Redis server listens on this port, without TLS, and look at its load",
                    }
                    .to_owned(),
                });
            }
        };
        let server = Self {
            manager,
            keys: Keys::new(prefix),
            shown: shown.to_owned(),
            life,
            own,
        };
        server.check().await?;
        Ok(server)
    }

    async fn check(&self) -> Result<(), StorageError> {
        let mut info = redis::cmd("INFO");
        info.arg("server");
        let info = text(self.call(info, "looking at the server").await?);
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
        let mut numbers = version
            .unwrap_or_default()
            .split('.')
            .map(|number| number.parse::<u32>().ok());
        let found = (numbers.next().flatten(), numbers.next().flatten());
        if let (Some(major), Some(minor)) = found
            && (major, minor) < OLDEST
        {
            return Err(StorageError::Backend {
                what: format!("using {}", self.shown),
                cause: format!("it is Redis {major}.{minor}"),
                remedy: format!("Use Redis {}.{} or newer", OLDEST.0, OLDEST.1),
            });
        }
        Ok(())
    }

    /// Makes the place, when there is none with our prefix.
    pub(super) async fn prepare(&self) -> Result<(), StorageError> {
        if self.layout().await?.is_none() {
            let mut set = redis::cmd("SET");
            set.arg(self.keys.of_all("schema")).arg(SCHEMA).arg("NX");
            self.call(set, "looking at what is stored").await?;
            // Another program may have been quicker, and newer.
            self.layout().await?;
        }
        Ok(())
    }

    /// Returns the layout of what is stored with our prefix, if anything is. A layout that cannot be used is refused.
    pub(super) async fn layout(&self) -> Result<Option<i64>, StorageError> {
        let mut get = redis::cmd("GET");
        get.arg(self.keys.of_all("schema"));
        let found = match self.call(get, "looking at what is stored").await? {
            Value::Nil => return Ok(None),
            found => text(found),
        };
        match found.parse::<i64>() {
            Ok(found @ 1..SCHEMA) => {
                // No row is rewritten. An older release, which cannot read what comes, gets an error; anyone who may not write
                // this, writes no row either.
                let mut set = redis::cmd("SET");
                set.arg(self.keys.of_all("schema")).arg(SCHEMA).arg("XX");
                if let Err(error) = self.call(set, "bringing the layout up to date").await {
                    tracing::debug!(%error, "what is stored stays of layout {found}");
                }
                Ok(Some(found))
            }
            Ok(SCHEMA) => Ok(Some(SCHEMA)),
            Ok(found) if found > SCHEMA => Err(StorageError::NewerSchema {
                place: self.shown.clone(),
                found,
                supported: SCHEMA,
            }),
            _ => Err(StorageError::Backend {
                what: format!("using {}", self.shown),
                cause: "its keys with our prefix are not ours".to_owned(),
                remedy: "Choose another prefix, as in redis://host/0?prefix=mine".to_owned(),
            }),
        }
    }

    /// Returns the milliseconds that a thread lives after a commit; 0 means forever.
    pub(super) fn time_to_live(&self) -> u64 {
        self.life.map_or(0, |life| {
            u64::try_from(life.time.as_millis()).unwrap_or(u64::MAX >> 11)
        })
    }

    /// Records that a thread was read.
    pub(super) async fn touch(&self, thread: &ThreadId) -> Result<(), StorageError> {
        if self.life.is_none_or(|life| !life.reading_counts) {
            return Ok(());
        }
        let mut keys = self.keys.thread(thread);
        keys.push(self.keys.of_all("expiry"));
        let arguments = vec![
            thread.as_str().as_bytes().to_vec(),
            self.time_to_live().to_string().into_bytes(),
        ];
        // Reading does not need the right to write: without it, a thread that was read goes when it was to go.
        self.run_if_allowed(&TOUCH, keys, arguments, "keeping a thread")
            .await
            .map(drop)
    }

    /// Takes threads whose time is over off the lists; their own keys the server has removed. The answer is those that
    /// are still listed, because this user may not change the lists.
    pub(super) async fn sweep(&self) -> Result<Vec<ThreadId>, StorageError> {
        const WHAT: &str = "looking for threads whose time is over";
        let mut listed = Vec::new();
        if self.life.is_none() {
            // Another program may give threads a time to live; then this is not empty.
            let mut ask = redis::cmd("EXISTS");
            ask.arg(self.keys.of_all("expiry"));
            if number(self.call(ask, WHAT).await?) == 0 {
                return Ok(listed);
            }
        }
        let now = parts(self.call(redis::cmd("TIME"), WHAT).await?);
        let mut now = now.into_iter().map(number);
        let now = now.next().unwrap_or(0) * 1000 + now.next().unwrap_or(0) / 1000;
        let mut over = redis::cmd("ZRANGE");
        over.arg(self.keys.of_all("expiry"))
            .arg(0)
            .arg(now)
            .arg("BYSCORE");
        for thread in parts(self.call(over, WHAT).await?) {
            let thread = ThreadId::from(text(thread));
            let removed = self.run_if_allowed(
                &REMOVE,
                self.telling(self.keys.thread_and_lists(&thread)),
                everything(&thread, "gone", None),
                WHAT,
            );
            if removed.await?.is_none() {
                let mut ask = redis::cmd("EXISTS");
                ask.arg(self.keys.of("facts", &thread));
                if number(self.call(ask, WHAT).await?) == 0 {
                    listed.push(thread);
                }
            }
        }
        Ok(listed)
    }

    /// Removes everything of a thread.
    pub(super) async fn remove_all(
        &self,
        thread: &ThreadId,
        shown: Option<&ClaimUse>,
    ) -> Result<(), StorageError> {
        let keys = self.telling(self.keys.thread_and_lists(thread));
        let what = format!("deleting thread {thread}");
        let answer = self
            .run(&REMOVE, keys, everything(thread, "", shown), &what)
            .await?;
        let answer = text(answer);
        let (kind, detail) = answer.split_once(' ').unwrap_or_default();
        refusal(thread, kind, detail).map_or(Ok(()), Err)
    }

    /// Adds to the keys of a script that changes something those by which others notice it.
    pub(super) fn telling(&self, mut keys: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.own.wrote.store(true, Ordering::Relaxed);
        keys.extend(self.change_keys());
        keys
    }

    fn change_keys(&self) -> [Vec<u8>; 2] {
        let own = format!("changes:{}", self.own.id.simple());
        [self.keys.of_all("changes"), self.keys.of_all(&own)]
    }

    /// Returns the number of changes that others made. A user who may not write made none.
    pub(super) async fn changes(&self) -> Result<u64, StorageError> {
        const WHAT: &str = "looking for changes";
        if self.own.wrote.load(Ordering::Relaxed) {
            let keys = self.change_keys().into();
            let answer = self.run_if_allowed(&CHANGES, keys, Vec::new(), WHAT).await?;
            if let Some(answer) = answer {
                return Ok(number(answer) as u64);
            }
        }
        let mut get = redis::cmd("GET");
        get.arg(self.keys.of_all("changes"));
        Ok(number(self.call(get, WHAT).await?) as u64)
    }

    /// Sends a command. What is sent may arrive twice when the connection breaks: all that we send may.
    pub(super) async fn call(&self, command: Cmd, what: &str) -> Result<Value, StorageError> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let answer = self.manager.clone().send_packed_command(&command).await;
            // A refusal of the server comes as an answer.
            match answer.and_then(Value::extract_error) {
                Ok(answer) => return Ok(answer),
                Err(error) if attempt < TRIES && passes(&error) => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                Err(error) => return Err(failed(&format!("{what} ({})", self.shown), &error)),
            }
        }
        Err(StorageError::Unsupported("an endless wait"))
    }

    /// Runs a script.
    pub(super) async fn run(
        &self,
        script: &Script,
        keys: Vec<Vec<u8>>,
        arguments: Vec<Vec<u8>>,
        what: &str,
    ) -> Result<Value, StorageError> {
        let answer = self.invoke(script, &keys, &arguments).await;
        answer.map_err(|error| failed(&format!("{what} ({})", self.shown), &error))
    }

    /// Runs a script that somebody who only reads can do without: `None` when this user, or this server, may not write.
    pub(super) async fn run_if_allowed(
        &self,
        script: &Script,
        keys: Vec<Vec<u8>>,
        arguments: Vec<Vec<u8>>,
        what: &str,
    ) -> Result<Option<Value>, StorageError> {
        match self.invoke(script, &keys, &arguments).await {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if is_forbidden(&error) || error.code() == Some("READONLY") => {
                tracing::debug!(%error, "{what} needs the right to write, and is not done");
                Ok(None)
            }
            Err(error) => Err(failed(&format!("{what} ({})", self.shown), &error)),
        }
    }

    async fn invoke(
        &self,
        script: &Script,
        keys: &[Vec<u8>],
        arguments: &[Vec<u8>],
    ) -> Result<Value, RedisError> {
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        loop {
            let mut call = script.prepare_invoke();
            for key in keys {
                call.key(key.as_slice());
            }
            for argument in arguments {
                call.arg(argument.as_slice());
            }
            match call.invoke_async(&mut self.manager.clone()).await {
                Err(error) if attempt < TRIES && passes(&error) => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                    attempt += 1;
                }
                done => return done,
            }
        }
    }
}

/// Builds the arguments that make the script remove everything of a thread; with `gone`, only if its time is over.
fn everything(thread: &ThreadId, when: &str, shown: Option<&ClaimUse>) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [thread.as_str(), "", when, ""]
        .map(|text| text.as_bytes().to_vec())
        .into();
    all.extend(last_arguments(shown));
    all
}

/// Returns whether the error goes away by itself: a broken connection, a server that is starting.
fn passes(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(kind) => matches!(
            kind,
            ServerErrorKind::BusyLoading | ServerErrorKind::TryAgain | ServerErrorKind::MasterDown
        ),
        // A server that does not answer in time is not asked to do it all again.
        _ => (error.is_io_error() || error.is_connection_dropped()) && !error.is_timeout(),
    }
}

/// Returns whether the user lacks a right. A server reports it in one way for a command, and in others for one within a
/// script.
fn is_forbidden(error: &RedisError) -> bool {
    let within = ["can't run this command", "ACL failure in script"];
    let text = error.to_string();
    error.code() == Some("NOPERM") || within.iter().any(|reason| text.contains(reason))
}

/// Builds the error from the server's message, with what to do about it.
fn failed(what: &str, error: &RedisError) -> StorageError {
    let remedy = match (error.kind(), error.code()) {
        (ErrorKind::AuthenticationFailed, _) | (_, Some("NOAUTH" | "WRONGPASS")) => {
            "Give the user and the password in the URL, as in redis://user:password@host/0"
        }
        (_, Some("OOM")) => {
            "The server has no memory left: give it more (maxmemory) or remove threads; what was stored before is \
             untouched"
        }
        (_, Some("MISCONF")) => {
            "The server cannot write to its disk: free some space there; what was stored before is untouched"
        }
        (_, Some("WRONGTYPE")) => {
            "Another program has keys with our prefix: choose another prefix, as in redis://host/0?prefix=mine, or remove \
             that program's keys"
        }
        (_, Some("READONLY")) => "The server is a replica: connect to its master",
        _ if is_forbidden(error) => "Let the user run scripts, write, and use all keys with our prefix",
        (_, Some("LOADING")) => "The server is still reading its data: try again in a moment",
        _ if error.is_timeout() => "The server did not answer in time: look at its load and try again",
        _ if error.is_io_error() => {
            "Check that the server runs and can be reached; what was acknowledged is as safe as the server keeps it"
        }
        (ErrorKind::InvalidClientConfig, _) => {
            "Write the URL as redis://[[user:]password@]host[:port][/database]"
        }
        _ if error.to_string().contains("DB index is out of range") => {
            "Name a database that the server has, from 0 to 15 unless its setting `databases` says otherwise"
        }
        _ => "Try again; if it stays, report it with this message",
    };
    StorageError::Backend {
        what: what.to_owned(),
        cause: cause(error),
        remedy: remedy.to_owned(),
    }
}

/// Returns the message of the server, or of the connection to it, without the library's kinds of errors and the names
/// of our scripts.
fn cause(error: &RedisError) -> String {
    let message = match (error.code(), error.detail()) {
        (Some("ERR"), Some(detail)) => detail.to_owned(),
        (Some(code), Some(detail)) => format!("{code}: {detail}"),
        _ => {
            let message = error.to_string();
            let kind = format!(" - {:?}", error.kind());
            message.replace(&kind, "")
        }
    };
    let message = message
        .split_once(" script: ")
        .map_or(message.as_str(), |(message, _)| message);
    // A sentence follows.
    message.trim_end_matches('.').to_owned()
}

/// Returns the bytes of an answer; empty if there are none.
pub(super) fn bytes(value: Value) -> Vec<u8> {
    match value {
        Value::BulkString(bytes) => bytes,
        Value::SimpleString(text) => text.into_bytes(),
        Value::VerbatimString { text, .. } => text.into_bytes(),
        Value::Int(number) => number.to_string().into_bytes(),
        Value::Okay => b"OK".to_vec(),
        _ => Vec::new(),
    }
}

/// Returns the text of an answer.
pub(super) fn text(value: Value) -> String {
    String::from_utf8(bytes(value))
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Returns the parts of an answer.
pub(super) fn parts(value: Value) -> Vec<Value> {
    match value {
        Value::Array(parts) | Value::Set(parts) => parts,
        Value::Map(pairs) => pairs.into_iter().flat_map(|(key, value)| [key, value]).collect(),
        _ => Vec::new(),
    }
}

/// Returns the number in an answer; zero if there is none.
pub(super) fn number(value: Value) -> i64 {
    match value {
        Value::Int(number) => number,
        other => text(other).parse().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_sort_as_the_list_of_threads_does() {
        let sorted = [
            ("2", "a"),
            ("2", "ab"),
            ("2", "b"),
            ("2", "нить"),
            ("10", "x"),
            ("1", ""),
            ("1", "\0"),
            ("1", "z"),
        ];
        let places: Vec<Vec<u8>> = sorted
            .iter()
            .map(|(head, thread)| place(&(*head).into(), &(*thread).into()))
            .collect();
        assert!(
            places.is_sorted_by(|a, b| a > b),
            "newest head first, then by name"
        );
        for ((head, thread), place) in sorted.iter().zip(&places) {
            assert_eq!(placed(place), Some(((*head).into(), (*thread).into())));
        }
        assert_eq!(placed(b"nonsense"), None);
    }

    #[test]
    fn a_server_that_is_slow_is_not_one_that_is_gone() {
        use std::io::{Error, ErrorKind};
        for (kind, remedy) in [
            (ErrorKind::TimedOut, "look at its load"),
            (ErrorKind::ConnectionRefused, "Check that the server runs"),
        ] {
            let error = failed("storing", &RedisError::from(Error::from(kind))).to_string();
            assert!(error.contains(remedy), "{error}");
        }
    }
}
