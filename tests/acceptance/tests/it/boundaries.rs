//! Who may know whom. The rules are in ARCHITECTURE.md; here they are held.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use superstep_acceptance::repository;

/// Names in the dependency tables of a manifest, those for tests included.
fn dependencies(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap_or_else(|e| panic!("{}: {e}", manifest.display()));
    let mut inside = false;
    let mut names = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            // The list of versions at the root is no dependency of anybody.
            inside = table.ends_with("dependencies") && !table.starts_with("workspace.");
            continue;
        }
        if inside
            && !line.starts_with('#')
            && let Some((name, _)) = line.split_once(['.', '=', ' '])
        {
            names.insert(name.to_owned());
        }
    }
    names
}

fn of(folder: &str) -> BTreeSet<String> {
    dependencies(&repository().join(folder).join("Cargo.toml"))
}

#[test]
fn crates_depend_in_one_direction() {
    let ours = |folder: &str| -> Vec<String> {
        of(folder)
            .into_iter()
            .filter(|name| name == "superstep" || name.starts_with("superstep-"))
            // A crate without a line of code.
            .filter(|name| name != "superstep-features")
            .collect()
    };
    let none: [&str; 0] = [];
    assert_eq!(ours("crates/engine"), none, "the engine is a library on its own");
    assert_eq!(ours("crates/document"), none, "the document knows nobody");
    assert_eq!(
        ours("crates/storage"),
        [
            "superstep",
            "superstep-sqlite-vec",
            "superstep-suites",
            "superstep-test-servers"
        ],
        "backends know the engine; the suites and the servers are for tests"
    );
    assert_eq!(
        ours("crates/sqlite-vec"),
        none,
        "a crate with unsafe code knows nobody"
    );
    assert_eq!(
        ours("crates/bytecode"),
        none,
        "the other crate with unsafe code knows nobody"
    );
    assert_eq!(ours("tests/servers"), none);
    assert_eq!(
        ours("crates/suites"),
        ["superstep"],
        "the suites know what backends implement, and no backend"
    );
    assert_eq!(
        ours("crates/protocol"),
        ["superstep"],
        "the protocol reads runs as any caller does"
    );
    assert_eq!(
        ours("crates/telemetry"),
        ["superstep"],
        "the exporter knows the engine's spans; the engine does not know it"
    );
    assert_eq!(
        ours("crates/nodes"),
        [
            "superstep",
            "superstep-bytecode",
            "superstep-document",
            "superstep-sqlite-vec",
            "superstep-test-servers"
        ],
        "nodes know the engine and the document, and search by vectors; the servers are for tests"
    );
    let below = [
        "superstep",
        "superstep-acceptance",
        "superstep-document",
        "superstep-nodes",
        "superstep-storage",
        "superstep-suites",
        "superstep-test-servers",
    ];
    assert_eq!(
        ours("crates/workbench"),
        below,
        "the workbench knows what is below it and no host; the driver of acceptance tests, the suites and the servers are for tests"
    );
    assert_eq!(
        ours("crates/server"),
        ["superstep-workbench"],
        "a host knows the workbench"
    );
    assert_eq!(ours("."), ["superstep-workbench"], "a host knows the workbench");
}

/// What only the workbench does of a run or an edit: configuring it, reading its stream, changing a thread, and writing or
/// reading the metadata of checkpoints. The command line goes through the same parts of the workbench.
const OF_THE_WORKBENCH: [&str; 11] = [
    "RunConfig",
    "StateUpdate",
    "waiting_questions",
    "RunRecord",
    ".stream(",
    ".invoke(",
    ".update_state(",
    ".preview_update(",
    "superstep::inspect::withdraw",
    "ask::not_asked",
    ".metadata.user",
];

#[test]
fn the_command_line_runs_and_edits_through_the_workbench() {
    let source = repository().join("crates/cli/src");
    let mut folders = vec![source];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            seen += 1;
            let text = fs::read_to_string(&path).unwrap();
            // A call may be broken over lines.
            let text: String = text.split_whitespace().collect();
            for name in OF_THE_WORKBENCH {
                assert!(!text.contains(name), "{} has {name:?} of its own", path.display());
            }
        }
    }
    assert!(seen > 10, "the sources of the command line were not found");
}

