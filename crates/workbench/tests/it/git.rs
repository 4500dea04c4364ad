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
pub(crate) fn git(folder: &Path, args: &[&str]) {
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

/// Sets every program that git starts in a repository to one that leaves a trace, and returns the file of the traces.
#[cfg(unix)]
fn set_traps(dir: &Path, folder: &Path) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let trap = dir.join("trap.sh");
    let caught = dir.join("caught");
    fs::write(
        &trap,
        format!("#!/bin/sh\necho \"$0 $@\" >> {}\ncat\n", caught.display()),
    )
    .unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let run = trap.to_str().unwrap();
    let config = [
        ("core.fsmonitor", run),
        ("core.hooksPath", dir.to_str().unwrap()),
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
        ("pager.log", run),
        ("pager.diff-tree", run),
        ("log.diffMerges", "on"),
        ("log.follow", "true"),
        ("log.showRoot", "false"),
        ("diff.trap.cachetextconv", "true"),
        ("diff.renames", "copies"),
        ("diff.relative", "true"),
        ("interactive.diffFilter", run),
        ("trailer.trap.command", run),
        ("alias.cat-file", &format!("!{run}")),
        ("alias.rev-parse", &format!("!{run}")),
        ("alias.log", &format!("!{run}")),
        ("alias.diff-tree", &format!("!{run}")),
        ("extensions.partialClone", "trap"),
        ("remote.trap.promisor", "true"),
        ("remote.trap.url", &format!("ext::{run}")),
        ("remote.trap.uploadpack", run),
        ("protocol.ext.allow", "always"),
        ("uploadpack.packObjectsHook", run),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    git(folder, &["config", "core.repositoryFormatVersion", "1"]);
    for (name, value) in &config {
        git(folder, &["config", name, value]);
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
    let _ = fs::remove_file(&caught);
    caught
}

/// Every setting of a repository that makes git start a program, as far as reading an object could come to it.
#[cfg(unix)]
#[tokio::test]
async fn a_hostile_repository_starts_no_program() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let folder = dir.path().join("project");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("graph.json");
    fs::write(&path, graph("old")).unwrap();
    git(&folder, &["init", "-q"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "first"]);

    let caught = set_traps(dir.path(), &folder);

    let view = app.ok("graph.open", json!({"path": path})).await;
    let state = app.ok("graph.git", json!({"graphId": view["graphId"]})).await;
    assert_eq!(state["state"], "tracked", "it is read all the same: {state:#}");
    assert_eq!(*prompt(&state["records"]), "old");
    assert!(!caught.exists(), "a program of the repository ran");
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

/// The commits of an open graph.
async fn history(app: &App, graph: &Value, offset: usize) -> (Vec<Value>, bool) {
    let answer = app
        .ok("graph.history", json!({"graphId": graph, "offset": offset}))
        .await;
    let commits = answer["commits"].as_array().unwrap().clone();
    (commits, answer["more"].as_bool().unwrap())
}

fn subjects(commits: &[Value]) -> Vec<&str> {
    commits
        .iter()
        .filter_map(|commit| commit["subject"].as_str())
        .collect()
}

#[tokio::test]
async fn the_commits_of_a_graph_are_listed_read_and_restored() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let (top, folder) = (dir.path().join("project"), dir.path().join("project/my graphs"));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("desk.json");
    let write = |path: &Path, prompt: &str| fs::write(path, graph(prompt)).unwrap();
    write(&top.join("old desk.json"), "one");
    let draft = app.ok("graph.new", json!({"name": "Draft"})).await;
    assert_eq!(
        history(&app, &draft["graphId"], 0).await,
        (vec![], false),
        "no file"
    );

    git(&top, &["init", "-q", "-b", "main"]);
    git(&top, &["add", "."]);
    git(&top, &["commit", "-q", "-m", "  one: first\n\nMore about it."]);
    git(&top, &["mv", "old desk.json", "my graphs/desk.json"]);
    git(&top, &["commit", "-q", "-m", "two: moved"]);
    git(&top, &["checkout", "-q", "-b", "topic"]);
    write(&path, "topic");
    git(&top, &["commit", "-q", "-am", "three: topic"]);
    git(&top, &["checkout", "-q", "main"]);
    write(&path, "main");
    git(&top, &["commit", "-q", "-am", "four: main"]);
    git(&top, &["commit", "-q", "--allow-empty", "-m", "nothing of it"]);
    git(&top, &["merge", "-q", "topic"]);
    write(&path, "both");
    git(&top, &["commit", "-q", "-am", "five: both"]);

    let view = app.ok("graph.open", json!({"path": path})).await;
    let id = &view["graphId"];
    let (commits, more) = history(&app, id, 0).await;
    let mut listed = subjects(&commits);
    // Both sides were committed within a second.
    listed[1..3].sort_unstable();
    assert_eq!(
        listed,
        [
            "five: both",
            "four: main",
            "three: topic",
            "two: moved",
            "one: first"
        ]
    );
    assert!(!more);
    let moved: Vec<&Value> = commits.iter().map(|commit| &commit["path"]).collect();
    assert_eq!(
        (moved[3], moved[4]),
        (&json!("my graphs/desk.json"), &json!("old desk.json"))
    );
    assert_eq!(commits[0]["author"], "Person");
    assert_eq!(commits[0]["commit"].as_str().unwrap().len(), 40);
    assert!(commits[0]["at"].as_str().unwrap() > "2020");

    for (at, prompt_then) in [(0, "both"), (4, "one")] {
        let read = json!({"graphId": id, "id": commits[at]["id"]});
        let content = app.ok("graph.version", read).await;
        assert_eq!(*prompt(&content["records"]), prompt_then);
    }
    let back = json!({"graphId": id, "version": commits[4]["id"]});
    assert_eq!(*prompt(&app.ok("graph.restore", back).await["records"]), "one");
    let (again, _) = history(&app, id, 0).await;
    assert_eq!(again, commits, "the repository is only read");
}

#[tokio::test]
async fn what_is_no_id_of_objects_is_given_to_no_command() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let top = dir.path().join("project");
    fs::create_dir_all(&top).unwrap();
    let path = top.join("desk.json");
    fs::write(&path, graph("one")).unwrap();
    fs::write(top.join("README"), "no graph").unwrap();
    git(&top, &["init", "-q", "-b", "main"]);
    git(&top, &["add", "."]);
    git(&top, &["commit", "-q", "-m", "first"]);
    let draft = app.ok("graph.new", json!({"name": "Draft"})).await;
    let view = app.ok("graph.open", json!({"path": path})).await;
    let id = &view["graphId"];
    let (commits, _) = history(&app, id, 0).await;
    let commit = commits[0]["commit"].as_str().unwrap();
    for blob in ["HEAD:./desk.json", "--batch", "", &"0".repeat(40)] {
        let read = json!({"graphId": id, "id": format!("git:{commit}@{blob}")});
        assert_eq!(
            app.refused("graph.version", read).await.code,
            "not-found",
            "{blob}"
        );
    }
    let of_draft = json!({"graphId": draft["graphId"], "id": commits[0]["id"]});
    assert_eq!(app.refused("graph.version", of_draft).await.code, "not-found");
    let found = Command::new("git")
        .args(["rev-parse", "HEAD:README"])
        .current_dir(&top)
        .output()
        .unwrap();
    let readme = String::from_utf8(found.stdout).unwrap();
    let other = json!({"graphId": id, "id": format!("git:{commit}@{}", readme.trim())});
    let content = app.ok("graph.version", other).await;
    assert_eq!(
        content["records"].as_array().unwrap().len(),
        1,
        "it is no graph: {content}"
    );
    assert!(content["text"].is_string());
}

