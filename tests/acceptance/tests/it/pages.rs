//! The pages for contributors: the paths that they name exist, every crate has one, and the recipes of CONTRIBUTING.md
//! name each file in which an existing case is registered, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use superstep_acceptance::repository;

/// Folders at the root that pages name paths in.
const ROOTS: [&str; 6] = ["crates/", "docs/", "graphs/", "src-tauri/", "tests/", "ui/"];

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The crates' folders.
fn crates() -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join("crates")).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.join("Cargo.toml").exists()).collect();
    folders.sort();
    folders
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .map(|token| token.trim_end_matches('/'))
}

/// A word in capitals stands for a name.
fn has_placeholder(path: &str) -> bool {
    path.split(['/', '.'])
        .any(|part| part.len() > 2 && part.chars().all(|c| c.is_ascii_uppercase()) && part != "README")
}

/// The paths that a page names, from the root; those of a crate's page may begin at the crate.
fn paths(page: &Path) -> Vec<(String, PathBuf)> {
    let text = read(page);
    let root = repository();
    let own = page.parent().unwrap();
    let linked = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link.split('#').next().unwrap_or(link))
        .filter(|link| !link.is_empty() && !link.contains(':'))
        .map(|link| (link.to_owned(), own.join(link)));
    let named = quoted(&text)
        .filter(|token| !token.contains([' ', '*', '{', '<', '…']) && !has_placeholder(token))
        .filter_map(|token| {
            let from_root = ROOTS.iter().any(|folder| token.starts_with(folder));
            let from_here = own != root && (token.starts_with("src/") || token.starts_with("tests/"));
            let path = match from_here {
                true if own.join(token).exists() || token.starts_with("src/") => own.join(token),
                _ if from_root => root.join(token),
                _ => return None,
            };
            Some((token.to_owned(), path))
        });
    linked.chain(named).collect()
}

#[test]
fn the_paths_that_pages_name_exist() {
    let root = repository();
    let mut pages = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"]
        .map(|page| root.join(page))
        .to_vec();
    pages.extend(crates().iter().map(|folder| folder.join("README.md")));
    let mut missing = Vec::new();
    let mut count = 0;
    for page in &pages {
        for (named, path) in paths(page) {
            count += 1;
            if !path.exists() {
                missing.push(format!(
                    "{} names {named}",
                    page.strip_prefix(&root).unwrap().display()
                ));
            }
        }
    }
    assert_eq!(missing, [""; 0], "these are not there");
    assert!(count > 100, "paths are found in pages: {count}");
}

#[test]
fn the_pictures_of_the_docs_are_there_and_shown() {
    let root = repository();
    let folder = root.join("docs/pictures");
    let files = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_file()).collect::<Vec<_>>()
    };
    let pages = files(&root.join("docs"))
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "md"))
        .chain([root.join("README.md")]);
    let shown: BTreeSet<PathBuf> = pages
        .flat_map(|page| {
            let own = page.parent().unwrap().to_owned();
            let text = read(&page);
            let named = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            let pictures = named
                .map(|(link, _)| link)
                .filter(|link| link.contains("pictures/") && !link.contains(':'));
            pictures.map(|link| own.join(link)).collect::<Vec<_>>()
        })
        .collect();
    let there: BTreeSet<PathBuf> = files(&folder).into_iter().collect();
    let missing: Vec<_> = shown.difference(&there).collect();
    assert!(
        missing.is_empty(),
        "no such picture; `./dev shots` takes them: {missing:?}"
    );
    let unused: Vec<_> = there.difference(&shown).collect();
    assert!(unused.is_empty(), "no page shows these: {unused:?}");
    let bytes: u64 = there.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(
        bytes < 6_500_000,
        "pictures are cloned with the repository: {bytes} bytes"
    );
}

#[test]
fn every_crate_has_a_page() {
    for folder in crates() {
        let page = read(&folder.join("README.md"));
        let lines = page.lines().count();
        // The engine's is a tour with programs, which its tests run.
        let most = if folder.ends_with("engine") {
            usize::MAX
        } else {
            80
        };
        assert!(
            page.starts_with("# ") && (8..=most).contains(&lines),
            "{}: a page begins with its title and has 8 to {most} lines: {lines}",
            folder.display()
        );
    }
}

/// A recipe, and an existing case of what it adds.
struct Recipe {
    /// Heading in CONTRIBUTING.md.
    heading: &'static str,
    /// What its placeholders are in the case.
    names: &'static [(&'static str, &'static str)],
    /// Texts of which one is in every file that names the case.
    marks: &'static [&'static str],
    /// Files and folders that have such a text for another reason.
    besides: &'static [&'static str],
}

