//! `superstep evaluate`: rows through variants, what is kept of them, and how the program ends.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::User;

/// A graph that asks whether a number is doubled, with rows for it.
fn project(user: &User, evaluation: &Json) -> PathBuf {
    let folder = user.dir.path().join("desk");
    fs::create_dir_all(folder.join("evaluations")).unwrap();
    let graph = json!({
        "format": "superstep/1", "name": "Desk",
        "state": {"n": {"type": "integer"}, "yes": {"type": "boolean"}, "word": {"type": "string"}},
        "nodes": {
            "ask": {"kind": "ask", "config": {"question": "Double it?", "into": "yes"}},
            "double": {"kind": "assign", "config": {"set": {"n": "state.n * 2", "word": "'about ' ~ state.n"}}},
            "check": {"kind": "assign", "config": {"set": {"n": "state.n if state.n < 1000 else [].missing.more"}}}
        },
        "edges": [
            {"from": "__start__", "to": "ask"}, {"from": "ask", "to": "double"},
            {"from": "double", "to": "check"}, {"from": "check", "to": "__end__"}
        ]
    });
    fs::write(folder.join("graph.json"), graph.to_string()).unwrap();
    let rows = "row,n,expect.n,expect.word\none,1,2,about 1\ntwo,2,4,about 3\nthree,3,7,about 3\n";
    fs::write(folder.join("evaluations/rows.csv"), rows).unwrap();
    write(&folder, evaluation);
    folder
}

fn write(folder: &Path, evaluation: &Json) {
    fs::write(folder.join("evaluations/numbers.json"), evaluation.to_string()).unwrap();
}

fn numbers() -> Json {
    json!({
        "rows": "rows.csv",
        "answers": [true],
        "variants": [{"name": "as it is"},
                     {"name": "and one", "settings": {"/nodes/double/config/set/n": "state.n * 2 + 1"}}]
    })
}

#[test]
fn rows_are_counted_compared_kept_and_run_again_where_something_changed() {
    let user = User::new();
    let mut evaluation = numbers();
    let folder = project(&user, &evaluation);
    let run = |more: &[&str]| {
        let done = user.expect(0, &[&["evaluate", "desk", "--json"], more].concat());
        done.json()[0].clone()
    };
    let first = run(&[]);
    let counts = |of: &Json| -> Vec<(u64, u64, u64)> {
        let variants = of["variants"].as_array().unwrap().iter();
        let number = |one: &Json, name: &str| one[name].as_u64().unwrap();
        variants
            .map(|one| {
                (
                    number(one, "passed"),
                    number(one, "scored"),
                    number(one, "reused"),
                )
            })
            .collect()
    };
    assert_eq!(counts(&first), [(1, 3, 0), (1, 3, 0)], "{first:#}");
    assert_eq!(first["variants"][1]["worse"], json!(["one"]));
    assert_eq!(first["variants"][1]["better"], json!(["three"]));
    assert_eq!(first["variants"][1]["tooFew"], json!(true));
    let note = &first["rows"][2]["scores"]["n"]["note"];
    assert_eq!(*note, json!("7 expected, 6 found"));
    assert_eq!(counts(&run(&[])), [(1, 3, 3), (1, 3, 3)], "nothing changed");
    assert_eq!(counts(&run(&["--again"]))[0], (1, 3, 0));
    assert_eq!(
        counts(&run(&["--variant", "and one", "--filter", "t"])),
        [(1, 2, 2)],
        "two and three"
    );

    evaluation["scores"] = json!({
        "n": {"key": "n"},
        "word": {"key": "word", "likeness": 0.8},
        "size": {"expression": "state.n - row.input.n"},
        "calm": {"expression": "run.steps < 5 and run.status == 'done'"}
    });
    write(&folder, &evaluation);
    let scored = run(&[]);
    assert_eq!(counts(&scored), [(2, 3, 0), (1, 3, 0)], "{scored:#}");
    assert_eq!(scored["rows"][1]["scores"]["size"]["value"], json!(2));

    let shown = user.expect(0, &["evaluate", "desk"]);
    for text in [
        "as it is",
        "2 of 3",
        "67 %",
        "three: n: 7 expected, 6 found",
        "and one is worse than as it is in 2 runs",
    ] {
        assert!(shown.out.contains(text), "{text}: {}", shown.out);
    }
    assert!(shown.err.contains("6 results of before"), "{}", shown.err);
    assert!(shown.err.contains("fewer than 20 rows"), "{}", shown.err);
    let history = user
        .expect(0, &["evaluate", "desk", "--history", "--json"])
        .json();
    assert_eq!(
        history[0]["runs"].as_array().unwrap().len(),
        5,
        "one was filtered"
    );
    user.expect(1, &["evaluate", "desk", "--at-least", "50%"]);
    user.expect(
        0,
        &["evaluate", "desk", "--at-least", "0.6", "--variant", "as it is"],
    );

    user.expect(0, &["evaluate", "desk", "--csv", "out.csv"]);
    let table = fs::read_to_string(user.dir.path().join("out.csv")).unwrap();
    assert_eq!(table.lines().count(), 7);
    assert!(
        !user.dir.path().join("data/threads.db").exists(),
        "no thread is kept"
    );
}

