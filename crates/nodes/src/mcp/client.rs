//! A connection to one MCP server: what it offers, and calls that report progress, can be cancelled and end in time.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use parking_lot::Mutex;
use reqwest::Url;
use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    CallToolRequestParams, CancelledNotificationParam, ClientCapabilities, ClientConfig, ClientRequest,
    CustomNotification, CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation,
    ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest, PaginatedRequestParams,
    PingRequest, ProgressNotificationParam, ProgressToken, ProtocolVersion, ReadResourceRequestParams,
    Request, RequestId,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, NotificationContext, Peer,
    PeerRequestOptions, RequestContext, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value as Json, json};
use superstep::NodeContext;

use super::config::FilledServerConfig;
use super::error::McpError;
use super::http::{self, HttpClient};
use super::login::Login;
use super::offers::{self, ListPage, ServerList, ServerResource, ServerTool};
use super::process::ServerProcess;
use super::reading::{self, PartsCount, UNREADABLE};
use super::stdio::{self, LineTransport};
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
/// How long what came in before the end of a silence may take to be read: on a busy computer it is this program, too,
/// that had no turn for a while.
const LAST_LOOK: Duration = Duration::from_millis(500);
/// Things of one sort that a server may offer, and pages on which it may list them.
const MAX_ENTRIES: usize = 2_000;
const MAX_PAGES: usize = 200;
/// Times that a server may ask for something in the middle of a call.
const MAX_ROUNDS: usize = 10;

/// Revisions in the order in which they are wanted, and the one that servers without `server/discover` are offered.
const NEWEST: [ProtocolVersion; 1] = [ProtocolVersion::V_2026_07_28];
const OLDER: ProtocolVersion = ProtocolVersion::LATEST_WITH_INITIALIZE;

/// Notices that the server sends by itself.
#[derive(Clone, Debug)]
struct NotificationHandler {
    progress: ProgressDispatcher,
    /// Counts how often the tools have changed.
    changes: Arc<AtomicU64>,
}

impl NotificationHandler {
    fn new() -> Self {
        Self {
            progress: ProgressDispatcher::new(),
            changes: Arc::default(),
        }
    }
}

impl ClientHandler for NotificationHandler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("superstep", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us).with_protocol_version(OLDER)
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.handle_notification(params).await;
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// Takes progress whose numbers or texts are not as they should be for the sign of life that it is.
    async fn on_custom_notification(&self, notice: CustomNotification, _: NotificationContext<RoleClient>) {
        let params = notice.params.unwrap_or_default();
        match &*notice.method {
            "notifications/progress" => {
                if let Some(report) = progress_of(&params) {
                    self.progress.handle_notification(report).await;
                }
            }
            "notifications/tools/list_changed" => {
                self.changes.fetch_add(1, Ordering::SeqCst);
            }
            _ => {}
        }
    }

    /// Declines what the server asks of the person in a form that is not known.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        match &*request.method {
            ELICITATION => Ok(CustomResult(json!({"action": "decline"}))),
            "ping" => Ok(CustomResult(json!({}))),
            _ => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        }
    }
}

/// Request of a server for an answer of the person.
const ELICITATION: &str = "elicitation/create";

fn progress_of(params: &Json) -> Option<ProgressNotificationParam> {
    let token: ProgressToken = serde_json::from_value(params.get("progressToken")?.clone()).ok()?;
    let number = |field: &str| match params.get(field) {
        Some(Json::String(text)) => text.trim().parse().ok(),
        other => other.and_then(Json::as_f64),
    };
    let mut report = ProgressNotificationParam::new(token, number("progress").unwrap_or_default());
    report.total = number("total");
    report.message = params.get("message").and_then(Json::as_str).map(str::to_owned);
    Some(report)
}

/// Tools of a server, as of which change and when they were read.
type KnownTools = (u64, Instant, Arc<ServerList<ServerTool>>);

