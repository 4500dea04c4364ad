//! Sentences for people. Beside the English there is what it was made of, so that an interface can say the same in
//! another language: nobody takes a sentence apart to find its words.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Serialize, Serializer};

/// A text that a person reads: English, and how it was made. Made by [`text!`](macro@crate::text), or from a plain text, which is
/// the same in every language. As small as a `&str`, so that errors can hold several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(Repr);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Repr {
    /// A pattern without places.
    Constant(&'static str),
    Made(Box<Made>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Made {
    english: String,
    form: MadeForm,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum MadeForm {
    Plain,
    Pattern(Cow<'static, str>, Vec<(Cow<'static, str>, Text)>),
    List(Join, Vec<Text>),
}

/// Form in which a [`Text`] was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm<'a> {
    /// The same in every language: names, code, what another program said.
    Plain,
    /// A pattern with places such as `{name}`, and what stands there.
    Pattern(&'a str, &'a [(Cow<'static, str>, Text)]),
    /// One thing after another.
    List(Join, &'a [Text]),
}

/// Separator between the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// A comma.
    Comma,
    /// A space: one sentence after another.
    Space,
    /// "and"
    And,
    /// "or"
    Or,
}

impl Join {
    fn english(self) -> &'static str {
        match self {
            Join::Comma => ", ",
            Join::Space => " ",
            Join::And => " and ",
            Join::Or => " or ",
        }
    }
}

/// A [`Text`] from a pattern and what stands at its places: `text!("No node is called `{name}`.", name = id)`; a variable
/// that is called like its place stands alone. Braces that are no place stay as they are. A place without a value, and a
/// value without a place, do not compile.
#[macro_export]
macro_rules! text {
    (@value $name:ident) => { $name };
    (@value $name:ident = $value:expr) => { $value };
    ($pattern:literal $(,)?) => {
        const { $crate::Text::constant($pattern) }
    };
    ($pattern:literal, $($name:ident $(= $value:expr)?),+ $(,)?) => {{
        const { $crate::Text::check($pattern, &[$(stringify!($name)),+]) };
        $crate::Text::filled(
            $pattern.into(),
            vec![$((stringify!($name).into(), $crate::Text::from($crate::text!(@value $name $(= $value)?)))),+],
        )
    }};
}

pub(crate) use text;

impl Text {
    /// Creates a text without places.
    #[doc(hidden)]
    pub const fn constant(pattern: &'static str) -> Self {
        Self::check(pattern, &[]);
        Self(Repr::Constant(pattern))
    }

    fn made(english: String, form: MadeForm) -> Self {
        Self(Repr::Made(Box::new(Made { english, form })))
    }

    /// Creates a text from a pattern and the values of its places. [`text!`](macro@crate::text) is for patterns that
    /// are written in the source.
    pub fn filled(pattern: Cow<'static, str>, args: Vec<(Cow<'static, str>, Text)>) -> Self {
        let mut english = String::with_capacity(pattern.len());
        let mut rest = &*pattern;
        while let Some(open) = rest.find('{') {
            let inside = &rest[open + 1..];
            let arg = inside
                .find('}')
                .and_then(|close| args.iter().find(|(name, _)| *name == inside[..close]));
            english.push_str(&rest[..open]);
            match arg {
                Some((name, value)) => {
                    english.push_str(value);
                    rest = &inside[name.len() + 1..];
                }
                None => {
                    english.push('{');
                    rest = inside;
                }
            }
        }
        english.push_str(rest);
        Self::made(english, MadeForm::Pattern(pattern, args))
    }

    /// Checks that the places and the names agree. Called while compiling.
    #[doc(hidden)]
    pub const fn check(pattern: &str, names: &[&str]) {
        let text = pattern.as_bytes();
        let mut found = 0u64;
        let mut at = 0;
        while at < text.len() {
            if text[at] == b'{' {
                let length = word(text, at + 1);
                if length > 0 && at + 1 + length < text.len() && text[at + 1 + length] == b'}' {
                    let mut index = 0;
                    while index < names.len() && !stands(names[index].as_bytes(), text, at + 1, length) {
                        index += 1;
                    }
                    assert!(index < names.len(), "a place of the pattern has no value");
                    found |= 1 << index;
                }
            }
            at += 1;
        }
        assert!(
            found.count_ones() as usize == names.len(),
            "a value has no place in the pattern"
        );
    }

    /// Creates a list of texts, one after another.
    pub fn list<T: Into<Text>>(join: Join, items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<Text> = items.into_iter().map(Into::into).collect();
        let words: Vec<&str> = items.iter().map(|item| &**item).collect();
        Self::made(words.join(join.english()), MadeForm::List(join, items))
    }

    /// Converts the first letter to a capital, in English.
    pub fn capital(self) -> Self {
        let Some(first) = self.chars().next().filter(|letter| letter.is_lowercase()) else {
            return self;
        };
        let english = first.to_uppercase().chain(self.chars().skip(1)).collect();
        let form = match self.0 {
            Repr::Constant(pattern) => MadeForm::Pattern(pattern.into(), Vec::new()),
            Repr::Made(made) => made.form,
        };
        Self::made(english, form)
    }

    /// Returns the form in which the text was made.
    pub fn form(&self) -> TextForm<'_> {
        match &self.0 {
            Repr::Constant("") => TextForm::Plain,
            Repr::Constant(pattern) => TextForm::Pattern(pattern, &[]),
            Repr::Made(made) => match &made.form {
                MadeForm::Plain => TextForm::Plain,
                MadeForm::Pattern(pattern, args) => TextForm::Pattern(pattern, args),
                MadeForm::List(join, items) => TextForm::List(*join, items),
            },
        }
    }
}

/// Returns the number of bytes from `at` that could be the name of a place.
const fn word(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < text.len() && (text[end].is_ascii_alphanumeric() || text[end] == b'_') {
        end += 1;
    }
    end - at
}

/// Returns whether `name` is found at `at`.
const fn stands(name: &[u8], text: &[u8], at: usize, length: usize) -> bool {
    if name.len() != length {
        return false;
    }
    let mut index = 0;
    while index < length && name[index] == text[at + index] {
        index += 1;
    }
    index == length
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            Repr::Constant(english) => english,
            Repr::Made(made) => &made.english,
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self(Repr::Constant(""))
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

/// As English.
impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        **self == **other
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        match text.0 {
            Repr::Constant(english) => english.to_owned(),
            Repr::Made(made) => made.english,
        }
    }
}

