//! Every program is built from the same packages: two that ask for other features of one would have cargo compile it, and
//! all that stands on it, twice.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use superstep_acceptance::repository;

/// The packages that are linked into what the words choose, each with its features.
fn features(words: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(option_env!("CARGO").unwrap_or("cargo"))
        .args(["tree", "--locked", "--prefix", "none", "--format", "{p}|{f}"])
        .args(words)
        .current_dir(repository())
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let Some((package, features)) = line.trim_end_matches(" (*)").split_once('|') else {
            continue;
        };
        // Name and version, without where its source is.
        let package = package.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let features = features
            .split(',')
            .filter(|name| !name.is_empty())
            .map(str::to_owned);
        found.entry(package).or_default().extend(features);
    }
    assert!(found.len() > 100, "{words:?} has only {} packages", found.len());
    found
}

#[test]
fn all_programs_agree_on_the_features_of_what_they_share() {
    let everything = features(&["--workspace", "--edges", "normal,dev,no-proc-macro"]);
    let without_window = [
        "--workspace",
        "--exclude=superstep-desktop",
        "--exclude=superstep-window-test",
        "--edges=normal,dev,no-proc-macro",
    ];
    let mut differences = BTreeSet::new();
    for words in [
        &without_window[..],
        &["--package=superstep-desktop", "--edges=normal,no-proc-macro"],
        &["--package=superstep-cli", "--edges=normal,no-proc-macro"],
        &[
            "--package=superstep-workbench",
            "--edges=normal,dev,no-proc-macro",
        ],
    ] {
        for (package, features) in features(words) {
            for feature in everything[&package].difference(&features) {
                differences.insert(format!("{package} without {feature} in {}", words[0]));
            }
        }
    }
    assert_eq!(
        differences,
        BTreeSet::new(),
        "cargo compiles these twice: name the features in tools/features/Cargo.toml"
    );
}
