//! Which pieces of a stream are one call. Servers say it by an index, by an id or not at all; they count from one, count
//! pieces instead of calls, give every call the same id or every piece another one, and send what came already again.
//!
//! A piece belongs to a call by its index, else by its id, else to the call that began last. A call comes out once,
//! with the arguments that came.

use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::halves::{self, Joiner};
use crate::base::json::read_json;
use crate::models::answer::CallPiece;

/// Most calls of one answer.
pub(in crate::models) const MAX_CALLS: usize = 256;

/// A piece of a call as a server sends it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::models) struct CallDelta {
    /// Which call, as the server counts.
    pub(in crate::models) index: Option<u64>,
    /// Its id.
    pub(in crate::models) id: Option<String>,
    /// The tool.
    pub(in crate::models) name: Option<String>,
    /// A part of the text of its arguments.
    pub(in crate::models) args: Option<String>,
    /// All of its arguments.
    pub(in crate::models) whole: Option<Json>,
    /// The signature of the reasoning that led to it.
    pub(in crate::models) signature: Option<String>,
}

/// A call as it is after the last piece.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::models) struct GatheredCall {
    pub(in crate::models) id: String,
    pub(in crate::models) name: String,
    /// The arguments, or their text if it is no JSON.
    pub(in crate::models) args: Json,
    /// Returns whether all of the arguments came.
    pub(in crate::models) has_ended: bool,
    pub(in crate::models) signatures: Vec<String>,
}

/// More calls than [`MAX_CALLS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::models) struct TooManyCalls;

#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    args: String,
    /// A piece that repeats all of the arguments so far, when it could also be the next part of them.
    so_far: Option<String>,
    whole: Option<Json>,
    signatures: Vec<String>,
    joiner: Joiner,
    shown_id: bool,
    shown_name: usize,
}

impl Call {
    /// Returns whether all of the arguments came, as far as their text says.
    fn is_done(&self) -> bool {
        self.whole.is_some() || is_object(&self.args) || self.so_far.as_deref().is_some_and(is_object)
    }

    fn has_no_args(&self) -> bool {
        self.whole.is_none() && self.args.trim().is_empty()
    }

    /// Returns whether a piece with these arguments repeats those that came.
    fn repeats(&self, piece: &CallDelta) -> bool {
        match (&piece.whole, piece.args.as_deref()) {
            (Some(whole), _) => self.json().as_ref() == Some(whole),
            (None, None) => true,
            (None, Some(text)) => {
                text.trim().is_empty()
                    || self.args.trim() == text.trim()
                    || self
                        .json()
                        .is_some_and(|json| read_json(text.as_bytes()).ok() == Some(json))
            }
        }
    }

    fn json(&self) -> Option<Json> {
        let texts = [Some(self.args.as_str()), self.so_far.as_deref()]
            .into_iter()
            .flatten();
        let mut read = texts.filter_map(|text| read_json(text.as_bytes()).ok());
        read.next().or_else(|| self.whole.clone())
    }

    /// Adds arguments; returns the part of them that is new.
    fn add(&mut self, text: String) -> String {
        if text.is_empty() {
            return text;
        }
        if let Some(so_far) = self.so_far.take().filter(|so_far| text.starts_with(so_far)) {
            // Twice the whole of what came is no accident.
            let new = text[so_far.len()..].to_owned();
            self.args.clone_from(&text);
            self.so_far = Some(text);
            return new;
        }
        if text.trim_start().starts_with('{') && is_object(&self.args) {
            // The whole again, at the end.
            let json: Option<Json> = read_json(text.as_bytes()).ok();
            if json.is_some() && json == self.json() {
                return String::new();
            }
        }
        if self.args.is_empty() || !text.starts_with(&self.args) {
            self.args.push_str(&text);
            return text;
        }
        let appended = format!("{}{text}", self.args);
        let new = text[self.args.len()..].to_owned();
        if !can_begin_json(&appended) {
            self.so_far = Some(text.clone());
            self.args = text;
            return new;
        }
        // Both are possible: the next pieces decide.
        self.so_far = can_begin_json(&text).then(|| text.clone());
        self.args = appended;
        text
    }

