//! Where documents come from and go to: names, places, versions, and what is kept of changes that were not saved.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

/// A graph file of this name.
fn graph(name: Option<&str>) -> String {
    let mut graph = json!({
        "format": "superstep/1",
        "name": name,
        "state": {"n": {"type": "integer", "reducer": "add"}},
        "nodes": {"a": {"kind": "assign", "config": {"set": {"n": "1"}}}},
        "edges": [{"from": "__start__", "to": "a"}, {"from": "a", "to": "__end__"}]
    });
    if name.is_none() {
        graph.as_object_mut().unwrap().shift_remove("name");
    }
    serde_json::to_string_pretty(&graph).unwrap()
}

fn write(dir: &Path, file: &str, name: &str) -> PathBuf {
    let path = dir.join(file);
    fs::write(&path, graph(Some(name))).unwrap();
    path
}

async fn open(app: &App, path: &Path) -> Value {
    app.ok("graph.open", json!({"path": path})).await
}

/// Gives an open document another name.
async fn rename(app: &App, id: &Value, to: &str) {
    let view = app.ok("graph.get", json!({"graphId": id})).await;
    let from = view["records"][0]["value"].clone();
    let mut head = from.clone();
    head["name"] = to.into();
    let ops = json!([{"id": "doc", "from": from, "to": head}]);
    app.ok(
        "graph.apply",
        json!({"graphId": id, "baseRev": view["rev"], "ops": ops}),
    )
    .await;
}

async fn names_of_versions(app: &App, id: &Value) -> Vec<String> {
    let kept = app.ok("graph.versions", json!({"graphId": id})).await;
    let mut names = Vec::new();
    for version in kept["versions"].as_array().unwrap() {
        let back = json!({"graphId": id, "version": version["id"]});
        let view = app.ok("graph.restore", back).await;
        names.push(view["name"].as_str().unwrap().to_owned());
    }
    names
}

/// Unsaved changes of one slot.
fn unsaved_of(slot: &fs::DirEntry) -> Option<PathBuf> {
    let files = fs::read_dir(slot.path()).ok()?;
    let mut paths = files.map(|file| file.unwrap().path());
    paths.find(|path| path.file_name().unwrap().to_string_lossy().starts_with("unsaved"))
}

/// Documents with unsaved changes in the data folder.
fn unsaved(data: &Path) -> usize {
    let slots = fs::read_dir(data.join("autosave"))
        .into_iter()
        .flatten()
        .flatten();
    slots.filter(|slot| unsaved_of(slot).is_some()).count()
}

/// Waits until changes of this many documents are kept.
async fn kept_unsaved(data: &Path, documents: usize) {
    let mut waited = 0;
    while unsaved(data) < documents {
        tokio::time::sleep(Duration::from_millis(20)).await;
        waited += 1;
        assert!(waited < 6000, "the changes are not kept");
    }
}

