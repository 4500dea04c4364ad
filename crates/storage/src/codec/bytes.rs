//! Numbers of variable length, and what is made of them alone.

/// Result of decoding; the error is the reason why bytes could not be understood.
pub(crate) type Decoded<T> = Result<T, String>;

/// Appends a number, 7 bits a byte.
pub(crate) fn put_number(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Cursor that reads numbers from bytes.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn number(&mut self) -> Decoded<u64> {
        let (mut n, mut shift) = (0_u64, 0);
        loop {
            let (&byte, rest) = self.0.split_first().ok_or("it ends in the middle of a number")?;
            self.0 = rest;
            if shift > 63 {
                return Err("a number is too long".to_owned());
            }
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
            shift += 7;
        }
    }

    pub(crate) fn row(&mut self) -> Decoded<i64> {
        i64::try_from(self.number()?).map_err(|_| "a row number is too large".to_owned())
    }

    /// Reads a count of things of at least one byte each: more than the bytes left is damage, not a size to reserve.
    pub(crate) fn count(&mut self) -> Decoded<usize> {
        let n = usize::try_from(self.number()?).map_err(|_| "a count is too large".to_owned())?;
        if n > self.0.len() {
            Err("a count is larger than the record".to_owned())
        } else {
            Ok(n)
        }
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Decoded<&'a [u8]> {
        if len > self.0.len() {
            return Err("it is shorter than it says".to_owned());
        }
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        Ok(taken)
    }
}

/// Appends a row number.
pub(crate) fn put_row(out: &mut Vec<u8>, row: i64) {
    put_number(out, row.unsigned_abs());
}

/// Encodes a list of name rows.
pub(crate) fn rows_blob(rows: &[i64]) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() + 1);
    for &row in rows {
        put_row(&mut out, row);
    }
    out
}

/// Reads what [`rows_blob`] wrote.
pub(crate) fn read_rows(blob: &[u8]) -> Decoded<Vec<i64>> {
    let mut cursor = Cursor(blob);
    let mut rows = Vec::new();
    while !cursor.0.is_empty() {
        rows.push(cursor.row()?);
    }
    Ok(rows)
}
