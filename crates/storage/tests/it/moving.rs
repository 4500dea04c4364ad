//! Threads that travel: from one backend to another, through a file; and rules for threads that nobody touches.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::{CheckpointTuple, Keep, ListQuery, ThreadQuery};
use superstep::graph::BinaryOp;
use superstep::run::StateRef;
use superstep::value::Object;
use superstep::{
    ChannelSpec, Checkpointer, Graph, Input, MemorySaver, NodeContext, NodeOutput, RunConfig, START,
    StateGraph, ThreadId, Value, json,
};
use superstep_storage::SqliteSaver;
use superstep_storage::retention::{Exempt, Retention, retain};
use superstep_storage::transfer::{TransferError, export, import, transfer};

/// A growing list, a delta key, a nested graph and a question.
fn graph(saver: Arc<dyn Checkpointer>) -> Graph {
    let say = |_: NodeContext, _: Value| async move {
        Ok(NodeOutput::from(json!({"log": ["said"], "sum": [1, 2], "n": 1})))
    };
    let ask = |context: NodeContext, _: Value| async move {
        let answer = context.interrupt(json!({"question": "ok?"}))?;
        Ok(NodeOutput::from(json!({"log": [answer]})))
    };
    let inner = StateGraph::new()
        .channel("log", ChannelSpec::append())
        .node("deep", say)
        .edge(START, "deep")
        .compile()
        .expect("a nested graph");
    StateGraph::new()
        .channel("log", ChannelSpec::append())
        .channel("sum", ChannelSpec::delta(BinaryOp::Append, 3))
        .channel("n", ChannelSpec::last_value())
        .node("say", say)
        .subgraph("inner", &inner)
        .node("ask", ask)
        .edge(START, "say")
        .edge("say", "inner")
        .edge("inner", "ask")
        .compile()
        .expect("a graph")
        .with_checkpointer(saver)
}

async fn everything(saver: &dyn Checkpointer, thread: &str) -> Vec<CheckpointTuple> {
    let query = ListQuery::new().thread(thread);
    let mut all = saver.list(&query).await.expect("a history");
    for tuple in &mut all {
        tuple.thread = "any".into();
    }
    all
}

/// A thread with two turns, a fork and a question that waits.
async fn sample(saver: &Arc<dyn Checkpointer>) -> Graph {
    let graph = graph(saver.clone());
    let config = || RunConfig::on("t");
    let given = |text: &str| Input::value(json!({"log": [text], "sum": [0]}));
    graph.invoke(given("a"), config()).await.expect("a first turn");
    graph
        .invoke(Input::answer(json!("yes")), config())
        .await
        .expect("an answer");
    let fork = graph.get_state(&StateRef::live("t")).await.expect("a state");
    graph.invoke(given("b"), config()).await.expect("a second turn");
    let past = config().checkpoint_id(fork.checkpoint.expect("a checkpoint").id);
    graph.invoke(given("c"), past).await.expect("a branch");
    graph
}

fn on(_: u64, _: u64) -> bool {
    true
}

async fn exported(saver: &dyn Checkpointer) -> Vec<u8> {
    let mut file = Vec::new();
    let about: Object = [("title", "Of a fork")].into_iter().collect();
    export(saver, &"t".into(), &about, &mut file, &on)
        .await
        .expect("an export");
    file
}

#[tokio::test]
async fn a_thread_reads_the_same_wherever_it_is_moved() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    let graph_there = sample(&memory).await;
    let before = everything(&*memory, "t").await;
    assert!(
        before.iter().any(|tuple| !tuple.ns.is_empty()),
        "nested checkpoints are part of it"
    );
    let sqlite: Arc<dyn Checkpointer> =
        Arc::new(SqliteSaver::open(folder.path().join("a.db")).expect("a database"));
    let count = transfer(&*memory, &*sqlite, &"t".into(), &"moved".into(), &on)
        .await
        .expect("a move");
    assert_eq!(count.checkpoints, before.len() as u64);
    assert_eq!(everything(&*sqlite, "moved").await, before);
    let back: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    transfer(&*sqlite, &*back, &"moved".into(), &"t".into(), &on)
        .await
        .expect("a way back");
    assert_eq!(everything(&*back, "t").await, before);

    // The question that waits is answered where it is now, and both go on in the same way.
    let there = graph_there
        .invoke(Input::answer(json!("ok")), RunConfig::on("t"))
        .await
        .expect("a run");
    let graph_here = graph(sqlite.clone());
    let here = graph_here.invoke(Input::answer(json!("ok")), RunConfig::on("moved"));
    assert_eq!(here.await.expect("a run").value, there.value);
}

