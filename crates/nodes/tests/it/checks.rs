//! What the registry says about documents that are not right.

use serde_json::{Value as Json, json};
use superstep_document::{Diagnostic, Document, Severity};
use superstep_nodes::{Environment, Registry};

use crate::support::{document, one_node};

fn check(graph: &Json) -> Vec<Diagnostic> {
    Registry::standard().check(&document(graph))
}

/// `(code, severity, record, pointer)` of the only problem.
#[track_caller]
fn only(kind: &str, config: Json) -> Diagnostic {
    let state = json!({
        "text": {"type": "string"}, "count": {"type": "integer"}, "list": {"type": "array"},
        "messages": {"type": "array", "reducer": "add_messages"}
    });
    let problems = check(&one_node(state, kind, config.clone()));
    assert_eq!(problems.len(), 1, "{kind} {config}: {problems:#?}");
    assert!(
        !problems[0].message.is_empty() && !problems[0].remedy.is_empty(),
        "{problems:?}"
    );
    problems[0].clone()
}

#[test]
fn one_broken_setting_does_not_hide_the_others() {
    let node = json!({"url": "{{ state.nope }}", "method": "FETCH", "into": "missing", "timeout_s": "soon"});
    let document = json!({
        "format": "superstep/1",
        "state": {"text": {"type": "string"}},
        "nodes": {"get": {"kind": "http", "config": node}},
        "edges": [{"from": "__start__", "to": "get"}]
    });
    let (document, _) = Document::parse(&document.to_string());
    let problems = Registry::standard().check(&document);
    let found: Vec<(&str, &str)> = problems
        .iter()
        .map(|problem| (problem.code, problem.pointer.as_deref().unwrap_or_default()))
        .collect();
    for wanted in [
        ("bad-setting", "/config/method"),
        ("bad-setting", "/config/timeout_s"),
        ("unknown-key", "/config/into"),
        ("unknown-key", "/config/url"),
    ] {
        assert!(found.contains(&wanted), "{wanted:?} is not in {found:?}");
    }
    for (pointer, remedy) in [
        (
            "/config/method",
            r#"Write one of "GET", "POST", "PUT", "PATCH", "DELETE"."#,
        ),
        ("/config/timeout_s", "Write a whole number there."),
    ] {
        let problem = problems
            .iter()
            .find(|problem| problem.pointer.as_deref() == Some(pointer));
        assert_eq!(problem.unwrap().remedy, remedy);
    }
}

#[test]
fn messages_name_the_setting() {
    for (kind, config, words) in [
        (
            "assign",
            json!({"set": {"text": "state.text|uper"}}),
            "`set.text` uses the filter `uper`",
        ),
        (
            "assign",
            json!({"set": {"text": "hello"}}),
            "`set.text` uses `hello`",
        ),
        ("assign", json!({"set": {"text": "state.text +"}}), "`set.text`"),
        (
            "ask",
            json!({"question": " ", "into": "text"}),
            "`question` is empty.",
        ),
        (
            "ask",
            json!({"question": "?", "into": ""}),
            "`into` names no state key.",
        ),
        (
            "ask",
            json!({"question": "?", "into": "text", "answer": {"type": 1}}),
            "`answer` is no JSON Schema",
        ),
    ] {
        let message = only(kind, config).message;
        assert!(
            message.starts_with(words),
            "{words:?} is not the beginning of {message:?}"
        );
    }
}

