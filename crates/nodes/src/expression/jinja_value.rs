//! The bridge between engine values and Jinja values.
//!
//! Lists and objects are handed to minijinja as views that share the engine's memory, so evaluating an expression
//! costs what it touches and not the size of the state. What comes back keeps its JSON type; a view that comes back
//! untouched is the very same list or object again.

use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object as Dynamic, ObjectRepr, Value as Jinja, ValueKind};
use superstep::value::{List, Number, Object};
use superstep::{NodeContext, Value};

/// Deepest nesting that is converted back; JSON readers stop there as well.
pub(crate) const MAX_DEPTH: usize = 128;
/// Parts of a value that an expression makes.
pub(crate) const MAX_VALUES: usize = 1_000_000;
/// Bytes of text in it.
pub(crate) const MAX_TEXT: usize = 64 * 1024 * 1024;

struct ObjectView(Object);
struct ListView(List);

impl fmt::Debug for ObjectView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Value::Object(self.0.clone()), f)
    }
}

impl fmt::Debug for ListView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Value::Array(self.0.clone()), f)
    }
}

impl Dynamic for ObjectView {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.get_value_by_str(key.as_str()?)
    }
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        self.0.get(key).map(to_jinja)
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let keys: Vec<Jinja> = self.0.keys().map(|key| Jinja::from(key.clone())).collect();
        Enumerator::Values(keys)
    }
    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.0.len())
    }
}

impl Dynamic for ListView {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.0.get(key.as_usize()?).map(to_jinja)
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }
}

/// The state of a run that records which keys are read.
struct StateView {
    /// An object.
    state: Value,
    run: NodeContext,
}

impl StateView {
    fn read_all(&self) {
        if let Some(recorder) = self.run.recorder() {
            recorder.read_all();
        }
    }
}

impl fmt::Debug for StateView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read_all();
        fmt::Display::fmt(&self.state, f)
    }
}

impl Dynamic for StateView {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.get_value_by_str(key.as_str()?)
    }
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        let value = match self.run.recorder() {
            Some(recorder) => recorder.read(&self.state, key),
            None => self.state.get(key),
        };
        value.map(to_jinja)
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.read_all();
        let keys = self.state.as_object().into_iter().flat_map(Object::keys);
        Enumerator::Values(keys.map(|key| Jinja::from(key.clone())).collect())
    }
    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        self.read_all();
        self.state.as_object().map(Object::len)
    }
}

/// Returns the state as Jinja sees it in a run that records which keys are read.
pub(crate) fn recorded_state(run: &NodeContext, state: &Value) -> Jinja {
    Jinja::from_object(StateView {
        state: state.clone(),
        run: run.clone(),
    })
}

/// Converts an engine value for Jinja; lists and objects are shared.
pub(crate) fn to_jinja(value: &Value) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(b) => Jinja::from(*b),
        Value::Number(n) => {
            if let Some(i) = n.as_i64() {
                Jinja::from(i)
            } else if let Some(u) = n.as_u64() {
                Jinja::from(u)
            } else {
                Jinja::from(n.as_f64().unwrap_or(f64::NAN))
            }
        }
        Value::String(text) => Jinja::from(text.clone()),
        Value::Array(list) => Jinja::from_object(ListView(list.clone())),
        Value::Object(object) => Jinja::from_object(ObjectView(object.clone())),
    }
}

/// Returns whether the value is an unchanged list or object of the engine's.
pub(crate) fn is_view(value: &Jinja) -> bool {
    value.downcast_object_ref::<ListView>().is_some()
        || value.downcast_object_ref::<ObjectView>().is_some()
        || value.downcast_object_ref::<StateView>().is_some()
}

/// Converts a Jinja value to JSON; `Err` says what cannot be JSON.
pub(crate) fn from_jinja(value: &Jinja) -> Result<Value, String> {
    convert(value, 0, &mut Budget::default())
}

/// The amount that a value made by an expression may still hold. Anything taken over unchanged from the state counts as
/// one.
struct Budget {
    values: usize,
    bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            values: MAX_VALUES,
            bytes: MAX_TEXT,
        }
    }
}

impl Budget {
    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        let values = self.values.checked_sub(1);
        self.values = values.ok_or_else(|| format!("the value would hold more than {MAX_VALUES} parts"))?;
        let left = self.bytes.checked_sub(bytes);
        let megabytes = MAX_TEXT >> 20;
        self.bytes = left.ok_or_else(|| format!("the value would hold more than {megabytes} MB of text"))?;
        Ok(())
    }
}

