//! Values as text that can be read back.

use superstep::{StorageError, ThreadId, Value};

pub(crate) use super::pack::DEEPEST;

/// JSON text of a value that can be read back.
pub(crate) fn json(value: &Value, what: &str, thread: &ThreadId) -> Result<Vec<u8>, StorageError> {
    let bytes = serde_json::to_vec(value).map_err(|e| StorageError::Backend {
        what: format!("storing {what} of thread {thread}"),
        cause: e.to_string(),
        remedy: "Write a value that JSON can express".to_owned(),
    })?;
    if too_deep(&bytes) {
        return Err(nested(what, thread));
    }
    Ok(bytes)
}

/// JSON text of a value that has at most so many bytes; nothing for a longer one, which is not looked through.
pub(crate) fn short(value: &Value, most: usize) -> Option<Vec<u8>> {
    struct Short(Vec<u8>, usize);
    impl std::io::Write for Short {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0.len() + bytes.len() > self.1 {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut short = Short(Vec::new(), most);
    serde_json::to_writer(&mut short, value).ok()?;
    Some(short.0)
}

/// The refusal of a value that could not be read back.
pub(crate) fn nested(what: &str, thread: &ThreadId) -> StorageError {
    StorageError::Backend {
        what: format!("storing {what} of thread {thread}"),
        cause: format!("the value is nested more than {DEEPEST} levels deep"),
        remedy: "Write a flatter value".to_owned(),
    }
}

/// True for JSON that could not be read back.
pub(crate) fn too_deep(json: &[u8]) -> bool {
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