#[test]
fn every_problem_has_its_place() {
    let model = |extra: Json| {
        let mut config = json!({"model": "scripted", "into": "text", "script": [{"say": "x"}]});
        config
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        config
    };
    let ask = |extra: Json| {
        let mut config = json!({"question": "?", "into": "text"});
        config
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        config
    };
    let error = Severity::Error;
    let warning = Severity::Warning;
    for (kind, config, code, severity, pointer) in [
        ("assign", json!({}), "missing-setting", error, "/config/set"),
        ("assign", json!({"set": 1}), "bad-setting", error, "/config/set"),
        (
            "assign",
            json!({"set": {}}),
            "empty-setting",
            warning,
            "/config/set",
        ),
        (
            "assign",
            json!({"set": {"txt": "1"}}),
            "unknown-key",
            error,
            "/config/set/txt",
        ),
        (
            "assign",
            json!({"set": {"text": "state.cuont"}}),
            "unknown-key",
            warning,
            "/config/set/text",
        ),
        (
            "assign",
            json!({"set": {"text": "state.text +"}}),
            "expression-syntax",
            error,
            "/config/set/text",
        ),
        (
            "assign",
            json!({"set": {"text": "hello"}}),
            "unknown-name",
            warning,
            "/config/set/text",
        ),
        (
            "assign",
            json!({"set": {"text": "state.text|uper"}}),
            "unknown-filter",
            error,
            "/config/set/text",
        ),
        (
            "assign",
            json!({"set": {"text": "1"}, "sett": 1}),
            "unknown-setting",
            warning,
            "/config/sett",
        ),
        ("code", json!({}), "missing-setting", error, "/config/source"),
        (
            "code",
            json!({"source": "return {"}),
            "code-syntax",
            error,
            "/config/source",
        ),
        (
            "code",
            json!({"source": "return {};", "timeout_ms": 0}),
            "bad-setting",
            error,
            "/config/timeout_ms",
        ),
        (
            "model",
            model(json!({"model": "opnai::x", "prompt": "x"})),
            "unknown-model",
            error,
            "/config/model",
        ),
        (
            "model",
            model(json!({"model": "openai::x"})),
            "nothing-to-ask",
            error,
            "/config/prompt",
        ),
        (
            "model",
            model(json!({"into": "tex"})),
            "unknown-key",
            error,
            "/config/into",
        ),
        (
            "model",
            model(json!({"into": "count"})),
            "into-type",
            error,
            "/config/into",
        ),
        (
            "model",
            model(json!({"into": "messages", "output": {}})),
            "output-into-messages",
            error,
            "/config/output",
        ),
        (
            "model",
            model(json!({"output": {"type": "nothing"}})),
            "bad-schema",
            error,
            "/config/output",
        ),
        (
            "model",
            model(json!({"prompt": "{% if %}"})),
            "expression-syntax",
            error,
            "/config/prompt",
        ),
        (
            "model",
            model(json!({"messages": "count"})),
            "messages-type",
            error,
            "/config/messages",
        ),
        (
            "model",
            model(json!({"script": []})),
            "empty-script",
            error,
            "/config/script",
        ),
        (
            "model",
            model(json!({"script": [{"say": "a"}, {"say": "b"}]})),
            "unreachable-line",
            warning,
            "/config/script/1",
        ),
        (
            "model",
            model(json!({"script": [{"when": "state.x ==", "say": "a"}]})),
            "expression-syntax",
            error,
            "/config/script/0/when",
        ),
        (
            "model",
            model(json!({"temperature": 9})),
            "bad-setting",
            error,
            "/config/temperature",
        ),
        (
            "ask",
            ask(json!({"question": " "})),
            "empty-setting",
            error,
            "/config/question",
        ),
        (
            "ask",
            ask(json!({"context": ["texd"]})),
            "unknown-key",
            warning,
            "/config/context/0",
        ),
        (
            "ask",
            ask(json!({"answer": {"type": 1}})),
            "bad-schema",
            error,
            "/config/answer",
        ),
        (
            "ask",
            ask(json!({"answer": {"type": "integer"}, "choices": [{"label": "One", "value": "1"}]})),
            "choice-not-valid",
            error,
            "/config/choices/0/value",
        ),
        (
            "ask",
            ask(json!({"choices": [{"label": "One"}]})),
            "missing-setting",
            error,
            "/config/choices/0/value",
        ),
        (
            "retrieve",
            json!({"folder": "d", "query": "state.text", "into": "text"}),
            "into-type",
            error,
            "/config/into",
        ),
        (
            "retrieve",
            json!({"folder": "", "query": "state.text", "into": "list"}),
            "empty-setting",
            error,
            "/config/folder",
        ),
        (
            "retrieve",
            json!({"folder": "d", "query": "state.text", "into": "list", "limit": 0}),
            "bad-setting",
            error,
            "/config/limit",
        ),
        ("modell", json!({}), "unknown-kind", error, "/kind"),
    ] {
        let problem = only(kind, config.clone());
        assert_eq!(
            (
                problem.code,
                problem.severity,
                problem.record.as_str(),
                problem.pointer.as_deref()
            ),
            (code, severity, "node:n", Some(pointer)),
            "{kind} {config}: {problem}"
        );
    }
}

