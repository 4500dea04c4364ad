//! The serving end of a socket.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::message::{Answer, MAX_BYTES, Request, VERSION, is_of_threads};
use super::{HandedRun, Host, socket_path};
use crate::base::instance::Instance;
use crate::events::hub::Subscription;
use crate::wire::Problem;
use superstep_document::{Text, text};

/// Connections at once; one more is refused.
const MAX_CONNECTIONS: usize = 64;
/// Requests of a connection that are worked on at once; more wait to be read.
const MAX_CALLS: usize = 16;
/// Answers that may wait for a reader, beside the bounded queue of its events.
const MAX_WAITING: usize = 32;
/// Longest time until the hello has come. Only the same user gets this far, so this is for a program that is frozen.
const HELLO_WITHIN: Duration = Duration::from_secs(30);
/// Longest hello.
const MAX_HELLO: usize = 4096;
/// Longest time in which a reader takes nothing. A slow one may take longer for a whole message.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

/// Makes the socket of an instance.
pub(super) fn bind(instance: &Instance) -> io::Result<(UnixListener, PathBuf)> {
    use std::os::unix::fs::PermissionsExt;
    let path = socket_path::of(instance.data_dir(), instance.id())?;
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600))?;
    Ok((listener, path))
}

/// Returns whether the other end belongs to the same user.
pub(super) fn is_same_user(stream: &UnixStream) -> bool {
    let user = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == user)
}

/// Serves until it is stopped; then open connections are given what waits for them.
pub(super) async fn serve(listener: UnixListener, host: Arc<dyn Host>, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) if is_same_user(&stream) => {
                let refused = connections.len() >= MAX_CONNECTIONS;
                connections.spawn(connection(stream, host.clone(), stop.clone(), refused));
                // Those that are refused leave at once, but not in any number.
                while connections.len() >= 2 * MAX_CONNECTIONS {
                    connections.join_next().await;
                }
            }
            Ok(_) => tracing::warn!("a connection of another user was refused"),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Reads a message from a reader; `None` at its end. The error says why it is none of ours.
pub(super) async fn read_line<R: AsyncRead + Unpin>(
    reader: &mut BufReader<R>,
    most: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut limited = (&mut *reader).take(most as u64 + 1);
    let bytes = limited.read_until(b'\n', &mut line).await?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if bytes > most => Err(io::Error::other(format!("a message is longer than {most} bytes"))),
        Some(_) => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Converts a message to a line.
pub(super) fn line(message: &impl serde::Serialize) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(message)
        .inspect_err(|error| tracing::error!(%error, "a message could not be written"))
        .ok()?;
    line.push(b'\n');
    Some(line)
}

fn ends(message: impl Into<Text>) -> Answer {
    Answer::Error {
        id: None,
        problem: Problem::new("invalid-request", message),
    }
}

async fn connection(stream: UnixStream, host: Arc<dyn Host>, stop: CancellationToken, refused: bool) {
    let (read, write) = stream.into_split();
    let (answers, waiting) = mpsc::channel(MAX_WAITING);
    let writer = tokio::spawn(write_all(write, waiting));
    if refused {
        let _ = answers
            .send(ends(format!("There are {MAX_CONNECTIONS} connections already.")))
            .await;
    } else {
        let reading = read_all(read, &host, &answers, &stop);
        if let Err(error) = reading.await {
            tracing::debug!(%error, "a connection of another program ended");
            let _ = answers.try_send(ends(format!("The connection ends: {error}.")));
        }
    }
    drop(answers);
    let _ = writer.await;
}

/// Reads the hello of the other program; false when it or this one has ended before.
async fn greeted(reader: &mut BufReader<OwnedReadHalf>, stop: &CancellationToken) -> io::Result<bool> {
    let hello = tokio::select! {
        () = stop.cancelled() => return Ok(false),
        hello = tokio::time::timeout(HELLO_WITHIN, read_line(reader, MAX_HELLO)) => hello,
    };
    let hello = hello.map_err(|_| io::Error::other("no hello came in time"))??;
    let Some(hello) = hello else { return Ok(false) };
    match serde_json::from_slice(&hello) {
        Ok(Request::Hello { version: VERSION }) => Ok(true),
        Ok(Request::Hello { version }) => Err(io::Error::other(format!(
            "it speaks version {version}, and this program {VERSION}"
        ))),
        _ => Err(io::Error::other("it does not begin with a hello")),
    }
}

