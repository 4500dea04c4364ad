//! The texts of a graph's records that a search reads, and what a search looks for in them.

use regex::{Captures, Regex, RegexBuilder};
use serde_json::Map;
use superstep_document::{Document, Section};

use crate::wire::{Json, Problem, TextMatch, TextQuery};
use superstep_document::text;

/// A compiled pattern may take this much memory.
const MAX_PATTERN: usize = 1 << 20;
/// Characters of the line that are shown on each side of a match, and of a match itself.
const MAX_CONTEXT: usize = 80;
const MAX_SHOWN: usize = 400;
/// Settings are read so deep.
const MAX_DEPTH: usize = 32;
/// Parts of an edge that name nodes, and what is no text for people.
const NOT_TEXT: [&str; 4] = ["from", "to", "default", "paths"];

/// A search pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    whole_word: bool,
    literal: bool,
}

impl Pattern {
    pub(super) fn new(query: &TextQuery) -> Result<Self, Problem> {
        if query.text.is_empty() {
            return Err(
                Problem::invalid(text!("There is nothing to look for.")).remedy(text!("Type a text."))
            );
        }
        let literal = !query.regex;
        let source = if literal {
            regex::escape(&query.text)
        } else {
            query.text.clone()
        };
        let regex = RegexBuilder::new(&source)
            .case_insensitive(!query.match_case)
            .multi_line(true)
            .size_limit(MAX_PATTERN)
            .dfa_size_limit(MAX_PATTERN)
            .build()
            .map_err(|error| {
                let cause = match &error {
                    regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
                    // The last line of the message says what; the ones before draw the place.
                    other => other
                        .to_string()
                        .lines()
                        .last()
                        .unwrap_or_default()
                        .trim_start_matches("error: ")
                        .to_owned(),
                };
                Problem::new(
                    "bad-pattern",
                    text!("The regular expression cannot be read: {cause}.", cause),
                )
                .remedy(text!(
                    "Correct it, or switch regular expressions off to look for the text as it is."
                ))
            })?;
        Ok(Self {
            regex,
            whole_word: query.whole_word,
            literal,
        })
    }

    /// Returns the matches in a text. Empty ones are skipped.
    fn captures<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
        self.regex.captures_iter(text).filter(move |captures| {
            let found = captures.get_match();
            !found.is_empty() && (!self.whole_word || stands_alone(text, found.start(), found.end()))
        })
    }

    fn put(&self, captures: &Captures<'_>, replacement: &str, into: &mut String) {
        if self.literal {
            into.push_str(replacement);
        } else {
            captures.expand(replacement, into);
        }
    }

    /// Returns the text with the wanted matches replaced, and their number.
    pub(super) fn replace(
        &self,
        text: &str,
        replacement: &str,
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(String, u32)> {
        let (mut made, mut last, mut count) = (String::new(), 0, 0);
        for (index, captures) in (0u32..).zip(self.captures(text)) {
            if !wanted(index) {
                continue;
            }
            let found = captures.get_match();
            made.push_str(&text[last..found.start()]);
            self.put(&captures, replacement, &mut made);
            last = found.end();
            count += 1;
        }
        made.push_str(&text[last..]);
        (count > 0).then_some((made, count))
    }
}

/// Returns whether no letter, digit or underscore stands directly before or after the match.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let inside = &text[start..end];
    let goes_on = |outer: Option<char>, inner: Option<char>| word(outer) && word(inner);
    !goes_on(text[..start].chars().next_back(), inside.chars().next())
        && !goes_on(text[end..].chars().next(), inside.chars().next_back())
}

/// Location of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TextPlace {
    /// The name of a record, or the label of a route.
    Name(Option<String>),
    /// JSON Pointer of a value.
    Value(String),
}

/// A text of a document.
pub(super) struct DocumentText<'d> {
    pub(super) record: &'d str,
    pub(super) place: TextPlace,
    pub(super) text: &'d str,
}

/// Visits every text that people write: names, titles, settings, conditions, notes. What only refers to a name is
/// omitted. Stops when `visit` returns `false`.
pub(super) fn visit<'d>(document: &'d Document, visit: &mut dyn FnMut(DocumentText<'d>) -> bool) {
    for (record, value) in document.records() {
        let Json::Object(fields) = value else { continue };
        let of = Section::of(record);
        if matches!(of, Some((Section::Layout, _))) {
            continue;
        }
        if let Some((section, name)) = of
            && section != Section::Edges
        {
            let place = TextPlace::Name(None);
            if !visit(DocumentText {
                record,
                place,
                text: name,
            }) {
                return;
            }
        }
        let edge = matches!(of, Some((Section::Edges, _)));
        if !visit_fields(record, fields, edge, visit) {
            return;
        }
    }
}

