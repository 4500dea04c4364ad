//! The plans of `./dev test --changed`: a changed file reaches the tests that can see it, and a file of which nobody has said
//! what it reaches, all of them.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

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
