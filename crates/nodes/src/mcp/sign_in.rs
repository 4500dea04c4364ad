//! A person signs in at a server: rmcp finds the authorization server and registers this program there, the person's
//! browser shows its page and comes back to a port of this computer, which is open for as long as somebody waits.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, StatusCode, Url};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig,
};
use serde_json::json;
use superstep_document::{Text, text};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::config::{self, OAuthConfig, ServerConfig};
use super::error::McpError;
use super::login::{self, KeptLogin, LoginWeb};
use super::{Mcp, http};
use crate::base::access::Access;
use crate::base::references;
use crate::base::web::{Web, WebError, WebRequest};
use crate::project::Logins;

/// How long a person may take.
const PERSON: Duration = Duration::from_secs(10 * 60);
/// How long a browser may take to say what it wants.
const REQUEST: Duration = Duration::from_secs(10);
/// Longest request of a browser.
const MAX_REQUEST: usize = 32 * 1024;
/// Requests of browsers at once.
const MAX_REQUESTS: usize = 16;
const CALLBACK: &str = "/callback";
const US: &str = "Superstep";

/// A server at an address, as its project declares it.
struct Target {
    server: String,
    root: PathBuf,
    url: Url,
    headers: std::collections::BTreeMap<String, String>,
    oauth: OAuthConfig,
    /// Names of the secrets in what is sent to the authorization server.
    secrets: Vec<String>,
    logins: Arc<dyn Logins>,
}

impl Target {
    fn failed(&self, cause: Text) -> McpError {
        McpError::SignInFailed {
            server: self.server.clone(),
            cause,
        }
    }

    /// Converts an error of rmcp. What a request failed with says more.
    fn refused(&self, error: &AuthError, web: &LoginWeb) -> McpError {
        match web.denied() {
            Some(WebError::AccessDenied(denied)) => denied.into(),
            Some(other) => self.failed(format!("{error} ({other})").into()),
            None => self.failed(error.to_string().trim_end_matches('.').to_owned().into()),
        }
    }
}

/// A sign-in that waits for a person. The port that the browser comes back to is closed when this is dropped.
pub struct SignIn {
    address: String,
    target: Target,
    web: Arc<LoginWeb>,
    manager: AuthorizationManager,
    store: InMemoryCredentialStore,
    listener: TcpListener,
    begun: KeptBegin,
}

/// Part of a login that is known before the person has signed in.
struct KeptBegin {
    /// What only the page that we sent the person to can know.
    state: String,
    resource: String,
    client: OAuthClientConfig,
    metadata: AuthorizationMetadata,
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn")
            .field("server", &self.target.server)
            .finish_non_exhaustive()
    }
}

