//! What a program is given: values as JavaScript has them. Large parts of a state are made when the program looks at
//! them, because most programs look at a few keys only.

use std::ops::Range;
use std::rc::Rc;

use rquickjs::function::Func;
use rquickjs::{CatchResultExt, Ctx, Exception, Function, Object, Value as Js};
use superstep::Value;

use super::CodeError;
use super::errors::machine;

/// Parts that are worth the detour, by the length of their texts and the number of their values.
pub(super) const LARGE: usize = 2048;

/// An argument.
pub(super) enum Argument {
    /// As the engine has it.
    Value(Value),
    /// As it was sent.
    Sent {
        /// The call it came with.
        call: Rc<[u8]>,
        /// Where it stands there.
        shape: SentJson,
    },
}

/// Position of an argument's JSON in a call.
#[derive(Debug)]
pub(super) enum SentJson {
    /// All of it.
    Whole(Range<usize>),
    /// The fields of an object; those without a place are to be asked for.
    Fields(Vec<(String, Option<Range<usize>>)>),
}

/// Function that returns a field that was not sent.
type FetchField = Rc<dyn Fn(&str) -> Result<Vec<u8>, CodeError>>;

/// Converts an argument to a JavaScript value. `later` comes from the prelude: it defines a property that is made when
/// it is looked at.
pub(super) fn given<'js>(
    ctx: &Ctx<'js>,
    later: &Function<'js>,
    given: &Argument,
    ask: FetchField,
) -> Result<Js<'js>, CodeError> {
    let made = match given {
        Argument::Value(Value::Object(fields)) if fields.iter().any(|(_, field)| is_large(field)) => {
            object(ctx, later, fields)
        }
        Argument::Value(value) => parsed(ctx, value),
        Argument::Sent { call, shape } => match shape {
            SentJson::Whole(place) => json(ctx, call, place),
            SentJson::Fields(fields) => sent(ctx, later, call, fields, &ask),
        },
    };
    made.catch(ctx).map_err(|e| machine(&e))
}

fn object<'js>(
    ctx: &Ctx<'js>,
    later: &Function<'js>,
    fields: &superstep::value::Object,
) -> rquickjs::Result<Js<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, field) in fields.iter() {
        if !is_large(field) {
            object.set(&**name, parsed(ctx, field)?)?;
            continue;
        }
        let field = field.clone();
        let make = Func::from(move |ctx: Ctx<'js>| parsed(&ctx, &field));
        later.call::<_, ()>((object.clone(), &**name, make))?;
    }
    Ok(object.into_value())
}

fn sent<'js>(
    ctx: &Ctx<'js>,
    later: &Function<'js>,
    call: &Rc<[u8]>,
    fields: &[(String, Option<Range<usize>>)],
    ask: &FetchField,
) -> rquickjs::Result<Js<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, place) in fields {
        match place {
            Some(place) if place.len() <= LARGE => object.set(name, json(ctx, call, place)?)?,
            Some(place) => {
                let (call, place) = (call.clone(), place.clone());
                let make = Func::from(move |ctx: Ctx<'js>| json(&ctx, &call, &place));
                later.call::<_, ()>((object.clone(), name, make))?;
            }
            None => {
                let (ask, field) = (ask.clone(), name.clone());
                let make = Func::from(move |ctx: Ctx<'js>| match ask(&field) {
                    Ok(bytes) => ctx.json_parse(bytes),
                    Err(error) => Err(Exception::throw_internal(&ctx, &error.to_string())),
                });
                later.call::<_, ()>((object.clone(), name, make))?;
            }
        }
    }
    Ok(object.into_value())
}

fn json<'js>(ctx: &Ctx<'js>, call: &[u8], place: &Range<usize>) -> rquickjs::Result<Js<'js>> {
    match call.get(place.clone()) {
        Some(json) => ctx.json_parse(json),
        None => Err(Exception::throw_internal(ctx, "an argument is cut short")),
    }
}

fn parsed<'js>(ctx: &Ctx<'js>, value: &Value) -> rquickjs::Result<Js<'js>> {
    match serde_json::to_vec(value) {
        Ok(json) => ctx.json_parse(json),
        Err(error) => Err(Exception::throw_internal(ctx, &error.to_string())),
    }
}

fn is_large(value: &Value) -> bool {
    !fits(value, LARGE)
}

/// Returns whether the value is small enough for `room`.
pub(super) fn fits(value: &Value, room: usize) -> bool {
    take(value, &mut { room })
}

/// Takes what the value needs from `room`; false when it is not enough.
fn take(value: &Value, room: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len(),
        _ => 8,
    };
    let Some(left) = room.checked_sub(own) else {
        return false;
    };
    *room = left;
    match value {
        Value::Array(items) => items.iter().all(|item| take(item, room)),
        Value::Object(fields) => fields.iter().all(|(_, field)| take(field, room)),
        _ => true,
    }
}