#[tokio::test]
async fn a_file_holds_a_whole_thread_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let sqlite: Arc<dyn Checkpointer> =
        Arc::new(SqliteSaver::open(folder.path().join("a.db")).expect("a database"));
    sample(&sqlite).await;
    let before = everything(&*sqlite, "t").await;
    let file = exported(&*sqlite).await;
    let other = MemorySaver::new();
    let came = import(&other, &mut &*file, Some(&"u".into()), &on)
        .await
        .expect("an import");
    assert_eq!((came.thread.as_str(), came.original.as_str()), ("u", "t"));
    assert_eq!(
        (came.checkpoints, came.about.get("title")),
        (before.len() as u64, Some(&json!("Of a fork")))
    );
    assert_eq!(everything(&other, "u").await, before);
    // What a file says does not depend on the backend it came from.
    let mut again = Vec::new();
    export(&other, &"u".into(), &Object::new(), &mut again, &on)
        .await
        .expect("an export");
    let lines = |file: &[u8]| {
        file.split(|byte| *byte == b'\n')
            .skip(1)
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&again), lines(&file));
    let taken = import(&other, &mut &*file, Some(&"u".into()), &on)
        .await
        .expect_err("it is there");
    assert!(
        matches!(&taken, TransferError::Taken(thread) if thread.as_str() == "u"),
        "{taken}"
    );
    assert_eq!(
        everything(&other, "u").await,
        before,
        "what was there is as it was"
    );
}

#[tokio::test]
async fn a_long_conversation_makes_a_file_that_grows_with_its_messages() {
    let saver: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    let graph = StateGraph::new()
        .channel("log", ChannelSpec::append())
        .node("say", |_: NodeContext, _: Value| async move {
            Ok(NodeOutput::from(json!({"log": ["an answer of some length"]})))
        })
        .edge(START, "say")
        .compile()
        .expect("a graph")
        .with_checkpointer(saver.clone());
    let mut sizes = Vec::new();
    for _ in 0..2 {
        for _ in 0..100 {
            let input = Input::value(json!({"log": ["a question of some length"]}));
            graph.invoke(input, RunConfig::on("t")).await.expect("a turn");
        }
        sizes.push(exported(&*saver).await.len());
    }
    assert!(
        sizes[1] < sizes[0] * 21 / 10,
        "twice the turns took {sizes:?} bytes"
    );
}

