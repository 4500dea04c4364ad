//! What random cases leave out of the two records, and nothing more.

use serde_json::{Value, json};
use superstep_conformance::{Side, leave_out};

/// A record with one message of each word in each form in which messages are told.
fn record(words: &[&str]) -> Value {
    let message = |word: &str| json!({"type": "ai", "content": format!("{word} a"), "id": word});
    let events = words.iter().flat_map(|word| {
        let told = message(word);
        [
            json!([[], "messages", [told, {"langgraph_node": "a"}]]),
            json!([[], "messages", {"data": [told, {"langgraph_node": "a"}]}]),
            // The state holds it on both sides.
            json!([[], "values", {"m": [told]}]),
        ]
    });
    let projected = words.iter().map(|word| {
        let pieces = json!([{"event": "message-start", "id": word},
            {"event": "content-block-delta", "delta": {"type": "text-delta", "text": format!("{word} a")}}]);
        json!(["messages", {"id": word, "node": "a", "pieces": pieces}])
    });
    let projected: Vec<Value> = projected.collect();
    json!([{"events": events.collect::<Vec<_>>(), "projected": [[[], projected]], "by_name": [[[], projected]]}])
}

#[test]
fn each_side_loses_only_what_it_alone_tells() {
    let all = [
        "elsewhere",
        "handed",
        "paired",
        "handler",
        "given",
        "elsewhereand",
    ];
    for (side, left) in [
        (
            Side::Reference,
            &["handed", "paired", "handler", "given", "elsewhereand"][..],
        ),
        (Side::Engine, &["elsewhere", "given", "elsewhereand"]),
    ] {
        let mut made = record(&all);
        leave_out(&mut made, side);
        let mut wanted = record(left);
        // States keep all.
        let states = |record: &Value| -> Vec<Value> {
            let events = record[0]["events"].as_array().into_iter().flatten();
            events.filter(|event| event[1] == "values").cloned().collect()
        };
        assert_eq!(states(&made), states(&record(&all)), "{side:?}: states stay");
        for record in [&mut made, &mut wanted] {
            if let Some(Value::Array(events)) = record[0].get_mut("events") {
                events.retain(|event| event[1] == "messages");
            }
        }
        assert_eq!(
            made, wanted,
            "{side:?}: messages of other words stay, those of its own go"
        );
    }
}
