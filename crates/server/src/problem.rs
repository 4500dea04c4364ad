//! Problems as answers of HTTP.

use axum::Json as JsonBody;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use superstep_workbench::wire::Problem;

/// Returns the status of a problem: 4xx is for the caller to correct, 5xx for us.
pub(crate) fn status(problem: &Problem) -> StatusCode {
    match problem.code.as_str() {
        "invalid-request" => StatusCode::BAD_REQUEST,
        "unauthorized" => StatusCode::UNAUTHORIZED,
        "forbidden" => StatusCode::FORBIDDEN,
        "not-found" => StatusCode::NOT_FOUND,
        "conflict" | "busy" | "thread-busy" | "superseded" | "changed-on-disk" | "file-exists"
        | "file-open" | "already-answered" => StatusCode::CONFLICT,
        "internal" => StatusCode::INTERNAL_SERVER_ERROR,
        "disk-full" | "storage" => StatusCode::INSUFFICIENT_STORAGE,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

/// Converts a problem to a response with its status.
pub(crate) fn answer(problem: &Problem) -> Response {
    (status(problem), JsonBody(problem)).into_response()
}