fn visit_fields<'d>(
    record: &'d str,
    fields: &'d Map<String, Json>,
    edge: bool,
    visit: &mut dyn FnMut(DocumentText<'d>) -> bool,
) -> bool {
    for (field, value) in fields {
        let skipped = if edge {
            NOT_TEXT.contains(&field.as_str())
        } else {
            matches!(
                field.as_str(),
                "format" | "kind" | "type" | "reducer" | "fallback"
            )
        };
        if edge && field == "paths" {
            for label in value.as_object().into_iter().flat_map(Map::keys) {
                let place = TextPlace::Name(Some(format!("/paths/{}", escaped(label))));
                if !visit(DocumentText {
                    record,
                    place,
                    text: label,
                }) {
                    return false;
                }
            }
        }
        if !skipped && !visit_value(record, value, format!("/{}", escaped(field)), 0, visit) {
            return false;
        }
    }
    true
}

fn visit_value<'d>(
    record: &'d str,
    value: &'d Json,
    pointer: String,
    depth: usize,
    visit: &mut dyn FnMut(DocumentText<'d>) -> bool,
) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    match value {
        Json::String(text) => visit(DocumentText {
            record,
            place: TextPlace::Value(pointer),
            text,
        }),
        Json::Array(items) => items
            .iter()
            .enumerate()
            .all(|(index, item)| visit_value(record, item, format!("{pointer}/{index}"), depth + 1, visit)),
        Json::Object(fields) => fields.iter().all(|(field, item)| {
            visit_value(
                record,
                item,
                format!("{pointer}/{}", escaped(field)),
                depth + 1,
                visit,
            )
        }),
        _ => true,
    }
}

fn escaped(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

/// Finds the matches in a document; at most `limit`.
pub(super) fn find(
    document: &Document,
    pattern: &Pattern,
    replacement: Option<&str>,
    limit: usize,
) -> Vec<TextMatch> {
    let mut found = Vec::new();
    visit(document, &mut |text| {
        let node = document
            .record(text.record)
            .filter(|_| text.record.starts_with("node:"));
        let kind = node
            .and_then(|node| node.get("kind")?.as_str())
            .map(str::to_owned);
        let disabled = node.is_some_and(|node| node.get("disabled").is_some_and(is_on));
        for (index, captures) in (0u32..).zip(pattern.captures(text.text)) {
            if found.len() >= limit {
                return false;
            }
            let (pointer, named) = match &text.place {
                TextPlace::Name(pointer) => (pointer.clone(), true),
                TextPlace::Value(pointer) => (Some(pointer.clone()), false),
            };
            let replaced = replacement.filter(|_| !named).map(|replacement| {
                let mut made = String::new();
                pattern.put(&captures, replacement, &mut made);
                beginning(&made, MAX_SHOWN).to_owned()
            });
            let at = captures.get_match();
            found.push(shown(&text, index, at.start(), at.end(), |shown| TextMatch {
                kind: kind.clone(),
                disabled,
                pointer,
                named,
                replaced,
                ..shown
            }));
        }
        true
    });
    found
}

/// Returns whether a node is disabled: the value is `true`, or the way in which it is disabled.
fn is_on(value: &Json) -> bool {
    !matches!(value, Json::Null | Json::Bool(false))
}

fn shown(
    text: &DocumentText<'_>,
    index: u32,
    start: usize,
    end: usize,
    with: impl FnOnce(TextMatch) -> TextMatch,
) -> TextMatch {
    let whole = text.text;
    let line_start = whole[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = whole[end..].find('\n').map_or(whole.len(), |at| end + at);
    let line = whole[..start].matches('\n').count() + 1;
    with(TextMatch {
        record: text.record.to_owned(),
        kind: None,
        disabled: false,
        pointer: None,
        named: false,
        index,
        line: u32::try_from(line).unwrap_or(u32::MAX),
        before: end_of(&whole[line_start..start], MAX_CONTEXT),
        text: beginning(&whole[start..end], MAX_SHOWN).to_owned(),
        after: beginning(&whole[end..line_end], MAX_CONTEXT).to_owned(),
        replaced: None,
    })
}

fn beginning(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at])
}

