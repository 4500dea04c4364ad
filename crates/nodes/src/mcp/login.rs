//! The login of a person to a server at an address: sent with every request, renewed when it is about to expire or is
//! refused. It belongs to one project and one address, and is kept where the host keeps what nobody is to read. rmcp
//! speaks with the authorization server; which servers that may be is said by the grants, as everywhere.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use reqwest::{Method, StatusCode, Url};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore, InMemoryCredentialStore,
    OAuthClientConfig, OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy,
    OAuthHttpRequest, StoredCredentials, WWWAuthenticateParams,
};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::error::{McpError, SignInNeed};
use crate::base::secrets;
use crate::base::web::{Web, WebError, WebRequest, failure};
use crate::project::Logins;

/// Longest wait for an answer of an authorization server.
pub(super) const ANSWER: Duration = Duration::from_secs(30);
/// Largest answer of an authorization server.
const MAX_ANSWER: usize = 1024 * 1024;
/// A token that ends sooner is renewed before it is used; one that is short-lived, after half of its time.
const EARLY: u64 = 30;
/// Tokens that are looked for in what comes back, beside those of now.
const MAX_NOTED: usize = 64;
/// Where a browser would come back to; renewing a token sends nobody there.
const NOWHERE: &str = "http://127.0.0.1/callback";

/// A login as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KeptLogin {
    /// What the login is for, as the server named itself.
    pub(super) resource: String,
    pub(super) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// The authorization server as it was when the person signed in: no other one is given the tokens.
    pub(super) metadata: AuthorizationMetadata,
    pub(super) credentials: StoredCredentials,
    /// What the server wanted later, separated by spaces.
    #[serde(default)]
    pub(super) wanted: String,
}

impl KeptLogin {
    fn token(&self) -> Option<String> {
        Some(self.fields()?.get("access_token")?.as_str()?.to_owned())
    }

    /// Returns the answer of the authorization server.
    fn fields(&self) -> Option<Json> {
        serde_json::to_value(self.credentials.token_response.as_ref()?).ok()
    }

    /// Keeps what is secret in it out of everything that is shown.
    pub(super) fn note(&self) {
        let fields = self.fields();
        let text = |name: &str| fields.as_ref()?.get(name)?.as_str().map(str::to_owned);
        let tokens = ["access_token", "refresh_token", "id_token"].map(text);
        for token in tokens.into_iter().flatten().chain(self.client_secret.clone()) {
            note(token);
        }
    }

    /// Returns whether its token has ended, or is about to.
    fn is_stale(&self, now: u64) -> bool {
        let lasts = self
            .fields()
            .and_then(|fields| fields.get("expires_in")?.as_u64());
        let (Some(lasts), Some(since)) = (lasts, self.credentials.token_received_at) else {
            return false;
        };
        let left = lasts.saturating_sub(now.saturating_sub(since));
        left < EARLY.min(lasts / 2).max(1)
    }
}

/// Notes a token; of many, the oldest is worth nothing any more.
pub(super) fn note(token: String) {
    static NOTED: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
    let mut noted = NOTED.lock();
    secrets::note(&token);
    noted.retain(|known| *known != token);
    noted.push_back(token);
    while noted.len() > MAX_NOTED {
        let oldest = noted.pop_front();
        oldest.iter().for_each(|token| secrets::forget(token));
    }
}

/// Returns the name under which the login of a project to an address is kept, which says nothing of either.
pub(super) fn name_of(root: &Path, url: &str) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut hash = Sha256::new_with_prefix(root.as_os_str().as_encoded_bytes());
    hash.update(b"\n");
    hash.update(url);
    let hash = hash.finalize();
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

/// Performs work that waits for other programs, such as a keychain.
pub(super) async fn apart<T: Send + 'static>(
    logins: &Arc<dyn Logins>,
    work: impl FnOnce(&dyn Logins) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let logins = logins.clone();
    match tokio::task::spawn_blocking(move || work(&*logins)).await {
        Ok(done) => done,
        Err(error) => Err(error.to_string()),
    }
}

/// A connection's way to the login of its server.
#[derive(Debug)]
pub(super) struct Login {
    server: String,
    name: String,
    url: Url,
    /// The project's file says who asks.
    by_project: bool,
    logins: Option<Arc<dyn Logins>>,
    web: Mutex<Arc<Web>>,
    /// Why the server did not answer last.
    need: Mutex<Option<McpError>>,
}

impl Login {
    pub(super) fn new(
        server: &str,
        root: &Path,
        url: &Url,
        by_project: bool,
        logins: Option<Arc<dyn Logins>>,
        web: Arc<Web>,
    ) -> Self {
        Self {
            server: server.to_owned(),
            name: name_of(root, url.as_str()),
            url: url.clone(),
            by_project,
            logins,
            web: Mutex::new(web),
            need: Mutex::default(),
        }
    }

