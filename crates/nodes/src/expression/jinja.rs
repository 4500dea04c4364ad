//! Jinja as graphs have it: the filters, functions and operators, none of which makes or walks through more than the budget
//! of an evaluation holds.

use std::borrow::Cow;
use std::io;
use std::sync::LazyLock;

use minijinja::value::{Kwargs, Rest, Value as Jinja, ValueKind, ValueOrKwargs};
use minijinja::{AutoEscape, Environment, Error as JinjaError, ErrorKind, State, UndefinedBehavior, filters};
use superstep::Value;

use super::budget::{fit, pass, read, spend, weigh, written};
use super::jinja_value::{from_jinja, to_jinja};
use super::limits::{FUEL, MAX_COUNT, MAX_TEXT_BYTES};
use super::slice::stepped;
use super::{ADDRESS, compare, operators};
use crate::base::json::read_json;
use crate::base::text::percent_encoded;

/// Digits of a width in a format; wider texts than that are meant for no eye.
const WIDTH_DIGITS: usize = 4;

pub(super) static JINJA: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    env.set_fuel(Some(FUEL));
    env.set_recursion_limit(100);
    env.set_debug(true);
    env.set_auto_escape_callback(|name| match name {
        ADDRESS => AutoEscape::Custom(ADDRESS.into()),
        _ => AutoEscape::None,
    });
    env.set_formatter(|out, state, value| {
        if value.is_undefined() {
            return Err(JinjaError::from(ErrorKind::UndefinedError));
        }
        let text = match value.as_str() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(json_text(value, None)?),
        };
        let text = match state.auto_escape() {
            AutoEscape::None => text,
            _ => percent_encoded(&text).into(),
        };
        // What is shown may be collected in memory: by `set`, by a macro.
        spend(text.len(), 0)?;
        out.write_str(&text)
            .map_err(|_| JinjaError::from(ErrorKind::WriteFailure))
    });
    add_filters(&mut env);
    add_operators(&mut env);
    // It shows everything there is.
    env.remove_global("debug");
    env
});

/// Adds a filter of Jinja's which first takes from the budget what it walks through, and then what it made.
fn bounded(env: &mut Environment<'static>, name: &'static str, filter: Jinja) {
    env.add_filter(
        name,
        move |state: &mut State, args: Rest<ValueOrKwargs>| -> Result<Jinja, JinjaError> {
            let args = args.into_values();
            if let Some(input) = args.first() {
                taken(input)?;
            }
            let made = filter.call(state, &args)?;
            match made.as_str() {
                Some(text) => spend(text.len(), 0)?,
                None => spend(0, made.len().unwrap_or(0))?,
            }
            Ok(made)
        },
    );
}

fn taken(input: &Jinja) -> Result<(), JinjaError> {
    match input.as_str() {
        Some(text) => pass(text.len(), 0),
        None => {
            weigh(input)?;
            pass(0, input.len().unwrap_or(0))
        }
    }
}

