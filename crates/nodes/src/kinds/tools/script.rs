//! Tools that are JavaScript functions, in the sandbox of `code` nodes.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use superstep::value::Object;
use superstep::{NodeContext, NodeError, Value};

use super::node::{NoAnswer, ToolResult};
use crate::kinds::code;
use crate::programs::javascript::{self, CodeError, Files, JavaScriptSource, Limits, Workers};
use crate::programs::requests::{Output, Owner};
use crate::registry::Site;
use superstep_document::text;

/// What the function of a tool is given.
const PARAMETERS: &str = "args, state, ctx";

/// A JavaScript function.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ScriptTool {
    /// Function body that uses `args` and `state` and returns text or JSON for the model; or a module with the function as
    /// its default export.
    #[schemars(title = "Source", extend("x-editor" = "code", "x-language" = "javascript"))]
    pub source: String,
    /// Limits the processor time of the function.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Timeout (ms)", range(min = 1, max = 600_000))]
    pub timeout_ms: u64,
    /// Limits the memory of the function.
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

impl ScriptTool {
    pub(super) fn check(&self, site: &mut Site<'_>, pointer: &str) {
        if let Err(error) = javascript::check(&self.source, PARAMETERS) {
            site.error(
                "code-syntax",
                &format!("{pointer}/source"),
                error.of_source(),
                text!("Correct the JavaScript."),
            );
        }
    }

    /// Converts the script to its callable form; `files` are the modules that it may import, `workers` run it.
    pub(super) fn program(self, files: Option<Files>, workers: Arc<Workers>) -> code::JavaScriptProgram {
        code::JavaScriptProgram {
            source: JavaScriptSource::new(self.source, PARAMETERS),
            files,
            workers,
            limits: Limits::new(
                Duration::from_millis(self.timeout_ms),
                self.memory_mb.saturating_mul(1024 * 1024),
            ),
        }
    }
}

/// Calls it.
pub(super) async fn run(
    context: &NodeContext,
    script: code::JavaScriptProgram,
    name: &str,
    args: Object,
    state: Value,
) -> ToolResult {
    let given = vec![Value::Object(args), state];
    let ended = code::run(context, Owner::Tool(name), script, given).await;
    match ended.map_err(NoAnswer::Stop)? {
        Ok(output) => answer_text(output).map(Into::into).map_err(NoAnswer::Failed),
        Err(CodeError::Cancelled) => Err(NoAnswer::Stop(NodeError::Cancelled)),
        Err(error) => Err(NoAnswer::Failed(
            error.to_string().trim_end_matches('.').to_owned(),
        )),
    }
}

/// Returns a function's result in the form that the model gets.
pub(super) fn answer_text(output: Output) -> Result<String, String> {
    match output {
        Output::Update(Value::String(text)) => Ok(text.to_string()),
        Output::Update(value) => Ok(value.to_string()),
        _ => {
            Err("the function returned a Command, which only nodes may; it returns text, or JSON".to_owned())
        }
    }
}
