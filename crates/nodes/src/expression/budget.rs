//! What one evaluation may make on its way, and not only what it gives: texts that are put together, lists that are
//! joined and repeated. Each operator and filter that makes or walks through something takes it from here, before it does
//! so where it can multiply. The budget belongs to the thread, because an evaluation is one call that does not wait.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Write};

use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{Error as JinjaError, ErrorKind};

use superstep::NodeContext;

use crate::base::processor::ThreadClock;

use super::jinja_value;
use super::limits::{MAX_ITEMS, MAX_LIST, MAX_NESTING, MAX_READ, MAX_TEXT_BYTES, MAX_TEXTS, MAX_TIME};

thread_local! {
    static LEFT: Cell<(usize, usize)> = const { Cell::new((MAX_TEXTS, MAX_ITEMS)) };
    static TO_READ: Cell<usize> = const { Cell::new(MAX_READ) };
    /// The run that an evaluation belongs to, what it has taken of the processor, and how much was taken since the last look.
    static RUN: RefCell<Option<(Option<NodeContext>, ThreadClock)>> = const { RefCell::new(None) };
    static TAKEN: Cell<u32> = const { Cell::new(0) };
}

/// Bytes or parts that are looked at between two looks at the run.
const GLANCE: u32 = 1 << 20;
/// The message of an evaluation whose run was stopped, or whose node has taken too long.
pub(super) const STOPPED: &str = "the run was stopped";

/// Runs the work of an evaluation with a budget of its own. It ends early when its run is stopped.
pub(super) fn within<T>(run: Option<&NodeContext>, work: impl FnOnce() -> T) -> T {
    let before = LEFT.replace((MAX_TEXTS, MAX_ITEMS));
    let to_read = TO_READ.replace(MAX_READ);
    let outer = RUN.replace(Some((run.cloned(), ThreadClock::start())));
    let done = work();
    RUN.set(outer);
    TO_READ.set(to_read);
    LEFT.set(before);
    done
}

/// Looks now and then whether the evaluation is to go on.
fn glance(work: usize) -> Result<(), JinjaError> {
    let taken = TAKEN
        .get()
        .saturating_add(u32::try_from(work).unwrap_or(u32::MAX).max(64));
    if taken < GLANCE {
        TAKEN.set(taken);
        return Ok(());
    }
    TAKEN.set(0);
    RUN.with_borrow(|run| match run {
        Some((Some(run), _)) if run.is_cancelled() || run.is_out_of_time() => Err(over(STOPPED.to_owned())),
        Some((_, clock)) if clock.elapsed() > MAX_TIME => Err(JinjaError::from(ErrorKind::OutOfFuel)),
        _ => Ok(()),
    })
}

/// Takes bytes of a text that is only looked through.
pub(super) fn read(bytes: usize) -> Result<(), JinjaError> {
    glance(bytes)?;
    match TO_READ.get().checked_sub(bytes) {
        Some(left) => {
            TO_READ.set(left);
            Ok(())
        }
        None => Err(over(format!(
            "it looks through more than {} MB of text",
            MAX_READ >> 20
        ))),
    }
}

/// Takes as many bytes of text and items, for one value.
pub(super) fn spend(bytes: usize, items: usize) -> Result<(), JinjaError> {
    fit(bytes, items)?;
    pass(bytes, items)
}

/// Refuses more bytes of text or items than one value may hold.
pub(super) fn fit(bytes: usize, items: usize) -> Result<(), JinjaError> {
    if bytes > MAX_TEXT_BYTES {
        return Err(over(format!(
            "the value would hold more than {} MB of text",
            MAX_TEXT_BYTES >> 20
        )));
    }
    if items > MAX_LIST {
        return Err(over(format!("the value would hold more than {MAX_LIST} parts")));
    }
    Ok(())
}

/// Takes what is only walked through, or is there anyway.
pub(super) fn pass(bytes: usize, items: usize) -> Result<(), JinjaError> {
    glance(bytes.saturating_add(items))?;
    let (texts, lists) = LEFT.get();
    match (texts.checked_sub(bytes), lists.checked_sub(items)) {
        (Some(texts), Some(lists)) => {
            LEFT.set((texts, lists));
            Ok(())
        }
        (None, _) => Err(over(format!(
            "it puts together more than {} MB of text",
            MAX_TEXTS >> 20
        ))),
        (_, None) => Err(over(format!("it goes through more than {MAX_ITEMS} items"))),
    }
}

fn over(what: String) -> JinjaError {
    JinjaError::new(ErrorKind::WriteFailure, what)
}

/// The size of a value: bytes of text, and items of it and of everything in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Weight {
    pub(super) bytes: usize,
    pub(super) items: usize,
}

/// Weighs a value that an evaluation made, and takes the walk from the budget. What comes from the state as it is counts as
/// one: it is there anyway, and it is a tree.
pub(super) fn weigh(value: &Jinja) -> Result<Weight, JinjaError> {
    let mut weight = Weight::default();
    add(value, 0, &mut weight)?;
    pass(0, weight.items)?;
    Ok(weight)
}

fn add(value: &Jinja, depth: usize, weight: &mut Weight) -> Result<(), JinjaError> {
    if depth > MAX_NESTING {
        return Err(over(format!(
            "the value is nested deeper than {MAX_NESTING} levels"
        )));
    }
    weight.items += 1;
    weight.bytes += value.as_str().map_or(1, str::len);
    fit(weight.bytes, weight.items)?;
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map
            if !jinja_value::is_view(value) && value.len().is_some() =>
        {
            fit(0, value.len().unwrap_or_default())?;
            let is_map = value.kind() == ValueKind::Map;
            for item in value.try_iter()? {
                add(&item, depth + 1, weight)?;
                if is_map {
                    add(&value.get_item(&item)?, depth + 1, weight)?;
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the length of the text that a value is written as.
pub(super) fn written(value: &Jinja) -> Result<usize, JinjaError> {
    if let Some(text) = value.as_str() {
        return Ok(text.len());
    }
    weigh(value)?;
    let mut count = LengthCounter(0);
    match write!(count, "{value}") {
        Ok(()) => Ok(count.0),
        Err(_) => fit(MAX_TEXT_BYTES + 1, 0).map(|()| 0),
    }
}

struct LengthCounter(usize);

impl Write for LengthCounter {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.0 += piece.len();
        match self.0 > MAX_TEXT_BYTES {
            true => Err(fmt::Error),
            false => Ok(()),
        }
    }
}
