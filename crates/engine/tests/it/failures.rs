//! Failures: attempts, timeouts, handlers, caches, limits, and the order in which tasks finish.

use std::sync::Arc;
use std::time::Duration;

use superstep::StreamMode::*;
use superstep::*;
use tokio::time::Instant;

use crate::support::*;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn quick() -> RetryPolicy {
    RetryPolicy::default().initial_interval(ms(10)).jitter(false)
}

/// Fails with each class in turn, then logs the number of its attempt.
fn flaky(classes: &[&'static str], calls: &Calls) -> Arc<dyn Node> {
    let (classes, calls) = (classes.to_vec(), calls.clone());
    Arc::new(move |context: NodeContext, _: Value| {
        let attempt = calls.add("flaky");
        let class = classes.get(attempt - 1).copied();
        async move {
            assert_eq!(context.info().attempt as usize, attempt);
            context.emit(format!("attempt {attempt}")).await;
            match class {
                Some(class) => Err(NodeError::new(class, "no")),
                None => Ok(NodeOutput::from(json!({"log": [format!("after {attempt}")]}))),
            }
        }
    })
}

fn one(node: Arc<dyn Node>, options: NodeOptions) -> StateGraph {
    base().node_with("n", node, options).edge(START, "n")
}

fn class_of(result: &Result<RunResult, RunError>) -> String {
    match result {
        Err(RunError::Node { failure, .. }) => failure.class.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_wait_longer_each_time_and_stream_but_write_once() {
    let calls = Calls::default();
    let node = flaky(&["MyError", "MyError"], &calls);
    let graph = on_memory(one(node, NodeOptions::new().retry(quick())));
    let began = Instant::now();
    let (lines, result) = stream(&graph, input(), RunConfig::on("1"), &[Tasks, Custom, Updates]).await;
    assert_eq!(began.elapsed().as_millis(), 30, "10 ms, then 20");
    assert_eq!(
        lines,
        [
            "start n",
            r#"custom "attempt 1""#,
            r#"custom "attempt 2""#,
            r#"custom "attempt 3""#,
            r#"updates {"n":{"log":["after 3"]}}"#,
            r#"end n {"log":["after 3"]}"#,
        ]
    );
    assert_eq!(log_of(&result.unwrap().value), "after 3");
}

#[tokio::test(start_paused = true)]
async fn jitter_adds_less_than_a_second() {
    let calls = Calls::default();
    let policy = quick().jitter(true);
    let graph = one(flaky(&["MyError"], &calls), NodeOptions::new().retry(policy))
        .compile()
        .unwrap();
    let began = Instant::now();
    graph.invoke(input(), RunConfig::default()).await.unwrap();
    assert!(
        began.elapsed() >= ms(10) && began.elapsed() <= ms(1011),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_policy_that_wants_a_failure_counts_the_attempts() {
    // (policies, classes of the failures, attempts made, class of the final failure)
    let on = |classes: &[&'static str], attempts| RetryPolicy {
        max_attempts: attempts,
        ..quick().on(classes.iter().copied())
    };
    let cases = [
        (vec![quick()], vec!["ValueError"], 1, Some("ValueError")),
        (vec![quick()], vec!["KeyError"], 1, Some("KeyError")),
        (vec![quick()], vec!["ConnectionResetError"], 2, None),
        (vec![quick()], vec!["E", "E", "E", "E"], 3, Some("E")),
        (
            vec![on(&["ValueError"], 2), on(&["E"], 4)],
            vec!["E", "E", "ValueError"],
            3,
            Some("ValueError"),
        ),
        (
            vec![on(&["ValueError"], 2), on(&["E"], 4)],
            vec!["ValueError", "E", "E"],
            4,
            None,
        ),
        (
            vec![quick().when(|failure| failure.message == "no")],
            vec!["ValueError"],
            2,
            None,
        ),
    ];
    for (policies, classes, attempts, failure) in cases {
        let calls = Calls::default();
        let options = policies
            .iter()
            .cloned()
            .fold(NodeOptions::new(), NodeOptions::retry);
        let graph = one(flaky(&classes, &calls), options).compile().unwrap();
        let result = graph.invoke(input(), RunConfig::default()).await;
        assert_eq!(calls.of("flaky"), attempts, "{classes:?}");
        match failure {
            Some(class) => assert_eq!(class_of(&result), class, "{classes:?}"),
            None => assert!(result.is_ok(), "{result:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_default_policy_is_for_nodes_without_their_own() {
    let calls = Calls::default();
    let build = |options| {
        one(flaky(&["E", "E"], &calls), options)
            .default_retry(quick())
            .compile()
            .unwrap()
    };
    build(NodeOptions::new())
        .invoke(input(), RunConfig::default())
        .await
        .unwrap();
    assert_eq!(calls.of("flaky"), 3);
    let calls = Calls::default();
    let own = NodeOptions::new().retry(RetryPolicy {
        max_attempts: 1,
        ..quick()
    });
    let graph = one(flaky(&["E", "E"], &calls), own)
        .default_retry(quick())
        .compile()
        .unwrap();
    assert_eq!(class_of(&graph.invoke(input(), RunConfig::default()).await), "E");
    assert_eq!(calls.of("flaky"), 1);
}

#[tokio::test(start_paused = true)]
async fn questions_are_not_retried_and_answers_outlive_an_attempt() {
    let calls = Calls::default();
    let counted = calls.clone();
    let node = Arc::new(move |context: NodeContext, _: Value| {
        let attempt = counted.add("n");
        async move {
            let answer = context.interrupt("sure?")?;
            if attempt < 3 {
                return Err(NodeError::new("E", "later"));
            }
            Ok(NodeOutput::from(json!({ "log": [answer] })))
        }
    });
    let graph = on_memory(one(node, NodeOptions::new().retry(quick())));
    let asked = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    assert_eq!((asked.status, calls.of("n")), (RunStatus::Interrupted, 1));
    let done = graph
        .invoke(Input::resume("yes"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!((log_of(&done.value), calls.of("n")), ("yes".into(), 3));
}

/// Sleeps so long, in parts; beats or emits after each.
fn slow(parts: u32, part: Duration, sign: &'static str) -> Arc<dyn Node> {
    Arc::new(move |context: NodeContext, _: Value| async move {
        for _ in 0..parts {
            tokio::time::sleep(part).await;
            match sign {
                "beat" => context.heartbeat(),
                "emit" => context.emit("here").await,
                _ => {}
            }
        }
        Ok(NodeOutput::from(json!({"log": ["slow"]})))
    })
}

#[tokio::test(start_paused = true)]
async fn timeouts_say_what_was_exceeded() {
    let auto = Timeout::idle(ms(100));
    let strict = auto.refresh_on(RefreshOn::Heartbeat);
    let run = "Node 'n' exceeded its run timeout of 0.100s (elapsed: 0.100s).";
    let idle = |elapsed| {
        format!("Node 'n' exceeded its idle timeout of 0.100s without making progress (elapsed: {elapsed}s).")
    };
    let cases = [
        (Timeout::run(ms(100)), slow(1, ms(99), ""), None),
        (Timeout::run(ms(100)), slow(1, ms(200), ""), Some(run.to_owned())),
        (
            Timeout::run(ms(100)),
            slow(9, ms(50), "beat"),
            Some(run.to_owned()),
        ),
        (auto, slow(1, ms(200), ""), Some(idle("0.100"))),
        (auto, slow(4, ms(90), "emit"), None),
        (auto, slow(4, ms(90), "beat"), None),
        (strict, slow(4, ms(90), "beat"), None),
        (strict, slow(4, ms(90), "emit"), Some(idle("0.100"))),
        (
            Timeout::run(ms(100)).and_idle(ms(500)),
            slow(1, ms(200), ""),
            Some(run.to_owned()),
        ),
    ];
    for (timeout, node, message) in cases {
        let graph = one(node, NodeOptions::new().timeout(timeout)).compile().unwrap();
        let result = graph.invoke(input(), RunConfig::default()).await;
        match (&result, message) {
            (Ok(_), None) => {}
            (Err(RunError::Node { failure, .. }), Some(message)) => {
                assert_eq!(
                    (&*failure.class, &failure.message),
                    ("NodeTimeoutError", &message)
                );
            }
            (other, message) => panic!("{timeout:?}: {other:?}, expected {message:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_attempt_is_retried_and_no_longer_heard() {
    let calls = Calls::default();
    let counted = calls.clone();
    let node = Arc::new(move |context: NodeContext, _: Value| {
        let attempt = counted.add("n");
        async move {
            if attempt == 1 {
                let left_behind = context.clone();
                tokio::spawn(async move {
                    tokio::time::sleep(ms(105)).await;
                    left_behind.emit("too late").await;
                });
                tokio::time::sleep(ms(500)).await;
            }
            tokio::time::sleep(ms(50)).await;
            context.emit("in time").await;
            Ok(NodeOutput::from(json!({"log": [attempt]})))
        }
    });
    let options = NodeOptions::new().retry(quick()).timeout(Timeout::run(ms(100)));
    let graph = on_memory(one(node, options));
    let (lines, result) = stream(&graph, input(), RunConfig::on("1"), &[Custom]).await;
    assert_eq!(lines, [r#"custom "in time""#]);
    assert_eq!(log_of(&result.unwrap().value), "2");
}

#[tokio::test(start_paused = true)]
async fn a_packet_may_have_a_timeout_of_its_own() {
    let fan = |timeout| {
        let node = slow(1, ms(200), "");
        let graph = base()
            .node_with("n", node, NodeOptions::new().timeout(Timeout::run(ms(100))))
            .branch(
                START,
                Branch::new(routes(move |_| vec![Target::send_within("n", 1, timeout)])),
            );
        on_memory(graph)
    };
    let longer = fan(Timeout::run(ms(300)));
    assert_eq!(
        log_of(&longer.invoke(input(), RunConfig::on("1")).await.unwrap().value),
        "slow"
    );
    let shorter = fan(Timeout::run(ms(50)))
        .invoke(input(), RunConfig::on("1"))
        .await;
    assert!(shorter.unwrap_err().to_string().contains("0.050s"));
}

#[test]
fn a_timeout_of_nothing_is_refused() {
    let node = || slow(1, ms(1), "");
    let graph = one(node(), NodeOptions::new().timeout(Timeout::run(Duration::ZERO)));
    let error = graph.compile().unwrap_err();
    assert_eq!(error.problems[0].code, "invalid-timeout");
    assert!(
        error.to_string().contains("run_timeout must be greater than 0"),
        "{error}"
    );
}

#[tokio::test]
async fn a_node_that_says_it_was_cancelled_has_failed() {
    let node = Arc::new(|_: NodeContext, _: Value| async { Err::<NodeOutput, _>(NodeError::Cancelled) });
    let graph = one(node, NodeOptions::new()).compile().unwrap();
    assert_eq!(
        class_of(&graph.invoke(input(), RunConfig::default()).await),
        "NodeCancelledError"
    );
}
