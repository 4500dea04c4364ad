//! Names and first lines of documentation: a type name is declared once in a crate, a function's line begins with a verb,
//! a type's line with a noun.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use superstep_acceptance::repository;
use syn::visit::{self, Visit};

/// Modules of a crate in which a type name is looked for by itself: the backends do the same things in their own ways.
const BACKENDS: &[&str] = &["sqlite", "file", "postgres", "redis", "langgraph"];

/// First words that ask instead of naming what a type is.
const QUESTIONS: &[&str] = &[
    "What", "How", "Where", "Why", "Which", "Who", "Whom", "Whose", "Whether", "When",
];

/// Words that end like a verb in the third person and are none, or that ask.
const NO_VERBS: &[&str] = &[
    "Is", "Does", "Has", "Was", "Its", "This", "As", "Nodes", "Keys", "Threads",
];

/// Product files of all crates, tests apart.
fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let crates = fs::read_dir(repository().join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path().join("src")).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "tests" {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// What a file declares.
#[derive(Default)]
struct Declared {
    /// Types outside of functions, with their lines.
    types: Vec<(String, usize)>,
    /// First words of documentation that break the rule, with their lines.
    openings: Vec<(usize, String)>,
    /// Bodies of functions around the place.
    inside: usize,
}

/// Reads the first line of the documentation.
fn first_line(attributes: &[syn::Attribute]) -> Option<(usize, String)> {
    attributes.iter().find_map(|attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else {
            return None;
        };
        let syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) = &pair.value
        else {
            return None;
        };
        pair.path
            .is_ident("doc")
            .then(|| (text.span().start().line, text.value().trim().to_owned()))
    })
}

/// Returns whether the word is a verb in the third person, as far as its shape shows it.
fn is_verb(word: &str) -> bool {
    let word = word.trim_end_matches(',');
    let begins = word.starts_with(|letter: char| letter.is_ascii_uppercase());
    let letters = word
        .chars()
        .all(|letter| letter.is_ascii_alphabetic() || letter == '-');
    begins && letters && word.ends_with('s') && !NO_VERBS.contains(&word)
}

impl Declared {
    fn declare(&mut self, ident: &syn::Ident, attributes: &[syn::Attribute]) {
        if self.inside == 0 {
            self.types.push((ident.to_string(), ident.span().start().line));
        }
        if let Some((line, text)) = first_line(attributes)
            && let Some(word) = text.split_whitespace().next()
            && QUESTIONS.contains(&word)
        {
            self.openings.push((line, text));
        }
    }

    fn function(&mut self, attributes: &[syn::Attribute]) {
        let is_test = |attribute: &syn::Attribute| {
            attribute
                .path()
                .segments
                .last()
                .is_some_and(|last| last.ident == "test")
        };
        if attributes.iter().any(is_test) {
            return;
        }
        if let Some((line, text)) = first_line(attributes)
            && !text.split_whitespace().next().is_some_and(is_verb)
        {
            self.openings.push((line, text));
        }
    }
}

impl<'ast> Visit<'ast> for Declared {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !super::layers::is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.declare(&item.ident, &item.attrs);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.declare(&item.ident, &item.attrs);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.declare(&item.ident, &item.attrs);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.declare(&item.ident, &item.attrs);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.declare(&item.ident, &item.attrs);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if super::layers::is_for_tests(&item.attrs) {
            return;
        }
        self.function(&item.attrs);
        self.inside += 1;
        visit::visit_item_fn(self, item);
        self.inside -= 1;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.attrs);
        self.inside += 1;
        visit::visit_impl_item_fn(self, item);
        self.inside -= 1;
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.attrs);
        self.inside += 1;
        visit::visit_trait_item_fn(self, item);
        self.inside -= 1;
    }
}

fn declared(text: &str) -> Declared {
    let mut found = Declared::default();
    found.visit_file(&syn::parse_file(text).unwrap());
    found
}

/// Returns the crate that a file is of; of storage, the backend, too.
fn room(file: &Path) -> String {
    let within = file.strip_prefix(repository().join("crates")).unwrap();
    let mut parts = within.iter().map(|part| part.to_string_lossy());
    let (of, _src, first) = (
        parts.next().unwrap(),
        parts.next(),
        parts.next().unwrap_or_default(),
    );
    let backend = BACKENDS
        .iter()
        .find(|backend| of == "storage" && first == **backend);
    backend.map_or_else(|| of.to_string(), |backend| format!("{of}/{backend}"))
}

#[test]
fn a_type_name_has_one_meaning_in_its_crate() {
    let mut places: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        for (name, line) in declared(&text).types {
            let place = format!("{}:{line}", file.display());
            places.entry((room(&file), name)).or_default().push(place);
        }
    }
    assert!(places.len() > 1_000, "{} types were read", places.len());
    let twice: Vec<_> = places.iter().filter(|(_, places)| places.len() > 1).collect();
    for ((of, name), places) in &twice {
        println!(
            "{of} has {} types named {name}: {}",
            places.len(),
            places.join(", ")
        );
    }
    assert!(
        twice.is_empty(),
        "{} type names are declared more than once",
        twice.len()
    );
}

#[test]
fn documentation_begins_with_a_verb_or_a_noun() {
    let mut broken = 0;
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        for (line, words) in declared(&text).openings {
            println!("{}:{line}: {words}", file.display());
            broken += 1;
        }
    }
    assert_eq!(
        broken, 0,
        "a function's line begins with a verb (\"Returns …\"), a type's with a noun (\"A request …\")"
    );
}

#[test]
fn names_and_openings_are_read() {
    let found = declared(
        "\
/// What it is.
struct One;
/// A thing.
enum Two {}
impl One {
    /// The name.
    fn name(&self) {
        struct Inner;
    }
    /// Returns the name.
    fn shown(&self) {}
}
/// Is it so?
fn question() {}
#[cfg(test)]
mod tests {
    struct Three;
    /// The rest.
    fn rest() {}
}
",
    );
    let names: Vec<&str> = found.types.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["One", "Two"]);
    let openings: Vec<(usize, &str)> = found
        .openings
        .iter()
        .map(|(line, text)| (*line, &**text))
        .collect();
    assert_eq!(
        openings,
        [(1, "What it is."), (6, "The name."), (13, "Is it so?")]
    );
}
