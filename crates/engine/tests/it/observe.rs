//! What a run shows of itself: spans with their fields, and what it cost.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use crate::support::*;
use superstep::checkpoint::*;
use superstep::graph::BinaryOp;
use superstep::run::StateRef;
use superstep::stream::*;
use superstep::*;

#[derive(Clone, Debug, Default)]
struct Seen {
    name: &'static str,
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
    closed: bool,
}

/// Keeps every span of the engine, in the order in which they began.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Collected>>);

#[derive(Default)]
struct Collected {
    list: Vec<Seen>,
    places: HashMap<u64, usize>,
}

struct Fields<'a>(&'a mut BTreeMap<&'static str, String>);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

/// Keeps every warning of the engine, as the fields of it.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<BTreeMap<&'static str, String>>>>);

impl<S: tracing::Subscriber> Layer<S> for Warnings {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut fields = BTreeMap::new();
        event.record(&mut Fields(&mut fields));
        self.0.lock().unwrap().push(fields);
    }
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut seen = Seen {
            name: attributes.metadata().name(),
            parent: context
                .span(id)
                .and_then(|span| span.parent())
                .map(|parent| parent.id().into_u64()),
            ..Seen::default()
        };
        attributes.record(&mut Fields(&mut seen.fields));
        let Collected { list, places } = &mut *self.0.lock().unwrap();
        places.insert(id.into_u64(), list.len());
        list.push(seen);
    }
    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let Collected { list, places } = &mut *self.0.lock().unwrap();
        values.record(&mut Fields(&mut list[places[&id.into_u64()]].fields));
    }
    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let Collected { list, places } = &mut *self.0.lock().unwrap();
        list[places[&id.into_u64()]].closed = true;
    }
}

/// While there is one subscriber only, tracing asks that of the thread which first comes to a span; that may be another
/// test's thread, which has none, and the span would stay off for all.
fn keep_second() {
    static SECOND: OnceLock<tracing::Dispatch> = OnceLock::new();
    SECOND.get_or_init(|| tracing::Dispatch::new(tracing_subscriber::registry().with(LevelFilter::OFF)));
}

impl Spans {
    fn listen(&self, level: LevelFilter) -> tracing::subscriber::DefaultGuard {
        keep_second();
        let engine = tracing_subscriber::filter::Targets::new().with_target(observe::TARGET, level);
        tracing::subscriber::set_default(tracing_subscriber::registry().with(engine).with(self.clone()))
    }
    /// One line a span: its depth as indentation, its name, and the fields asked for.
    fn lines(&self, fields: &[&str]) -> Vec<String> {
        let Collected { list, places } = &*self.0.lock().unwrap();
        let line = |seen: &Seen| {
            assert!(seen.closed, "the span {} was never closed", seen.name);
            let mut depth = 0;
            let mut parent = seen.parent;
            while let Some(id) = parent {
                depth += 1;
                parent = list[places[&id]].parent;
            }
            let shown: Vec<String> = fields
                .iter()
                .filter_map(|field| Some(format!(" {field}={}", seen.fields.get(field)?)))
                .collect();
            format!("{}{}{}", "  ".repeat(depth), seen.name, shown.concat())
        };
        list.iter().map(line).collect()
    }
    fn field(&self, name: &str, field: &str) -> Vec<String> {
        let list = &self.0.lock().unwrap().list;
        let of = list.iter().filter(|seen| seen.name == name);
        of.filter_map(|seen| seen.fields.get(field).cloned()).collect()
    }
}

