//! Types of the state and of the run context for the editors in which people write their programs: TypeScript declarations, and Python's
//! `TypedDict`s.

use std::fmt::Write;

use serde_json::Value as Json;
use superstep_document::Document;

use crate::kinds::code::Language;
use crate::state::schema::{Key, Keys};

/// What programs find around them, as TypeScript.
const AROUND: &str = include_str!("../programs/javascript/around.d.ts");
/// Objects inside each other that are written out; below stands a type for anything.
const MAX_DEPTH: usize = 8;

/// Returns the types of a document's state as the text of a file.
pub fn types(document: &Document, language: Language) -> String {
    let keys = Keys::of(document);
    let context = document.context_schema();
    match language {
        Language::JavaScript => typescript(document.name(), &keys, context.as_ref()),
        Language::Python => python(document.name(), &keys, context.as_ref()),
    }
}

/// Puts the text on one line and keeps it from ending a comment.
fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .join(" ")
        .replace("*/", "* /")
        .replace('\\', "\\\\")
        .replace("\"\"\"", "'''")
}

fn described(key: &Json) -> Option<String> {
    let text = key.get("description").or_else(|| key.get("title"))?.as_str()?;
    (!text.trim().is_empty()).then(|| line(text))
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the schemas of a value that may be of several types.
fn variants(schema: &Json) -> Option<Vec<Json>> {
    if let Some(all) = ["anyOf", "oneOf"]
        .iter()
        .find_map(|word| schema.get(word)?.as_array())
    {
        return Some(all.clone());
    }
    let all = schema.get("type")?.as_array()?;
    let with = |ty: &Json| {
        let mut one = schema.clone();
        one["type"] = ty.clone();
        one
    };
    Some(all.iter().map(with).collect())
}

fn typescript(name: &str, keys: &Keys, context: Option<&Json>) -> String {
    let mut text = format!(
        "/** The state of the graph {}. */\ndeclare interface State {{\n",
        line(name)
    );
    for key in keys.iter() {
        if let Some(about) = described(&key.schema) {
            let _ = writeln!(text, "  /** {about} */");
        }
        let there = if key.initial { "" } else { "?" };
        let _ = writeln!(
            text,
            "  {}{there}: {};",
            property(&key.name),
            in_typescript(&key.schema, 0)
        );
    }
    text.push_str("}\n\n");
    let _ = writeln!(
        text,
        "/** What a run of the graph {} is given beside its input. */",
        line(name)
    );
    match context {
        Some(schema) => {
            text.push_str("declare interface RunContext {\n");
            for (name, field) in fields(schema) {
                if let Some(about) = described(field) {
                    let _ = writeln!(text, "  /** {about} */");
                }
                let ty = in_typescript(field, 0);
                let _ = writeln!(text, "  readonly {}: {ty};", property(name));
            }
            text.push_str("}\n\n");
        }
        None => text.push_str("declare type RunContext = Record<string, any>;\n\n"),
    }
    text.push_str(AROUND);
    text
}

/// Returns the fields of a schema of objects.
fn fields(schema: &Json) -> impl Iterator<Item = (&String, &Json)> {
    schema
        .get("properties")
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
}

fn property(name: &str) -> String {
    if is_name(name) {
        name.to_owned()
    } else {
        Json::from(name).to_string()
    }
}

fn in_typescript(schema: &Json, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return "any".to_owned();
    }
    if let Some(fixed) = schema.get("const") {
        return fixed.to_string();
    }
    if let Some(words) = schema.get("enum").and_then(Json::as_array) {
        return words.iter().map(Json::to_string).collect::<Vec<_>>().join(" | ");
    }
    if let Some(all) = variants(schema) {
        let mut all: Vec<String> = all.iter().map(|one| in_typescript(one, depth + 1)).collect();
        all.dedup();
        return all.join(" | ");
    }
    match schema.get("type").and_then(Json::as_str) {
        Some("string") => "string".to_owned(),
        Some("integer" | "number") => "number".to_owned(),
        Some("boolean") => "boolean".to_owned(),
        Some("null") => "null".to_owned(),
        Some("array") => match schema.get("items") {
            Some(items) => format!("Array<{}>", in_typescript(items, depth + 1)),
            None => "any[]".to_owned(),
        },
        Some("object") => match schema.get("properties").and_then(Json::as_object) {
            Some(fields) => {
                let required = required(schema);
                let fields = fields.iter().map(|(name, field)| {
                    let there = if required.contains(&name.as_str()) {
                        ""
                    } else {
                        "?"
                    };
                    format!("{}{there}: {}", property(name), in_typescript(field, depth + 1))
                });
                format!("{{ {} }}", fields.collect::<Vec<_>>().join("; "))
            }
            None => "Record<string, any>".to_owned(),
        },
        _ => "any".to_owned(),
    }
}

