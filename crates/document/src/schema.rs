//! The JSON Schema of graph files, for editors and other programs. `docs/graph.schema.json` is its committed form; a
//! test fails when the two differ.
//!
//! The schema says what a well-formed file looks like. What only makes sense in context (names that must exist, labels,
//! loops) is the business of `validate`.

use serde_json::{Value as Json, json};

use crate::policy::Effect;
use crate::view::{ChannelKind, ContextSet, Reducer};
use crate::{DEFAULT_RECURSION_LIMIT, END, FORMAT, MAX_RECURSION_LIMIT, START};

/// Returns the schema of a graph file.
#[expect(clippy::too_many_lines, reason = "a table")]
pub fn json_schema() -> Json {
    let reducers: Vec<&str> = Reducer::ALL.map(Reducer::as_str).to_vec();
    let channels: Vec<&str> = ChannelKind::ALL.map(ChannelKind::as_str).to_vec();
    let node_name = "^(?!__)[^:|]+$";
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Superstep graph",
        "description": "A stateful graph: nodes that read and update a shared state, and the edges between them.",
        "type": "object",
        "required": ["format"],
        "properties": {
            "format": { "const": FORMAT, "description": "The format of the file." },
            "name": { "type": "string", "description": "Name for people." },
            "description": { "type": "string", "description": "What the graph is for." },
            "state": {
                "type": "object",
                "description": "The keys of the state.",
                "propertyNames": { "pattern": "^(?!__).+$" },
                "additionalProperties": { "$ref": "#/$defs/key" }
            },
            "input": { "$ref": "#/$defs/keys", "description": "Keys that an input may set; all when absent." },
            "output": { "$ref": "#/$defs/keys", "description": "Keys that a run returns; all when absent." },
            "context": {
                "type": "object",
                "description": "The run context: fields that a run is given beside its input, and that no node writes.",
                "additionalProperties": {
                    "description": "A JSON Schema of the value; without a default the field is required.",
                    "allOf": [{ "$ref": "https://json-schema.org/draft/2020-12/schema" }],
                    "type": "object"
                }
            },
            "nodes": {
                "type": "object",
                "description": "The nodes by id.",
                "propertyNames": { "pattern": node_name },
                "additionalProperties": { "$ref": "#/$defs/node" }
            },
            "edges": { "type": "array", "description": "The edges.", "items": { "$ref": "#/$defs/edge" } },
            "layout": {
                "type": "object",
                "description": "Canvas position by node id, and of __start__ and __end__. Means nothing for a run.",
                "additionalProperties": {
                    "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2
                }
            },
            "examples": {
                "type": "array",
                "description": "Named sample inputs.",
                "items": {
                    "type": "object",
                    "required": ["input"],
                    "properties": { "name": { "type": "string" }, "input": { "type": "object" } }
                }
            },
            "context_sets": {
                "type": "array",
                "maxItems": ContextSet::MAX_SETS,
                "description": "Values of the run context under names, for the run form. A run is given one by its name.",
                "items": {
                    "type": "object",
                    "required": ["name", "values"],
                    "properties": {
                        "name": { "type": "string", "minLength": 1, "maxLength": ContextSet::MAX_NAME },
                        "values": { "type": "object", "description": "Fields of `context`." }
                    }
                }
            },
            "recursion_limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_RECURSION_LIMIT,
                "default": DEFAULT_RECURSION_LIMIT,
                "description": "Super-steps after which a run is stopped as endless."
            },
            "limits": crate::limits::schema(),
            "summary": {
                "type": "string",
                "description": "A template: what a finished run did, in Markdown, for people who read it."
            },
            "invariants": { "$ref": "#/$defs/invariants" }
        },
        "$defs": {
            "invariants": crate::invariant::schema(),
            "keys": { "type": "array", "items": { "type": "string" }, "uniqueItems": true },
            "key": {
                "description": "A JSON Schema of the value, and how updates are joined.",
                "allOf": [{ "$ref": "https://json-schema.org/draft/2020-12/schema" }],
                "type": "object",
                "properties": {
                    "reducer": { "enum": reducers, "default": Reducer::default().as_str() },
                    "channel": {
                        "enum": channels,
                        "description": "How long a value lasts that is not kept: `ephemeral`, `any` and `topic` \
                            are gone after the next step, `untracked` lasts as long as the run and is never stored."
                    },
                    "default": { "description": "Value before the first write." },
                    "invariants": { "$ref": "#/$defs/invariants" }
                }
            },
            "node": node(),
            "seconds": { "type": "number", "exclusiveMinimum": 0, "maximum": 1e10 },
            "retry": {
                "type": "object",
                "properties": {
                    "attempts": { "type": "integer", "minimum": 1, "default": 3, "description": "In all." },
                    "initial_interval": { "type": "number", "minimum": 0, "default": 0.5 },
                    "backoff_factor": { "type": "number", "minimum": 1, "default": 2 },
                    "max_interval": { "type": "number", "minimum": 0, "default": 128 },
                    "jitter": { "type": "boolean", "default": true },
                    "retry_on": {
                        "type": "array", "items": { "type": "string" }, "minItems": 1,
                        "description": "Error classes."
                    }
                },
                "additionalProperties": false
            },
            "source": { "type": "string", "not": { "const": END }, "description": "A node, or __start__." },
            "target": { "type": "string", "not": { "const": START }, "description": "A node, or __end__." },
            "expression": { "type": "string", "minLength": 1, "description": "A Jinja expression without {{ }}." },
            "edge": edge()
        }
    })
}