#[tokio::test]
async fn a_graph_is_called_by_its_file_until_it_has_a_name() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let desk = dir.path().join("desk");
    fs::create_dir(&desk).unwrap();
    fs::write(desk.join("graph.json"), graph(None)).unwrap();
    fs::write(desk.join("README.md"), "What it is for.").unwrap();
    let other = dir.path().join("other.json");
    fs::write(
        &other,
        graph(Some("  ")).replacen('{', "{\"examples\": [{\"input\": {\"n\": 3}}],", 1),
    )
    .unwrap();

    let view = open(&app, &desk).await;
    assert_eq!(
        (&view["name"], &view["readme"], view.get("sampleInput")),
        (&json!("desk"), &json!("What it is for."), None)
    );
    assert!(view["path"].as_str().unwrap().ends_with("graph.json"));
    let again = open(&app, &desk.join("graph.json")).await;
    assert_eq!(again["graphId"], view["graphId"], "a file is opened once");
    let view = open(&app, &other).await;
    assert_eq!(
        (&view["name"], view.get("readme"), &view["sampleInput"]),
        (&json!("other"), None, &json!({"n": 3}))
    );
    open(&app, &desk).await;
    let info = app.ok("app.info", json!({})).await;
    let recents: Vec<&str> = (info["recents"].as_array().unwrap().iter())
        .map(|recent| recent["name"].as_str().unwrap())
        .collect();
    assert_eq!(recents, ["desk", "other"], "the last one opened comes first");

    let draft = app.ok("graph.new", json!({"name": "  "})).await;
    assert_eq!(
        (
            &draft["name"],
            draft.get("path"),
            &draft["rev"],
            &draft["savedRev"]
        ),
        (&json!("Untitled"), None, &json!(0), &json!(0))
    );
    let info = app.ok("app.info", json!({})).await;
    assert_eq!(info["open"].as_array().unwrap().len(), 3);
    let exported = app.ok("graph.export", json!({"graphId": view["graphId"]})).await;
    assert!(exported["json"].as_str().unwrap().contains("\"superstep/1\""));
    let mermaid = exported["mermaid"].as_str().unwrap();
    assert!(mermaid.contains("-->") && mermaid.contains('a'), "{mermaid}");
}

#[tokio::test]
async fn a_graph_that_comes_as_text_is_a_draft_with_its_problems_and_other_text_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let text = json!({
        "format": "superstep/1", "name": "Carried",
        "nodes": {"a": {"kind": "no-such-kind", "config": {"keep": 1}}},
        "edges": [{"from": "__start__", "to": "a"}],
    });
    let draft = app
        .ok(
            "graph.new",
            json!({"name": "New graph", "text": text.to_string()}),
        )
        .await;
    assert_eq!(
        (
            &draft["name"],
            draft.get("path"),
            &draft["rev"],
            &draft["savedRev"]
        ),
        (&json!("Carried"), None, &json!(1), &json!(0)),
        "it is not saved, and says so"
    );
    assert!(
        draft["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .any(|found| found["record"] == "node:a"),
        "{}",
        draft["diagnostics"]
    );
    let exported = app.ok("graph.export", json!({"graphId": draft["graphId"]})).await;
    assert!(
        exported["json"].as_str().unwrap().contains("\"keep\": 1"),
        "{exported}"
    );

    for (text, what) in [("{", "not JSON"), ("[1]", "JSON object")] {
        let refused = app.refused("graph.new", json!({"name": "x", "text": text})).await;
        assert_eq!(refused.code, "invalid-request");
        assert!(refused.message.contains(what), "{}", refused.message);
    }
    let open = app.ok("app.info", json!({})).await["open"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(open, 1, "nothing is left of what was refused");
}

#[tokio::test]
async fn a_picture_is_written_as_what_it_is_and_nothing_else_is() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    // `<svg xmlns="http://www.w3.org/2000/svg"/>`
    let svg = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=";
    let save = |file: &str, content: &str| json!({"path": dir.path().join(file), "content": content});
    let saved = app.ok("picture.save", save("a.svg", svg)).await;
    assert_eq!(saved["path"], json!(dir.path().join("a.svg")));
    let text = fs::read_to_string(dir.path().join("a.svg")).unwrap();
    assert_eq!(text, "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    for (file, content) in [
        ("a.png", svg),
        ("a.json", svg),
        ("a", svg),
        ("b.svg", "no base64!"),
    ] {
        let refused = app.refused("picture.save", save(file, content)).await;
        assert_eq!(refused.code, "invalid-request", "{file}");
        assert!(!dir.path().join(file).exists(), "{file}");
    }
}

