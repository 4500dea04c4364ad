//! A Python function as nodes and tools name it, what is wrong with it, and its calls.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use superstep::value::Object;
use superstep::{NodeContext, NodeError, StreamMode, Value};

use super::command_targets::command_targets;
use super::{PythonError, PythonWorkers, WorkerKey, interpreter};
use crate::base::access::Access;
use crate::programs::requests::{self, Output, Owner};
use crate::project::Environment;

/// Largest file that is looked through for its functions.
pub(crate) const MAX_FILE: u64 = 1024 * 1024;
/// Parameters of a source that is the body of a function.
const PARAMETERS: &str = "state, ctx, config, store, runtime, args=None";

/// A Python function.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct PythonFunction {
    /// File with the function, relative to the graph's folder, such as `nodes/research.py`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Module")]
    pub module: Option<String>,
    /// Name of the function in the module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Function")]
    pub function: Option<String>,
    /// The function or its body, instead of a module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(title = "Source", extend("x-editor" = "code", "x-language" = "python"))]
    pub source: Option<String>,
    /// Lets the function read these secrets and environment variables, and no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        title = "Secrets and environment variables",
        with = "Vec<crate::base::config_schema::SecretName>"
    )]
    pub variables: Vec<String>,
    /// Stops the function after this time.
    #[serde(default = "default_timeout")]
    #[schemars(title = "Timeout (ms)", range(min = 1, max = 86_400_000))]
    pub timeout_ms: u64,
}

/// Returns the default running time of a Python function, in milliseconds.
pub(crate) fn default_timeout() -> u64 {
    60_000
}

impl PythonFunction {
    pub(crate) fn module(&self) -> Option<&str> {
        self.module
            .as_deref()
            .map(str::trim)
            .filter(|module| !module.is_empty())
    }

    pub(crate) fn source(&self) -> Option<&str> {
        self.source.as_deref().filter(|source| !source.trim().is_empty())
    }

    /// Returns the targets that the function declares.
    pub(crate) fn command_targets(&self, text: &str) -> Vec<String> {
        let function = self.function.as_deref().filter(|_| self.source().is_none());
        command_targets(text, function)
    }

    /// Returns the setting that determines the function, and the beginning of messages about it.
    pub(crate) fn named(&self) -> (&'static str, String) {
        match (self.source(), self.module(), &self.function) {
            (None, Some(module), Some(function)) => ("/function", format!("`{function}` in {module}")),
            _ => ("/source", "The function".to_owned()),
        }
    }
}

/// Returns the file that a graph's `module` means.
pub(crate) fn inside(environment: &Environment, module: &str) -> Result<PathBuf, PythonError> {
    let unfit = |cause: &str| {
        PythonError::Raised(requests::Fault::new(
            "ImportError",
            format!("The module {module:?} {cause}."),
        ))
    };
    let (Some(root), Some(folder)) = (environment.root(), environment.folder.as_deref()) else {
        return Err(PythonError::NoProject);
    };
    if Path::new(module).extension().is_none_or(|kind| kind != "py") {
        return Err(unfit("is no Python file"));
    }
    let path = folder
        .join(module)
        .canonicalize()
        .map_err(|_| unfit("is not there"))?;
    let root = root.canonicalize().map_err(|_| PythonError::NoProject)?;
    if path.starts_with(&root) {
        Ok(path)
    } else {
        Err(unfit("is outside of the project's folder"))
    }
}

/// Calling convention of a function.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Style {
    /// With the state; it returns an update or a command.
    Node,
    /// With arguments by name; it returns anything.
    Tool,
}

/// A Python function, ready to be called.
pub(crate) struct PythonWork {
    function: PythonFunction,
    environment: Environment,
    pythons: Arc<PythonWorkers>,
    /// State keys that hold messages.
    messages: Vec<String>,
    /// All state keys.
    keys: Vec<String>,
}

#[derive(Serialize)]
struct RunFrame<'a> {
    call: u64,
    run: &'a FunctionSpec<'a>,
}