    /// Asks authorization servers within these grants from now on.
    pub(super) fn allow(&self, web: Arc<Web>) {
        *self.web.lock() = web;
    }

    /// Returns why the server did not answer, if a login is the reason.
    pub(super) fn need(&self) -> Option<McpError> {
        self.need.lock().clone()
    }

    /// Returns the token to send, if somebody has signed in.
    pub(super) async fn token(self: &Arc<Self>) -> Result<Option<String>, McpError> {
        let Some(kept) = self.kept().await? else {
            return Ok(None);
        };
        match kept.token() {
            Some(token) if kept.is_stale(now()) => self.renewed(&token).await,
            token => Ok(token),
        }
    }

    /// Returns a token in place of one that is refused or has ended: the one that somebody else has got meanwhile, or a
    /// new one. None when a person has to sign in. Goes on when nobody waits: the token for renewals is used up by then.
    pub(super) async fn renewed(self: &Arc<Self>, refused: &str) -> Result<Option<String>, McpError> {
        let (this, refused) = (self.clone(), refused.to_owned());
        match tokio::spawn(async move { this.renew(&refused).await }).await {
            Ok(renewed) => renewed,
            Err(error) => Err(self.not_renewed(error.to_string())),
        }
    }

    async fn renew(&self, refused: &str) -> Result<Option<String>, McpError> {
        let Some(logins) = &self.logins else {
            return Ok(None);
        };
        let _held = apart(logins, |logins| logins.hold())
            .await
            .map_err(|cause| self.not_renewed(cause))?;
        let Some(mut kept) = self.kept().await? else {
            return Ok(None);
        };
        match kept.token() {
            Some(token) if token == refused => {}
            other => return Ok(other),
        }
        let asked = self.ask(&kept).await?;
        match asked {
            Some(credentials) => kept.credentials = credentials,
            // It can be renewed no more.
            None if kept.has_renewal() => kept.credentials.token_response = None,
            None => return Ok(None),
        }
        kept.note();
        let token = kept.token();
        self.keep(logins, &kept).await?;
        Ok(token)
    }

    /// Asks the authorization server to renew a login. None when it refuses.
    async fn ask(&self, kept: &KeptLogin) -> Result<Option<StoredCredentials>, McpError> {
        let web = Arc::new(LoginWeb::new(&self.web.lock()));
        let store = InMemoryCredentialStore::new();
        let asking = async {
            let mut manager =
                AuthorizationManager::new_with_oauth_http_client(kept.resource.as_str(), web.clone()).await?;
            manager.set_metadata(kept.metadata.clone());
            let mut client = OAuthClientConfig::new(kept.client_id.clone(), NOWHERE);
            client.client_secret.clone_from(&kept.client_secret);
            manager.configure_client(client)?;
            store.save(kept.credentials.clone()).await?;
            manager.set_credential_store(store.clone());
            manager.refresh_token().await?;
            store.load().await
        };
        match asking.await {
            Ok(credentials) => Ok(credentials),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(None),
            Err(_) if web.refuses_client() => Ok(None),
            Err(error) => match web.denied() {
                Some(WebError::AccessDenied(denied)) => Err(denied.into()),
                Some(other) => Err(self.not_renewed(other.to_string())),
                None => Err(self.not_renewed(error.to_string())),
            },
        }
    }

    fn not_renewed(&self, cause: String) -> McpError {
        McpError::NotRenewed {
            server: self.server.clone(),
            cause,
        }
    }

    pub(super) async fn kept(&self) -> Result<Option<KeptLogin>, McpError> {
        let Some(logins) = &self.logins else {
            return Ok(None);
        };
        let name = self.name.clone();
        let text = apart(logins, move |logins| logins.get(&name))
            .await
            .map_err(|cause| self.not_renewed(cause))?;
        // One that another release has written is none.
        let kept: Option<KeptLogin> = text.and_then(|text| serde_json::from_str(&text).ok());
        kept.iter().for_each(KeptLogin::note);
        Ok(kept)
    }

    async fn keep(&self, logins: &Arc<dyn Logins>, kept: &KeptLogin) -> Result<(), McpError> {
        let name = self.name.clone();
        let text = serde_json::to_string(kept).map_err(|error| self.not_renewed(error.to_string()))?;
        apart(logins, move |logins| logins.set(&name, &text))
            .await
            .map_err(|cause| self.not_renewed(cause))
    }