#[test]
fn only_the_window_names_tauri_and_only_hosts_serve() {
    let crates = fs::read_dir(repository().join("crates"))
        .unwrap()
        .flatten()
        .map(|e| e.path());
    for folder in crates.filter(|path| path.join("Cargo.toml").exists()) {
        let names = dependencies(&folder.join("Cargo.toml"));
        let called = folder.file_name().unwrap().to_string_lossy().into_owned();
        assert!(
            !names.iter().any(|name| name.starts_with("tauri")),
            "{called} names tauri"
        );
        assert!(
            called == "server" || !names.contains("axum"),
            "{called} names axum"
        );
        assert!(
            called == "telemetry" || !names.iter().any(|name| name.contains("opentelemetry")),
            "{called} names OpenTelemetry"
        );
    }
    assert!(of(".").contains("tauri"));
    let document = of("crates/document");
    for io in ["tokio", "futures", "rusqlite", "async-trait"] {
        assert!(
            !document.contains(io),
            "the document has no async and no IO, and names {io}"
        );
    }
    assert!(
        !of("crates/engine").contains("rusqlite"),
        "the engine knows no backend"
    );
}

fn typescript(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            typescript(&path, found);
        } else if path.extension().is_some_and(|e| e == "ts" || e == "tsx") {
            found.push(path);
        }
    }
}

/// The files of a part of the interface, each with what it imports, tests apart.
fn imports(part: &str) -> Vec<(String, Vec<String>)> {
    let source = repository().join("ui/src");
    let mut files = Vec::new();
    typescript(&source.join(part), &mut files);
    let of_file = |file: &std::path::PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        let named = text
            .split("from \"")
            .skip(1)
            .filter_map(|rest| rest.split_once('"'));
        let name = file.strip_prefix(&source).unwrap().to_string_lossy().into_owned();
        (name, named.map(|(from, _)| from.to_owned()).collect())
    };
    let files = files.iter().map(of_file);
    files.filter(|(name, _)| !name.contains(".test.")).collect()
}

#[test]
fn only_the_door_of_the_interface_names_tauri() {
    let files = imports("");
    assert!(files.len() > 20, "the interface was not found");
    for (file, named) in files.iter().filter(|(file, _)| !file.starts_with("ipc/")) {
        let tauri = named.iter().any(|from| from.starts_with("@tauri-apps/"));
        assert!(!tauri, "{file} imports @tauri-apps");
    }
}

/// Folders of the interface, the lowest first: none imports from one above it.
const INTERFACE: [&str; 9] = [
    "lib",
    "ipc",
    "components",
    "state",
    "document",
    "debugger",
    "canvas",
    "features",
    "shell",
];

/// The same of the debugger.
const DEBUGGER: [&str; 10] = [
    "parts",
    "model",
    "result",
    "state",
    "timeline",
    "exchanges",
    "trace",
    "run",
    "answers",
    "overlay",
];

/// The path of a file that `file` imports, both from the source folder; none for a package.
fn imported(file: &str, from: &str) -> Option<String> {
    if !from.starts_with('.') {
        return None;
    }
    let mut path: Vec<&str> = file.split('/').collect();
    path.pop();
    for step in from.split('/') {
        match step {
            "." => {}
            ".." => drop(path.pop()?),
            name => path.push(name),
        }
    }
    Some(path.join("/"))
}

/// Folders of the source that are on no floor: styles, and what only tests use.
const BESIDE: [&str; 2] = ["styles", "test"];

/// Checks that each folder below `within` has a floor, that its files import from their own and from below, and that there
/// were some.
fn hold_floors(within: &str, floors: &[&str]) {
    let entries = fs::read_dir(repository().join("ui/src").join(within)).unwrap();
    for entry in entries.map(|entry| entry.unwrap()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_floor = floors.iter().chain(&BESIDE).any(|floor| *floor == name);
        assert!(
            is_floor || !entry.path().is_dir(),
            "{within}{name} has no floor: list it"
        );
    }
    let floor = |path: &str| {
        let folder = path.strip_prefix(within)?.split('/').next()?;
        floors.iter().position(|name| *name == folder)
    };
    let mut seen = 0;
    for (file, named) in imports("") {
        // The entry, what only tests use, and styles are on no floor.
        let Some(own) = floor(&file) else { continue };
        for from in &named {
            let Some(other) = imported(&file, from).and_then(|path| floor(&path)) else {
                continue;
            };
            seen += usize::from(own != other);
            assert!(other <= own, "{file} imports {from}, which is above it");
        }
    }
    let few = floors.len() * 4;
    assert!(seen > few, "only {seen} imports between folders were found");
}

#[test]
fn folders_of_the_interface_import_from_below() {
    hold_floors("", &INTERFACE);
    hold_floors("debugger/", &DEBUGGER);
}

#[test]
fn no_part_of_the_interface_is_found_by_a_pattern() {
    let source = repository().join("ui/src");
    let mut files = Vec::new();
    typescript(&source, &mut files);
    for file in files.iter().filter(|file| !file.ends_with("main.tsx")) {
        let text = fs::read_to_string(file).unwrap();
        assert!(
            !text.contains("import.meta.glob"),
            "{} reaches other folders by a pattern",
            file.display()
        );
    }
}