    fn end(mut self) -> GatheredCall {
        self.args.push_str(self.joiner.rest());
        let told = |json: &Json| json.as_object().is_some_and(|fields| !fields.is_empty());
        let of_pieces = object(&self.args);
        let of_repeated = || object(self.so_far.as_deref()?);
        let known = match (of_pieces.or_else(of_repeated), self.whole.take()) {
            (Some(pieces), Some(whole)) if !told(&pieces) => Some(whole),
            (Some(pieces), _) => Some(pieces),
            // Pieces that are no arguments do not take the place of arguments that came at once.
            (None, whole) => whole,
        };
        GatheredCall {
            id: self.id,
            name: self.name,
            has_ended: known.as_ref().is_some_and(Json::is_object),
            args: known.unwrap_or(Json::String(self.args)),
            signatures: self.signatures,
        }
    }
}

fn is_object(text: &str) -> bool {
    let text = text.trim();
    match text.as_bytes() {
        [b'{', .., b'}'] => serde_json::from_str::<IgnoredAny>(text).is_ok(),
        [b'"', .., b'"'] => object(text).is_some(),
        _ => false,
    }
}

/// Reads arguments; some servers send the text of a text.
fn object(text: &str) -> Option<Json> {
    let json = match read_json(text.as_bytes()).ok()? {
        Json::String(inner) if inner.trim_start().starts_with('{') => read_json(inner.as_bytes()).ok()?,
        json => json,
    };
    json.is_object().then_some(json)
}

/// Returns whether the text is JSON or becomes JSON when more of it comes.
fn can_begin_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).map_or_else(|error| error.is_eof(), |_| true)
}

/// The calls of an answer on its way.
#[derive(Debug, Default)]
pub(in crate::models) struct CallGatherer {
    calls: Vec<Call>,
}