#[tokio::test]
async fn a_run_holds_steps_a_step_its_tasks_and_a_task_its_attempts() {
    let spans = Spans::default();
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("b", logs("b"))
            .node("c", logs("c"))
            .edge(START, "a")
            .edge("a", "b")
            .edge("a", "c"),
    );
    let config = RunConfig::on("t1").run_id("r1");
    {
        let _listening = spans.listen(LevelFilter::DEBUG);
        graph.invoke(input(), config).await.unwrap();
    }
    assert_eq!(
        spans.lines(&[
            "run.id",
            "thread.id",
            "step",
            "node",
            "attempt",
            "steps",
            "tasks",
            "writes",
            "input",
            "output",
            "outcome"
        ]),
        [
            r#"run run.id=r1 thread.id=t1 steps=2 tasks=3 writes=3 input={"x":1,"log":[]} output={"x":1,"log":["a","b","c"]} outcome=done"#,
            "  step step=1 tasks=1 outcome=done",
            r#"    task step=1 node=a input={"x":1,"log":[]} output={"log":["a"]} outcome=done"#,
            "      attempt node=a attempt=1 outcome=done",
            "  step step=2 tasks=2 outcome=done",
            r#"    task step=2 node=b input={"x":1,"log":["a"]} output={"log":["b"]} outcome=done"#,
            r#"    task step=2 node=c input={"x":1,"log":["a"]} output={"log":["c"]} outcome=done"#,
            "      attempt node=b attempt=1 outcome=done",
            "      attempt node=c attempt=1 outcome=done",
        ]
    );
    let history = graph
        .get_state_history(&"t1".into(), &ListQuery::default())
        .await
        .unwrap();
    let mut ids: Vec<String> = history
        .iter()
        .flat_map(|entry| &entry.tasks)
        .filter(|task| &*task.name != START)
        .map(|task| task.id.to_string())
        .collect();
    ids.sort();
    let mut shown = spans.field("task", "task.id");
    shown.sort();
    assert_eq!(shown, ids, "spans name tasks as the history does");
}

#[tokio::test]
async fn routers_of_the_entry_have_a_step_of_their_own() {
    let spans = Spans::default();
    let graph = base()
        .node("a", logs("a"))
        .branch(START, Branch::new(routes(|_| vec![Target::node("a")])))
        .compile()
        .unwrap();
    {
        let _listening = spans.listen(LevelFilter::DEBUG);
        let result = graph.invoke(input(), RunConfig::default()).await.unwrap();
        assert_eq!(result.metrics, None, "nobody asked");
    }
    assert_eq!(
        spans.lines(&["step", "node", "steps", "tasks"]),
        [
            "run steps=1 tasks=1",
            "  step step=0 tasks=1",
            "    task step=0 node=__start__",
            "  step step=1 tasks=1",
            "    task step=1 node=a",
            "      attempt node=a",
        ]
    );
}

#[tokio::test]
async fn a_listener_of_runs_only_is_shown_nothing_else() {
    let spans = Spans::default();
    {
        let _listening = spans.listen(LevelFilter::INFO);
        let graph = chain(&["a"]).compile().unwrap();
        graph.invoke(input(), RunConfig::default()).await.unwrap();
    }
    assert_eq!(spans.lines(&["outcome"]), ["run outcome=done"]);
}

