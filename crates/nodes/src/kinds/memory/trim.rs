//! Which messages of a conversation are kept, by the rules of LangChain's `trim_messages` with the strategy `last`; and
//! never a tool's answer without the message that called for it.

use superstep::Value;
use superstep::value::{List, Object};

use super::count::{calls, kind, scale, tokens};

/// Limits on the part that is kept.
#[derive(Clone, Debug)]
pub(super) struct Trim {
    pub(super) max_tokens: Option<usize>,
    pub(super) max_turns: Option<usize>,
    pub(super) include_system: bool,
    /// The first message that is kept (after the system's) is of one of these types; of any when empty.
    pub(super) start_on: Vec<String>,
    /// The last one is.
    pub(super) end_on: Vec<String>,
    pub(super) allow_partial: bool,
    /// Counts are corrected by what the provider counted for its last answer.
    pub(super) by_provider: bool,
}

impl Trim {
    /// Returns the messages that are kept; only the first after the system's may have been shortened.
    pub(super) fn kept(&self, messages: &[Value]) -> Vec<Value> {
        let is = |message: &Value, types: &[String]| {
            types.is_empty() || types.iter().any(|ty| ty == kind(message))
        };
        let end = messages
            .iter()
            .rposition(|message| is(message, &self.end_on))
            .map_or(0, |last| last + 1);
        let messages = &messages[..end];
        let (system, rest) = match messages.split_first() {
            Some((first, rest)) if self.include_system && kind(first) == "system" => (Some(first), rest),
            _ => (None, messages),
        };
        let mut from = 0;
        if let Some(turns) = self.max_turns {
            let begin = rest
                .iter()
                .enumerate()
                .rev()
                .filter(|(_, message)| kind(message) == "human");
            from = begin.take(turns).last().map_or(rest.len(), |(at, _)| at);
        }
        let mut partial = None;
        if let Some(most) = self.max_tokens {
            let factor = if self.by_provider { scale(messages) } else { 1.0 };
            let count = |message: &Value| tokens(message) as f64 * factor;
            let most = most as f64 - system.map_or(0.0, count);
            let (mut sum, mut first) = (0.0, rest.len());
            while first > from && sum + count(&rest[first - 1]) <= most {
                first -= 1;
                sum += count(&rest[first]);
            }
            if first > from && self.allow_partial {
                partial = shortened(&rest[first - 1], |message| sum + count(message) <= most);
            }
            from = first;
        }
        let mut kept: Vec<Value> = partial.into_iter().chain(rest[from..].iter().cloned()).collect();
        let start = kept
            .iter()
            .position(|message| is(message, &self.start_on))
            .unwrap_or(kept.len());
        kept.drain(..start);
        // What answers a call that is gone answers nothing.
        let orphans = kept.iter().take_while(|message| kind(message) == "tool").count();
        kept.drain(..orphans);
        system.cloned().into_iter().chain(kept).collect()
    }
}

fn with_content(message: &Value, content: Value) -> Option<Value> {
    let mut fields: Object = message.as_object()?.clone();
    fields.insert("content", content);
    Some(Value::Object(fields))
}

/// Returns the end of a message that fits: its last blocks, or the last lines of its text.
fn shortened(message: &Value, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    match message.get("content")? {
        Value::Array(blocks) => (1..blocks.len()).find_map(|left_out| {
            let blocks: List = blocks.iter().skip(left_out).cloned().collect();
            with_content(message, Value::Array(blocks)).filter(|message| fits(message))
        }),
        Value::String(text) => {
            let lines: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
            lines
                .into_iter()
                .filter(|from| *from < text.len())
                .find_map(|from| with_content(message, text[from..].into()).filter(|message| fits(message)))
        }
        _ => None,
    }
}

/// Returns where the kept messages begin when the last `count` are kept: not between a call and its answers.
pub(super) fn last(messages: &[Value], count: usize) -> usize {
    let mut from = messages.len().saturating_sub(count);
    while from > 0 && messages.get(from).is_some_and(|message| kind(message) == "tool") {
        from -= 1;
    }
    from
}

/// Returns the ids of the calls that a message makes.
pub(super) fn call_ids(message: &Value) -> impl Iterator<Item = &str> {
    let calls = calls(message).into_iter().flat_map(List::iter);
    calls.filter_map(|call| call.get("id")?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;
    use superstep::json;

    use super::*;

    /// Runs of `trim_messages` of langchain-core, over limits, types and switches.
    #[test]
    fn what_is_kept_is_what_langchain_keeps() {
        let data: Json =
            serde_json::from_str(include_str!("../../../tests/data/trim_messages.json")).unwrap();
        let messages: Vec<Value> = data["conversation"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m.clone().into())
            .collect();
        let cases = data["cases"].as_array().unwrap();
        assert!(cases.len() > 300, "{}", cases.len());
        for case in cases {
            let words = |at: usize| serde_json::from_value::<Vec<String>>(case[at].clone()).unwrap();
            let trim = Trim {
                max_tokens: case[0].as_u64().map(|n| usize::try_from(n).unwrap()),
                max_turns: None,
                start_on: words(1),
                end_on: words(2),
                include_system: case[3].as_bool().unwrap(),
                allow_partial: case[4].as_bool().unwrap(),
                by_provider: false,
            };
            let mut expected: Vec<(String, Json)> = serde_json::from_value(case[5].clone()).unwrap();
            // There a tool's answer may stand without the call; here it does not.
            let system = usize::from(
                expected
                    .first()
                    .is_some_and(|(id, _)| id == "s" && trim.include_system),
            );
            while expected.get(system).is_some_and(|(id, _)| id == "t1") {
                expected.remove(system);
            }
            let found: Vec<(String, Json)> = trim
                .kept(&messages)
                .iter()
                .map(|m| {
                    (
                        m.get("id").unwrap().as_str().unwrap().to_owned(),
                        m.get("content").unwrap().into(),
                    )
                })
                .collect();
            assert_eq!(found, expected, "{case}");
        }
    }

    #[test]
    fn turns_begin_with_a_person() {
        let m = |ty: &str, id: &str| json!({"type": ty, "id": id, "content": id});
        let messages = [
            m("system", "s"),
            m("human", "1"),
            m("ai", "2"),
            m("human", "3"),
            m("ai", "4"),
            m("human", "5"),
        ];
        let kept = |turns: usize, include_system: bool| -> Vec<String> {
            let trim = Trim {
                max_tokens: None,
                max_turns: Some(turns),
                include_system,
                start_on: vec!["human".into()],
                end_on: Vec::new(),
                allow_partial: false,
                by_provider: false,
            };
            let kept = trim.kept(&messages);
            kept.iter()
                .map(|m| m.get("id").unwrap().as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(kept(1, true), ["s", "5"]);
        assert_eq!(kept(2, false), ["3", "4", "5"]);
        assert_eq!(kept(9, true).len(), 6);
    }
}
