//! The plans of `./dev test --changed`: a changed file reaches the tests that can see it, and a file of which nobody has said
//! what it reaches, all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};
use superstep_acceptance::repository;

/// The parts of a plan, as `dev` runs them; `None` runs everything.
#[derive(Debug, Default)]
struct Parts {
    /// By package, the words that its tests are chosen by; none chooses all of them.
    programs: BTreeMap<String, Vec<String>>,
    interface: bool,
    /// Files and places of stories; none chooses all of them.
    stories: Option<Vec<String>>,
    window: bool,
}

fn plan(files: &[&str]) -> Option<Parts> {
    let target = tempfile::tempdir().unwrap();
    let output = Command::new("python3")
        .args(["-B", "tests/gate/changed.py", "HEAD", "--files"])
        .args(files)
        .env("CARGO_TARGET_DIR", target.path())
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let chosen = target.path().join("changed");
    if chosen.join("everything").exists() {
        return None;
    }
    Some(Parts {
        programs: serde_json::from_slice(&fs::read(chosen.join("programs.json")).unwrap()).unwrap(),
        interface: chosen.join("interface").exists(),
        stories: fs::read_to_string(chosen.join("stories"))
            .ok()
            .map(|text| text.lines().map(str::to_owned).collect()),
        window: chosen.join("window").exists(),
    })
}

#[test]
fn a_page_reaches_the_tests_that_read_pages() {
    let parts = plan(&["docs/nodes.md", "README.md"]).unwrap();
    let expected = [
        ("superstep-acceptance", vec!["finding::", "pages::"]),
        ("superstep-document", vec!["schema::"]),
        ("superstep-nodes", vec!["page::"]),
    ];
    let expected =
        expected.map(|(package, words)| (package.to_owned(), words.into_iter().map(str::to_owned).collect()));
    assert_eq!(parts.programs, BTreeMap::from(expected));
    assert!(
        !parts.interface && !parts.window && parts.stories.is_none(),
        "{parts:?}"
    );
}

#[test]
fn a_crate_reaches_all_that_stands_on_it() {
    let parts = plan(&["crates/workbench/src/lib.rs"]).unwrap();
    for package in ["workbench", "cli", "server", "desktop", "acceptance"] {
        let words = parts.programs.get(&format!("superstep-{package}"));
        assert_eq!(words.map(Vec::len), Some(0), "{package} as a whole: {parts:?}");
    }
    for package in [
        "superstep-engine",
        "superstep",
        "superstep-storage",
        "superstep-nodes",
    ] {
        assert!(
            !parts.programs.contains_key(package),
            "{package} is below: {parts:?}"
        );
    }
    assert!(parts.window && parts.stories.is_some_and(|stories| stories.is_empty()));
    assert!(!parts.interface);

    let parts = plan(&["crates/nodes/src/lib.rs"]).unwrap();
    assert!(
        ["nodes", "workbench", "cli", "desktop"]
            .iter()
            .all(|name| parts.programs.contains_key(&format!("superstep-{name}")))
    );
    assert!(!parts.programs.contains_key("superstep-storage"));
    assert!(parts.window && parts.stories.is_some());
}

#[test]
fn the_tests_of_a_crate_reach_nothing_above_it() {
    let parts = plan(&["crates/nodes/tests/it/agents.rs"]).unwrap();
    let packages: Vec<_> = parts.programs.keys().collect();
    assert_eq!(packages, ["superstep-acceptance", "superstep-nodes"]);
    assert!(
        !parts.interface && !parts.window && parts.stories.is_none(),
        "{parts:?}"
    );
}

#[test]
fn the_interface_reaches_its_tests_the_stories_and_the_window() {
    let parts = plan(&["ui/src/shell/App.tsx"]).unwrap();
    assert!(parts.interface && parts.window);
    assert_eq!(
        parts.stories,
        Some(Vec::new()),
        "no run was recorded: all of them"
    );
    assert!(
        !parts.programs.contains_key("superstep-workbench")
            || !parts.programs["superstep-workbench"].is_empty()
    );
    let parts = plan(&["tests/e2e/wires.spec.ts"]).unwrap();
    assert_eq!(parts.stories, Some(vec!["wires.spec.ts".to_owned()]));
    assert!(
        !parts.interface && !parts.window && parts.programs.is_empty(),
        "{parts:?}"
    );
}

#[test]
fn what_nobody_has_placed_reaches_everything() {
    for file in [
        "Cargo.lock",
        "tests/gate/changed.py",
        "a-new-folder/file.txt",
        "new.toml",
    ] {
        assert!(plan(&[file, "docs/nodes.md"]).is_none(), "{file}");
    }
    assert!(plan(&["findings/anything.sh"]).unwrap().programs.is_empty());
}

#[test]
fn every_file_of_the_project_has_a_place() {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(repository())
        .output()
        .unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let meant = |path: &str| {
        ["Cargo.lock", "Cargo.toml"].contains(&path)
            || path.starts_with(".cargo/")
            || path.starts_with("tests/gate/")
    };
    // One of each folder: a plan asks cargo for the packages.
    let mut folders: BTreeMap<&str, &str> = BTreeMap::new();
    for path in listed.split('\0').filter(|path| !path.is_empty() && !meant(path)) {
        let folder = match path.rsplit_once('/') {
            Some((folder, _)) if folder.starts_with("tests/") || folder.starts_with("crates/") => {
                folder.splitn(3, '/').take(2).collect::<Vec<_>>().join("/").len()
            }
            Some((folder, _)) => folder.split('/').next().unwrap_or(folder).len(),
            None => path.len(),
        };
        folders.entry(&path[..folder]).or_insert(path);
    }
    assert!(folders.len() > 30, "{folders:?}");
    let files: Vec<&str> = folders.values().copied().collect();
    if plan(&files).is_some() {
        return;
    }
    let lost: Vec<_> = files.into_iter().filter(|file| plan(&[file]).is_none()).collect();
    assert_eq!(
        lost,
        Vec::<&str>::new(),
        "name what tests read them in tests/gate/changed.py"
    );
}

