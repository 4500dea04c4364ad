//! Streams as servers send them, each with the deviation that it is known for and the public report of it, and streams
//! that are drawn at random.

use genai::adapter::AdapterKind;
use serde_json::{Value as Json, json};

use super::answer::{AnswerPiece, ModelAnswer, TokenUsage};
use super::draft::AnswerDraft;
use super::error::{KeyPlace, ModelError, RequestTarget};
use super::reply::WireReader;
use super::wire::{Decoder, FrameReader, WireForm};
use crate::base::error_class;

type Read = Result<(Vec<AnswerPiece>, ModelAnswer), ModelError>;

fn read_in(kind: AdapterKind, content_type: &str, bytes: &[u8], size: usize) -> Read {
    let form = WireForm::of(kind).unwrap();
    let asked = RequestTarget {
        model: "mine::m".to_owned(),
        provider: "mine".to_owned(),
        key: KeyPlace::Variable("KEY".to_owned()),
    };
    let mut draft = AnswerDraft::new(asked, None);
    let frames = FrameReader::new(form.framing(content_type));
    let mut reader = WireReader::new(frames, Decoder::new(kind, form), true);
    for piece in bytes.chunks(size) {
        reader.read(piece, &mut draft)?;
    }
    reader.read_rest(&mut draft)?;
    draft.end()?;
    Ok((draft.ready.into_iter().collect(), draft.answer))
}

fn read(kind: AdapterKind, bytes: &str) -> Read {
    let content_type = match kind {
        AdapterKind::Ollama => "application/x-ndjson",
        _ => "text/event-stream",
    };
    let whole = read_in(kind, content_type, bytes.as_bytes(), usize::MAX);
    for size in [1, 7, 100] {
        let pieces = read_in(kind, content_type, bytes.as_bytes(), size);
        assert_eq!(
            without_ids(pieces),
            without_ids(whole.clone()),
            "pieces of {size}"
        );
    }
    whole
}

/// Removes ids that are made here, which are others each time.
fn without_ids(read: Read) -> Read {
    read.map(|(pieces, mut answer)| {
        answer.tool_calls.iter_mut().for_each(|call| call.id.clear());
        answer.signatures = answer
            .signatures
            .into_iter()
            .map(|(_, list)| (list.to_string(), list))
            .collect();
        (pieces, answer)
    })
}

fn events(frames: &[Json]) -> String {
    let event = |frame: &Json| match frame.as_str() {
        Some(text) => format!("data: {text}\n\n"),
        None => format!("data: {frame}\n\n"),
    };
    frames.iter().map(event).collect()
}

/// Formats events of Anthropic's protocol, whose names are the types.
fn named(frames: &[Json]) -> String {
    let event = |frame: &Json| format!("event: {}\ndata: {frame}\n\n", frame["type"].as_str().unwrap());
    frames.iter().map(event).collect()
}