/// Returns the argument that a filter is given besides its input, by place or by name.
fn given(args: &[Jinja], place: usize, name: &str) -> Option<Jinja> {
    let (named, placed): (Vec<&Jinja>, Vec<&Jinja>) = args.iter().partition(|arg| arg.is_kwargs());
    let named = named.first().and_then(|named| named.get_attr(name).ok());
    placed
        .get(place)
        .map(|value| (*value).clone())
        .or(named)
        .filter(|value| !value.is_undefined() && !value.is_none())
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn add_filters(env: &mut Environment<'static>) {
    macro_rules! bounded {
        ($($name:ident)*) => {
            $(bounded(env, stringify!($name), Jinja::from_function(filters::$name));)*
        };
    }
    bounded!(lower upper title trim escape string pprint split lines list unique reverse dictsort items);
    bounded!(groupby map select reject selectattr rejectattr sum zip chain);
    macro_rules! reading {
        ($($name:ident)*) => {
            $(bounded_by(env, stringify!($name), Jinja::from_function(filters::$name), |args| {
                args.first().map_or(Ok(()), subscripted)
            });)*
        };
    }
    reading!(length first last int float round abs bool);
    bounded_by(env, "count", Jinja::from_function(filters::length), |args| {
        args.first().map_or(Ok(()), subscripted)
    });
    for (name, filter) in [
        ("sort", Jinja::from_function(filters::sort)),
        ("min", Jinja::from_function(filters::min)),
        ("max", Jinja::from_function(filters::max)),
    ] {
        env.add_filter(
            name,
            move |state: &mut State, args: Rest<ValueOrKwargs>| -> Result<Jinja, JinjaError> {
                let args = args.into_values();
                args.first().map_or(Ok(()), taken)?;
                compare::sortable(state, &args)?;
                let made = filter.call(state, &args)?;
                spend(0, made.len().unwrap_or(0))?;
                Ok(made)
            },
        );
    }
    bounded(env, "e", Jinja::from_function(filters::escape));
    for name in ["batch", "slice"] {
        let filter = match name {
            "batch" => Jinja::from_function(filters::batch),
            _ => Jinja::from_function(filters::slice),
        };
        env.add_filter(
            name,
            move |state: &mut State, args: Rest<ValueOrKwargs>| -> Result<Jinja, JinjaError> {
                let args = args.into_values();
                if args
                    .iter()
                    .skip(1)
                    .any(|arg| arg.as_usize().is_some_and(|count| count > MAX_COUNT))
                {
                    return Err(too_large(name));
                }
                args.first().map_or(Ok(()), taken)?;
                filter.call(state, &args)
            },
        );
    }
    let indent = Jinja::from_function(filters::indent);
    bounded_by(env, "indent", indent, |args| {
        let Some(text) = args.first().and_then(Jinja::as_str) else {
            return Ok(());
        };
        let width = given(args, 1, "width").map_or(Some(4), |width| width.as_usize());
        let lines = text.matches('\n').count() + 1;
        // What is no number, the filter itself says.
        width.map_or(Ok(()), |width| {
            spend(text.len().saturating_add(lines.saturating_mul(width)), 0)
        })
    });
    let replace = Jinja::from_function(filters::replace);
    bounded_by(env, "replace", replace, |args| {
        let [text, from, to, ..] = args else {
            return Ok(());
        };
        let (text, from) = (
            text.to_str().unwrap_or_default(),
            from.to_str().unwrap_or_default(),
        );
        let found = match from.is_empty() {
            true => text.chars().count() + 1,
            false => text.matches(&*from).count(),
        };
        spend(text.len().saturating_add(found.saturating_mul(written(to)?)), 0)
    });
    let format = Jinja::from_function(filters::format);
    bounded_by(env, "format", format, |args| {
        let text = args.first().and_then(Jinja::as_str).unwrap_or_default();
        let wide = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count() > WIDTH_DIGITS;
        let digits = |c: char| c.is_ascii_digit();
        if text.match_indices(digits).any(|(at, _)| wide(&text[at..])) || text.contains('*') {
            return Err(too_large("format"));
        }
        let longest = args
            .iter()
            .skip(1)
            .map(written)
            .try_fold(0, |longest, next| next.map(|next| next.max(longest)))?;
        let places = text.matches('%').count();
        spend(text.len().saturating_add(places.saturating_mul(longest)), 0)
    });
    env.add_filter("join", join);
    env.add_filter("tojson", |value: Jinja, indent: Option<usize>| {
        json_text(&value, indent)
    });
    env.add_filter("fromjson", |text: String| {
        pass(
            text.len(),
            text.bytes().filter(|byte| b",[{".contains(byte)).count(),
        )?;
        read_json::<Value>(text.as_bytes())
            .map(|value| to_jinja(&value))
            .map_err(|e| {
                JinjaError::new(
                    ErrorKind::InvalidOperation,
                    format!("fromjson: the text is not JSON: {e}"),
                )
            })
    });
}

/// Adds a filter that can multiply what it is given: the size of its result is known before it is made.
fn bounded_by(
    env: &mut Environment<'static>,
    name: &'static str,
    filter: Jinja,
    cost: impl Fn(&[Jinja]) -> Result<(), JinjaError> + Send + Sync + 'static,
) {
    env.add_filter(
        name,
        move |state: &mut State, args: Rest<ValueOrKwargs>| -> Result<Jinja, JinjaError> {
            let args = args.into_values();
            cost(&args)?;
            filter.call(state, &args)
        },
    );
}

fn join(
    state: &mut State,
    list: Jinja,
    between: Option<String>,
    attribute: Option<String>,
    named: Kwargs,
) -> Result<String, JinjaError> {
    let between = match between {
        Some(between) => between,
        None => named.get::<Option<String>>("d")?.unwrap_or_default(),
    };
    let attribute = match attribute {
        Some(attribute) => Some(attribute),
        None => named.get::<Option<String>>("attribute")?,
    };
    named.assert_all_used()?;
    let list = match attribute {
        Some(attribute) => {
            let named: Kwargs = [("attribute", Jinja::from(attribute))].into_iter().collect();
            state.apply_filter("map", &[list, named.into()])?
        }
        None => list,
    };
    let mut text = String::new();
    let mut length = 0_usize;
    for (at, item) in list.try_iter()?.enumerate() {
        length = length.saturating_add(written(&item)? + between.len());
        fit(length, 0)?;
        pass(0, 1)?;
        if at > 0 {
            text.push_str(&between);
        }
        match item.as_str() {
            Some(item) => text.push_str(item),
            None => text.push_str(&item.to_string()),
        }
    }
    spend(text.len(), 0)?;
    Ok(text)
}

/// Operators for values that are neither texts nor lists, as Jinja defines them.
struct Plain {
    joined: minijinja::Expression<'static, 'static>,
    sum: minijinja::Expression<'static, 'static>,
    product: minijinja::Expression<'static, 'static>,
    within: minijinja::Expression<'static, 'static>,
}

static PLAIN: LazyLock<Result<Plain, JinjaError>> = LazyLock::new(|| {
    static ENV: LazyLock<Environment<'static>> = LazyLock::new(|| {
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        env
    });
    Ok(Plain {
        joined: ENV.compile_expression("a ~ b")?,
        sum: ENV.compile_expression("a + b")?,
        product: ENV.compile_expression("a * b")?,
        within: ENV.compile_expression("a in b")?,
    })
});