#[test]
fn an_empty_expression_of_an_edge_is_one_problem() {
    for form in ["when", "route", "each"] {
        let mut edge = json!({"from": "set", "to": "__end__", "as": "item"});
        if form == "route" {
            edge = json!({"from": "set", "paths": {"a": "__end__"}});
        }
        edge[form] = json!(" ");
        let graph = json!({
            "format": "superstep/1", "state": {"text": {"type": "string"}},
            "nodes": {"set": {"kind": "assign", "config": {"set": {"text": "'a'"}}}},
            "edges": [{"from": "__start__", "to": "set"}, edge]
        });
        let (document, _) = Document::parse(&graph.to_string());
        let pointer = format!("/{form}");
        let found: Vec<&str> = document
            .validate()
            .iter()
            .chain(&Registry::standard().check(&document))
            .filter(|problem| problem.pointer.as_ref() == Some(&pointer))
            .map(|problem| problem.code)
            .collect();
        assert_eq!(found, ["empty-expression"], "{form}");
    }
}

#[test]
fn a_blank_key_is_no_key_of_that_name() {
    for (field, key) in [("into", " "), ("edit", "")] {
        let mut config = json!({"question": "Pay?", "into": "text"});
        config[field] = json!(key);
        let problem = only("ask", config);
        assert_eq!(problem.code, "unknown-key");
        assert!(
            problem.message.ends_with("names no state key."),
            "{}",
            problem.message
        );
    }
}

#[test]
fn names_nearby_are_suggested() {
    assert!(
        only("assign", json!({"set": {"text": "state.cuont ~ ''"}}))
            .message
            .contains("Did you mean `count`?")
    );
    assert!(
        only("asign", json!({}))
            .message
            .contains("Did you mean `assign`?")
    );
    assert!(
        only("assign", json!({"set": {"text": "count"}}))
            .remedy
            .contains("`state.count`")
    );
}

#[test]
fn all_problems_are_reported_at_once() {
    let graph = json!({
        "format": "superstep/1", "name": "g", "state": {"a": {"type": "strng"}},
        "nodes": {
            "x": {"kind": "assign", "config": {"set": {"b": "state.c +"}}},
            "y": {"kind": "what", "config": {}}
        },
        "edges": [
            {"from": "__start__", "to": "x"}, {"from": "x", "to": "y", "when": "state.zz"},
            {"from": "y", "route": "'", "paths": {"l": "__end__"}}
        ],
    });
    let found: Vec<(&str, String)> = check(&graph).into_iter().map(|p| (p.code, p.record)).collect();
    for expected in [
        ("bad-schema", "key:a"),
        ("unknown-key", "node:x"),
        ("expression-syntax", "node:x"),
        ("unknown-kind", "node:y"),
        ("unknown-key", "edge:x->y"),
        ("expression-syntax", "edge:y->?"),
    ] {
        assert!(
            found.contains(&(expected.0, expected.1.to_owned())),
            "{expected:?} in {found:?}"
        );
    }
    let built = Registry::standard().build(&document(&graph), &Environment::default());
    assert!(built.unwrap_err().len() >= 4, "building says all of them as well");
}

#[test]
fn targets_of_each_know_their_packet_only() {
    let graph = |with: Json, say: &str| {
        json!({
            "format": "superstep/1", "name": "g",
            "state": {"items": {"type": "array"}, "q": {"type": "string"}, "out": {"type": "array", "reducer": "append"}},
            "nodes": {"w": {"kind": "assign", "config": {"set": {"out": say}}}},
            "edges": [{"from": "__start__", "each": "state.items", "as": "it", "to": "w", "with": with}, {"from": "w", "to": "__end__"}],
        })
    };
    assert_eq!(
        check(&graph(
            json!({"q": "state.q", "k": "it ~ 'x'"}),
            "[state.it, state.q, state.k]"
        )),
        []
    );
    let problems = check(&graph(json!({}), "[state.it, state.q]"));
    assert_eq!(
        (problems.len(), problems[0].code),
        (1, "unknown-key"),
        "{problems:?}"
    );
    assert!(problems[0].remedy.contains("with"), "{}", problems[0]);
    assert_eq!(
        check(&graph(json!({"k": "item"}), "[state.it]"))[0].code,
        "unknown-name"
    );
}

fn parallel(reducer: &str, edges: Json) -> Vec<Diagnostic> {
    check(&json!({
        "format": "superstep/1", "name": "g", "state": {"k": {"type": "array", "reducer": reducer}, "l": {"type": "array"}},
        "nodes": {
            "a": {"kind": "assign", "config": {"set": {"k": []}}}, "b": {"kind": "assign", "config": {"set": {"k": []}}},
            "m": {"kind": "assign", "config": {"set": {"l": []}}}
        },
        "edges": edges,
    }))
}

