//! What git knows of a graph's file, in repositories that mean well and in one that does not.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use superstep_acceptance::App;

fn graph(prompt: &str) -> String {
    let graph = json!({
        "format": "superstep/1", "name": "Desk", "state": {},
        "nodes": {"ask": {"kind": "model", "config": {"prompt": prompt}}},
        "edges": [{"from": "__start__", "to": "ask"}]
    });
    serde_json::to_string_pretty(&graph).unwrap()
}

/// Runs git in a folder, with a person and without the configuration of this machine.
fn git(folder: &Path, args: &[&str]) {
    let done = Command::new("git")
        .args([
            "-c",
            "user.name=Person",
            "-c",
            "user.email=person@example.org",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        done.status.success() || args[0] == "merge",
        "git {args:?}: {words}"
    );
}

fn prompt(records: &Value) -> &Value {
    let all = records.as_array().unwrap();
    &all.iter().find(|record| record["id"] == "node:ask").unwrap()["value"]["config"]["prompt"]
}

#[tokio::test]
async fn the_graph_of_the_last_commit_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let folder = dir.path().join("project/graphs");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("desk one.json");
    fs::write(&path, graph("old")).unwrap();
    let view = app.ok("graph.open", json!({"path": path})).await;
    let read = json!({"graphId": view["graphId"]});
    assert_eq!(
        app.ok("graph.git", read.clone()).await,
        json!({"state": "none"}),
        "no repository"
    );
    git(&dir.path().join("project"), &["init", "-q", "-b", "main"]);
    assert_eq!(
        app.ok("graph.git", read.clone()).await["state"],
        "new",
        "no commit"
    );
    git(&folder, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let state = app.ok("graph.git", read.clone()).await;
    assert_eq!(
        (state["state"].clone(), state["branch"].clone()),
        (json!("new"), json!("main"))
    );
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "second"]);
    fs::write(&path, graph("new")).unwrap();
    let state = app.ok("graph.git", read.clone()).await;
    assert_eq!(state["state"], "tracked");
    assert_eq!(*prompt(&state["records"]), "old");
    assert_eq!(state["commit"].as_str().unwrap().len(), 40);

    fs::write(&path, "version https://git-lfs.github.com/spec/v1\n").unwrap();
    git(&folder, &["commit", "-q", "-am", "elsewhere"]);
    let state = app.ok("graph.git", read).await;
    assert_eq!(
        (state["state"].clone(), state["problem"]["code"].clone()),
        (json!("refused"), json!("unreadable-file"))
    );

    let draft = app.ok("graph.new", json!({"name": "Draft"})).await;
    assert_eq!(
        app.ok("graph.git", json!({"graphId": draft["graphId"]})).await,
        json!({"state": "none"})
    );
}

