//! `code`: a JavaScript function of the state, in a sandbox.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::{BoxFuture, Node, NodeContext, NodeError, NodeOutput, Value};
use superstep_document::Diagnostic;

use crate::kind::{BuildSite, KindInfo, NodeKind, Site, schema_of};
use crate::program::{self, Output, Owner};
use crate::sandbox::{self, CodeError, Files, JsEvent, Limits};

/// Settings of a `code` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Runs JavaScript.")]
pub struct CodeConfig {
    /// Body of a JavaScript function that sees `state` and returns an update or a `Command`; or a module whose default
    /// export is the function.
    #[schemars(title = "Source", extend("x-editor" = "code", "x-language" = "javascript"))]
    pub source: String,
    /// Running time after which the code is stopped, in milliseconds.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Time limit (ms)", range(min = 1, max = 600_000))]
    pub timeout_ms: u64,
    /// Memory the code may use, in megabytes.
    #[serde(default = "default_memory")]
    #[schemars(title = "Memory limit (MB)", range(min = 1, max = 2048))]
    pub memory_mb: u64,
}

fn default_timeout() -> u64 {
    1000
}
fn default_memory() -> u64 {
    64
}

/// The kind. It remembers which sources it has compiled, because a document is checked on every keystroke.
#[derive(Default)]
pub struct Code {
    checked: Mutex<HashMap<String, Result<(), CodeError>>>,
}

/// What the function of a node is given.
const PARAMETERS: &str = "state, ctx";
/// Sources that are remembered.
const REMEMBERED: usize = 4096;

impl Code {
    fn syntax(&self, source: &str) -> Result<(), CodeError> {
        let lock = || {
            self.checked
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
        };
        if let Some(known) = lock().get(source) {
            return known.clone();
        }
        let result = sandbox::check(source, PARAMETERS);
        let mut checked = lock();
        if checked.len() >= REMEMBERED {
            checked.clear();
        }
        checked.insert(source.to_owned(), result.clone());
        result
    }
}

impl NodeKind for Code {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "code",
            title: "Code",
            summary: "Runs JavaScript on the state, without access to files or the network.",
            icon: "code",
            group: "code",
            config_schema: schema_of::<CodeConfig>(),
            defaults: json!({"source": "return {};", "timeout_ms": default_timeout(), "memory_mb": default_memory()}),
            card: &["/source"],
        }
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<CodeConfig>() else {
            return;
        };
        match self.syntax(&config.source) {
            Ok(()) => {}
            Err(CodeError::Syntax { message, line }) => {
                let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
                site.error(
                    "code-syntax",
                    "/source",
                    format!("The code cannot be read{line}: {message}."),
                    "Correct the JavaScript.",
                );
            }
            Err(other) => site.error(
                "code-syntax",
                "/source",
                format!("The code cannot be compiled: {other}"),
                "Make it shorter.",
            ),
        }
        // What a program touches is not known before it runs; how a name stands in it is a good guess for "who uses this key".
        let names: Vec<String> = site.keys.names().map(str::to_owned).collect();
        for name in names {
            if stands(&config.source, &name, |before, _| before == Some('.')) {
                site.usage.reads.insert(name.clone());
            }
            let as_member = |before: Option<char>, after: Option<char>| {
                matches!(before, Some('{' | ',')) && matches!(after, Some(':' | ',' | '}'))
            };
            if stands(&config.source, &name, as_member) {
                site.usage.writes.insert(name);
            }
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: CodeConfig = site.parse()?;
        let limits = Limits {
            timeout: Duration::from_millis(config.timeout_ms),
            memory: usize::try_from(config.memory_mb)
                .unwrap_or(usize::MAX)
                .saturating_mul(1024 * 1024),
        };
        Ok(Arc::new(CodeNode {
            name: site.node.into(),
            source: config.source.into(),
            files: site.files(),
            limits,
        }))
    }
}

/// Does `name` stand in `source` as a word, between characters (spaces aside) that `fits` accepts?
fn stands(source: &str, name: &str, fits: impl Fn(Option<char>, Option<char>) -> bool) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    source.match_indices(name).any(|(at, _)| {
        let (before, after) = (&source[..at], &source[at + name.len()..]);
        let whole = !before.ends_with(in_word) && !after.starts_with(in_word);
        whole
            && fits(
                before.trim_end().chars().next_back(),
                after.trim_start().chars().next(),
            )
    })
}

struct CodeNode {
    name: Arc<str>,
    source: Arc<str>,
    files: Option<Files>,
    limits: Limits,
}

/// Stops the program when the task is dropped in the middle of it.
struct Brake(Arc<AtomicBool>);

impl Drop for Brake {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Node for CodeNode {
    fn run(&self, context: NodeContext, input: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        Box::pin(async move {
            let script = Script {
                source: self.source.clone(),
                parameters: PARAMETERS.into(),
                files: self.files.clone(),
                limits: self.limits,
            };
            match run(&context, Owner::Node(&self.name), script, vec![input]).await? {
                Ok(output) => Ok(output.into()),
                Err(CodeError::Cancelled) => Err(NodeError::Cancelled),
                Err(error) => Err(NodeError::new(
                    program::CLASS,
                    format!("node {}: {error}", self.name),
                )),
            }
        })
    }
}

/// A JavaScript program that a node runs.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) source: Arc<str>,
    /// Names of what it is given.
    pub(crate) parameters: Arc<str>,
    pub(crate) files: Option<Files>,
    pub(crate) limits: Limits,
}

/// Runs a program on a thread beside the task that needs it; it is stopped when the run is.
pub(crate) async fn run(
    context: &NodeContext,
    owner: Owner<'_>,
    script: Script,
    given: Vec<Value>,
) -> Result<Result<Output, CodeError>, NodeError> {
    let brake = Brake(Arc::default());
    let stop = brake.0.clone();
    let (events, inbox) = tokio::sync::mpsc::channel(program::UNHEARD);
    let (tell, told) = std::sync::mpsc::channel();
    let mut place = program::place(context);
    if let Value::Object(place) = &mut place {
        place.insert("store", context.store().is_some());
    }
    tokio::task::spawn_blocking(move || {
        let said = events.clone();
        let line = sandbox::Line {
            say: Box::new(move |request| said.blocking_send(JsEvent::Said(request)).is_ok()),
            told,
        };
        let Script {
            source,
            parameters,
            files,
            limits,
        } = script;
        let program = sandbox::Program {
            source: &source,
            parameters: &parameters,
            given: &given,
            files,
            place: &place,
        };
        let end = sandbox::run(&program, limits, &stop, line);
        let _ = events.blocking_send(JsEvent::Ended(end));
    });
    let tell = move |told| drop(tell.send(told));
    let lost = || CodeError::Machine("it ended in the middle of a program".to_owned());
    program::serve(context, owner, inbox, tell, lost).await
}