#[test]
fn a_row_that_fails_asks_or_reaches_a_limit_does_not_stop_the_others() {
    let user = User::new();
    let folder = project(
        &user,
        &json!({"rows": "more.jsonl", "scores": {"n": {"key": "n"}}}),
    );
    let rows = [
        json!({"name": "good", "input": {"n": 1}, "answers": [true], "expect": {"n": 2}}),
        json!({"name": "unanswered", "input": {"n": 1}, "expect": {"n": 2}}),
        json!({"name": "large", "input": {"n": 900}, "answers": [true], "expect": {"n": 1800}}),
    ];
    let lines: Vec<String> = rows.iter().map(Json::to_string).collect();
    fs::write(folder.join("evaluations/more.jsonl"), lines.join("\n")).unwrap();
    let done = user.expect(1, &["evaluate", "desk", "--json"]).json();
    let rows = done[0]["rows"].as_array().unwrap();
    let status: Vec<&str> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["done", "interrupted", "failed"], "{done:#}");
    let error = rows[1]["error"].as_str().unwrap();
    assert!(error.contains("No answer is left"), "{error}");
    let again = user.expect(1, &["evaluate", "desk", "--json"]).json();
    assert_eq!(
        again[0]["variants"][0]["reused"],
        json!(2),
        "what failed runs again"
    );
    let cut = [
        "--again",
        "--total",
        "seconds=0.000001",
        "--concurrency",
        "1",
        "--json",
    ];
    let cut = user.expect(3, &[&["evaluate", "desk"], &cut[..]].concat()).json();
    assert!(cut[0]["variants"][0]["cut"].as_u64() >= Some(1), "{cut:#}");
}

