//! The built interface. Any address that is no file is the one page, so that a reload finds its place again.

use std::io;
use std::path::{Component, Path, PathBuf};

use axum::extract::State;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::App;

/// No remote content; the page talks to this server only.
const POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; \
    img-src 'self' data: blob:; worker-src 'self' blob:; connect-src 'self' ws://127.0.0.1:* ws://localhost:*; \
    object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const NO_UI: &str = "<!doctype html><meta charset=\"utf-8\"><title>Superstep</title>\
    <p>The interface is not built. Run <code>npm run build</code> in <code>ui</code> and start the server again.</p>";

fn content_type(path: &Path) -> &'static str {
    match path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
    {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "ttf" => "font/ttf",
        "wasm" => "application/wasm",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Returns the file that an address names, if it stays inside the folder. Percent escapes are not decoded: the names of
/// built files have none.
fn inside(dir: &Path, address: &str) -> Option<PathBuf> {
    let relative = Path::new(address.trim_start_matches('/'));
    relative
        .components()
        .all(|part| matches!(part, Component::Normal(_)))
        .then(|| dir.join(relative))
}

pub(crate) async fn serve_file(State(app): State<App>, method: Method, uri: Uri) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let Some(dir) = app.ui_dir.as_deref() else {
        return page(StatusCode::OK, NO_UI.into());
    };
    let wanted = uri.path().trim_start_matches('/');
    let named = if wanted.is_empty() {
        None
    } else {
        inside(dir, wanted)
    };
    if let Some(path) = named {
        match tokio::fs::read(&path).await {
            Ok(bytes) if path.extension().is_some_and(|extension| extension == "html") => {
                return page(StatusCode::OK, bytes);
            }
            Ok(bytes) => {
                // Built assets have the hash of their content in their name.
                let cache = if wanted.starts_with("assets/") {
                    "public, max-age=31536000, immutable"
                } else {
                    "no-cache"
                };
                let headers = [
                    (header::CONTENT_TYPE, content_type(&path)),
                    (header::CACHE_CONTROL, cache),
                ];
                return (headers, bytes).into_response();
            }
            Err(error)
                if !matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::IsADirectory
                ) =>
            {
                tracing::warn!(path = %path.display(), %error, "a file of the interface could not be read");
            }
            Err(_) => {}
        }
    }
    if Path::new(wanted).extension().is_some() {
        return (StatusCode::NOT_FOUND, "no such file\n").into_response();
    }
    match tokio::fs::read(dir.join("index.html")).await {
        Ok(bytes) => page(StatusCode::OK, bytes),
        Err(_) => page(StatusCode::OK, NO_UI.into()),
    }
}

fn page(status: StatusCode, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (status, headers, bytes).into_response()
}

/// Gives every answer what keeps a browser from making more of it than it is.
pub(crate) async fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
    response
}