impl Mcp {
    /// Returns the server if it is at an address, and everything that it touches is allowed.
    fn target(&self, server: &str) -> Result<Target, McpError> {
        let failed = |cause: Text| McpError::SignInFailed {
            server: server.to_owned(),
            cause,
        };
        let (root, declared) = config::declared(&self.environment, server)?;
        for access in declared.accesses(server, &self.environment) {
            self.environment.grants.require(&access)?;
        }
        let secrets = match &declared {
            ServerConfig::Address { oauth, .. } => [&oauth.client_id, &oauth.client_secret]
                .into_iter()
                .flatten()
                .flat_map(|text| references::names(text).map(str::to_owned))
                .collect(),
            ServerConfig::Program { .. } => Vec::new(),
        };
        let ServerConfig::Address { url, headers, oauth } = declared.launch(server, &self.environment)?
        else {
            return Err(failed(text!("it is a program, and programs ask for no login")));
        };
        if headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case("authorization"))
        {
            return Err(failed(text!(
                ".mcp.json gives it the header Authorization, which a login would replace"
            )));
        }
        let url =
            Url::parse(&url).map_err(|error| failed(format!("{url:?} is no address: {error}").into()))?;
        let Some(logins) = self.environment.logins.clone() else {
            return Err(failed(text!("this program keeps no logins")));
        };
        Ok(Target {
            server: server.to_owned(),
            root,
            url,
            headers,
            oauth,
            secrets,
            logins,
        })
    }

    /// Begins to sign in: returns the address that the person's browser is to show, and what then comes back.
    pub(crate) async fn begin_sign_in(&self, server: &str) -> Result<SignIn, McpError> {
        let target = self.target(server)?;
        let problem = login::apart(&target.logins, |logins| Ok(logins.problem())).await;
        if let Some(cause) = problem.unwrap_or_else(Some) {
            return Err(target.failed(cause.into()));
        }
        let environment = &self.environment;
        let own_web = Arc::new(Web::new(&environment.grants, &environment.models.private_hosts));
        let web = Arc::new(LoginWeb::new(&own_web));
        let (mut manager, metadata) = self.discover(&target, &own_web, &web).await?;
        let store = InMemoryCredentialStore::new();
        manager.set_credential_store(store.clone());

        let cannot = |error: std::io::Error| {
            target.failed(text!(
                "no port can be opened for the browser to come back to: {cause}",
                cause = error.to_string()
            ))
        };
        let port = target.oauth.callback_port.unwrap_or(0);
        let listener = TcpListener::bind(("127.0.0.1", port)).await.map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let redirect = format!("http://127.0.0.1:{port}{CALLBACK}");
        let scopes = wanted_scopes(&target, &manager).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = match &target.oauth.client_id {
            Some(id) => {
                let mut client = OAuthClientConfig::new(id.clone(), redirect);
                client.client_secret.clone_from(&target.oauth.client_secret);
                client
            }
            None => {
                let registered = manager.register_client(US, &redirect, &scopes).await;
                registered.map_err(|error| unregistered(&target, &error, &web))?
            }
        };
        let refused = |error: AuthError| target.refused(&error, &web);
        manager.configure_client(client.clone()).map_err(refused)?;
        let address = manager.get_authorization_url(&scopes).await.map_err(refused)?;
        let page = Url::parse(&address).map_err(|error| target.failed(error.to_string().into()))?;
        let begun = KeptBegin {
            state: parameter(&page, "state").unwrap_or_default(),
            resource: parameter(&page, "resource").unwrap_or_else(|| target.url.to_string()),
            client,
            metadata,
        };
        Ok(SignIn {
            address,
            target,
            web,
            manager,
            store,
            listener,
            begun,
        })
    }

    /// Finds the authorization server of a server: what rmcp needs to ask it, and what of it is needed to renew a token.
    async fn discover(
        &self,
        target: &Target,
        own_web: &Web,
        web: &Arc<LoginWeb>,
    ) -> Result<(AuthorizationManager, AuthorizationMetadata), McpError> {
        let challenge = challenge(own_web, target).await?;
        let refused = |error: AuthError| target.refused(&error, web);
        let mut manager = AuthorizationManager::new_with_oauth_http_client(target.url.clone(), web.clone())
            .await
            .map_err(refused)?;
        let asked = challenge.as_deref().filter(|words| !words.is_empty());
        let found = manager
            .resolve_metadata_from_challenge(asked)
            .await
            .map_err(refused)?;
        if challenge.is_none() && !found.source.is_discovered() {
            return Err(target.failed(text!("it asks for no login")));
        }
        let mut metadata = found.metadata;
        manager.set_metadata(metadata.clone());
        for endpoint in [&metadata.authorization_endpoint, &metadata.token_endpoint] {
            self.check_endpoint(own_web, target, endpoint)?;
        }
        let methods = "token_endpoint_auth_methods_supported";
        metadata.additional_fields.retain(|name, _| name == methods);
        (metadata.scopes_supported, metadata.registration_endpoint) = (None, None);
        Ok((manager, metadata))
    }

    /// Refuses an endpoint that this project may not reach, or that would carry a login without encryption although the
    /// server itself is reached with it. A browser is sent to no other program than a server of the web.
    fn check_endpoint(&self, web: &Web, target: &Target, endpoint: &str) -> Result<(), McpError> {
        let url = Url::parse(endpoint)
            .map_err(|error| target.failed(format!("{endpoint:?} is no address: {error}").into()))?;
        if target.url.scheme() == "https" && url.scheme() != "https" {
            return Err(target.failed(text!(
                "{address} of its authorization server is not encrypted",
                address = endpoint
            )));
        }
        match web.client_for(&url) {
            Ok(_) => {}
            Err(WebError::AccessDenied(denied)) => return Err(denied.into()),
            Err(other) => return Err(target.failed(other.to_string().into())),
        }
        let server = Access::of_url(&url);
        for secret in &target.secrets {
            self.environment
                .grants
                .require(&Access::key_to(secret, &server))?;
        }
        Ok(())
    }

    /// Forgets the login to a server.
    pub(crate) async fn sign_out(&self, server: &str) -> Result<(), McpError> {
        let Some(logins) = &self.environment.logins else {
            return Ok(());
        };
        let Some(name) = self.login_name(server)? else {
            return Ok(());
        };
        // What was offered to whom we knew is asked for again.
        if let Ok((root, _)) = config::declared(&self.environment, server) {
            self.hub.places.lock().remove(&(root, server.to_owned()));
        }
        let forgetting = login::apart(logins, move |logins| {
            let _held = logins.hold()?;
            logins.remove(&name)
        });
        forgetting.await.map_err(|cause| McpError::SignInFailed {
            server: server.to_owned(),
            cause: text!("it was not forgotten: {cause}", cause),
        })
    }

    /// Returns whether somebody has signed in at a server.
    pub(crate) fn is_signed_in(&self, server: &str) -> bool {
        let (Some(logins), Ok(Some(name))) = (&self.environment.logins, self.login_name(server)) else {
            return false;
        };
        let kept = logins.get(&name).ok().flatten();
        kept.and_then(|text| serde_json::from_str::<KeptLogin>(&text).ok())
            .is_some_and(|kept| kept.credentials.token_response.is_some())
    }

    fn login_name(&self, server: &str) -> Result<Option<String>, McpError> {
        let (root, declared) = config::declared(&self.environment, server)?;
        Ok(match declared.launch(server, &self.environment)? {
            ServerConfig::Address { url, .. } => {
                let url = Url::parse(&url).map_or(url, |url| url.to_string());
                Some(login::name_of(&root, &url))
            }
            ServerConfig::Program { .. } => None,
        })
    }
}