fn delta(delta: Json) -> Json {
    json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn stop(reason: &str) -> Json {
    json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn calls(list: Json) -> Json {
    delta(json!({"tool_calls": list}))
}

/// Returns calls as name and arguments; invalid ones as the text of theirs.
fn called(answer: &ModelAnswer) -> Vec<(String, Json)> {
    let one = |call: &super::ToolCall| {
        let args = match &call.args {
            Ok(args) => super::args_json(args),
            Err(invalid) => Json::String(invalid.text.clone()),
        };
        (call.name.clone(), args)
    };
    answer.tool_calls.iter().map(one).collect()
}

fn book(seat: &str) -> (String, Json) {
    ("book".to_owned(), json!({"seat": seat}))
}

fn args(seat: &str) -> String {
    json!({"seat": seat}).to_string()
}

#[track_caller]
fn check(kind: AdapterKind, stream: &str, text: &str, want: &[(String, Json)]) -> ModelAnswer {
    let (pieces, answer) = read(kind, stream).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answer.text, text);
    assert_eq!(called(&answer), want, "{answer:?}");
    let ids: std::collections::BTreeSet<&str> =
        answer.tool_calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids.len(), want.len(), "each call has an id of its own: {ids:?}");
    let said: String = pieces
        .iter()
        .filter_map(|piece| match piece {
            AnswerPiece::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(said, text, "what is streamed is what is kept");
    answer
}

#[test]
fn openai() {
    let stream = [
        delta(json!({"role": "assistant", "content": null})),
        calls(
            json!([{"index": 0, "id": "a", "type": "function", "function": {"name": "book", "arguments": ""}}]),
        ),
        calls(json!([{"index": 0, "function": {"arguments": "{\"seat\""}}])),
        calls(
            json!([{"index": 1, "id": "b", "type": "function", "function": {"name": "book", "arguments": args("2")}}]),
        ),
        calls(json!([{"index": 0, "function": {"arguments": ":\"1\"}"}}])),
        stop("tool_calls"),
        json!({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18,
            "prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 2}}}),
        json!("[DONE]"),
    ];
    let answer = check(AdapterKind::OpenAI, &events(&stream), "", &[book("1"), book("2")]);
    assert_eq!(
        answer.usage,
        Some(TokenUsage {
            input: 11,
            output: 7,
            total: 18,
            cached: 3,
            cache_written: 0,
            reasoning: 2
        })
    );
    assert_eq!(
        (answer.stop.as_deref(), answer.model.as_deref()),
        (Some("tool_calls"), Some("m"))
    );
    // A refusal stands in a field of its own.
    let refusal = [delta(json!({"refusal": "No."})), stop("stop")];
    check(AdapterKind::OpenAI, &events(&refusal), "No.", &[]);
}

#[test]
fn azure() {
    // The first chunk has no choices and no model (AbanteAI/archive-old-cli-mentat #429); one in the middle has neither
    // a delta nor a text (microsoft/autogen #6465).
    let filter = json!({"hate": {"filtered": false, "severity": "safe"}});
    let stream = [
        json!({"id": "", "choices": [], "created": 0, "model": "", "object": "",
            "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": filter}]}),
        delta(json!({"content": "Hello"})),
        json!({"id": "", "model": "", "choices": [{"finish_reason": null, "index": 0, "content_filter_results": filter}]}),
        stop("stop"),
        json!("[DONE]"),
    ];
    let answer = check(AdapterKind::OpenAI, &events(&stream), "Hello", &[]);
    assert_eq!(answer.model.as_deref(), Some("m"));
}

#[test]
fn compatible_endpoint_of_gemini() {
    // Parallel calls have the index 0 each (su-kaka/gcli2api #406), or none at all (THU-MAIC/OpenMAIC #1556), and end with
    // `stop` (open-webui/computer #224).
    let call = |index: Option<u64>, id: &str, seat: &str| {
        let mut call = json!({"id": id, "type": "function", "function": {"name": "book", "arguments": args(seat)},
            "extra_content": {"google": {"thought_signature": format!("s{seat}")}}});
        if let Some(index) = index {
            call["index"] = index.into();
        }
        calls(json!([call]))
    };
    for index in [Some(0), None] {
        for ids in [["a", "b"], ["", ""]] {
            let stream = [call(index, ids[0], "1"), call(index, ids[1], "2"), stop("stop")];
            let answer = check(AdapterKind::OpenAI, &events(&stream), "", &[book("1"), book("2")]);
            let signatures: Vec<&Json> = answer.signatures.values().collect();
            assert_eq!(signatures, [&json!(["s1"]), &json!(["s2"])]);
        }
    }
}

#[test]
fn vllm() {
    // Every call has the index 0, and pieces without a name have an empty id (InternLM/lmdeploy #3412, which compares).
    let begun = |id: &str| json!([{"index": 0, "id": id, "type": "function", "function": {"name": "book", "arguments": ""}}]);
    let part = |text: &str| json!([{"index": 0, "id": "", "type": "function", "function": {"name": null, "arguments": text}}]);
    let stream = [
        calls(begun("chatcmpl-tool-1")),
        calls(part("{\"seat\": ")),
        calls(part("\"1\"}")),
        calls(begun("chatcmpl-tool-2")),
        calls(part(&args("2"))),
        stop("tool_calls"),
    ];
    check(AdapterKind::OpenAI, &events(&stream), "", &[book("1"), book("2")]);
    // An id of its own in every piece, each with the name (vllm-project/vllm #23522), or the same id in every piece
    // (spring-projects/spring-ai #5974).
    for ids in [["x", "y", "z"], ["x", "x", "x"]] {
        let piece = |id: &str, text: &str| {
            calls(json!([{"index": 0, "id": id, "function": {"name": "book", "arguments": text}}]))
        };
        let stream = [
            piece(ids[0], "{\"seat\""),
            piece(ids[1], ": \"1"),
            piece(ids[2], "\"}"),
            stop("tool_calls"),
        ];
        check(AdapterKind::OpenAI, &events(&stream), "", &[book("1")]);
    }
}

#[test]
fn sglang() {
    // The id is in every piece, and every call has the index 0 (InternLM/lmdeploy #3412).
    let piece = |id: &str, name: Json, text: &str| {
        calls(json!([{"index": 0, "id": id, "function": {"name": name, "arguments": text}}]))
    };
    let stream = [
        piece("0", json!("book"), ""),
        piece("0", json!(null), "{\"seat\": \"1\"}"),
        piece("1", json!("book"), ""),
        piece("1", json!(null), "{\"seat\": \"2\"}"),
        stop("tool_calls"),
    ];
    check(AdapterKind::OpenAI, &events(&stream), "", &[book("1"), book("2")]);
    // A call whose arguments are two texts one after the other does not run (sgl-project/sglang #23071).
    let stream = [
        piece("0", json!("book"), ""),
        piece("0", json!(null), "{\"seat\": \"1\"{\"seat\": \"1\"}"),
        stop("tool_calls"),
    ];
    let broken = json!("{\"seat\": \"1\"{\"seat\": \"1\"}");
    check(
        AdapterKind::OpenAI,
        &events(&stream),
        "",
        &[("book".to_owned(), broken)],
    );
}

#[test]
fn litellm() {
    // The first call has the index 1 (BerriAI/litellm #32759).
    let stream = [
        calls(json!([{"index": 1, "id": "a", "function": {"name": "book", "arguments": ""}}])),
        calls(json!([{"index": 1, "function": {"arguments": "{\"seat\": "}}])),
        calls(json!([{"index": 1, "function": {"arguments": "\"12A\"}"}}])),
        stop("tool_calls"),
        json!("[DONE]"),
    ];
    check(AdapterKind::OpenAI, &events(&stream), "", &[book("12A")]);
    let at_once = [
        calls(json!([{"index": 1, "id": "a", "function": {"name": "book", "arguments": args("12A")}}])),
        stop("tool_calls"),
    ];
    check(AdapterKind::OpenAI, &events(&at_once), "", &[book("12A")]);
    // Only the first piece of a call has an index (block/goose #11511).
    let stream = [
        calls(json!([{"index": 0, "id": "a", "function": {"name": "book", "arguments": ""}}])),
        calls(json!([{"function": {"arguments": "{\"seat\": "}}])),
        calls(json!([{"function": {"arguments": "\"12A\"}"}}])),
        stop("tool_calls"),
    ];
    check(AdapterKind::OpenAI, &events(&stream), "", &[book("12A")]);
    // Arguments are an object, not its text (BerriAI/litellm #37792).
    let stream = [
        calls(json!([{"index": 0, "id": "a", "function": {"name": "book", "arguments": {"seat": "1"}}}])),
        stop("stop"),
    ];
    check(AdapterKind::OpenAI, &events(&stream), "", &[book("1")]);
}

#[test]
fn llama_cpp() {
    // Every call of every answer has the same id (NousResearch/hermes-agent #70724), also two of one answer whose
    // arguments come in turns.
    let piece = |index: u64, text: &str| {
        calls(json!([{"index": index, "id": "ZsSt", "function": {"arguments": text}}]))
    };
    let begun = |index: u64| {
        calls(json!([{"index": index, "id": "ZsSt", "function": {"name": "book", "arguments": ""}}]))
    };
    let stream = [
        begun(0),
        begun(1),
        piece(0, "{\"seat\": "),
        piece(1, "{\"seat\": "),
        piece(0, "\"1\"}"),
        piece(1, "\"2\"}"),
        stop("tool_calls"),
    ];
    check(AdapterKind::OpenAI, &events(&stream), "", &[book("1"), book("2")]);
    // The stream ends without its last mark (ikawrakow/ik_llama.cpp #467).
    let stream = [delta(json!({"content": "Complete."})), stop("stop")];
    check(AdapterKind::OpenAI, &events(&stream), "Complete.", &[]);
    check(AdapterKind::OpenAI, events(&stream).trim_end(), "Complete.", &[]);
}

#[test]
fn moonshot() {
    // Tokens stand in the choice (vercel/ai #19546).
    let mut last = stop("stop");
    last["choices"][0]["usage"] = json!({"prompt_tokens": 11, "completion_tokens": 7});
    let answer = check(
        AdapterKind::Moonshot,
        &events(&[delta(json!({"content": "hello"})), last]),
        "hello",
        &[],
    );
    let usage = answer.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.total), (11, 7, 18));
    // Or beside a text, before the end.
    let mut beside = delta(json!({"content": "hello"}));
    beside["usage"] = json!({"prompt_tokens": 1.0, "completion_tokens": "2", "total_tokens": 3});
    let answer = check(
        AdapterKind::OpenAI,
        &events(&[beside, stop("stop")]),
        "hello",
        &[],
    );
    assert_eq!(answer.usage.unwrap().output, 2);
}