#[test]
fn what_cannot_be_used_is_named_with_its_place() {
    let user = User::new();
    let folder = project(&user, &numbers());
    let refused = |evaluation: Json, expected: &str| {
        write(&folder, &evaluation);
        let done = user.expect(2, &["evaluate", "desk/evaluations/numbers.json"]);
        assert!(done.err.contains(expected), "{expected}: {}", done.err);
    };
    refused(json!({}), "rows");
    refused(json!({"rows": "none.csv"}), "none.csv");
    refused(json!({"rows": "rows.csv", "score": {}}), "score");
    refused(
        json!({"rows": "rows.csv", "scores": {"x": {"key": "n", "expression": "1"}}}),
        "\"x\"",
    );
    refused(
        json!({"rows": "rows.csv", "scores": {"x": {"expression": "(("}}}),
        "\"x\"",
    );
    refused(
        json!({"rows": "rows.csv", "variants": [{"name": "a"}, {"name": "a"}]}),
        "\"a\"",
    );
    refused(json!({"rows": "rows.csv", "at_least": 90}), "at_least");
    write(&folder, &numbers());
    for (args, expected) in [
        (&["--variant", "other"][..], "and one"),
        (&["--filter", "nothing"], "nothing"),
        (&["--history", "--again"], "--again"),
    ] {
        let done = user.expect(2, &[&["evaluate", "desk"], args].concat());
        assert!(done.err.contains(expected), "{expected}: {}", done.err);
    }
    let empty = user.expect(2, &["evaluate", "data"]);
    assert!(empty.err.contains("data"), "{}", empty.err);

    let reach = json!({"rows": "rows.csv", "answers": [true], "variants": [{"name": "out", "settings": {
        "/nodes/check": {"kind": "http", "config": {"url": "http://127.0.0.1:9/", "into": "word"}}}}]});
    write(&folder, &reach);
    let done = user.expect(2, &["evaluate", "desk"]);
    assert!(
        done.err.contains("Variant out") && done.err.contains("127.0.0.1"),
        "{}",
        done.err
    );
}

#[test]
fn a_thread_becomes_a_row() {
    let user = User::new();
    let folder = project(
        &user,
        &json!({"rows": "more.jsonl", "scores": {"n": {"key": "n"}}}),
    );
    let graph = folder.join("graph.json").display().to_string();
    user.expect(3, &["run", &graph, "--thread", "t", "--input", "{\"n\": 21}"]);
    user.expect(0, &["resume", "t", "--answer", "true"]);
    let added = user.expect(0, &["evaluate", "desk", "--add", "t", "--name", "twenty-one"]);
    assert!(
        added.out.contains("1 input, 1 answer, expects n"),
        "{}",
        added.out
    );
    let line = fs::read_to_string(folder.join("evaluations/more.jsonl")).unwrap();
    let row: Json = serde_json::from_str(&line).unwrap();
    assert_eq!(
        row,
        json!({"name": "twenty-one", "inputs": [{"n": 21}], "answers": [true], "expect": {"n": 42}})
    );
    let done = user
        .expect(0, &["evaluate", "desk", "--json", "--at-least", "1"])
        .json();
    assert_eq!(done[0]["variants"][0]["passed"], json!(1));
}

/// Serves a model that says these, one after the other; returns its address, and what it was sent.
fn model(says: Vec<Json>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1/", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let mut shown = Vec::new();
        for said in says {
            let mut reader = BufReader::new(listener.accept().unwrap().0);
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(text) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = text.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            shown.push(String::from_utf8(body).unwrap());
            let event = json!({"choices": [{"index": 0, "delta": {"content": said.to_string()}, "finish_reason": "stop"}],
                               "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}});
            let body = format!("data: {event}\n\ndata: [DONE]\n\n");
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            reader.get_mut().write_all((head + &body).as_bytes()).unwrap();
        }
        shown
    });
    (address, served)
}

#[test]
fn a_model_judges_and_what_it_costs_counts() {
    let judged = |score: u32| json!({"score": score, "reason": "as it should be"});
    let (address, served) = model([9, 4, 8].map(judged).into());
    let user = User::new();
    let data = user.dir.path().join("data");
    fs::create_dir_all(&data).unwrap();
    let models = json!({"connections": {"mine": {"provider": "openai", "base_url": address}}});
    fs::write(data.join("models.json"), models.to_string()).unwrap();
    project(
        &user,
        &json!({"rows": "rows.csv", "answers": [true], "concurrency": 1,
                "scores": {"right": {"model": "mine::m", "rubric": "Is the word right?", "at_least": 7}}}),
    );
    let done = user.expect(0, &["evaluate", "desk", "--trust", "--json"]).json();
    let shown = served.join().unwrap();
    assert!(
        shown[0].contains("Is the word right?") && shown[0].contains("about 1"),
        "{}",
        shown[0]
    );
    assert_eq!(done[0]["variants"][0]["passed"], json!(2), "{done:#}");
    assert_eq!(done[0]["judging"]["tokens"], json!(330));
    assert_eq!(done[0]["rows"][1]["scores"]["right"]["value"], json!(4));
}