#[tokio::test]
async fn a_file_that_is_not_whole_leaves_nothing() {
    let saver: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    sample(&saver).await;
    let file = String::from_utf8(exported(&*saver).await).expect("text");
    let lines: Vec<&str> = file.lines().collect();
    let without = |left_out: usize| {
        let kept = lines.iter().enumerate().filter(|(index, _)| *index != left_out);
        kept.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    let cut = &file[..file.len() - 40];
    let newer = file.replacen("superstep-thread/1", "superstep-thread/2", 1);
    let broken = [
        (
            String::new(),
            "line 1 of the file cannot be used: it is not the beginning of an exported thread",
        ),
        (
            "{\"format\": 1}".to_owned(),
            "it is not the beginning of an exported thread",
        ),
        (
            newer,
            "line 1 of the file cannot be used: it has the format superstep-thread/2, which a newer release reads",
        ),
        (
            cut.to_owned(),
            "the file ends before the thread does: it was cut off",
        ),
        (
            without(lines.len() - 1),
            "the file ends before the thread does: it was cut off",
        ),
        (without(lines.len() - 2), "checkpoints should come before it"),
        (
            without(1),
            "line 2 of the file cannot be used: what it continues did not come before it",
        ),
        (
            file.replacen("\n", "\n[]\n", 1),
            "line 2 of the file cannot be used",
        ),
        (
            file.replacen(lines[3], &format!("{}\n{}", lines[3], lines[3]), 1),
            "came before",
        ),
    ];
    for (text, says) in broken {
        let to = MemorySaver::new();
        let error = import(&to, &mut text.as_bytes(), None, &on)
            .await
            .expect_err(says);
        assert!(error.to_string().contains(says), "{error} instead of {says}");
        assert!(
            everything(&to, "t").await.is_empty(),
            "{says}: something was left"
        );
    }
    let to = MemorySaver::new();
    let stop = |done: u64, _: u64| done < 3;
    let stopped = import(&to, &mut file.as_bytes(), None, &stop)
        .await
        .expect_err("it was stopped");
    assert!(matches!(stopped, TransferError::Stopped), "{stopped}");
    assert!(everything(&to, "t").await.is_empty());
    let nobody = transfer(&to, &*saver, &"nobody".into(), &"x".into(), &on)
        .await
        .expect_err("nothing to move");
    assert_eq!(nobody.to_string(), "there is no thread nobody");
}

#[tokio::test]
async fn a_rule_keeps_what_it_says_of_threads_that_nobody_touched() {
    let saver: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    let graph = sample(&saver).await;
    for thread in ["done", "busy"] {
        let config = || RunConfig::on(thread);
        graph
            .invoke(Input::value(json!({"log": ["x"]})), config())
            .await
            .expect("a run");
        graph
            .invoke(Input::answer(json!("yes")), config())
            .await
            .expect("an answer");
    }
    let all = saver.threads(&ThreadQuery::default()).await.expect("threads");
    let count = |thread: &str| {
        all.iter()
            .find(|t| t.thread.as_str() == thread)
            .expect("a thread")
            .checkpoints
    };
    let now = u64::try_from(
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("a clock")
            .as_millis(),
    )
    .expect("a time");
    let day = 86_400_000;
    let rule = |keep| Retention::new(Duration::from_millis(day), keep);
    let exempt = Exempt {
        threads: HashSet::from([ThreadId::from("busy")]),
        checkpoints: Vec::new(),
    };
    let young = retain(&*saver, &rule(Keep::Nothing), now, &exempt, &on)
        .await
        .expect("a rule");
    assert_eq!(
        (young.threads, young.checkpoints),
        (0, 0),
        "nothing has been idle for a day"
    );

    let later = now + 2 * day;
    let plan = retain(&*saver, &rule(Keep::Nothing).dry_run(true), later, &exempt, &on)
        .await
        .expect("a dry run");
    assert_eq!(
        plan.threads, 1,
        "one waits for an answer, one is exempt: {plan:?}"
    );
    assert_eq!(
        saver.threads(&ThreadQuery::default()).await.expect("threads"),
        all,
        "a dry run changes nothing"
    );

    let state = graph.get_state(&StateRef::live("t")).await.expect("a state");
    let went = retain(&*saver, &rule(Keep::Latest), later, &exempt, &on)
        .await
        .expect("a rule");
    assert!(went.threads == 0 && went.checkpoints > 0, "{went:?}");
    assert_eq!(
        went.branches.len(),
        1,
        "the other branch is lost, and reported as such: {went:?}"
    );
    let after = graph.get_state(&StateRef::live("t")).await.expect("a state");
    assert_eq!(
        (after.values, after.interrupts),
        (state.values, state.interrupts),
        "delta keys keep what they need"
    );
    let left = saver
        .thread(&"t".into())
        .await
        .expect("an answer")
        .expect("a thread");
    assert!(left.checkpoints < count("t"), "{left:?}");
    let busy = saver
        .thread(&"busy".into())
        .await
        .expect("an answer")
        .expect("a thread");
    assert_eq!(busy.checkpoints, count("busy"));

    let gone = retain(&*saver, &rule(Keep::Nothing), later, &exempt, &on)
        .await
        .expect("a rule");
    assert_eq!(gone.threads, 1);
    let left: Vec<String> = saver
        .threads(&ThreadQuery::default())
        .await
        .expect("threads")
        .iter()
        .map(|t| t.thread.to_string())
        .collect();
    assert_eq!(left, ["busy", "t"]);
}
