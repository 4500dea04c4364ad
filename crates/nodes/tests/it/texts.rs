//! `ui/src/lib/texts/kinds.json` lists every text of a kind that a person reads, so that translations of the interface
//! cannot miss one. With `UPDATE_GOLDEN=1` the list is written.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value as Json, json};
use superstep::Input;
use superstep_nodes::Registry;

use crate::support::{build, no_keys, one_node, run};

/// Adds the texts of a schema that forms show: of it, of its fields, of what they hold and of what there is to choose.
fn read_schema(schema: &Json, texts: &mut BTreeSet<String>) {
    let members = |value: &'_ Json, name: &str| -> Vec<Json> {
        match &value[name] {
            Json::Array(list) => list.clone(),
            Json::Object(map) if name == "properties" => map.values().cloned().collect(),
            Json::Null => Vec::new(),
            one => vec![one.clone()],
        }
    };
    let shown = ["title", "description"].iter().map(|name| &schema[*name]);
    let labels = members(schema, "x-enum-labels");
    let titled = [members(schema, "x-begin"), members(&schema["x-form"], "groups")].concat();
    let titles = titled.iter().map(|one| &one["title"]);
    texts.extend(
        (shown.chain(&labels).chain(titles))
            .filter_map(Json::as_str)
            .map(str::to_owned),
    );
    for name in [
        "properties",
        "items",
        "additionalProperties",
        "oneOf",
        "anyOf",
        "allOf",
    ] {
        for inner in members(schema, name) {
            read_schema(&inner, texts);
        }
    }
}

/// What a `tools` node asks before it runs a tool.
async fn question(tool: &str) -> Json {
    let document = one_node(
        json!({"messages": {"type": "array", "reducer": "add_messages"}}),
        "tools",
        json!({"messages": "messages", "tools": [{
            "name": tool, "description": "Does nothing.", "parameters": {"type": "object", "properties": {}},
            "approval": true, "javascript": {"source": "return 1;"}}]}),
    );
    let input = superstep::json!({"messages": [
        {"type": "ai", "content": "", "id": "a", "tool_calls": [{"name": tool, "args": {}, "id": "0", "type": "tool_call"}]}]});
    let (_, result) = run(&build(&document, &no_keys()), Input::Value(input), &[]).await;
    Json::from(&result.unwrap().interrupts[0].value)
}

#[tokio::test]
async fn the_list_for_translations_has_every_text_of_the_kinds() {
    let mut texts = BTreeSet::new();
    for kind in Registry::standard().kinds() {
        texts.extend([kind.title.to_owned(), kind.summary.to_owned()]);
        read_schema(&kind.config_schema, &mut texts);
    }
    let asked = question("nothing").await;
    read_schema(&asked["schema"], &mut texts);
    let choices = asked["choices"].as_array().unwrap().iter();
    let named = choices.flat_map(|choice| [&choice["label"], &choice["description"]]);
    texts.extend(named.map(|text| text.as_str().unwrap().to_owned()));
    texts.insert(asked["question"].as_str().unwrap().replace("nothing", "{tool}"));

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/lib/texts/kinds.json");
    let fresh = format!("{}\n", serde_json::to_string_pretty(&texts).unwrap());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &fresh).unwrap();
        return;
    }
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        fresh,
        "ui/src/lib/texts/kinds.json is out of date; UPDATE_GOLDEN=1 rewrites it, and the texts of every language follow it"
    );
}