#[tokio::test]
async fn a_draft_is_saved_once_it_has_a_place_that_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let app = App::open(&data).await;
    let one = write(dir.path(), "one.json", "One");
    let other = open(&app, &one).await;
    let draft = app.ok("graph.new", json!({"name": "Draft"})).await["graphId"].clone();
    rename(&app, &draft, "First").await;
    app.ok("graph.close", json!({"graphId": draft})).await;
    rename(&app, &draft, "Second").await;
    let nowhere = app.refused("graph.save", json!({"graphId": draft})).await;
    assert_eq!(nowhere.code, "path-needed");
    let save = |path: &Path, overwrite: bool| json!({"graphId": draft, "path": path, "overwrite": overwrite});
    for overwrite in [false, true] {
        let taken = app.refused("graph.save", save(&one, overwrite)).await;
        assert_eq!(taken.code, "file-open", "two documents never share a file");
    }
    app.ok("graph.close", json!({"graphId": other["graphId"]})).await;
    assert_eq!(
        app.refused("graph.save", save(&one, false)).await.code,
        "file-exists"
    );
    assert_eq!(fs::read_to_string(&one).unwrap(), graph(Some("One")));

    let saved = app.ok("graph.save", save(&one, true)).await;
    assert!(fs::read_to_string(&one).unwrap().contains("\"Second\""));
    let view = app.ok("graph.get", json!({"graphId": draft})).await;
    assert_eq!(
        (&view["path"], &view["rev"], &view["savedRev"]),
        (&saved["path"], &saved["savedRev"], &saved["savedRev"])
    );
    assert_eq!(unsaved(&data), 0, "nothing is left that is not saved");
    assert!(!data.join("autosave").join(draft.as_str().unwrap()).exists());
    let names = names_of_versions(&app, &draft).await;
    assert!(
        ["One", "Draft", "Second"]
            .iter()
            .all(|name| names.contains(&(*name).to_owned())),
        "what was written over is kept beside the draft's own past: {names:?}"
    );
}

#[tokio::test]
async fn a_copy_under_another_name_leaves_the_first_file_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let app = App::open(&data).await;
    let one = write(dir.path(), "one.json", "One");
    let id = open(&app, &one).await["graphId"].clone();
    rename(&app, &id, "Two").await;
    kept_unsaved(&data, 1).await;
    let two = dir.path().join("two.json");
    app.ok("graph.save", json!({"graphId": id, "path": two})).await;
    assert_eq!(fs::read_to_string(&one).unwrap(), graph(Some("One")));
    let view = app.ok("graph.get", json!({"graphId": id})).await;
    assert!(view["path"].as_str().unwrap().ends_with("two.json"));
    assert_eq!(unsaved(&data), 0);
    let first = open(&app, &one).await;
    assert_ne!(first["graphId"], id);
    assert_eq!((&first["name"], first.get("recoveredAt")), (&json!("One"), None));

    // From now on it is the copy that is saved, and looked at for changes from outside.
    rename(&app, &id, "Three").await;
    app.ok("graph.save", json!({"graphId": id})).await;
    assert!(fs::read_to_string(&two).unwrap().contains("\"Three\""));
    rename(&app, &id, "Four").await;
    write(dir.path(), "two.json", "Theirs");
    let refused = app.refused("graph.save", json!({"graphId": id})).await;
    assert_eq!(refused.code, "changed-on-disk");
    // The same text is no change, no matter who wrote it.
    let text = app.ok("graph.export", json!({"graphId": id})).await["json"].clone();
    fs::write(&two, text.as_str().unwrap()).unwrap();
    app.ok("graph.save", json!({"graphId": id})).await;
    // A file that was deleted is written again.
    fs::remove_file(&two).unwrap();
    rename(&app, &id, "Five").await;
    app.ok("graph.save", json!({"graphId": id})).await;
    assert!(fs::read_to_string(&two).unwrap().contains("\"Five\""));
}

