//! A connection to one MCP server: what it offers, and calls that report progress, can be cancelled and end in time.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use parking_lot::Mutex;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientCapabilities, ClientRequest,
    Implementation, InitializeRequestParams, PaginatedRequestParams, PingRequest, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResult, Request, RequestId, Resource, ResourceTemplate,
    ServerResult, Tool,
};
use rmcp::service::{NotificationContext, Peer, PeerRequestOptions, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use superstep::{BoxFuture, NodeContext};

use super::config::FilledServerConfig;
use super::error::McpError;
use super::process::ServerProcess;
use crate::base::secrets::redact_value;
use crate::base::web::Web;
use crate::programs::helper::HelperProgram;
use crate::project::Environment;

/// How long a server may take to come up; one that `npx` fetches first takes a while.
const START: Duration = Duration::from_secs(90);
/// How long it may take to say what it offers.
const LIST: Duration = Duration::from_secs(30);
/// How long a silent server may take to say that it is there. One that is only slow, on a busy computer, is not given up:
/// what it remembers would be lost.
const PROBE: Duration = Duration::from_secs(10);
/// Things of one sort that a server may offer.
const MOST: usize = 2_000;

/// Notices that the server sends by itself.
#[derive(Clone, Debug)]
struct NotificationHandler {
    progress: ProgressDispatcher,
    /// Counts how often the tools have changed.
    changes: Arc<AtomicU64>,
}

impl ClientHandler for NotificationHandler {
    fn get_info(&self) -> InitializeRequestParams {
        let us = Implementation::new("superstep", env!("CARGO_PKG_VERSION"));
        InitializeRequestParams::new(ClientCapabilities::default(), us)
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.handle_notification(params).await;
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }
}

/// Some things of one sort, and where there are more.
type ListPage<T> = Result<(Vec<T>, Option<String>), ServiceError>;

/// A connection.
#[derive(Debug)]
pub(crate) struct Client {
    server: Arc<str>,
    service: RunningService<RoleClient, NotificationHandler>,
    process: Option<ServerProcess>,
    launch: FilledServerConfig,
    /// The tools, as of which change.
    tools: Mutex<Option<(u64, Arc<[Tool]>)>>,
    /// Set by every use, taken by [`Client::was_used`].
    used: AtomicBool,
    /// It no longer answers: the next caller needs a new one.
    broken: AtomicBool,
}

impl Client {
    /// Starts or reaches the server, within what the environment's owner allows.
    pub(super) async fn start(
        server: &str,
        launch: FilledServerConfig,
        root: &Path,
        environment: &Environment,
        helper: Option<&HelperProgram>,
    ) -> Result<Self, McpError> {
        let failed = |cause: String, exit_message: String| McpError::Start {
            server: server.to_owned(),
            cause,
            exit_message,
        };
        let handler = NotificationHandler {
            progress: ProgressDispatcher::new(),
            changes: Arc::default(),
        };
        let (process, started) = match &launch {
            FilledServerConfig::Program { command, .. } => {
                let (process, pipes) =
                    ServerProcess::start(server, &launch, root, &environment.shown_variables, helper)
                        .map_err(|error| {
                            failed(format!("the program {command:?}: {error}"), String::new())
                        })?;
                let started = tokio::time::timeout(START, handler.serve(pipes)).await;
                (Some(process), started)
            }
            FilledServerConfig::Address { url, headers } => {
                let web = Web::new(&environment.grants, &environment.models.private_hosts);
                let transport =
                    transport(&web, url, headers).map_err(|cause| failed(cause, String::new()))?;
                (None, tokio::time::timeout(START, handler.serve(transport)).await)
            }
        };
        let cause = match started {
            Ok(Ok(service)) => {
                return Ok(Self {
                    server: server.into(),
                    service,
                    process,
                    launch,
                    tools: Mutex::default(),
                    used: AtomicBool::new(true),
                    broken: AtomicBool::new(false),
                });
            }
            Ok(Err(error)) => chain(&error),
            Err(_) => format!("it did not answer within {} s", START.as_secs()),
        };
        let exit_message = match &process {
            Some(process) => process.exit_message().await,
            None => String::new(),
        };
        Err(failed(cause, exit_message))
    }

    /// Returns whether the client has been used since the last call of this function.
    pub(super) fn was_used(&self) -> bool {
        self.used.swap(false, Ordering::SeqCst)
    }

    /// Returns whether the server still runs, and in the way that `launch` requires. The caller is about to use it.
    pub(super) fn serves(&self, launch: &FilledServerConfig) -> bool {
        self.used.store(true, Ordering::SeqCst);
        self.launch == *launch
            && !self.broken.load(Ordering::SeqCst)
            && !self.service.is_closed()
            && !self.service.is_transport_closed()
            && self.process.as_ref().is_none_or(ServerProcess::runs)
    }

    /// Returns the server's tools, read again when it reports a change.
    pub(crate) async fn tools(&self) -> Result<Arc<[Tool]>, McpError> {
        let now = self.service.service().changes.load(Ordering::SeqCst);
        if let Some((then, tools)) = &*self.tools.lock()
            && *then == now
        {
            return Ok(tools.clone());
        }
        let tools: Arc<[Tool]> = self
            .listed(|cursor| {
                Box::pin(async {
                    let page = self.service.list_tools(Some(page(cursor))).await?;
                    Ok((page.tools, page.next_cursor))
                })
            })
            .await?
            .into();
        *self.tools.lock() = Some((now, tools.clone()));
        Ok(tools)
    }

    /// Reads the resources that the server lists.
    pub(crate) async fn resources(&self) -> Result<Vec<Resource>, McpError> {
        self.listed(|cursor| {
            Box::pin(async {
                let page = self.service.list_resources(Some(page(cursor))).await?;
                Ok((page.resources, page.next_cursor))
            })
        })
        .await
    }

    /// Reads the address templates of resources that the server does not list one by one.
    pub(crate) async fn templates(&self) -> Result<Vec<ResourceTemplate>, McpError> {
        self.listed(|cursor| {
            Box::pin(async {
                let page = self.service.list_resource_templates(Some(page(cursor))).await?;
                Ok((page.resource_templates, page.next_cursor))
            })
        })
        .await
    }

    /// Reads all pages of a list.
    async fn listed<'a, T>(
        &'a self,
        read: impl Fn(Option<String>) -> BoxFuture<'a, ListPage<T>> + Send,
    ) -> Result<Vec<T>, McpError> {
        let whole = async {
            let (mut all, mut cursor) = (Vec::new(), None);
            loop {
                let (more, next) = read(cursor).await?;
                all.extend(more);
                cursor = next;
                if cursor.is_none() || all.len() >= MOST {
                    all.truncate(MOST);
                    return Ok(all);
                }
            }
        };
        match tokio::time::timeout(LIST, whole).await {
            Ok(Ok(all)) => Ok(all),
            Ok(Err(error)) => Err(self.failed(error).await),
            Err(_) => Err(McpError::Timeout {
                server: self.server.to_string(),
                limit: LIST,
            }),
        }
    }

    /// Calls a tool. `limit` is the longest silence: progress starts it again.
    pub(crate) async fn call(
        &self,
        context: &NodeContext,
        tool: &str,
        args: serde_json::Map<String, serde_json::Value>,
        limit: Duration,
    ) -> Result<CallToolResult, McpError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        let request = ClientRequest::CallToolRequest(Request::new(params));
        match self.ask(context, Some(tool), request, limit).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            other => Err(self.nonsense(&other)),
        }
    }

    /// Reads a resource.
    pub(crate) async fn read(
        &self,
        context: &NodeContext,
        uri: &str,
        limit: Duration,
    ) -> Result<ReadResourceResult, McpError> {
        let request = ClientRequest::ReadResourceRequest(Request::new(ReadResourceRequestParams::new(uri)));
        match self.ask(context, None, request, limit).await? {
            ServerResult::ReadResourceResult(result) => Ok(result),
            other => Err(self.nonsense(&other)),
        }
    }

    fn nonsense(&self, other: &ServerResult) -> McpError {
        let mut cause = format!("{other:?}");
        if let Some((end, _)) = cause.char_indices().nth(200) {
            cause.truncate(end);
        }
        McpError::Nonsense {
            server: self.server.to_string(),
            cause,
        }
    }

    /// Sends a request and waits. Whatever else ends the wait, the server is notified that nobody does any more.
    async fn ask(
        &self,
        context: &NodeContext,
        tool: Option<&str>,
        request: ClientRequest,
        limit: Duration,
    ) -> Result<ServerResult, McpError> {
        let sent = self
            .service
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut handle = match sent.await {
            Ok(handle) => handle,
            Err(error) => return Err(self.failed(error).await),
        };
        let mut progress = self
            .service
            .service()
            .progress
            .subscribe(handle.progress_token.clone())
            .await;
        let mut waiting = PendingRequest {
            peer: self.service.peer().clone(),
            id: Some(handle.id.clone()),
        };
        let silence = tokio::time::sleep(limit);
        tokio::pin!(silence);
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    waiting.id = None;
                    return match answer {
                        Ok(Ok(result)) => Ok(result),
                        Ok(Err(error)) => Err(self.failed(error).await),
                        Err(_) => Err(self.failed(ServiceError::TransportClosed).await),
                    };
                }
                Some(report) = progress.next() => {
                    silence.as_mut().reset(tokio::time::Instant::now() + limit);
                    context.heartbeat();
                    context.emit(redact_value(&progress_event(tool, &report))).await;
                }
                () = context.cancelled() => return Err(McpError::Cancelled),
                () = &mut silence => {
                    drop(waiting);
                    self.probe().await;
                    return Err(McpError::Timeout { server: self.server.to_string(), limit });
                }
            }
        }
    }

    /// Asks a silent server whether it is there at all. One that has forgotten us, or hangs, is not waited for again.
    async fn probe(&self) {
        let ping = ClientRequest::PingRequest(PingRequest::default());
        let answer = tokio::time::timeout(PROBE, self.service.send_request(ping)).await;
        if !matches!(answer, Ok(Ok(_))) {
            self.broken.store(true, Ordering::SeqCst);
        }
    }

    async fn failed(&self, error: ServiceError) -> McpError {
        let server = self.server.to_string();
        match error {
            ServiceError::McpError(error) => McpError::Refused {
                server,
                cause: error.message.trim_end_matches('.').to_owned(),
            },
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                self.broken.store(true, Ordering::SeqCst);
                let exit_message = match (&self.process, &error) {
                    (Some(process), _) => process.exit_message().await,
                    (None, ServiceError::TransportSend(cause)) => format!(" ({})", chain(&*cause.error)),
                    (None, _) => String::new(),
                };
                McpError::Died { server, exit_message }
            }
            other => McpError::Nonsense {
                server,
                cause: other.to_string(),
            },
        }
    }
}

