//! Who may come in.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, header};
use axum::middleware::Next;
use axum::response::Response;
use superstep_workbench::wire::Problem;

use crate::connections::Guest;
use crate::{App, problem};

/// The protocol of the event stream. Pages cannot give a socket a header, so the token comes beside it, as
/// [`TOKEN_PROTOCOL`] and its bytes in hex.
pub(crate) const PROTOCOL: &str = "superstep";
const TOKEN_PROTOCOL: &str = "superstep.token.";

/// The token, and the names under which we are reached.
#[derive(Debug)]
pub struct Access {
    token: String,
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Access {
    /// Creates the access to a server on 127.0.0.1 at `port`; with a random token if none is given.
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
            hosts,
            origins,
        }
    }

    /// Returns the token.
    pub fn token(&self) -> &str {
        &self.token
    }

    fn is_token(&self, given: &str) -> bool {
        // Every byte is looked at, so that the time reveals nothing about the token.
        let (given, token) = (given.as_bytes(), self.token.as_bytes());
        given.len() == token.len() && given.iter().zip(token).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "))
            .is_some_and(|token| self.is_token(token.trim()));
        let socket = || {
            let protocols = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
            protocols
                .filter_map(|value| value.to_str().ok())
                .flat_map(|protocols| protocols.split(','))
                .filter_map(|protocol| text_of(protocol.trim().strip_prefix(TOKEN_PROTOCOL)?))
                .any(|token| self.is_token(&token))
        };
        bearer || socket()
    }

    fn knows_host(&self, headers: &HeaderMap) -> bool {
        // A header that is there twice is read differently by different programs.
        let text = |name: HeaderName| {
            let mut values = headers.get_all(name).iter();
            let first = values.next()?;
            Some(values.next().is_none().then(|| first.to_str().ok()).flatten())
        };
        let host = text(header::HOST).flatten();
        let origin = text(header::ORIGIN);
        host.is_some_and(|host| self.hosts.iter().any(|known| known == host))
            && origin.is_none_or(|origin| {
                origin.is_some_and(|origin| self.origins.iter().any(|known| known == origin))
            })
    }
}

/// Decodes the text whose bytes are given in hex.
fn text_of(hex: &str) -> Option<String> {
    let digits: Vec<u8> = (hex
        .chars()
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())))
    .collect::<Option<_>>()?;
    let bytes = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(high << 4 | low),
        _ => None,
    });
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

/// Refuses requests from other sites.
pub(crate) async fn check_origin(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    if !app.access.knows_host(request.headers()) {
        return problem::answer(
            &Problem::new("forbidden", "This request comes from another site.")
                .remedy("Open the address that the server printed, with 127.0.0.1 or localhost."),
        );
    }
    next.run(request).await
}

/// Refuses requests without the token.
pub(crate) async fn require_token(State(app): State<App>, request: Request<Body>, next: Next) -> Response {
    if app.access.has_token(request.headers()) {
        if let Some(guest) = request.extensions().get::<Guest>() {
            guest.admit();
        }
        next.run(request).await
    } else {
        problem::answer(&wrong_token())
    }
}

fn wrong_token() -> Problem {
    Problem::new(
        "unauthorized",
        "This browser is not let in: the token is missing or is that of another server.",
    )
    .remedy("Open the address that the server printed when it started, with what stands behind the #.")
}
