//! Classes of errors that come back in every attempt: somebody has to correct the graph or the machine first. A node is
//! not tried again after one, unless its `retry_on` names the class.

macro_rules! lasting {
    ($($name:ident = $class:literal,)*) => {
        $(pub(crate) const $name: &str = $class;)*
        const LASTING: &[&str] = &[$($name),*];
    };
}

lasting! {
    ACCESS_DENIED = "AccessDenied",
    AGENT_LIMIT = "AgentLimitError",
    ASK_TIMEOUT = "AskTimeoutError",
    CODE = "CodeError",
    DELAY = "DelayError",
    HTTP_INPUT = "HttpInputError",
    MAP_LIMIT = "MapLimitError",
    MCP_LOGIN = "McpLoginError",
    MCP_SETUP = "McpSetupError",
    MODEL_AUTH = "ModelAuthError",
    MODEL_INPUT = "ModelInputError",
    MODEL_NOT_FOUND = "ModelNotFoundError",
    MODEL_RECORDING = "ModelRecordingError",
    MODEL_SCRIPT = "ModelScriptError",
    MODEL_SETUP = "ModelSetupError",
    ROUTE = "RouteError",
    SEARCH = "SearchError",
    SECRET_LINES = "SecretLinesError",
    SECRET_MISSING = "SecretMissingError",
    STORE = "StoreError",
    TOOLS_INPUT = "ToolsInputError",
}

/// Classes that the engine gives, by the names of their types.
const OF_THE_ENGINE: &[&str] = &["EffectError", "ExpressionError", "GraphBoundError"];

/// Returns whether an error of this class comes back in every attempt.
pub(crate) fn lasts(class: &str) -> bool {
    LASTING.contains(&class) || OF_THE_ENGINE.contains(&class)
}