/// Starts a run and sends what it reports.
async fn report_run(host: Arc<dyn Host>, answers: mpsc::Sender<Answer>, id: u64, run: HandedRun) {
    let mut reports = match host.run(run).await {
        Ok((run, reports)) => {
            let value = serde_json::to_value(run).unwrap_or_default();
            let _ = answers.send(Answer::Result { id, value }).await;
            reports
        }
        Err(problem) => {
            let id = Some(id);
            let _ = answers.send(Answer::Error { id, problem }).await;
            return;
        }
    };
    while let Some(report) = reports.recv().await {
        if answers.send(Answer::Reported { id, report }).await.is_err() {
            return;
        }
    }
}

async fn read_all(
    read: OwnedReadHalf,
    host: &Arc<dyn Host>,
    answers: &mpsc::Sender<Answer>,
    stop: &CancellationToken,
) -> io::Result<()> {
    let mut reader = BufReader::new(read);
    if !greeted(&mut reader, stop).await? {
        return Ok(());
    }
    let _ = answers.send(Answer::Hello(host.hello())).await;
    // What was begun for a connection ends with it, except for commands.
    let mut tasks = JoinSet::new();
    let room = Arc::new(Semaphore::new(MAX_CALLS));
    let mut listens = false;
    loop {
        let message = tokio::select! {
            // Its subscription ends by itself once it was given everything.
            () = stop.cancelled() => break,
            () = answers.closed() => return Ok(()),
            message = read_line(&mut reader, MAX_BYTES) => message?,
        };
        let Some(message) = message else { return Ok(()) };
        while tasks.try_join_next().is_some() {}
        match serde_json::from_slice(&message).map_err(io::Error::other)? {
            Request::Hello { .. } => return Err(io::Error::other("it says hello twice")),
            Request::Call { id, command, request } => {
                let Ok(permit) = room.clone().acquire_owned().await else {
                    return Ok(());
                };
                let (host, answers) = (host.clone(), answers.clone());
                tasks.spawn(async move {
                    let answer = match host.call(command, request).await {
                        Ok(value) => Answer::Result { id, value },
                        Err(problem) => Answer::Error {
                            id: Some(id),
                            problem,
                        },
                    };
                    let _ = answers.send(answer).await;
                    drop(permit);
                });
            }
            Request::Run { id, run } => {
                tasks.spawn(report_run(host.clone(), answers.clone(), id, *run));
            }
            Request::Subscribe if listens => return Err(io::Error::other("it subscribes twice")),
            Request::Subscribe => {
                listens = true;
                if let Some(subscription) = host.subscribe() {
                    tasks.spawn(send_events(subscription, answers.clone()));
                }
            }
        }
    }
    while tasks.join_next().await.is_some() {}
    Ok(())
}

/// Gives events of threads to a reader. One that is slow sees that some are missing.
async fn send_events(mut subscription: Subscription, answers: mpsc::Sender<Answer>) {
    let (mut seq, mut lost) = (0, false);
    while let Some(batch) = subscription.next().await {
        lost |= batch.seq != seq + 1;
        seq = batch.seq;
        let mut events = batch.events;
        events.retain(is_of_threads);
        if events.is_empty() && !lost {
            continue;
        }
        let lost = std::mem::take(&mut lost);
        if answers.send(Answer::Events { lost, events }).await.is_err() {
            return;
        }
    }
}

/// Writes what waits, until nobody takes it any more.
async fn write_all(mut write: OwnedWriteHalf, mut waiting: mpsc::Receiver<Answer>) {
    while let Some(answer) = waiting.recv().await {
        let Some(mut message) = line(&answer) else {
            continue;
        };
        if message.len() > MAX_BYTES {
            let problem = Problem::new(
                "too-large",
                text!("The answer is larger than {size} MB.", size = MAX_BYTES >> 20),
            );
            let instead = match answer {
                Answer::Result { id, .. } => Answer::Error {
                    id: Some(id),
                    problem,
                },
                _ => Answer::Events {
                    lost: true,
                    events: Vec::new(),
                },
            };
            let Some(instead) = line(&instead) else { continue };
            message = instead;
        }
        let mut rest = &message[..];
        while !rest.is_empty() {
            match tokio::time::timeout(TAKEN_WITHIN, write.write(rest)).await {
                Ok(Ok(taken @ 1..)) => rest = &rest[taken..],
                Ok(_) => return,
                Err(_) => {
                    tracing::warn!(
                        "a program that listens takes nothing for {TAKEN_WITHIN:?}; its connection ends"
                    );
                    return;
                }
            }
        }
    }
}
