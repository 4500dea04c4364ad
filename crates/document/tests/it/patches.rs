//! The fixtures that both implementations of patches run, and what only this one has to show.

use serde::Deserialize;
use serde_json::{Value as Json, json};
use superstep_document::{Document, Patch, PatchOp, same};

use crate::{document, root};

#[derive(Deserialize)]
struct Fixture {
    name: String,
    before: Vec<Record>,
    ops: Vec<PatchOp>,
    after: Vec<Record>,
    reversed: Option<Vec<PatchOp>>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Record {
    id: String,
    value: Json,
}

fn assert_records(document: &Document, expected: &[Record], when: &str) {
    let ids: Vec<&str> = document.records().map(|(id, _)| id).collect();
    let wanted: Vec<&str> = expected.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(ids, wanted, "{when}: records and their order");
    for ((id, value), record) in document.records().zip(expected) {
        assert!(
            same(value, &record.value),
            "{when}: {id} is {value}, expected {}",
            record.value
        );
    }
}

#[test]
fn fixtures() {
    let mut count = 0;
    let mut files: Vec<_> = std::fs::read_dir(root().join("tests/patches"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "json"))
    {
        let fixture: Fixture = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let what = format!("{} ({})", fixture.name, file.display());
        let records = fixture
            .before
            .iter()
            .map(|record| (record.id.clone(), record.value.clone()));
        let mut document = Document::from_records(records).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_records(&document, &fixture.before, &what);
        let result = document.apply(&Patch { ops: fixture.ops });
        assert_records(&document, &fixture.after, &what);
        match (result, fixture.error) {
            (Err(error), Some(code)) => assert_eq!(error.code(), code, "{what}: {error}"),
            (Err(error), None) => panic!("{what}: refused with {error}"),
            (Ok(_), Some(code)) => panic!("{what}: accepted, although {code} was expected"),
            (Ok(done), None) => {
                if let Some(reversed) = fixture.reversed {
                    assert_eq!(done.reversed(), Patch { ops: reversed }, "{what}: reversed");
                }
                document
                    .apply(&done.reversed())
                    .unwrap_or_else(|error| panic!("{what}, reversed: {error}"));
                assert_records(&document, &fixture.before, &format!("{what}, reversed"));
                document
                    .apply(&done)
                    .unwrap_or_else(|error| panic!("{what}, again: {error}"));
                assert_records(&document, &fixture.after, &format!("{what}, again"));
            }
        }
        count += 1;
    }
    assert!(count >= 15, "only {count} fixtures were found");
}

#[test]
fn a_conflict_says_what_is_there_and_what_to_do() {
    let mut graph = document(json!({"format": "superstep/1", "nodes": {"a": {"kind": "ask"}}}));
    let op = PatchOp {
        id: "node:a".into(),
        from: json!({"kind": "assign"}),
        to: Json::Null,
        at: None,
    };
    let error = graph.apply(&Patch { ops: vec![op] }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`node:a` has changed since this edit was made. Look at it again and repeat the edit."
    );
}

#[test]
fn undo_restores_the_text_of_the_file_exactly() {
    let text =
        r#"{ "x-first": 1, "name": "N", "edges": [], "format": "superstep/1", "nodes": {}, "x-last": [1] }"#;
    let (mut graph, _) = Document::parse(text);
    let before = graph.to_text();
    let head = |value: Json| value;
    let ops = vec![
        PatchOp {
            id: "doc".into(),
            from: head(json!({"x-first": 1, "name": "N", "format": "superstep/1", "x-last": [1]})),
            to: json!({"x-first": 1, "format": "superstep/1", "description": "D", "x-last": [1], "examples": []}),
            at: None,
        },
        PatchOp {
            id: "layout:a".into(),
            from: Json::Null,
            to: json!([1, 2]),
            at: None,
        },
        PatchOp {
            id: "key:k".into(),
            from: Json::Null,
            to: json!({}),
            at: None,
        },
    ];
    let done = graph.apply(&Patch { ops }).unwrap();
    assert_eq!(
        graph.to_json().as_object().unwrap().keys().collect::<Vec<_>>(),
        [
            "x-first",
            "edges",
            "layout",
            "format",
            "description",
            "state",
            "nodes",
            "x-last",
            "examples"
        ],
    );
    graph.apply(&done.reversed()).unwrap();
    assert_eq!(graph.to_text(), before);
}

#[test]
fn a_patch_on_an_unreadable_file_that_is_refused_keeps_its_text() {
    let (mut graph, problems) = Document::parse("{ not json");
    assert_eq!(problems.len(), 1);
    let insert = PatchOp {
        id: "node:a".into(),
        from: Json::Null,
        to: json!({"kind": "ask"}),
        at: None,
    };
    let wrong = PatchOp {
        id: "node:b".into(),
        from: json!(1),
        to: Json::Null,
        at: None,
    };
    graph
        .apply(&Patch {
            ops: vec![insert, wrong],
        })
        .unwrap_err();
    assert_eq!(graph.source(), Some("{ not json"));
}

#[test]
fn between_is_small() {
    let before = document(
        json!({"format": "superstep/1", "nodes": {"a": {"kind": "ask"}, "b": {"kind": "ask"}, "c": {}}}),
    );
    let after = document(
        json!({"format": "superstep/1", "nodes": {"a": {"kind": "ask"}, "c": {"kind": "x"}, "d": {}}}),
    );
    let patch = Patch::between(&before, &after);
    let ids: Vec<&str> = patch.ops.iter().map(|op| op.id.as_str()).collect();
    assert_eq!(ids, ["node:b", "node:c", "node:d"]);
    let mut graph = before;
    graph.apply(&patch).unwrap();
    assert_eq!(graph, after);
}
