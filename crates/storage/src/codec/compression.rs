//! Long texts in few bytes, for records that are text by themselves: journals and what Redis holds. SQLite and
//! PostgreSQL share long parts as well, see `encoding`.

use std::borrow::Cow;
use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::bytes::Decoded;
use super::encoding::{Compressor, ValueDecoder};

/// Bytes from which a line of a journal is compressed: what is shorter, a person reads without tools.
const LINE_FROM: usize = 4096;
/// No line says that it is longer than this many times what is there.
const MAX_GROWTH: u64 = 50_000;

thread_local! {
    /// Each takes a quarter of a megabyte that is not made again for every text.
    static COMPRESSOR: RefCell<Option<Compressor>> = RefCell::new(Compressor::new().ok());
    static DECODER: RefCell<Option<ValueDecoder>> = RefCell::new(ValueDecoder::new().ok());
}

/// Converts JSON text to its stored form: unchanged, or compressed behind a byte that no JSON begins with.
pub(crate) fn compressed(text: Vec<u8>) -> Vec<u8> {
    COMPRESSOR.with_borrow_mut(|compressor| match compressor {
        Some(compressor) => compressor.plain(&text),
        None => text,
    })
}

/// Returns whether [`compressed`] made the text shorter.
pub(crate) fn is_compressed(data: &[u8]) -> bool {
    !matches!(data.first(), None | Some(b' '..))
}

/// Returns the text from the output of [`compressed`].
pub(crate) fn decompressed(data: &[u8]) -> Decoded<Cow<'_, [u8]>> {
    if !is_compressed(data) {
        return Ok(Cow::Borrowed(data));
    }
    DECODER.with_borrow_mut(|decoder| match decoder {
        Some(decoder) => decoder.text(data).map(|(text, _)| text),
        None => Err("there is no memory to decompress it".to_owned()),
    })
}

/// Encodes a long line in letters and digits: Base64 of a frame that `zstd` reads. Returns `None` for one that would
/// not become shorter.
pub(crate) fn lettered(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() < LINE_FROM {
        return None;
    }
    let frame = COMPRESSOR.with_borrow_mut(|compressor| compressor.as_mut()?.frame(text))?;
    let letters = BASE64.encode(frame).into_bytes();
    (letters.len() + text.len() / 8 < text.len()).then_some(letters)
}

/// Returns the text from the output of [`lettered`], or from a line that is JSON.
pub(crate) fn unlettered(line: &[u8]) -> Decoded<Cow<'_, [u8]>> {
    if line.starts_with(b"{") {
        return Ok(Cow::Borrowed(line));
    }
    let frame = BASE64
        .decode(line)
        .map_err(|error| format!("it is neither JSON nor Base64: {error}"))?;
    let len = zstd::zstd_safe::get_frame_content_size(&frame).ok().flatten();
    let len = len.ok_or("it is not compressed as it should be")?;
    if len / MAX_GROWTH > frame.len() as u64 {
        return Err("it says that it is longer than it can be".to_owned());
    }
    let len = usize::try_from(len).map_err(|_| "it is too long")?;
    DECODER.with_borrow_mut(|decoder| match decoder {
        Some(decoder) => decoder.frame(&frame, len).map(Cow::Owned),
        None => Err("there is no memory to decompress it".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_come_back_and_short_ones_stay_as_they_are() {
        let noise: String = (0..9000_u64)
            .map(|n| char::from(b' ' + (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57) as u8 % 94))
            .collect();
        for text in [
            "{}".to_owned(),
            "{\"a\": \"short\"}".repeat(20),
            format!("{{\"a\": \"{}\"}}", "long and again ".repeat(2000)),
            format!("{{\"a\": {:?}}}", noise),
        ] {
            let data = compressed(text.clone().into_bytes());
            assert_eq!(&*decompressed(&data).expect("readable"), text.as_bytes());
            assert_eq!(is_compressed(&data), data.len() < text.len());
            let line = lettered(text.as_bytes()).unwrap_or_else(|| text.clone().into_bytes());
            assert!(!line.contains(&b'\n') && line.len() <= text.len());
            assert_eq!(&*unlettered(&line).expect("readable"), text.as_bytes());
        }
        assert!(lettered("long and again ".repeat(2000).as_bytes()).is_some_and(|line| line.len() < 200));
        for damaged in ["", "KLUv", "????", "KLUv/aD/////AAAA", "KLUvXX"] {
            assert!(unlettered(damaged.as_bytes()).is_err(), "{damaged}");
        }
    }
}