fn plain(
    operator: fn(&Plain) -> &minijinja::Expression<'static, 'static>,
    left: &Jinja,
    right: &Jinja,
) -> Result<Jinja, JinjaError> {
    let again = |error: &JinjaError| match error.detail() {
        // Without its line, which is one of another source.
        Some(detail) => JinjaError::new(error.kind(), detail.to_owned()),
        None => JinjaError::from(error.kind()),
    };
    let operators = PLAIN.as_ref().map_err(again)?;
    let operands = Jinja::from_pairs([("a", left.clone()), ("b", right.clone())]);
    operator(operators).eval(operands).map_err(|e| again(&e))
}

fn is_list(value: &Jinja) -> bool {
    matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable)
}

fn whole(left: &Jinja, right: &Jinja) -> Option<(i64, i64)> {
    let whole = |value: &Jinja| value.as_i64().filter(|_| value.is_integer());
    Some((whole(left)?, whole(right)?))
}

fn joined(left: Jinja, right: Jinja) -> Result<Jinja, JinjaError> {
    if left.is_undefined() || right.is_undefined() {
        return plain(|known| &known.joined, &left, &right);
    }
    spend(written(&left)? + written(&right)?, 0)?;
    Ok(Jinja::from(match (left.as_str(), right.as_str()) {
        (Some(left), Some(right)) => [left, right].concat(),
        _ => format!("{left}{right}"),
    }))
}

