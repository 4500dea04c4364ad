//! What is wrong with the settings of a `model` node.

use serde_json::{Value as Json, json};
use superstep_document::Reducer;

use super::{ModelConfig, SCRIPTED, ScriptLineConfig};
use crate::kinds::tools;
use crate::models::{self, ModelError, Recording};
use crate::registry::Site;
use crate::state::schema::Key;
use superstep_document::text;

/// Notes every problem of the settings, and what they read, write and reach.
pub(super) fn check(config: &ModelConfig, site: &mut Site<'_>) {
    check_model(config, site);
    check_question(config, site);
    let into = site.write("/into", &config.into);
    check_tools(config, site, into.as_ref());
    check_answer(config, site, into.as_ref());
    check_script(config, site);
}

/// Returns whether the key is a list of messages.
fn takes_messages(key: Option<&Key>) -> bool {
    key.is_some_and(|key| key.reducer == Reducer::AddMessages)
}

fn check_model(config: &ModelConfig, site: &mut Site<'_>) {
    let scripted = config.model == SCRIPTED;
    // Without the person's settings, a name that is near no provider's may be a connection.
    let known = match site.models() {
        _ if scripted => Ok(()),
        Some(models) => models.knows(&config.model),
        None => match models::provider_of(&config.model) {
            Err(ModelError::UnknownProvider { hint, .. })
                if hint.is_empty()
                    && config.model.split("::").all(|part| !part.is_empty())
                    && config.model.contains("::") =>
            {
                Ok(())
            }
            other => other.map(drop),
        },
    };
    if let Err(error) = known {
        let remedy = error
            .remedy()
            .unwrap_or(text!("Correct the model, or the model settings."));
        site.error("unknown-model", "/model", error.message(), remedy);
    } else if !scripted && site.recording(config.recording) != Recording::Replay {
        site.reaches_model(&config.model);
    }
}

/// Checks what is sent: pictures, texts and messages, of which a model needs one; and where its usage is written.
fn check_question(config: &ModelConfig, site: &mut Site<'_>) {
    for (index, image) in config.images.iter().enumerate() {
        site.template(&format!("/images/{index}"), image);
    }
    if let Some(key) = &config.usage_into
        && let Some(known) = site.write("/usage_into", key)
        && let ty = &known.schema["type"]
        && !ty.is_null()
        && ty != "object"
        && ty != "array"
    {
        let message = text!(
            "State key `{key}` takes {ty}, but the usage is an object.",
            key,
            ty = ty.to_string()
        );
        let remedy = text!("Choose a key of type object, or a list with the reducer append.");
        site.error("usage-type", "/usage_into", message, remedy);
    }
    for (pointer, text) in [("/system", &config.system), ("/prompt", &config.prompt)] {
        if let Some(text) = text {
            site.template(pointer, text);
        }
    }
    if let Some(key) = &config.messages {
        site.read("/messages", key);
        let ty = site.keys.get(key).and_then(|key| key.schema.get("type"));
        if ty.is_some_and(|ty| ty != "array") {
            let message = text!("State key `{key}` is no list of messages.", key);
            site.error(
                "messages-type",
                "/messages",
                message,
                text!("Choose a key of type array."),
            );
        }
    }
    let prompt = config.prompt.as_ref();
    let asks = prompt.is_some_and(|prompt| !prompt.trim().is_empty())
        || config.messages.is_some()
        || !config.images.is_empty();
    if config.model != SCRIPTED && !asks {
        let remedy = text!("Write a prompt, or choose a state key with messages.");
        site.error(
            "nothing-to-ask",
            "/prompt",
            text!("The node asks nothing."),
            remedy,
        );
    }
}

fn check_tools(config: &ModelConfig, site: &mut Site<'_>, into: Option<&Key>) {
    let mut tools = config.tools.clone();
    tools::check_specs(site, "/tools", &config.tools);
    if let Some(node) = &config.tools_of {
        match tools::of_node(site.nodes, node) {
            Ok(offer) => tools.extend(offer.specs),
            Err(problem) => site.error(
                "unknown-tools",
                "/tools_of",
                problem,
                text!("Choose a node of kind tools."),
            ),
        }
    }
    for (index, resource) in config.resources.iter().enumerate() {
        site.reaches_server(&format!("/resources/{index}/server"), &resource.server);
        site.template(&format!("/resources/{index}/uri"), &resource.uri);
    }
    let called = tools.iter().map(|tool| tool.name.as_str());
    if let Some(twice) = tools::twice(called) {
        let message = text!("The model is given two tools `{twice}`.", twice);
        site.error(
            "same-tool",
            "/tools",
            message,
            text!("Give each tool a name of its own."),
        );
    }
    let calls = config.script.iter().any(|line| !line.calls.is_empty());
    if (calls || !tools.is_empty()) && into.is_some() && !takes_messages(into) {
        let message = text!(
            "Calls of tools are part of a message, and state key `{into}` takes none.",
            into = &config.into
        );
        let remedy = text!("Choose a key with the reducer add_messages.");
        site.error("tools-into", "/into", message, remedy);
    }
}

/// Checks the answer's schema, or that the key takes text.
fn check_answer(config: &ModelConfig, site: &mut Site<'_>, into: Option<&Key>) {
    let messages = takes_messages(into);
    if let Some(schema) = &config.output {
        site.schema("/output", schema);
        if messages {
            let message = text!(
                "State key `{into}` takes messages, not JSON.",
                into = &config.into
            );
            let remedy = text!("Choose another key, or remove the output schema.");
            site.error("output-into-messages", "/output", message, remedy);
        }
        return;
    }
    let Some(key) = into.filter(|_| !messages) else {
        return;
    };
    let Some(ty) = key.schema.get("type") else { return };
    let several = ty.as_array();
    let text_fits = ty == "string" || several.is_some_and(|types| types.contains(&json!("string")));
    if !text_fits && !matches!(key.reducer, Reducer::Append | Reducer::Union) {
        let message = text!(
            "State key `{into}` takes {ty}, but the answer is text.",
            into = &config.into,
            ty = ty.to_string()
        );
        let remedy = text!("Choose a key of type string, or give an output schema.");
        site.error("into-type", "/into", message, remedy);
    }
}

fn check_script(config: &ModelConfig, site: &mut Site<'_>) {
    if config.model == SCRIPTED && config.script.is_empty() {
        site.error(
            "empty-script",
            "/script",
            text!("The scripted model has nothing to say."),
            text!("Add a line to the script, or choose a real model."),
        );
    }
    for (index, line) in config.script.iter().enumerate() {
        match &line.when {
            Some(when) => site.expression(&format!("/script/{index}/when"), when, None),
            None if index + 1 < config.script.len() => site.warning(
                "unreachable-line",
                &format!("/script/{}", index + 1),
                text!("This line is never said: the one before it has no condition."),
                text!("Give the earlier line a `when`, or move it to the end."),
            ),
            None => {}
        }
        site.template(&format!("/script/{index}/say"), &line.say);
        check_calls(site, index, line);
    }
}

fn check_calls(site: &mut Site<'_>, index: usize, line: &ScriptLineConfig) {
    for (place, call) in line.calls.iter().enumerate() {
        let at = format!("/script/{index}/calls/{place}");
        site.filled(&format!("{at}/tool"), &call.tool);
        for (name, arg) in &call.args {
            if let Json::String(source) = arg {
                let name = superstep_document::escape_pointer(name);
                site.expression(&format!("{at}/args/{name}"), source, None);
            }
        }
    }
}