/// What `tests/gate/ran.py` reads of a program that is compiled with the compiler's counters: here one that is killed while it waits.
#[test]
fn the_functions_that_a_killed_program_ran_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::write(
        root.join("a.rs"),
        "fn used() -> u32 {\n    1\n}\n\nfn unused() -> u32 {\n    2\n}\n\nfn main() {\n    \
         if used() == 2 {\n        unused();\n    }\n    println!(\"ran\");\n    std::thread::park();\n}\n",
    )
    .unwrap();
    let compiled = Command::new(repository().join("tests/gate/instrument.sh"))
        .args(["rustc", "--edition=2024", "a.rs", "-o", "a"])
        .current_dir(&root)
        .status()
        .unwrap();
    assert!(compiled.success());
    let mut program = Command::new(root.join("a"))
        .env("LLVM_PROFILE_FILE", root.join("story-%p%c.profraw"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 4];
    std::io::Read::read_exact(program.stdout.as_mut().unwrap(), &mut said).unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    let counts = root.join(format!("story-{}.profraw", program.id()));
    let output = Command::new("python3")
        .arg("-B")
        .arg(repository().join("tests/gate/ran.py"))
        .args([root.join("a"), counts])
        .current_dir(&root)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let ran: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ran, json!({ "a.rs": [[1, 3], [9, 15]] }));
}

/// A checkout of two crates with the recorded run of two stories.
fn recorded(root: &Path) {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"2\"\n",
    );
    for (name, dependencies) in [
        ("workbench", ""),
        ("cli", "superstep-workbench = { path = \"../workbench\" }\n"),
    ] {
        write(
            &format!("crates/{name}/Cargo.toml"),
            &format!(
                "[package]\nname = \"superstep-{name}\"\nedition = \"2024\"\n[dependencies]\n{dependencies}"
            ),
        );
        write(&format!("crates/{name}/src/lib.rs"), SOURCE);
    }
    let script = repository().join("tests/gate/changed.py");
    write("tests/gate/changed.py", &fs::read_to_string(script).unwrap());
    for story in ["one", "two"] {
        write(&format!("tests/e2e/{story}.spec.ts"), "test(\"a story\", run);\n");
    }
    write(".gitignore", "target\n");
    let run = |program: &str, words: &[&str]| {
        let status = Command::new(program)
            .args(words)
            .current_dir(root)
            .status()
            .unwrap();
        assert!(status.success(), "{program} {words:?}");
    };
    run("cargo", &["generate-lockfile", "--offline"]);
    run("git", &["init", "-q", "-b", "main"]);
    run("git", &["add", "-A"]);
    run(
        "git",
        &[
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.org",
            "commit",
            "-qm",
            "begin",
        ],
    );
    run("python3", &["-B", "tests/gate/changed.py", "--begin-record"]);
    let file = "crates/workbench/src/lib.rs";
    let story = |id: &str, lines: Json| json!({ "id": id, "ran": {}, "server": { file: lines } }).to_string();
    write(
        "target/reach/story-1.json",
        &story("one.spec.ts:1", json!([[3, 5]])),
    );
    write(
        "target/reach/story-2.json",
        &story("two.spec.ts:1", json!([[3, 5], [7, 9]])),
    );
    let known = json!({ "1": [file, 3, 5], "2": [file, 7, 9], "3": [file, 11, 13] });
    write("target/debug/superstep.spans.json", &known.to_string());
}

const SOURCE: &str = "const LIMIT: u32 = 1;\n\npub fn shared() -> u32 {\n    LIMIT\n}\n\npub fn of_one() -> u32 {\n    2\n}\n\n\
                      pub fn of_none() -> u32 {\n    3\n}\n";

#[test]
fn a_line_of_the_server_reaches_the_stories_that_ran_its_function() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    recorded(root);
    let stories = |from: &str, to: &str| {
        let file = root.join("crates/workbench/src/lib.rs");
        fs::write(&file, SOURCE.replace(from, to)).unwrap();
        let status = Command::new("python3")
            .args(["-B", "tests/gate/changed.py", "HEAD"])
            .env_remove("CARGO_TARGET_DIR")
            .stdout(Stdio::null())
            .current_dir(root)
            .status()
            .unwrap();
        assert!(status.success());
        fs::read_to_string(root.join("target/changed/stories")).ok()
    };
    assert_eq!(
        stories("    LIMIT", "    LIMIT + 0").as_deref(),
        Some("one.spec.ts:1\ntwo.spec.ts:1\n")
    );
    assert_eq!(stories("    2", "    4").as_deref(), Some("two.spec.ts:1\n"));
    assert_eq!(stories("    3", "    4"), None, "no story ran it");
    assert_eq!(
        stories("= 1", "= 2").as_deref(),
        Some(""),
        "what is no function reaches all"
    );
    assert_eq!(
        stories("\n\npub fn of_none", "\n\npub fn new() {}\n\npub fn of_none").as_deref(),
        Some("")
    );
}
