//! `./dev where` leads to the files that hold what is looked for.

use std::process::Command;

/// The paths that it names, the best first.
fn named(words: &[&str]) -> Vec<String> {
    let output = Command::new("python3")
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(["-B", "tools/where.py"])
        .args(words)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let paths = text.lines().filter(|line| !line.starts_with(' '));
    paths.map(str::to_owned).collect()
}

#[test]
fn words_lead_to_the_file_that_is_about_them() {
    for (words, file) in [
        ("key of cached results", "crates/engine/src/policy/cache.rs"),
        ("closed pipe", "crates/cli/src/out.rs"),
        ("prompt changes", "ui/src/debugger/exchanges/prompt-changes.ts"),
        ("link to a moment opened", "ui/src/debugger/run/open-moment.ts"),
        ("threads export", "crates/cli/src/commands/maintenance.rs"),
        ("fork map lanes", "ui/src/debugger/timeline/fork-map.ts"),
        ("retry wait", "crates/engine/src/policy/retry.rs"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let found = named(&words);
        assert!(
            found.iter().take(3).any(|path| path == file),
            "{words:?}: {found:?}"
        );
    }
}

#[test]
fn words_that_nobody_says_lead_nowhere() {
    assert_eq!(named(&["zzyzx"]), Vec::<String>::new());
    assert_eq!(named(&[]), Vec::<String>::new());
}