#[tokio::test]
async fn a_file_that_was_changed_outside_is_read_with_what_both_began_with_and_written_over_when_it_was_seen()
{
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let path = write(dir.path(), "one.json", "One");
    let id = open(&app, &path).await["graphId"].clone();
    let name_of = |records: &serde_json::Value| {
        let records = records.as_array().unwrap().iter();
        let head = records.clone().find(|record| record["id"] == "doc").unwrap();
        head["value"]["name"].as_str().unwrap().to_owned()
    };
    for round in ["since it was opened", "since it was saved"] {
        let before = fs::read_to_string(&path).unwrap();
        rename(&app, &id, &format!("Ours {round}")).await;
        let theirs = write(dir.path(), "one.json", "Theirs");
        assert_eq!(theirs, path);
        let refused = app.refused("graph.save", json!({"graphId": id})).await;
        assert_eq!(refused.code, "changed-on-disk");
        let disk = app.ok("graph.disk", json!({"graphId": id})).await;
        assert_eq!(name_of(&disk["records"]), "Theirs");
        assert!(
            before.contains(&format!("{:?}", name_of(&disk["base"]))),
            "{round}"
        );
        // What nobody saw is not written over.
        write(dir.path(), "one.json", "Later");
        let seen = json!({"graphId": id, "seen": disk["seen"]});
        assert_eq!(
            app.refused("graph.save", seen.clone()).await.code,
            "changed-on-disk"
        );
        write(dir.path(), "one.json", "Theirs");
        app.ok("graph.save", seen).await;
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .contains(&format!("Ours {round}"))
        );
    }
    let copies = app.ok("graph.versions", json!({"graphId": id})).await;
    assert!(
        copies["versions"].as_array().unwrap().len() > 1,
        "theirs is kept: {copies}"
    );
    // A file that is no graph, or is gone, is said.
    fs::write(&path, "no graph").unwrap();
    assert_eq!(
        app.refused("graph.disk", json!({"graphId": id})).await.code,
        "unreadable-file"
    );
    fs::remove_file(&path).unwrap();
    assert_eq!(
        app.refused("graph.disk", json!({"graphId": id})).await.code,
        "not-found"
    );
}

#[tokio::test]
async fn unsaved_changes_outlive_the_file_and_go_when_they_are_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let app = App::open(&data).await;
    let one = write(dir.path(), "one.json", "One");
    let id = open(&app, &one).await["graphId"].clone();
    rename(&app, &id, "Two").await;
    app.ok("graph.close", json!({"graphId": id})).await;
    assert_eq!(
        app.refused("graph.get", json!({"graphId": id})).await.code,
        "not-found"
    );
    assert_eq!(unsaved(&data), 1);
    fs::remove_file(&one).unwrap();
    let back = open(&app, &one).await;
    assert_eq!(
        (&back["name"], &back["rev"], &back["savedRev"]),
        (&json!("Two"), &json!(1), &json!(0))
    );
    assert!(back["recoveredAt"].is_string());
    app.ok("graph.save", json!({"graphId": back["graphId"]})).await;
    assert!(fs::read_to_string(&one).unwrap().contains("\"Two\""));
    let clean = app.ok("graph.get", json!({"graphId": back["graphId"]})).await;
    assert_eq!((clean.get("recoveredAt"), &clean["savedRev"]), (None, &json!(1)));
    assert_eq!(unsaved(&data), 0);

    rename(&app, &back["graphId"], "Three").await;
    let give_up = json!({"graphId": back["graphId"], "discard": true});
    app.ok("graph.close", give_up).await;
    assert_eq!(unsaved(&data), 0);
    assert_eq!(open(&app, &one).await["name"], "Two");
    let none = app
        .refused("graph.open", json!({"path": dir.path().join("none.json")}))
        .await;
    assert_eq!(none.code, "not-found");
}

