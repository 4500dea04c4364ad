//! What a program says about itself, for every host: lines on standard error, without keys.

use std::io::{self, IsTerminal as _};

use superstep_nodes::secrets::RedactedLog;
use tracing::Subscriber;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer};

/// The environment variable that says what is logged.
const VARIABLE: &str = "SUPERSTEP_LOG";

/// Writes to standard error what `SUPERSTEP_LOG` asks for, or else what is `usual` (`error`, `warn`). Keys that graphs were
/// given are taken out of every line; a host that writes a log in another way would show them. What a
/// model server refuses is in the failure of the node, so the library's own lines about it are left out.
pub fn log<S>(usual: &str) -> impl Layer<S> + Send + Sync + use<S>
where
    S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync,
{
    let filter =
        EnvFilter::try_from_env(VARIABLE).unwrap_or_else(|_| EnvFilter::new(format!("{usual},genai=off")));
    tracing_subscriber::fmt::layer()
        .with_writer(|| RedactedLog(io::stderr()))
        // Colours are for people at a terminal, not for files.
        .with_ansi(io::stderr().is_terminal())
        .with_filter(filter)
}
