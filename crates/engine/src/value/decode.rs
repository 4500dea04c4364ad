//! Reading a [`Value`] as a Rust type, and writing one, through serde.

use std::any::Any;
use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, Visitor,
};
use serde::{Serialize, forward_to_deserialize_any};

use crate::value::Value;

impl Value {
    /// Decodes the value as a `T`. Only what `T` keeps is copied on the way.
    pub fn decode<T: DeserializeOwned + 'static>(&self) -> Result<T, DecodeError> {
        // A `Value` is shared rather than rebuilt.
        let mut same: Option<T> = None;
        if let Some(slot) = (&mut same as &mut dyn Any).downcast_mut::<Option<Value>>() {
            *slot = Some(self.clone());
        }
        match same {
            Some(same) => Ok(same),
            None => T::deserialize(self),
        }
    }

    /// Encodes `data` as a value. Refuses what JSON cannot hold, such as maps whose keys are not text.
    pub fn encode<T: Serialize + 'static>(data: &T) -> Result<Self, DecodeError> {
        match (data as &dyn Any).downcast_ref::<Value>() {
            Some(value) => Ok(value.clone()),
            None => serde_json::to_value(data)
                .map(Value::from)
                .map_err(de::Error::custom),
        }
    }
}

/// Reason why a value does not read as a type, and the place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// Members and items on the way to it, such as `people[2].name`; empty for the value itself.
    place: String,
    problem: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "`{}`: ", self.place)?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            place: String::new(),
            problem: message.to_string(),
        }
    }
}

impl From<serde_json::Error> for DecodeError {
    fn from(error: serde_json::Error) -> Self {
        de::Error::custom(error)
    }
}

/// A member or item, which says where it is when it does not fit.
struct Part<'de>(&'de str, usize, &'de Value);

impl Part<'_> {
    /// Puts this part in front of the places inside it.
    fn place(&self, DecodeError { place, problem }: DecodeError) -> DecodeError {
        let Part(key, index, _) = self;
        let here = match key.is_empty() {
            true => format!("[{index}]"),
            false => (*key).to_owned(),
        };
        let dot = match place.is_empty() || place.starts_with('[') {
            true => "",
            false => ".",
        };
        DecodeError {
            place: format!("{here}{dot}{place}"),
            problem,
        }
    }
}

macro_rules! placed {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, DecodeError> {
            self.2.$method($($argument,)* visitor).map_err(|error| self.place(error))
        })*
    };
}

impl<'de> Deserializer<'de> for Part<'de> {
    type Error = DecodeError;
    placed! {
        deserialize_any();
        deserialize_option();
        deserialize_newtype_struct(name: &'static str);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
    }
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, DecodeError> for Part<'de> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Value {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self {
            Value::Null => visitor.visit_unit(),
            Value::Bool(b) => visitor.visit_bool(*b),
            Value::Number(n) => Ok(n.deserialize_any(visitor)?),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => {
                let parts = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| Part("", index, item));
                visitor.visit_seq(SeqDeserializer::new(parts))
            }
            Value::Object(map) => {
                let parts = map.iter().map(|(key, value)| (&**key, Part(key, 0, value)));
                visitor.visit_map(MapDeserializer::new(parts))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self {
            Value::Null => visitor.visit_none(),
            some => visitor.visit_some(some),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self {
            Value::String(name) => visitor.visit_enum(Variant(name, None)),
            Value::Object(map) if map.len() == 1 => match map.iter().next() {
                Some((name, content)) => visitor.visit_enum(Variant(name, Some(content))),
                None => Err(de::Error::custom("expected the name of a variant")),
            },
            other => Err(de::Error::custom(format!(
                "expected the name of a variant, or an object with only that key, got {}",
                other.type_name()
            ))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// The name of an enum's variant, and its content.
struct Variant<'de>(&'de str, Option<&'de Value>);

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    type Variant = Self;
    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DecodeError> {
        let name = seed.deserialize(de::value::StrDeserializer::<DecodeError>::new(self.0))?;
        Ok((name, self))
    }
}

impl<'de> Variant<'de> {
    fn content(self) -> Result<&'de Value, DecodeError> {
        self.1
            .ok_or_else(|| de::Error::custom(format!("variant {} needs its content", self.0)))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    fn unit_variant(self) -> Result<(), DecodeError> {
        match self.1 {
            None | Some(Value::Null) => Ok(()),
            Some(_) => Err(de::Error::custom(format!("variant {} has no content", self.0))),
        }
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DecodeError> {
        seed.deserialize(self.content()?)
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.content()?.deserialize_any(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.content()?.deserialize_any(visitor)
    }
}
