//! Finding and replacing over the graphs of a folder.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use superstep_acceptance::App;

fn graph(name: &str, prompt: &str) -> Value {
    json!({
        "format": "superstep/1", "name": name,
        "state": {"order": {"type": "string"}},
        "nodes": {"ask": {"kind": "model", "config": {"prompt": prompt}}},
        "edges": [{"from": "__start__", "to": "ask"}, {"from": "ask", "to": "__end__"}]
    })
}

fn write(path: &Path, graph: &Value) -> String {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = graph.to_string();
    fs::write(path, &text).unwrap();
    text
}

/// `place: pointer` of every match of an answer.
fn matches(found: &Value) -> Vec<String> {
    let files = found["files"].as_array().unwrap();
    let of = |file: &Value| {
        let place = file["place"].as_str().unwrap().to_owned();
        let all = file["matches"].as_array().unwrap().clone();
        all.into_iter().map(move |one| {
            format!(
                "{place}: {}{}",
                one["record"].as_str().unwrap(),
                one["pointer"].as_str().unwrap_or("")
            )
        })
    };
    files.iter().flat_map(of).collect()
}

/// What a replacement of everything that was found says.
fn everything(found: &Value) -> Vec<Value> {
    let files = found["files"].as_array().unwrap();
    files
        .iter()
        .map(|file| json!({"graphId": file["graphId"], "path": file["path"], "version": file["version"]}))
        .collect()
}

#[tokio::test]
async fn the_open_graph_and_the_other_graphs_of_its_folder_are_searched() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let project = dir.path().join("project");
    write(&project.join("graph.json"), &graph("Main", "Greet the customer."));
    write(
        &project.join("parts/other.json"),
        &graph("Other", "Greet back: customer"),
    );
    write(
        &project.join("node_modules/x/far.json"),
        &graph("Far", "customer"),
    );
    fs::write(project.join("notes.json"), r#"{"customer": "no graph"}"#).unwrap();
    fs::write(
        project.join("broken.json"),
        r#"{"format": "superstep/1", "customer"#,
    )
    .unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(dir.path(), project.join("round")).unwrap();
    let view = app
        .ok("graph.open", json!({"path": project.join("graph.json")}))
        .await;
    // What is in memory counts, not the file.
    let mut node = graph("", "Greet the customer twice: customer.")["nodes"]["ask"].clone();
    let before = view["records"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["id"] == "node:ask")
        .unwrap()["value"]
        .clone();
    node["title"] = "Ask".into();
    app.ok(
        "graph.apply",
        json!({"graphId": view["graphId"], "baseRev": 0, "ops": [{"id": "node:ask", "from": before, "to": node}]}),
    )
    .await;

    let here = app
        .ok(
            "project.find",
            json!({"graphId": view["graphId"], "query": {"text": "CUSTOMER"}}),
        )
        .await;
    assert_eq!(
        matches(&here),
        [
            "graph.json: node:ask/config/prompt",
            "graph.json: node:ask/config/prompt"
        ]
    );
    let all = app
        .ok(
            "project.find",
            json!({"graphId": view["graphId"], "everywhere": true, "query": {"text": "customer"}}),
        )
        .await;
    assert_eq!(
        matches(&all)[2..],
        ["parts/other.json: node:ask/config/prompt"],
        "neither hidden folders of other programs nor files that are no graphs are searched"
    );
    let skipped = all["skipped"].as_array().unwrap();
    assert_eq!(skipped.len(), 1, "the broken graph is named: {skipped:?}");
    assert!(skipped[0]["path"].as_str().unwrap().ends_with("broken.json"));
    assert_eq!(
        (all["searched"].as_u64(), all["cut"].as_bool()),
        (Some(2), Some(false))
    );
}

