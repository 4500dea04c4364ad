//! Failures: attempts, timeouts, handlers, caches, limits, and the order in which tasks finish.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use superstep::StreamMode::*;
use superstep::checkpoint::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::stream::*;
use superstep::value::*;
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
async fn failed_attempts_are_reported_to_who_asks() {
    let calls = Calls::default();
    let options = NodeOptions::new().retry(quick().max_attempts(2));
    let options = options.fallback_value(json!({"log": ["instead"]}));
    let graph = on_memory(one(flaky(&["A", "B"], &calls), options));
    let config = RunConfig::on("1").modes([Attempts, Updates]);
    let mut run = graph.stream(input(), config);
    let mut lines = Vec::new();
    while let Some(event) = run.next().await {
        let mut data = event.data().as_object().cloned().unwrap_or_default();
        data.remove("id");
        lines.push(format!("{} {}", event.mode(), Value::Object(data)));
    }
    run.finish().await.unwrap();
    assert_eq!(
        lines,
        [
            r#"attempts {"name":"n","step":1,"attempt":1,"error":"A('no')","wait_ms":10,"fallback":false}"#,
            r#"attempts {"name":"n","step":1,"attempt":2,"error":"B('no')","wait_ms":null,"fallback":true}"#,
            r#"updates {"n":{"log":["instead"]}}"#,
        ]
    );
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
    let on = |classes: &[&'static str], attempts| quick().on(classes.iter().copied()).max_attempts(attempts);
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
    let own = NodeOptions::new().retry(quick().max_attempts(1));
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
        .invoke(Input::answer("yes"), RunConfig::on("1"))
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

/// As the reference does it: tasks of a nested graph that begin and end are signs of life of the node around it, and a
/// heartbeat in there is one of every node around it.
#[tokio::test(start_paused = true)]
async fn what_lives_in_a_nested_graph_keeps_the_node_around_it_alive() {
    let auto = Timeout::idle(ms(100));
    let strict = auto.refresh_on(RefreshOn::Heartbeat);
    let chain = |sign| {
        let log = ChannelSpec::append();
        let mut inner = StateGraph::new().channel("log", log).edge(START, "a0");
        for n in 0..4 {
            inner = inner.node_with(format!("a{n}"), slow(1, ms(60), sign), NodeOptions::new());
            if n > 0 {
                inner = inner.edge(format!("a{}", n - 1), format!("a{n}"));
            }
        }
        inner.compile().unwrap()
    };
    let long = one(slow(1, ms(150), ""), NodeOptions::new()).compile().unwrap();
    let cases = [
        (auto, chain(""), true),
        (strict, chain(""), false),
        (strict, chain("beat"), true),
        (auto, long, false),
    ];
    for (timeout, inner, lives) in cases {
        for called in [false, true] {
            let outer = StateGraph::new()
                .channel("log", ChannelSpec::append())
                .edge(START, "n");
            let options = NodeOptions::new().timeout(timeout);
            let outer = if called {
                let inner = inner.clone();
                let node = move |context: NodeContext, input: Value| {
                    let inner = inner.clone();
                    async move {
                        Ok(NodeOutput::from(
                            context.invoke(&inner, Input::value(input)).await?,
                        ))
                    }
                };
                outer.node_with("n", Arc::new(node), options)
            } else {
                outer.subgraph_with("n", &inner, options)
            };
            let result = outer
                .compile()
                .unwrap()
                .invoke(input(), RunConfig::default())
                .await;
            assert_eq!(result.is_ok(), lives, "{timeout:?}, called: {called}: {result:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_attempt_is_retried_and_ignored_from_then_on() {
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

/// `START -> a, s; a routes to b`; `a` is cached.
fn cached(calls: &Calls, policy: CachePolicy) -> Graph {
    let (node, router) = (calls.clone(), calls.clone());
    let a = Arc::new(move |_: NodeContext, _: Value| {
        node.add("a");
        async { Ok(NodeOutput::from(json!({"log": ["a"]}))) }
    });
    let graph = base()
        .node_with("a", a, NodeOptions::new().cache(policy))
        .node("b", logs("b"))
        .node("s", logs("s"))
        .edge(START, "a")
        .edge(START, "s")
        .branch(
            "a",
            Branch::new(routes(move |_| {
                router.add("router");
                vec![Target::node("b")]
            })),
        );
    on_memory(graph).with_cache(Arc::new(MemoryCache::new(100)))
}

#[tokio::test(start_paused = true)]
async fn a_kept_result_is_streamed_and_stored_as_if_the_node_had_run() {
    let calls = Calls::default();
    let graph = cached(&calls, CachePolicy::new().ttl(Duration::from_secs(60)));
    let first = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let (lines, second) = stream(&graph, input(), RunConfig::on("2"), &[Tasks, Updates, Values]).await;
    assert_eq!(
        lines,
        [
            r#"values {"x":1,"log":[]}"#,
            "start a",
            "start s",
            r#"updates {"a":{"log":["a"]},"__metadata__":{"cached":true}}"#,
            r#"updates {"s":{"log":["s"]}}"#,
            r#"end s {"log":["s"]}"#,
            r#"values {"x":1,"log":["a","s"]}"#,
            "start b",
            r#"updates {"b":{"log":["b"]}}"#,
            r#"end b {"log":["b"]}"#,
            r#"values {"x":1,"log":["a","s","b"]}"#,
        ]
    );
    assert_eq!((calls.of("a"), calls.of("router")), (1, 1), "routes are kept too");
    assert_eq!(second.unwrap().value, first.value);
    let tasks = graph
        .get_state(&at_step(&graph, "2", 0).await)
        .await
        .unwrap()
        .tasks;
    assert_eq!(
        tasks[0].result,
        Some(json!({"log": ["a"]})),
        "the writes are pending writes of the step"
    );

    let runs = async |thread: &str, x: i64| {
        let input = Input::value(json!({"x": x, "log": []}));
        graph.invoke(input, RunConfig::on(thread)).await.unwrap();
        calls.of("a")
    };
    assert_eq!(runs("3", 2).await, 2, "another input");
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(runs("4", 2).await, 3, "the result has expired");
    graph.clear_cache(["s"]).await.unwrap();
    assert_eq!(runs("5", 2).await, 3);
    graph.clear_cache(["a"]).await.unwrap();
    assert_eq!(runs("6", 2).await, 4);
    graph.clear_cache([""; 0]).await.unwrap();
    assert_eq!(runs("7", 2).await, 5);
}

#[tokio::test]
async fn the_key_decides_which_inputs_are_the_same() {
    let calls = Calls::default();
    let graph = cached(
        &calls,
        CachePolicy::new().key(|input| input.get("x").and_then(Value::as_i64).map(|x| x % 2).into()),
    );
    for (thread, x, runs) in [("1", 1, 1), ("2", 3, 1), ("3", 2, 2), ("4", 5, 2)] {
        let input = Input::value(json!({"x": x, "log": []}));
        graph.invoke(input, RunConfig::on(thread)).await.unwrap();
        assert_eq!(calls.of("a"), runs, "x = {x}");
    }
}

#[tokio::test]
async fn failures_are_not_kept_and_no_cache_is_no_policy() {
    let calls = Calls::default();
    let build = || {
        one(
            flaky(&["ValueError"], &calls),
            NodeOptions::new().cache(CachePolicy::new()),
        )
    };
    let graph = build().compile().unwrap();
    let error = graph.clear_cache(["n"]).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("No cache is set for this graph. Cannot clear cache."),
        "{error}"
    );
    let cached = graph.with_cache(Arc::new(MemoryCache::new(1)));
    let run = async || cached.invoke(input(), RunConfig::default()).await;
    assert_eq!(class_of(&run().await), "ValueError");
}

#[derive(Debug)]
struct Broken;

#[async_trait::async_trait]
impl NodeCache for Broken {
    async fn get(&self, key: &CacheKey) -> Result<Option<CachedWrites>, StorageError> {
        Err(self.clear(std::slice::from_ref(&key.place)).await.unwrap_err())
    }
    async fn set(&self, key: CacheKey, _: CachedWrites, _: Option<Duration>) -> Result<(), StorageError> {
        self.clear(&[key.place]).await
    }
    async fn clear(&self, _: &[Name]) -> Result<(), StorageError> {
        Err(StorageError::Unsupported("this"))
    }
}

#[tokio::test]
async fn a_broken_cache_breaks_no_run() {
    let calls = Calls::default();
    let graph = cached(&calls, CachePolicy::new()).with_cache(Arc::new(Broken));
    for thread in ["1", "2"] {
        graph.invoke(input(), RunConfig::on(thread)).await.unwrap();
    }
    assert_eq!(calls.of("a"), 2);
}

#[tokio::test]
async fn work_that_only_computes_holds_up_nobody() {
    // Both closures wait for each other, on a runtime of one thread: that ends only if each has a thread of its own.
    let meet = Arc::new(std::sync::Barrier::new(2));
    let node = |name: &'static str| {
        let meet = meet.clone();
        Arc::new(blocking(move |_: &NodeContext, _: Value| {
            meet.wait();
            Ok(NodeOutput::from(json!({ "log": [name] })))
        }))
    };
    let driven = {
        let meet = Arc::new(std::sync::Barrier::new(1));
        Arc::new(move |_: NodeContext, _: Value| {
            let meet = meet.clone();
            async move {
                tokio::task::yield_now().await;
                meet.wait();
                Ok(NodeOutput::from(json!({"log": ["c"]})))
            }
        })
    };
    let graph = base()
        .node_with("a", node("a"), NodeOptions::new())
        .node_with("b", node("b"), NodeOptions::new())
        .node_with("c", driven, NodeOptions::new().blocking())
        .edge(START, "a")
        .edge(START, "b")
        .edge(START, "c");
    let result = graph
        .compile()
        .unwrap()
        .invoke(input(), RunConfig::default())
        .await
        .unwrap();
    assert_eq!(log_of(&result.value), "a,b,c");
}

#[tokio::test]
async fn a_panic_in_blocking_work_is_a_failure_of_its_task() {
    let node = Arc::new(blocking(|_: &NodeContext, _: Value| panic!("no such luck")));
    let result = one(node, NodeOptions::new())
        .compile()
        .unwrap()
        .invoke(input(), RunConfig::default())
        .await;
    let Err(RunError::Node { failure, .. }) = result else {
        panic!("{result:?}")
    };
    assert_eq!(
        (&*failure.class, &*failure.message),
        ("Panic", "the node panicked: no such luck")
    );
}

#[tokio::test(start_paused = true)]
async fn blocking_work_that_takes_too_long_is_left_behind() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = Arc::new(std::sync::Mutex::new(wait));
    let node = Arc::new(blocking(move |_: &NodeContext, _: Value| {
        let _ = wait.lock().unwrap().recv();
        Ok(NodeOutput::none())
    }));
    let graph = one(node, NodeOptions::new().timeout(Timeout::run(ms(100))))
        .compile()
        .unwrap();
    let mut run = Box::pin(graph.invoke(input(), RunConfig::default()));
    // Time stands still while somebody computes, so it has to be moved by hand.
    assert!(futures::poll!(&mut run).is_pending());
    tokio::time::advance(ms(101)).await;
    assert_eq!(class_of(&run.await), "NodeTimeoutError");
    drop(release);
}

/// Tells when it is dropped.
struct Guard(Arc<std::sync::atomic::AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_stopped_run_drops_what_does_not_listen_and_can_go_on() {
    for siblings in [0, 1] {
        let calls = Calls::default();
        let dropped = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let started = Arc::new(tokio::sync::Notify::new());
        let (counted, flag, begun) = (calls.clone(), dropped.clone(), started.clone());
        let deaf = move |_: NodeContext, _: Value| {
            let attempt = counted.add("deaf");
            let guard = Guard(flag.clone());
            let begun = begun.clone();
            async move {
                let _guard = guard;
                if attempt == 1 {
                    begun.notify_one();
                    std::future::pending::<()>().await;
                }
                Ok(NodeOutput::from(json!({"log": ["deaf"]})))
            }
        };
        let mut graph = base().node("deaf", deaf).edge(START, "deaf");
        for sibling in 0..siblings {
            let (name, counted) = (format!("s{sibling}"), calls.clone());
            let label = name.clone();
            let node = move |_: NodeContext, _: Value| {
                counted.add("sibling");
                let label = label.clone();
                async move { Ok(NodeOutput::from(json!({ "log": [label] }))) }
            };
            graph = graph.node(name.clone(), node).edge(START, name);
        }
        let graph = on_memory(graph);
        let config = RunConfig::on("1").modes([Updates]);
        let mut run = graph.stream(input(), config);
        started.notified().await;
        if siblings > 0 {
            run.next().await.unwrap();
        }
        run.cancel();
        assert!(matches!(run.finish().await, Err(RunError::Cancelled)));
        while !dropped.load(std::sync::atomic::Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
        let live = graph.get_state(&StateRef::live("1")).await.unwrap();
        assert_eq!(live.next.join(","), "deaf", "the sibling's work is kept");
        let done = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
        assert_eq!(log_of(&done.value), if siblings > 0 { "deaf,s0" } else { "deaf" });
        assert_eq!((calls.of("deaf"), calls.of("sibling")), (2, siblings));
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_of_its_own_limit_holds_up_nobody_else() {
    let work = || {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let seen = most.clone();
        let node = move |_: NodeContext, _: Value| {
            let (now, most) = (now.clone(), most.clone());
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(ms(10)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(NodeOutput::none())
            }
        };
        (Arc::new(node), seen)
    };
    let ((narrow, of_narrow), (free, of_free)) = (work(), work());
    let of_kind = NodeOptions::new().kind("k");
    // The kind has places for two narrow tasks and all free ones: narrow tasks that wait must not take any.
    let graph = base()
        .node_with("narrow", narrow, of_kind.clone().concurrency(2))
        .node_with("free", free, of_kind)
        .branch(
            START,
            Branch::new(routes(|_| {
                let narrow = (0..8).map(|i| Target::send("narrow", i));
                narrow.chain((0..4).map(|i| Target::send("free", i))).collect()
            })),
        )
        .compile()
        .unwrap()
        .with_limits(Limits::new().kind("k", 6));
    let began = Instant::now();
    let input = Input::value(json!({"log": []}));
    graph.invoke(input, RunConfig::default()).await.unwrap();
    let most = [&of_narrow, &of_free].map(|most| most.load(Ordering::SeqCst));
    assert_eq!((most, began.elapsed().as_millis() / 10), ([2, 4], 4));
}

/// `node milliseconds` of every wait for a place, sorted: those that end at once do so in any order.
async fn waits(graph: &Graph, config: RunConfig) -> Vec<String> {
    let mut run = graph.stream(Input::value(json!({"log": []})), config.modes([Waits, Updates]));
    let mut seen = Vec::new();
    while let Some(event) = run.next().await {
        if event.mode() == Waits {
            let data = event.data();
            let field = |name| data.get(name).cloned().unwrap_or_default();
            seen.push(format!(
                "{} {}",
                field("name").as_str().unwrap(),
                field("waited_ms")
            ));
        }
    }
    run.finish().await.unwrap();
    seen.sort();
    seen
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waited_for_a_place_says_how_long_when_it_begins() {
    let slow = |_: NodeContext, _: Value| async {
        tokio::time::sleep(ms(10)).await;
        Ok(NodeOutput::none())
    };
    let fan = || {
        Branch::new(routes(|_| {
            let wide = (0..4).map(|i| Target::send("wide", i));
            wide.chain((0..3).map(|i| Target::send("narrow", i))).collect()
        }))
    };
    let graph = base()
        .node("wide", slow)
        .node_with("narrow", Arc::new(slow), NodeOptions::new().concurrency(1))
        .branch(START, fan())
        .compile()
        .unwrap();
    // The node's own place: the second waits for the first, the third for both.
    assert_eq!(
        waits(&graph, RunConfig::default()).await,
        ["narrow 10", "narrow 20"],
        "who does not wait says nothing"
    );
    // Three places of the run: one wide and two narrow tasks are queued for 10 ms, the last narrow one for 20; and two of the
    // narrow ones wait for 10 ms more, for the node's place.
    assert_eq!(
        waits(&graph, RunConfig::default().max_concurrency(3)).await,
        [
            "narrow 10",
            "narrow 10",
            "narrow 10",
            "narrow 10",
            "narrow 20",
            "wide 10"
        ]
    );

    // Before its second attempt a task waits again.
    let tried = Arc::new(AtomicUsize::new(0));
    let fails_once = move |_: NodeContext, _: Value| {
        let first = tried.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            tokio::time::sleep(ms(10)).await;
            match first {
                true => Err(NodeError::new("A", "no")),
                false => Ok(NodeOutput::none()),
            }
        }
    };
    let retry = quick().initial_interval(ms(5)).max_attempts(2);
    let graph = base()
        .node_with(
            "n",
            Arc::new(fails_once),
            NodeOptions::new().concurrency(1).retry(retry),
        )
        .branch(
            START,
            Branch::new(routes(|_| (0..2).map(|i| Target::send("n", i)).collect())),
        )
        .compile()
        .unwrap();
    // The other one waits for the first attempt, and that for it: 10 ms, of which 5 are the wait before the attempt.
    assert_eq!(waits(&graph, RunConfig::default()).await, ["n 10", "n 5"]);
}

#[tokio::test(start_paused = true)]
async fn a_wide_run_leaves_turns_to_others_under_a_shared_limit() {
    let work = Arc::new(|context: NodeContext, input: Value| async move {
        tokio::time::sleep(ms(10)).await;
        context.emit(input.clone()).await;
        Ok(NodeOutput::from(json!({ "log": [input] })))
    });
    let graph = base()
        .node_with("model", work, NodeOptions::new().kind("model"))
        .branch(
            START,
            Branch::new(routes(|state| {
                let width = state.get("x").and_then(Value::as_i64).unwrap_or_default();
                (0..width).map(|i| Target::send("model", i)).collect()
            })),
        )
        .compile()
        .unwrap()
        .with_limits(Limits::new().kind("model", 2));
    let run = async |width: i64| {
        let began = Instant::now();
        let input = Input::value(json!({"x": width, "log": []}));
        graph.invoke(input, RunConfig::default()).await.unwrap();
        began.elapsed()
    };
    let wide = run(500);
    let narrow = async {
        tokio::time::sleep(ms(5)).await;
        run(3).await
    };
    let (wide, narrow) = tokio::join!(wide, narrow);
    assert_eq!(wide.as_millis(), 2520, "503 tasks of 10 ms, two at a time");
    assert!(narrow <= ms(45), "three tasks among five hundred took {narrow:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_waits_for_its_next_attempt_gives_its_place_away() {
    let calls = Calls::default();
    let flaky = flaky(&["E"], &calls);
    let policy = quick().initial_interval(Duration::from_secs(100));
    let graph = base()
        .node_with("n", flaky, NodeOptions::new().kind("k").retry(policy))
        .node_with("z", slow(1, ms(10), ""), NodeOptions::new().kind("k"))
        .edge(START, "n")
        .edge(START, "z");
    let graph = on_memory(graph).with_limits(Limits::new().kind("k", 1));
    let began = Instant::now();
    let mut run = graph.stream(input(), RunConfig::on("1").modes([Updates]));
    let first = run.next().await.unwrap();
    assert!(matches!(&first.payload, Payload::Update(update) if &*update.node == "z"));
    assert!(began.elapsed() < ms(100));
    run.finish().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_fallback_does_the_work_after_the_last_attempt() {
    let calls = Calls::default();
    let stand_in = |context: NodeContext, input: Value| async move {
        let failed = context.failed().cloned().unwrap();
        let log = format!(
            "{} {} {}",
            failed.node,
            failed.error,
            input.get("x").cloned().unwrap_or_default()
        );
        Ok(NodeOutput::from(json!({ "log": [log] })))
    };
    let fails = ["E", "E", "E"];
    let cases = [
        (
            NodeOptions::new().fallback(stand_in).retry(quick()),
            "n E: no 1,z",
            3,
        ),
        (
            NodeOptions::new().fallback_value(json!({"log": ["value"]})),
            "value,z",
            1,
        ),
    ];
    for (options, log, attempts) in cases {
        let calls = Calls::default();
        let graph = one(flaky(&fails, &calls), options)
            .node("z", logs("z"))
            .edge("n", "z")
            .compile()
            .unwrap();
        let result = graph.invoke(input(), RunConfig::default()).await.unwrap();
        assert_eq!(
            (log_of(&result.value).as_str(), calls.of("flaky")),
            (log, attempts)
        );
    }
    let worse = |_: NodeContext, _: Value| async { Err::<NodeOutput, _>(NodeError::new("Worse", "no")) };
    let graph = one(flaky(&fails, &calls), NodeOptions::new().fallback(worse))
        .compile()
        .unwrap();
    assert_eq!(
        class_of(&graph.invoke(input(), RunConfig::default()).await),
        "Worse"
    );
}

#[tokio::test(start_paused = true)]
async fn another_attempt_begins_a_nested_graph_again() {
    let calls = Calls::default();
    let (first, second) = (calls.clone(), calls.clone());
    let nested = base()
        .node("first", move |_: NodeContext, _: Value| {
            first.add("first");
            async { Ok(NodeOutput::from(json!({"log": ["first"]}))) }
        })
        .node("second", move |_: NodeContext, _: Value| {
            let attempt = second.add("second");
            async move {
                match attempt {
                    1 => Err(NodeError::new("E", "not yet")),
                    _ => Ok(NodeOutput::from(json!({"log": ["second"]}))),
                }
            }
        })
        .edge(START, "first")
        .edge("first", "second")
        .compile()
        .unwrap();
    let graph = base()
        .subgraph_with("nested", &nested, NodeOptions::new().retry(quick()))
        .edge(START, "nested");
    let result = on_memory(graph)
        .invoke(input(), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(log_of(&result.value), "first,second");
    assert_eq!((calls.of("first"), calls.of("second")), (2, 2), "as in LangGraph");
}

/// Siblings of a failed node go on, and what they wrote is kept; readers of the stream get the failure and no more.
#[tokio::test(start_paused = true)]
async fn nothing_is_emitted_after_a_failure() {
    let slow = |context: NodeContext, _: Value| async move {
        context.emit("before").await;
        tokio::time::sleep(ms(50)).await;
        context.emit("after").await;
        Ok(NodeOutput::from(json!({"log": ["slow"]})))
    };
    let fails = |_: NodeContext, _: Value| async {
        tokio::time::sleep(ms(10)).await;
        Err::<NodeOutput, _>(NodeError::new("Broken", "no"))
    };
    let graph = base()
        .node("slow", slow)
        .node("fails", fails)
        .edge(START, "slow")
        .edge(START, "fails")
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(MemorySaver::new()));
    let config = RunConfig::on("t").modes([Custom]);
    let mut run = graph.stream(Input::value(json!({"x": 1})), config);
    let mut emitted = Vec::new();
    while let Some(event) = run.next().await {
        emitted.push(event.data());
    }
    assert_eq!(class_of(&run.finish().await), "Broken");
    assert_eq!(emitted, [json!("before")]);
    let state = graph.get_state(&StateRef::live("t")).await.unwrap();
    assert_eq!(
        state.values.get("log"),
        Some(&json!(["slow"])),
        "its work is kept"
    );
}
