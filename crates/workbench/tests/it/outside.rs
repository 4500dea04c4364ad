//! Files of open graphs while other programs write, replace and remove them: what is noticed, and that what they held stays.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::wire::AppEvent;

use crate::git::git;

fn graph(name: &str) -> String {
    let graph = json!({
        "format": "superstep/1",
        "name": name,
        "nodes": {"a": {"kind": "assign", "config": {"set": {}}}},
        "edges": [{"from": "__start__", "to": "a"}, {"from": "a", "to": "__end__"}]
    });
    serde_json::to_string_pretty(&graph).unwrap()
}

/// Replaces a file as editors do: by another one.
fn replace(path: &Path, text: &str) {
    let beside = path.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

/// Waits until the window gets an event of a graph that makes this true of it.
async fn until(app: &mut App, id: &Value, is_so: impl Fn(&Value) -> bool) -> Value {
    loop {
        let of = id.as_str().unwrap();
        let told = |event: &AppEvent| match event {
            AppEvent::Diagnostics { graph_id, .. } if graph_id == of => Some(()),
            _ => None,
        };
        app.until(told).await;
        let view = app.ok("graph.get", json!({"graphId": id})).await;
        if is_so(&view) {
            return view;
        }
    }
}

fn is_named(name: &str) -> impl Fn(&Value) -> bool {
    let name = name.to_owned();
    move |view| {
        view["name"] == name && !has_problem(view, "file-gone") && !has_problem(view, "changed-outside")
    }
}

fn has_problem(view: &Value, code: &str) -> bool {
    let problems = view["diagnostics"].as_array().unwrap();
    problems.iter().any(|problem| problem["code"] == code)
}

async fn rename(app: &App, id: &Value, to: &str) {
    let view = app.ok("graph.get", json!({"graphId": id})).await;
    let from = view["records"][0]["value"].clone();
    let mut head = from.clone();
    head["name"] = to.into();
    let ops = json!([{"id": "doc", "from": from, "to": head}]);
    let edit = json!({"graphId": id, "baseRev": view["rev"], "ops": ops});
    app.ok("graph.apply", edit).await;
}

/// Returns the texts of all earlier versions, as they are kept.
fn kept(data: &Path) -> Vec<String> {
    let slots = fs::read_dir(data.join("autosave")).unwrap().flatten();
    let files = slots.flat_map(|slot| {
        fs::read_dir(slot.path().join("history"))
            .into_iter()
            .flatten()
            .flatten()
    });
    files
        .map(|file| fs::read_to_string(file.path()).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_to_change_a_file_is_told_to_the_window() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let mut app = App::open(&data).await;
    let project = dir.path().join("above/project");
    fs::create_dir_all(&project).unwrap();
    let path = project.join("graph.json");
    fs::write(&path, graph("aaaa")).unwrap();
    let id = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();

    replace(&path, &graph("bbbb"));
    until(&mut app, &id, is_named("bbbb")).await;
    // As long as the one before, and in its place.
    fs::write(&path, graph("cccc")).unwrap();
    until(&mut app, &id, is_named("cccc")).await;
    // With the time of the one before, as a copy that keeps times.
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let beside = project.join("copy");
    fs::write(&beside, graph("dddd")).unwrap();
    fs::File::options()
        .write(true)
        .open(&beside)
        .unwrap()
        .set_modified(modified)
        .unwrap();
    fs::rename(&beside, &path).unwrap();
    until(&mut app, &id, is_named("dddd")).await;

    // Without a file the graph stays, and is a version to go back to; the file comes back as it was.
    fs::remove_file(&path).unwrap();
    let gone = until(&mut app, &id, |view| has_problem(view, "file-gone")).await;
    assert_eq!(gone["name"], "dddd");
    assert!(kept(&data).contains(&graph("dddd")));
    fs::write(&path, graph("dddd")).unwrap();
    until(&mut app, &id, is_named("dddd")).await;

    // A folder above is moved, and another one is there then.
    fs::rename(dir.path().join("above"), dir.path().join("moved")).unwrap();
    until(&mut app, &id, |view| has_problem(view, "file-gone")).await;
    fs::create_dir_all(&project).unwrap();
    fs::write(&path, graph("eeee")).unwrap();
    until(&mut app, &id, is_named("eeee")).await;

    // It becomes a link, and what that leads to is written.
    let other = dir.path().join("moved/project/graph.json");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    until(&mut app, &id, is_named("dddd")).await;
    replace(&other, &graph("ffff"));
    until(&mut app, &id, is_named("ffff")).await;

    // A removed file is written again by saving, to the byte.
    fs::remove_file(&path).unwrap();
    until(&mut app, &id, |view| has_problem(view, "file-gone")).await;
    app.ok("graph.save", json!({"graphId": id})).await;
    assert_eq!(fs::read_to_string(&path).unwrap(), graph("ffff"));
    for name in ["aaaa", "bbbb", "cccc", "dddd", "eeee"] {
        assert!(kept(&data).contains(&graph(name)), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkout_of_many_files_is_told_of_each_that_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    fs::create_dir(&project).unwrap();
    git(&project, &["init", "-q", "-b", "main"]);
    let write = |what: &str| {
        for n in 0..300 {
            fs::write(project.join(format!("{n}.json")), graph(&format!("{what} {n}"))).unwrap();
        }
        git(&project, &["add", "."]);
        git(&project, &["commit", "-q", "-m", what]);
    };
    write("old");
    git(&project, &["checkout", "-q", "-b", "topic"]);
    write("new");
    let mut app = App::open(&dir.path().join("data")).await;
    let mut open = Vec::new();
    for n in [0, 150, 299] {
        let path = project.join(format!("{n}.json"));
        open.push((
            n,
            app.ok("graph.open", json!({"path": path})).await["graphId"].clone(),
        ));
    }
    for (branch, what) in [("main", "old"), ("topic", "new")] {
        git(&project, &["checkout", "-q", branch]);
        for (n, id) in &open {
            let name = format!("{what} {n}");
            let view = app.ok("graph.get", json!({"graphId": id})).await;
            assert_eq!(
                view["name"], name,
                "whoever asks for a graph gets what its file holds"
            );
        }
        // Each was sent, by whichever look.
        let mut told = std::collections::BTreeSet::new();
        while told.len() < open.len() {
            told.insert(
                app.until(|event| match event {
                    AppEvent::Diagnostics { graph_id, .. } => Some(graph_id.clone()),
                    _ => None,
                })
                .await,
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_ten_thousand_writes_the_last_one_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("graph.json");
    fs::write(&path, graph("first")).unwrap();
    let id = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    let of_writer = path.clone();
    let writer = std::thread::spawn(move || {
        for n in 0..10_000 {
            fs::write(&of_writer, graph(&format!("{n}"))).unwrap();
        }
        fs::write(&of_writer, graph("last")).unwrap();
    });
    until(&mut app, &id, is_named("last")).await;
    writer.join().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_programs_with_one_file_see_what_the_other_saves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("graph.json");
    fs::write(&path, graph("first")).unwrap();
    let mut one = App::open(&dir.path().join("one")).await;
    let mut two = App::open(&dir.path().join("two")).await;
    let of_one = one.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    let of_two = two.ok("graph.open", json!({"path": path})).await["graphId"].clone();

    rename(&one, &of_one, "from one").await;
    one.ok("graph.save", json!({"graphId": of_one})).await;
    until(&mut two, &of_two, is_named("from one")).await;

    rename(&one, &of_one, "of one").await;
    rename(&two, &of_two, "of two").await;
    two.ok("graph.save", json!({"graphId": of_two})).await;
    let view = until(&mut one, &of_one, |view| has_problem(view, "changed-outside")).await;
    assert_eq!(view["name"], "of one");
    let refused = one.refused("graph.save", json!({"graphId": of_one})).await;
    assert_eq!(refused.code, "changed-on-disk");
    one.ok("graph.save", json!({"graphId": of_one, "overwrite": true}))
        .await;
    until(&mut two, &of_two, is_named("of one")).await;
    assert!(
        kept(&dir.path().join("one"))
            .iter()
            .any(|text| text.contains("of two"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_writing_a_graph_would_not_give_again_is_kept_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let app = App::open(&data).await;
    let path = dir.path().join("graph.json");
    let twice = graph("G").replace("\"name\": \"G\"", "\"name\": \"first\",\r\n \"name\": \"G\"");
    for text in [
        twice,
        graph("G").replace('\n', " "),
        graph("G").replace("  ", "\t"),
    ] {
        fs::write(&path, &text).unwrap();
        let view = app.ok("graph.open", json!({"path": path})).await;
        let id = view["graphId"].clone();
        assert_eq!(view["name"], "G");
        // Nobody has changed it.
        app.ok("graph.save", json!({"graphId": id})).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let copy = dir.path().join("copy.json");
        app.ok(
            "graph.save",
            json!({"graphId": id, "path": copy, "overwrite": true}),
        )
        .await;
        assert_eq!(fs::read_to_string(&copy).unwrap(), text);
        rename(&app, &id, "other").await;
        app.ok("graph.save", json!({"graphId": id})).await;
        assert!(fs::read_to_string(&copy).unwrap().contains("other"));
        assert!(kept(&data).contains(&text), "{text}");
        app.ok("graph.close", json!({"graphId": id})).await;

        // Another program writes over it while it is open.
        let path = dir.path().join("again.json");
        fs::write(&path, &text).unwrap();
        let id = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
        fs::write(&path, graph("theirs")).unwrap();
        let view = app.ok("graph.get", json!({"graphId": id})).await;
        assert_eq!(view["name"], "theirs");
        assert!(kept(&data).contains(&text), "{text}");
        app.ok("graph.close", json!({"graphId": id})).await;
    }
}

#[tokio::test]
async fn a_graph_is_written_in_the_encoding_and_with_the_ends_of_lines_of_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    for (mark, end) in [("", "\n"), ("\u{feff}", "\n"), ("", "\r\n"), ("\u{feff}", "\r\n")] {
        let path = dir.path().join("graph.json");
        let of_windows = |text: &str| format!("{mark}{}", text.replace('\n', end));
        fs::write(&path, of_windows(&graph("old"))).unwrap();
        let view = app.ok("graph.open", json!({"path": path})).await;
        let id = view["graphId"].clone();
        rename(&app, &id, "new").await;
        app.ok("graph.save", json!({"graphId": id})).await;
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"new\""));
        assert_eq!(text.starts_with('\u{feff}'), !mark.is_empty(), "{text:?}");
        assert_eq!(text.matches('\n').count(), text.matches(end).count(), "{text:?}");
        // What was saved is what is shown: nothing is read again, and nothing is asked.
        let after = app.ok("graph.get", json!({"graphId": id})).await;
        assert_eq!((&after["rev"], &after["savedRev"]), (&json!(1), &json!(1)));
        app.ok("graph.close", json!({"graphId": id})).await;
        let again = app.ok("graph.open", json!({"path": path})).await;
        assert_eq!(
            (&again["name"], &again["recoveredAt"]),
            (&json!("new"), &json!(null))
        );
        app.ok("graph.close", json!({"graphId": again["graphId"]})).await;
    }
}

#[tokio::test]
async fn a_read_only_file_is_not_written_over() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("graph.json");
    fs::write(&path, graph("old")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let id = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    rename(&app, &id, "new").await;
    for overwrite in [false, true] {
        let save = json!({"graphId": id, "overwrite": overwrite});
        let refused = app.refused("graph.save", save).await;
        assert!(refused.message.contains("read-only"), "{refused:?}");
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), graph("old"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    app.ok("graph.save", json!({"graphId": id})).await;
    assert!(fs::read_to_string(&path).unwrap().contains("new"));
}

#[tokio::test]
async fn a_conflict_in_a_file_that_is_no_graph_is_text() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("graph.json");
    let whole = graph("G");
    for (ours, theirs) in [
        ("{\"name\": \"a\"}", "{\"name\": \"b\"}"),
        ("", ""),
        (whole.as_str(), "{\"name\": "),
    ] {
        let text = format!("<<<<<<< ours\n{ours}\n=======\n{theirs}\n>>>>>>> theirs\n");
        fs::write(&path, &text).unwrap();
        let view = app.ok("graph.open", json!({"path": path})).await;
        let id = view["graphId"].clone();
        assert_eq!(
            (&view["text"], has_problem(&view, "not-json")),
            (&json!(text), true)
        );
        let typed = json!({"graphId": id, "baseRev": view["rev"], "text": whole});
        app.ok("graph.writeText", typed).await;
        app.ok("graph.save", json!({"graphId": id})).await;
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
        app.ok("graph.close", json!({"graphId": id})).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_no_graph_does_not_run_open_or_closed() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(&dir.path().join("data")).await;
    let path = dir.path().join("graph.json");
    fs::write(&path, graph("G")).unwrap();
    let id = app.ok("graph.open", json!({"path": path})).await["graphId"].clone();
    let input = json!({"type": "input", "input": {}});
    let (run, _) = app.run(json!({"graphId": id, "action": input})).await;
    for text in [
        "{\"name\": \"G\"",
        "[]",
        r#"{"nodes": [{"typeVersion": 1}], "connections": {}}"#,
        r#"{"name": "package", "version": "1.0.0"}"#,
    ] {
        let view = app.ok("graph.open", json!({"path": path})).await;
        fs::write(&path, text).unwrap();
        let run_open = json!({"graphId": view["graphId"], "action": input});
        let refused = app.refused("run.start", run_open).await;
        assert_eq!(refused.code, "graph-invalid", "{text}");
        assert!(
            refused.message.contains("cannot be read as a graph"),
            "{refused:?}"
        );
        app.ok("graph.close", json!({"graphId": view["graphId"]})).await;
        let run_closed = json!({"threadId": run["threadId"], "action": input});
        let refused = app.refused("run.start", run_closed).await;
        assert_eq!(refused.code, "graph-invalid", "{text}");
        assert!(
            refused.message.contains("cannot be read as a graph"),
            "{refused:?}"
        );
        fs::write(&path, graph("G")).unwrap();
    }
}
