//! Threads that another program runs.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use superstep::Checkpointer;
use superstep::checkpoint::{ClaimRequest, ClaimUse, Commit, Holder};

use crate::{User, example};

/// A thread that asks, and that another program runs. Gives its database, and what renews or ends that.
async fn busy_thread(user: &User) -> (Arc<dyn Checkpointer>, impl Fn(bool) -> Commit) {
    let input = r#"{"request": "The lamp arrived broken.", "price": 40, "days": 3}"#;
    user.expect(
        3,
        &["run", &example("refund-desk"), "--thread", "t", "--input", input],
    );
    let file = user.dir.path().join("data/threads.db");
    let saver = superstep_storage::open(&file.to_string_lossy()).await;
    let by = ClaimRequest::by(Holder::new("other", "the nightly import"));
    let claim = by.change();
    let commit = move |ends: bool| Commit {
        thread: "t".into(),
        ns: "".into(),
        writes: Vec::new(),
        put: None,
        claim: Some(ClaimUse {
            ends,
            ..claim.clone()
        }),
    };
    let saver = saver.unwrap().checkpointer;
    saver.commit(commit(false)).await.unwrap();
    (saver, commit)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_given_when_the_thread_is_free() {
    let user = User::new();
    let (saver, commit) = busy_thread(&user).await;
    let (renewed, renew) = (saver.clone(), commit(false));
    // Its claim does not end by itself, however long the command takes to begin.
    let renewing = tokio::spawn(async move {
        loop {
            renewed.commit(renew.clone()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let mut command = user.command(&["resume", "t", "--answer", r#"{"decision": "approve"}"#]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.as_mut().unwrap())
        .read_line(&mut said)
        .unwrap();
    assert!(said.contains("is run by the nightly import"), "{said}");
    renewing.abort();
    assert!(renewing.await.unwrap_err().is_cancelled());
    saver.commit(commit(true)).await.unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pruning_says_what_it_left_because_it_runs() {
    let user = User::new();
    drop(busy_thread(&user).await);
    let prune = ["threads", "prune", "t", "--keep", "latest", "--yes"];
    let left = user.expect(0, &prune).err;
    assert!(
        left.contains("Left as it was, because a program runs it: 1 thread."),
        "{left}"
    );
    let left = user.expect(0, &[&prune[..], &["--json"]].concat()).json();
    assert_eq!(left["skipped_threads"], serde_json::json!(["t"]));
    assert_eq!(left["checkpoints"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_a_busy_thread_is_withdrawn_by_taking_it_over() {
    let user = User::new();
    drop(busy_thread(&user).await);
    let refused = user.call(&["threads", "withdraw", "t"]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("the nightly import"), "{}", refused.err);
    user.expect(0, &["threads", "withdraw", "t", "--take-over"]);
    let waiting = user.expect(0, &["threads", "waiting", "--count"]).out;
    assert_eq!(waiting.trim(), "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_that_another_program_runs_is_listed_as_running_there() {
    let user = User::new();
    drop(busy_thread(&user).await);
    for list in [
        user.expect(0, &["threads", "--json"]).json()[0].clone(),
        user.expect(0, &["threads", "show", "t", "--json"]).json(),
    ] {
        assert_eq!(
            (&list["status"], &list["program"]),
            (&"running".into(), &"the nightly import".into()),
            "{list}"
        );
    }
    let shown = user.expect(0, &["threads", "show", "t"]).out;
    assert!(shown.contains("runs in     the nightly import"), "{shown}");
    user.expect(0, &["threads", "withdraw", "t", "--take-over"]);
    let free = user.expect(0, &["threads", "--json"]).json();
    assert_eq!(
        (&free[0]["status"], &free[0]["program"]),
        (&"paused".into(), &serde_json::Value::Null)
    );
}