#[tokio::test]
async fn a_reverted_graph_is_its_file_again_under_the_same_id_and_its_changes_are_a_version() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let app = App::open(&data).await;
    let path = write(dir.path(), "one.json", "One");
    let id = open(&app, &path).await["graphId"].clone();
    rename(&app, &id, "Two").await;
    kept_unsaved(&data, 1).await;
    // The file is read as it is now, not as it was opened.
    write(dir.path(), "one.json", "Newer");
    let view = app.ok("graph.revert", json!({"graphId": id})).await;
    assert_eq!((&view["graphId"], &view["name"]), (&id, &json!("Newer")));
    assert_eq!(view["rev"], view["savedRev"]);
    assert_eq!(unsaved(&data), 0);
    assert!(names_of_versions(&app, &id).await.contains(&"Two".to_owned()));
    // It can be saved: nothing else has written the file since.
    rename(&app, &id, "Three").await;
    app.ok("graph.save", json!({"graphId": id})).await;

    // A file with conflict marks is shown as opening shows it; undo makes it a graph again.
    let side = |name: &str| format!("{{\"format\": \"superstep/1\", \"name\": \"{name}\"}}");
    let (ours, theirs) = (side("A"), side("B"));
    let conflict = format!("<<<<<<< ours\n{ours}\n=======\n{theirs}\n>>>>>>> theirs\n");
    fs::write(&path, &conflict).unwrap();
    let view = app.ok("graph.revert", json!({"graphId": id})).await;
    let opened = App::open(&dir.path().join("other")).await;
    let fresh = open(&opened, &path).await;
    assert_eq!(view["diagnostics"], fresh["diagnostics"]);
    assert_eq!(view["records"], fresh["records"]);

    fs::remove_file(&path).unwrap();
    rename(&app, &id, "Kept").await;
    assert_eq!(
        app.refused("graph.revert", json!({"graphId": id})).await.code,
        "not-found"
    );
    assert_eq!(app.ok("graph.get", json!({"graphId": id})).await["name"], "Kept");
    let draft = app.ok("graph.new", json!({"name": "Draft"})).await["graphId"].clone();
    assert_eq!(
        app.refused("graph.revert", json!({"graphId": draft})).await.code,
        "path-needed"
    );
}

#[tokio::test]
async fn changes_are_kept_within_a_second_and_not_only_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let app = App::open(&data).await;
    let one = write(dir.path(), "one.json", "One");
    let id = open(&app, &one).await["graphId"].clone();
    rename(&app, &id, "Two").await;
    let kept = |name: &str| {
        let slots = fs::read_dir(data.join("autosave"))
            .into_iter()
            .flatten()
            .flatten();
        slots
            .filter_map(|slot| fs::read_to_string(unsaved_of(&slot)?).ok())
            .any(|text| text.contains(name))
    };
    let mut waited = 0;
    while !kept("Two") {
        tokio::time::sleep(Duration::from_millis(20)).await;
        waited += 1;
        assert!(waited < 6000, "the change is not kept");
    }
    rename(&app, &id, "Three").await;
    while !kept("Three") {
        tokio::time::sleep(Duration::from_millis(20)).await;
        waited += 1;
        assert!(waited < 12_000, "the second change is not kept");
    }
    // The version that the first change replaced is among the earlier ones.
    let names = names_of_versions(&app, &id).await;
    assert!(names.contains(&"One".to_owned()), "{names:?}");
    assert_eq!(
        app.refused("graph.restore", json!({"graphId": id, "version": "copy:1-2-3"}))
            .await
            .code,
        "not-found"
    );
}

#[tokio::test]
async fn what_another_program_has_open_is_left_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let one = write(dir.path(), "one.json", "One");
    let first = App::open(&data).await;
    let draft = first.draft("Draft", crate::threads::line()).await;
    let id = open(&first, &one).await["graphId"].clone();
    rename(&first, &id, "Two").await;
    first.ok("graph.close", json!({"graphId": id})).await;
    kept_unsaved(&data, 2).await;

    let second = App::open(&data).await;
    assert_eq!(second.ok("app.info", json!({})).await["open"], json!([]));
    let view = open(&second, &one).await;
    assert_eq!((&view["name"], view.get("recoveredAt")), (&json!("One"), None));
    second.close().await;
    first.close().await;
    let third = App::open(&data).await;
    assert_eq!(
        third.ok("app.info", json!({})).await["open"],
        json!([{"graphId": draft}]),
        "what programs left that are gone is taken over"
    );
    assert_eq!(open(&third, &one).await["name"], "Two");
}

