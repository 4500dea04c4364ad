//! Bytes of an answer as frames: server-sent events, lines of JSON, or one JSON text.
//!
//! Servers differ in their line ends, forget the last one, and answer without a stream where one was asked for. A frame
//! has a bound, so that a line without an end takes no memory without one.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// Largest frame, in bytes.
pub(in crate::models) const MAX_FRAME: usize = 16 * 1024 * 1024;

/// Division of bytes into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::models) enum Framing {
    /// Server-sent events.
    Events,
    /// A JSON text per line.
    Lines,
    /// One JSON text.
    Whole,
}

/// A part of an answer, as it came.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::models) struct Frame {
    /// The name of the event, where the server gave one.
    pub(in crate::models) event: Option<String>,
    /// What came with it.
    pub(in crate::models) data: String,
}

/// A frame is larger than [`MAX_FRAME`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::models) struct FrameTooLarge;

/// Frames out of bytes that come in pieces of any size.
#[derive(Debug)]
pub(in crate::models) struct FrameReader {
    framing: Framing,
    /// Bytes of which some are read.
    bytes: Vec<u8>,
    read: usize,
    /// How far the search for the end of the next line came.
    searched: usize,
    /// The last line ended with a carriage return, so a line feed belongs to it.
    after_return: bool,
    begun: bool,
    frame: Frame,
    has_data: bool,
    /// Lines of JSON that no field names, so the ones after them belong to them.
    is_bare: bool,
}

impl FrameReader {
    pub(in crate::models) fn new(framing: Framing) -> Self {
        Self {
            framing,
            bytes: Vec::new(),
            read: 0,
            searched: 0,
            after_return: false,
            begun: false,
            frame: Frame::default(),
            has_data: false,
            is_bare: false,
        }
    }

    /// Adds the next bytes.
    pub(in crate::models) fn push(&mut self, bytes: &[u8]) -> Result<(), FrameTooLarge> {
        if self.read > 0 {
            self.bytes.drain(..self.read);
            self.searched -= self.read;
            self.read = 0;
        }
        if self.bytes.len() + self.frame.data.len() + bytes.len() > MAX_FRAME {
            return Err(FrameTooLarge);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the next frame, if all of it came.
    pub(in crate::models) fn frame(&mut self) -> Option<Frame> {
        if self.framing == Framing::Whole {
            if !self.is_of_events() {
                return None;
            }
            self.framing = Framing::Events;
        }
        while let Some((from, to)) = self.line() {
            if let Some(frame) = self.add(from, to) {
                return Some(frame);
            }
        }
        None
    }

    /// Returns whether a text that was announced as JSON begins as events do.
    fn is_of_events(&self) -> bool {
        let mark = "\u{feff}".as_bytes();
        let text = self.bytes.strip_prefix(mark).unwrap_or(&self.bytes[..]);
        let text = text.trim_ascii_start();
        let begins = |field: &&str| text.starts_with(field.as_bytes());
        ["data:", "event:", "id:", "retry:", ":"].iter().any(begins)
    }

    /// Returns what is left when no more bytes come: the last frame of a server that forgot to end it.
    pub(in crate::models) fn rest(&mut self) -> Option<Frame> {
        let (from, to) = (self.read, self.bytes.len());
        self.read = to;
        self.searched = to;
        if self.framing == Framing::Whole {
            let text = self.text(from, to);
            let data = text.trim_start_matches('\u{feff}').trim().to_owned();
            return (!data.is_empty()).then_some(Frame { event: None, data });
        }
        let last = if from < to { self.add(from, to) } else { None };
        last.or_else(|| self.dispatch())
    }

    /// Finds the next line that has an end.
    fn line(&mut self) -> Option<(usize, usize)> {
        loop {
            let end = self.bytes[self.searched..]
                .iter()
                .position(|byte| matches!(byte, b'\n' | b'\r'));
            let Some(end) = end.map(|end| self.searched + end) else {
                self.searched = self.bytes.len();
                return None;
            };
            let from = self.read;
            let feed = self.bytes[end] == b'\n';
            self.read = end + 1;
            self.searched = end + 1;
            let second_half = std::mem::replace(&mut self.after_return, !feed) && feed && from == end;
            if !second_half {
                return Some((from, end));
            }
        }
    }

    fn text(&self, from: usize, to: usize) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes[from..to])
    }

