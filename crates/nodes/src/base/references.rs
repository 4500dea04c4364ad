//! Texts that name secrets: `${NAME}` in the servers of `.mcp.json` and in the requests of `http` nodes. What is named is a
//! variable of the environment, wherever its value is kept.
//!
//! A request's texts are templates, so their references are taken out before the template is compiled and put back into
//! what it gives: a value of the state that looks like a reference stays text, and no template sees a secret.

use std::hash::{BuildHasher, RandomState};

/// A piece of a text with references.
pub(crate) enum TextPiece<'a> {
    Text(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
}

/// Splits a text at its `${NAME}`, `${NAME:-default}` and `${env:NAME}`.
pub(crate) fn pieces(text: &str) -> Vec<TextPiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else {
            break;
        };
        let inside = &rest[start + 2..start + length];
        let inside = inside.strip_prefix("env:").unwrap_or(inside);
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        pieces.push(TextPiece::Text(&rest[..start]));
        pieces.push(
            match name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.is_empty() {
                true => TextPiece::Variable { name, default },
                // Not a variable's name: it stands for itself.
                false => TextPiece::Text(&rest[start..=start + length]),
            },
        );
        rest = &rest[start + length + 1..];
    }
    pieces.push(TextPiece::Text(rest));
    pieces
}

/// Returns the variables that a text refers to.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).into_iter().filter_map(|piece| match piece {
        TextPiece::Variable { name, .. } => Some(name),
        TextPiece::Text(_) => None,
    })
}

/// Returns whether a value has several lines, so that no header takes it.
pub(crate) fn several_lines(value: &str) -> bool {
    value.trim().contains(['\n', '\r'])
}

/// A reference that was taken out of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The variable.
    pub(crate) name: String,
    /// What is used when it has no value.
    pub(crate) default: Option<String>,
}

impl Reference {
    fn written(&self) -> String {
        match &self.default {
            Some(default) => format!("${{{}:-{default}}}", self.name),
            None => format!("${{{}}}", self.name),
        }
    }
}

/// The references of several templates. Where one was stands a mark that nobody can know or write beforehand; it is made
/// of letters and digits, so that an address keeps it as it is.
#[derive(Clone, Debug)]
pub(crate) struct References {
    mark: String,
    found: Vec<Reference>,
}

impl References {
    pub(crate) fn new() -> Self {
        let random = || RandomState::new().hash_one(0_u8);
        Self {
            mark: format!("ref{:016x}{:016x}n", random(), random()),
            found: Vec::new(),
        }
    }

    /// Returns a template's source with marks in place of its references.
    pub(crate) fn take_out(&mut self, source: &str) -> String {
        let mut marked = String::with_capacity(source.len());
        for piece in pieces(source) {
            match piece {
                TextPiece::Text(text) => marked.push_str(text),
                TextPiece::Variable { name, default } => {
                    marked.push_str(&format!("{}{}e", self.mark, self.found.len()));
                    self.found.push(Reference {
                        name: name.to_owned(),
                        default: default.map(str::to_owned),
                    });
                }
            }
        }
        marked
    }

    /// Returns a text with something else in place of each mark.
    pub(crate) fn put_back<E>(
        &self,
        text: &str,
        mut value: impl FnMut(&Reference) -> Result<String, E>,
    ) -> Result<String, E> {
        let mut filled = String::with_capacity(text.len());
        let mut parts = text.split(self.mark.as_str());
        filled.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (number, rest) = part.split_once('e').unwrap_or((part, ""));
            let reference = number.parse::<usize>().ok().and_then(|at| self.found.get(at));
            if let Some(reference) = reference {
                filled.push_str(&value(reference)?);
            }
            filled.push_str(rest);
        }
        Ok(filled)
    }

    /// Returns a text for people: with the references as they were written.
    pub(crate) fn shown(&self, text: &str) -> String {
        let shown = self.put_back(text, |reference| {
            Ok::<_, std::convert::Infallible>(reference.written())
        });
        shown.unwrap_or_else(|never| match never {})
    }

    /// Returns whether a text has marks.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        !self.found.is_empty() && text.contains(self.mark.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_taken_out_and_put_back_wherever_they_stand() {
        let mut references = References::new();
        let first = references.take_out("Bearer ${KEY}${KEY}, ${OTHER:-none}");
        let second = references.take_out("${env:THIRD}/${not a name}/$HOME/${{ state.price }}");
        assert!(!first.contains("KEY") && references.are_in(&first), "{first}");
        let value = |reference: &Reference| {
            Ok::<_, ()>(match (&*reference.name, &reference.default) {
                ("KEY", None) => "k".to_owned(),
                ("OTHER", Some(default)) => default.clone(),
                ("THIRD", None) => "3".to_owned(),
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(references.put_back(&first, value).unwrap(), "Bearer kk, none");
        assert_eq!(
            references.put_back(&second, value).unwrap(),
            "3/${not a name}/$HOME/${{ state.price }}"
        );
        assert_eq!(references.shown(&first), "Bearer ${KEY}${KEY}, ${OTHER:-none}");
        assert_eq!(references.put_back(&first, |_| Err::<String, _>(7)), Err(7));
    }

    #[test]
    fn a_text_that_looks_like_a_reference_stays_text() {
        let mut references = References::new();
        references.take_out("${KEY}");
        for text in ["${KEY}", "ref0000000000000000n0e", "n0e"] {
            assert!(!references.are_in(text));
            assert_eq!(
                references.put_back(text, |_| Err::<String, ()>(())).unwrap(),
                text
            );
        }
        assert_ne!(References::new().mark, References::new().mark);
    }
}
