//! Values as text that can be read back.

use superstep::{StorageError, ThreadId, Value};

/// Levels of nesting that can be read back (the JSON parser's limit is 128, and a list row adds one).
const DEEPEST: usize = 120;

/// JSON text of a value that can be read back.
pub(crate) fn json(value: &Value, what: &str, thread: &ThreadId) -> Result<Vec<u8>, StorageError> {
    let refuse = |cause: String, remedy: &str| StorageError::Backend {
        what: format!("storing {what} of thread {thread}"),
        cause,
        remedy: remedy.to_owned(),
    };
    let bytes = serde_json::to_vec(value)
        .map_err(|e| refuse(e.to_string(), "Write a value that JSON can express"))?;
    if too_deep(&bytes) {
        let cause = format!("the value is nested more than {DEEPEST} levels deep");
        return Err(refuse(cause, "Write a flatter value"));
    }
    Ok(bytes)
}

fn too_deep(json: &[u8]) -> bool {
    if json.len() <= DEEPEST {
        return false;
    }
    let (mut depth, mut text, mut escaped) = (0_usize, false, false);
    for &byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'[' | b'{' if !text => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b']' | b'}' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The value of JSON text.
pub(crate) fn parse(json: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(json).map_err(|e| format!("it is not JSON: {e}"))
}
