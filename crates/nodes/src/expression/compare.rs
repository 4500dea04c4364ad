//! Comparisons. Jinja orders values of all types: every text is greater than every number, so that `'7' >= 50` is true and
//! nobody hears of it. Here a text has no order beside anything but a text, as in Python. Null and what has no value stay as
//! Jinja has them.

use std::cmp::Ordering;

use minijinja::value::{Rest, Value as Jinja, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error as JinjaError, ErrorKind, State, tests};

use super::budget::{pass, read};
use super::operators;

/// Beginning of the message about values without an order.
pub(super) const NO_ORDER: &str = "there is no order between ";

/// Adds the comparisons, as functions for operators and as tests, and the tests that walk through texts.
pub(super) fn add_to(env: &mut Environment<'static>) {
    type Check = fn(Ordering) -> bool;
    let orders: [(&'static str, &[&'static str], Check); 4] = [
        (operators::LESS, &["lt", "lessthan", "<"], Ordering::is_lt),
        (operators::AT_MOST, &["le", "<="], Ordering::is_le),
        (operators::GREATER, &["gt", "greaterthan", ">"], Ordering::is_gt),
        (operators::AT_LEAST, &["ge", ">="], Ordering::is_ge),
    ];
    for (function, names, holds) in orders {
        let compare = move |left: Jinja, right: Jinja| order(&left, &right).map(holds);
        env.add_function(function, compare);
        for name in names {
            env.add_test(*name, compare);
        }
    }
    for (function, names, wanted) in [
        (operators::EQUAL, ["eq", "equalto", "=="].as_slice(), true),
        (operators::UNEQUAL, ["ne", "!="].as_slice(), false),
    ] {
        let compare = move |left: Jinja, right: Jinja| equal(&left, &right).map(|equal| equal == wanted);
        env.add_function(function, compare);
        for name in names {
            env.add_test(*name, compare);
        }
    }
    let walking = [
        ("startingwith", Jinja::from_function(tests::is_startingwith)),
        ("endingwith", Jinja::from_function(tests::is_endingwith)),
        ("lower", Jinja::from_function(tests::is_lower)),
        ("upper", Jinja::from_function(tests::is_upper)),
    ];
    for (name, test) in walking {
        env.add_test(
            name,
            move |state: &mut State, args: Rest<ValueOrKwargs>| -> Result<bool, JinjaError> {
                let args = args.into_values();
                args.iter().try_for_each(walk)?;
                Ok(test.call(state, &args)?.is_true())
            },
        );
    }
}

/// Refuses what is undefined, as Jinja's own operators do.
fn defined(value: &Jinja) -> Result<(), JinjaError> {
    match value.is_undefined() {
        true => Err(JinjaError::from(ErrorKind::UndefinedError)),
        false => Ok(()),
    }
}

/// Takes the walk through everything in a value from the budget.
pub(super) fn walk(value: &Jinja) -> Result<(), JinjaError> {
    match value.kind() {
        ValueKind::String => read(value.as_str().map_or(0, str::len)),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            pass(0, 1 + value.len().unwrap_or(0))?;
            let is_map = value.kind() == ValueKind::Map;
            for item in value.try_iter()? {
                walk(&item)?;
                if is_map {
                    walk(&value.get_item(&item)?)?;
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Takes what a comparison of two values costs: no more than the smaller one of them.
fn weigh_pair(left: &Jinja, right: &Jinja) -> Result<(), JinjaError> {
    if let (Some(left), Some(right)) = (left.as_str(), right.as_str()) {
        return read(left.len().min(right.len()));
    }
    let is_nested = |value: &Jinja| {
        matches!(
            value.kind(),
            ValueKind::Seq | ValueKind::Map | ValueKind::Iterable
        )
    };
    match (is_nested(left), is_nested(right)) {
        (true, true) if left.len() <= right.len() => walk(left),
        (true, true) => walk(right),
        _ => Ok(()),
    }
}

fn equal(left: &Jinja, right: &Jinja) -> Result<bool, JinjaError> {
    defined(left)?;
    defined(right)?;
    weigh_pair(left, right)?;
    Ok(left == right)
}

fn order(left: &Jinja, right: &Jinja) -> Result<Ordering, JinjaError> {
    defined(left)?;
    defined(right)?;
    weigh_pair(left, right)?;
    ordered(left, right)?;
    Ok(left.cmp(right))
}

/// Refuses two values that have no order.
pub(super) fn ordered(left: &Jinja, right: &Jinja) -> Result<(), JinjaError> {
    let has_order = match (class(left), class(right)) {
        (Some(left), Some(right)) => {
            left == right || (left != TEXT && right != TEXT && left != LIST && right != LIST)
        }
        _ => true,
    };
    if !has_order {
        return Err(JinjaError::new(
            ErrorKind::InvalidOperation,
            format!("{NO_ORDER}{} and {}", named(left), named(right)),
        ));
    }
    // Lists are ordered by the first place where they differ.
    if class(left) == Some(LIST) {
        for (left, right) in left.try_iter()?.zip(right.try_iter()?) {
            ordered(&left, &right)?;
            if left != right {
                break;
            }
        }
    }
    Ok(())
}

const TEXT: &str = "a text";
const LIST: &str = "a list";

/// Returns the class of a value that has an order; `None` for null, which Jinja puts before all others.
fn class(value: &Jinja) -> Option<&'static str> {
    match value.kind() {
        ValueKind::Number => Some("a number"),
        ValueKind::Bool => Some("a truth value"),
        ValueKind::String => Some(TEXT),
        ValueKind::Seq | ValueKind::Iterable => Some(LIST),
        ValueKind::Map => Some("an object"),
        _ => None,
    }
}

fn named(value: &Jinja) -> String {
    const MAX_SHOWN: usize = 40;
    let class = class(value).unwrap_or("null");
    match value.kind() {
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            let more = if text.chars().nth(MAX_SHOWN).is_some() {
                "…"
            } else {
                ""
            };
            format!(
                "the text `{}{more}`",
                text.chars().take(MAX_SHOWN).collect::<String>()
            )
        }
        ValueKind::Number => format!("the number {value}"),
        _ => class.to_owned(),
    }
}

/// Refuses a list whose items have no order among each other, by what they are sorted by.
pub(super) fn sortable(state: &mut State, args: &[Jinja]) -> Result<(), JinjaError> {
    let Some(list) = args.first() else { return Ok(()) };
    if list.is_undefined() || list.is_none() {
        return Ok(());
    }
    let named = args.iter().find(|arg| arg.is_kwargs());
    let attribute = named.and_then(|named| named.get_attr("attribute").ok());
    let attribute = attribute.as_ref().and_then(Jinja::as_str).unwrap_or_default();
    let keys = attribute.split(',').map(str::trim).filter(|key| !key.is_empty());
    let lists: Vec<Jinja> = match attribute.is_empty() {
        true => vec![list.clone()],
        false => keys
            .map(|key| {
                let by = [("attribute", Jinja::from(key))].into_iter();
                let by: minijinja::value::Kwargs = by.collect();
                state.apply_filter("map", &[list.clone(), by.into()])
            })
            .collect::<Result<_, _>>()?,
    };
    for list in lists {
        let mut first: Option<Jinja> = None;
        for item in list.try_iter()? {
            pass(0, 1)?;
            if class(&item).is_none() {
                continue;
            }
            match &first {
                Some(first) => ordered(first, &item)?,
                None => first = Some(item),
            }
        }
    }
    Ok(())
}
