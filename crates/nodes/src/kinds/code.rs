//! `code`: a function of the state, in JavaScript in a sandbox or in the project's Python.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::{Diagnostic, END};

use crate::base::config_schema::schema_of;
use crate::programs::javascript::{
    self, CodeError, Files, JavaScriptCall, JavaScriptSource, Limits, Workers,
};
use crate::programs::python::{self, PythonFunction, PythonWork};
use crate::programs::requests::{self, Output, Owner};
use crate::registry::{BuildSite, KindInfo, NodeKind, Site};
use superstep_document::suggest;
use superstep_document::text;

/// A language of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum Language {
    /// In a sandbox, without access to anything.
    #[default]
    JavaScript,
    /// In the project's own interpreter.
    Python,
}

/// Settings of a `code` node.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "Runs JavaScript or Python.")]
#[schemars(extend("x-form" = crate::base::config_schema::form_layout(&["language", "source", "module", "function"], &[("Secrets", &["variables"]), ("Destinations", &["destinations"]), ("Limits", &["timeout_ms", "memory_mb"])])))]
pub struct CodeConfig {
    /// `javascript` runs in a sandbox, `python` in the project's interpreter.
    #[serde(default)]
    #[schemars(title = "Language")]
    pub language: Language,
    /// Function body that uses `state` and returns an update or a `Command`; or the function itself, in JavaScript the
    /// default export of a module.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(title = "Source", extend("x-editor" = "code", "x-language-of" = "language"))]
    pub source: String,
    /// Python file with the function, relative to the graph's folder, instead of a source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Module", extend("x-if" = json!({"language": "python"})))]
    pub module: Option<String>,
    /// Name of the Python function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Function", extend("x-if" = json!({"language": "python"})))]
    pub function: Option<String>,
    /// Lets the Python function read these secrets and environment variables, and no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Secrets and environment variables", with = "Vec<crate::base::config_schema::SecretName>", extend("x-if" = json!({"language": "python"})))]
    pub variables: Vec<String>,
    /// Nodes that a `Command` may go to, for the canvas to draw; a Python function can declare them in its return annotation:
    /// `Command[Literal["a", "b"]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(title = "Destinations", extend("x-leads-to" = json!({})))]
    pub destinations: Vec<String>,
    /// Limits the processor time of JavaScript (a second without it) and the running time of Python (a minute without it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Timeout (ms)", range(min = 1, max = 86_400_000))]
    pub timeout_ms: Option<u64>,
    /// Limits the memory of the JavaScript code.
    #[serde(default = "default_memory")]
    #[schemars(title = "Memory limit (MB)", range(min = 1, max = 2048), extend("x-if" = json!({"language": "javascript"})))]
    pub memory_mb: u64,
}

impl CodeConfig {
    fn python(&self) -> PythonFunction {
        PythonFunction {
            module: self.module.clone(),
            function: self.function.clone(),
            source: Some(self.source.clone()),
            variables: self.variables.clone(),
            timeout_ms: self.timeout_ms.unwrap_or_else(python::default_timeout),
        }
    }
}

/// Running time of JavaScript, in milliseconds.
const JAVASCRIPT_TIMEOUT: u64 = 1000;

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
        let lock = || self.checked.lock();
        if let Some(known) = lock().get(source) {
            return known.clone();
        }
        let result = javascript::check(source, PARAMETERS);
        let mut checked = lock();
        if checked.len() >= REMEMBERED {
            checked.clear();
        }
        checked.insert(source.to_owned(), result.clone());
        result
    }
}

impl Code {
    fn check_script(&self, site: &mut Site<'_>, config: &CodeConfig) {
        if config.source.is_empty() {
            let remedy = text!("Write the body of a function.");
            site.error(
                "missing-setting",
                "/source",
                text!("The setting `source` is missing."),
                remedy,
            );
        }
        for (name, set) in [
            ("module", config.module.is_some()),
            ("function", config.function.is_some()),
        ] {
            if set {
                let message = text!("The setting `{name}` is for Python.", name);
                site.warning(
                    "unknown-setting",
                    &format!("/{name}"),
                    message,
                    text!("Remove it, or set the language to python."),
                );
            }
        }
        match self.syntax(&config.source) {
            Ok(()) => {}
            Err(error) => {
                let remedy = match error {
                    CodeError::Syntax { .. } => text!("Correct the JavaScript."),
                    _ => text!("Make it shorter."),
                };
                site.error("code-syntax", "/source", error.of_source(), remedy);
            }
        }
    }
}

/// Guesses which keys a program uses, which is not known before it runs; the way a name appears in it is a good guess
/// for "who uses this key".
fn guess(site: &mut Site<'_>, source: &str) {
    let names: Vec<String> = site.keys.names().map(str::to_owned).collect();
    for name in names {
        let quote = |c: Option<char>| matches!(c, Some('"' | '\''));
        let read =
            |before: Option<char>, after: Option<char>| before == Some('.') || quote(before) && quote(after);
        if stands(source, &name, read) {
            site.usage.reads.insert(name.clone());
        }
        let as_member = |before: Option<char>, after: Option<char>| {
            matches!(before, Some('{' | ',')) && matches!(after, Some(':' | ',' | '}'))
        };
        let quoted = [format!("\"{name}\":"), format!("'{name}':")];
        if stands(source, &name, as_member) || quoted.iter().any(|text| source.contains(text)) {
            site.usage.writes.insert(name);
        }
    }
}