#[tokio::test]
async fn a_long_history_is_read_in_pages() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let folder = dir.path().join("project");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("new.json");
    git(&folder, &["init", "-q", "-b", "main"]);
    let name = |n: usize| folder.join(if n < 30 { "old.json" } else { "new.json" });
    for n in 0..120 {
        if n == 30 {
            git(&folder, &["mv", "old.json", "new.json"]);
        }
        fs::write(name(n), graph(&format!("prompt {n}"))).unwrap();
        git(&folder, &["add", "."]);
        git(&folder, &["commit", "-q", "-m", &format!("commit {n}")]);
    }
    let view = app.ok("graph.open", json!({"path": path})).await;
    let mut all = Vec::new();
    loop {
        let (commits, more) = history(&app, &view["graphId"], all.len()).await;
        assert!(commits.len() == 50 || !more);
        all.extend(commits);
        if !more {
            break;
        }
    }
    let expected: Vec<String> = (0..120).rev().map(|n| format!("commit {n}")).collect();
    assert_eq!(subjects(&all), expected, "over the rename, none twice");
    let (past, more) = history(&app, &view["graphId"], 100_000).await;
    assert_eq!((past.len(), more), (0, false));
}

/// The history asks git for more than the last commit does: signatures, differences and renames.
#[cfg(unix)]
#[tokio::test]
async fn the_history_of_a_hostile_repository_starts_no_program() {
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let folder = dir.path().join("project");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("old.json"), graph("one")).unwrap();
    git(&folder, &["init", "-q", "-b", "main"]);
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "first"]);
    git(&folder, &["mv", "old.json", "graph.json"]);
    let path = folder.join("graph.json");
    fs::write(&path, graph("two")).unwrap();
    git(&folder, &["commit", "-q", "-am", "second"]);
    // A commit with a signature, which `log.showSignature` has checked by a program.
    let read = |args: &[&str]| {
        let done = Command::new("git")
            .args(args)
            .current_dir(&folder)
            .output()
            .unwrap();
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    let text = read(&["cat-file", "commit", "HEAD"]);
    let (head, message) = text.split_once("\n\n").unwrap();
    let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n aGVsbG8=\n -----END PGP SIGNATURE-----";
    let signed = dir.path().join("commit");
    fs::write(&signed, format!("{head}\n{signature}\n\n{message}\n")).unwrap();
    let signed = read(&["hash-object", "-t", "commit", "-w", signed.to_str().unwrap()]);
    git(&folder, &["update-ref", "refs/heads/main", &signed]);
    let caught = set_traps(dir.path(), &folder);

    let view = app.ok("graph.open", json!({"path": path})).await;
    let (commits, _) = history(&app, &view["graphId"], 0).await;
    assert_eq!(subjects(&commits), ["second", "first"]);
    for (commit, prompt_then) in commits.iter().zip(["two", "one"]) {
        let read = json!({"graphId": view["graphId"], "id": commit["id"]});
        let content = app.ok("graph.version", read).await;
        assert_eq!(*prompt(&content["records"]), prompt_then);
    }
    assert!(!caught.exists(), "a program of the repository ran");
    // The traps are set: git by itself falls into them.
    read(&["log", "-1", "--patch"]);
    let ran = fs::read_to_string(&caught).unwrap();
    assert!(ran.contains("trap.sh"), "{ran}");
}