#[test]
fn a_simulated_person_answers_by_an_expression_by_chance_and_as_a_model() {
    let user = User::new();
    let mut evaluation = json!({"rows": "more.jsonl", "scores": {"n": {"expression": "state.yes"}},
        "person": {"expression": "state.n > 2 and 'Double' in question.question and asked == 0 and row.data.kind"}});
    let folder = project(&user, &evaluation);
    let row = |n: u32| json!({"input": {"n": n}, "data": {"kind": true}}).to_string();
    let rows: Vec<String> = (1..=40).map(row).collect();
    fs::write(folder.join("evaluations/more.jsonl"), rows.join("\n")).unwrap();
    let run = |code: i32| {
        let done = user
            .expect(code, &["evaluate", "desk", "--trust", "--json"])
            .json();
        done[0].clone()
    };
    let passed = |of: &Json| of["variants"][0]["passed"].as_u64().unwrap();
    assert_eq!(passed(&run(0)), 38, "all but 1 and 2");

    evaluation["person"] = json!({"choices": [{"answer": true, "weight": 3}, {"answer": false}], "seed": 5});
    write(&folder, &evaluation);
    let first = run(0);
    assert!(
        (20..=38).contains(&passed(&first)),
        "about three of four: {}",
        passed(&first)
    );
    let again = user.expect(0, &["evaluate", "desk", "--again", "--json"]).json();
    let answers = |of: &Json| -> Vec<Json> {
        let rows = of["rows"].as_array().unwrap().iter();
        rows.map(|row| row["passed"].clone()).collect()
    };
    assert_eq!(
        answers(&first),
        answers(&again[0]),
        "chance is the same for the same seed"
    );
    evaluation["person"]["seed"] = json!(6);
    write(&folder, &evaluation);
    assert_ne!(answers(&first), answers(&run(0)));

    fs::write(folder.join("evaluations/more.jsonl"), row(1)).unwrap();
    evaluation["person"] = json!({"expression": "state.n.missing.more"});
    write(&folder, &evaluation);
    let silent = run(0);
    let error = silent["rows"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("The person could not answer: "), "{error}");

    let (address, served) = model(vec![json!({"answer": true})]);
    let data = user.dir.path().join("data");
    let models = json!({"connections": {"mine": {"provider": "openai", "base_url": address}}});
    fs::write(data.join("models.json"), models.to_string()).unwrap();
    evaluation["person"] = json!({"model": "mine::m", "brief": "You are in a hurry."});
    write(&folder, &evaluation);
    let played = run(0);
    let shown = served.join().unwrap();
    assert!(
        shown[0].contains("in a hurry") && shown[0].contains("Double it?"),
        "{}",
        shown[0]
    );
    assert_eq!((passed(&played), &played["judging"]["tokens"]), (1, &json!(110)));
}

#[test]
fn the_examples_come_out_as_they_did() {
    let user = User::new();
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../graphs");
    let done = user
        .expect(0, &["evaluate", all.to_str().unwrap(), "--trust", "--json"])
        .json();
    let evaluated = done.as_array().unwrap();
    assert_eq!(evaluated.len(), all.read_dir().unwrap().count(), "each has one");
    let passed = |one: &Json| (one["passed"].as_u64().unwrap(), one["scored"].as_u64().unwrap());
    for one in evaluated {
        let variants: Vec<(u64, u64)> = one["variants"].as_array().unwrap().iter().map(passed).collect();
        match one["evaluation"].as_str().unwrap().contains("refund-desk") {
            true => assert_eq!(variants, [(21, 24), (24, 24)], "{one:#}"),
            false => assert!(
                variants.iter().all(|(passed, scored)| passed == scored),
                "{one:#}"
            ),
        }
    }
}