fn required(schema: &Json) -> Vec<&str> {
    let names = schema.get("required").and_then(Json::as_array);
    names.into_iter().flatten().filter_map(Json::as_str).collect()
}

fn python(name: &str, keys: &Keys, context: Option<&Json>) -> String {
    let mut classes = Vec::new();
    let fields: Vec<(String, String, Option<String>)> = keys
        .iter()
        .map(|key: &Key| {
            let ty = in_python(&key.schema, &camel("State", &key.name), &mut classes, 0);
            (key.name.to_string(), ty, described(&key.schema))
        })
        .collect();
    let about = format!("The state of the graph {}.", line(name));
    classes.push(class("State", &about, &fields));
    if let Some(schema) = context {
        let fields: Vec<_> = self::fields(schema)
            .map(|(field, schema)| {
                let ty = in_python(schema, &camel("RunContext", field), &mut classes, 0);
                (field.clone(), ty, described(schema))
            })
            .collect();
        let about = format!(
            "What a run of the graph {} is given beside its input.",
            line(name)
        );
        classes.push(class("RunContext", &about, &fields));
    }
    format!(
        "from typing import Any, Dict, List, Literal, TypedDict, Union\n\n\n{}",
        classes.join("\n\n")
    )
}

fn camel(before: &str, name: &str) -> String {
    let mut text = before.to_owned();
    for word in name
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let (first, rest) = word.split_at(1);
        text.push_str(&first.to_uppercase());
        text.push_str(rest);
    }
    text
}

fn class(name: &str, about: &str, fields: &[(String, String, Option<String>)]) -> String {
    if !fields
        .iter()
        .all(|(field, ..)| is_name(field) && !PYTHON_WORDS.contains(&field.as_str()))
    {
        let fields = fields
            .iter()
            .map(|(field, ty, _)| format!("{}: {ty}", Json::from(field.as_str())));
        return format!(
            "# {about}\n{name} = TypedDict(\"{name}\", {{{}}}, total=False)\n",
            fields.collect::<Vec<_>>().join(", ")
        );
    }
    let mut text = format!("class {name}(TypedDict, total=False):\n    \"\"\"{about}\"\"\"\n\n");
    for (field, ty, about) in fields {
        let _ = writeln!(text, "    {field}: {ty}");
        if let Some(about) = about {
            let _ = writeln!(text, "    \"\"\"{about}\"\"\"");
        }
    }
    text
}

const PYTHON_WORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