/// Asks the server for anything, without a login: returns what it says of one. None when it does not want any.
async fn challenge(web: &Web, target: &Target) -> Result<Option<String>, McpError> {
    let us = json!({"name": "superstep", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": us});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let mut headers = http::headers(&target.headers).map_err(|cause| target.failed(cause.into()))?;
    headers.insert(
        CONTENT_TYPE,
        reqwest::header::HeaderValue::from_static("application/json"),
    );
    let both = reqwest::header::HeaderValue::from_static("application/json, text/event-stream");
    headers.insert(ACCEPT, both);
    let call = WebRequest {
        method: Method::POST,
        url: target.url.clone(),
        headers,
        body: Some(body.to_string().into_bytes()),
    };
    let response = match tokio::time::timeout(login::ANSWER, web.send(call)).await {
        Ok(Ok(response)) => response,
        Ok(Err(WebError::AccessDenied(denied))) => return Err(denied.into()),
        Ok(Err(other)) => return Err(target.failed(other.to_string().into())),
        Err(_) => return Err(target.failed(text!("it gives no answer"))),
    };
    if response.status() != StatusCode::UNAUTHORIZED {
        return Ok(None);
    }
    Ok(Some(http::challenge(response.headers()).unwrap_or_default()))
}

/// Returns what the person is to be asked for: what the project or the server names, and what the login had, or the
/// server wanted of it later.
async fn wanted_scopes(target: &Target, manager: &AuthorizationManager) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut scopes = match &target.oauth.scopes {
        Some(scopes) => words(scopes),
        None => manager.select_initial_scopes(&[]).await,
    };
    let name = login::name_of(&target.root, target.url.as_str());
    let kept = login::apart(&target.logins, move |logins| logins.get(&name)).await;
    let kept = kept
        .ok()
        .flatten()
        .and_then(|text| serde_json::from_str::<KeptLogin>(&text).ok());
    if let Some(kept) = kept.filter(|kept| !kept.wanted.is_empty()) {
        scopes.extend(kept.credentials.granted_scopes);
        scopes.extend(words(&kept.wanted));
    }
    let mut seen = std::collections::HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    scopes
}

fn unregistered(target: &Target, error: &AuthError, web: &LoginWeb) -> McpError {
    match target.refused(error, web) {
        McpError::SignInFailed { server, cause } => McpError::SignInFailed {
            server,
            cause: text!(
                "its authorization server registers no programs by itself ({cause}). Register this one there, with http://127.0.0.1/callback as the address to come back to, and name it in .mcp.json: \"oauth\": {\"clientId\": …}",
                cause
            ),
        },
        other => other,
    }
}

/// Answer that a browser came back with.
enum Callback {
    Code {
        code: String,
        issuer: Option<String>,
    },
    Refused(String),
    /// Another page, or one that does not know what ours does.
    Stray,
}

impl SignIn {
    /// Returns the address that the person's browser is to show.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits for the person, and keeps the login. Nothing is kept when this is dropped before.
    pub async fn finish(self) -> Result<(), super::ServerFault> {
        let server = self.target.server.clone();
        match tokio::time::timeout(PERSON, self.wait()).await {
            Ok(done) => done.map_err(Into::into),
            Err(_) => Err(McpError::SignInFailed {
                server,
                cause: text!(
                    "nobody signed in within {count} minutes",
                    count = PERSON.as_secs() / 60
                ),
            }
            .into()),
        }
    }

    async fn wait(self) -> Result<(), McpError> {
        let mut reading = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if reading.len() < MAX_REQUESTS => {
                    if let Ok((stream, _)) = accepted {
                        reading.spawn(tokio::time::timeout(REQUEST, target_of(stream)));
                    }
                }
                Some(read) = reading.join_next() => {
                    let Ok(Ok(Some((stream, target)))) = read else { continue };
                    if let Some(done) = self.answer(stream, &target).await {
                        return done;
                    }
                }
            }
        }
    }

    /// Answers a browser; with the outcome, if it came from the page of the authorization server.
    async fn answer(&self, stream: TcpStream, asked: &str) -> Option<Result<(), McpError>> {
        let done = match self.callback(asked) {
            Callback::Stray => {
                show(
                    stream,
                    "404 Not Found",
                    "This page belongs to no sign-in that is waited for.",
                )
                .await;
                return None;
            }
            Callback::Refused(cause) => Err(self.target.failed(cause.into())),
            Callback::Code { code, issuer } => self.exchange(&code, issuer.as_deref()).await,
        };
        let server = &self.target.server;
        match &done {
            Ok(()) => {
                let words =
                    format!("You are signed in to {server}. You can close this page and go back to {US}.");
                show(stream, "200 OK", &words).await;
            }
            Err(error) => show(stream, "400 Bad Request", &format!("{}.", error.message())).await,
        }
        Some(done)
    }

    fn callback(&self, asked: &str) -> Callback {
        let url = Url::parse("http://127.0.0.1").and_then(|base| base.join(asked));
        let Ok(url) = url.as_ref().map_err(|_| ()) else {
            return Callback::Stray;
        };
        let state = &self.begun.state;
        let said = |name: &str| parameter(url, name);
        if url.path() != CALLBACK || state.is_empty() || said("state").as_ref() != Some(state) {
            return Callback::Stray;
        }
        match (said("error"), said("code")) {
            (Some(error), _) => Callback::Refused(match (error.as_str(), said("error_description")) {
                (_, Some(words)) if !words.trim().is_empty() => words,
                ("access_denied", _) => "it was denied".to_owned(),
                _ => error,
            }),
            (None, Some(code)) => Callback::Code {
                code,
                issuer: said("iss"),
            },
            (None, None) => Callback::Refused("the browser came back without an answer".to_owned()),
        }
    }

    async fn exchange(&self, code: &str, issuer: Option<&str>) -> Result<(), McpError> {
        let target = &self.target;
        login::note(code.to_owned());
        let exchanging = self
            .manager
            .exchange_code_for_token_with_issuer(code, &self.begun.state, issuer);
        let exchanged = exchanging.await;
        exchanged.map_err(|error| target.refused(&error, &self.web))?;
        let kept = self.store.load().await;
        let Ok(Some(credentials)) = kept else {
            return Err(target.failed(text!("it gave no token")));
        };
        let login = KeptLogin {
            resource: self.begun.resource.clone(),
            client_id: self.begun.client.client_id.clone(),
            client_secret: self.begun.client.client_secret.clone(),
            metadata: self.begun.metadata.clone(),
            credentials,
            wanted: String::new(),
        };
        login.note();
        let name = login::name_of(&target.root, target.url.as_str());
        let text = serde_json::to_string(&login).map_err(|error| target.failed(error.to_string().into()))?;
        let keeping = login::apart(&target.logins, move |logins| {
            let _held = logins.hold()?;
            logins.set(&name, &text)
        });
        keeping
            .await
            .map_err(|cause| target.failed(text!("it was not kept: {cause}", cause)))
    }
}