/// Notes where the node may go without an edge, and says when that is nowhere. `annotated` is a program that says so.
fn leads_to(site: &mut Site<'_>, pointer: &str, to: &str, annotated: Option<&str>) {
    site.usage.dynamic_targets.insert(to.to_owned());
    if to != END && !site.nodes.contains_key(to) {
        let names = || site.nodes.keys().copied();
        let hint = suggest::did_you_mean(to, names());
        let known = suggest::listing(names());
        let (message, remedy) = match annotated {
            None => (
                text!("There is no node `{to}` to go to.{hint}", to, hint),
                text!("Name a node of this graph: {known}.", known),
            ),
            Some(program) => (
                text!(
                    "{program} says in its return annotation that it goes to `{to}`, and there is no such node.{hint}",
                    program,
                    to,
                    hint
                ),
                text!(
                    "Name a node of this graph in the `Literal[…]` of the annotation: {known}.",
                    known
                ),
            ),
        };
        site.error("unknown-node", pointer, message, remedy);
    }
}

impl NodeKind for Code {
    fn info(&self) -> KindInfo {
        KindInfo {
            kind: "code",
            title: "Code",
            summary: "Runs JavaScript in a sandbox, or a Python function of the project.",
            icon: "code",
            group: "code",
            aliases: &[
                "js",
                "javascript",
                "python",
                "py",
                "function",
                "script",
                "custom",
                "transform",
                "parse",
                "json",
                "csv",
                "sql",
                "lambda",
                "RunnableLambda",
                "add_node",
                "Command",
            ],
            config_schema: schema_of::<CodeConfig>(),
            defaults: json!({"language": "javascript", "source": "return {};"}),
            card: &["/module", "/function", "/source"],
        }
    }

    fn effect(&self, config: &serde_json::Map<String, serde_json::Value>) -> superstep::graph::Effect {
        match crate::registry::parse::<CodeConfig>(config) {
            Ok(config) if config.language == Language::JavaScript => superstep::graph::Effect::Pure,
            _ => superstep::graph::Effect::Unknown,
        }
    }

    fn is_certain(&self, config: &serde_json::Map<String, serde_json::Value>) -> bool {
        self.effect(config) == superstep::graph::Effect::Pure
    }

    fn writes_are_known(&self) -> bool {
        false
    }

    fn check(&self, site: &mut Site<'_>) {
        let Some(config) = site.parse::<CodeConfig>() else {
            return;
        };
        for (place, to) in config.destinations.iter().enumerate() {
            leads_to(site, &format!("/destinations/{place}"), to, None);
        }
        match config.language {
            Language::Python => {
                let function = config.python();
                function.check(site, "");
                if let Some(text) = function.text(site) {
                    guess(site, &text);
                    let (pointer, program) = function.named();
                    for to in function.command_targets(&text) {
                        leads_to(site, pointer, &to, Some(&program));
                    }
                }
            }
            Language::JavaScript => {
                self.check_script(site, &config);
                guess(site, &config.source);
            }
        }
    }

    fn build(&self, site: &BuildSite<'_>) -> Result<Arc<dyn Node>, Diagnostic> {
        let config: CodeConfig = site.parse()?;
        if config.language == Language::Python {
            return Ok(Arc::new(PythonNode {
                name: site.node.into(),
                label: format!("node {}", site.node),
                work: PythonWork::build(config.python(), site),
            }));
        }
        let limits = Limits::new(
            Duration::from_millis(config.timeout_ms.unwrap_or(JAVASCRIPT_TIMEOUT)),
            usize::try_from(config.memory_mb)
                .unwrap_or(usize::MAX)
                .saturating_mul(1024 * 1024),
        );
        Ok(Arc::new(CodeNode {
            name: site.node.into(),
            script: JavaScriptProgram {
                source: JavaScriptSource::new(config.source, PARAMETERS),
                files: site.files(),
                limits,
                workers: site.workers.clone(),
            },
        }))
    }
}

/// Returns whether `name` appears in `source` as a word, between characters (spaces aside) that `fits` accepts.
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
    script: JavaScriptProgram,
}

#[async_trait]
impl Node for CodeNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        match run(
            &context,
            Owner::Node(&self.name),
            self.script.clone(),
            vec![input],
        )
        .await?
        {
            Ok(output) => Ok(output.into()),
            Err(CodeError::Cancelled) => Err(NodeError::Cancelled),
            Err(error) => Err(NodeError::new(
                requests::CLASS,
                format!("node {}: {error}", self.name),
            )),
        }
    }
}

struct PythonNode {
    name: Arc<str>,
    label: String,
    work: PythonWork,
}

#[async_trait]
impl Node for PythonNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        let call = python::PythonCall {
            owner: Owner::Node(&self.name),
            label: &self.label,
            style: python::Style::Node,
            args: None,
            state: &input,
        };
        let ended = self.work.run(&context, call).await?;
        ended.map(Into::into).map_err(|error| error.of(&self.label))
    }
}

/// A JavaScript program that a node runs.
#[derive(Clone)]
pub(crate) struct JavaScriptProgram {
    pub(crate) source: JavaScriptSource,
    pub(crate) files: Option<Files>,
    pub(crate) limits: Limits,
    pub(crate) workers: Arc<Workers>,
}

/// Runs a program beside the task that needs it; it is stopped when the run is.
pub(crate) async fn run(
    context: &NodeContext,
    owner: Owner<'_>,
    script: JavaScriptProgram,
    given: Vec<Value>,
) -> Result<Result<Output, CodeError>, NodeError> {
    let place = requests::place(context, owner);
    let JavaScriptProgram {
        source,
        files,
        limits,
        workers,
    } = script;
    let call = JavaScriptCall {
        source,
        given,
        files,
        limits,
        place,
    };
    workers.run(context, owner, call).await
}