fn convert(value: &Jinja, depth: usize, budget: &mut Budget) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err(format!("the value is nested deeper than {MAX_DEPTH} levels"));
    }
    budget.spend(value.as_str().map_or(0, str::len))?;
    if let Some(view) = value.downcast_object_ref::<ListView>() {
        return Ok(Value::Array(view.0.clone()));
    }
    if let Some(view) = value.downcast_object_ref::<ObjectView>() {
        return Ok(Value::Object(view.0.clone()));
    }
    if let Some(view) = value.downcast_object_ref::<StateView>() {
        view.read_all();
        return Ok(view.state.clone());
    }
    match value.kind() {
        ValueKind::None => Ok(Value::Null),
        ValueKind::Undefined => Err("a part of the value is undefined".into()),
        ValueKind::Bool => Ok(Value::Bool(value.is_true())),
        ValueKind::Number if value.is_integer() => {
            if let Ok(i) = i64::try_from(value.clone()) {
                Ok(i.into())
            } else if let Ok(u) = u64::try_from(value.clone()) {
                Ok(u.into())
            } else {
                Err(format!("the whole number {value} is too large for JSON"))
            }
        }
        ValueKind::Number => f64::try_from(value.clone())
            .ok()
            .and_then(Number::from_f64)
            .map(Value::Number)
            .ok_or_else(|| format!("the number {value} has no JSON form")),
        ValueKind::String => Ok(value.to_str().map_or(Value::Null, Value::String)),
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter().map_err(|e| e.to_string())?;
            items
                .map(|item| convert(&item, depth + 1, budget))
                .collect::<Result<List, _>>()
                .map(Value::Array)
        }
        ValueKind::Map => {
            let mut object = Object::new();
            for key in value.try_iter().map_err(|e| e.to_string())? {
                let item = value.get_item(&key).map_err(|e| e.to_string())?;
                object.insert(key.to_string(), convert(&item, depth + 1, budget)?);
            }
            Ok(Value::Object(object))
        }
        kind => Err(format!("a {kind} has no JSON form")),
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn objects_and_lists_have_a_length() {
        let scope =
            crate::expression::Scope::new(&json!({"object": {"a": 1, "b": 2, "c": {}}, "list": [1, 2]}));
        for (source, length) in [
            ("state.object|length", 3),
            ("state.list|length", 2),
            ("state.object.c|length", 0),
        ] {
            let made = crate::expression::Expression::compile(source, "t")
                .unwrap()
                .eval(&scope);
            assert_eq!(made.unwrap(), json!(length), "{source}");
        }
    }

    #[test]
    fn a_value_has_an_end() {
        let make = |source: &str| {
            let scope =
                crate::expression::Scope::new(&json!({"text": "x".repeat(1024 * 1024), "list": [1, 2]}));
            let made = crate::expression::Expression::compile(source, "t")
                .unwrap()
                .eval(&scope);
            made.map(|value| value.as_array().map_or(0, List::len))
                .map_err(|e| (e.problem, e.message))
        };
        assert_eq!(make("state.list * 1000"), Ok(2000));
        assert_eq!(make("[state.text] * 60"), Ok(60));
        for (bomb, words) in [
            ("[1] * 2000000", "1000000 parts"),
            ("[[1] * 3000] * 3000", "1000000 parts"),
            ("[state.text] * 70", "64 MB"),
            ("('[' * 200 ~ ']' * 200)|fromjson", "recursion limit"),
        ] {
            let (problem, message) = make(bomb).unwrap_err();
            assert!(message.contains(words), "{bomb}: {problem:?} {message}");
        }
    }

    #[test]
    fn there_and_back_keeps_every_type() {
        let value = json!({
            "null": null, "yes": true, "int": 3, "big": u64::MAX, "neg": -7, "float": 1.0, "text": "ä", "empty": "",
            "list": [1, [2.5, "x"], {}], "object": {"b": 1, "a": 2}
        });
        let back = from_jinja(&to_jinja(&value)).unwrap();
        assert_eq!(back, value);
        assert_eq!(
            back.get("float").unwrap().type_name(),
            "number",
            "1.0 must not become 1"
        );
        let keys: Vec<_> = back
            .get("object")
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .map(|k| k.to_string())
            .collect();
        assert_eq!(keys, ["b", "a"], "order is kept");
    }

    #[test]
    fn a_list_that_passes_through_is_shared() {
        let list: List = (0..1000).map(Value::from).collect();
        let back = from_jinja(&to_jinja(&Value::Array(list.clone()))).unwrap();
        assert!(back.as_array().unwrap().same(&list), "no copy was made");
    }
}
