//! What two sequences have in common, in its order: items of lists, steps of threads, words of texts.

/// Beyond this many pairs of items the table would cost more than it shows; only equal ends are matched then.
const MAX_PAIRS: usize = 1_000_000;

/// Returns pairs of places that hold the same in both sequences, as many as possible while keeping the order of both.
pub fn common(left: usize, right: usize, same: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let shorter = left.min(right);
    let start = (0..shorter).take_while(|at| same(*at, *at)).count();
    let end = (0..shorter - start)
        .take_while(|back| same(left - 1 - back, right - 1 - back))
        .count();
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|at| (at, at)).collect();
    let (rows, columns) = (left - start - end, right - start - end);
    if rows.saturating_mul(columns) <= MAX_PAIRS {
        let inside = middle(rows, columns, |row, column| same(start + row, start + column));
        pairs.extend(inside.iter().map(|(row, column)| (start + row, start + column)));
    }
    pairs.extend((0..end).rev().map(|back| (left - 1 - back, right - 1 - back)));
    pairs
}

/// Returns the longest common subsequence of the parts between equal ends.
fn middle(rows: usize, columns: usize, same: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let width = columns + 1;
    let mut longest = vec![0_u32; (rows + 1) * width];
    let mut equal = vec![false; rows * columns];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let is_same = same(row, column);
            equal[row * columns + column] = is_same;
            longest[row * width + column] = match is_same {
                true => longest[(row + 1) * width + column + 1] + 1,
                false => longest[(row + 1) * width + column].max(longest[row * width + column + 1]),
            };
        }
    }
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while row < rows && column < columns {
        if equal[row * columns + column] {
            pairs.push((row, column));
            row += 1;
            column += 1;
        } else if longest[(row + 1) * width + column] >= longest[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// Marks the members of a longest rising subsequence of distinct numbers: those that kept their order.
pub(super) fn rising(numbers: &[usize]) -> Vec<bool> {
    // The place of the smallest last number of a rising subsequence of each length, and what stands before each place.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (place, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = place,
            None => ends.push(place),
        }
    }
    let mut kept = vec![false; numbers.len()];
    let mut at = ends.last().copied();
    while let Some(place) = at {
        kept[place] = true;
        at = before[place];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(left: &str, right: &str) -> Vec<(usize, usize)> {
        let (a, b) = (left.as_bytes(), right.as_bytes());
        common(a.len(), b.len(), |i, j| a[i] == b[j])
    }

    #[test]
    fn the_longest_common_part_keeps_both_orders() {
        assert_eq!(of("", "abc"), []);
        assert_eq!(of("abc", "abc"), [(0, 0), (1, 1), (2, 2)]);
        assert_eq!(of("abcd", "bcde"), [(1, 0), (2, 1), (3, 2)]);
        assert_eq!(of("axbyc", "abzc"), [(0, 0), (2, 1), (4, 3)]);
        assert_eq!(of("aa", "a"), [(0, 0)]);
        assert_eq!(of("xay", "yax").len(), 1, "two orders have one item in common");
    }

    #[test]
    fn beyond_the_limit_equal_ends_are_matched() {
        let count = MAX_PAIRS.isqrt() + 2;
        // All but the ends are in another place.
        let pairs = common(count, count, |i, j| match (i, j) {
            (0, 0) => true,
            (i, j) if i == count - 1 && j == count - 1 => true,
            (i, j) => i + 1 == j && j < count - 1 && i > 0,
        });
        assert!(pairs.len() > 2, "within the limit the middle is matched, too");
        let many = count * 2;
        let pairs = common(many, many, |i, j| {
            (i, j) == (0, 0) || (i, j) == (many - 1, many - 1)
        });
        assert_eq!(pairs, [(0, 0), (many - 1, many - 1)]);
    }

    #[test]
    fn what_kept_its_order_is_the_longest_rising_part() {
        let kept = |numbers: &[usize]| -> Vec<usize> {
            rising(numbers)
                .iter()
                .zip(numbers)
                .filter(|(kept, _)| **kept)
                .map(|(_, number)| *number)
                .collect()
        };
        assert_eq!(kept(&[]), Vec::<usize>::new());
        assert_eq!(kept(&[3, 0, 1, 2]), [0, 1, 2]);
        assert_eq!(kept(&[1, 0]).len(), 1);
        assert_eq!(kept(&[0, 4, 1, 2, 3, 5]), [0, 1, 2, 3, 5]);
    }
}