#[test]
fn mistral() {
    // A reasoning model sends its content as a list (symfony/ai #2424), and calls come with the reason to stop, whole and
    // with their id (64bit/async-openai #329).
    let mut last =
        calls(json!([{"id": "D681PevKs", "index": 0, "function": {"name": "book", "arguments": args("1")}}]));
    last["choices"][0]["finish_reason"] = "tool_calls".into();
    let stream = [
        delta(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]})),
        delta(
            json!({"content": [{"type": "text", "text": "Look"}, {"type": "reference", "reference_ids": [1]}]}),
        ),
        delta(json!({"content": "."})),
        last,
    ];
    let answer = check(AdapterKind::Mistral, &events(&stream), "Look.", &[book("1")]);
    assert_eq!(answer.reasoning, "Hm.");
}

#[test]
fn other_accents_of_openai() {
    // The number of the choice counts pieces (huggingface/text-generation-inference #1648); the reason to stop is an empty
    // text until the end (ollama/ollama #4357).
    let piece = |index: u64, text: &str, reason: &str| json!({"model": "m", "choices": [{"index": index, "delta": {"content": text}, "finish_reason": reason}]});
    let stream = [piece(1, "One", ""), piece(2, " two", ""), piece(3, ".", "stop")];
    check(AdapterKind::OpenAI, &events(&stream), "One two.", &[]);
    // Arguments whole again at the end (lidge-jun/opencodex #361).
    let stream = [
        calls(json!([{"index": 0, "id": "a", "function": {"name": "book", "arguments": ""}}])),
        calls(json!([{"index": 0, "function": {"arguments": args("1")}}])),
        calls(json!([{"index": 0, "function": {"arguments": args("1")}}])),
        stop("tool_calls"),
    ];
    check(AdapterKind::OpenAI, &events(&stream), "", &[book("1")]);
    // Reasoning in either field (jeremychone/rust-genai #106).
    for name in ["reasoning_content", "reasoning"] {
        let stream = [
            delta(json!({name: "Hm", "content": ""})),
            delta(json!({name: "."})),
            delta(json!({"content": "4"})),
            stop("stop"),
        ];
        assert_eq!(
            check(AdapterKind::OpenAI, &events(&stream), "4", &[]).reasoning,
            "Hm."
        );
    }
    // An answer that is no stream, of a server that was asked for one.
    let whole = json!({"model": "m", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Look.",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "book", "arguments": args("1")}}]}}]});
    let pretty = serde_json::to_string_pretty(&whole).unwrap();
    for content_type in ["application/json", "application/json; charset=utf-8"] {
        let (_, answer) = read_in(AdapterKind::OpenAI, content_type, pretty.as_bytes(), 9).unwrap();
        assert_eq!(
            (answer.text.as_str(), called(&answer)),
            ("Look.", vec![book("1")])
        );
    }
    // A function instead of tools, as servers had it before.
    let stream = [
        delta(json!({"function_call": {"name": "book", "arguments": ""}})),
        delta(json!({"function_call": {"arguments": args("1")}})),
        stop("function_call"),
    ];
    check(AdapterKind::OpenAI, &events(&stream), "", &[book("1")]);
    // Two events in one, and an event and a field that nobody knows.
    let two = format!(
        "event: heartbeat\ndata: {{}}\n\ndata: {}\ndata: {}\n\n",
        delta(json!({"content": "a", "audio": {"x": 1}})),
        stop("stop")
    );
    check(AdapterKind::OpenAI, &two, "a", &[]);
}

fn piece(piece: Json) -> Json {
    calls(json!([piece]))
}

fn begun(id: &str, text: &str) -> Json {
    piece(json!({"index": 0, "id": id, "function": {"name": "book", "arguments": text}}))
}

fn of_claude(input: Json, reason: &str) -> String {
    named(&[started(), tool_block(0, input), over(0), ended(reason)])
}

fn of_gemini(call: Json, reason: &str) -> String {
    events(&[json!({"candidates": [{"content": {"parts": {"functionCall": call}}, "finishReason": reason}]})])
}

#[test]
fn arguments_come_in_any_form() {
    let twice = Json::String(args("1")).to_string();
    for pieces in [
        // The number as a text, no type, the text of a text.
        vec![piece(
            json!({"index": "0", "id": "a", "function": {"name": "book", "arguments": twice}}),
        )],
        // The name and the arguments beside the id, as an object that one text follows.
        vec![
            piece(json!({"index": null, "id": "a", "name": "book", "arguments": {"seat": "1"}})),
            piece(json!({"function": {"arguments": ""}})),
        ],
        // The id with the last piece, which has nothing else: with a number and without.
        vec![
            piece(json!({"index": 0, "function": {"name": "book", "arguments": "{\"seat\""}})),
            piece(json!({"index": 0, "function": {"arguments": ":\"1\"}"}})),
            piece(json!({"index": 0, "id": "a"})),
        ],
        vec![
            piece(json!({"function": {"name": "book", "arguments": args("1")}})),
            piece(json!({"id": "a", "function": {"name": null, "arguments": null}})),
        ],
    ] {
        let mut stream = pieces;
        stream.push(stop("tool_calls"));
        let answer = check(AdapterKind::OpenAI, &events(&stream), "", &[book("1")]);
        assert_eq!(answer.tool_calls[0].id, "a");
    }
    // A text of a text is cut like any other, and another call under the same number is another one.
    let cut = [begun("a", &twice[..twice.len() - 3]), stop("length")];
    assert_eq!(
        read(AdapterKind::OpenAI, &events(&cut)).unwrap_err().class(),
        "ModelCutError"
    );
    let other = Json::String(args("2")).to_string();
    let two = [begun("a", &twice), begun("b", &other), stop("tool_calls")];
    check(AdapterKind::OpenAI, &events(&two), "", &[book("1"), book("2")]);
    // Nothing, in the words of a program.
    let nothing = [begun("a", "null"), stop("tool_calls")];
    check(
        AdapterKind::OpenAI,
        &events(&nothing),
        "",
        &[("book".to_owned(), json!({}))],
    );
}

#[test]
fn arguments_that_did_not_come_do_not_run() {
    // The text of the arguments in the place of the arguments.
    check(
        AdapterKind::Anthropic,
        &of_claude(json!(args("1")), "tool_use"),
        "",
        &[book("1")],
    );
    check(
        AdapterKind::Gemini,
        &of_gemini(json!({"name": "book", "args": args("1")}), "STOP"),
        "",
        &[book("1")],
    );
    check(
        AdapterKind::Gemini,
        &of_gemini(json!({"name": "book"}), "STOP"),
        "",
        &[("book".to_owned(), json!({}))],
    );
    // Those that did not come before the limit was met.
    for (kind, stream) in [
        (AdapterKind::Anthropic, of_claude(json!(""), "max_tokens")),
        (
            AdapterKind::Gemini,
            of_gemini(json!({"name": "book"}), "MAX_TOKENS"),
        ),
        (
            AdapterKind::Gemini,
            of_gemini(json!({"name": "book", "args": null}), "MAX_TOKENS"),
        ),
        (AdapterKind::OpenAI, events(&[begun("a", "null"), stop("length")])),
        // Another part says that all is well.
        (
            AdapterKind::OpenAI,
            events(&[begun("a", ""), stop("length"), stop("stop")]),
        ),
    ] {
        assert_eq!(
            read(kind, &stream).unwrap_err().class(),
            "ModelCutError",
            "{stream}"
        );
    }
    let line = |message: Json, done: bool| json!({"message": message, "done": done}).to_string() + "\n";
    let call = json!({"tool_calls": {"id": "a", "function": {"name": "book", "arguments": args("1")}}});
    // No reason to stop beside the end.
    let stream = line(call, false) + &line(json!({"content": ""}), true);
    check(AdapterKind::Ollama, &stream, "", &[book("1")]);
}

#[track_caller]
fn reads(content_type: &str, stream: &str) {
    let whole = read_in(AdapterKind::OpenAI, content_type, stream.as_bytes(), usize::MAX);
    // A character and a line end are cut wherever the bytes are.
    for size in 1..9 {
        let cut = read_in(AdapterKind::OpenAI, content_type, stream.as_bytes(), size);
        assert_eq!(without_ids(cut), without_ids(whole.clone()), "{size} {stream}");
    }
    let (_, answer) = whole.unwrap_or_else(|error| panic!("{error}: {stream}"));
    assert_eq!(
        (answer.text.as_str(), answer.stop.as_deref()),
        ("äb", Some("stop")),
        "{stream}"
    );
}

#[test]
fn frames_come_in_any_form() {
    let text = |text: &str| delta(json!({"content": text}));
    let last = stop("stop");
    let whole = json!({"object": "chat.completion", "model": "m",
        "choices": [{"message": {"role": "assistant", "content": "äb"}, "finish_reason": "stop"}]});
    let pretty = |json: &Json| serde_json::to_string_pretty(json).unwrap();
    let in_lines = |json: &Json| pretty(json).replace('\n', "\ndata: ");
    let (a, b) = (text("ä"), text("b"));
    for stream in [
        format!(
            "\u{feff}: hello\r\n\r\nretry: 5\r\nid: 1\r\ndata:{a}\r\n\r\n: ping\r\n\r\ndata:{b}\r\n\r\ndata:{last}\r\n\r\ndata:[DONE]"
        ),
        // Words that are no part of an answer.
        format!(
            "data: ping\n\ndata: {a}\n\nevent: ping\ndata: \n\ndata: {b}\n\ndata: \"\"\n\ndata: {last}\n\n"
        ),
        // An event over several lines, and several in one.
        format!(
            "data: {}\n\ndata: {b}\ndata:\ndata: {last}\ndata: [DONE]\n\n",
            in_lines(&a)
        ),
        // A space in front, lines without a name, on one line or on many.
        format!(" data: {a}\n\n data: {b}\n\n data: {last}\n\n"),
        format!("{a}\n{b}\n{last}\n"),
        format!(
            "{}\n\n{}\n\n{}\n\n[DONE]\n",
            pretty(&a),
            pretty(&b),
            pretty(&last)
        ),
        pretty(&whole),
    ] {
        reads("text/event-stream", &stream);
        reads("text/plain; charset=utf-8", &stream);
    }
    // Announced as one text.
    reads("application/json", &format!("\u{feff}{}", pretty(&whole)));
    reads(
        "application/json",
        &format!("\u{feff}: hello\n\ndata: {a}\n\ndata: {b}\n\ndata: {last}\n\n"),
    );
    reads("application/json", &format!("{a}\n{b}\n{last}\n"));
    reads("application/json", &json!([a, b, last]).to_string());
}

#[test]
fn a_reason_to_stop_comes_in_any_form() {
    // A word in its place, one with every part, and pieces in `message` or `text`.
    let piece = |name: &str, value: Json, reason: &str| {
        let mut choice = json!({"index": 0, "finish_reason": reason});
        choice[name] = value;
        json!({"object": "chat.completion.chunk", "choices": [choice]})
    };
    for reason in ["null", "None", "stop", ""] {
        let of = |name: &str, values: [Json; 2]| {
            let [a, b] = values;
            events(&[piece(name, a, reason), piece(name, b, "stop")])
        };
        reads(
            "text/event-stream",
            &of("delta", [json!({"content": "ä"}), json!({"content": "b"})]),
        );
        reads(
            "text/event-stream",
            &of(
                "delta",
                [
                    json!({"content": {"text": "ä"}}),
                    json!({"content": [{"type": "text", "text": "b"}]}),
                ],
            ),
        );
        reads(
            "text/event-stream",
            &of("message", [json!({"content": "ä"}), json!({"content": "b"})]),
        );
        reads("text/event-stream", &of("text", [json!("ä"), json!("b")]));
    }
    let undecided = [piece("delta", json!({"content": "ä"}), "null")];
    let error = read(AdapterKind::OpenAI, &events(&undecided))
        .unwrap_err()
        .to_string();
    assert!(error.contains("ended before the answer did"), "{error}");
    // Beside a refusal, and the reason behind the tokens.
    let refused = [
        delta(json!({"content": null, "refusal": "äb"})),
        json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}),
        stop("stop"),
    ];
    reads("text/event-stream", &events(&refused));
}

