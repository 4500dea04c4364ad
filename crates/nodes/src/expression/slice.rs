//! Slices with a step, as Python cuts them.

use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{Error as JinjaError, ErrorKind};

use super::budget::pass;

/// Returns the items from `start` to before `stop`, each `step`th; backwards where that is negative.
pub(super) fn stepped(
    value: Jinja,
    start: Option<i64>,
    stop: Option<i64>,
    step: Option<i64>,
) -> Result<Jinja, JinjaError> {
    let step = step.unwrap_or(1);
    let wrong = |text: String| Err(JinjaError::new(ErrorKind::InvalidOperation, text));
    if step == 0 {
        return wrong("cannot slice by step size of 0".to_owned());
    }
    if let Some(text) = value.as_str() {
        pass(text.len(), 0)?;
        let parts: Vec<char> = text.chars().collect();
        let cut = places(parts.len(), start, stop, step).filter_map(|at| parts.get(at));
        return Ok(Jinja::from(cut.collect::<String>()));
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(Jinja::from(Vec::<Jinja>::new())),
        ValueKind::Seq | ValueKind::Iterable => {
            pass(0, value.len().unwrap_or(0))?;
            let parts: Vec<Jinja> = value.try_iter()?.collect();
            let cut = places(parts.len(), start, stop, step).filter_map(|at| parts.get(at).cloned());
            Ok(Jinja::from(cut.collect::<Vec<_>>()))
        }
        kind => wrong(format!("value of type {kind} cannot be sliced")),
    }
}

fn places(length: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> impl Iterator<Item = usize> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let within = |place: i64| {
        let from_front = if place < 0 {
            place.saturating_add(length)
        } else {
            place
        };
        from_front.clamp(low, high)
    };
    let (start, stop) = (start.map_or(first, within), stop.map_or(last, within));
    let inside = move |place: &i64| if step > 0 { *place < stop } else { *place > stop };
    std::iter::successors(Some(start), move |place| place.checked_add(step))
        .take_while(inside)
        .filter_map(|place| usize::try_from(place).ok())
}
