//! The example graphs keep their promises: no diagnostics, the canonical form of the file, and every recorded run.
//!
//! A golden run is a test of the graph, `graphs/NAME/expect/RUN.json` (see `superstep_nodes::testing`), which looks at
//! everything. With `UPDATE_GOLDEN=1` the files are written from what happens; read the difference before committing it.

use std::path::Path;

use superstep_document::Document;
use superstep_nodes::testing::{GraphTest, Played};
use superstep_nodes::{Environment, Grants, Registry};

use crate::support::examples;

fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

fn open(folder: &Path) -> Document {
    let path = folder.join("graph.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let (document, problems) = Document::parse(&text);
    assert_eq!(problems, [], "{}", path.display());
    let canonical = document.to_text();
    if updating() && canonical != text {
        std::fs::write(&path, &canonical).unwrap();
    } else {
        assert_eq!(
            text,
            canonical,
            "{} is not in canonical form; UPDATE_GOLDEN=1 rewrites it",
            path.display()
        );
    }
    document
}

/// Does the graph run Python?
fn python(document: &Document) -> bool {
    document.to_text().contains("\"language\": \"python\"")
}

/// May it, here? Without an interpreter the test says what to install, unless the person who runs it wants to do without.
fn python_is_there() -> bool {
    let there = std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    let without = std::env::var_os("SUPERSTEP_WITHOUT_SERVERS").is_some_and(|value| value == "1");
    assert!(
        there || without,
        "There is no python3. `./dev test` installs it; SUPERSTEP_WITHOUT_SERVERS=1 skips what needs it."
    );
    if !there {
        println!("skipped: SUPERSTEP_WITHOUT_SERVERS=1 and no python3, so graphs with Python are not run");
    }
    there
}

#[test]
fn examples_have_no_problems() {
    assert!(examples().len() >= 5, "five examples at least: {:?}", examples());
    for folder in examples() {
        let document = open(&folder);
        if python(&document) && !python_is_there() {
            continue;
        }
        let environment = Environment::new(Some(folder.clone()));
        let registry = Registry::standard();
        let problems: Vec<String> = document
            .validate()
            .into_iter()
            .chain(registry.check_in(&document, &environment))
            .map(|problem| problem.to_string())
            .collect();
        assert_eq!(problems, Vec::<String>::new(), "{}", folder.display());
        registry.build(&document, &environment).unwrap();
        assert!(
            folder.join("README.md").is_file(),
            "{} has no README",
            folder.display()
        );
        assert!(
            !document.examples().is_empty(),
            "{} has no sample input",
            folder.display()
        );
        let placed: Vec<&str> = document.layout().map(|(id, _)| id).collect();
        for id in document.node_ids().chain(["__start__", "__end__"]) {
            assert!(
                placed.contains(&id),
                "{} of {} has no place on the canvas",
                id,
                folder.display()
            );
        }
    }
}

/// No two cards touch: 216 pixels wide, up to 92 high with their rows.
#[test]
fn cards_do_not_overlap() {
    for folder in examples() {
        let document = open(&folder);
        let places: Vec<(&str, [f64; 2])> = document.layout().collect();
        for (index, (a, [ax, ay])) in places.iter().enumerate() {
            for (b, [bx, by]) in &places[index + 1..] {
                // Start and end are small marks.
                let width = if a.starts_with("__") && ax < bx {
                    140.0
                } else {
                    260.0
                };
                let apart = (ax - bx).abs() >= width || (ay - by).abs() >= 100.0;
                assert!(apart, "{a} and {b} of {} overlap", folder.display());
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn golden_runs() {
    let mut runs = 0;
    for folder in examples() {
        let document = open(&folder);
        if python(&document) && !python_is_there() {
            continue;
        }
        let mut files: Vec<_> = std::fs::read_dir(folder.join("expect"))
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{} has no golden run", folder.display());
        for file in files {
            let mut golden = GraphTest::read(&file).unwrap();
            // Other programs keep to the clock on the wall.
            let programs = folder.join(".mcp.json").exists() || python(&document);
            if programs {
                tokio::time::resume();
            }
            let played = play(&document, &folder, &golden).await;
            if programs {
                tokio::time::pause();
            }
            if updating() {
                golden.expect = played.outcome;
                std::fs::write(&file, golden.to_text()).unwrap();
            } else {
                assert_eq!(golden.divergences(&played), [], "{}", file.display());
                assert_eq!(
                    golden.expect,
                    played.outcome,
                    "{}: everything is looked at",
                    file.display()
                );
            }
            runs += 1;
        }
    }
    assert!(runs >= 10, "only {runs} golden runs were found");
}

async fn play(document: &Document, folder: &Path, test: &GraphTest) -> Played {
    // Everything in the repository is allowed; programs are found by the path, and no key is.
    let environment = Environment::new(Some(folder.to_owned()))
        .with_variables(|name| (name == "PATH").then(|| std::env::var(name).ok()).flatten())
        .with_grants(Grants::all());
    let built = Registry::standard().build(document, &environment).unwrap();
    test.play(built.graph, document).await
}
