//! The connection to a server that is a program: one message a line.
//!
//! rmcp's own transport drops a line that it cannot read, and a call then waits for an answer that has come already.
//! Here such a line ends the call that it belongs to at once, and no other.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::reading::{self, Incoming, MAX_MESSAGE, Outline, PartsCount, SentRequest};

/// Bytes of a line that is too long which are passed over; one that never ends ends the connection.
const MAX_PASSED_OVER: usize = 8 * MAX_MESSAGE;
/// Longest wait for the answer to the question which revisions a server speaks: older ones may say nothing at all. It is
/// shorter than rmcp's own, after which a late answer would be taken for one to the next request.
pub(super) const DISCOVER: Duration = Duration::from_secs(9);
/// Messages that wait to be taken.
const WAITING: usize = 64;

/// A connection over pipes.
pub(super) struct LineTransport<W> {
    input: Arc<tokio::sync::Mutex<Option<W>>>,
    requests: Arc<Mutex<OpenCalls>>,
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
    /// Says that a request was sent whose answer is not waited for as long as others.
    discovers: mpsc::UnboundedSender<SentRequest>,
    reader: tokio::task::JoinHandle<()>,
}

impl<W> Drop for LineTransport<W> {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> LineTransport<W> {
    /// Connects to a server. With `discover`, one that says nothing for so long when it is asked for its revisions counts
    /// as one that does not know the question.
    pub(super) fn new(
        server: String,
        output: impl AsyncRead + Send + Unpin + 'static,
        input: W,
        discover: Option<Duration>,
        parts: PartsCount,
    ) -> Self {
        let requests: Arc<Mutex<OpenCalls>> = Arc::default();
        let (passed_on, messages) = mpsc::channel(WAITING);
        let (discovers, asked) = mpsc::unbounded_channel();
        let reader = LineReader {
            server,
            lines: BufReader::with_capacity(64 * 1024, output),
            line: Vec::new(),
            too_long: None,
            parts,
            requests: requests.clone(),
            passed_on,
        };
        Self {
            input: Arc::new(tokio::sync::Mutex::new(Some(input))),
            requests,
            messages,
            discovers,
            reader: tokio::spawn(reader.run(asked, discover)),
        }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleClient> for LineTransport<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        if let Some(sent) = self.requests.lock().note(&message)
            && sent.method == "server/discover"
        {
            let _ = self.discovers.send(sent);
        }
        let input = self.input.clone();
        async move {
            let mut line = serde_json::to_vec(&message).map_err(io::Error::other)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let input = input
                .as_mut()
                .ok_or_else(|| io::Error::from(io::ErrorKind::NotConnected))?;
            input.write_all(&line).await?;
            input.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.input.lock().await.take();
        Ok(())
    }
}

/// Requests without an answer.
#[derive(Debug, Default)]
struct OpenCalls {
    methods: HashMap<RequestId, String>,
    /// Answers that came and could not be read, and the requests that each may be of.
    lost: Vec<LostAnswer>,
}

#[derive(Debug)]
struct LostAnswer {
    among: HashSet<RequestId>,
    cause: String,
}

impl OpenCalls {
    /// Notes what is sent; returns it if it is a request.
    fn note(&mut self, message: &ClientJsonRpcMessage) -> Option<SentRequest> {
        match message {
            JsonRpcMessage::Request(request) => {
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    // Its answer is not waited for any more.
                    self.methods.retain(|_, method| method != "server/discover");
                }
                let sent = SentRequest {
                    id: request.id.clone(),
                    method: request.request.method().to_owned(),
                };
                self.methods.insert(sent.id.clone(), sent.method.clone());
                Some(sent)
            }
            JsonRpcMessage::Notification(notice) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notice.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.take(id);
                }
                None
            }
            _ => None,
        }
    }

    /// Takes the request that an answer is of; ids of numbers may come back as texts.
    fn take(&mut self, id: &RequestId) -> Option<SentRequest> {
        let as_number = match id {
            RequestId::String(text) => text.parse().ok().map(RequestId::Number),
            RequestId::Number(_) => None,
        };
        let id = [Some(id.clone()), as_number]
            .into_iter()
            .flatten()
            .find(|id| self.methods.contains_key(id))?;
        let method = self.methods.remove(&id)?;
        for lost in &mut self.lost {
            lost.among.remove(&id);
        }
        Some(SentRequest { id, method })
    }

    /// Notes that an answer of one of the open requests came, and could not be read.
    fn lose(&mut self, cause: String) {
        let among: HashSet<RequestId> = self.methods.keys().cloned().collect();
        if !among.is_empty() {
            self.lost.push(LostAnswer { among, cause });
        }
    }

    /// Takes a request that must be the one that a lost answer was of, because all others have theirs.
    fn take_lost(&mut self) -> Option<(SentRequest, String)> {
        self.lost.retain(|lost| !lost.among.is_empty());
        let at = self.lost.iter().position(|lost| lost.among.len() == 1)?;
        let lost = self.lost.remove(at);
        let id = lost.among.into_iter().next()?;
        let sent = self.take(&id)?;
        Some((sent, lost.cause))
    }
}

