//! Values as text that can be read back.

use superstep::checkpoint::StorageError;
use superstep::{ThreadId, Value};

pub(crate) use super::encoding::MAX_DEPTH;

/// Returns the JSON text of a value that can be read back.
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

/// Returns the JSON text of a value that has at most this many bytes; `None` for a longer one, which is not fully
/// examined.
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
    if value.as_str().is_some_and(|text| text.len() > most) {
        return None;
    }
    let mut short = Short(Vec::new(), most);
    serde_json::to_writer(&mut short, value).ok()?;
    Some(short.0)
}

/// Writes a text as JSON. Nearly all of a long one needs no escapes, and is copied many bytes at a time.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut rest = text.as_bytes();
    out.push(b'"');
    loop {
        let (plain, escaped) = rest.split_at(plain(rest));
        out.extend_from_slice(plain);
        let Some((byte, after)) = escaped.split_first() else {
            break;
        };
        rest = after;
        let short = match byte {
            b'"' | b'\\' => *byte,
            8 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            12 => b'f',
            b'\r' => b'r',
            _ => {
                out.extend_from_slice(b"\\u00");
                out.extend([byte >> 4, byte & 15].map(|digit| HEX[usize::from(digit)]));
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.push(b'"');
}

/// Counts the bytes at the beginning that need no escape.
fn plain(bytes: &[u8]) -> usize {
    let is_escaped = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    let (blocks, _) = bytes.as_chunks::<32>();
    // Without a way out of the block, so that it is looked at as a whole.
    let whole = |block: &&[u8; 32]| !block.iter().fold(false, |any, byte| any | is_escaped(byte));
    let from = 32 * blocks.iter().take_while(whole).count();
    let tail = &bytes[from..];
    from + tail.iter().position(is_escaped).unwrap_or(tail.len())
}

/// Creates the error that refuses a value which could not be read back.
pub(crate) fn nested(what: &str, thread: &ThreadId) -> StorageError {
    StorageError::Backend {
        what: format!("storing {what} of thread {thread}"),
        cause: format!("the value is nested more than {MAX_DEPTH} levels deep"),
        remedy: "Write a flatter value".to_owned(),
    }
}

/// Returns whether the JSON is nested too deep to be read back.
pub(crate) fn too_deep(json: &[u8]) -> bool {
    if json.len() <= MAX_DEPTH {
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
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b']' | b'}' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Parses the value of JSON text.
pub(crate) fn parse(json: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(json).map_err(|e| format!("it is not JSON: {e}"))
}

#[cfg(test)]
mod tests {
    use super::put_text;

    #[test]
    fn a_text_is_what_serde_makes_of_it() {
        let escaped = (0..0x82).filter_map(char::from_u32);
        let pieces: Vec<String> = escaped
            .map(String::from)
            .chain((0..70).map(|n| "plain é€𝄞 ".repeat(n)))
            .collect();
        let mut state = 1_u64;
        for round in 0..4000 {
            let text: String = (0..round % 7)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    &*pieces[(state >> 33) as usize % pieces.len()]
                })
                .collect();
            let mut out = Vec::new();
            put_text(&mut out, &text);
            assert_eq!(out, serde_json::to_vec(&text).expect("text is JSON"), "{text:?}");
        }
    }
}