#[test]
fn parallel_writers_of_a_plain_key_are_warned_about() {
    let fan = json!([{"from": "__start__", "to": "a"}, {"from": "__start__", "to": "b"}, {"from": ["a", "b"], "to": "m"}]);
    let problems = parallel("overwrite", fan.clone());
    assert_eq!(
        (problems.len(), problems[0].code, problems[0].record.as_str()),
        (1, "parallel-writers", "node:b"),
        "{problems:?}"
    );
    assert_eq!(parallel("append", fan), [], "a reducer joins them");
    let chain = json!([{"from": "__start__", "to": "a"}, {"from": "a", "to": "b"}, {"from": "b", "to": "m"}]);
    assert_eq!(parallel("overwrite", chain), [], "one after the other");
    let later =
        json!([{"from": "__start__", "to": "m"}, {"from": "__start__", "to": "a"}, {"from": "m", "to": "b"}]);
    assert_eq!(parallel("overwrite", later), [], "not in the same step");
    let deep = json!([
        {"from": "__start__", "to": "m"}, {"from": "m", "to": "a"}, {"from": "m", "to": "b"}
    ]);
    assert_eq!(parallel("overwrite", deep).len(), 1);
    let each = json!([{"from": "__start__", "each": "state.l", "as": "i", "to": "a"}, {"from": "a", "to": "b"}, {"from": "b", "to": "m"}]);
    let problems = parallel("overwrite", each);
    assert_eq!(
        (problems.len(), problems[0].record.as_str()),
        (1, "node:a"),
        "{problems:?}"
    );
    let either = json!([{"from": "__start__", "route": "'x'", "paths": {"x": "a", "y": "b"}}, {"from": "a", "to": "m"}, {"from": "b", "to": "m"}]);
    assert_eq!(parallel("overwrite", either), [], "only one of them runs");
}

#[test]
fn parallel_writers_of_a_key_are_one_problem_however_many() {
    for (count, message) in [
        (
            3,
            "Nodes that run in the same step overwrite `k`: `n00`, `n01`, `n02`.",
        ),
        (
            30,
            "Nodes that run in the same step overwrite `k`: `n00`, `n01`, `n02` and 27 more.",
        ),
    ] {
        let names: Vec<String> = (0..count).map(|number| format!("n{number:02}")).collect();
        let node = json!({"kind": "assign", "config": {"set": {"k": 1, "l": 1}}});
        let nodes: serde_json::Map<String, Json> =
            names.iter().map(|name| (name.clone(), node.clone())).collect();
        let edge = |name: &String| json!({"from": "__start__", "to": name});
        let problems = check(&json!({
            "format": "superstep/1", "name": "g", "state": {"k": {"type": "integer"}, "l": {"type": "integer"}},
            "nodes": nodes, "edges": names.iter().map(edge).collect::<Vec<_>>(),
        }));
        let found: Vec<(&str, &str)> = (problems.iter())
            .map(|problem| (problem.record.as_str(), &*problem.message))
            .collect();
        let other = message.replace("`k`", "`l`");
        assert_eq!(found, [("node:n01", message), ("node:n01", &other)]);
    }
}

#[test]
fn a_folder_of_the_project_named_by_its_whole_path_needs_no_grant() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap();
    let (graph, docs) = (real.join("project/graph"), real.join("project/docs"));
    std::fs::create_dir_all(&graph).unwrap();
    std::fs::create_dir_all(&docs).unwrap();
    let environment = Environment::new(Some(graph)).in_project(real.join("project"));
    let wants = |folder: &std::path::Path| {
        let config = json!({"folder": folder, "query": "state.q", "into": "l"});
        let state = json!({"q": {"type": "string"}, "l": {"type": "array"}});
        Registry::standard().accesses(&document(&one_node(state, "retrieve", config)), &environment)
    };
    assert!(wants(&docs).is_empty());
    assert_eq!(wants(&real).len(), 1);
}

