//! Answers and lists drawn at random: whatever is odd in them, the good parts survive.

use serde_json::{Map, Value as Json, json};

use super::super::reading::{self, Incoming, Outline};
use super::super::{content, offers};

/// Numbers that look drawn (splitmix64).
struct Draw(u64);

impl Draw {
    fn number(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below as u64).unwrap()
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.number(of.len())]
    }

    /// Returns a value that nobody expects.
    fn odd(&mut self, depth: usize) -> Json {
        match self.number(if depth == 0 { 7 } else { 9 }) {
            0 => Json::Null,
            1 => json!(self.number(2) == 0),
            2 => json!(self.number(1000)),
            3 => json!(-0.5),
            4 => json!(""),
            5 => json!(self.one(&["system", "\u{fffd}", "data:", "\u{1b}[31m", "text", "0"])),
            6 => json!("x".repeat(self.number(5000))),
            7 => (0..self.number(4)).map(|_| self.odd(depth - 1)).collect(),
            _ => {
                let names = [
                    "type", "text", "data", "uri", "role", "name", "resource", "blob", "mimeType",
                ];
                let fields = (0..self.number(5)).map(|_| (self.one(&names).to_owned(), self.odd(depth - 1)));
                Json::Object(fields.collect())
            }
        }
    }

    /// Adds members that are optional, newer than this client, or wrong.
    fn with_odd_members(&mut self, mut object: Json, names: &[&str]) -> Json {
        for _ in 0..self.number(4) {
            object[self.one(names)] = self.odd(2);
        }
        object
    }

    fn block(&mut self, word: &str) -> Json {
        let block = match self.number(4) {
            0 => json!({"type": "resource", "resource": {"uri": "x://1", "text": word}}),
            1 => json!({"type": "resource_link", "uri": "x://2", "name": word}),
            _ => json!({"type": "text", "text": word}),
        };
        self.with_odd_members(
            block,
            &[
                "annotations",
                "_meta",
                "icons",
                "size",
                "priority",
                "lastModified",
            ],
        )
    }

    fn odd_block(&mut self) -> Json {
        let known = [
            "image",
            "audio",
            "resource",
            "resource_link",
            "text",
            "tool_use",
            "video",
        ];
        match self.number(3) {
            0 => self.odd(2),
            1 => json!({"type": self.one(&known)}),
            _ => {
                let block = json!({"type": self.one(&known)});
                self.with_odd_members(block, &["text", "data", "mimeType", "resource", "uri", "name"])
            }
        }
    }
}