#[test]
fn a_failure_is_said_in_any_form() {
    for (kind, stream, said) in [
        (
            AdapterKind::OpenAI,
            "event: error\ndata: upstream is gone\n\n".to_owned(),
            "upstream is gone",
        ),
        (
            AdapterKind::OpenAI,
            "event: error\ndata: {\"message\": \"is gone\", \"code\": 503}\n\n".to_owned(),
            "is gone",
        ),
        (
            AdapterKind::Gemini,
            "event: error\ndata: {\"message\": \"is gone\"}\n\n".to_owned(),
            "is gone",
        ),
        (
            AdapterKind::Anthropic,
            "event: error\ndata: \"is gone\"\n\n".to_owned(),
            "is gone",
        ),
        (
            AdapterKind::OpenAI,
            json!({"detail": "Not Found"}).to_string(),
            "Not Found",
        ),
        (
            AdapterKind::OpenAI,
            "{\n  \"error\": {\n    \"message\": \"is gone\"\n  }\n}\n".to_owned(),
            "is gone",
        ),
        (
            AdapterKind::OpenAI,
            json!({"code": 1002, "msg": "no such key"}).to_string(),
            "no such key",
        ),
        // What it was instead of an answer is named.
        (AdapterKind::OpenAI, "data: queued\n\n".to_owned(), "`queued`"),
        (
            AdapterKind::OpenAI,
            events(&[json!({"status": "queued"})]),
            "`status`",
        ),
        (
            AdapterKind::Ollama,
            json!({"message": {"tool_calls": [{"function": {"arguments": {}}}]}}).to_string(),
            "`name`",
        ),
    ] {
        let error = read(kind, &stream).unwrap_err().to_string();
        assert!(error.contains(said), "{error}: {stream}");
    }
}

