//! LangGraph servers on the command line: drawn, run, answered, and their threads read as a database, from one that says what a
//! real one said.

use serde_json::{Value as Json, json};
use superstep_test_servers::AgentServerReplay;

use crate::User;

fn words(text: &str) -> Vec<String> {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect()
}

#[test]
fn a_server_is_drawn_run_answered_and_read() {
    let server = AgentServerReplay::shop_with(&json!([]));
    let (user, url) = (User::new(), server.url());
    let drawn = user.expect(0, &["attach", &url]);
    let lines = words(&drawn.out);
    for line in [
        "shop shop d0519622-ebf6-5f53-8f40-87311efbb70e",
        "graph shop",
        "pay is the graph pay",
        "check -> pay edge",
        "pay -> done condition",
        "pay/START -> pay/charge edge",
        "n integer",
    ] {
        assert!(lines.contains(&line.to_owned()), "{line}: {}", drawn.out);
    }
    assert!(
        drawn.err.contains("Not known: the code of its nodes"),
        "{}",
        drawn.err
    );
    let described = user
        .expect(0, &["attach", &url, "--assistant", "shop", "--json"])
        .json();
    assert_eq!(
        described["graphs"]["shop"]["drawing"]["nodes"][1]["graph"]["name"],
        "pay"
    );
    assert_eq!(described["assistants"].as_array().map(Vec::len), Some(1));
    let several = user.expect(2, &["attach", &url, "--run", "{}"]);
    assert!(
        several.err.contains("several assistants") && several.err.contains("shop, slow"),
        "{}",
        several.err
    );

    let asked = user.expect(3, &["attach", &url, "--assistant", "shop", "--run", "{\"n\": 1}"]);
    assert!(
        asked.err.contains("Pay 2?") && asked.err.contains("1  check  "),
        "{}",
        asked.err
    );
    let thread = server.thread();
    let again = format!("superstep attach {url} --assistant shop --thread {thread} --resume --answer JSON");
    assert!(asked.err.contains(&again), "{}", asked.err);
    assert_eq!(asked.json(), json!({"n": 2, "log": ["check"]}));

    let db = format!("agent-server:{url}");
    let listed = user.expect(0, &["threads", "list", "--db", &db, "--json"]).json();
    assert_eq!(
        (&listed[0]["thread_id"], &listed[0]["status"]),
        (&json!(thread), &json!("asking"))
    );
    assert_eq!(
        listed[0]["checkpoints"],
        Json::Null,
        "which the server does not say"
    );
    let shown = user.expect(0, &["threads", "show", &thread, "--db", &db]).out;
    assert!(shown.contains("its server does not say how many"), "{shown}");
    let state = user.expect(0, &["state", &thread, "--db", &db]);
    assert!(state.err.contains("Pay 2?"), "{}", state.err);

    let resume = [
        "attach",
        &url,
        "--assistant",
        "shop",
        "--thread",
        &thread,
        "--resume",
        "--text",
        "yes",
    ];
    let events = user
        .expect(0, &[&resume[..], &["--stream", "tasks"]].concat())
        .events();
    let ended: Vec<&str> = events
        .iter()
        .filter_map(|event| {
            event["data"]["result"]
                .is_object()
                .then(|| event["data"]["name"].as_str())?
        })
        .collect();
    assert_eq!(ended, ["ask", "pay", "done"]);
    assert_eq!(events.last().unwrap()["data"]["status"], "done");

    let history = user
        .expect(0, &["history", &thread, "--db", &db, "--json"])
        .json();
    let all = history.as_array().unwrap().iter();
    let steps: Vec<i64> = all.filter_map(|one| one["metadata"]["step"].as_i64()).collect();
    assert_eq!(steps, [3, 2, 1, 0, -1]);
    let why = user.expect(0, &["why", &thread, "n", "--db", &db]).out;
    assert!(why.contains("by check"), "{why}");
    let (then, now) = (format!("{thread}@1"), format!("{thread}@3"));
    let diff = user.expect(0, &["diff", &then, &now, "--db", &db]);
    assert!(diff.out.contains("log"), "{}", diff.out);
    let refused = user.call(&["delete", &thread, "--yes", "--db", &db]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("superstep attach"), "{}", refused.err);
}

#[test]
fn what_a_server_needs_is_allowed_and_what_it_lacks_is_said() {
    let server = AgentServerReplay::shop_with(&json!([]));
    let (user, url) = (User::new(), server.url());
    let keyed = [
        "attach",
        &url,
        "--assistant",
        "shop",
        "--header",
        "x-api-key: ${SHOP_KEY}",
    ];
    let refused = user.expect(2, &keyed);
    assert!(refused.err.contains("key:SHOP_KEY@127.0.0.1"), "{}", refused.err);
    assert!(server.asked().is_empty(), "nothing was asked");
    let missing = user.expect(2, &[&keyed[..], &["--trust"]].concat());
    assert!(
        missing.err.contains("SHOP_KEY, which has no value"),
        "{}",
        missing.err
    );
    let all = [&keyed[..], &["--trust"]].concat();
    let mut with_key = user.command(&all);
    let done = with_key.env("SHOP_KEY", "cli-server-secret").output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let sent = server.asked()[0].headers.join("\n");
    assert!(sent.contains("x-api-key: cli-server-secret"), "{sent}");
    assert!(!String::from_utf8_lossy(&done.stdout).contains("cli-server-secret"));

    let elsewhere = user.expect(2, &["attach", "http://10.255.255.1:9"]);
    assert!(
        elsewhere
            .err
            .contains("superstep trust http://10.255.255.1:9 --allow host:10.255.255.1:9"),
        "{}",
        elsewhere.err
    );
    user.expect(0, &["trust", "http://10.255.255.1:9", "--all"]);
    let trusted = user.expect(0, &["trust", "--json"]).json();
    assert_eq!(
        trusted["http://10.255.255.1:9"][0]["access"],
        "host:10.255.255.1:9"
    );
    for (args, says) in [
        (&["attach", "http://h?x-api-key=hunter4"][..], "written out"),
        (
            &["attach", "agent.py:graph", "--assistant", "a"],
            "for LangGraph servers",
        ),
        (&["attach", &url, "--env", "A"], "--env is for programs"),
        (
            &["threads", "list", "--db", "agent-server:nowhere"],
            "no address of a LangGraph server",
        ),
        (
            &[
                "threads",
                "list",
                "--db",
                "agent-server:http://h?x-api-key=hunter4",
            ],
            "written out",
        ),
    ] {
        let done = user.call(args);
        assert!(
            done.code != 0 && done.err.contains(says) && !done.err.contains("hunter4"),
            "{args:?}: {}",
            done.err
        );
    }
    let gone = { AgentServerReplay::shop_with(&json!([])).url() };
    let done = user.expect(1, &["attach", &gone]);
    assert!(done.err.contains("cannot be reached"), "{}", done.err);
    let one = user.expect(
        1,
        &[
            "attach",
            &url,
            "--assistant",
            "shop",
            "--run",
            "{}",
            "--thread",
            "one",
        ],
    );
    assert!(one.err.contains("UUID"), "{}", one.err);
}