fn python_literal(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

fn in_python(schema: &Json, name: &str, classes: &mut Vec<String>, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return "Any".to_owned();
    }
    let plain = |value: &Json| value.is_string() || value.is_boolean() || value.is_i64() || value.is_null();
    let words = schema.get("const").map(std::slice::from_ref);
    let words = words.or_else(|| schema.get("enum").and_then(Json::as_array).map(Vec::as_slice));
    if let Some(words) = words.filter(|words| !words.is_empty() && words.iter().all(plain)) {
        return format!(
            "Literal[{}]",
            words.iter().map(python_literal).collect::<Vec<_>>().join(", ")
        );
    }
    if let Some(all) = variants(schema) {
        let mut all: Vec<String> = all
            .iter()
            .map(|one| in_python(one, name, classes, depth + 1))
            .collect();
        all.dedup();
        return match all.as_slice() {
            [] => "Any".to_owned(),
            [one] => one.clone(),
            _ => format!("Union[{}]", all.join(", ")),
        };
    }
    match schema.get("type").and_then(Json::as_str) {
        Some("string") => "str".to_owned(),
        Some("integer") => "int".to_owned(),
        Some("number") => "float".to_owned(),
        Some("boolean") => "bool".to_owned(),
        Some("null") => "None".to_owned(),
        Some("array") => match schema.get("items") {
            Some(items) => format!(
                "List[{}]",
                in_python(items, &format!("{name}Item"), classes, depth + 1)
            ),
            None => "List[Any]".to_owned(),
        },
        Some("object") => match schema.get("properties").and_then(Json::as_object) {
            Some(fields) => {
                let fields: Vec<(String, String, Option<String>)> = fields
                    .iter()
                    .map(|(field, schema)| {
                        let ty = in_python(schema, &camel(name, field), classes, depth + 1);
                        (field.clone(), ty, described(schema))
                    })
                    .collect();
                let about = described(schema).unwrap_or_else(|| "Part of the state.".to_owned());
                classes.push(class(name, &about, &fields));
                name.to_owned()
            }
            None => "Dict[str, Any]".to_owned(),
        },
        _ => "Any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let text = serde_json::json!({
            "format": "superstep/1", "name": "re*/view", "nodes": {}, "edges": [],
            "state": {
                "draft": {"type": "string", "description": "The text\nso far.", "default": ""},
                "score": {"type": ["number", "null"]},
                "mood": {"enum": ["good", "bad"]},
                "people": {"type": "array", "items": {"type": "object", "required": ["name"],
                    "properties": {"name": {"type": "string"}, "home town": {"type": "string"}}}},
                "class": {}
            }
        });
        Document::parse(&text.to_string()).0
    }

    #[test]
    fn the_run_context_has_types_in_both_languages() {
        let none = types(&document(), Language::JavaScript);
        assert!(none.contains("type RunContext = Record<string, any>;"), "{none}");
        assert!(!types(&document(), Language::Python).contains("RunContext"));
        let text = serde_json::json!({
            "format": "superstep/1", "name": "desk", "nodes": {}, "edges": [], "state": {},
            "context": {
                "user": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}},
                    "description": "Who asks."},
                "depth": {"type": "integer", "default": 2}
            }
        });
        let document = Document::parse(&text.to_string()).0;
        let text = types(&document, Language::JavaScript);
        for part in [
            "declare interface RunContext {",
            "/** Who asks. */\n  readonly user: { id: string };\n",
            "  readonly depth: number;\n}\n",
            "readonly user: RunContext;",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = types(&document, Language::Python);
        for part in [
            "class RunContext(TypedDict, total=False):",
            "user: RunContextUser\n",
            "depth: int\n",
            "class RunContextUser(",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn the_state_has_types_in_both_languages() {
        let text = types(&document(), Language::JavaScript);
        for part in [
            "/** The state of the graph re* /view. */",
            "/** The text so far. */\n  draft: string;",
            "score?: number | null;",
            "mood?: \"good\" | \"bad\";",
            "people?: Array<{ name: string; \"home town\"?: string }>;",
            "class?: any;",
            "declare function interrupt(",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = types(&document(), Language::Python);
        for part in [
            "StatePeopleItem = TypedDict(\"StatePeopleItem\", {\"name\": str, \"home town\": str}, total=False)",
            "\"draft\": str, \"score\": Union[float, None], \"mood\": Literal[\"good\", \"bad\"], \"people\": List[StatePeopleItem], \"class\": Any",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