    /// Adds a line; returns the frame that it ends.
    fn add(&mut self, from: usize, to: usize) -> Option<Frame> {
        let line = String::from_utf8_lossy(&self.bytes[from..to]);
        let line = match std::mem::replace(&mut self.begun, true) {
            false => line.trim_start_matches('\u{feff}'),
            true => line.as_ref(),
        };
        if self.framing == Framing::Lines {
            // Some proxies make events of the lines.
            let line = line.trim();
            let data = line.strip_prefix("data:").unwrap_or(line).trim().to_owned();
            return (!data.is_empty()).then_some(Frame { event: None, data });
        }
        let line = line.trim();
        if line.is_empty() {
            return self.dispatch();
        }
        let data = line.strip_prefix("data:").map(str::trim_start);
        if let Some(event) = line.strip_prefix("event:") {
            self.frame.event = Some(event.trim().to_owned());
        } else if data.is_some() || self.is_bare || line.starts_with(['{', '[']) {
            // Without a field: an answer that is no stream, or a failure in the middle of one.
            self.is_bare |= data.is_none();
            self.has_data = true;
            if !self.frame.data.is_empty() {
                self.frame.data.push('\n');
            }
            self.frame.data.push_str(data.unwrap_or(line));
            let is_whole = || serde_json::from_str::<IgnoredAny>(line).is_ok();
            if data.is_none() && self.frame.data.len() == line.len() && is_whole() {
                return self.dispatch();
            }
        }
        None
    }

    fn dispatch(&mut self) -> Option<Frame> {
        self.is_bare = false;
        let frame = std::mem::take(&mut self.frame);
        std::mem::take(&mut self.has_data).then_some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(framing: Framing, bytes: &[u8], size: usize) -> Vec<(Option<String>, String)> {
        let mut reader = FrameReader::new(framing);
        let mut frames = Vec::new();
        for piece in bytes.chunks(size) {
            reader.push(piece).unwrap();
            while let Some(frame) = reader.frame() {
                frames.push((frame.event, frame.data));
            }
        }
        frames.extend(reader.rest().map(|frame| (frame.event, frame.data)));
        frames
    }

    #[test]
    fn frames_are_the_same_wherever_the_bytes_are_cut() {
        let event = |name: Option<&str>, data: &str| (name.map(str::to_owned), data.to_owned());
        let text = "\u{feff}: hello\r\n\r\nevent: a\r\ndata: {\"x\": \"ä👍\"}\r\n\r\ndata:1\ndata: 2\n\nid: 7\nretry: 3\n\ndata: [DONE]";
        for ends in ["\r\n", "\n", "\r"] {
            let text = text.replace("\r\n", "\n").replace('\n', ends);
            for size in 1..text.len() {
                assert_eq!(
                    read(Framing::Events, text.as_bytes(), size),
                    [
                        event(Some("a"), "{\"x\": \"ä👍\"}"),
                        event(None, "1\n2"),
                        event(None, "[DONE]")
                    ],
                    "{ends:?} {size}"
                );
            }
        }
        for size in 1..20 {
            let lines = read(Framing::Lines, b"{\"a\":1}\r\n\ndata: {\"b\":2}\n{\"c\":3}", size);
            let data: Vec<&str> = lines.iter().map(|(_, data)| data.as_str()).collect();
            assert_eq!(data, ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
            let whole = read(Framing::Whole, b" {\n\"a\":\n1}\n", size);
            assert_eq!(whole, [event(None, "{\n\"a\":\n1}")]);
        }
    }

    #[test]
    fn a_frame_without_an_end_has_one() {
        for framing in [Framing::Events, Framing::Lines, Framing::Whole] {
            let mut reader = FrameReader::new(framing);
            let piece = vec![b'x'; 1024 * 1024];
            let taken = (0..100).take_while(|_| reader.push(&piece).is_ok()).count();
            assert_eq!(taken, 16, "{framing:?}");
        }
        let mut reader = FrameReader::new(Framing::Events);
        let line = [&b"data: "[..], &vec![b'x'; 1024 * 1024], b"\n"].concat();
        let mut taken = 0;
        while reader.push(&line).is_ok() && taken < 100 {
            assert_eq!(reader.frame(), None);
            taken += 1;
        }
        assert!(taken <= 16, "lines of one event count together: {taken}");
    }
}