    /// Takes note of an answer: whether the server wants a login, or more of it.
    pub(super) async fn learn(&self, status: StatusCode, challenge: Option<&str>) {
        let server = self.server.clone();
        if self.by_project {
            let cause = format!("HTTP {status}: it does not take the header Authorization of .mcp.json");
            let refused = status == StatusCode::UNAUTHORIZED;
            *self.need.lock() = refused.then_some(McpError::Refused { server, cause });
            return;
        }
        let challenge = challenge.map(|challenge| WWWAuthenticateParams::parse(challenge, &self.url));
        let need = match (status, challenge) {
            (StatusCode::UNAUTHORIZED, _) => match self.kept().await {
                Ok(None) => Some(SignInNeed::Missing),
                _ => Some(SignInNeed::Ended),
            },
            (StatusCode::FORBIDDEN, Some(challenge)) if challenge.is_insufficient_scope() => {
                let scope = challenge.scope.unwrap_or_default();
                self.want(&scope).await;
                Some(SignInNeed::Scope(scope))
            }
            _ => None,
        };
        *self.need.lock() = need.map(|need| McpError::SignIn { server, need });
    }

    /// Keeps in mind, for the next time that the person signs in, what else the server wants.
    async fn want(&self, scope: &str) {
        let Some(logins) = &self.logins else { return };
        let Ok(_held) = apart(logins, |logins| logins.hold()).await else {
            return;
        };
        if let Ok(Some(mut kept)) = self.kept().await
            && kept.wanted != scope
        {
            kept.wanted = scope.to_owned();
            let _ = self.keep(logins, &kept).await;
        }
    }

    /// Takes note that a request was not even sent.
    pub(super) fn fail(&self, error: McpError) {
        *self.need.lock() = Some(error);
    }
}

impl KeptLogin {
    fn has_renewal(&self) -> bool {
        self.fields()
            .is_some_and(|fields| fields.get("refresh_token").is_some())
    }
}

/// Requests to authorization servers, within the grants of a project. Errors of requests get lost on the way through rmcp,
/// so they are kept here.
pub(super) struct LoginWeb {
    web: Web,
    denied: Mutex<Option<WebError>>,
    /// Why the last request was refused, in the words of OAuth.
    refusal: Mutex<Option<String>>,
}

impl LoginWeb {
    pub(super) fn new(web: &Web) -> Self {
        Self {
            web: web.without_idle(),
            denied: Mutex::default(),
            refusal: Mutex::default(),
        }
    }

    /// Returns the first error of a request that had no answer.
    pub(super) fn denied(&self) -> Option<WebError> {
        self.denied.lock().clone()
    }

    fn refuses_client(&self) -> bool {
        let codes = ["invalid_grant", "invalid_client", "unauthorized_client"];
        (self.refusal.lock().as_deref()).is_some_and(|refusal| codes.contains(&refusal))
    }

    async fn send(&self, request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, WebError> {
        let OAuthHttpRequest {
            request,
            redirect_policy,
            ..
        } = request;
        let (parts, body) = request.into_parts();
        let url: Url = (parts.uri.to_string().parse())
            .map_err(|error| WebError::Failed(format!("{} is no address ({error})", parts.uri)))?;
        let follows = redirect_policy == OAuthHttpRedirectPolicy::Follow && parts.method == Method::GET;
        let mut response = if follows {
            let call = WebRequest {
                method: parts.method,
                url,
                headers: parts.headers,
                body: None,
            };
            self.web.send(call).await?
        } else {
            let request = self.web.client_for(&url)?.request(parts.method, url);
            let sent = request.headers(parts.headers).body(body).send().await;
            sent.map_err(|error| failure(&error))?
        };
        let mut answer = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            answer = answer.header(name, value);
        }
        let mut body = Vec::new();
        // A server that asks nobody for a login answers a look at its address with events, without an end.
        let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
        if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
            return (answer.body(body)).map_err(|error| WebError::Failed(error.to_string()));
        }
        while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(WebError::Failed(format!(
                    "it answered with more than {} MiB",
                    MAX_ANSWER >> 20
                )));
            }
            body.extend_from_slice(&chunk);
        }
        let refusal = serde_json::from_slice(&body).ok().and_then(|json: Json| {
            let refused = !response.status().is_success();
            json.get("error").filter(|_| refused)?.as_str().map(str::to_owned)
        });
        *self.refusal.lock() = refusal;
        (answer.body(body)).map_err(|error| WebError::Failed(error.to_string()))
    }
}

impl OAuthHttpClient for LoginWeb {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let sent = match tokio::time::timeout(ANSWER, self.send(request)).await {
                Ok(sent) => sent,
                Err(_) => Err(WebError::Failed(format!(
                    "it did not answer within {} s",
                    ANSWER.as_secs()
                ))),
            };
            sent.map_err(|error| {
                self.denied.lock().get_or_insert_with(|| error.clone());
                Box::new(error) as OAuthHttpClientError
            })
        })
    }
}