#[test]
fn folders_are_checked_when_the_graph_has_one() {
    let dir = tempfile::tempdir().unwrap();
    let graph = |folder: &str| {
        document(&one_node(
            json!({"q": {"type": "string"}, "l": {"type": "array"}}),
            "retrieve",
            json!({"folder": folder, "query": "state.q", "into": "l"}),
        ))
    };
    let environment = Environment::new(Some(dir.path().to_owned()));
    let registry = Registry::standard();
    let code = |folder: &str| {
        registry.check_in(&graph(folder), &environment).first().map(|p| {
            assert!(p.message.contains("folder"), "{p:?}");
            (p.code, p.severity)
        })
    };
    assert_eq!(code("docs"), Some(("missing-folder", Severity::Warning)));
    assert_eq!(code("../docs"), Some(("folder-outside", Severity::Error)));
    std::fs::create_dir(dir.path().join("docs")).unwrap();
    assert_eq!(code("docs"), None);
    assert_eq!(
        registry.check(&graph("nowhere")),
        [],
        "without a folder nothing is looked up"
    );
}

#[test]
fn usage_says_who_reads_and_writes_a_key() {
    let graph = document(&json!({
        "format": "superstep/1", "name": "g", "state": {"a": {}, "b": {}, "c": {}},
        "nodes": {
            "x": {"kind": "assign", "config": {"set": {"b": "state.a"}}},
            "y": {"kind": "code", "config": {"source": "const q = state.b;\nreturn { c: q, };"}}
        },
        "edges": [{"from": "__start__", "to": "x"}, {"from": "x", "to": "y", "when": "state.b"}, {"from": "y", "to": "__end__"}],
    }));
    let usage = serde_json::to_value(Registry::standard().usage(&graph)).unwrap();
    assert_eq!(
        usage,
        json!({
            "node:x": {"reads": ["a"], "writes": ["b"]}, "node:y": {"reads": ["b"], "writes": ["c"]},
            "edge:x->y": {"reads": ["b"], "writes": []}
        })
    );
}

#[test]
fn a_name_in_a_program_is_a_write_only_as_a_field_of_what_it_returns() {
    let graph = one_node(
        json!({"a": {}, "b": {}, "c": {}}),
        "code",
        json!({"source": "const at = {n: c};\nreturn {a: at.n ? b : 1};"}),
    );
    let usage = Registry::standard().usage(&document(&graph));
    let writes: Vec<&str> = usage["node:n"].writes.iter().map(AsRef::as_ref).collect();
    assert_eq!(writes, ["a"]);
}

#[test]
fn a_model_can_offer_tools_of_a_node_of_that_kind_only() {
    let graph = json!({
        "format": "superstep/1", "name": "g",
        "state": {"messages": {"type": "array", "reducer": "add_messages"}},
        "nodes": {
            "m": {"kind": "model", "config": {"model": "scripted::m", "messages": "messages", "into": "messages", "tools_of": "d"}},
            "d": {"kind": "delay", "config": {"seconds": 0}}
        },
        "edges": [{"from": "__start__", "to": "m"}, {"from": "m", "to": "d"}, {"from": "d", "to": "__end__"}],
    });
    let problems = check(&graph);
    let is_reported = problems
        .iter()
        .any(|problem| problem.message.contains("`d` is of kind delay, not tools"));
    assert!(is_reported, "{problems:#?}");
}

#[test]
fn kinds_describe_themselves() {
    const EDITORS: &[&str] = &[
        "expression",
        "template",
        "code",
        "state-key",
        "state-keys",
        "schema",
        "folder",
        "graph-file",
        "text",
        "choices",
        "assignments",
        "script",
        "node",
        "model",
        "mcp-server",
        "mcp-tools",
        "secret",
        "tool",
        "way",
    ];
    let kinds = Registry::standard().kinds();
    assert_eq!(
        kinds.iter().map(|kind| kind.kind).collect::<Vec<_>>(),
        [
            "assign", "router", "delay", "model", "tools", "agent", "memory", "code", "http", "map", "ask",
            "note", "retrieve", "store", "graph"
        ]
    );
    let mut bare = Vec::new();
    for kind in kinds {
        jsonschema::validator_for(&kind.config_schema).unwrap();
        without_title(&kind.config_schema, kind.kind, &mut bare);
        let properties = kind.config_schema["properties"].as_object().unwrap();
        for (name, property) in properties {
            assert!(
                property["title"].is_string() && property["description"].is_string(),
                "{} {name}: {property}",
                kind.kind
            );
            if let Some(editor) = property.get("x-editor") {
                assert!(EDITORS.contains(&editor.as_str().unwrap()), "{editor}");
            }
            assert!(
                !property.to_string().contains("$ref"),
                "forms read schemas without references: {property}"
            );
        }
        // A choice of words is a list of them, which forms show as a menu.
        if let Some(choice) = properties.get("tool_choice") {
            assert_eq!(choice["enum"], json!(["auto", "required", "none"]));
        }
        assert!(kind.card.len() <= 3);
        for pointer in kind.card {
            assert!(
                properties.contains_key(pointer.trim_start_matches('/')),
                "{} {pointer}",
                kind.kind
            );
        }
        for name in kind.defaults.as_object().unwrap().keys() {
            assert!(properties.contains_key(name), "{} {name}", kind.kind);
        }
        let missing: Vec<_> = kind.config_schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|name| kind.defaults.get(name.as_str().unwrap()).is_none())
            .collect();
        assert!(missing.is_empty(), "a new {} node lacks {missing:?}", kind.kind);
    }
    assert_eq!(bare, Vec::<String>::new(), "these fields have no title");
}