impl CallGatherer {
    /// Adds a piece; `marked` says whether its texts hold marks of halves of characters.
    pub(in crate::models) fn add(
        &mut self,
        mut piece: CallDelta,
        marked: bool,
    ) -> Result<CallPiece, TooManyCalls> {
        // Some send the text of the arguments where the arguments belong.
        if let Some(Json::String(text)) = piece.whole.take_if(|whole| whole.is_string()) {
            piece.args.get_or_insert(text);
        }
        for text in [&mut piece.id, &mut piece.name] {
            if let Some(given) = text.take().filter(|given| !given.is_empty()) {
                *text = Some(match marked {
                    true => halves::unmarked(&given).into_owned(),
                    false => given,
                });
            }
        }
        let place = match self.place(&piece) {
            Some(place) => place,
            None if self.calls.len() == MAX_CALLS => return Err(TooManyCalls),
            None => {
                self.calls.push(Call {
                    index: piece.index,
                    ..Call::default()
                });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[place];
        if let Some(id) = piece.id.filter(|_| call.id.is_empty()) {
            call.id = id;
        }
        if let Some(name) = piece.name {
            named(
                &mut call.name,
                &name,
                call.whole.is_none() && call.args.is_empty(),
            );
        }
        call.signatures.extend(piece.signature);
        let mut args = match piece.args {
            Some(text) => {
                let text = call.joiner.join(text, marked);
                call.add(text)
            }
            None => String::new(),
        };
        if let Some(whole) = piece.whole {
            let whole = if marked {
                halves::unmarked_json(whole)
            } else {
                whole
            };
            if call.has_no_args() {
                args = whole.to_string();
            }
            call.whole = Some(whole);
        }
        let id = (!call.shown_id && !call.id.is_empty()).then(|| call.id.clone());
        call.shown_id |= id.is_some();
        let name = call.name.get(call.shown_name..).filter(|new| !new.is_empty());
        let name = name.map(str::to_owned);
        call.shown_name = call.name.len();
        Ok(CallPiece {
            index: place,
            id,
            name,
            args,
        })
    }

    /// Returns the place of the call that a piece belongs to; `None` if it begins one.
    fn place(&self, piece: &CallDelta) -> Option<usize> {
        let last = self.calls.len().checked_sub(1)?;
        let by_index = piece
            .index
            .and_then(|index| self.calls.iter().rposition(|call| call.index == Some(index)));
        let by_id = || {
            let id = piece.id.as_ref()?;
            self.calls.iter().rposition(|call| call.id == *id)
        };
        if let Some(place) = by_index {
            return (!self.begins_beside(place, piece)).then_some(place);
        }
        let is_named = piece.name.is_some();
        let part = piece.args.as_deref().map_or("", str::trim_start);
        let is_later_part = piece.whole.is_none() && !part.is_empty() && !part.starts_with('{');
        if piece.index.is_some() {
            // Another number: another call, unless it says that it is none. Some count pieces, not calls.
            let known = by_id();
            let goes_on = |place: usize| {
                let call = &self.calls[place];
                // Half of a call must not run as one.
                let so_far = call.so_far.as_deref().unwrap_or(&call.args);
                let fits = || {
                    let joined = format!("{}{part}", call.args);
                    !call.has_no_args() && (part.starts_with(so_far) || can_begin_json(&joined))
                };
                !call.is_done() && (is_later_part || fits())
            };
            return match known {
                Some(place) if !is_named => Some(place),
                Some(place) => goes_on(place).then_some(place),
                // Who gives ids gives one to the beginning of a call.
                None if is_named => (piece.id.is_none() && self.continues(last, piece)).then_some(last),
                None if piece.id.is_some() && !is_later_part => None,
                None => {
                    let open = &self.calls[last];
                    (!open.is_done() || open.repeats(piece)).then_some(last)
                }
            };
        }
        if let Some(place) = by_id() {
            return (!self.begins_beside(place, piece)).then_some(place);
        }
        let open = &self.calls[last];
        let goes_on = match (&piece.id, is_named) {
            // The id may come late, or with every piece another one.
            (Some(_), true) => open.name.is_empty() && open.id.is_empty() && open.has_no_args(),
            (Some(_), false) => {
                let is_late = open.id.is_empty() && piece.whole.is_none() && part.is_empty();
                is_late || (!open.is_done() && (open.id.is_empty() || is_later_part))
            }
            (None, true) => !self.begins_beside(last, piece),
            (None, false) => true,
        };
        goes_on.then_some(last)
    }

    /// Returns whether a piece with a name and no id is more of the call at `place`, which has both.
    fn continues(&self, place: usize, piece: &CallDelta) -> bool {
        let call = &self.calls[place];
        let has_both = !call.id.is_empty() && piece.name.as_deref() == Some(call.name.as_str());
        has_both && (!call.is_done() || call.repeats(piece))
    }

    /// Returns whether a piece that names the call at `place` begins another one: some servers give all of them one number, or
    /// one id.
    fn begins_beside(&self, place: usize, piece: &CallDelta) -> bool {
        let call = &self.calls[place];
        let has_other_id = piece
            .id
            .as_ref()
            .is_some_and(|id| !call.id.is_empty() && *id != call.id);
        let Some(name) = &piece.name else {
            let part = piece.args.as_deref().map_or("", str::trim_start);
            let has_args = piece.whole.is_some() || part.starts_with('{');
            return has_other_id && has_args && call.is_done() && !self.is_shared(piece);
        };
        if call.name.is_empty() {
            return has_other_id && call.is_done();
        }
        if call.is_done() {
            return has_other_id || *name != call.name || !call.repeats(piece);
        }
        has_other_id && *name != call.name
    }

    /// Returns whether a piece without a name repeats the arguments of the call that began last.
    fn is_shared(&self, piece: &CallDelta) -> bool {
        self.calls.last().is_some_and(|call| call.repeats(piece))
    }

    /// Returns the calls. Those of which nothing came are none, and neither are those that came twice.
    pub(in crate::models) fn end(&mut self) -> Vec<GatheredCall> {
        let mut ended: Vec<GatheredCall> = Vec::new();
        let calls = std::mem::take(&mut self.calls).into_iter();
        let calls: Vec<(String, GatheredCall)> = calls.map(|call| (call.args.clone(), call.end())).collect();
        for (place, (text, call)) in calls.iter().enumerate() {
            let is_empty = call.name.is_empty() && !call.has_ended && is_blank(&call.args);
            let twin =
                |other: &GatheredCall| !call.id.is_empty() && other.id == call.id && other.name == call.name;
            let came = ended.iter().any(|other| twin(other) && other.args == call.args);
            // A beginning that comes again as a whole, under another number.
            let comes = !call.has_ended
                && calls[place + 1..]
                    .iter()
                    .any(|(whole, other)| twin(other) && (is_blank(&call.args) || whole.starts_with(text)));
            let is_rest = is_blank(&call.args) && ended.iter().any(twin);
            if !is_empty && !came && !comes && !is_rest {
                ended.push(call.clone());
            }
        }
        ended
    }
}

fn is_blank(args: &Json) -> bool {
    args.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Adds to a name what a piece says of it: all of it, all of it again, or a part.
fn named(name: &mut String, given: &str, may_go_on: bool) {
    if name == given || (!name.is_empty() && !may_go_on) {
        return;
    }
    match given.strip_prefix(name.as_str()) {
        Some(_) => *name = given.to_owned(),
        None => name.push_str(given),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Gathers pieces: index, id, name and arguments, null where there is none.
    fn gathered(pieces: Json) -> Vec<(String, String, Json)> {
        let mut gatherer = CallGatherer::default();
        for piece in pieces.as_array().unwrap() {
            let text = |place: usize| piece[place].as_str().map(str::to_owned);
            let delta = CallDelta {
                index: piece[0].as_u64(),
                id: text(1),
                name: text(2),
                args: text(3),
                whole: piece.get(3).filter(|args| args.is_object()).cloned(),
                signature: None,
            };
            gatherer.add(delta, false).unwrap();
        }
        let calls = gatherer.end().into_iter();
        calls.map(|call| (call.id, call.name, call.args)).collect()
    }

    fn call(id: &str, name: &str, args: Json) -> (String, String, Json) {
        (id.to_owned(), name.to_owned(), args)
    }

    #[test]
    fn a_call_is_one_however_its_pieces_are_numbered() {
        let one = [call("a", "f", json!({"x": 1}))];
        for pieces in [
            json!([
                [0, "a", "f", ""],
                [0, null, null, "{\"x\""],
                [0, null, null, ": 1}"]
            ]),
            json!([
                [1, "a", "f", ""],
                [1, null, null, "{\"x\""],
                [1, null, null, ": 1}"]
            ]),
            json!([
                [0, "a", "f", ""],
                [null, null, null, "{\"x\""],
                [null, null, null, ": 1}"]
            ]),
            json!([
                [null, "a", "f", ""],
                [null, "a", null, "{\"x\""],
                [null, "a", null, ": 1}"]
            ]),
            json!([
                [0, "a", "f", ""],
                [1, "a", null, "{\"x\""],
                [2, "a", null, ": 1}"]
            ]),
            json!([
                [0, "a", "f", ""],
                [1, null, null, "{\"x\""],
                [2, null, null, ": 1}"]
            ]),
            json!([[0, "a", "f", ""], [1, "a", "f", "{\"x\""], [2, "a", "f", ": 1}"]]),
            json!([
                [0, "a", "f", ""],
                [0, "b", null, "{\"x\""],
                [0, "c", null, ": 1}"]
            ]),
            json!([[0, "a", "f", ""], [0, "b", "f", "{\"x\""], [0, "c", "f", ": 1}"]]),
            json!([[0, "a", "f", ""], [0, "a", "f", "{\"x\""], [0, "a", "f", ": 1}"]]),
            json!([[4_294_967_295_u64, "a", "f", "{\"x\": 1}"]]),
            json!([[0, "a", "f", "{\"x\": 1}"], [0, "a", "f", "{\"x\": 1}"]]),
            json!([[0, "a", "f", "{\"x\": 1}"], [1, "a", "f", "{\"x\": 1}"]]),
            json!([
                [0, "a", "f", "{\"x\""],
                [0, null, null, ": 1}"],
                [0, "a", "f", "{\"x\":1}"]
            ]),
            json!([[0, "a", "f", "{\"x\""], [0, null, null, ": 1}"], [null, "a", "f", {"x": 1}]]),
            json!([
                [0, "a", "f", "{"],
                [0, null, null, "{\"x\": "],
                [0, null, null, "{\"x\": 1}"]
            ]),
            json!([
                [0, "a", "f", "{\"x\":"],
                [0, null, null, "{\"x\": 1"],
                [0, null, null, "{\"x\": 1}"]
            ]),
            json!([[0, "a", "f", "{\"x\": "], [0, null, null, "{\"x\": 1}"]]),
            json!([[0, "a", null, ""], [0, null, "f", "{\"x\": 1}"]]),
            json!([[0, null, "f", ""], [0, "a", null, "{\"x\": 1}"]]),
            json!([[0, null, null, "{\"x\": 1}"], [0, "a", "f", null]]),
            json!([[0, "a", "f", {"x": 1}]]),
            json!([
                [0, "a", "f", null],
                [3, null, null, null],
                [0, null, null, "{\"x\": 1}"]
            ]),
        ] {
            assert_eq!(gathered(pieces.clone()), one, "{pieces}");
        }
        let split = json!([
            [0, "a", "get_", ""],
            [0, null, "weather", ""],
            [0, null, null, "{}"]
        ]);
        assert_eq!(gathered(split), [call("a", "get_weather", json!({}))]);
    }

    #[test]
    fn two_calls_are_two_whatever_they_share() {
        let two = |first: &str, second: &str| {
            [
                call(first, "f", json!({"x": 1})),
                call(second, "f", json!({"x": 2})),
            ]
        };
        for (pieces, ids) in [
            (
                json!([
                    [0, "a", "f", ""],
                    [1, "b", "f", ""],
                    [0, null, null, "{\"x\": 1}"],
                    [1, null, null, "{\"x\": 2}"]
                ]),
                ["a", "b"],
            ),
            (
                json!([
                    [0, "z", "f", ""],
                    [1, "z", "f", ""],
                    [0, null, null, "{\"x\": 1}"],
                    [1, null, null, "{\"x\": 2}"]
                ]),
                ["z", "z"],
            ),
            (
                json!([[0, "a", "f", "{\"x\": 1}"], [0, "b", "f", "{\"x\": 2}"]]),
                ["a", "b"],
            ),
            (
                json!([[0, "z", "f", "{\"x\": 1}"], [0, "z", "f", "{\"x\": 2}"]]),
                ["z", "z"],
            ),
            (
                json!([[0, null, "f", "{\"x\": 1}"], [0, null, "f", "{\"x\": 2}"]]),
                ["", ""],
            ),
            (
                json!([
                    [null, null, "f", "{\"x\": 1}"],
                    [null, null, "f", "{\"x\""],
                    [null, null, null, ": 2}"]
                ]),
                ["", ""],
            ),
            (
                json!([
                    [null, "a", "f", "{\"x\""],
                    [null, null, null, ": 1}"],
                    [null, "b", "f", ""],
                    [null, null, null, "{\"x\": 2}"]
                ]),
                ["a", "b"],
            ),
            (
                json!([
                    [3, "a", "f", "{\"x\": 1}"],
                    [7, "b", "f", "{\"x\":"],
                    [7, null, null, "2}"]
                ]),
                ["a", "b"],
            ),
        ] {
            assert_eq!(gathered(pieces.clone()), two(ids[0], ids[1]), "{pieces}");
        }
        let other = json!([[0, "a", "f", ""], [0, "b", "g", "{}"]]);
        assert_eq!(
            gathered(other),
            [call("a", "f", json!("")), call("b", "g", json!({}))]
        );
    }

    #[test]
    fn nothing_is_made_of_a_number() {
        let mut gatherer = CallGatherer::default();
        for index in 0..1_000_000_u64 {
            let piece = CallDelta {
                index: Some(u64::MAX - index),
                id: Some(format!("c{index}")),
                name: Some("f".to_owned()),
                ..CallDelta::default()
            };
            if gatherer.add(piece, false).is_err() {
                assert_eq!(index, 256);
                return;
            }
        }
        panic!("a bound is missing");
    }

    #[test]
    fn a_nested_object_is_no_repetition() {
        let pieces = json!([
            [0, "a", "f", "{\"x\":"],
            [0, null, null, "{\"x\":"],
            [0, null, null, "1}}"]
        ]);
        assert_eq!(gathered(pieces), [call("a", "f", json!({"x": {"x": 1}}))]);
    }
}