/// A connection.
#[derive(Debug)]
pub(crate) struct Client {
    server: Arc<str>,
    service: RunningService<RoleClient, NotificationHandler>,
    process: Option<ServerProcess>,
    launch: FilledServerConfig,
    login: Option<Arc<Login>>,
    /// Goes up while a long message comes in.
    parts: PartsCount,
    tools: Mutex<Option<KnownTools>>,
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
        let parts = PartsCount::default();
        let mut login = None;
        let started = match &launch {
            FilledServerConfig::Program { command, .. } => {
                let start = async |way: ClientLifecycleMode| {
                    let variables = &environment.shown_variables;
                    let (process, (output, input)) =
                        ServerProcess::start(server, &launch, root, variables, helper).map_err(|error| {
                            (None, format!("the program {command:?}: {error}"), String::new())
                        })?;
                    let limit = match way {
                        ClientLifecycleMode::Discover { .. } => None,
                        _ => Some(stdio::DISCOVER),
                    };
                    let pipes = LineTransport::new(server.to_owned(), output, input, limit, parts.clone());
                    let serving = NotificationHandler::new().serve_with_lifecycle(pipes, way);
                    match up(serving).await {
                        Ok(service) => Ok((service, process)),
                        Err((error, cause)) => Err((error, cause, process.exit_message().await)),
                    }
                };
                let first = start(automatic()).await;
                match first {
                    // One that ends at, or never understands, what it does not know is asked in the other way at once.
                    Err((Some(error), ..)) => start(other_way(&error)).await,
                    other => other,
                }
                .map(|(service, process)| (service, Some(process)))
            }
            FilledServerConfig::Address { url, headers, .. } => {
                let web = Arc::new(Web::new(&environment.grants, &environment.models.private_hosts));
                let transport = match Url::parse(url) {
                    Ok(url) => {
                        let own = login_of(server, &url, headers, root, environment, &web);
                        login = Some(own.clone());
                        transport(&web, &url, headers, parts.clone(), own)
                    }
                    Err(error) => Err(format!("{url:?} is no address: {error}")),
                };
                let up = match transport {
                    Ok(transport) => {
                        up(NotificationHandler::new().serve_with_lifecycle(transport, automatic())).await
                    }
                    Err(cause) => Err((None, cause)),
                };
                if let (Err(_), Some(need)) = (&up, login.as_ref().and_then(|login| login.need())) {
                    return Err(need);
                }
                up.map(|service| (service, None))
                    .map_err(|(error, cause)| (error, cause, String::new()))
            }
        };
        let (service, process) = started.map_err(|(_, cause, exit_message)| McpError::Start {
            server: server.to_owned(),
            cause,
            exit_message,
        })?;
        Ok(Self {
            server: server.into(),
            service,
            process,
            launch,
            login,
            parts,
            tools: Mutex::default(),
            used: AtomicBool::new(true),
            broken: AtomicBool::new(false),
        })
    }

    /// Lets the login be renewed within what the environment's owner allows now.
    pub(super) fn allow(&self, environment: &Environment) {
        if let Some(login) = &self.login {
            login.allow(Arc::new(Web::new(
                &environment.grants,
                &environment.models.private_hosts,
            )));
        }
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

    /// Returns the server's tools, read again when it reports a change. Since revision 2026-07-28 a server reports none
    /// that nobody subscribes to, but says for how long its list holds.
    pub(crate) async fn tools(&self) -> Result<Arc<ServerList<ServerTool>>, McpError> {
        let now = self.service.service().changes.load(Ordering::SeqCst);
        if let Some((then, read, tools)) = &*self.tools.lock()
            && *then == now
            && (self.reports_changes() || tools.fresh_for.is_some_and(|time| read.elapsed() < time))
        {
            return Ok(tools.clone());
        }
        let request = |page| ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
        let read = |result: &Json| offers::page(result, "tools", offers::tool);
        let tools = Arc::new(self.listed(request, read, |tool| &tool.name).await?);
        for odd in &tools.odd {
            tracing::warn!(target: "superstep::mcp", server = &*self.server, "the tool `{}` cannot be used: {}", odd.name, odd.cause);
        }
        if !tools.is_cut {
            *self.tools.lock() = Some((now, Instant::now(), tools.clone()));
        }
        Ok(tools)
    }

    fn reports_changes(&self) -> bool {
        let revision = self.service.peer_info().map(|info| info.protocol_version.clone());
        revision.is_none_or(|revision| revision.has_initialize())
    }

    /// Reads the resources that the server lists.
    pub(crate) async fn resources(&self) -> Result<Vec<ServerResource>, McpError> {
        let request = |page| ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page));
        let read = |result: &Json| offers::page(result, "resources", offers::resource);
        let list = self.listed(request, read, |one| &one.address).await?;
        Ok(list.entries)
    }

    /// Reads the address templates of resources that the server does not list one by one.
    pub(crate) async fn templates(&self) -> Result<Vec<ServerResource>, McpError> {
        let request = |page| {
            ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::with_param(page))
        };
        let read = |result: &Json| offers::page(result, "resourceTemplates", offers::template);
        let list = self.listed(request, read, |one| &one.address).await?;
        Ok(list.entries)
    }

    /// Reads all pages of a list. What came is used when the list goes round, has no end, or breaks off.
    async fn listed<T: Send>(
        &self,
        request: impl Fn(PaginatedRequestParams) -> ClientRequest + Send,
        read: impl Fn(&Json) -> Result<ListPage<T>, String> + Send,
        name: impl Fn(&T) -> &String + Send,
    ) -> Result<ServerList<T>, McpError> {
        let mut list = ServerList::default();
        let (mut known, mut cursors) = (HashSet::new(), HashSet::new());
        let mut cursor: Option<String> = None;
        let end = tokio::time::Instant::now() + LIST;
        for number in 1.. {
            let asked = self.service.send_request(request(page(cursor.take())));
            let answer = match tokio::time::timeout_at(end, asked).await {
                Ok(Ok(result)) => read(&reading::unpacked(result)).map_err(|cause| self.nonsense(cause)),
                Ok(Err(error)) => Err(self.failed(None, error).await),
                Err(_) => Err(McpError::Timeout {
                    server: self.server.to_string(),
                    limit: LIST,
                }),
            };
            let read = match answer {
                Ok(page) => page,
                Err(error) if number == 1 => return Err(error),
                Err(error) => {
                    list.is_cut = true;
                    self.note_cut(&format!("page {number} could not be read: {error}"));
                    return Ok(list);
                }
            };
            let (before, is_empty) = (list.entries.len(), read.entries.is_empty() && read.odd.is_empty());
            let has_odd = !read.odd.is_empty();
            list.odd.extend(read.odd);
            list.fresh_for = match number {
                1 => read.fresh_for,
                _ => list.fresh_for.min(read.fresh_for),
            };
            for entry in read.entries {
                if known.insert(name(&entry).clone()) {
                    list.entries.push(entry);
                }
            }
            let more = list.entries.len() + list.odd.len();
            let Some(next) = read.next else { break };
            let why = if more >= MAX_ENTRIES {
                format!("it has more than {MAX_ENTRIES} entries")
            } else if number >= MAX_PAGES {
                format!("it has more than {MAX_PAGES} pages")
            } else if !cursors.insert(next.clone()) {
                format!("the cursor {next:?} comes again")
            } else if list.entries.len() == before && !is_empty && !has_odd {
                format!("page {number} brings nothing new")
            } else {
                cursor = Some(next);
                continue;
            };
            self.note_cut(&why);
            break;
        }
        if list.entries.len() > MAX_ENTRIES {
            self.note_cut(&format!("only the first {MAX_ENTRIES} entries are used"));
            list.entries.truncate(MAX_ENTRIES);
        }
        list.odd.truncate(MAX_ENTRIES);
        Ok(list)
    }

    fn note_cut(&self, why: &str) {
        tracing::warn!(target: "superstep::mcp", server = &*self.server, "a list is not read on: {why}");
    }

    /// Calls a tool. `limit` is the longest silence: progress starts it again, and so does a long message that comes in.
    pub(crate) async fn call(
        &self,
        context: &NodeContext,
        tool: &str,
        args: Map<String, Json>,
        limit: Duration,
    ) -> Result<Json, McpError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args);
        self.ask_on(context, Some(tool), limit, |answers, state| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (answers, state);
            ClientRequest::CallToolRequest(Request::new(params))
        })
        .await
    }

    /// Reads a resource.
    pub(crate) async fn read(
        &self,
        context: &NodeContext,
        uri: &str,
        limit: Duration,
    ) -> Result<Json, McpError> {
        let params = ReadResourceRequestParams::new(uri);
        self.ask_on(context, None, limit, |answers, state| {
            let mut params = params.clone();
            (params.input_responses, params.request_state) = (answers, state);
            ClientRequest::ReadResourceRequest(Request::new(params))
        })
        .await
    }

    /// Sends a request, and again with answers for as long as the server asks for something before it goes on.
    async fn ask_on(
        &self,
        context: &NodeContext,
        tool: Option<&str>,
        limit: Duration,
        request: impl Fn(Option<Answers>, Option<String>) -> ClientRequest,
    ) -> Result<Json, McpError> {
        let (mut answers, mut state) = (None, None);
        for _ in 0..MAX_ROUNDS {
            let result = self
                .ask(context, tool, request(answers.take(), state.take()), limit)
                .await?;
            match self.declined(&result)? {
                None => return Ok(result),
                Some((given, reminder)) => (answers, state) = (Some(given), reminder),
            }
        }
        Err(self.nonsense(format!("it asks for more than {MAX_ROUNDS} answers")))
    }

    /// Declines what a server asks for before it goes on (since revision 2026-07-28, such requests are results); returns
    /// the answers to it, and what it wants to be reminded of.
    fn declined(&self, result: &Json) -> Result<Option<Declined>, McpError> {
        match result.get("resultType").and_then(Json::as_str) {
            Some("input_required") => {}
            Some("task") => {
                return Err(self.nonsense("it made a task of the call, which was not offered".to_owned()));
            }
            _ => return Ok(None),
        }
        let mut answers = std::collections::BTreeMap::new();
        for (key, asked) in result
            .get("inputRequests")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
        {
            match asked.get("method").and_then(Json::as_str) {
                Some(ELICITATION) => answers.insert(key.clone(), json!({"action": "decline"})),
                method => {
                    return Err(McpError::Refused {
                        server: self.server.to_string(),
                        cause: format!(
                            "it wants `{}`, which is not offered to it",
                            method.unwrap_or("something")
                        ),
                    });
                }
            };
        }
        let state = result.get("requestState").and_then(Json::as_str);
        Ok(Some((answers, state.map(str::to_owned))))
    }

    fn nonsense(&self, cause: String) -> McpError {
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
    ) -> Result<Json, McpError> {
        let sent = self
            .service
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut handle = match sent.await {
            Ok(handle) => handle,
            Err(error) => return Err(self.failed(tool, error).await),
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
        let mut parts = self.parts.get();
        let silence = tokio::time::sleep(limit);
        tokio::pin!(silence);
        let mut is_last_look = false;
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    waiting.id = None;
                    return match answer {
                        Ok(Ok(result)) => Ok(reading::unpacked(result)),
                        Ok(Err(error)) => Err(self.failed(tool, error).await),
                        Err(_) => Err(self.failed(tool, ServiceError::TransportClosed).await),
                    };
                }
                Some(report) = progress.next() => {
                    silence.as_mut().reset(tokio::time::Instant::now() + limit);
                    is_last_look = false;
                    context.heartbeat();
                    context.emit(redact_value(&progress_event(tool, &report))).await;
                }
                () = context.cancelled() => return Err(McpError::Cancelled),
                () = &mut silence => {
                    let now = self.parts.get();
                    let still_comes = std::mem::replace(&mut parts, now) != now;
                    if still_comes || !is_last_look {
                        is_last_look = !still_comes;
                        let wait = if still_comes { limit } else { LAST_LOOK };
                        silence.as_mut().reset(tokio::time::Instant::now() + wait);
                        if still_comes {
                            context.heartbeat();
                        }
                        continue;
                    }
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
        // One that knows no such request is there, too.
        if !matches!(answer, Ok(Ok(_) | Err(ServiceError::McpError(_)))) {
            self.broken.store(true, Ordering::SeqCst);
        }
    }

    async fn failed(&self, tool: Option<&str>, error: ServiceError) -> McpError {
        let server = self.server.to_string();
        if let ServiceError::TransportSend(failure) = &error
            && http::is_refused(&*failure.error)
            && let Some(need) = self.login.as_ref().and_then(|login| login.need())
        {
            return need;
        }
        match error {
            ServiceError::McpError(error) if error.code == UNREADABLE => McpError::Unreadable {
                server,
                tool: tool.map(str::to_owned),
                cause: error.message.into_owned(),
            },
            ServiceError::McpError(error) => McpError::Refused {
                server,
                cause: error.message.trim_end_matches('.').to_owned(),
            },
            ServiceError::TransportSend(failure) if http::refusal(&*failure.error).is_some() => {
                McpError::Refused {
                    server,
                    cause: http::refusal(&*failure.error).unwrap_or_default(),
                }
            }
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

/// Answers to what a server asked for, and what it wants to be reminded of.
type Declined = (Answers, Option<String>);

/// Answers to what a server asks for, by its names.
type Answers = std::collections::BTreeMap<String, Json>;

/// Reason why a server did not come up; with rmcp's error if it can be tried in another way.
type StartFailure = (Option<ClientInitializeError>, String);

/// Returns the way that finds the newest revision that the server speaks.
fn automatic() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: NEWEST.to_vec(),
        legacy_version: Some(OLDER),
    }
}

/// Returns the way that is left when the automatic one failed.
fn other_way(error: &ClientInitializeError) -> ClientLifecycleMode {
    match error {
        // It was too slow to say which revisions it speaks, and refused the older way.
        ClientInitializeError::LegacyFallbackFailed { .. } => ClientLifecycleMode::Discover {
            preferred_versions: NEWEST.to_vec(),
        },
        _ => ClientLifecycleMode::Initialize,
    }
}

/// Waits for a server to come up.
async fn up(
    serving: impl Future<Output = Result<RunningService<RoleClient, NotificationHandler>, ClientInitializeError>>,
) -> Result<RunningService<RoleClient, NotificationHandler>, StartFailure> {
    match tokio::time::timeout(START, serving).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) => {
            let cause = chain(&error);
            Err((Some(error), cause))
        }
        Err(_) => Err((None, format!("it did not answer within {} s", START.as_secs()))),
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
    url: &Url,
    headers: &std::collections::BTreeMap<String, String>,
    parts: PartsCount,
    login: Arc<Login>,
) -> Result<StreamableHttpClientTransport<HttpClient>, String> {
    let sent = http::headers(headers)?;
    let sent = sent.iter().map(|(name, value)| (name.clone(), value.clone()));
    let client = web.client_for(url).map_err(|e| e.to_string())?.clone();
    Ok(StreamableHttpClientTransport::with_client(
        HttpClient { client, parts, login },
        http::config(url.as_str(), sent.collect()),
    ))
}

/// Returns the way to the login of a server; there is none where the project itself says who asks.
fn login_of(
    server: &str,
    url: &Url,
    headers: &std::collections::BTreeMap<String, String>,
    root: &Path,
    environment: &Environment,
    web: &Arc<Web>,
) -> Arc<Login> {
    let by_project = headers
        .keys()
        .any(|name| name.eq_ignore_ascii_case("authorization"));
    let logins = environment.logins.clone().filter(|_| !by_project);
    Arc::new(Login::new(server, root, url, by_project, logins, web.clone()))
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