#[tokio::test]
async fn a_saved_document_leaves_nothing_unsaved_behind() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let app = App::open(&data).await;
    let one = write(dir.path(), "one.json", "One");
    let id = open(&app, &one).await["graphId"].clone();
    rename(&app, &id, "Two").await;
    app.ok("graph.save", json!({"graphId": id})).await;
    // The autosave that the change had planned comes after the save.
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(unsaved(&data), 0);
    let info = app.ok("app.info", json!({})).await;
    assert_eq!(info["open"], json!([{"graphId": id}]));
    app.workbench.shutdown().await;
    assert_eq!(unsaved(&data), 0);
}

#[tokio::test]
async fn a_file_that_was_broken_outside_is_taken_back_to_an_earlier_version() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let one = write(dir.path(), "one.json", "One");
    let id = open(&app, &one).await["graphId"].clone();
    rename(&app, &id, "Two").await;
    app.ok("graph.save", json!({"graphId": id})).await;
    app.ok("graph.close", json!({"graphId": id})).await;
    fs::write(&one, "{ \"name\": ").unwrap();
    let broken = open(&app, &one).await;
    assert_eq!(broken["diagnostics"][0]["code"], "not-json");
    let id = broken["graphId"].clone();
    let kept = app.ok("graph.versions", json!({"graphId": id})).await;
    let version = kept["versions"][0]["id"].clone();
    let back = app
        .ok("graph.restore", json!({"graphId": id, "version": version}))
        .await;
    assert_eq!((&back["name"], &back["diagnostics"]), (&json!("Two"), &json!([])));
    app.ok("graph.save", json!({"graphId": id})).await;
    assert!(fs::read_to_string(&one).unwrap().contains("\"Two\""));
    // It was saved before the next autosave.
    let kept = app.ok("graph.versions", json!({"graphId": id})).await;
    let mut broken = 0;
    for version in kept["versions"].as_array().unwrap() {
        let back = json!({"graphId": id, "version": version["id"]});
        let view = app.ok("graph.restore", back).await;
        broken += usize::from(view["text"] == "{ \"name\": ");
    }
    assert_eq!(broken, 1, "the broken text is kept too, and comes back as it was");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_written_over_only_when_that_is_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let picture = dir.path().join("picture.json");
    fs::write(&picture, b"\xff\xfe\x00").unwrap();
    let draft = app.draft("Draft", crate::threads::line()).await;
    let save = |overwrite: bool| json!({"graphId": draft, "path": picture, "overwrite": overwrite});
    assert_eq!(app.refused("graph.save", save(false)).await.code, "file-error");
    assert_eq!(fs::read(&picture).unwrap(), b"\xff\xfe\x00");
    app.ok("graph.save", save(true)).await;
    assert!(fs::read_to_string(&picture).unwrap().contains("\"Draft\""));
}

