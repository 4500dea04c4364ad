//! The layers of a crate: each folder of its source (or file beside the root) names only itself and those below it.
//!
//! What counts is what the text names: `use` trees, and paths from `crate`, `super` or a child module in code and in
//! the arguments of macros. A call of a method names nothing; of types that the root declares and layers add methods to, it
//! counts as well.

mod source;

use std::fs;

use superstep_acceptance::repository;

pub(crate) use source::is_for_tests;
use source::{Arrow, Source};

/// A crate whose folders are layers; a file beside the root is one, too.
struct Layout {
    source: &'static str,
    /// The lowest first.
    layers: &'static [&'static str],
    /// Types that the root declares, for every layer to add methods to.
    root: &'static [&'static str],
    /// The most files that may all lead to each other.
    circle: usize,
}

const ENGINE: Layout = Layout {
    source: "crates/engine/src",
    layers: &[
        "value",
        "base",
        "channel",
        "checkpoint",
        "store",
        "policy",
        "stream",
        // Round inside: a node is given a context, a context knows its graph, a graph holds nodes.
        "graph",
        "state",
        "task",
        "inspect",
        "run",
    ],
    root: &[],
    circle: 12,
};

const WORKBENCH: Layout = Layout {
    source: "crates/workbench/src",
    layers: &[
        "wire",
        "base",
        "arranging",
        "session",
        "events",
        "ledger",
        "storage",
        "settings",
        "models",
        "memory",
        "trust",
        "running",
        "documents",
        "access",
        "threads",
        "search",
        "ipc",
        "runs",
        "inbox",
        "what_if",
        "graph_tests",
        "evaluations",
        "maintenance",
    ],
    root: &["Workbench", "Options"],
    circle: 4,
};

const NODES: Layout = Layout {
    source: "crates/nodes/src",
    layers: &[
        "base",
        "expression",
        "state",
        "models",
        "project",
        "programs",
        "search",
        "mcp",
        "registry",
        "kinds",
        "testing",
    ],
    root: &[],
    circle: 5,
};

const STORAGE: Layout = Layout {
    source: "crates/storage/src",
    layers: &[
        "base",
        "codec",
        "sqlite",
        "file",
        "postgres",
        "redis",
        "langgraph",
        "backend",
        "retention",
        "transfer",
    ],
    root: &["Storage"],
    circle: 15,
};

const COMMAND_LINE: Layout = Layout {
    source: "crates/cli/src",
    layers: &[
        "out", "fault", "args", "confirm", "place", "moment", "claim", "graph", "input", "progress",
        "report", "listing", "handover", "watch", "commands",
    ],
    root: &[],
    // `args` and the groups of its commands.
    circle: 8,
};

const DOCUMENT: Layout = Layout {
    source: "crates/document/src",
    layers: &[
        "words",
        "diagnostic",
        "halves",
        "json",
        "suggest",
        "writing",
        "document",
        "invariant",
        "patch",
        "policy",
        "view",
        "limits",
        "schema",
        "topology",
        "mermaid",
        "validate",
    ],
    root: &[
        "START",
        "END",
        "NOTE",
        "FORMAT",
        "DEFAULT_RECURSION_LIMIT",
        "MAX_RECURSION_LIMIT",
    ],
    // `validate` and its parts.
    circle: 6,
};

const PROTOCOL: Layout = Layout {
    source: "crates/protocol/src",
    layers: &["pieces", "blocks", "lifecycle", "event", "run", "start"],
    root: &[],
    // A run, the hub that its readers drive, and what they read.
    circle: 4,
};

const SERVER: Layout = Layout {
    source: "crates/server/src",
    layers: &["problem", "requests", "connections", "access", "files"],
    root: &["App"],
    circle: 0,
};

const TELEMETRY: Layout = Layout {
    source: "crates/telemetry/src",
    layers: &["error", "options", "client", "shape", "costs", "past"],
    root: &["Telemetry"],
    circle: 0,
};

const SUITES: Layout = Layout {
    source: "crates/suites/src",
    layers: &[
        "case",
        "build",
        "changes",
        "claims",
        "growth",
        "listing",
        "puts",
        "queries",
        "threads",
        "versions",
        "waiting",
        "writes",
        "pruning",
        "maintenance",
        "store",
    ],
    root: &[],
    circle: 0,
};

const LAYOUTS: &[Layout] = &[
    ENGINE,
    WORKBENCH,
    NODES,
    STORAGE,
    COMMAND_LINE,
    DOCUMENT,
    PROTOCOL,
    SERVER,
    TELEMETRY,
    SUITES,
];