#[tokio::test]
async fn content_is_cut_at_its_limit_and_left_out_at_none() {
    let graph = base()
        .node("a", returns(json!({"log": ["äöü".repeat(1_000)]})))
        .edge(START, "a")
        .compile()
        .unwrap();
    for (limit, shown) in [
        (0, vec![]),
        (13, vec![r#"{"log":["äö…"#]),
        // A character of two bytes is not torn.
        (12, vec![r#"{"log":["ä…"#]),
    ] {
        let spans = Spans::default();
        let config = RunConfig::default().content_limit(limit);
        {
            let _listening = spans.listen(LevelFilter::DEBUG);
            graph.invoke(input(), config).await.unwrap();
        }
        assert_eq!(spans.field("task", "output"), shown, "limit {limit}");
        assert_eq!(spans.field("run", "input").len(), usize::from(limit > 0));
    }
}

#[tokio::test]
async fn failures_show_at_each_level() {
    let spans = Spans::default();
    let fails = |_: NodeContext, _: Value| async { Err(NodeError::new("ValueError", "no such city")) };
    let graph = base().node("bad", fails).edge(START, "bad").compile().unwrap();
    {
        let _listening = spans.listen(LevelFilter::DEBUG);
        graph.invoke(input(), RunConfig::default()).await.unwrap_err();
    }
    assert_eq!(
        spans.lines(&["outcome", "error", "error.code"]),
        [
            "run outcome=failed error=node \"bad\" failed: ValueError: no such city error.code=node-failed",
            "  step outcome=failed error=node \"bad\" failed: ValueError: no such city",
            "    task outcome=failed error=ValueError: no such city",
            "      attempt outcome=failed error=ValueError: no such city",
        ]
    );
}

#[tokio::test]
async fn questions_breakpoints_and_stops_are_no_failures() {
    let ask =
        |context: NodeContext, _: Value| async move { Ok(NodeOutput::from(context.interrupt("age?")?)) };
    let graph = on_memory(base().node("ask", ask).edge(START, "ask"));
    let outcomes = |spans: &Spans| spans.lines(&["outcome"]);

    let spans = Spans::default();
    let listening = spans.listen(LevelFilter::DEBUG);
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    drop(listening);
    assert_eq!(
        outcomes(&spans),
        [
            "run outcome=interrupted",
            "  step outcome=interrupted",
            "    task outcome=interrupted",
            "      attempt outcome=interrupted"
        ]
    );

    let spans = Spans::default();
    let listening = spans.listen(LevelFilter::DEBUG);
    let config = RunConfig::on("2").interrupt_before(["ask"]);
    graph.invoke(input(), config).await.unwrap();
    drop(listening);
    assert_eq!(outcomes(&spans), ["run outcome=breakpoint"]);

    let spans = Spans::default();
    let listening = spans.listen(LevelFilter::DEBUG);
    let hangs = |_: NodeContext, _: Value| std::future::pending::<Result<NodeOutput, NodeError>>();
    let graph = base().node("h", hangs).edge(START, "h").compile().unwrap();
    let config = RunConfig::default();
    let cancel = config.cancel.clone();
    let run = graph.invoke(input(), config);
    let (result, ()) = tokio::join!(run, async { cancel.cancel() });
    drop(listening);
    assert!(matches!(result, Err(RunError::Cancelled)));
    assert_eq!(
        outcomes(&spans),
        [
            "run outcome=cancelled",
            "  step outcome=cancelled",
            "    task outcome=cancelled",
            "      attempt outcome=cancelled"
        ]
    );
}

/// A memory backend that takes its time.
#[derive(Debug, Default)]
struct Slow(MemorySaver);

const COMMIT: Duration = Duration::from_millis(7);

#[async_trait::async_trait]
impl Checkpointer for Slow {
    async fn commit(&self, commit: Commit) -> Result<(), StorageError> {
        tokio::time::sleep(COMMIT).await;
        self.0.commit(commit).await
    }
    async fn get(
        &self,
        thread: &ThreadId,
        ns: &str,
        id: Option<&CheckpointId>,
    ) -> Result<Option<CheckpointTuple>, StorageError> {
        self.0.get(thread, ns, id).await
    }
    async fn list(&self, query: &ListQuery) -> Result<Vec<CheckpointTuple>, StorageError> {
        self.0.list(query).await
    }
    async fn heads(&self, query: &ListQuery) -> Result<Vec<CheckpointHead>, StorageError> {
        self.0.heads(query).await
    }
    async fn threads(
        &self,
        query: &superstep::checkpoint::ThreadQuery,
    ) -> Result<Vec<ThreadSummary>, StorageError> {
        self.0.threads(query).await
    }
    fn coordination(&self) -> Option<&dyn Coordination> {
        self.0.coordination()
    }
    async fn delete_thread(&self, thread: &ThreadId) -> Result<(), StorageError> {
        self.0.delete_thread(thread).await
    }
    async fn copy_thread(&self, from: &ThreadId, to: &ThreadId) -> Result<(), StorageError> {
        self.0.copy_thread(from, to).await
    }
}

fn sleeps(millis: u64, update: Value) -> impl Node {
    move |_: NodeContext, _: Value| {
        let update = update.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Ok(NodeOutput::Update(update))
        }
    }
}

#[tokio::test(start_paused = true)]
async fn time_goes_to_nodes_storage_readers_or_the_engine() {
    let graph = base()
        .node("a", sleeps(100, json!({"log": ["a"]})))
        .node("b", sleeps(200, json!({"log": ["b"]})))
        .node("c", sleeps(500, json!({"log": ["c"]})))
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "c")
        .compile()
        .unwrap()
        .with_checkpointer(Arc::new(Slow::default()));
    let meter = Meter::new();
    let config = RunConfig::on("1").metrics(meter.clone());
    let metrics = graph.invoke(input(), config).await.unwrap().metrics.unwrap();
    assert_eq!(metrics, meter.read(), "both say the same");
    assert_eq!((metrics.steps, metrics.tasks, metrics.writes), (2, 3, 3));
    assert_eq!(
        metrics.in_nodes,
        Duration::from_millis(600),
        "b and c work at the same time"
    );
    // Checkpoints -1 to 2; the writes of b are stored while c works.
    assert_eq!(metrics.commits, 5);
    assert_eq!(metrics.in_storage, 4 * COMMIT);
    assert_eq!(metrics.in_readers, Duration::ZERO);
    assert_eq!(
        metrics.in_engine,
        Duration::ZERO,
        "the stopped clock sees no work"
    );
    assert_eq!(metrics.elapsed(), Duration::from_millis(600) + 4 * COMMIT);
}

#[tokio::test(start_paused = true)]
async fn a_failed_run_was_measured_too() {
    let fails = |_: NodeContext, _: Value| async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        Err(NodeError::new("ValueError", "no"))
    };
    let graph = on_memory(chain(&["a"]).node("bad", fails).edge("a", "bad"));
    let meter = Meter::new();
    let config = RunConfig::on("1").metrics(meter.clone());
    graph.invoke(input(), config).await.unwrap_err();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let metrics = meter.read();
    assert_eq!((metrics.steps, metrics.tasks, metrics.writes), (2, 2, 1));
    assert_eq!(
        metrics.elapsed(),
        Duration::from_millis(30),
        "it stands still after the end"
    );
}

#[tokio::test]
async fn bytes_follow_what_is_new_and_memory_what_is_there() {
    const TEXT: usize = 10_000;
    let graph = on_memory(
        base()
            .node("say", returns(json!({"log": ["x".repeat(TEXT)]})))
            .edge(START, "say"),
    );
    let mut before = RunMetrics::default();
    for turn in 1..=5 {
        let meter = Meter::new();
        let config = RunConfig::on("1").metrics(meter.clone());
        graph.invoke(input(), config).await.unwrap();
        let metrics = meter.read();
        let bytes = metrics.checkpoint_bytes as usize;
        // The text reaches the backend as a write of its task and as the end of the list.
        assert!(
            (2 * TEXT..2 * TEXT + 5_000).contains(&bytes),
            "turn {turn}: {bytes}"
        );
        let peak = metrics.peak_state_bytes as usize;
        assert!(
            (turn * TEXT..turn * TEXT + 2_000).contains(&peak),
            "turn {turn}: {peak}"
        );
        assert!(metrics.peak_state_bytes > before.peak_state_bytes);
        before = metrics;
    }
}

#[tokio::test]
async fn what_an_overwrite_takes_from_others_of_its_step_is_logged() {
    let add = || ChannelSpec::binary(BinaryOp::Add, None);
    for (updates, wanted) in [
        // Lost, in each kind of key that joins.
        (
            json!([{"n": 5}, {"n": overwrite(10)}, {"n": 3}]),
            Some(("n", "b", r#"{"a", "c"}"#)),
        ),
        (
            json!([{"log": overwrite(json!(["b"]))}, {"log": ["c"]}]),
            Some(("log", "a", r#"{"b"}"#)),
        ),
        (
            json!([{"d": ["a"]}, {"d": overwrite(json!([]))}]),
            Some(("d", "b", r#"{"a"}"#)),
        ),
        // Nothing is lost.
        (json!([{"n": 5}, {"n": 3}]), None),
        (json!([{"n": overwrite(10)}]), None),
        (json!([{"n": overwrite(10)}, {"log": ["b"]}]), None),
    ] {
        let mut graph = StateGraph::new()
            .channel("n", add())
            .channel("log", ChannelSpec::append())
            .channel("d", ChannelSpec::delta(BinaryOp::Append, 100));
        for (name, update) in ["a", "b", "c"].iter().zip(updates.as_array().unwrap().iter()) {
            graph = graph.node(*name, returns(update.clone())).edge(START, *name);
        }
        let graph = graph
            .compile()
            .unwrap()
            .with_checkpointer(Arc::new(MemorySaver::new()));
        let warnings = Warnings::default();
        {
            keep_second();
            let engine =
                tracing_subscriber::filter::Targets::new().with_target("superstep", LevelFilter::WARN);
            let listening = tracing_subscriber::registry().with(engine).with(warnings.clone());
            let _listening = tracing::subscriber::set_default(listening);
            graph
                .invoke(Input::value(json!({})), RunConfig::on("t"))
                .await
                .unwrap();
            // Reading what was stored says it no second time.
            graph.get_state(&StateRef::live("t")).await.unwrap();
        }
        let found = warnings.0.lock().unwrap();
        let found: Vec<_> = (found.iter().filter(|fields| fields.contains_key("lost")))
            .map(|fields| (&*fields["key"], &*fields["by"], &*fields["lost"]))
            .collect();
        assert_eq!(found, Vec::from_iter(wanted), "{updates}");
    }
}