/// A graph file may be a link: what it points to is opened under its own path and written, and the link stays.
#[cfg(unix)]
#[tokio::test]
async fn a_link_says_which_file_it_writes() {
    let dir = tempfile::tempdir().unwrap();
    let (here, there) = (dir.path().join("here"), dir.path().join("there"));
    fs::create_dir(&here).unwrap();
    fs::create_dir(&there).unwrap();
    let target = write(&there, "graph.json", "one");
    let link = here.join("graph.json");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let view = open(&app, &link).await;
    let real = target.canonicalize().unwrap();
    assert_eq!(
        view["path"],
        real.to_str().unwrap(),
        "a person sees where it is saved"
    );
    rename(&app, &view["graphId"], "two").await;
    app.ok("graph.save", json!({"graphId": view["graphId"]})).await;
    assert!(fs::read_to_string(&target).unwrap().contains("\"two\""));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

/// A README is shown when its graph is opened: it is read from the project alone, and nothing in it holds the document up.
#[cfg(unix)]
#[tokio::test]
async fn a_readme_is_a_file_of_the_project_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("elsewhere.md");
    fs::write(&secret, "not of the project").unwrap();
    let (linked, piped) = (dir.path().join("linked"), dir.path().join("piped"));
    for folder in [&linked, &piped] {
        fs::create_dir(folder).unwrap();
        write(folder, "graph.json", "one");
    }
    std::os::unix::fs::symlink(&secret, linked.join("README.md")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(piped.join("README.md"))
        .status();
    assert!(made.unwrap().success());
    let app = App::open(&dir.path().join("data")).await;
    for folder in [linked, piped] {
        let opened = tokio::time::timeout(Duration::from_secs(120), open(&app, &folder));
        let view = opened.await.expect("a pipe is not waited for");
        assert_eq!(view.get("readme"), None, "{}", folder.display());
    }
}

/// Which revision of the document another program's change of the file led to.
fn read_again(id: &Value) -> impl Fn(&AppEvent) -> Option<u32> {
    let id = id.as_str().unwrap().to_owned();
    move |event| match event {
        AppEvent::Diagnostics { graph_id, rev, .. } if *graph_id == id => Some(*rev),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_program_wrote_is_read_again_unless_there_are_changes_here() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let path = write(dir.path(), "one.json", "One");
    let id = open(&app, &path).await["graphId"].clone();
    let get = json!({"graphId": id});

    write(dir.path(), "one.json", "Outside");
    let rev = app.until(read_again(&id)).await;
    let view = app.ok("graph.get", get.clone()).await;
    assert_eq!(
        (&view["name"], &view["rev"], &view["savedRev"]),
        (&json!("Outside"), &json!(rev), &json!(rev))
    );

    // It is no graph any more, and then one again.
    fs::write(&path, "{ \"name\": ").unwrap();
    app.until(read_again(&id)).await;
    assert_eq!(app.ok("graph.get", get.clone()).await["text"], "{ \"name\": ");
    write(dir.path(), "one.json", "Third");
    app.until(read_again(&id)).await;
    assert_eq!(app.ok("graph.get", get.clone()).await["name"], "Third");

    // Changes here stay, and the file too.
    rename(&app, &id, "Here").await;
    write(dir.path(), "one.json", "There");
    let is_said = |event: &AppEvent| match event {
        AppEvent::Diagnostics { diagnostics, .. } => diagnostics
            .iter()
            .any(|d| d.code == "changed-outside")
            .then_some(()),
        _ => None,
    };
    app.until(is_said).await;
    assert_eq!(app.ok("graph.get", get.clone()).await["name"], "Here");
    assert_eq!(
        app.refused("graph.save", get.clone()).await.code,
        "changed-on-disk"
    );
    assert!(fs::read_to_string(&path).unwrap().contains("There"));
    app.ok("graph.save", json!({"graphId": id, "overwrite": true}))
        .await;
    let view = app.ok("graph.get", get.clone()).await;
    assert_eq!(
        (&view["name"], &view["diagnostics"]),
        (&json!("Here"), &json!([]))
    );
    let names = names_of_versions(&app, &id).await;
    for name in ["One", "Outside", "Third", "There", "Here"] {
        assert!(names.contains(&name.to_owned()), "{name} is among {names:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_begins_with_what_the_file_holds_now() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let path = write(dir.path(), "one.json", "One");
    let id = open(&app, &path).await["graphId"].clone();
    fs::write(&path, graph(Some("One")).replace("\"1\"", "\"7\"")).unwrap();
    let (run, _) = app
        .run(json!({"graphId": id, "action": {"type": "input", "input": {"n": 0}}}))
        .await;
    let thread = run["threadId"].as_str().unwrap();
    assert_eq!(app.state(thread, None).await["n"], 7, "{run}");
}
