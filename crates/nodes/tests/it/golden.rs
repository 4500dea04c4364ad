//! The example graphs keep their promises: no diagnostics, the canonical form of the file, and every recorded run.
//!
//! A golden run is `graphs/NAME/expect/RUN.json`: `inputs` one after the other on one thread, `answers` to its
//! questions in order, perhaps an `edit` of the state before a node, and what comes of it. With `UPDATE_GOLDEN=1` the
//! files are written from what happens; read the difference before committing it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use superstep::run::{RunStatus, StateRef};
use superstep::stream::Payload;
use superstep::{Input, MemorySaver, MemoryStore, RunConfig, StateUpdate, StreamMode, Value};
use superstep_document::Document;
use superstep_nodes::{Environment, Grants, Registry};

use crate::support::examples;

fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

fn open(folder: &Path) -> Document {
    let path = folder.join("graph.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let (document, problems) = Document::parse(&text);
    assert_eq!(problems, [], "{}", path.display());
    let canonical = document.to_text();
    if updating() && canonical != text {
        std::fs::write(&path, &canonical).unwrap();
    } else {
        assert_eq!(
            text,
            canonical,
            "{} is not in canonical form; UPDATE_GOLDEN=1 rewrites it",
            path.display()
        );
    }
    document
}

/// Does the graph run Python?
fn python(document: &Document) -> bool {
    document.to_text().contains("\"language\": \"python\"")
}

/// May it, here? Without an interpreter the test says what to install, unless the person who runs it wants to do without.
fn python_is_there() -> bool {
    let there = std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    let without = std::env::var_os("SUPERSTEP_WITHOUT_SERVERS").is_some_and(|value| value == "1");
    assert!(
        there || without,
        "There is no python3. `./dev test` installs it; SUPERSTEP_WITHOUT_SERVERS=1 skips what needs it."
    );
    if !there {
        println!("skipped: SUPERSTEP_WITHOUT_SERVERS=1 and no python3, so graphs with Python are not run");
    }
    there
}

#[test]
fn examples_have_no_problems() {
    assert!(examples().len() >= 5, "five examples at least: {:?}", examples());
    for folder in examples() {
        let document = open(&folder);
        if python(&document) && !python_is_there() {
            continue;
        }
        let environment = Environment::new(Some(folder.clone()));
        let registry = Registry::standard();
        let problems: Vec<String> = document
            .validate()
            .into_iter()
            .chain(registry.check_in(&document, &environment))
            .map(|problem| problem.to_string())
            .collect();
        assert_eq!(problems, Vec::<String>::new(), "{}", folder.display());
        registry.build(&document, &environment).unwrap();
        assert!(
            folder.join("README.md").is_file(),
            "{} has no README",
            folder.display()
        );
        assert!(
            !document.examples().is_empty(),
            "{} has no sample input",
            folder.display()
        );
        let placed: Vec<&str> = document.layout().map(|(id, _)| id).collect();
        for id in document.node_ids().chain(["__start__", "__end__"]) {
            assert!(
                placed.contains(&id),
                "{} of {} has no place on the canvas",
                id,
                folder.display()
            );
        }
    }
}

/// No two cards touch: 216 pixels wide, up to 92 high with their rows.
#[test]
fn cards_do_not_overlap() {
    for folder in examples() {
        let document = open(&folder);
        let places: Vec<(&str, [f64; 2])> = document.layout().collect();
        for (index, (a, [ax, ay])) in places.iter().enumerate() {
            for (b, [bx, by]) in &places[index + 1..] {
                // Start and end are small marks.
                let width = if a.starts_with("__") && ax < bx {
                    140.0
                } else {
                    260.0
                };
                let apart = (ax - bx).abs() >= width || (ay - by).abs() >= 100.0;
                assert!(apart, "{a} and {b} of {} overlap", folder.display());
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn golden_runs() {
    let mut runs = 0;
    for folder in examples() {
        let document = open(&folder);
        if python(&document) && !python_is_there() {
            continue;
        }
        let mut files: Vec<_> = std::fs::read_dir(folder.join("expect"))
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{} has no golden run", folder.display());
        for file in files {
            let mut golden: Json = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            // Other programs keep to the clock on the wall.
            let programs = folder.join(".mcp.json").exists() || python(&document);
            if programs {
                tokio::time::resume();
            }
            let found = play(&document, &folder, &golden).await;
            if programs {
                tokio::time::pause();
            }
            if updating() {
                golden["expect"] = found;
                std::fs::write(&file, serde_json::to_string_pretty(&golden).unwrap() + "\n").unwrap();
            } else {
                assert_eq!(golden["expect"], found, "{}", file.display());
            }
            runs += 1;
        }
    }
    assert!(runs >= 10, "only {runs} golden runs were found");
}

async fn play(document: &Document, folder: &Path, golden: &Json) -> Json {
    // Everything in the repository is allowed; programs are found by the path, and no key is.
    let environment = Environment::new(Some(folder.to_owned()))
        .with_variables(|name| (name == "PATH").then(|| std::env::var(name).ok()).flatten())
        .with_grants(Grants::all());
    let graph = Registry::standard()
        .build(document, &environment)
        .unwrap()
        .graph
        .with_checkpointer(Arc::new(MemorySaver::new()))
        .with_store(Arc::new(MemoryStore::new()));
    let known: Vec<&String> = golden
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| !["about", "inputs", "answers", "edit", "expect"].contains(&key.as_str()))
        .collect();
    assert!(known.is_empty(), "unknown fields {known:?}");
    let thread = StateRef::live("golden");
    let mut answers = golden["answers"]
        .as_array()
        .cloned()
        .unwrap_or_default()
        .into_iter();
    let mut edit = golden.get("edit");
    let (mut nodes, mut questions) = (Vec::new(), Vec::new());
    let mut status = RunStatus::Done;
    for input in golden["inputs"].as_array().unwrap() {
        let mut next = Input::value(Value::from(input.clone()));
        loop {
            let before = edit.map(|edit| edit["before"].as_str().unwrap());
            let config = RunConfig::on("golden")
                .modes([StreamMode::Tasks])
                .interrupt_before(before)
                .recursion_limit(document.recursion_limit());
            let mut run = graph.stream(next, config);
            // Parallel tasks end in any order; within a step their names are sorted.
            let mut ended: BTreeMap<i64, Vec<String>> = BTreeMap::new();
            while let Some(event) = run.next().await {
                if let Payload::TaskEnd(end) = event.payload
                    && end.interrupts.is_empty()
                {
                    let failed = if end.error.is_some() { " failed" } else { "" };
                    ended
                        .entry(end.step)
                        .or_default()
                        .push(format!("{}{failed}", end.name));
                }
            }
            for (_, mut names) in ended {
                names.sort();
                nodes.extend(names);
            }
            let result = run.finish().await.unwrap();
            status = result.status;
            match result.status {
                RunStatus::Done => break,
                RunStatus::Breakpoint => {
                    let values = Value::from(edit.take().unwrap()["values"].clone());
                    graph
                        .update_state(
                            &thread,
                            StateUpdate {
                                values,
                                ..StateUpdate::default()
                            },
                        )
                        .await
                        .unwrap();
                    next = Input::Continue;
                }
                RunStatus::Interrupted => {
                    for interrupt in &result.interrupts {
                        let mut question = Json::from(&interrupt.value);
                        // The schema and the choices stand in the graph.
                        question
                            .as_object_mut()
                            .unwrap()
                            .retain(|key, _| ["question", "refused"].contains(&key.as_str()));
                        questions.push(question);
                    }
                    match answers.next() {
                        Some(answer) => next = Input::answer(Value::from(answer)),
                        None => break,
                    }
                }
            }
        }
    }
    assert_eq!(answers.next(), None, "an answer was not asked for");
    let state = graph.get_state(&thread).await.unwrap();
    let mut values = Json::from(&state.values);
    without_ids(&mut values);
    json!({
        "status": format!("{status:?}").to_lowercase(),
        "questions": questions,
        "nodes": nodes,
        "steps": state.checkpoint.map(|head| head.metadata.step),
        "values": values,
    })
}

/// Ids of messages differ from run to run, and those of calls, which are numbered instead: answers keep to their calls.
fn without_ids(json: &mut Json) {
    renamed(json, &mut BTreeMap::new());
}

fn renamed(json: &mut Json, calls: &mut BTreeMap<String, String>) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(|item| renamed(item, calls)),
        Json::Object(fields) => {
            if fields.contains_key("content") && fields.contains_key("id") {
                fields.insert("id".into(), json!("*"));
            }
            let call = match fields.get("type").and_then(Json::as_str) {
                Some("tool_call") => "id",
                _ => "tool_call_id",
            };
            if let Some(id) = fields.get(call).and_then(Json::as_str) {
                let next = format!("call-{}", calls.len() + 1);
                let name = calls.entry(id.to_owned()).or_insert(next).clone();
                fields.insert(call.into(), name.into());
            }
            fields.values_mut().for_each(|field| renamed(field, calls));
        }
        _ => {}
    }
}