fn page(cursor: Option<String>) -> PaginatedRequestParams {
    PaginatedRequestParams::default().with_cursor(cursor)
}

/// Converts a report of progress to the form that readers of the `custom` stream see.
fn progress_event(tool: Option<&str>, report: &ProgressNotificationParam) -> superstep::Value {
    superstep::json!({"tool": tool, "progress": {
        "done": report.progress, "total": report.total, "message": report.message}})
}

/// Notice to the server, sent when this is dropped with an id, that nobody waits for that answer any more.
struct PendingRequest {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = "nobody waits for the answer any more".to_owned();
            let _ = peer
                .notify_cancelled(CancelledNotificationParam::new(Some(id), Some(reason)))
                .await;
        });
    }
}

/// Creates the transport to an address. Redirects are not followed: they would lead to servers that nobody has allowed,
/// with these headers. A name that leads into the own network is refused at each lookup.
fn transport(
    web: &Web,
    url: &str,
    headers: &std::collections::BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let address = reqwest::Url::parse(url).map_err(|e| format!("{url:?} is no address: {e}"))?;
    let mut sent = HashMap::new();
    for (name, value) in headers {
        let name: HeaderName = name
            .parse()
            .map_err(|_| format!("{name:?} cannot be the name of a header"))?;
        let mut value: HeaderValue = value
            .parse()
            .map_err(|_| format!("the header {name} has characters that headers cannot have"))?;
        value.set_sensitive(true);
        sent.insert(name, value);
    }
    let client = web.client_for(&address).map_err(|e| e.to_string())?.clone();
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(sent);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Returns an error with its causes: transports hide what happened at the bottom.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