fn block(index: u64, block: Json) -> Json {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn more(index: u64, delta: Json) -> Json {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn over(index: u64) -> Json {
    json!({"type": "content_block_stop", "index": index})
}

fn ended(reason: &str) -> Json {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}})
}

fn started() -> Json {
    json!({"type": "message_start", "message": {"model": "claude", "content": [], "usage": {
        "input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2}}})
}

fn tool_block(index: u64, input: Json) -> Json {
    block(
        index,
        json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": "book", "input": input}),
    )
}

/// Returns blocks of every kind, one of them a call.
fn blocks() -> Vec<Json> {
    vec![
        started(),
        json!({"type": "ping"}),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        more(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        more(0, json!({"type": "signature_delta", "signature": "s1"})),
        more(0, json!({"type": "signature_delta", "signature": "s2"})),
        over(0),
        block(1, json!({"type": "redacted_thinking", "data": "secret"})),
        over(1),
        block(
            2,
            json!({"type": "server_tool_use", "id": "x", "name": "web_search", "input": {}}),
        ),
        more(
            2,
            json!({"type": "input_json_delta", "partial_json": "{\"query\": 1}"}),
        ),
        over(2),
        block(3, json!({"type": "text", "text": ""})),
        more(3, json!({"type": "text_delta", "text": "Look."})),
        more(
            3,
            json!({"type": "citations_delta", "citation": {"cited_text": "x"}}),
        ),
        over(3),
        tool_block(4, json!({})),
        more(4, json!({"type": "input_json_delta", "partial_json": ""})),
        more(
            4,
            json!({"type": "input_json_delta", "partial_json": "{\"seat\""}),
        ),
        // Text in the middle of a call (sgl-project/sglang #24293), an event and a delta that nobody knows.
        more(4, json!({"type": "text_delta", "text": " "})),
        json!({"type": "content_block_hint", "index": 4}),
        more(4, json!({"type": "mood_delta", "mood": "fine"})),
        more(4, json!({"type": "input_json_delta", "partial_json": ": \"1\"}"})),
        over(4),
        ended("tool_use"),
        json!({"type": "message_stop"}),
    ]
}

#[test]
fn anthropic() {
    let stream = blocks();
    let answer = check(AdapterKind::Anthropic, &named(&stream), "Look. ", &[book("1")]);
    assert_eq!(answer.reasoning, "Hm.");
    assert_eq!(
        answer.thinking,
        [
            json!({"type": "thinking", "thinking": "Hm.", "signature": "s1s2"}),
            json!({"type": "redacted_thinking", "data": "secret"})
        ]
    );
    assert_eq!(answer.signatures.get("toolu_4"), Some(&json!(["s1s2"])));
    let usage = answer.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cached, usage.cache_written),
        (10, 9, 3, 2)
    );
    // Without the last event, and without the names of events.
    let rest: Vec<Json> = stream[..stream.len() - 1].to_vec();
    check(AdapterKind::Anthropic, &named(&rest), "Look. ", &[book("1")]);
    check(AdapterKind::Anthropic, &events(&rest), "Look. ", &[book("1")]);
    // All of the input with the beginning of the call; two calls at the same time.
    let stream = [
        started(),
        tool_block(0, json!({"seat": "1"})),
        tool_block(1, json!({})),
        more(
            1,
            json!({"type": "input_json_delta", "partial_json": "{\"seat\":"}),
        ),
        over(0),
        more(1, json!({"type": "input_json_delta", "partial_json": "\"2\"}"})),
        over(1),
        ended("tool_use"),
        json!({"type": "message_stop"}),
    ];
    check(
        AdapterKind::Anthropic,
        &named(&stream),
        "",
        &[book("1"), book("2")],
    );
    let nothing = [started(), tool_block(0, json!({})), over(0), ended("tool_use")];
    check(
        AdapterKind::Anthropic,
        &named(&nothing),
        "",
        &[("book".to_owned(), json!({}))],
    );
}

#[test]
fn gemini() {
    let parts = |parts: Json| json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}], "modelVersion": "g-1"});
    let call = |seat: &str| json!({"functionCall": {"name": "book", "args": {"seat": seat}}, "thoughtSignature": format!("s{seat}")});
    let stream = [
        parts(json!([{"text": "Hm", "thought": true}, {"text": ".", "thought": true}, {"text": "Look."}])),
        parts(
            json!([{"executableCode": {"language": "PYTHON", "code": "1"}}, {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}]),
        ),
        // A call per chunk, of which two are the same.
        parts(json!([call("1")])),
        parts(json!([call("1"), call("2")])),
        json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 30, "candidatesTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 42}}),
    ];
    let answer = check(
        AdapterKind::Gemini,
        &events(&stream),
        "Look.",
        &[book("1"), book("1"), book("2")],
    );
    assert_eq!(
        (answer.reasoning.as_str(), answer.model.as_deref()),
        ("Hm.", Some("g-1"))
    );
    assert_eq!(
        answer.signatures.values().collect::<Vec<_>>(),
        [&json!(["s1"]), &json!(["s1"]), &json!(["s2"])]
    );
    let usage = answer.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.reasoning, usage.total),
        (30, 12, 7, 42)
    );
    let broken = [json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]})];
    assert_eq!(
        read(AdapterKind::Gemini, &events(&broken)).unwrap_err().class(),
        "ModelError"
    );
    let blocked = [json!({"promptFeedback": {"blockReason": "SAFETY"}})];
    let error = read(AdapterKind::Gemini, &events(&blocked))
        .unwrap_err()
        .to_string();
    assert!(error.contains("SAFETY"), "{error}");
    let half = [parts(json!([{"text": "Look"}]))];
    assert!(read(AdapterKind::Gemini, &events(&half)).is_err());
}