const RECIPES: [Recipe; 5] = [
    Recipe {
        heading: "## Add a node kind",
        names: &[("NAME", "delay")],
        marks: &[
            ".with(Delay)",
            "kind: \"delay\"",
            "## delay",
            "## `delay`",
            "pub mod delay;",
        ],
        besides: &[],
    },
    Recipe {
        heading: "## Add a command",
        names: &[
            ("AREA", "storage"),
            ("FILE", "database"),
            ("REQUEST", "TestStorage"),
        ],
        marks: &["storage_test", "\"storage.test\" =>", "TestStorage"],
        besides: &[],
    },
    Recipe {
        heading: "## Add a storage backend",
        names: &[("NAME", "redis")],
        marks: &[
            "pub mod redis;",
            "mod redis;",
            "redis://",
            "Backend::Redis",
            "A Redis server.",
            "\"Redis\"",
            "redis = [",
        ],
        besides: &[
            // The backend itself, and pages about it.
            "crates/storage/src/redis",
            "crates/storage/README.md",
            "crates/storage/examples",
            "docs/guide.md",
            "docs/store.md",
            // Says that LangGraph's own saver for it is not read.
            "crates/storage/src/backend/address.rs",
        ],
    },
    Recipe {
        heading: "## Add a panel",
        names: &[("NAME", "timeline"), ("COMPONENT", "TimelinePanel")],
        marks: &["TimelinePanel", "shell.tab.timeline"],
        besides: &[],
    },
    Recipe {
        heading: "## Add a reducer",
        names: &[],
        marks: &["Reducer::Union", "BinaryOp::Union", "\"union\"", "`union`"],
        // A word of SQL, by which texts are cut.
        besides: &["crates/nodes/src/search/chunk.rs"],
    },
];

/// Text files of the product, without their tests.
fn sources() -> Vec<(String, String)> {
    let root = repository();
    let mut found = Vec::new();
    let mut folders = ["crates", "docs", "src-tauri", "ui/src"]
        .map(|folder| root.join(folder))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["tests", "test", "target", "node_modules"].contains(&&*name) {
                    folders.push(path);
                }
            } else if !name.contains(".test.")
                && let Ok(text) = fs::read_to_string(&path)
            {
                let short = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                found.push((short, text));
            }
        }
    }
    found
}

/// A file without the tests inside it.
fn without_tests(text: &str) -> &str {
    text.split_once("\n#[cfg(test)]\nmod tests {")
        .map_or(text, |(code, _)| code)
}

#[test]
fn recipes_name_every_file_that_they_touch() {
    let page = read(&repository().join("CONTRIBUTING.md"));
    let sources = sources();
    for recipe in &RECIPES {
        let (_, section) = page
            .split_once(&format!("{}\n", recipe.heading))
            .unwrap_or_else(|| panic!("CONTRIBUTING.md has no {:?}", recipe.heading));
        let section = section.split("\n## ").next().unwrap_or(section);
        let named: BTreeSet<String> = quoted(section)
            .filter(|token| ROOTS.iter().any(|root| token.starts_with(root)) && token.contains('.'))
            .map(|token| {
                let filled = |path: String, (name, value): &(&str, &str)| path.replace(name, value);
                recipe.names.iter().fold(token.to_owned(), filled)
            })
            .filter(|path| {
                !path.contains("/tests/") && !path.starts_with("tests/") && !path.starts_with("graphs/")
            })
            .filter(|path| !recipe.besides.iter().any(|besides| path.starts_with(besides)))
            .collect();
        let touched: BTreeSet<String> = sources
            .iter()
            .filter(|(path, _)| !recipe.besides.iter().any(|besides| path.starts_with(besides)))
            // Where a command is called and a kind is used is for the caller to decide.
            .filter(|(path, _)| !(recipe.heading.ends_with("command") && path.starts_with("ui/src/features")))
            .filter(|(_, text)| recipe.marks.iter().any(|mark| without_tests(text).contains(mark)))
            .map(|(path, _)| path.clone())
            .collect();
        assert!(
            touched.len() > 2,
            "{}: its case is found: {touched:?}",
            recipe.heading
        );
        assert_eq!(
            named, touched,
            "{}: the files that the recipe names are those that name {:?}",
            recipe.heading, recipe.marks
        );
    }
}