fn sum(left: Jinja, right: Jinja) -> Result<Jinja, JinjaError> {
    if let Some(sum) = whole(&left, &right).and_then(|(left, right)| left.checked_add(right)) {
        return Ok(Jinja::from(sum));
    }
    if let (Some(left), Some(right)) = (left.as_str(), right.as_str()) {
        spend(left.len() + right.len(), 0)?;
        return Ok(Jinja::from([left, right].concat()));
    }
    if let (true, Some(one), Some(other)) = (is_list(&left) && is_list(&right), left.len(), right.len()) {
        spend(0, one + other)?;
    }
    plain(|known| &known.sum, &left, &right)
}

fn product(left: Jinja, right: Jinja) -> Result<Jinja, JinjaError> {
    if let Some(product) = whole(&left, &right).and_then(|(left, right)| left.checked_mul(right)) {
        return Ok(Jinja::from(product));
    }
    let many = match (left.as_usize(), right.as_usize()) {
        (Some(times), None) => Some((&right, times)),
        (None, Some(times)) => Some((&left, times)),
        _ => None,
    };
    if let Some((value, times)) = many {
        let weight = match value.as_str() {
            Some(text) => (text.len(), 0),
            None if is_list(value) => {
                let weight = weigh(value)?;
                (weight.bytes, weight.items.max(value.len().unwrap_or(0)))
            }
            None => (0, 0),
        };
        spend(weight.0.saturating_mul(times), weight.1.saturating_mul(times))?;
    }
    plain(|known| &known.product, &left, &right)
}

fn within(part: Jinja, whole: Jinja) -> Result<bool, JinjaError> {
    match whole.as_str() {
        Some(whole) if !part.is_undefined() => pass(whole.len() + written(&part)?, 0)?,
        _ => pass(0, whole.len().unwrap_or(0))?,
    }
    plain(|known| &known.within, &part, &whole).map(|found| found.is_true())
}

/// Checks that a value may be kept: lists are whole, and nothing is deeper or larger than allowed.
fn weighed(value: Jinja) -> Result<Jinja, JinjaError> {
    if matches!(
        value.kind(),
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map
    ) {
        weigh(&value)?;
    }
    Ok(value)
}

/// Refuses a namespace that could hold itself: writing, comparing or dropping it would never end. Values looked through
/// here have been weighed, so they are not deep.
fn held(value: Jinja) -> Result<Jinja, JinjaError> {
    fn holds_names(value: &Jinja) -> bool {
        if !matches!(
            value.kind(),
            ValueKind::Seq | ValueKind::Iterable | ValueKind::Map
        ) || super::jinja_value::is_view(value)
        {
            return false;
        }
        let is_names = value
            .as_object()
            .is_some_and(|object| object.type_name().contains("namespace"));
        // What cannot be looked at twice may hold anything.
        if is_names || value.len().is_none() {
            return true;
        }
        let keys = value.try_iter().into_iter().flatten();
        keys.into_iter().any(|key| match value.kind() {
            ValueKind::Map => value.get_item(&key).is_ok_and(|item| holds_names(&item)),
            _ => holds_names(&key),
        })
    }
    let value = weighed(value)?;
    if holds_names(&value) {
        return Err(JinjaError::new(
            ErrorKind::InvalidOperation,
            "a namespace holds texts, numbers, lists and objects, and no namespace; make a list of other things with `|list`",
        ));
    }
    Ok(value)
}

/// Takes what it costs at most to find a place in the value.
fn subscripted(value: &Jinja) -> Result<(), JinjaError> {
    match value.kind() {
        ValueKind::String => read(value.as_str().map_or(0, str::len)),
        // Its items are made again, from the first on.
        ValueKind::Iterable => pass(0, value.len().unwrap_or(MAX_COUNT)),
        _ => Ok(()),
    }
}