/// Fields of a form whose label would be the name in the file, however deep.
fn without_title(schema: &Json, path: &str, found: &mut Vec<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        // One value that is fixed is no field.
        if !property["title"].is_string() && property.get("const").is_none() {
            found.push(path.clone());
        }
        without_title(property, &path, found);
    }
    without_title_in(&schema["items"], path, found);
    without_title_in(&schema["additionalProperties"], path, found);
    for list in ["anyOf", "oneOf", "allOf"] {
        for one in schema[list].as_array().into_iter().flatten() {
            without_title(one, path, found);
        }
    }
}

fn without_title_in(schema: &Json, path: &str, found: &mut Vec<String>) {
    if schema.is_object() {
        without_title(schema, &format!("{path}[]"), found);
    }
}

/// What is reached by a `Command` only is no dead end: settings name it, an annotation does, and the engine is given it.
#[test]
fn nodes_that_programs_go_to_are_reached() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(
        project.path().join("plan.py"),
        "def plan(state) -> Command[Literal['look', \"__end__\"]]:\n    return Command(goto='look')\n\n\
         def stray(state) -> Command[Literal['look', 'aftr']]:\n    return Command(goto='look')\n",
    )
    .unwrap();
    let environment = superstep_nodes::Environment::new(Some(project.path().to_owned()))
        .with_variables(|_| None)
        .with_grants(superstep_nodes::Grants::all());
    let registry = superstep_nodes::Registry::standard();
    let goes = |config: Json| {
        let assign = json!({"kind": "assign", "config": {"set": {"n": "1"}}});
        let graph = json!({
            "format": "superstep/1", "name": "goes", "state": {"n": {}},
            "nodes": {"plan": {"kind": "code", "config": config}, "look": assign, "after": assign, "lost": assign},
            "edges": [{"from": "__start__", "to": "plan"}, {"from": "look", "to": "after"}],
        });
        superstep_document::Document::parse(&graph.to_string()).0
    };
    let found = |config: Json| -> Vec<String> {
        let document = goes(config);
        let superstep_nodes::Checked { problems, usage } = registry.checked(&document, &environment);
        assert!(usage["node:look"].dynamic_targets.is_empty());
        if problems.iter().all(|problem| !problem.is_error()) {
            let built = registry.build(&document, &environment).unwrap().graph;
            let led = problems.iter().all(|problem| problem.record != "node:look");
            let drawn = built.mermaid();
            let dotted = |line: &str| line.contains("n1 -.->") && line.ends_with(" n2");
            assert_eq!(drawn.lines().any(dotted), led, "{drawn}");
        }
        problems
            .iter()
            .map(|problem| format!("{} {}", problem.code, problem.record))
            .collect()
    };
    let source = "return new Command({goto: 'look'})";
    let never = |node: &str, code: &str| format!("{code} node:{node}");
    let lost = never("lost", "unconnected-node");
    assert_eq!(
        found(json!({"source": source})),
        [
            never("look", "unreachable-node"),
            never("after", "unreachable-node"),
            lost.clone()
        ]
    );
    assert_eq!(
        found(json!({"source": source, "destinations": ["look", "__end__"]})),
        std::slice::from_ref(&lost)
    );
    assert_eq!(
        found(json!({"source": source, "destinations": ["lok"]}))[3..],
        ["unknown-node node:plan"]
    );
    assert_eq!(
        found(json!({"language": "python", "module": "plan.py", "function": "plan"})),
        std::slice::from_ref(&lost)
    );
    let source = "def plan(state) -> Command[Literal['look']]:\n    return Command(goto='look')";
    assert_eq!(found(json!({"language": "python", "source": source})), [lost]);
    let strays = [
        (
            json!({"language": "python", "module": "plan.py", "function": "stray"}),
            "/config/function: `stray` in plan.py says in its return annotation that it goes to `aftr`, and there is no \
             such node. Did you mean `after`? Name a node of this graph in the `Literal[…]` of the annotation: `after`, \
             `look`, `lost`, `plan`.",
        ),
        (
            json!({"language": "python", "source": source.replace("'look']", "'nowhere']")}),
            "/config/source: The function says in its return annotation that it goes to `nowhere`, and there is no such \
             node. Name a node of this graph in the `Literal[…]` of the annotation: `after`, `look`, `lost`, `plan`.",
        ),
    ];
    for (config, expected) in strays {
        let document = goes(config);
        let problems = registry.build(&document, &environment).unwrap_err();
        let errors: Vec<String> = problems
            .iter()
            .map(|it| {
                let pointer = it.pointer.as_deref().unwrap_or_default();
                format!(
                    "{} {} {pointer}: {} {}",
                    it.code, it.record, it.message, it.remedy
                )
            })
            .collect();
        assert_eq!(errors, [format!("unknown-node node:plan {expected}")]);
    }
}