/// Returns the schema of a node.
#[expect(clippy::too_many_lines, reason = "a table")]
fn node() -> Json {
    json!({
        "type": "object",
        "required": ["kind"],
        "properties": {
            "kind": { "type": "string", "description": "What the node does." },
            "config": { "type": "object", "description": "Depends on the kind." },
            "title": { "type": "string" },
            "description": { "type": "string" },
            "retry": {
                "description": "Failures are tried again: a number of attempts, a policy, or several, of which \
                    the first that wants a failure decides.",
                "oneOf": [
                    { "type": "integer", "minimum": 1 },
                    { "$ref": "#/$defs/retry" },
                    { "type": "array", "items": { "$ref": "#/$defs/retry" } }
                ]
            },
            "timeout": {
                "description": "Seconds that an attempt may take.",
                "oneOf": [
                    { "$ref": "#/$defs/seconds" },
                    {
                        "type": "object",
                        "anyOf": [{ "required": ["run"] }, { "required": ["idle"] }],
                        "properties": {
                            "run": { "$ref": "#/$defs/seconds", "description": "As a whole." },
                            "idle": { "$ref": "#/$defs/seconds", "description": "Since the last sign of life." },
                            "refresh_on": { "enum": ["auto", "heartbeat"], "default": "auto" }
                        },
                        "additionalProperties": false
                    }
                ]
            },
            "cache": {
                "description": "Results are used again for the same input.",
                "oneOf": [
                    { "type": "boolean" },
                    {
                        "type": "object",
                        "properties": {
                            "ttl": { "$ref": "#/$defs/seconds", "description": "Seconds until a result is old." },
                            "key": { "$ref": "#/$defs/expression" }
                        },
                        "additionalProperties": false
                    }
                ]
            },
            "concurrency": {
                "type": "integer", "minimum": 1, "maximum": u32::MAX,
                "description": "Tasks of the node that work at once, over all runs of the graph; the others wait."
            },
            "max_visits": {
                "type": "integer", "minimum": 1, "maximum": u32::MAX,
                "description": "Super-steps after an input in which the node may have work, over all runs of the thread: a bound for the loops that it is part of."
            },
            "disabled": {
                "description": "The node does nothing and writes nothing; its plain edges are taken.",
                "oneOf": [
                    { "type": "boolean" },
                    {
                        "type": "object",
                        "properties": {
                            "way": {
                                "$ref": "#/$defs/target",
                                "description": "Where a run goes on from a node that routes."
                            }
                        },
                        "additionalProperties": false
                    }
                ]
            },
            "summary": {
                "type": "string",
                "description": "A template: what a task of the node did, in Markdown, for people who read the run."
            },
            "invariants": { "$ref": "#/$defs/invariants" },
            "effect": {
                "enum": Effect::ALL.map(Effect::as_str),
                "description": "What running the node does to the world."
            },
            "defer": { "type": "boolean", "default": false, "description": "Runs when nothing else is left." },
            "fallback": {
                "description": "What happens when the last attempt has failed.",
                "oneOf": [
                    {
                        "title": "The node's update is this",
                        "required": ["value"],
                        "properties": { "value": { "type": "object" } },
                        "additionalProperties": false
                    },
                    {
                        "title": "Another node does the work",
                        "required": ["node"],
                        "properties": { "node": { "type": "string", "minLength": 1 } },
                        "additionalProperties": false
                    },
                    {
                        "title": "The run goes on elsewhere",
                        "required": ["to"],
                        "properties": {
                            "to": { "$ref": "#/$defs/target" },
                            "into": { "type": "string", "description": "State key that the error is written to." }
                        },
                        "additionalProperties": false
                    }
                ]
            }
        }
    })
}

