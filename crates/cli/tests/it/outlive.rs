//! What a program of a graph starts, and what it never ends, is gone when the run is over, however it ended.

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::User;

/// Starts a child, one in another session, and one whose parent is gone; each writes its process id into a file.
const STARTS: &str = r#"
import os, subprocess, time
def run(name, before):
    script = f'echo $$ > {name}.part; mv {name}.part {name}.pid; exec sleep 1000'
    subprocess.Popen([*before, 'sh', '-c', script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
run('child', [])
run('session', ['setsid'])
run('orphan', ['setsid', '-f'])
while not all(os.path.exists(f'{name}.pid') for name in ('child', 'session', 'orphan')):
    time.sleep(0.01)
"#;

fn graph(kind: &str, config: Json) -> Json {
    json!({
        "format": "superstep/1", "name": "Starts", "state": {"n": {}, "messages": {"type": "array", "reducer": "add_messages"}},
        "nodes": {"n": {"kind": kind, "config": config}},
        "edges": [{"from": "__start__", "to": "n"}, {"from": "n", "to": "__end__"}],
    })
}

fn lives(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // One that has ended and was not waited for is no more.
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[track_caller]
fn wait_until(what: &str, done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn started(folder: &Path) -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.pid")));
    let names = ["child", "session", "orphan"];
    wait_until("it has started everything", || {
        names.iter().all(|name| read(name).is_ok())
    });
    names
        .iter()
        .map(|name| read(name).unwrap().trim().to_owned())
        .collect()
}

fn all_gone(processes: &[String]) {
    wait_until("they are gone", || {
        !processes.iter().any(|process| lives(process))
    });
}

fn python(user: &User, after: &str) -> String {
    let source = format!("{STARTS}\n{after}\nreturn {{'n': 1}}");
    let config = json!({"language": "python", "source": source, "timeout_ms": 600_000});
    user.graph("graph.json", &graph("code", config))
}

fn begin(user: &User, path: &str) -> Child {
    user.command(&["run", path, "--trust", "--input", "{}"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn what_python_started_is_gone_when_the_run_has_ended() {
    let user = User::new();
    let path = python(&user, "");
    user.expect(0, &["run", &path, "--trust", "--input", "{}"]);
    all_gone(&started(user.dir.path()));
}

#[test]
fn what_python_started_is_gone_when_this_program_is_killed() {
    let user = User::new();
    let path = python(&user, "time.sleep(1000)");
    let mut run = begin(&user, &path);
    let processes = started(user.dir.path());
    assert!(processes.iter().all(|process| lives(process)));
    run.kill().unwrap();
    run.wait().unwrap();
    all_gone(&processes);
}

#[test]
fn what_a_server_started_is_gone_when_it_has_ended_by_itself() {
    let user = User::new();
    let script = "for name in child session orphan; do \
        case $name in child) b=;; session) b=setsid;; orphan) b='setsid -f';; esac; \
        $b sh -c \"echo \\$\\$ > $name.part; mv $name.part $name.pid; exec sleep 1000\" </dev/null >/dev/null 2>&1 & \
        done; while ! [ -e child.pid -a -e session.pid -a -e orphan.pid ]; do sleep 0.01; done; exit 1";
    let servers = json!({"mcpServers": {"odd": {"command": "sh", "args": ["-c", script]}}});
    std::fs::write(user.dir.path().join(".mcp.json"), servers.to_string()).unwrap();
    let config = json!({"messages": "messages", "mcp": [{"server": "odd"}]});
    let path = user.graph("graph.json", &graph("tools", config));
    user.expect(0, &["trust", &path, "--all"]);
    let input = r#"{"messages": [{"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "x", "args": {}, "type": "tool_call"}]}]}"#;
    let done = user.call(&["run", &path, "--input", input]);
    assert_ne!(done.code, 0, "{}", done.out);
    all_gone(&started(user.dir.path()));
}

#[test]
fn javascript_that_does_not_end_is_ended_with_the_run_and_with_this_program() {
    let user = User::new();
    let endless = "return {n: Array(2 ** 32 - 1).join('ab').length}";
    let path = user.graph(
        "graph.json",
        &graph("code", json!({"source": endless, "timeout_ms": 200})),
    );
    let done = user.expect(1, &["run", &path, "--input", "{}"]);
    assert!(done.err.contains("was stopped after 200 ms"), "{}", done.err);

    let source = format!("console.log('go'); {endless}");
    let path = user.graph(
        "long.json",
        &graph("code", json!({"source": source, "timeout_ms": 1000})),
    );
    let mut run = user
        .command(&["run", &path, "--input", "{}"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let parent = run.id();
    let children = move || -> Vec<String> {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let own = |entry: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let of = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()?;
            (of == parent).then(|| entry.file_name().to_string_lossy().into_owned())
        };
        all.filter_map(own).collect()
    };
    wait_until("it has a worker", || !children().is_empty());
    let processes = children();
    run.kill().unwrap();
    run.wait().unwrap();
    all_gone(&processes);
}

#[test]
fn a_step_that_makes_too_much_is_refused_and_the_thread_goes_on_with_a_higher_limit() {
    let user = User::new();
    let source = "return new Command({goto: Array.from({length: 10001}, (_, i) => new Send('b', {i}))})";
    let file = |limits: Json| {
        json!({
            "format": "superstep/1", "name": "Wide", "state": {"n": {"type": "array", "reducer": "append"}}, "limits": limits,
            "nodes": {"a": {"kind": "code", "config": {"source": source, "destinations": ["b"], "timeout_ms": 60_000}},
                "b": {"kind": "assign", "config": {"set": {"n": "[1]"}}}},
            "edges": [{"from": "__start__", "to": "a"}, {"from": "b", "to": "__end__"}],
        })
    };
    let path = user.graph("graph.json", &file(json!({})));
    let done = user.expect(1, &["run", &path, "--thread", "t", "--input", "{}"]);
    assert!(done.err.contains("makes more than 10000 packets"), "{}", done.err);
    assert!(done.err.contains("go on with"), "{}", done.err);
    user.graph("graph.json", &file(json!({"packets": 20_000})));
    user.expect(0, &["resume", "t"]);
}

/// Runs the program in a shell that sets a limit first.
fn limited(user: &User, limit: &str, args: &str) -> (Option<i32>, String) {
    let program = env!("CARGO_BIN_EXE_superstep");
    let output = std::process::Command::new("sh")
        .args(["-c", &format!("{limit}; exec {program} {args}")])
        .current_dir(user.dir.path())
        .env("SUPERSTEP_DATA", user.dir.path().join("data"))
        .env("HOME", user.dir.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn too_few_descriptors_are_no_older_release() {
    for count in 8..24 {
        let user = User::new();
        let (_, message) = limited(&user, &format!("ulimit -n {count}"), "threads --db sqlite:t.db");
        assert!(!message.contains("older release"), "{count}: {message}");
    }
}

#[test]
fn a_file_that_may_not_grow_is_reported() {
    let user = User::new();
    // What is stored is compressed, and this cannot be.
    let source = "return {n: Array.from({length: 400000}, () => Math.random().toString(36)).join('')}";
    user.graph(
        "graph.json",
        &graph("code", json!({"source": source, "timeout_ms": 60_000})),
    );
    let (code, message) = limited(
        &user,
        "ulimit -f 1000",
        "run graph.json --db sqlite:t.db --input {}",
    );
    assert_eq!(code, Some(1), "{message}");
    assert!(message.contains("t.db"), "{message}");
}