#[derive(Serialize)]
struct FunctionSpec<'a> {
    /// The graph's folder: what lies beside it can be imported.
    folder: Option<&'a Path>,
    file: Option<&'a Path>,
    source: Option<&'a str>,
    function: Option<&'a str>,
    label: &'a str,
    parameters: &'a str,
    style: Style,
    messages: &'a [String],
    keys: &'a [String],
    place: Value,
    given: CallInput<'a>,
}

#[derive(Serialize)]
struct CallInput<'a> {
    state: &'a Value,
    args: Option<&'a Object>,
}

/// Arguments and details of a function call.
pub(crate) struct PythonCall<'a> {
    /// Whose it is.
    pub(crate) owner: Owner<'a>,
    /// Its name in tracebacks, when it is in no file.
    pub(crate) label: &'a str,
    pub(crate) style: Style,
    pub(crate) args: Option<&'a Object>,
    pub(crate) state: &'a Value,
}

impl PythonWork {
    pub(crate) fn new(
        function: PythonFunction,
        environment: Environment,
        pythons: Arc<PythonWorkers>,
        messages: Vec<String>,
        keys: Vec<String>,
    ) -> Self {
        Self {
            function,
            environment,
            pythons,
            messages,
            keys,
        }
    }

    fn key(&self) -> Result<WorkerKey, PythonError> {
        let found = interpreter::interpreter(&self.environment)?;
        let grants = &self.environment.grants;
        grants
            .require(&Access::Program(found.named))
            .map_err(PythonError::AccessDenied)?;
        let mut variables = Vec::new();
        for name in &self.function.variables {
            grants
                .require(&Access::Variable(name.clone()))
                .map_err(PythonError::AccessDenied)?;
            if let Some(value) = (self.environment.variables)(name) {
                variables.push((name.clone(), value));
            }
        }
        variables.sort();
        let real = |path: Option<&Path>| {
            path.and_then(|path| path.canonicalize().ok())
                .ok_or(PythonError::NoProject)
        };
        Ok(WorkerKey {
            program: std::path::absolute(&found.program).unwrap_or(found.program),
            root: real(self.environment.root())?,
            variables,
        })
    }

    /// Calls the function, and does what it asks until it ends.
    pub(crate) async fn run(
        &self,
        context: &NodeContext,
        call: PythonCall<'_>,
    ) -> Result<Result<Output, PythonError>, NodeError> {
        let begun = self.key().and_then(|key| {
            let file = self
                .function
                .module()
                .map(|module| inside(&self.environment, module))
                .transpose()?;
            let worker = self.pythons.worker(key)?;
            let mut place = requests::place(context, call.owner);
            if let Value::Object(place) = &mut place {
                place.insert("messages", context.wants(StreamMode::Messages));
            }
            let spec = FunctionSpec {
                folder: self.environment.folder.as_deref(),
                file: file.as_deref(),
                source: self.function.source(),
                function: self.function.function.as_deref().filter(|name| !name.is_empty()),
                label: call.label,
                parameters: PARAMETERS,
                style: call.style,
                messages: &self.messages,
                keys: &self.keys,
                place,
                given: CallInput {
                    state: call.state,
                    args: call.args,
                },
            };
            let (open, inbox) = worker.begin(|number| RunFrame {
                call: number,
                run: &spec,
            })?;
            Ok((worker, open, inbox))
        });
        let (worker, open, inbox) = match begun {
            Ok(begun) => begun,
            Err(error) => return Ok(Err(error)),
        };
        let limit = Duration::from_millis(self.function.timeout_ms);
        let state = call.owner.is_node().then_some(call.state);
        let served = requests::serve(context, call.owner, state, inbox, open.notifier(), || {
            worker.lost()
        });
        let time_up = async {
            match worker.started().await {
                Ok(()) => {
                    tokio::time::sleep(limit).await;
                    PythonError::Timeout(limit)
                }
                Err(error) => error,
            }
        };
        let ended = tokio::select! {
            biased;
            ended = served => ended,
            error = time_up => Ok(Err(error)),
        };
        drop(open);
        ended
    }
}