#[test]
fn invariants_are_checked_with_the_names_of_their_place() {
    let graph = json!({
        "format": "superstep/1",
        "state": {"count": {"type": "integer", "invariants": [
            {"must": "new >= old and writer == 'add'"}, {"must": "state.cuont > 0"}
        ]}},
        "nodes": {"add": {"kind": "assign", "config": {"set": {"count": "1"}}, "invariants": [
            {"must": "task.node == 'add' and state.count <"}, {"must": "new > 0"}
        ]}},
        "edges": [{"from": "__start__", "to": "add", "invariants": [{"must": "state.count|lenght > 0"}]}],
        "invariants": [{"must": "state.count >= old.count"}, {"must": "context.tenant == 'a'"}]
    });
    let problems = check(&graph);
    let mut found: Vec<String> = problems
        .iter()
        .map(|problem| {
            let pointer = problem.pointer.as_deref().unwrap_or_default();
            format!("{} {} {pointer}", problem.code, problem.record)
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "context-in-invariant doc /invariants/1/must",
            "expression-syntax node:add /invariants/0/must",
            "unknown-filter edge:__start__->add /invariants/0/must",
            "unknown-key key:count /invariants/1/must",
            "unknown-name node:add /invariants/1/must",
        ],
        "{problems:#?}"
    );
}

