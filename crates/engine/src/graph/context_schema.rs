//! The declaration of a run context: what a caller gives a run beside its input.
//!
//! It knows nothing of graphs or runs: a value comes in, the checked value or a reason comes out.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::value::{Object, Value};

type Check = Arc<dyn Fn(Value) -> Result<Value, String> + Send + Sync>;

/// Requirements of a graph for its run context. Pass it to [`StateGraph::context`](crate::StateGraph::context).
#[derive(Clone)]
pub struct ContextSchema {
    check: Check,
    required: bool,
}

impl fmt::Debug for ContextSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextSchema")
            .field("required", &self.required)
            .finish_non_exhaustive()
    }
}

impl ContextSchema {
    /// Creates a schema from `check`, which returns the context that nodes read, or states what is wrong.
    pub fn checked(check: impl Fn(Value) -> Result<Value, String> + Send + Sync + 'static) -> Self {
        Self {
            check: Arc::new(check),
            required: false,
        }
    }

    /// Creates a schema of contexts that can be read as `T`; nodes read what `T` writes, so that its defaults are
    /// filled in.
    pub fn of<T: Serialize + DeserializeOwned + 'static>() -> Self {
        Self::checked(|given| {
            let read: T = given.decode().map_err(|why| why.to_string())?;
            Value::encode(&read).map_err(|why| why.to_string())
        })
    }

    /// Checks a run without a context too, as if it were given an empty object.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Returns the context that nodes read; null when none was given.
    pub(crate) fn read(&self, given: Value) -> Result<Value, String> {
        match (given, self.required) {
            (Value::Null, false) => Ok(Value::Null),
            (Value::Null, true) => (self.check)(Object::new().into()),
            (given, _) => (self.check)(given),
        }
    }
}

/// Returns whether a context was given. If it is missing or empty, a nested graph keeps that of the graph around it.
pub(crate) fn is_given(context: &Value) -> bool {
    match context {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        other => other.as_f64() != Some(0.0),
    }
}