/// Returns a parameter of an address.
fn parameter(url: &Url, name: &str) -> Option<String> {
    let mut pairs = url.query_pairs();
    let found = pairs.find(|(key, _)| key == name);
    found.map(|(_, value)| value.into_owned())
}

/// Reads what a browser asks for.
async fn target_of(mut stream: TcpStream) -> Option<(TcpStream, String)> {
    let mut read = Vec::new();
    let mut part = [0; 4096];
    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part).await {
            Ok(count) if count > 0 && read.len() + count <= MAX_REQUEST => {
                read.extend_from_slice(&part[..count])
            }
            _ => return None,
        }
    }
    let text = String::from_utf8_lossy(&read);
    let mut words = text.lines().next()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    (method == "GET" && target.starts_with('/')).then(|| (stream, target.to_owned()))
}

/// Shows a page of one sentence.
async fn show(mut stream: TcpStream, status: &str, words: &str) {
    let words = crate::base::secrets::redact(words);
    let words = words
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{US}</title>\
         <style>:root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;margin:20vh auto;max-width:32rem;padding:0 1rem}}</style>\
         <p>{words}</p></html>"
    );
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\n\
         content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\n\r\n",
        page.len()
    );
    // A browser that is gone has seen enough.
    let _ = stream.write_all(format!("{head}{page}").as_bytes()).await;
    let _ = stream.shutdown().await;
}
