//! Tools that are JavaScript functions, in the sandbox of `code` nodes.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use superstep::{NodeContext, NodeError, Object, Value};

use super::node::{Said, Unsaid};
use crate::kind::Site;
use crate::kinds::code;
use crate::sandbox::{self, CodeError, Limits};

/// A JavaScript function.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Script {
    /// Body of a function that sees `args`, `state` and `store`, and returns what the model is told: text, or JSON.
    #[schemars(title = "Source", extend("x-editor" = "code", "x-language" = "javascript"))]
    pub source: String,
    /// Running time after which it is stopped, in milliseconds.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Time limit (ms)", range(min = 1, max = 600_000))]
    pub timeout_ms: u64,
    /// Memory it may use, in megabytes.
    #[serde(default = "default_memory")]
    #[schemars(title = "Memory limit (MB)", range(min = 1, max = 2048))]
    pub memory_mb: usize,
}

fn default_timeout() -> u64 {
    1000
}
fn default_memory() -> usize {
    64
}

impl Script {
    /// The body with its arguments by name, on the first line, so that lines keep their numbers.
    fn body(&self) -> String {
        format!("const args = state.args; state = state.state; {}", self.source)
    }

    pub(super) fn check(&self, site: &mut Site<'_>, pointer: &str) {
        if let Err(error) = sandbox::check(&self.body()) {
            let message = match error {
                CodeError::Syntax { message, line } => {
                    let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
                    format!("The code cannot be read{line}: {message}.")
                }
                other => format!("The code cannot be compiled: {other}"),
            };
            site.error(
                "code-syntax",
                &format!("{pointer}/source"),
                message,
                "Correct the JavaScript.",
            );
        }
    }

    pub(super) async fn run(&self, context: &NodeContext, name: &str, args: Object, state: Value) -> Said {
        let limits = Limits {
            timeout: Duration::from_millis(self.timeout_ms),
            memory: self.memory_mb.saturating_mul(1024 * 1024),
        };
        let given = Value::Object(
            [("args", Value::Object(args)), ("state", state)]
                .into_iter()
                .collect(),
        );
        let line = |line: String| superstep::json!({"log": line, "tool": name});
        match code::run(context, self.body().into(), given, limits, line).await {
            Ok(Value::String(text)) => Ok(text.to_string().into()),
            Ok(value) => Ok(value.to_string().into()),
            Err(CodeError::Cancelled) => Err(Unsaid::Stop(NodeError::Cancelled)),
            Err(error) => Err(Unsaid::Failed(error.to_string().trim_end_matches('.').to_owned())),
        }
    }
}
