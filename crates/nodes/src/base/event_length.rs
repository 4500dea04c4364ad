//! How much of an event of a stream has come: a line without an end must take no memory without one.

/// Length of the event that is being read: it ends with an empty line.
#[derive(Debug, Default)]
pub(crate) struct EventLength {
    bytes: usize,
    in_line: bool,
    after_return: bool,
}

impl EventLength {
    /// Adds the next bytes; returns the length of the longest event that they are part of, as far as it has come.
    pub(crate) fn grow(&mut self, chunk: &[u8]) -> usize {
        let mut longest = self.bytes;
        for &byte in chunk {
            self.bytes += 1;
            match byte {
                b'\n' if self.after_return => {}
                b'\n' | b'\r' if !self.in_line => self.bytes = 0,
                b'\n' | b'\r' => self.in_line = false,
                _ => self.in_line = true,
            }
            self.after_return = byte == b'\r';
            longest = longest.max(self.bytes);
        }
        longest
    }

    /// Returns whether a line has begun and not ended.
    pub(crate) fn in_line(&self) -> bool {
        self.in_line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_an_event_starts_again_with_each() {
        let mut length = EventLength::default();
        assert_eq!(length.grow(b"data: 1\r"), 8);
        assert_eq!(length.grow(b"\n\r\n"), 9);
        assert_eq!(length.bytes, 1, "the end of the second pair");
        assert_eq!(length.grow(b"data: 22\n\ndata"), 10);
        assert_eq!(length.grow(b": 333\n"), 10);
    }
}