fn end_of(text: &str, most: usize) -> String {
    match text.char_indices().rev().nth(most) {
        Some((at, c)) => format!("…{}", &text[at + c.len_utf8()..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let text = r#"{"format":"superstep/1","name":"Order desk",
            "state":{"order":{"type":"string","description":"The order as it came"}},
            "nodes":{"order_check":{"kind":"model","title":"Check the order","config":{
                "prompt":"First line\nIs {{ state.order }} an Order?","tools":[{"name":"reorder"}]}},
              "off":{"kind":"note","disabled":true,"config":{"text":"order"}}},
            "edges":[{"from":"order_check","route":"state.order","paths":{"order":"off"}}],
            "layout":{"order_check":[0,0]}}"#;
        Document::parse(text).0
    }

    fn query(text: &str) -> TextQuery {
        TextQuery {
            text: text.into(),
            ..Default::default()
        }
    }

    fn places(query: &TextQuery) -> Vec<String> {
        find(&document(), &Pattern::new(query).unwrap(), None, 100)
            .into_iter()
            .map(|found| {
                format!(
                    "{}{}#{}",
                    found.record,
                    found.pointer.unwrap_or_default(),
                    found.index
                )
            })
            .collect()
    }

    #[test]
    fn names_settings_conditions_and_notes_are_read_and_references_are_not() {
        assert_eq!(
            places(&query("order")),
            [
                "doc/name#0",
                "key:order#0",
                "key:order/description#0",
                "node:order_check#0",
                "node:order_check/title#0",
                "node:order_check/config/prompt#0",
                "node:order_check/config/prompt#1",
                "node:order_check/config/tools/0/name#0",
                "node:off/config/text#0",
                "edge:order_check->?/route#0",
                "edge:order_check->?/paths/order#0",
            ],
            "the end of an edge names a node and is no text"
        );
    }

    #[test]
    fn case_and_whole_words_are_reported() {
        let case = TextQuery {
            match_case: true,
            ..query("Order")
        };
        assert_eq!(places(&case), ["doc/name#0", "node:order_check/config/prompt#0"]);
        let word = TextQuery {
            whole_word: true,
            ..query("order")
        };
        assert!(
            !places(&word)
                .iter()
                .any(|place| place.contains("tools") || place == "node:order_check#0"),
            "reorder and order_check are other words"
        );
    }

    #[test]
    fn a_match_is_shown_with_its_line_and_what_it_becomes() {
        let pattern = Pattern::new(&TextQuery {
            regex: true,
            ..query(r"an (\w+)\?")
        })
        .unwrap();
        let found = find(&document(), &pattern, Some("no $1!"), 10);
        assert_eq!(found.len(), 1);
        let one = &found[0];
        assert_eq!(
            (one.line, one.before.as_str(), one.after.as_str()),
            (2, "Is {{ state.order }} ", "")
        );
        assert_eq!(one.replaced.as_deref(), Some("no Order!"), "groups are filled in");
        assert_eq!(one.kind.as_deref(), Some("model"));
    }

    #[test]
    fn only_the_wanted_matches_are_replaced_and_a_plain_text_has_no_groups() {
        let pattern = Pattern::new(&query("a")).unwrap();
        assert_eq!(
            pattern.replace("a-a-a", "$0", |index| index == 1),
            Some(("a-$0-a".into(), 1))
        );
        assert_eq!(pattern.replace("bbb", "x", |_| true), None);
    }

    #[test]
    fn patterns_that_are_wrong_huge_or_empty_are_refused_in_words() {
        for text in ["(", r"(\w{900}){900}", ""] {
            let problem = Pattern::new(&TextQuery {
                regex: true,
                ..query(text)
            })
            .unwrap_err();
            assert!(problem.remedy.is_some(), "{problem}");
            assert!(!problem.message.contains('\n'), "{problem}");
        }
        let empty = Pattern::new(&TextQuery {
            regex: true,
            ..query("x*")
        })
        .unwrap();
        assert!(
            find(&document(), &empty, None, 10).is_empty(),
            "an empty match is no match"
        );
    }

    #[test]
    fn matches_are_bounded() {
        let pattern = Pattern::new(&query("o")).unwrap();
        assert_eq!(find(&document(), &pattern, None, 3).len(), 3);
    }
}