/// A line that is too long, and is passed over.
#[derive(Debug)]
struct LongLine {
    outline: Outline,
    length: usize,
    /// The request that it answers has been sent.
    is_told: bool,
}

/// Reads lines, and passes on what they say.
struct LineReader<R> {
    server: String,
    lines: BufReader<R>,
    line: Vec<u8>,
    too_long: Option<LongLine>,
    parts: PartsCount,
    requests: Arc<Mutex<OpenCalls>>,
    passed_on: mpsc::Sender<ServerJsonRpcMessage>,
}

impl<R: AsyncRead + Send + Unpin + 'static> LineReader<R> {
    async fn run(mut self, mut discovers: mpsc::UnboundedReceiver<SentRequest>, discover: Option<Duration>) {
        let mut discovering: Option<(SentRequest, Instant)> = None;
        loop {
            let due = discovering.as_ref().map(|(_, due)| *due);
            let (said, goes_on) = tokio::select! {
                read = self.read_on() => match read {
                    Ok(Some(said)) => (said, true),
                    Ok(None) => (Vec::new(), false),
                    Err(error) => (self.ended(&error), false),
                },
                Some(sent) = discovers.recv() => {
                    discovering = discover.map(|limit| (sent, Instant::now() + limit));
                    continue;
                }
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    let silent = discovering.take().and_then(|(sent, _)| self.requests.lock().take(&sent.id));
                    (silent.iter().map(|sent| reading::unreadable(sent, "")).collect(), true)
                }
            };
            for message in said {
                if self.passed_on.send(message).await.is_err() {
                    return;
                }
            }
            if !goes_on {
                return;
            }
        }
    }

    /// Reads what is there. Nothing is lost when the future is dropped.
    async fn read_on(&mut self) -> io::Result<Option<Vec<ServerJsonRpcMessage>>> {
        let available = self.lines.fill_buf().await?;
        if available.is_empty() {
            // The last line may have no end; one that is cut ends with the process, whose end says more.
            let line = std::mem::take(&mut self.line);
            let last = reading::messages(&line).unwrap_or_default();
            let said: Vec<_> = last.into_iter().flat_map(|one| self.taken(one)).collect();
            return Ok((!said.is_empty()).then_some(said));
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        match &mut self.too_long {
            Some(long) => {
                long.outline.feed(part);
                long.length += part.len();
            }
            None => self.line.extend_from_slice(part),
        }
        if end.is_none() {
            self.parts.add();
        }
        let taken = part.len() + usize::from(end.is_some());
        self.lines.consume(taken);
        if self.line.len() > MAX_MESSAGE {
            let line = std::mem::take(&mut self.line);
            self.too_long = Some(LongLine {
                outline: Outline::of(&line),
                length: line.len(),
                is_told: false,
            });
        }
        let mut said = self.tell_too_long(end.is_some())?;
        if end.is_some() && self.too_long.take().is_none() {
            let line = std::mem::take(&mut self.line);
            said.extend(self.said(&line));
        }
        Ok(Some(said))
    }

    /// Ends the call whose answer is too long, as soon as it is known which one that is.
    fn tell_too_long(&mut self, is_whole: bool) -> io::Result<Vec<ServerJsonRpcMessage>> {
        let Some(long) = &mut self.too_long else {
            return Ok(Vec::new());
        };
        if long.length > MAX_PASSED_OVER {
            let text = format!("a message is longer than {} MiB", MAX_PASSED_OVER >> 20);
            return Err(io::Error::other(text));
        }
        let (id, asks) = (long.outline.id.clone(), long.outline.asks);
        if long.is_told || asks || !(is_whole || id.is_some()) {
            return Ok(Vec::new());
        }
        long.is_told = true;
        let cause = format!("it is longer than {} MiB", MAX_MESSAGE >> 20);
        Ok(self.unreadable(id, cause))
    }

    /// Returns what a line says.
    fn said(&self, line: &[u8]) -> Vec<ServerJsonRpcMessage> {
        if line.trim_ascii().is_empty() {
            return Vec::new();
        }
        match reading::messages(line) {
            Ok(incoming) => incoming.into_iter().flat_map(|one| self.taken(one)).collect(),
            Err(cause) => {
                let outline = Outline::of(line);
                if outline.is_message && !outline.asks {
                    return self.unreadable(outline.id, cause);
                }
                let start = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
                tracing::info!(target: "superstep::mcp", server = self.server, "passed over, {cause}: {start}");
                Vec::new()
            }
        }
    }

    fn taken(&self, incoming: Incoming) -> Vec<ServerJsonRpcMessage> {
        let mut requests = self.requests.lock();
        let (id, result) = match incoming {
            Incoming::Said(message) => return vec![*message],
            Incoming::Answer { id, result } => (id, result),
        };
        let only = || match requests.methods.len() {
            1 => requests.methods.keys().next().cloned(),
            _ => None,
        };
        match (id.or_else(only), result) {
            (Some(id), result) => {
                let sent = requests.take(&id);
                let answer = sent.map(|sent| reading::answer(&sent, result));
                drop(requests);
                answer.into_iter().chain(self.lost()).collect()
            }
            (None, result) => {
                let cause =
                    result.map_or_else(|error| error.message.into_owned(), |_| "it has no id".to_owned());
                drop(requests);
                self.unreadable(None, cause)
            }
        }
    }

    /// Ends the call whose answer cannot be read. If it is not known which one that is, it is the one that has none when
    /// all others have theirs.
    fn unreadable(&self, id: Option<RequestId>, cause: String) -> Vec<ServerJsonRpcMessage> {
        tracing::warn!(target: "superstep::mcp", server = self.server, "an answer cannot be read: {cause}");
        let sent = match id {
            Some(id) => self.requests.lock().take(&id),
            None => {
                self.requests.lock().lose(cause.clone());
                None
            }
        };
        let told = sent.map(|sent| reading::unreadable(&sent, cause));
        told.into_iter().chain(self.lost()).collect()
    }

    fn lost(&self) -> Vec<ServerJsonRpcMessage> {
        let mut requests = self.requests.lock();
        std::iter::from_fn(|| requests.take_lost())
            .map(|(sent, cause)| reading::unreadable(&sent, cause))
            .collect()
    }

    /// Ends all calls, because nothing more can be read.
    fn ended(&self, error: &io::Error) -> Vec<ServerJsonRpcMessage> {
        tracing::warn!(target: "superstep::mcp", server = self.server, "the connection ends: {error}");
        let open = std::mem::take(&mut self.requests.lock().methods);
        open.into_iter()
            .map(|(id, method)| reading::unreadable(&SentRequest { id, method }, error.to_string()))
            .collect()
    }
}