fn fold(
    operator: fn(Jinja, Jinja) -> Result<Jinja, JinjaError>,
) -> impl Fn(Rest<ValueOrKwargs>) -> Result<Jinja, JinjaError> {
    move |operands| {
        let mut operands = operands.into_values().into_iter();
        let first = operands.next().unwrap_or_default();
        operands.try_fold(first, operator)
    }
}

fn add_operators(env: &mut Environment<'static>) {
    env.add_function(operators::JOINED, fold(joined));
    env.add_function(operators::SUM, fold(sum));
    env.add_function(operators::PRODUCT, fold(product));
    env.add_function(operators::WITHIN, within);
    env.add_function(operators::NOT_WITHIN, |part, whole| {
        within(part, whole).map(|found| !found)
    });
    env.add_function(operators::WEIGHED, weighed);
    env.add_function(operators::HELD, held);
    env.add_function(operators::STEPPED, stepped);
    env.add_test("in", within);
    env.add_function(operators::SUBSCRIPTED, |value: Jinja| {
        subscripted(&value).map(|()| value)
    });
    compare::add_to(env);
    env.add_function("range", range);
    let dict = Jinja::from_function(minijinja::functions::dict);
    env.add_function("dict", move |state: &mut State, args: Rest<ValueOrKwargs>| {
        weighed(dict.call(state, &args.into_values())?)
    });
}

/// Numbers in steps, as Jinja's own `range`, whose count overflows at the ends of what a number holds.
fn range(lower: i64, upper: Option<i64>, step: Option<i64>) -> Result<Jinja, JinjaError> {
    let wrong = |text: &'static str| JinjaError::new(ErrorKind::InvalidOperation, text);
    let (start, end) = upper.map_or((0, lower), |upper| (lower, upper));
    let step = step.unwrap_or(1);
    let distance = i128::from(end) - i128::from(start);
    let count = match step {
        0 => return Err(wrong("cannot create range with step of 0")),
        _ if (distance > 0) != (step > 0) => 0,
        _ => distance.unsigned_abs().div_ceil(u128::from(step.unsigned_abs())),
    };
    match i64::try_from(count) {
        // Each of them lies between the ends, so what wraps on the way there comes back.
        Ok(count) if count as usize <= MAX_COUNT => Ok(Jinja::make_iterable(move || {
            (0..count).map(move |at| start.wrapping_add(at.wrapping_mul(step)))
        })),
        _ => Err(wrong("range has too many elements")),
    }
}

fn too_large(filter: &str) -> JinjaError {
    let text = format!("{filter}: the text would be too large");
    JinjaError::new(ErrorKind::InvalidOperation, text)
}

fn json_text(value: &Jinja, indent: Option<usize>) -> Result<String, JinjaError> {
    let not_json = |cause: String| JinjaError::new(ErrorKind::BadSerialization, cause);
    if value.is_undefined() {
        return Err(JinjaError::from(ErrorKind::UndefinedError));
    }
    let json = from_jinja(value).map_err(not_json)?;
    let mut text = Limited::new(MAX_TEXT_BYTES);
    let indent = " ".repeat(indent.unwrap_or(0).min(8));
    let written = match indent.is_empty() {
        true => serde_json::to_writer(&mut text, &json),
        false => {
            let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
            let mut writer = serde_json::Serializer::with_formatter(&mut text, formatter);
            serde::Serialize::serialize(&json, &mut writer)
        }
    };
    if text.full {
        return Err(too_large("tojson"));
    }
    written.map_err(|e| not_json(e.to_string()))?;
    pass(text.bytes.len(), 0)?;
    String::from_utf8(text.bytes).map_err(|e| not_json(e.to_string()))
}

/// Text that has an end.
pub(super) struct Limited {
    pub(super) bytes: Vec<u8>,
    pub(super) full: bool,
    limit: usize,
}

impl Limited {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            full: false,
            limit,
        }
    }
}

impl io::Write for Limited {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + piece.len() > self.limit {
            self.full = true;
            return Err(io::Error::other("the text is too long"));
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
