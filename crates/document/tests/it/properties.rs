//! What holds for every document, patch and text.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};
use superstep_document::{Document, Patch};

/// Any JSON, a few levels deep.
fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        ".{0,12}".prop_map(Json::from),
        word().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec(
                (prop_oneof![word(), "[ -~]{0,4}".prop_map(String::from)], inner),
                0..6
            )
            .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Words that mean something in a graph file, so that arbitrary values hit the interesting branches.
fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "format",
        "superstep/1",
        "superstep/2",
        "name",
        "state",
        "nodes",
        "edges",
        "layout",
        "input",
        "output",
        "examples",
        "recursion_limit",
        "from",
        "to",
        "when",
        "route",
        "paths",
        "default",
        "each",
        "as",
        "with",
        "id",
        "kind",
        "config",
        "type",
        "reducer",
        "channel",
        "enum",
        "a",
        "b",
        "c",
        "a:b",
        "__start__",
        "__end__",
        "__x",
        "add",
        "append",
        "ephemeral",
        "topic",
        "string",
        "integer",
        "array",
        "state.a",
        "",
    ])
    .prop_map(String::from)
}

/// A graph file with the right shape and many mistakes.
fn graph() -> impl Strategy<Value = Json> {
    let place = || prop::sample::select(vec!["a", "b", "c", "d", "__start__", "__end__", "zz"]);
    let edge = prop_oneof![
        (place(), place()).prop_map(|(from, to)| json!({"from": from, "to": to})),
        (place(), place(), 0..3).prop_map(|(from, to, n)| json!({"from": from, "to": to, "id": format!("e{n}")})),
        (prop::collection::vec(place(), 0..3), place()).prop_map(|(from, to)| json!({"from": from, "to": to})),
        (place(), place(), place()).prop_map(
            |(from, to, other)| json!({"from": from, "route": "state.a", "paths": {"x": to, "y": other}, "default": to})
        ),
        (place(), place()).prop_map(|(from, to)| json!({"from": from, "to": to, "when": "state.a > 1"})),
        (place(), place()).prop_map(|(from, to)| json!({"from": from, "to": to, "each": "state.a", "as": "item"})),
        any_json().prop_filter("null is absence", |value| !value.is_null()),
    ];
    let record = || any_json().prop_filter("null is absence", |value| !value.is_null());
    let section = |names: &'static [&'static str]| {
        prop::collection::vec((prop::sample::select(names), record()), 0..5).prop_map(|records| {
            Json::Object(
                records
                    .into_iter()
                    .map(|(name, value)| (name.into(), value))
                    .collect(),
            )
        })
    };
    let member = prop_oneof![
        section(&["a", "b", "x y", "__k"]).prop_map(|section| ("state".to_owned(), section)),
        section(&["a", "b", "c", "d", "a:b", "__start__"]).prop_map(|section| ("nodes".to_owned(), section)),
        prop::collection::vec(edge, 0..8).prop_map(|edges| ("edges".to_owned(), Json::from(edges))),
        section(&["a", "__end__", "gone"]).prop_map(|section| ("layout".to_owned(), section)),
        Just(("format".to_owned(), json!("superstep/1"))),
        (word(), any_json()),
        ("[a-z]{1,6}", any_json()).prop_map(|(name, value)| (name, value)),
    ];
    prop::collection::vec(member, 0..9)
        .prop_map(|members| Json::Object(members.into_iter().collect::<Map<_, _>>()))
}

fn parse(value: &Json) -> Document {
    Document::parse(&value.to_string()).0
}

/// Nothing in a file is lost: the JSON of a document is the JSON of its file.
fn assert_kept(value: &Json, document: &Document) {
    assert_eq!(&document.to_json(), value);
    assert_eq!(
        document
            .to_json()
            .as_object()
            .map(|members| members.keys().cloned().collect::<Vec<_>>()),
        value
            .as_object()
            .map(|members| members.keys().cloned().collect::<Vec<_>>()),
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_comes_back_as_it_was(value in graph()) {
        let document = parse(&value);
        assert_kept(&value, &document);
        let text = document.to_text();
        let (again, problems) = Document::parse(&text);
        prop_assert!(problems.is_empty());
        prop_assert_eq!(&again, &document);
        prop_assert_eq!(again.to_text(), text, "formatting is stable");
    }

    #[test]
    fn nothing_panics_on_any_json(value in any_json()) {
        let document = parse(&value);
        for diagnostic in document.validate() {
            prop_assert!(!diagnostic.message.is_empty() && !diagnostic.remedy.is_empty());
            prop_assert!(document.record(&diagnostic.record).is_some(), "{}", diagnostic);
        }
        document.mermaid();
        document.input_schema();
    }

    #[test]
    fn every_diagnostic_has_a_place(value in graph()) {
        let document = parse(&value);
        for diagnostic in document.validate() {
            prop_assert!(document.record(&diagnostic.record).is_some(), "{}", diagnostic);
            let pointer = diagnostic.pointer.unwrap_or_default();
            prop_assert!(pointer.is_empty() || pointer.starts_with('/'), "{}", pointer);
        }
        document.mermaid();
    }

    #[test]
    fn nothing_panics_on_any_text(text in ".{0,60}") {
        let (document, _) = Document::parse(&text);
        document.validate();
        let kept = document.source().is_some_and(|source| source == text);
        let readable = serde_json::from_str::<Map<String, Json>>(text.trim_start_matches('\u{feff}')).is_ok();
        prop_assert!(kept || readable);
    }

    #[test]
    fn a_patch_and_its_reverse_are_no_change(before in graph(), after in graph()) {
        let (before, after) = (parse(&before), parse(&after));
        // In a patch null means absent, so a record that holds null cannot come into being by one.
        prop_assume!(before.records().chain(after.records()).all(|(_, value)| !value.is_null()));
        let patch = Patch::between(&before, &after);
        let mut document = before.clone();
        // A section that has the wrong type on one side only may be in the way; the refusal must change nothing.
        match document.apply(&patch) {
            Ok(done) => {
                let ids = |document: &Document| document.records().map(|(id, _)| id.to_owned()).collect::<Vec<_>>();
                prop_assert_eq!(ids(&document), ids(&after));
                for (id, value) in after.records() {
                    prop_assert_eq!(document.record(id), Some(value));
                }
                document.apply(&done.reversed()).unwrap();
                prop_assert_eq!(document.to_text(), before.to_text());
                prop_assert_eq!(document, before);
            }
            Err(_) => prop_assert_eq!(document, before),
        }
    }
}