#[tokio::test]
async fn an_open_graph_gets_a_patch_and_a_closed_file_is_written_with_a_way_back() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let (main, other) = (dir.path().join("p/graph.json"), dir.path().join("p/other.json"));
    let untouched = write(&main, &graph("Main", "order order"));
    let before = write(&other, &graph("Other", "An order."));
    let view = app.ok("graph.open", json!({"path": main})).await;
    let query = json!({"text": "order", "wholeWord": true});
    let find =
        json!({"graphId": view["graphId"], "everywhere": true, "query": query, "replacement": "parcel"});
    let found = app.ok("project.find", find).await;
    assert_eq!(found["files"][1]["matches"][1]["replaced"], "parcel", "{found:#}");

    let replaced = app
        .ok(
            "project.replace",
            json!({"query": query, "replacement": "parcel", "files": everything(&found)}),
        )
        .await;
    assert_eq!(replaced["skipped"], json!([]));
    let open = &replaced["files"][0];
    assert_eq!(
        (open["graphId"].clone(), open["matches"].as_u64()),
        (view["graphId"].clone(), Some(2))
    );
    assert_eq!(open["ops"][0]["to"]["config"]["prompt"], "parcel parcel");
    assert_eq!(
        fs::read_to_string(&main).unwrap(),
        untouched,
        "an open graph is changed by its window"
    );
    let applied = json!({"graphId": view["graphId"], "baseRev": open["rev"], "ops": open["ops"]});
    app.ok("graph.apply", applied).await;

    let written: Value = serde_json::from_str(&fs::read_to_string(&other).unwrap()).unwrap();
    assert_eq!(written["nodes"]["ask"]["config"]["prompt"], "An parcel.");
    assert!(
        written["state"].get("order").is_some(),
        "a name is renamed, not replaced"
    );
    let opened = app.ok("graph.open", json!({"path": other})).await;
    let versions = app
        .ok("graph.versions", json!({"graphId": opened["graphId"]}))
        .await;
    let oldest = versions["versions"].as_array().unwrap().last().unwrap()["id"].clone();
    let restored = app
        .ok(
            "graph.restore",
            json!({"graphId": opened["graphId"], "version": oldest}),
        )
        .await;
    let old: Value = serde_json::from_str(&before).unwrap();
    let node = restored["records"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["id"] == "node:ask")
        .unwrap()
        .clone();
    assert_eq!(
        node["value"], old["nodes"]["ask"],
        "the text before is among the versions"
    );
}

#[tokio::test]
async fn what_changed_since_the_search_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let (main, other, kept) = (
        dir.path().join("p/graph.json"),
        dir.path().join("p/other.json"),
        dir.path().join("p/kept.json"),
    );
    write(&main, &graph("Main", "x"));
    write(&other, &graph("Other", "one word"));
    write(&kept, &graph("Kept", "one word"));
    // Closed with changes that are not in the file.
    let closed = app.ok("graph.open", json!({"path": kept})).await;
    let head = closed["records"][0]["value"].clone();
    let mut renamed = head.clone();
    renamed["name"] = "Changed".into();
    let ops = json!([{"id": "doc", "from": head, "to": renamed}]);
    app.ok(
        "graph.apply",
        json!({"graphId": closed["graphId"], "baseRev": 0, "ops": ops}),
    )
    .await;
    app.ok(
        "graph.close",
        json!({"graphId": closed["graphId"], "discard": false}),
    )
    .await;

    let view = app.ok("graph.open", json!({"path": main})).await;
    let query = json!({"text": "word"});
    let find = json!({"graphId": view["graphId"], "everywhere": true, "query": query});
    let found = app.ok("project.find", find).await;
    let changed = write(&other, &graph("Other", "another word"));
    let replaced = app
        .ok(
            "project.replace",
            json!({"query": query, "replacement": "text", "files": everything(&found)}),
        )
        .await;
    assert_eq!(replaced["files"], json!([]));
    let mut codes: Vec<&str> = replaced["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["problem"]["code"].as_str().unwrap())
        .collect();
    codes.sort_unstable();
    assert_eq!(codes, ["conflict", "unsaved-changes"]);
    assert_eq!(fs::read_to_string(&other).unwrap(), changed);
}

#[tokio::test]
async fn a_search_with_very_many_matches_is_cut_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let project = dir.path().join("p");
    write(&project.join("graph.json"), &graph("Main", "none"));
    for n in 0..60 {
        write(
            &project.join(format!("g{n:02}.json")),
            &graph("Many", &"word ".repeat(50)),
        );
    }
    let view = app
        .ok("graph.open", json!({"path": project.join("graph.json")}))
        .await;
    let find = json!({"graphId": view["graphId"], "everywhere": true, "query": {"text": "word"}});
    let found = app.ok("project.find", find).await;
    assert_eq!(
        (matches(&found).len(), found["cut"].as_bool()),
        (2_000, Some(true))
    );

    let bad = json!({"graphId": view["graphId"], "query": {"text": "(", "regex": true}});
    assert_eq!(app.refused("project.find", bad).await.code, "bad-pattern");
}