fn read(text: &str) -> Json {
    let mut read = reading::messages(text.as_bytes()).unwrap_or_else(|cause| panic!("{cause}: {text}"));
    match read.pop() {
        Some(Incoming::Answer {
            result: Ok(result), ..
        }) => result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn good_parts_of_drawn_answers_survive() {
    for seed in 0..500 {
        let mut draw = Draw(seed);
        let mut words = Vec::new();
        let blocks: Vec<Json> = (0..draw.number(8) + 1)
            .map(|index| {
                if draw.number(3) == 0 {
                    return draw.odd_block();
                }
                words.push(format!("good-{seed}-{index}"));
                draw.block(&words[words.len() - 1])
            })
            .collect();
        let result = json!({ "content": blocks });
        let members = [
            "resultType",
            "_meta",
            "structuredContent",
            "ttlMs",
            "cacheScope",
            "newer",
        ];
        let result = draw.with_odd_members(result, &members);
        let mut message = json!({"jsonrpc": "2.0", "id": seed, "result": result});
        message = draw.with_odd_members(message, &["meta", "trace", "time"]);
        let text = message.to_string().replace("good", "\\ud83dgood");
        let answer = content::of_call(&read(&text));
        let said = answer.content.to_string();
        let mut from = 0;
        for word in &words {
            let at = said[from..].find(word.as_str());
            from += at.unwrap_or_else(|| panic!("{seed}: {word} is lost in {said}"));
        }
        assert!(!answer.failed, "{seed}");
    }
}

#[test]
fn good_entries_of_drawn_lists_survive() {
    for seed in 0..500 {
        let mut draw = Draw(seed);
        let mut names = Vec::new();
        let entries: Vec<Json> = (0..draw.number(9))
            .map(|index| {
                let name = format!("tool-{index}");
                let members = [
                    "title",
                    "description",
                    "annotations",
                    "outputSchema",
                    "icons",
                    "execution",
                    "_meta",
                ];
                match draw.number(4) {
                    0 => draw.odd(2),
                    1 => {
                        let bare = draw.with_odd_members(json!({"name": name}), &["title", "inputSchemas"]);
                        json!({"name": bare["name"], "inputSchema": null})
                    }
                    _ => {
                        let tool =
                            json!({"name": name, "inputSchema": {"type": "object", "properties": {"a": {}}}});
                        names.push(name);
                        draw.with_odd_members(tool, &members)
                    }
                }
            })
            .collect();
        let count = entries.len();
        let list = draw.with_odd_members(
            json!({ "tools": entries }),
            &["_meta", "ttlMs", "cacheScope", "nextCursor", "newer"],
        );
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": list});
        let sent = reading::SentRequest {
            id: rmcp::model::RequestId::Number(1),
            method: "tools/list".to_owned(),
        };
        // As rmcp passes it on, in both of its transports.
        let told = reading::answer(&sent, Ok(read(&message.to_string())));
        let again: rmcp::model::ServerJsonRpcMessage =
            serde_json::from_str(&serde_json::to_string(&told).unwrap()).unwrap();
        for told in [told, again] {
            let (result, _) = told.into_response().unwrap();
            let page = offers::page(&reading::unpacked(result), "tools", offers::tool).unwrap();
            let read: Vec<&str> = page.entries.iter().map(|tool| &*tool.name).collect();
            assert_eq!(read, names, "{seed}");
            assert_eq!(
                page.odd.len(),
                count - names.len(),
                "{seed}: each odd one is named"
            );
            assert!(
                page.odd
                    .iter()
                    .all(|odd| !odd.name.is_empty() && !odd.cause.is_empty())
            );
        }
    }
}

#[test]
fn results_of_every_shape_pass_through_rmcp_as_they_are() {
    for seed in 0..500 {
        let mut draw = Draw(seed);
        let names = [
            "content",
            "resultType",
            "tools",
            "contents",
            "supportedVersions",
            "task",
            "messages",
            "_meta",
        ];
        let result = match draw.number(4) {
            0 => draw.odd(2),
            _ => draw.with_odd_members(Json::Object(Map::new()), &names),
        };
        for method in [
            "tools/call",
            "resources/read",
            "tools/list",
            "resources/list",
            "ping",
        ] {
            let sent = reading::SentRequest {
                id: rmcp::model::RequestId::Number(3),
                method: method.to_owned(),
            };
            let told = reading::answer(&sent, Ok(result.clone()));
            let text = serde_json::to_string(&told).unwrap();
            let again: rmcp::model::ServerJsonRpcMessage = serde_json::from_str(&text).unwrap();
            for told in [told, again] {
                let (passed, _) = told.into_response().unwrap();
                assert_eq!(reading::unpacked(passed), result, "{seed}, {method}");
            }
        }
    }
}

#[test]
fn cut_and_broken_messages_are_no_panic_and_name_their_call() {
    let whole =
        r#"{"jsonrpc":"2.0","id":417,"result":{"content":[{"type":"text","text":"a \"b\" \\ud83d ü 👍"}]}}"#;
    let named = whole.find(",\"result").unwrap() + 1;
    for end in 0..whole.len() {
        let cut = &whole.as_bytes()[..end];
        let outline = Outline::of(cut);
        assert!(reading::messages(cut).is_err(), "{end}");
        let id = Some(rmcp::model::RequestId::Number(417));
        assert_eq!(outline.id, id.filter(|_| end >= named), "{end}");
    }
    for seed in 0..500 {
        let mut draw = Draw(seed);
        let mut broken = whole.as_bytes().to_vec();
        for _ in 0..=draw.number(4) {
            let at = draw.number(broken.len());
            broken[at] = u8::try_from(draw.number(256)).unwrap();
        }
        if let Ok(read) = reading::messages(&broken) {
            for one in read {
                if let Incoming::Answer {
                    result: Ok(result), ..
                } = one
                {
                    content::of_call(&result);
                }
            }
        }
        Outline::of(&broken);
    }
}
