//! HTTP host of the workbench and of the built interface, for browsers, tests and remote machines.
//!
//! It carries bytes and decides who may come in; everything else is the workbench's. It listens on loopback only. The
//! address that it prints has a token behind the `#`, which no request holds: the page keeps it for its own origin and
//! sends it with every command and with the event stream. There is no cookie, which browsers would show to every other
//! port of this machine. The `Host` and `Origin` of a request must be our own, so that neither a page from elsewhere nor
//! a name that was pointed at 127.0.0.1 can use somebody's open workbench.

mod access;
mod connections;
mod files;
mod problem;
mod requests;

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Router, middleware};
use futures::StreamExt;
use superstep_workbench::Workbench;
use superstep_workbench::wire::Problem;

pub use access::Access;

/// The largest request; a graph of 100,000 nodes fits.
const MAX_BODY: usize = 64 << 20;
/// Longest time in which nothing comes of the body of a request. Who sends one has shown the token, so this is for a client
/// that has stopped, not for one that is slow.
const PIECE_WITHIN: Duration = Duration::from_secs(60);

/// Options for serving.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// The built interface (`ui/dist`); without it only commands and events are served.
    pub ui_dir: Option<PathBuf>,
    /// The token; a random one when absent.
    pub token: Option<String>,
    /// Other origins that may send requests, e.g. a development server's.
    pub allowed_origins: Vec<String>,
}

/// Address at which the server listens.
#[derive(Clone, Debug)]
pub struct Served {
    /// Address and port.
    pub address: SocketAddr,
    /// The token.
    pub token: String,
    /// What to open in a browser.
    pub url: String,
}

/// Serves until `stop` is ready, then closes gracefully: unsaved changes are kept, open connections get a moment to
/// end. `ready` is called once the server listens.
pub async fn serve(
    workbench: Arc<Workbench>,
    options: ServeOptions,
    ready: impl FnOnce(&Served),
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    use anyhow::Context;
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
        .await
        .with_context(|| {
            format!(
                "cannot listen on 127.0.0.1:{}; another program may use the port, choose another one",
                options.port
            )
        })?;
    let address = listener
        .local_addr()
        .context("cannot read the address of the listening socket")?;
    let access = Access::new(
        address.port(),
        options.token.clone(),
        options.allowed_origins.clone(),
    );
    let served = Served {
        address,
        token: access.token().to_owned(),
        url: format!("http://127.0.0.1:{}/#token={}", address.port(), access.token()),
    };
    let router = router(workbench.clone(), access, options.ui_dir.clone());
    ready(&served);
    let stop = async move {
        stop.await;
        // Ends the event streams, which would otherwise keep their connections open for ever.
        workbench.shutdown().await;
    };
    connections::serve(listener, router, stop).await;
    Ok(())
}

#[derive(Clone, Debug)]
struct App {
    workbench: Arc<Workbench>,
    access: Arc<Access>,
    requests: Arc<requests::Requests>,
    ui_dir: Option<Arc<PathBuf>>,
}

/// Creates a router with all routes. Public so that another server can include the workbench.
pub fn router(workbench: Arc<Workbench>, access: Access, ui_dir: Option<PathBuf>) -> Router {
    let app = App {
        workbench,
        access: Arc::new(access),
        requests: Arc::new(requests::Requests::new()),
        ui_dir: ui_dir.map(Arc::new),
    };
    let guarded = Router::new()
        .route("/rpc/{command}", post(rpc))
        .route("/events", get(events))
        .route_layer(middleware::from_fn_with_state(app.clone(), access::require_token));
    Router::new()
        .merge(guarded)
        .route("/healthz", get(|| async { "ok\n" }))
        .fallback(files::serve_file)
        .layer(middleware::from_fn_with_state(app.clone(), access::check_origin))
        .layer(middleware::map_response(files::secured))
        .layer(middleware::from_fn(connections::make_way))
        .with_state(app)
}

/// Reads the whole body of a request, up to a size and for as long as something comes.
async fn body_of(body: Body) -> Result<Bytes, Response> {
    let refused = |status: StatusCode, code: &str, message: String| {
        let mut refusal = problem::answer(&Problem::new(code, message));
        *refusal.status_mut() = status;
        refusal
    };
    let (mut pieces, mut whole) = (body.into_data_stream(), Vec::new());
    loop {
        match tokio::time::timeout(PIECE_WITHIN, pieces.next()).await {
            Ok(None) => return Ok(whole.into()),
            Ok(Some(Ok(piece))) if whole.len() + piece.len() <= MAX_BODY => whole.extend_from_slice(&piece),
            Ok(Some(Ok(_))) => {
                let message = format!("The request is larger than {} MB.", MAX_BODY >> 20);
                return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, "too-large", message));
            }
            Ok(Some(Err(error))) => {
                let message = format!("The request cannot be read: {error}.");
                return Err(refused(StatusCode::BAD_REQUEST, "invalid-request", message));
            }
            Err(_) => {
                let message = format!("Nothing of the request came for {} s.", PIECE_WITHIN.as_secs());
                return Err(refused(StatusCode::REQUEST_TIMEOUT, "too-slow", message));
            }
        }
    }
}

async fn rpc(State(app): State<App>, Path(command): Path<String>, request: Request) -> Response {
    match body_of(request.into_body()).await {
        Ok(body) => app
            .requests
            .answer(&app.workbench, command, body)
            .await
            .into_response(),
        Err(refusal) => refusal,
    }
}

async fn events(State(app): State<App>, upgrade: WebSocketUpgrade) -> Response {
    // Listening begins before the handshake is answered: a client with an open socket misses nothing.
    let subscription = app.workbench.subscribe();
    let upgrade = upgrade.protocols([access::PROTOCOL]);
    upgrade.on_upgrade(move |socket| send_events(socket, subscription))
}

async fn send_events(mut socket: WebSocket, mut subscription: superstep_workbench::Subscription) {
    // A browser that went away without a word is noticed by the ping.
    let mut ping = tokio::time::interval(Duration::from_secs(20));
    ping.tick().await;
    loop {
        let message = tokio::select! {
            batch = subscription.next() => match batch.map(|batch| serde_json::to_string(&batch)) {
                Some(Ok(text)) => Message::Text(text.into()),
                Some(Err(error)) => {
                    tracing::error!(%error, "a batch of events could not be written");
                    continue;
                }
                None => break,
            },
            incoming = socket.recv() => match incoming {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            _ = ping.tick() => Message::Ping(Bytes::new()),
        };
        if socket.send(message).await.is_err() {
            return;
        }
    }
    let _ = socket.send(Message::Close(None)).await;
}