/// Every setting of a repository that makes git start a program, as far as reading an object could come to it.
#[cfg(unix)]
#[tokio::test]
async fn a_hostile_repository_starts_no_program() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let folder = dir.path().join("project");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("graph.json");
    fs::write(&path, graph("old")).unwrap();
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "first"]);

    let trap = dir.path().join("trap.sh");
    let caught = dir.path().join("caught");
    fs::write(
        &trap,
        format!("#!/bin/sh\necho \"$0 $@\" >> {}\ncat\n", caught.display()),
    )
    .unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let run = trap.to_str().unwrap();
    let config = [
        ("core.fsmonitor", run),
        ("core.hooksPath", dir.path().to_str().unwrap()),
        ("core.pager", run),
        ("core.editor", run),
        ("core.sshCommand", run),
        ("core.gitProxy", run),
        ("core.askPass", run),
        ("core.alternateRefsCommand", run),
        ("credential.helper", run),
        ("diff.external", run),
        ("diff.trap.textconv", run),
        ("diff.trap.command", run),
        ("filter.trap.clean", run),
        ("filter.trap.smudge", run),
        ("filter.trap.process", run),
        ("filter.trap.required", "true"),
        ("merge.trap.driver", run),
        ("gpg.program", run),
        ("log.showSignature", "true"),
        ("pager.cat-file", run),
        ("pager.rev-parse", run),
        ("interactive.diffFilter", run),
        ("trailer.trap.command", run),
        ("alias.cat-file", &format!("!{run}")),
        ("alias.rev-parse", &format!("!{run}")),
        ("extensions.partialClone", "trap"),
        ("remote.trap.promisor", "true"),
        ("remote.trap.url", &format!("ext::{run}")),
        ("remote.trap.uploadpack", run),
        ("protocol.ext.allow", "always"),
        ("uploadpack.packObjectsHook", run),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    git(&folder, &["config", "core.repositoryFormatVersion", "1"]);
    for (name, value) in &config {
        git(&folder, &["config", name, value]);
    }
    fs::write(
        folder.join(".gitattributes"),
        "* diff=trap filter=trap merge=trap\n",
    )
    .unwrap();
    fs::create_dir_all(folder.join(".git/hooks")).unwrap();
    for hook in [
        "post-checkout",
        "pre-commit",
        "fsmonitor-watchman",
        "post-index-change",
        "reference-transaction",
    ] {
        fs::copy(&trap, folder.join(".git/hooks").join(hook)).unwrap();
    }

    let view = app.ok("graph.open", json!({"path": path})).await;
    let state = app.ok("graph.git", json!({"graphId": view["graphId"]})).await;
    assert_eq!(state["state"], "tracked", "it is read all the same: {state:#}");
    assert_eq!(*prompt(&state["records"]), "old");
    // An object that is missing would be fetched by the repository's command.
    let name = format!("HEAD:./{}", path.file_name().unwrap().to_str().unwrap());
    let found = Command::new("git")
        .args(["rev-parse", &name])
        .current_dir(path.parent().unwrap())
        .output()
        .unwrap();
    let id = String::from_utf8(found.stdout).unwrap();
    let (start, rest) = id.trim().split_at(2);
    fs::remove_file(folder.join(".git/objects").join(start).join(rest)).unwrap();
    fs::write(&caught, "").unwrap();
    let state = app.ok("graph.git", json!({"graphId": view["graphId"]})).await;
    assert_ne!(state["state"], "tracked");
    let ran = fs::read_to_string(&caught).unwrap_or_default();
    assert_eq!(ran, "", "a program of the repository ran");
}

#[tokio::test]
async fn a_file_with_conflict_marks_gives_both_sides_and_becomes_a_graph_by_a_patch() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let folder = dir.path().join("project");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("graph.json");
    fs::write(&path, graph("base")).unwrap();
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["config", "merge.conflictStyle", "diff3"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "base"]);
    git(&folder, &["checkout", "-q", "-b", "topic"]);
    fs::write(&path, graph("theirs")).unwrap();
    git(&folder, &["commit", "-q", "-am", "theirs"]);
    git(&folder, &["checkout", "-q", "main"]);
    fs::write(&path, graph("ours")).unwrap();
    git(&folder, &["commit", "-q", "-am", "ours"]);
    git(&folder, &["merge", "-q", "topic"]);
    assert!(fs::read_to_string(&path).unwrap().contains("<<<<<<<"));

    let view = app.ok("graph.open", json!({"path": path})).await;
    assert_eq!(view["diagnostics"][0]["code"], "conflict-marks");
    let id = view["graphId"].clone();
    let save = json!({"graphId": id, "overwrite": false});
    assert_eq!(
        app.refused("graph.save", save.clone()).await.code,
        "unreadable-file"
    );
    let conflict = app.ok("graph.conflict", json!({"graphId": id})).await;
    assert_eq!(
        (
            conflict["ours"]["name"].clone(),
            conflict["theirs"]["name"].clone()
        ),
        (json!("HEAD"), json!("topic"))
    );
    assert_eq!(*prompt(&conflict["ours"]["records"]), "ours");
    assert_eq!(*prompt(&conflict["theirs"]["records"]), "theirs");
    assert_eq!(*prompt(&conflict["base"]), "base");

    let ops: Vec<Value> = conflict["theirs"]["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| {
            let from = if record["id"] == "doc" {
                json!({})
            } else {
                Value::Null
            };
            json!({"id": record["id"], "from": from, "to": record["value"]})
        })
        .collect();
    let applied = app
        .ok("graph.apply", json!({"graphId": id, "baseRev": 0, "ops": ops}))
        .await;
    let codes: Vec<&Value> = applied["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| &d["code"])
        .collect();
    assert!(!codes.contains(&&json!("conflict-marks")), "{codes:?}");
    app.ok("graph.save", save).await;
    let saved: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(saved["nodes"]["ask"]["config"]["prompt"], "theirs");
    assert_eq!(
        app.refused("graph.conflict", json!({"graphId": id})).await.code,
        "not-found"
    );
}