#[test]
fn folders_name_only_folders_below() {
    for layout in LAYOUTS {
        let source = Source::read(&repository().join(layout.source), layout.root);
        for layer in layout.layers {
            assert!(
                source.has(layer),
                "{} has no folder {layer}: take it out of the list",
                layout.source
            );
        }
        let upward = source.upward(layout.layers, layout.root);
        for Arrow { file, line, route } in &upward {
            println!(
                "{}/{file}:{line} names crate::{route}, which is in a layer above",
                layout.source
            );
        }
        assert_eq!(upward, [], "{}: {} arrows lead up", layout.source, upward.len());
        let calls = source.upward_calls(layout.layers);
        for Arrow { file, line, route } in &calls {
            println!(
                "{}/{file}:{line} calls {route}, which a layer above adds",
                layout.source
            );
        }
        assert_eq!(calls, [], "{}: {} calls lead up", layout.source, calls.len());
        let circle = source.largest_circle();
        println!(
            "{}: the largest circle has {} files: {circle:?}",
            layout.source,
            circle.len()
        );
        assert!(
            circle.len() <= layout.circle,
            "{}: {} files lead to each other: {circle:?}",
            layout.source,
            circle.len()
        );
    }
}

/// Crates of one file, and the desktop app, whose two files name only other crates.
const SMALL: &[&str] = &["bytecode", "sqlite-vec"];

#[test]
fn every_crate_has_layers() {
    let crates = fs::read_dir(repository().join("crates")).unwrap();
    for entry in crates.map(|entry| entry.unwrap()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let source = format!("crates/{name}/src");
        let files = fs::read_dir(repository().join(&source)).unwrap().count();
        if SMALL.contains(&&*name) {
            assert_eq!(files, 1, "{name} has grown: give it layers");
        } else {
            assert!(
                LAYOUTS.iter().any(|layout| layout.source == source),
                "{name} has no layers: list them"
            );
        }
    }
}

/// A crate of these files.
fn made_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Source) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let source = Source::read(folder.path(), &["Handed"]);
    (folder, source)
}

#[test]
fn arrows_that_lead_up_are_found() {
    let low = "\
use std::fmt;
use crate::{low::own, high::{Thing, other as renamed}};
pub(crate) fn own() {
    let _: crate::Handed = super::high::make();
    println!(\"{}\", [crate::high::COUNT]);
    crate::message!();
}
#[cfg(test)]
mod tests {
    use crate::high::Thing;
}
";
    let high = "\
use crate::low::own;
pub struct Thing;
pub struct Handed;
#[macro_export]
macro_rules! message { () => {}; }
";
    let (_folder, source) = made_of(&[
        ("lib.rs", "mod low;\nmod high;\npub use high::Handed;\n"),
        ("low/mod.rs", low),
        ("high/mod.rs", high),
    ]);
    let found = source.upward(&["low", "high"], &[]);
    let found: Vec<(usize, &str)> = found.iter().map(|arrow| (arrow.line, &*arrow.route)).collect();
    let expected = [
        (2, "high::Thing"),
        (2, "high::other"),
        (4, "Handed"),
        (4, "high::make"),
        (5, "high::COUNT"),
    ];
    assert_eq!(
        found, expected,
        "and nothing of the tests, nor of macros' own names"
    );
    assert_eq!(
        source.upward(&["high", "low"], &[]).len(),
        1,
        "the other way round there is one"
    );
    let found = source.upward(&["low", "high"], &["Handed"]);
    assert!(
        found.iter().all(|arrow| arrow.route != "Handed") && found.len() == expected.len() - 1,
        "what the root declares for every layer is no arrow: {found:?}"
    );
}

#[test]
fn calls_of_methods_that_a_layer_above_adds_are_found() {
    let low = "\
impl crate::Handed {
    fn own(&self) { self.lower(); let this = self; go(move || this.higher()); select!(self.higher()); Self::made(); }
    fn lower(&self) {}
}
fn beside(app: &std::sync::Arc<crate::Handed>) { app.higher(); other().higher(); }
fn named(app: &str) { app.higher(); }
struct Holder;
impl Holder { fn own(&self) { self.higher(); self.workbench.higher(); } fn higher(&self) {} }
";
    let high = "\
impl crate::Handed {
    pub fn higher(&self) { self.lower() }
    pub fn made() {}
}
";
    let (_folder, source) = made_of(&[
        ("lib.rs", "mod low;\nmod high;\npub struct Handed;\n"),
        ("low/mod.rs", low),
        ("high/mod.rs", high),
    ]);
    let found = source.upward_calls(&["low", "high"]);
    let found: Vec<(usize, &str)> = found.iter().map(|arrow| (arrow.line, &*arrow.route)).collect();
    let expected = [
        (2, "higher()"),
        (2, "higher()"),
        (2, "made()"),
        (5, "higher()"),
        (8, "higher()"),
    ];
    assert_eq!(found, expected, "and not those of other types");
    assert_eq!(source.upward_calls(&["high", "low"]).len(), 1);
}

#[test]
fn circles_are_found_through_names_that_are_handed_on() {
    let (_folder, source) = made_of(&[
        ("lib.rs", "mod a;\nmod b;\npub use a::*;\n"),
        ("a/mod.rs", "mod one;\npub use one::One;\n"),
        ("a/one.rs", "use crate::b::Two;\npub struct One;\n"),
        (
            "b/mod.rs",
            "use crate::b::three::Three;\nmod three;\npub struct Two;\n",
        ),
        ("b/three.rs", "use crate::a::One;\npub struct Three;\n"),
    ]);
    assert_eq!(source.largest_circle(), ["a/one.rs", "b/mod.rs", "b/three.rs"]);
}