impl From<&Text> for Text {
    fn from(text: &Text) -> Self {
        text.clone()
    }
}

impl From<String> for Text {
    fn from(plain: String) -> Self {
        Self::made(plain, MadeForm::Plain)
    }
}

macro_rules! plain {
    ($($type:ty),*) => {
        $(impl From<$type> for Text {
            fn from(plain: $type) -> Self {
                plain.to_string().into()
            }
        })*
    };
}
plain!(
    &str,
    &String,
    &&str,
    Cow<'_, str>,
    Box<str>,
    char,
    u8,
    u16,
    u32,
    u64,
    usize,
    i32,
    i64
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_the_pattern_with_its_places_filled_once() {
        let name = "{count}";
        let text = text!("`{name}` has {count} of {{\"a\": {count}}} {.", name, count = 3);
        assert_eq!(text, "`{count}` has 3 of {{\"a\": 3}} {.");
        let TextForm::Pattern(pattern, args) = text.form() else {
            panic!("{text:?}");
        };
        assert!(pattern.starts_with("`{name}` has {count}"));
        assert_eq!(args[0], ("name".into(), Text::from("{count}")));
        assert_eq!(args[0].1.form(), TextForm::Plain);
    }

    #[test]
    fn a_text_is_as_small_as_a_str() {
        assert_eq!(size_of::<Text>(), size_of::<&str>());
        assert_eq!(
            text!("an edge").capital().form(),
            TextForm::Pattern("an edge", &[])
        );
    }

    #[test]
    fn what_stands_inside_keeps_how_it_was_made() {
        let what = text!("An edge");
        let names = Text::list(Join::Or, ["`a`", "`b`"]);
        let text = text!("{what} leads to {names}.", what, names);
        assert_eq!(text, "An edge leads to `a` or `b`.");
        let TextForm::Pattern(_, args) = text.form() else {
            panic!("{text:?}");
        };
        assert_eq!(args[0].1.form(), TextForm::Pattern("An edge", &[]));
        assert!(matches!(args[1].1.form(), TextForm::List(Join::Or, items) if items.len() == 2));
    }
}
