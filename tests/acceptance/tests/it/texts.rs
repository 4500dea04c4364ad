//! `ui/src/lib/texts/problems.json` lists every pattern of a text that Rust gives to people, so that translations of the
//! interface cannot miss one. With `UPDATE_GOLDEN=1` the list is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use superstep_acceptance::repository;
use superstep_storage::Backend;

/// The Rust files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

/// Adds the patterns of all `text!(…)` among the tokens, but for those of tests.
fn read(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let mut tokens = tokens.into_iter().peekable();
    let (mut called, mut tests) = (false, false);
    while let Some(token) = tokens.next() {
        let TokenTree::Group(group) = token else {
            let is_text = matches!(&token, TokenTree::Ident(name) if name == "text");
            called =
                is_text && matches!(tokens.peek(), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
            if called {
                tokens.next();
            }
            // `#[cfg(test)] mod tests;` has its tests in another file.
            tests &= !matches!(&token, TokenTree::Punct(mark) if mark.as_char() == ';');
            continue;
        };
        if group.to_string().replace(' ', "") == "[cfg(test)]" {
            tests = true;
        } else if tests && group.delimiter() == proc_macro2::Delimiter::Brace {
            tests = false;
        } else {
            if std::mem::take(&mut called)
                && let Some(TokenTree::Literal(pattern)) = group.stream().into_iter().next()
            {
                let pattern: syn::LitStr = syn::parse_str(&pattern.to_string()).unwrap();
                found.insert(pattern.value());
            }
            read(group.stream(), found);
        }
    }
}

fn patterns(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    read(source.parse().unwrap(), &mut found);
    found
}

#[test]
fn patterns_are_found_wherever_they_stand_outside_of_tests() {
    let source = r#"
        const WORD: Text = text!("a word");
        fn say() { vec![a(text!("First `{name}` \
            and more.", name = text!("inner")), b)]; text("none"); text; ("none") }
        #[cfg(test)]
        mod elsewhere;
        fn last() { superstep_document::text!("Last.") }
        #[cfg(test)]
        mod tests { fn test() { text!("tested"); } }
    "#;
    let found = patterns(source);
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(found, ["First `{name}` and more.", "Last.", "a word", "inner"]);
}

#[test]
fn the_list_for_translations_has_every_pattern() {
    let root = repository();
    let mut sources = Vec::new();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        files(&entry.unwrap().path().join("src"), &mut sources);
    }
    let all: BTreeSet<String> = sources
        .iter()
        .flat_map(|path| patterns(&fs::read_to_string(path).unwrap()))
        .collect();
    let path = root.join("ui/src/lib/texts/problems.json");
    let fresh = format!("{}\n", serde_json::to_string_pretty(&all).unwrap());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &fresh).unwrap();
        return;
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        fresh,
        "ui/src/lib/texts/problems.json is out of date; UPDATE_GOLDEN=1 rewrites it, and the texts of every language follow it"
    );
}

#[test]
fn every_backend_has_its_words_and_its_address_in_the_manual() {
    let root = repository();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (words, manual, page) = (
        read("ui/src/lib/texts/zh/backends.ts"),
        read("docs/command-line.md"),
        read("crates/storage/README.md"),
    );
    for backend in Backend::ALL {
        let (scheme, form) = (backend.scheme(), format!("`{}`", backend.form()));
        assert!(
            [format!("\n  {scheme}: {{"), format!("\n  \"{scheme}\": {{")]
                .iter()
                .any(|begin| words.contains(begin)),
            "no Chinese of {scheme}"
        );
        assert!(
            manual.contains(&form),
            "docs/command-line.md has no address {form}"
        );
        assert!(
            page.contains(&form),
            "the page of the crate has no address {form}"
        );
        assert!(
            page.contains(backend.title()),
            "the page of the crate has no {}",
            backend.title()
        );
    }
}