#[test]
fn ollama() {
    let line = |message: Json| json!({"model": "llama3", "message": message, "done": false});
    // Arguments as a text, several calls in a line, no ids (langchain4j/langchain4j #2210 shows such lines).
    let lines = [
        line(json!({"role": "assistant", "content": "", "thinking": "Hm."})),
        line(
            json!({"content": "Look.", "tool_calls": [{"function": {"name": "book", "arguments": {"seat": "1"}}},
            {"function": {"name": "book", "arguments": args("2")}}]}),
        ),
        json!({"model": "llama3", "message": {"content": ""}, "done": true, "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 9}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let answer = check(AdapterKind::Ollama, &text, "Look.", &[book("1"), book("2")]);
    assert_eq!(
        (answer.reasoning.as_str(), answer.usage.unwrap().total),
        ("Hm.", 35)
    );
    check(
        AdapterKind::Ollama,
        text.trim_end(),
        "Look.",
        &[book("1"), book("2")],
    );
    let failed = format!("{}\n{}\n", lines[0], json!({"error": "model runner has stopped"}));
    let error = read(AdapterKind::Ollama, &failed).unwrap_err().to_string();
    assert!(error.contains("model runner has stopped"), "{error}");
    let half: String = lines[..2].iter().map(|line| format!("{line}\n")).collect();
    assert!(read(AdapterKind::Ollama, &half).is_err());
}

#[test]
fn a_call_that_was_cut_does_not_run() {
    let begun = calls(json!([{"index": 0, "id": "a", "function": {"name": "book", "arguments": ""}}]));
    let part = |text: &str| calls(json!([{"index": 0, "function": {"arguments": text}}]));
    for reason in [
        "length",
        "content_filter",
        "model_length",
        "insufficient_system_resource",
        "error",
    ] {
        for half in ["", "{\"seat\"", "{\"seat\": \"12"] {
            let stream = [begun.clone(), part(half), stop(reason), json!("[DONE]")];
            let error = read(AdapterKind::OpenAI, &events(&stream)).unwrap_err();
            assert_eq!(error.class(), "ModelCutError", "{reason} {half}: {error}");
            assert!(
                error.to_string().contains("`book`") && error.to_string().contains(reason),
                "{error}"
            );
        }
        let whole = [begun.clone(), part(&args("1")), stop(reason)];
        check(AdapterKind::OpenAI, &events(&whole), "", &[book("1")]);
    }
    // The limit was met behind the start of the call (QwenLM/qwen-code #9013).
    for reason in [
        "max_tokens",
        "refusal",
        "pause_turn",
        "model_context_window_exceeded",
    ] {
        for end in [
            vec![ended(reason)],
            vec![over(0), ended(reason), json!({"type": "message_stop"})],
        ] {
            let stream: Vec<Json> = [started(), tool_block(0, json!({}))]
                .into_iter()
                .chain(end)
                .collect();
            let error = read(AdapterKind::Anthropic, &named(&stream)).unwrap_err();
            assert_eq!(error.class(), "ModelCutError", "{reason}: {error}");
        }
    }
    // With a reason that is a good one, the model is told that these are no arguments.
    let stream = [begun.clone(), part("{\"seat\""), stop("tool_calls")];
    check(
        AdapterKind::OpenAI,
        &events(&stream),
        "",
        &[("book".to_owned(), json!("{\"seat\""))],
    );
    let none = [delta(json!({"content": "I call it."})), stop("tool_calls")];
    let error = read(AdapterKind::OpenAI, &events(&none)).unwrap_err();
    assert!(error.to_string().contains("there is no call"), "{error}");
    // A mark of the end without a reason: what has not ended does not run.
    let unsaid = [begun, json!("[DONE]")];
    assert_eq!(
        read(AdapterKind::OpenAI, &events(&unsaid)).unwrap_err().class(),
        "ModelCutError"
    );
}

#[test]
fn half_an_answer_and_a_failure_in_the_middle_are_errors() {
    let text = delta(json!({"content": "One two"}));
    let error = read(AdapterKind::OpenAI, &events(std::slice::from_ref(&text))).unwrap_err();
    assert!(
        error.to_string().contains("ended before the answer did"),
        "{error}"
    );
    for (failure, class) in [
        (
            json!({"error": {"message": "slow down", "code": 429}}),
            "ModelBusyError",
        ),
        (
            json!({"error": {"message": "slow down", "code": "429"}}),
            "ModelBusyError",
        ),
        (json!({"error": "slow down"}), "ModelError"),
        (
            json!([{"error": {"message": "slow down", "code": 403}}]),
            error_class::MODEL_AUTH,
        ),
        (
            json!({"object": "error", "message": "slow down", "code": 400}),
            error_class::MODEL_INPUT,
        ),
    ] {
        let error = read(AdapterKind::OpenAI, &events(&[text.clone(), failure.clone()])).unwrap_err();
        assert_eq!(error.class(), class, "{failure}");
        assert!(error.to_string().contains("slow down"), "{error}");
        // What was whole stays whole.
        check(
            AdapterKind::OpenAI,
            &events(&[text.clone(), stop("stop"), failure]),
            "One two",
            &[],
        );
    }
    // karthink/gptel #1512
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let error = read(AdapterKind::Anthropic, &named(&[started(), overloaded])).unwrap_err();
    assert_eq!(error.class(), "ModelBusyError");
    let null = json!({"error": null, "choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
    check(AdapterKind::OpenAI, &events(&[null]), "a", &[]);
}

#[test]
fn halves_of_characters_are_joined_in_every_field() {
    let raw = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    let mut stream = String::new();
    for piece in ["a\\ud83d", "\\udc4d b", "\\ud83d", " c \\udc4d"] {
        stream += &raw(&format!("{{\"content\":\"{piece}\"}}"));
        stream += &raw(&format!("{{\"reasoning_content\":\"{piece}\"}}"));
    }
    stream += &raw(
        r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"book","arguments":"{\"seat\":\"\ud83d"}}]}"#,
    );
    stream += &raw(r#"{"tool_calls":[{"index":0,"function":{"arguments":"\udc4d \\ud83d"}}]}"#);
    stream += &raw(r#"{"tool_calls":[{"index":0,"function":{"arguments":"\\udc4d \\ud83d\"}"}}]}"#);
    stream += &events(&[stop("tool_calls")]);
    let text = "a👍 b\u{fffd} c \u{fffd}";
    let answer = check(AdapterKind::OpenAI, &stream, text, &[book("👍 👍 \u{fffd}")]);
    assert_eq!(answer.reasoning, text);
}

#[test]
fn an_answer_has_a_bound() {
    let text = "x".repeat(1024 * 1024);
    let long: Vec<Json> = (0..20).map(|_| delta(json!({"content": text}))).collect();
    let error = read_in(
        AdapterKind::OpenAI,
        "text/event-stream",
        events(&long).as_bytes(),
        65536,
    )
    .unwrap_err();
    assert!(error.to_string().contains("more than 16 MB"), "{error}");
    let huge = "y".repeat(17 * 1024 * 1024);
    let error = read_in(AdapterKind::OpenAI, "text/event-stream", huge.as_bytes(), 65536).unwrap_err();
    assert!(error.to_string().contains("more than 16 MB"), "{error}");
    let many: Vec<Json> = (0..300_u64)
        .map(|index| calls(json!([{"index": index << 32, "id": format!("c{index}"), "function": {"name": "book", "arguments": "{}"}}])))
        .collect();
    let error = read_in(
        AdapterKind::OpenAI,
        "text/event-stream",
        events(&many).as_bytes(),
        65536,
    )
    .unwrap_err();
    assert!(error.to_string().contains("256 calls"), "{error}");
    let far = [
        calls(
            json!([{"index": 4_294_967_295_u64, "id": "a", "function": {"name": "book", "arguments": args("1")}}]),
        ),
        stop("tool_calls"),
    ];
    check(AdapterKind::OpenAI, &events(&far), "", &[book("1")]);
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// Numbering of the pieces of calls, as servers do it.
#[derive(Clone, Copy, Debug)]
enum Numbering {
    FromZero,
    FromOne,
    Gaps,
    AlwaysZero,
    OnlyFirst,
    Pieces,
    None,
}

/// Draws arguments that are meant: no two calls of an answer have the same ones.
fn meant(numbers: &mut Numbers, place: usize) -> Json {
    let words = ["", "{", "}", "\"", "\\", "{\"n\":", "ä👍", "a b", ":1}"];
    let mut args = json!({"n": place});
    for name in ["x", "y", "n2"] {
        if numbers.one_in(2) {
            args[name] = match numbers.below(3) {
                0 => json!(words[numbers.below(words.len())]),
                1 => json!({"n": [words[numbers.below(words.len())], {"n": 1}]}),
                _ => json!(numbers.below(1000)),
            };
        }
    }
    args
}

/// Cuts the text of arguments: into parts, or so that each has all of those before it, and perhaps whole again.
fn cut(numbers: &mut Numbers, text: &str, so_far: bool, whole_again: bool) -> Vec<String> {
    let mut ends: Vec<usize> = (0..numbers.below(4))
        .map(|_| numbers.below(text.len() + 1))
        .collect();
    ends.extend([0, text.len()]);
    ends.iter_mut()
        .for_each(|end| *end = text.floor_char_boundary(*end));
    ends.sort_unstable();
    ends.dedup();
    let begins_empty = numbers.one_in(2);
    let parts = ends.windows(2).map(|cut| match so_far {
        true => text[..cut[1]].to_owned(),
        false => text[cut[0]..cut[1]].to_owned(),
    });
    let empty = begins_empty.then(String::new);
    let again = whole_again.then(|| text.to_owned());
    empty.into_iter().chain(parts).chain(again).collect()
}

/// Returns the pieces of a stream that means `calls`.
fn pieces_of(numbers: &mut Numbers, calls: &[(String, Json)], numbering: Numbering) -> Vec<Json> {
    let same_id = numbers.one_in(4)
        && matches!(
            numbering,
            Numbering::FromZero | Numbering::FromOne | Numbering::Gaps
        );
    let repeats_id = numbers.one_in(3);
    let repeats_name = numbers.one_in(3);
    let so_far = numbers.one_in(4);
    let whole_again = numbers.one_in(4);
    let mut lists: Vec<Vec<Json>> = Vec::new();
    let mut count = 0;
    for (place, (name, args)) in calls.iter().enumerate() {
        let id = if same_id {
            "same".to_owned()
        } else {
            format!("id-{place}")
        };
        let parts = cut(numbers, &args.to_string(), so_far, whole_again);
        let list = parts.into_iter().enumerate().map(|(nth, part)| {
            let mut piece = json!({"function": {"arguments": part}});
            if nth == 0 || repeats_id {
                piece["id"] = id.clone().into();
            }
            if nth == 0 || repeats_name {
                piece["function"]["name"] = name.clone().into();
            }
            let index = match numbering {
                Numbering::FromZero => Some(place),
                Numbering::FromOne => Some(place + 1),
                Numbering::Gaps => Some(3 + place * 7),
                Numbering::AlwaysZero => Some(0),
                Numbering::OnlyFirst => (nth == 0).then_some(place),
                Numbering::Pieces => Some(count + nth),
                Numbering::None => None,
            };
            if let Some(index) = index {
                piece["index"] = index.into();
            }
            piece
        });
        let list: Vec<Json> = list.collect();
        count += list.len();
        lists.push(list);
    }
    // Where a number says which call it is, pieces of several calls may come in turns.
    let may_mix = matches!(
        numbering,
        Numbering::FromZero | Numbering::FromOne | Numbering::Gaps
    ) && !same_id
        && numbers.one_in(2);
    let mut pieces = Vec::new();
    while lists.iter().any(|list| !list.is_empty()) {
        let left: Vec<usize> = (0..lists.len())
            .filter(|place| !lists[*place].is_empty())
            .collect();
        let place = if may_mix {
            left[numbers.below(left.len())]
        } else {
            left[0]
        };
        pieces.push(lists[place].remove(0));
    }
    pieces
}

#[test]
fn streams_of_any_shape_say_the_calls_that_were_meant() {
    use Numbering::{AlwaysZero, FromOne, FromZero, Gaps, None, OnlyFirst, Pieces};
    let shapes = [FromZero, FromOne, Gaps, AlwaysZero, OnlyFirst, Pieces, None];
    for seed in 1..6000_u64 {
        let mut numbers = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let numbering = shapes[numbers.below(shapes.len())];
        let names = ["book", "look", "book_2"];
        let count = 1 + numbers.below(3);
        let mut wanted: Vec<(String, Json)> = (0..count)
            .map(|place| {
                (
                    names[numbers.below(names.len())].to_owned(),
                    meant(&mut numbers, place),
                )
            })
            .collect();
        let pieces = pieces_of(&mut numbers, &wanted, numbering);
        let mut stream = vec![delta(json!({"role": "assistant", "content": ""}))];
        for piece in &pieces {
            if numbers.one_in(5) {
                stream.push(delta(json!({"content": ""})));
            }
            stream.push(calls(json!([piece])));
        }
        stream.push(stop(if numbers.one_in(2) { "tool_calls" } else { "stop" }));
        if numbers.one_in(2) {
            stream.push(json!("[DONE]"));
        }
        let bytes = events(&stream);
        let size = 1 + numbers.below(200);
        let read = read_in(AdapterKind::OpenAI, "text/event-stream", bytes.as_bytes(), size);
        let (shown, answer) = read.unwrap_or_else(|error| panic!("{seed} {numbering:?}: {error}\n{bytes}"));
        let mut found = called(&answer);
        // Calls begin in the order of their first pieces.
        found.sort_by_key(|(_, args)| args["n"].as_u64());
        wanted.sort_by_key(|(_, args)| args["n"].as_u64());
        assert_eq!(found, wanted, "{seed} {numbering:?}\n{bytes}");
        let most = shown.iter().filter_map(|piece| match piece {
            AnswerPiece::Call(call) => Some(call.index),
            _ => Option::None,
        });
        assert!(most.max().unwrap_or(0) < pieces.len(), "{seed}");
    }
}
