//! How the rows of a list that grows build on each other.
//!
//! Appends make rows of level 0. After 64 of them, the next row repeats their items in one row of level 1 whose base is
//! the row before them, and 64 of those make a row of level 2: a list of n items is read from about 64 · log64 n rows,
//! while an item is written again only once a level. Rows that are long enough are not folded.

/// Rows of one level in a list's chain before they are folded into one row of the next level...
const RUN: i64 = 64;
/// ...unless they hold more than this: reading long rows is not slower than reading the same bytes in one.
const FOLD_BYTES: i64 = 16 * 1024;

/// A row as the chain sees it.
pub(crate) trait Chained: Clone {
    /// Reason why a row cannot be looked at.
    type Error;
    /// Returns how often the row's items were folded.
    fn level(&self) -> i64;
    /// Returns the row's position in a run of rows of one level; 0 for a row that begins the chain.
    fn run(&self) -> i64;
}

/// Returns where the next row goes: its base, its level and its position in the run. `newest` is the last row of the
/// chain; `before` returns, for the last row of a run that is full, the row before the run and the bytes of the run.
pub(crate) fn place<L: Chained>(
    newest: L,
    mut before: impl FnMut(&L) -> Result<Option<(L, i64)>, L::Error>,
) -> Result<(L, i64, i64), L::Error> {
    let (mut link, mut level) = (newest, 0);
    loop {
        // A row that begins the chain, or of another level, is the boundary of a new run.
        if link.run() == 0 || link.level() != level || link.run() >= RUN {
            return Ok((link, level, 1));
        }
        if link.run() + 1 < RUN {
            let run = link.run() + 1;
            return Ok((link, level, run));
        }
        match before(&link)? {
            Some((boundary, bytes)) if bytes < FOLD_BYTES => {
                link = boundary;
                level += 1;
            }
            _ => return Ok((link, level, RUN)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Its number, its level, its run, how many items the list has with it, and its base.
    #[derive(Clone, Debug)]
    struct Row(usize, i64, i64, usize, Option<usize>);

    impl Chained for Row {
        type Error = Infallible;
        fn level(&self) -> i64 {
            self.1
        }
        fn run(&self) -> i64 {
            self.2
        }
    }

    /// Creates the rows of a list that grew one by one, each row with this many bytes per item.
    fn grown(items: usize, bytes: i64) -> Vec<Row> {
        let mut rows = vec![Row(0, 0, 0, 0, None)];
        for len in 1..=items {
            let newest = rows[rows.len() - 1].clone();
            let Ok((base, level, run)) = place(newest, |last| {
                let (mut at, mut total) = (last.clone(), 0);
                for _ in 0..last.2 {
                    let base = rows[at.4.expect("a run has a row before it")].clone();
                    total += (at.3 - base.3) as i64 * bytes;
                    at = base;
                }
                Ok(Some((at, total)))
            });
            rows.push(Row(rows.len(), level, run, len, Some(base.0)));
        }
        rows
    }

    fn read(rows: &[Row]) -> usize {
        let (mut count, mut at) = (0, rows.last());
        while let Some(row) = at {
            count += 1;
            at = row.4.map(|base| &rows[base]);
        }
        count
    }

    #[test]
    fn short_items_are_read_from_few_rows_and_long_ones_are_not_written_again() {
        let short = grown(10_000, 10);
        assert!(read(&short) < 3 * 64, "{}", read(&short));
        let long = grown(1_000, 10_000);
        assert_eq!(read(&long), 1_001);
        assert!(long.iter().all(|row| row.1 == 0));
    }
}
