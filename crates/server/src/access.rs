//! Who may come in.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use superstep_workbench::wire::Problem;

use crate::{App, problem};

/// The token, and the names under which we are reached.
#[derive(Debug)]
pub struct Access {
    token: String,
    cookie: String,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Access {
    /// For a server on 127.0.0.1 at `port`; a random token when none is given.
    pub fn new(port: u16, token: Option<String>, allowed_origins: Vec<String>) -> Self {
        let random = || {
            format!(
                "{}{}",
                uuid::Uuid::new_v4().simple(),
                uuid::Uuid::new_v4().simple()
            )
        };
        let hosts: Vec<String> = ["127.0.0.1", "localhost", "[::1]"]
            .map(|host| format!("{host}:{port}"))
            .into();
        let mut origins: Vec<String> = hosts.iter().map(|host| format!("http://{host}")).collect();
        origins.extend(allowed_origins);
        Access {
            token: token.filter(|token| !token.is_empty()).unwrap_or_else(random),
            // Cookies ignore the port; two servers on one machine must not overwrite each other's.
            cookie: format!("superstep_{port}"),
            hosts,
            origins,
        }
    }

    /// The token.
    pub fn token(&self) -> &str {
        &self.token
    }

    fn is_token(&self, given: &str) -> bool {
        // Every byte is looked at, so that the time tells nothing about the token.
        let (given, token) = (given.as_bytes(), self.token.as_bytes());
        given.len() == token.len() && given.iter().zip(token).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "))
            .is_some_and(|token| self.is_token(token.trim()));
        bearer
            || headers
                .get_all(header::COOKIE)
                .iter()
                .filter_map(|value| value.to_str().ok())
                .flat_map(|cookies| cookies.split(';'))
                .filter_map(|cookie| cookie.trim().split_once('='))
                .any(|(name, value)| name == self.cookie && self.is_token(value))
    }

    fn knows_host(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).is_some_and(|host| self.hosts.iter().any(|known| known == host));
        let origin = headers.get(header::ORIGIN).is_none()
            || text(header::ORIGIN).is_some_and(|origin| self.origins.iter().any(|known| known == origin));
        host && origin
    }
}

/// Refuses requests from other sites, and gives the cookie to whoever comes with the token in the address.
pub(crate) async fn check_origin(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    if !app.access.knows_host(request.headers()) {
        return problem(
            &Problem::new("forbidden", "This request comes from another site.")
                .remedy("Open the address that the server printed, with 127.0.0.1 or localhost."),
        );
    }
    if let Some((token, rest)) = token_in(request.uri()) {
        if !app.access.is_token(&token) {
            return problem(&wrong_token());
        }
        let cookie = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            app.access.cookie, app.access.token
        );
        // The token leaves the address bar and the history.
        return (
            StatusCode::SEE_OTHER,
            [(header::LOCATION, rest), (header::SET_COOKIE, cookie)],
        )
            .into_response();
    }
    next.run(request).await
}

/// Refuses whoever has no token.
pub(crate) async fn require_token(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    if app.access.has_token(request.headers()) {
        next.run(request).await
    } else {
        problem(&wrong_token())
    }
}

fn wrong_token() -> Problem {
    Problem::new(
        "unauthorized",
        "This browser is not let in: the token is missing or is that of another server.",
    )
    .remedy("Open the address that the server printed when it started.")
}

/// The token of `/?token=…` and the address without it.
fn token_in(uri: &Uri) -> Option<(String, String)> {
    let mut token = None;
    let rest: Vec<&str> = uri
        .query()?
        .split('&')
        .filter(|pair| match pair.strip_prefix("token=") {
            Some(value) => {
                token = Some(value.to_owned());
                false
            }
            None => !pair.is_empty(),
        })
        .collect();
    // One slash only: `//host` would lead to another site.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    Some((
        token?,
        if rest.is_empty() {
            path
        } else {
            format!("{path}?{}", rest.join("&"))
        },
    ))
}
