//! A node's settings against the schema of its kind.

use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value as Json;
use superstep_document::Diagnostic;

use super::KindEntry;
use super::site::Site;
use superstep_document::suggest;
use superstep_document::{Join, Text, text};

/// Returns what a setting must be, in words, and what to do.
fn mended(name: &str, error: &ValidationError<'_>) -> (Text, Text) {
    let listed = |values: &[Json]| {
        let shown = values.iter().filter(|value| !value.is_null());
        Text::list(Join::Comma, shown.map(Json::to_string))
    };
    let found = shortened(&error.instance().to_string());
    match error.kind() {
        ValidationErrorKind::Enum { options } => {
            let options = listed(options.as_array().map_or(&[], Vec::as_slice));
            (
                text!(
                    "The setting `{name}` is {found}, which it does not know.",
                    name,
                    found
                ),
                text!("Write one of {options}.", options),
            )
        }
        ValidationErrorKind::Type { kind } => {
            let types: Vec<String> = match kind {
                TypeKind::Single(one) => vec![one.to_string()],
                TypeKind::Multiple(several) => several.iter().map(|one| one.to_string()).collect(),
            };
            let wanted = Text::list(Join::Or, types.iter().filter_map(|one| type_words(one)));
            (
                text!(
                    "The setting `{name}` takes {wanted}, and is {found}.",
                    name,
                    wanted = &wanted,
                    found
                ),
                text!("Write {wanted} there.", wanted),
            )
        }
        _ => (
            text!(
                "The setting `{name}` is not valid: {error}.",
                name,
                error = error.to_string()
            ),
            text!("Correct the setting."),
        ),
    }
}

/// Returns the words for a JSON Schema type in a sentence; an optional setting is not called null.
fn type_words(name: &str) -> Option<Text> {
    Some(match name {
        "integer" => text!("a whole number"),
        "number" => text!("a number"),
        "string" => text!("text"),
        "boolean" => text!("true or false"),
        "array" => text!("a list"),
        "object" => text!("an object"),
        _ => return None,
    })
}

fn shortened(text: &str) -> String {
    const MAX_SHOWN: usize = 60;
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Checks what is right of a config of which some settings are not: in their place stands what the kind begins with, and
/// only what is reported of the others counts.
pub(super) fn check_the_rest(entry: &KindEntry, site: &mut Site<'_>, broken: &BTreeSet<String>) {
    let mut config = site.config.clone();
    for name in broken {
        config.remove(name);
        // A number of whatever size is still a number, and others may depend on its being there.
        let setting = &entry.info.config_schema["properties"][name.as_str()];
        let numeric = |one: &Json| matches!(one.as_str(), Some("integer" | "number"));
        let types = &setting["type"];
        if numeric(types) || types.as_array().is_some_and(|types| types.iter().any(numeric)) {
            let least = setting.get("minimum").cloned();
            config.insert(name.clone(), least.unwrap_or_else(|| 1.into()));
        }
    }
    let needed = entry.info.config_schema.get("required").and_then(Json::as_array);
    for name in needed.into_iter().flatten().filter_map(Json::as_str) {
        let usual = entry.info.defaults.get(name).cloned();
        config
            .entry(name)
            .or_insert_with(|| usual.unwrap_or_else(|| "".into()));
    }
    let base = format!("{}/", site.base);
    let given = site.config;
    let known = site.problems.len();
    site.part(&config, None, |site| entry.kind.check(site));
    let found = site.problems.split_off(known);
    let counts = |problem: &Diagnostic| {
        let within = problem.pointer.as_deref().and_then(|at| at.strip_prefix(&base));
        let setting = within.and_then(|within| within.split('/').next());
        setting.is_some_and(|name| given.contains_key(name) && !broken.contains(name))
    };
    site.problems.extend(found.into_iter().filter(counts));
}

/// Holds a config against its kind's schema, and gives the settings that do not satisfy it or are missing.
pub(super) fn config_problems(entry: &KindEntry, site: &mut Site<'_>) -> BTreeSet<String> {
    let known = entry
        .info
        .config_schema
        .get("properties")
        .and_then(Json::as_object);
    let unknown: Vec<String> = site
        .config
        .keys()
        .filter(|name| known.is_some_and(|known| !known.contains_key(*name)))
        .cloned()
        .collect();
    for name in unknown {
        let settings = || {
            known
                .into_iter()
                .flat_map(|known| known.keys().map(String::as_str))
        };
        let message = text!(
            "A node of kind {kind} has no setting `{name}`.{hint}",
            kind = entry.info.kind,
            name = &name,
            hint = suggest::did_you_mean(&name, settings())
        );
        let remedy = text!(
            "Remove it, or correct its name. Settings: {known}.",
            known = suggest::listing(settings())
        );
        site.warning("unknown-setting", &format!("/{name}"), message, remedy);
    }
    let Some(validator) = &entry.config else {
        return BTreeSet::new();
    };
    let config = Json::Object(site.config.clone());
    let mut broken = BTreeSet::new();
    let errors: Vec<ValidationError<'_>> = validator.iter_errors(&config).collect();
    // Which words there are says more than that it is to be a word.
    let worded = |error: &ValidationError<'_>| {
        let same = |other: &&ValidationError<'_>| other.instance_path() == error.instance_path();
        let choice = |other: &ValidationError<'_>| matches!(other.kind(), ValidationErrorKind::Enum { .. });
        matches!(error.kind(), ValidationErrorKind::Type { .. }) && errors.iter().filter(same).any(choice)
    };
    for error in errors.iter().filter(|error| !worded(error)) {
        let path = error.instance_path().to_string();
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let title = known
                    .and_then(|known| known.get(name)?.get("description")?.as_str())
                    .unwrap_or_default();
                let pointer = format!("{path}/{name}");
                broken.extend(pointer.split('/').nth(1).map(str::to_owned));
                site.error(
                    "missing-setting",
                    &pointer,
                    text!("The setting `{name}` is missing.", name),
                    text!(
                        "Fill it in. {help}",
                        // The form's own text, which other languages have beside the setting.
                        help = Text::filled(title.to_owned().into(), Vec::new())
                    ),
                );
            }
            _ => {
                let name = path.trim_start_matches('/').replace('/', ".");
                broken.insert(path.split('/').nth(1).unwrap_or_default().to_owned());
                let (message, remedy) = mended(&name, error);
                site.error("bad-setting", &path, message, remedy);
            }
        }
    }
    broken
}
