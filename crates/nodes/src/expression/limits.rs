//! What one expression or template may cost: work, sizes, depth.

use std::time::Duration;

use super::jinja_value;

/// Instructions after which an evaluation is stopped: a loop over some hundred thousand items, about a tenth of a second.
pub const FUEL: u64 = 2_000_000;
/// Longest text a template may give, in bytes.
pub const MAX_OUTPUT: usize = 4 * 1024 * 1024;
/// Operators that may follow each other in one expression: what is compiled is a tree as deep as the chain is long, and
/// trees are walked on the stack.
pub(super) const MAX_CHAIN: usize = 400;
/// Longest source of an expression, in bytes.
pub(super) const MAX_EXPRESSION: usize = 64 * 1024;
/// Longest source of a template, in bytes.
pub(super) const MAX_TEMPLATE: usize = 4 * 1024 * 1024;
/// Lists that `slice` and `batch` may make.
pub(super) const MAX_COUNT: usize = 100_000;
/// Bytes of one text.
pub(super) const MAX_TEXT_BYTES: usize = jinja_value::MAX_TEXT;
/// Items of one list, those of the lists in it included.
pub(super) const MAX_LIST: usize = jinja_value::MAX_VALUES;
/// Bytes of all texts of an evaluation together.
pub(super) const MAX_TEXTS: usize = 256 * 1024 * 1024;
/// Bytes of texts that an evaluation may look through for a place, a length or a difference: about a second.
pub(super) const MAX_READ: usize = 1024 * 1024 * 1024;
/// Longest processor time of one evaluation.
pub(super) const MAX_TIME: Duration = Duration::from_secs(10);
/// Items of all lists together, and items that are walked through.
pub(super) const MAX_ITEMS: usize = 10_000_000;
/// Deepest nesting; what is deeper cannot be written, compared or dropped on the stack.
pub(super) const MAX_NESTING: usize = jinja_value::MAX_DEPTH;
