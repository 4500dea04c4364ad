//! JSON Schemas of settings, as forms are made of them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value as Json, json};

/// Returns the JSON Schema of a config type.
pub fn schema_of<C: JsonSchema>() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<C>().to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("title");
    }
    schema
}

/// Returns the value of `x-form`: the fields that a form shows at first, in their order, and the groups that the others
/// are folded into. Fields in neither are shown after the first ones.
pub(crate) fn form_layout(front: &[&str], groups: &[(&str, &[&str])]) -> Json {
    let groups: Vec<Json> = groups
        .iter()
        .map(|(title, fields)| json!({"title": title, "fields": fields}))
        .collect();
    json!({"front": front, "groups": groups})
}

// The schemas below are for forms only: they have no description of their own, because a field has one.

#[derive(schemars::JsonSchema)]
#[schemars(inline, extend("x-secrets" = true))]
#[allow(dead_code, reason = "the schema of a text that may name secrets")]
pub(crate) struct SecretText(String);

#[derive(schemars::JsonSchema)]
#[schemars(inline, extend("x-editor" = "secret"))]
#[allow(dead_code, reason = "the schema of a secret's or variable's name")]
pub(crate) struct SecretName(String);

/// Turns the schema of a plain enumeration into the list that forms show as a choice.
pub(crate) fn choice_list(schema: &mut schemars::Schema) {
    let Some(variants) = schema.get("oneOf").and_then(Json::as_array) else {
        return;
    };
    let words: Option<Vec<Json>> = variants.iter().map(|one| one.get("const").cloned()).collect();
    if let Some(words) = words {
        schema.remove("oneOf");
        schema.insert("type".into(), "string".into());
        schema.insert("enum".into(), words.into());
    }
}
