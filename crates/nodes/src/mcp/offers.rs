//! What servers offer, read from their lists one by one: an entry that cannot be used does not hide the others.

use std::time::Duration;

use serde_json::{Map, Value as Json};

use super::reading::kind_of;

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerTool {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// The server says whether it changes nothing.
    pub(crate) reads_only: Option<bool>,
    pub(crate) input_schema: Map<String, Json>,
    /// Schema that its structured answer promises to fit.
    pub(crate) output_schema: Option<Json>,
}

/// An entry of a list that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OddEntry {
    /// Its name, or its place in the list.
    pub(crate) name: String,
    /// Which part of it is wrong, and how.
    pub(crate) cause: String,
}

/// A resource, or the form of the addresses of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerResource {
    pub(crate) address: String,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) mime_type: Option<String>,
}

/// Everything of one sort that a server lists.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerList<T> {
    pub(crate) entries: Vec<T>,
    pub(crate) odd: Vec<OddEntry>,
    /// It could not be read to its end.
    pub(super) is_cut: bool,
    /// How long it may be used without asking again, if the server says so.
    pub(super) fresh_for: Option<Duration>,
}

impl<T> Default for ServerList<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            odd: Vec::new(),
            is_cut: false,
            fresh_for: None,
        }
    }
}

/// Some entries of a list, and where there are more.
pub(super) struct ListPage<T> {
    pub(super) entries: Vec<T>,
    pub(super) odd: Vec<OddEntry>,
    pub(super) next: Option<String>,
    pub(super) fresh_for: Option<Duration>,
}

/// Reads a page whose entries are in `field`.
pub(super) fn page<T>(
    result: &Json,
    field: &str,
    read: impl Fn(&Json, usize) -> Result<T, OddEntry>,
) -> Result<ListPage<T>, String> {
    let entries = match result.get(field) {
        Some(Json::Array(entries)) => entries,
        None | Some(Json::Null) => return Err(format!("its list has no `{field}`")),
        Some(other) => return Err(format!("`{field}` of its list is {}", kind_of(other))),
    };
    let next = result.get("nextCursor").and_then(Json::as_str);
    let mut page = ListPage {
        entries: Vec::new(),
        odd: Vec::new(),
        next: next.filter(|cursor| !cursor.is_empty()).map(str::to_owned),
        fresh_for: result
            .get("ttlMs")
            .and_then(Json::as_u64)
            .map(Duration::from_millis),
    };
    for (index, entry) in entries.iter().enumerate() {
        match read(entry, index) {
            Ok(read) => page.entries.push(read),
            Err(odd) => page.odd.push(odd),
        }
    }
    Ok(page)
}

/// Reads a tool. Its name and its arguments are needed; all else that is not as it should be is left out.
pub(super) fn tool(entry: &Json, index: usize) -> Result<ServerTool, OddEntry> {
    let name = name_of(entry, "name", index)?;
    let odd = |cause: String| OddEntry {
        name: name.clone(),
        cause,
    };
    let input_schema = match entry.get("inputSchema") {
        Some(Json::Object(schema)) => schema.clone(),
        None | Some(Json::Null) => return Err(odd("it has no `inputSchema`".to_owned())),
        Some(other) => return Err(odd(format!("its `inputSchema` is {}", kind_of(other)))),
    };
    let hints = entry.get("annotations");
    Ok(ServerTool {
        description: text(entry, "description"),
        reads_only: hints
            .and_then(|hints| hints.get("readOnlyHint"))
            .and_then(Json::as_bool),
        input_schema,
        output_schema: entry
            .get("outputSchema")
            .filter(|schema| schema.is_object())
            .cloned(),
        name,
    })
}

/// Reads a resource.
pub(super) fn resource(entry: &Json, index: usize) -> Result<ServerResource, OddEntry> {
    resource_at(entry, "uri", index)
}

/// Reads a form of addresses.
pub(super) fn template(entry: &Json, index: usize) -> Result<ServerResource, OddEntry> {
    resource_at(entry, "uriTemplate", index)
}

fn resource_at(entry: &Json, field: &str, index: usize) -> Result<ServerResource, OddEntry> {
    Ok(ServerResource {
        address: name_of(entry, field, index)?,
        name: text(entry, "name"),
        description: text(entry, "description"),
        mime_type: text(entry, "mimeType"),
    })
}

fn text(entry: &Json, field: &str) -> Option<String> {
    entry.get(field).and_then(Json::as_str).map(str::to_owned)
}

fn name_of(entry: &Json, field: &str, index: usize) -> Result<String, OddEntry> {
    let cause = match entry.get(field) {
        _ if !entry.is_object() => format!("it is {}", kind_of(entry)),
        Some(Json::String(name)) if !name.trim().is_empty() => return Ok(name.clone()),
        Some(Json::String(_)) => format!("its `{field}` is empty"),
        None | Some(Json::Null) => format!("it has no `{field}`"),
        Some(other) => format!("its `{field}` is {}", kind_of(other)),
    };
    let named = text(entry, "name").or_else(|| text(entry, "title"));
    Err(OddEntry {
        name: named
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| format!("number {}", index + 1)),
        cause,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn one_odd_entry_does_not_hide_the_others() {
        let schema = json!({"type": "object"});
        let result = json!({"nextCursor": "", "ttlMs": -3, "tools": [
            {"name": "bare"}, {"name": "null", "inputSchema": null}, {"name": "flat", "inputSchema": true},
            {"inputSchema": schema}, {"name": 7, "title": "Seven", "inputSchema": schema}, "text", {"name": " ", "inputSchema": {}},
            {"name": "plain", "inputSchema": schema},
            {"name": "odd", "inputSchema": schema, "description": 3, "outputSchema": [], "annotations": "none", "icons": 1, "execution": {"x": []}},
            {"name": "reads", "inputSchema": schema, "annotations": {"readOnlyHint": true, "audience": ["system"], "title": 1}},
            {"name": "perhaps", "inputSchema": schema, "annotations": {"readOnlyHint": "true"}},
        ]});
        let page = page(&result, "tools", tool).unwrap();
        assert_eq!((page.next, page.fresh_for), (None, None));
        let odd: Vec<(&str, &str)> = page.odd.iter().map(|odd| (&*odd.name, &*odd.cause)).collect();
        assert_eq!(
            odd,
            [
                ("bare", "it has no `inputSchema`"),
                ("null", "it has no `inputSchema`"),
                ("flat", "its `inputSchema` is true or false"),
                ("number 4", "it has no `name`"),
                ("Seven", "its `name` is a number"),
                ("number 6", "it is a text"),
                ("number 7", "its `name` is empty"),
            ]
        );
        let usable: Vec<(&str, Option<bool>)> = page
            .entries
            .iter()
            .map(|tool| (&*tool.name, tool.reads_only))
            .collect();
        assert_eq!(
            usable,
            [
                ("plain", None),
                ("odd", None),
                ("reads", Some(true)),
                ("perhaps", None)
            ]
        );
        assert_eq!(
            (&page.entries[1].description, &page.entries[1].output_schema),
            (&None, &None)
        );
        for (list, cause) in [
            (json!({}), "its list has no `tools`"),
            (json!({"tools": {"a": 1}}), "`tools` of its list is an object"),
            (json!([]), "its list has no `tools`"),
        ] {
            assert_eq!(super::page(&list, "tools", tool).err().as_deref(), Some(cause));
        }
    }
}
