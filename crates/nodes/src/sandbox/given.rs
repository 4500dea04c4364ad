//! What a program is given: values as JavaScript has them. Large parts of a state are made when the program looks at
//! them, because most programs look at a few keys only.

use rquickjs::function::Func;
use rquickjs::{CatchResultExt, Ctx, Exception, Function, Object, Value as Js};
use superstep::Value;

use super::CodeError;
use super::errors::machine;

/// Parts that are worth the detour, by the length of their texts and the number of their values.
const LARGE: usize = 2048;

/// `later` is the prelude's: it defines a property that is made when it is looked at.
pub(super) fn given<'js>(ctx: &Ctx<'js>, later: &Function<'js>, value: &Value) -> Result<Js<'js>, CodeError> {
    let made = match value {
        Value::Object(fields) if fields.iter().any(|(_, field)| is_large(field)) => {
            object(ctx, later, fields)
        }
        value => parsed(ctx, value),
    };
    made.catch(ctx).map_err(|e| machine(&e))
}

fn object<'js>(
    ctx: &Ctx<'js>,
    later: &Function<'js>,
    fields: &superstep::Object,
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

fn parsed<'js>(ctx: &Ctx<'js>, value: &Value) -> rquickjs::Result<Js<'js>> {
    match serde_json::to_vec(value) {
        Ok(json) => ctx.json_parse(json),
        Err(error) => Err(Exception::throw_internal(ctx, &error.to_string())),
    }
}

fn is_large(value: &Value) -> bool {
    let mut room = LARGE;
    !fits(value, &mut room)
}

/// Takes what the value needs from `room`; false when it is not enough.
fn fits(value: &Value, room: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len(),
        _ => 8,
    };
    let Some(left) = room.checked_sub(own) else {
        return false;
    };
    *room = left;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, room)),
        Value::Object(fields) => fields.iter().all(|(_, field)| fits(field, room)),
        _ => true,
    }
}