/// Returns the schema of an edge.
#[expect(clippy::too_many_lines, reason = "a table")]
fn edge() -> Json {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "minLength": 1 },
            "invariants": { "$ref": "#/$defs/invariants" }
        },
        "oneOf": [
            {
                "title": "Always followed",
                "required": ["from", "to"],
                "properties": {
                    "from": { "$ref": "#/$defs/source" },
                    "to": { "$ref": "#/$defs/target" },
                    "when": false, "route": false, "each": false, "limit": false
                }
            },
            {
                "title": "Waiting join",
                "required": ["from", "to"],
                "properties": {
                    "from": {
                        "type": "array",
                        "items": { "type": "string", "not": { "enum": [START, END] } },
                        "minItems": 2,
                        "uniqueItems": true
                    },
                    "to": { "$ref": "#/$defs/target" },
                    "when": false, "route": false, "each": false, "limit": false
                }
            },
            {
                "title": "Followed when the expression is true",
                "required": ["from", "to", "when"],
                "properties": {
                    "from": { "$ref": "#/$defs/source" },
                    "to": { "$ref": "#/$defs/target" },
                    "when": { "$ref": "#/$defs/expression" },
                    "route": false, "each": false, "limit": false
                }
            },
            {
                "title": "Route: the expression gives a label or a list of labels",
                "required": ["from", "route", "paths"],
                "properties": {
                    "from": { "$ref": "#/$defs/source" },
                    "route": { "$ref": "#/$defs/expression" },
                    "paths": {
                        "type": "object",
                        "minProperties": 1,
                        "additionalProperties": { "$ref": "#/$defs/target" }
                    },
                    "default": { "$ref": "#/$defs/target" },
                    "to": false, "when": false, "each": false, "limit": false
                }
            },
            {
                "title": "Send: one task of the target per item",
                "required": ["from", "each", "as", "to"],
                "properties": {
                    "from": { "$ref": "#/$defs/source" },
                    "each": { "$ref": "#/$defs/expression" },
                    "as": { "type": "string", "minLength": 1, "description": "Key of the item." },
                    "to": { "type": "string", "not": { "enum": [START, END] } },
                    "with": {
                        "type": "object",
                        "description": "More keys of the task's input.",
                        "additionalProperties": { "$ref": "#/$defs/expression" }
                    },
                    "when": false, "route": false, "limit": false
                }
            },
            {
                "title": "Taken instead of the node when its max_visits is reached",
                "required": ["from", "to", "limit"],
                "properties": {
                    "from": { "type": "string", "not": { "enum": [START, END] } },
                    "to": { "$ref": "#/$defs/target" },
                    "limit": { "const": true },
                    "when": false, "route": false, "each": false
                }
            }
        ]
    })
}

/// Returns the text of the schema as it is committed.
pub fn schema_text() -> String {
    let mut text = serde_json::to_string_pretty(&json_schema()).unwrap_or_default();
    text.push('\n');
    text
}
