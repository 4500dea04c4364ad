//! `superstep store`: what graphs remember, found and changed.

use serde_json::{Value as Json, json};

use crate::User;

fn json_of(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

#[test]
fn items_are_put_found_and_removed() {
    let user = User::new();
    let none = user.expect(0, &["store"]);
    assert!(
        none.out.is_empty() && none.err.contains("Nothing is remembered"),
        "{}",
        none.err
    );

    user.expect(
        0,
        &[
            "store",
            "put",
            "people/ada",
            "likes",
            r#"{"drink": "green tea", "cups": 3}"#,
        ],
    );
    user.expect(
        0,
        &[
            "store",
            "put",
            "people/ben",
            "likes",
            r#"{"drink": "coffee", "cups": 1}"#,
        ],
    );
    user.expect(0, &["store", "put", r"files/a\/b", "now", "{}", "--minutes", "5"]);
    assert_eq!(
        user.expect(0, &["store"]).out,
        "files/a\\/b\npeople/ada\npeople/ben\n"
    );
    assert_eq!(
        json_of(&user.expect(0, &["store", "list", "people", "--json"]).out),
        json!([["people", "ada"], ["people", "ben"]])
    );

    let found = user.expect(0, &["store", "search", "people", "--query", "tea", "--json"]);
    let found = json_of(&found.out);
    assert_eq!(
        (
            &found[0]["namespace"],
            &found[0]["key"],
            found.as_array().unwrap().len()
        ),
        (&json!(["people", "ada"]), &json!("likes"), 1)
    );
    let many = user.expect(0, &["store", "search", "--filter", r#"{"cups": {"$lt": 2}}"#]);
    assert!(
        many.out.contains("people/ben") && !many.out.contains("people/ada"),
        "{}",
        many.out
    );

    let read = user.expect(0, &["store", "get", "people/ada", "likes"]);
    assert_eq!(json_of(&read.out), json!({"drink": "green tea", "cups": 3}));
    let whole = json_of(
        &user
            .expect(0, &["store", "get", "people/ada", "likes", "--json"])
            .out,
    );
    assert_eq!(whole["created_at"], whole["updated_at"]);

    // Nothing goes without a yes, nor when one of the names is wrong.
    user.expect(2, &["store", "delete", "people/ada", "likes"]);
    let wrong = user.expect(2, &["store", "delete", "people/ada", "likes", "hates", "--yes"]);
    assert!(
        wrong.err.contains("no item \"hates\" in people/ada"),
        "{}",
        wrong.err
    );
    user.expect(0, &["store", "get", "people/ada", "likes"]);
    user.expect(0, &["store", "delete", "people/ada", "likes", "--yes"]);
    user.expect(2, &["store", "get", "people/ada", "likes"]);
}

#[test]
fn items_are_embedded_again_when_vectors_are_made_in_another_way() {
    let user = User::new();
    for (key, text) in [("one", "a green tea"), ("two", "black coffee")] {
        let value = json!({ "text": text }).to_string();
        user.expect(0, &["store", "put", "a", key, &value]);
    }
    let none = user.expect(2, &["store", "embed"]);
    assert!(none.err.contains("searched by words"), "{}", none.err);
    std::fs::write(
        user.dir.path().join("data/settings.json"),
        r#"{"memory": {"embedding": "ngrams", "refreshOnRead": true}}"#,
    )
    .unwrap();
    let search = || user.expect(0, &["store", "search", "a", "--query", "grean tee", "--json"]);
    let nothing = search();
    assert_eq!(json_of(&nothing.out), json!([]));
    assert!(nothing.err.contains("superstep store embed"), "{}", nothing.err);
    let done = user.expect(0, &["store", "embed"]);
    assert!(done.err.contains("Embedded 2 items again"), "{}", done.err);
    let found = search();
    assert_eq!(json_of(&found.out)[0]["key"], "one");
    assert!(!found.err.contains("store embed"), "{}", found.err);
    let again = user.expect(0, &["store", "embed"]);
    assert!(again.err.contains("Embedded 0 items again"), "{}", again.err);
}

#[test]
fn what_cannot_be_kept_is_refused_with_the_reason() {
    let user = User::new();
    let text = user.expect(2, &["store", "put", "a", "k", "\"text\""]);
    assert!(text.err.contains("a store keeps objects"), "{}", text.err);
    let period = user.expect(2, &["store", "put", "a.b", "k", "{}"]);
    assert!(period.err.contains("holds a period"), "{}", period.err);
    let filter = user.expect(2, &["store", "search", "--filter", r#"{"a": {"$like": 1}}"#]);
    assert!(filter.err.contains("$like"), "{}", filter.err);
}

/// Runs SQL on a database of a test.
fn sql(path: &std::path::Path, statement: &str) {
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(statement)
        .unwrap();
}

#[test]
fn a_damaged_item_is_found_repaired_and_removed() {
    let user = User::new();
    for key in ["k1", "k2", "k3"] {
        user.expect(0, &["store", "put", "a", key, r#"{"v": 1}"#]);
    }
    let database = user.dir.path().join("data/threads.db");
    sql(&database, "UPDATE store_items SET value = '{' WHERE key <> 'k3'");
    let search = user.expect(1, &["store", "search"]);
    assert!(search.err.contains("says what can be repaired"), "{}", search.err);
    user.expect(0, &["store", "delete", "a", "k1", "--yes"]);
    let found = user.expect(1, &["threads", "verify"]);
    assert!(
        found.out.contains("Item \"k2\"") && found.err.contains("1 damaged place"),
        "{}",
        found.out
    );
    user.expect(0, &["threads", "verify", "--repair"]);
    let sound = user.expect(0, &["threads", "verify"]);
    assert!(
        sound.err.contains("2 items of the store: everything is sound"),
        "{}",
        sound.err
    );
    user.expect(2, &["store", "get", "a", "k2"]);
    assert!(
        user.expect(0, &["store", "get", "damaged/a", "k2"])
            .out
            .contains("\"stored\": \"{\"")
    );
}

#[test]
fn namespaces_are_listed_page_by_page() {
    let user = User::new();
    let none = user.expect(0, &["store", "list"]);
    assert!(none.err.contains("Nothing is remembered"), "{}", none.err);
    for place in ["a/x/1", "a/y/1", "b/x/2"] {
        user.expect(0, &["store", "put", place, "k", "{}"]);
    }
    let list = |more: &[&str]| user.expect(0, &[&["store", "list"], more].concat()).out;
    assert_eq!(list(&["--depth", "1"]), "a\nb\n");
    assert_eq!(list(&["--suffix", "1"]), "a/x/1\na/y/1\n");
    assert_eq!(list(&["--limit", "1", "--offset", "1"]), "a/y/1\n");
    let empty = user.expect(0, &["store", "list", "peo"]);
    assert!(empty.err.contains("No namespace"), "{}", empty.err);
    user.expect(2, &["store", "list", "--limit", "0"]);
    let swept = user.expect(0, &["store", "sweep"]);
    assert!(swept.err.contains("Removed 0 items"), "{}", swept.err);
}

/// A graph that remembers what it is given, and looks at it.
fn remembering(user: &User) -> String {
    let graph = json!({
        "format": "superstep/1", "name": "Remembering", "state": {"likes": {"type": "string"}, "seen": {}},
        "nodes": {
            "remember": {"kind": "store", "config": {
                "do": "put", "namespace": ["people"], "key": "ada", "value": "{'drink': state.likes}"}},
            "look": {"kind": "store", "config": {"do": "get", "namespace": ["people"], "key": "ada", "into": "seen"}}
        },
        "edges": [{"from": "__start__", "to": "remember"}, {"from": "remember", "to": "look"}]
    });
    let path = user.dir.path().join("remembering.json");
    std::fs::write(&path, graph.to_string()).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn the_steps_that_used_an_item_are_listed_and_what_it_was_then() {
    let user = User::new();
    let graph = remembering(&user);
    for (thread, likes) in [("a", "tea"), ("b", "coffee")] {
        let input = json!({"likes": likes}).to_string();
        user.expect(0, &["run", &graph, "--thread", thread, "--input", &input]);
    }
    let listed = user
        .expect(0, &["store", "uses", "people", "ada", "--json"])
        .json();
    let rows: Vec<(&str, &str, &Json)> = (listed["uses"].as_array().unwrap().iter())
        .map(|used| {
            (
                used["threadId"].as_str().unwrap(),
                used["action"].as_str().unwrap(),
                &used["value"]["value"]["drink"],
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("b", "read", &json!("coffee")),
            ("b", "written", &json!("coffee")),
            ("a", "read", &json!("tea")),
            ("a", "written", &json!("tea")),
        ]
    );
    let table = user.expect(0, &["store", "uses", "people", "ada", "--limit", "1"]);
    assert!(
        table.out.lines().count() == 2 && table.out.contains("coffee"),
        "{}",
        table.out
    );
    assert!(table.err.contains("There is more"), "{}", table.err);

    let then = |moment: &str| {
        let shown = user.expect(0, &["store", "uses", "people", "ada", "--at", moment, "--json"]);
        shown.json()["then"].clone()
    };
    // Thread a was over before b wrote.
    let of_a = then("a");
    assert_eq!(
        (
            &of_a["known"],
            &of_a["use"]["value"]["value"],
            &of_a["use"]["node"]
        ),
        (&json!("recorded"), &json!({"drink": "tea"}), &json!("look"))
    );
    assert_eq!(then("b"), json!({"known": "same", "value": {"drink": "coffee"}}));
    assert_eq!(then("a@0"), json!({"known": "unknown"}), "before the first write");
    let line = user
        .expect(0, &["store", "uses", "people", "ada", "--at", "a"])
        .out;
    assert!(
        line.starts_with("then: {\"drink\":\"tea\"}, last read by look at"),
        "{line}"
    );
    let none = user.expect(0, &["store", "uses", "people", "ben"]);
    assert!(
        none.out.is_empty() && none.err.contains("Nothing found in 2 threads"),
        "{}",
        none.err
    );
}