#[test]
fn summaries_are_checked_and_may_use_what_the_node_writes() {
    let graph = |of_node: &str, of_graph: &str| {
        json!({
            "format": "superstep/1", "state": {"text": {"type": "string"}}, "summary": of_graph,
            "nodes": {"a": {"kind": "assign", "config": {"set": {"text": "'x'"}}, "summary": of_node}},
            "edges": [{"from": "__start__", "to": "a"}, {"from": "a", "to": "__end__"}]
        })
    };
    let found = |of_node: &str, of_graph: &str| {
        let problems = check(&graph(of_node, of_graph)).into_iter();
        problems
            .map(|problem| (problem.record, problem.pointer.unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(
            "{{ update.text }} {{ state.text }} {{ context }}",
            "{{ state.text }}"
        ),
        []
    );
    let at = |record: &str| vec![(record.to_owned(), "/summary".to_owned())];
    assert_eq!(found("{{ state.nope }}", ""), at("node:a"));
    assert_eq!(found("{{ unclosed", ""), at("node:a"));
    assert_eq!(found("", "{{ state.nope }}"), at("doc"));
    assert_eq!(found("", "{{ update.text }}"), at("doc"), "a run has no update");
    let mut wrong = graph("", "");
    wrong["nodes"]["a"]["summary"] = json!(3);
    let problems = document(&wrong).validate();
    let of_node: Vec<_> = problems
        .iter()
        .filter(|problem| problem.record == "node:a")
        .collect();
    assert_eq!((of_node.len(), of_node[0].code), (1, "bad-type"), "{problems:?}");
}

/// Codes and places of the problems about comparisons.
fn compared(state: &Json, when: &str) -> Vec<String> {
    let graph = json!({
        "format": "superstep/1", "name": "g", "state": state,
        "nodes": {"a": {"kind": "assign", "config": {"set": {"way": "'x'"}}}},
        "edges": [{"from": "__start__", "to": "a"}, {"from": "a", "when": when, "to": "__end__"}],
    });
    let found = check(&graph).into_iter().map(|problem| {
        let severity = if problem.severity == Severity::Error {
            "error"
        } else {
            "warning"
        };
        format!(
            "{severity} {} {}",
            problem.code,
            problem.pointer.unwrap_or_default()
        )
    });
    found.filter(|found| !found.contains("unconnected")).collect()
}

#[test]
fn comparisons_of_known_types_are_checked() {
    let state = json!({
        "way": {"type": "string"}, "score": {"type": "string"}, "n": {"type": "integer"}, "maybe": {"type": ["number", "null"]},
        "either": {"type": ["number", "string"]}, "any": {}, "list": {"type": "array"},
        "level": {"enum": ["low", "high"]}, "flag": {"type": "boolean"},
        "deep": {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "number"}}},
    });
    let order = ["error no-order /when"];
    for when in [
        "state.score >= 50",
        "50 > state.score",
        "0 < state.score < 50",
        "0 < state.n < state.score",
        "'a' if state.score > 5 else 'b'",
        "state.n > 3 and not (state.score < 50)",
        "state.score|default(0) >= 50",
        "state.score|default('0') >= 50",
        "state.deep.text > 3",
        "state['score'] > 3",
        "state.level < 3",
        "input.score > 3",
        "state.n|string > 3",
        "state.n ~ '' > 3",
        "state.score|length > 'a'",
        "state.list > 3",
        "[1]|select('odd')|list and state.score > 1.5",
    ] {
        assert_eq!(compared(&state, when), order, "{when}");
    }
    let never = ["warning never-equal /when"];
    for when in [
        "state.n == '5'",
        "state.n != '5'",
        "'5' == state.deep.n",
        "state.level == 1",
        "state.list == 'a'",
    ] {
        assert_eq!(compared(&state, when), never, "{when}");
    }
    for when in ["state.maybe > 3", "3 >= state.maybe"] {
        assert_eq!(compared(&state, when), ["warning null-in-order /when"], "{when}");
    }
    for when in [
        "state.score|float >= 50",
        "state.score|int(0) >= 50",
        "state.n >= 50 and state.deep.n < 1",
        "state.either > 3",
        "state.any > 3",
        "state.any == '3'",
        "state.score == 'x' and state.n == 5 and state.n == 5.0",
        "state.n == none or state.n|default('') == ''",
        "state.maybe|default(0, true) > 3",
        "state.maybe is not none and state.maybe > 3",
        "state.maybe and state.maybe > 3",
        "state.flag == 1 and state.flag == true",
        "state.list[0] > 3 and state.list|first > 'a'",
        "state.score < 'b' and state.list|length > 3",
        "state.level == 'low' and state.score in ['a'] and state.n in [1]",
    ] {
        assert_eq!(compared(&state, when), [] as [&str; 0], "{when}");
    }
}

#[test]
fn comparisons_are_checked_wherever_expressions_stand_but_not_in_packets() {
    let graph = json!({
        "format": "superstep/1", "name": "g", "summary": "{% if state.s > 1 %}x{% endif %}",
        "state": {"s": {"type": "string"}, "out": {}, "list": {"type": "array"}},
        "invariants": [{"must": "state.s < 3"}],
        "nodes": {
            "a": {"kind": "assign", "config": {"set": {"out": "state.s > 1"}}},
            "m": {"kind": "model", "config": {"model": "scripted", "into": "out", "script": [{"say": "x"}],
                "prompt": "{% for x in state.list if state.s >= 2 %}{{ x }}{% endfor %}"}},
            "each": {"kind": "assign", "config": {"set": {"out": "state.s > 1"}}},
        },
        "edges": [
            {"from": "__start__", "to": "a"}, {"from": "a", "route": "'x' if state.s > 5 else 'y'", "paths": {"x": "m", "y": "__end__"}},
            {"id": "e", "from": "m", "each": "state.list", "as": "s", "to": "each", "with": {"out": "s > state.s and state.s > 2"}},
        ],
    });
    let mut found: Vec<String> = check(&graph)
        .into_iter()
        .filter(|problem| problem.code == "no-order")
        .map(|problem| format!("{} {}", problem.record, problem.pointer.unwrap_or_default()))
        .collect();
    found.sort();
    let wanted = [
        "doc /invariants/0/must",
        "doc /summary",
        "edge:a->? /route",
        "edge:e /with/out",
        "node:a /config/set/out",
        "node:m /config/prompt",
    ];
    assert_eq!(found, wanted, "the target of an `each` edge sees its packet");
}