#[test]
fn features_know_each_other_by_their_index() {
    let files = imports("features");
    assert!(files.len() > 20, "the features were not found");
    for (file, named) in files {
        let inside = named.iter().filter_map(|from| from.strip_prefix("../"));
        let deep = inside.filter(|from| !from.starts_with("../") && from.contains('/'));
        assert_eq!(
            deep.collect::<Vec<_>>(),
            [""; 0],
            "{file} reaches into another feature"
        );
    }
}

#[test]
fn what_the_document_and_the_window_index_compute_needs_no_react() {
    let files = imports("document").into_iter().chain(imports("canvas"));
    let window = ["canvas/window.ts", "canvas/card-index.ts", "canvas/line-index.ts"];
    let pure = files.filter(|(file, _)| {
        window.contains(&file.as_str()) || file.starts_with("document/") && file != "document/store.ts"
    });
    let pure: Vec<_> = pure.collect();
    assert!(pure.len() > 5, "the document was not found");
    for (file, named) in pure {
        assert!(!named.iter().any(|from| from == "react"), "{file} imports React");
    }
}

/// The page of the window may do what it needs and nothing else, and it loads nothing from elsewhere.
#[test]
fn the_window_has_five_permissions_and_a_strict_policy() {
    let read = |file: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(repository().join(file)).unwrap()).unwrap()
    };
    assert_eq!(
        read("src-tauri/capabilities/default.json")["permissions"],
        serde_json::json!([
            "core:webview:allow-set-webview-zoom",
            "core:window:allow-set-title",
            "core:window:allow-title",
            "dialog:allow-open",
            "dialog:allow-save"
        ])
    );
    let files = fs::read_dir(repository().join("src-tauri/capabilities")).unwrap();
    assert_eq!(files.count(), 1, "no other file grants anything");
    let settings = read("tauri.conf.json");
    let policy = settings["app"]["security"]["csp"].as_str().unwrap();
    let rules: BTreeSet<&str> = policy.split(';').map(str::trim).collect();
    for rule in [
        "default-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(rules.contains(rule), "{rule} is missing in {policy}");
    }
    assert!(!policy.contains("https:") && !policy.contains('*') && !policy.contains("unsafe-eval"));
}

/// The text of all Rust files of a folder.
fn rust_of(folder: &Path) -> String {
    let Ok(entries) = fs::read_dir(folder) else {
        return String::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let texts = paths.map(|path| match path.extension() {
        _ if path.is_dir() => rust_of(&path),
        Some(end) if end == "rs" => fs::read_to_string(&path).unwrap(),
        _ => String::new(),
    });
    texts.collect()
}

/// The compiler says what code nobody uses, and nothing about dependencies.
#[test]
fn every_dependency_is_used() {
    let mut unused = Vec::new();
    for group in ["crates", "tests"] {
        for entry in fs::read_dir(repository().join(group)).unwrap() {
            let folder = entry.unwrap().path();
            let manifest = folder.join("Cargo.toml");
            if !manifest.exists() {
                continue;
            }
            let text = rust_of(&folder);
            let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let named = |name: &String| words.contains(name.replace('-', "_").as_str());
            let unnamed = dependencies(&manifest)
                .into_iter()
                // It is there for cargo alone, and says so.
                .filter(|name| !named(name) && name != "superstep-features");
            unused.extend(unnamed.map(|name| format!("{}: {name}", folder.display())));
        }
    }
    assert_eq!(unused, Vec::<String>::new(), "nothing names these dependencies");
}

/// The documentation of the library begins with what a program needs every day; the rest is in modules.
#[test]
fn the_root_of_the_library_is_small() {
    let text = fs::read_to_string(repository().join("crates/engine/src/lib.rs")).unwrap();
    let (shown, rest) = text
        .split_once("pub mod langgraph")
        .expect("the names of LangGraph follow");
    let (_, below) = rest.split_once("\n}\n").expect("the module of LangGraph ends");
    assert_eq!(
        below.matches("pub use").count() + below.matches("pub mod").count(),
        below.matches("#[doc(hidden)]").count(),
        "what macros need is not shown"
    );
    assert!(
        !text.contains("::*;"),
        "a glob at the root gives names that nobody counts"
    );
    let trees = shown
        .split("pub use ")
        .skip(1)
        .filter_map(|rest| rest.split(';').next());
    let names: usize = trees
        .map(|tree| match tree.split_once('{') {
            Some((_, names)) => names
                .split(',')
                .filter(|name| name.contains(char::is_alphabetic))
                .count(),
            None => 1,
        })
        .sum();
    assert!((30..=45).contains(&names), "{names} names at the root");
}
