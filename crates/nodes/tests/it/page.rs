//! `docs/nodes.md` says what the code does: the tables of settings are made from the schemas, and every filter is named.
//! With `UPDATE_GOLDEN=1` the tables are written.

use std::path::Path;

use serde_json::Value as Json;
use superstep_nodes::expression::FILTERS;
use superstep_nodes::{KindInfo, Registry};

fn table(kind: &KindInfo) -> String {
    let required: Vec<&str> = kind.config_schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let mut text = String::from("| setting | type | meaning |\n|---|---|---|\n");
    for (name, property) in kind.config_schema["properties"].as_object().unwrap() {
        let types: Vec<&str> = match &property["type"] {
            Json::String(ty) => vec![ty],
            Json::Array(types) => types
                .iter()
                .filter_map(Json::as_str)
                .filter(|ty| *ty != "null")
                .collect(),
            _ => vec!["any"],
        };
        let editor = property
            .get("x-editor")
            .and_then(Json::as_str)
            // What is written into these is a text, whatever is offered for it.
            .filter(|editor| !matches!(*editor, "text" | "way"));
        let shape = editor.map_or_else(|| types.join(" or "), |editor| editor.replace('-', " "));
        let default = match property.get("default") {
            Some(default) if !default.is_null() && default != &serde_json::json!([]) => {
                format!(" Default: `{default}`.")
            }
            _ if !required.contains(&name.as_str()) => " Optional.".to_owned(),
            _ => String::new(),
        };
        let bounds = match (property.get("minimum"), property.get("maximum")) {
            (Some(low), Some(high)) => format!(" From {low} to {high}."),
            (Some(low), None) => format!(" At least {low}."),
            _ => String::new(),
        };
        let meaning = property["description"]
            .as_str()
            .unwrap()
            .replace('\n', " ")
            .replace('|', "\\|");
        text.push_str(&format!("| `{name}` | {shape} | {meaning}{bounds}{default} |\n"));
    }
    text
}

#[test]
fn the_page_names_every_kind_setting_and_filter() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/nodes.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut fresh = page.clone();
    for kind in Registry::standard().kinds() {
        let (open, close) = (
            format!("<!-- settings of {} -->\n", kind.kind),
            "<!-- end of settings -->",
        );
        let start = fresh
            .find(&open)
            .unwrap_or_else(|| panic!("docs/nodes.md has no place for {}", kind.kind))
            + open.len();
        let end = start + fresh[start..].find(close).expect("the place has an end");
        fresh.replace_range(start..end, &table(&kind));
        assert!(
            page.contains(kind.summary),
            "the summary of {}: {}",
            kind.kind,
            kind.summary
        );
        for name in kind.config_schema["properties"].as_object().unwrap().keys() {
            assert!(fresh.contains(&format!("`{name}`")), "{name}");
        }
    }
    for filter in FILTERS {
        assert!(
            page.contains(&format!("`{filter}`")),
            "the filter {filter} is not in docs/nodes.md"
        );
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    } else {
        assert_eq!(
            page, fresh,
            "docs/nodes.md is out of date; UPDATE_GOLDEN=1 rewrites its tables"
        );
    }
}

#[test]
fn a_form_names_each_of_its_fields_once_and_shows_what_is_needed_first() {
    for kind in Registry::standard().kinds() {
        let layout = &kind.config_schema["x-form"];
        let names = |list: &Json| -> Vec<String> {
            let items = list.as_array().into_iter().flatten();
            items.filter_map(Json::as_str).map(str::to_owned).collect()
        };
        let properties = kind.config_schema["properties"].as_object().unwrap();
        let front = names(&layout["front"]);
        let groups: Vec<String> = (layout["groups"].as_array().into_iter().flatten())
            .flat_map(|group| names(&group["fields"]))
            .collect();
        let mut placed: Vec<&String> = front.iter().chain(&groups).collect();
        placed.sort();
        if layout.is_null() {
            assert!(properties.len() <= 4, "{} has no x-form", kind.kind);
            continue;
        }
        let mut fields: Vec<&String> = properties.keys().collect();
        fields.sort();
        assert_eq!(placed, fields, "the form of {}", kind.kind);
        for name in names(&kind.config_schema["required"]) {
            assert!(front.contains(&name), "{}: {name} is needed", kind.kind);
        }
    }
}

#[test]
fn every_kind_is_found_by_other_names_than_its_own() {
    for kind in Registry::standard().kinds() {
        assert!(kind.aliases.len() >= 3, "{}", kind.kind);
        let mut seen = std::collections::BTreeSet::new();
        for alias in kind.aliases {
            assert!(seen.insert(alias.to_lowercase()), "{}: {alias} twice", kind.kind);
            assert_ne!(alias.to_lowercase(), kind.title.to_lowercase(), "{}", kind.kind);
        }
    }
}
