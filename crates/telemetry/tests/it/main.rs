//! Runs export their spans to a collector on this machine, which decodes what arrives.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod collector;

use std::collections::HashMap;
use std::time::Duration;

use superstep::stream::*;
use superstep::*;
use superstep_telemetry::{Error, Options, PastSpan, Target, Telemetry};
use tracing_subscriber::layer::SubscriberExt;

use collector::{Collector, Seen};

fn graph() -> Graph {
    let a = |_: NodeContext, _: Value| async { Ok(NodeOutput::from(json!({"log": ["secret answer"]}))) };
    let bad = |_: NodeContext, _: Value| async { Err(NodeError::new("ValueError", "no such city")) };
    StateGraph::new()
        .channel("log", ChannelSpec::append())
        .node("a", a)
        .node("bad", bad)
        .edge(START, "a")
        .edge("a", "bad")
        .compile()
        .unwrap()
}

/// Runs the graph while its spans are exported; gives what the collector got.
fn exported(change: impl FnOnce(Options) -> Options) -> (Vec<Seen>, Collector) {
    let collector = Collector::start();
    let options = change(Options::to(&collector.address()));
    let telemetry = Telemetry::start(options).unwrap();
    let subscriber = tracing_subscriber::registry().with(telemetry.layer());
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        tracing::info!("not a span of the engine, so nobody else's business");
        let _other = tracing::info_span!("other").entered();
        let config = RunConfig::default().run_id("r1");
        let input = Input::value(json!({"log": ["secret question"]}));
        runtime.block_on(graph().invoke(input, config)).unwrap_err();
    });
    telemetry.finish().unwrap();
    (collector.spans(), collector)
}

/// While there is one subscriber only, tracing asks that of the thread that first comes to a span, which may have none.
fn second_subscriber() -> tracing::Dispatch {
    tracing::Dispatch::new(tracing_subscriber::registry().with(tracing::level_filters::LevelFilter::OFF))
}

#[test]
fn runs_steps_tasks_and_attempts_arrive_with_their_order_fields_and_errors() {
    let _second = second_subscriber();
    let (spans, collector) = exported(|options| options.service_name("refunds").header("x-key", "k1"));
    assert_eq!(collector.header("x-key").as_deref(), Some("k1"));
    assert_eq!(
        collector.header("content-type").as_deref(),
        Some("application/x-protobuf")
    );
    assert_eq!(collector.resource("service.name").as_deref(), Some("refunds"));

    let by_id: HashMap<&[u8], &Seen> = spans.iter().map(|span| (&*span.id, span)).collect();
    let path = |span: &Seen| {
        let mut names = vec![span.label()];
        let mut parent = by_id.get(&*span.parent);
        while let Some(span) = parent {
            names.insert(0, span.label());
            parent = by_id.get(&*span.parent);
        }
        names.join(" > ")
    };
    let mut paths: Vec<String> = spans.iter().map(path).collect();
    paths.sort();
    assert_eq!(
        paths,
        [
            "run",
            "run > step 1",
            "run > step 1 > task a",
            "run > step 1 > task a > attempt 1",
            "run > step 2",
            "run > step 2 > task bad",
            "run > step 2 > task bad > attempt 1",
        ]
    );
    assert!(
        spans.iter().all(|span| span.trace == spans[0].trace),
        "one run is one trace"
    );
    assert!(
        spans.iter().all(|span| span.end >= span.start),
        "spans have an end"
    );

    let of = |label: &str| spans.iter().find(|span| span.label() == label).unwrap();
    let run = of("run");
    assert_eq!(run.field("run.id"), "r1");
    assert_eq!(run.field("outcome"), "failed");
    assert_eq!(run.field("error.code"), "node-failed");
    assert_eq!(
        (run.field("steps"), run.field("tasks")),
        ("2".to_owned(), "2".to_owned())
    );
    let bad = of("task bad");
    assert_eq!(bad.error.as_deref(), Some("ValueError: no such city"));
    assert_eq!(bad.field("outcome"), "failed");
    assert_eq!(of("task a").error, None);
    assert_eq!(of("task a").field("outcome"), "done");
    let content = spans.iter().any(|span| format!("{span:?}").contains("secret"));
    assert!(
        !content,
        "what goes into a graph and comes out is nobody else's business"
    );
}

#[test]
fn what_is_over_is_sent_with_the_times_at_which_it_was_done() {
    let _second = second_subscriber();
    let at = |millis| std::time::UNIX_EPOCH + Duration::from_millis(millis);
    let span = |id: &str, parent: Option<&str>, name: &'static str, from, to, outcome: &str| PastSpan {
        id: id.to_owned(),
        parent: parent.map(str::to_owned),
        name: name.into(),
        from: at(from),
        to: at(to),
        is_request: false,
        fields: vec![
            ("outcome", outcome.to_owned().into()),
            ("error", "no such city".into()),
        ],
    };
    let collector = Collector::start();
    let telemetry = Telemetry::start(Options::to(&collector.address())).unwrap();
    // More than the exporter's queue holds.
    let mut spans = vec![span("r", None, "run", 1_000, 9_000, "failed")];
    spans.extend((0..5_000).map(|n| span(&format!("t{n}"), Some("r"), "task", 2_000 + n, 3_000 + n, "done")));
    telemetry.send(&spans).unwrap();
    telemetry.finish().unwrap();

    let seen = collector.spans();
    assert_eq!(seen.len(), 5_001);
    let run = seen.iter().find(|span| span.parent.is_empty()).unwrap();
    assert_eq!((run.start, run.end), (1_000_000_000, 9_000_000_000));
    assert_eq!(run.error.as_deref(), Some("no such city"));
    let tasks = || seen.iter().filter(|span| !span.parent.is_empty());
    assert!(tasks().all(|task| task.parent == run.id && task.trace == run.trace && task.error.is_none()));
    assert_eq!(tasks().map(|task| task.start).min(), Some(2_000_000_000));
}

#[test]
fn what_has_a_name_in_the_conventions_keeps_it() {
    let _second = second_subscriber();
    let collector = Collector::start();
    let telemetry = Telemetry::start(Options::to(&collector.address())).unwrap();
    let subscriber = tracing_subscriber::registry().with(telemetry.layer());
    tracing::subscriber::with_default(subscriber, || {
        tracing::debug_span!(
            target: observe::TARGET,
            "model",
            otel.name = "chat m",
            otel.kind = "client",
            gen_ai.request.model = "m",
            gen_ai.response.finish_reasons = "stop",
            gen_ai.usage.input_tokens = 3_u64,
            server.port = 80,
            "error.type" = "ModelBusyError",
            outcome = "failed",
            error = "it is busy",
        )
        .in_scope(|| {});
    });
    telemetry
        .send(&[PastSpan {
            id: "m".to_owned(),
            parent: None,
            name: "chat past".into(),
            from: std::time::UNIX_EPOCH,
            to: std::time::UNIX_EPOCH,
            is_request: true,
            fields: vec![("gen_ai.usage.output_tokens", 4.into()), ("node", "n".into())],
        }])
        .unwrap();
    telemetry.finish().unwrap();

    let spans = collector.spans();
    let of = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let (live, past) = (of("chat m"), of("chat past"));
    assert!(live.is_client && past.is_client);
    assert_eq!(live.error.as_deref(), Some("it is busy"));
    assert_eq!(live.field("outcome"), "failed");
    let attribute = |span: &Seen, name: &str| span.attributes.get(name).cloned().unwrap_or_default();
    assert_eq!(attribute(live, "gen_ai.request.model"), "m");
    assert_eq!(
        attribute(live, "gen_ai.response.finish_reasons"),
        "[stop]",
        "a list of one"
    );
    assert_eq!(attribute(live, "gen_ai.usage.input_tokens"), "3");
    assert_eq!(attribute(live, "server.port"), "80");
    assert_eq!(attribute(live, "error.type"), "ModelBusyError");
    assert_eq!(attribute(past, "gen_ai.usage.output_tokens"), "4");
    assert_eq!(past.field("node"), "n");
}

#[test]
fn content_is_exported_when_asked_for() {
    let _second = second_subscriber();
    let (spans, _collector) = exported(|options| options.content(true));
    let task = spans.iter().find(|span| span.label() == "task a").unwrap();
    assert_eq!(task.field("input"), r#"{"log":["secret question"]}"#);
    assert_eq!(task.field("output"), r#"{"log":["secret answer"]}"#);
}

#[test]
fn a_collector_that_is_not_there_is_named_and_waited_for_briefly() {
    let _second = second_subscriber();
    let gone = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let telemetry = Telemetry::start(Options::to(&format!("http://{gone}"))).unwrap();
    let subscriber = tracing_subscriber::registry().with(telemetry.layer());
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let _ = runtime.block_on(graph().invoke(Input::value(json!({})), RunConfig::default()));
    });
    let error = telemetry.finish().unwrap_err();
    assert!(matches!(error, Error::Delivery { .. }));
    assert!(error.to_string().contains(&gone.to_string()), "{error}");
}

/// Runs graphs while what they cost is exported.
fn costs(change: impl FnOnce(Options) -> Options, work: impl FnOnce(&tokio::runtime::Runtime)) -> Collector {
    let collector = Collector::start();
    let options = change(Options::to(&collector.address()));
    let telemetry = Telemetry::start(options).unwrap();
    let subscriber = tracing_subscriber::registry().with(telemetry.layer());
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        work(&runtime);
    });
    telemetry.finish().unwrap();
    collector
}

/// Two nodes of 300 ms one after the other.
fn slow_graph() -> Graph {
    let work = |_: NodeContext, _: Value| async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        Ok(NodeOutput::from(json!({"log": ["secret answer"]})))
    };
    StateGraph::new()
        .channel("log", ChannelSpec::append())
        .node("a", work)
        .node("b", work)
        .edge(START, "a")
        .edge("a", "b")
        .compile()
        .unwrap()
        .with_checkpointer(std::sync::Arc::new(MemorySaver::new()))
}

#[test]
fn what_runs_cost_arrives_as_sums_and_histograms() {
    let _second = second_subscriber();
    let mut reported = Vec::new();
    let collector = costs(
        |options| options,
        |runtime| {
            let meter = Meter::new();
            for thread in ["1", "2"] {
                let config = RunConfig::on(thread).metrics(meter.clone());
                let input = Input::value(json!({"log": ["secret question"]}));
                let result = runtime.block_on(slow_graph().invoke(input, config)).unwrap();
                reported.push(result.metrics.unwrap());
            }
            let input = Input::value(json!({"log": []}));
            let failed = runtime.block_on(graph().invoke(input, RunConfig::default()));
            failed.unwrap_err();
        },
    );
    // The user's own meter counts beside the exported one, and over both runs.
    assert_eq!((reported[0].steps, reported[1].steps), (2, 4));
    assert_eq!(reported[1].in_nodes, Duration::from_millis(1200));

    let points = collector.points().unwrap();
    let text = format!("{points:?}");
    assert!(!text.contains("secret"), "{text}");
    let of = |metric: &str, attribute: Option<(&str, &str)>| {
        let metric = format!("superstep.run.{metric}");
        let fits = |point: &&collector::Point| {
            point.metric == metric
                && attribute
                    .is_none_or(|(key, value)| point.attributes.get(key).is_some_and(|is| is == value))
        };
        let fitting: Vec<_> = points.iter().filter(fits).collect();
        assert_eq!(fitting.len(), 1, "{metric} {attribute:?} in {points:#?}");
        fitting[0]
    };
    // Two runs of two nodes, and one in which the second failed.
    assert_eq!(of("steps", None).sum, 6.0);
    assert_eq!(of("tasks", None).sum, 6.0);
    assert_eq!(of("writes", None).sum, 5.0);
    assert_eq!(of("commits", None).sum, reported[1].commits as f64);
    let bytes = of("checkpoint_bytes", None);
    assert_eq!(
        (bytes.sum, &*bytes.unit),
        (reported[1].checkpoint_bytes as f64, "By")
    );
    let state = of("peak_state_bytes", None);
    assert_eq!(state.count, Some(3), "one value a run");
    assert!(state.sum > 2.0 * reported[1].peak_state_bytes as f64, "{state:?}");

    // The clock stands still but for what nodes wait for.
    let seconds = |activity| of("time", Some(("superstep.activity", activity))).sum;
    assert!((seconds("nodes") - 1.2).abs() < 1e-6, "{points:#?}");
    assert_eq!((seconds("storage"), seconds("readers")), (0.0, 0.0));
    let done = of("duration", Some(("superstep.outcome", "done")));
    assert_eq!((done.count, &*done.unit), (Some(2), "s"));
    assert!((done.sum - 1.2 - seconds("engine")).abs() < 1e-6, "{done:?}");
    let failed = of("duration", Some(("superstep.outcome", "failed")));
    assert_eq!(failed.count, Some(1));
    assert_eq!(
        failed.attributes.get("error.type").map(String::as_str),
        Some("node-failed")
    );
}

#[test]
fn a_run_that_nobody_waited_for_was_measured_and_without_metrics_nothing_is() {
    let _second = second_subscriber();
    let dropped = |runtime: &tokio::runtime::Runtime| {
        runtime.block_on(async {
            let graph = slow_graph();
            let run = graph.invoke(Input::value(json!({"log": []})), RunConfig::on("1"));
            tokio::time::timeout(Duration::from_millis(500), run)
                .await
                .unwrap_err();
        });
    };
    let points = costs(|options| options, dropped).points().unwrap();
    let point = |metric: &str| points.iter().find(|point| point.metric == metric).unwrap();
    let duration = point("superstep.run.duration");
    assert_eq!(
        duration.attributes.get("superstep.outcome").map(String::as_str),
        Some("cancelled")
    );
    assert!((duration.sum - 0.5).abs() < 1e-6, "{duration:?}");
    assert_eq!(point("superstep.run.tasks").sum, 1.0);

    let collector = costs(|options| options.metrics(None), dropped);
    assert!(collector.points().is_none());
    assert!(!collector.spans().is_empty());
    let collector = costs(|options| options.traces(None), dropped);
    assert!(collector.points().is_some());
    assert!(collector.spans().is_empty());
}

fn from(variables: &[(&str, &str)]) -> Result<Option<Options>, Error> {
    let variables: HashMap<String, String> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Options::from_variables(|name| variables.get(name).cloned())
}

#[test]
fn the_environment_decides_and_silence_means_off() {
    assert_eq!(from(&[]).unwrap(), None);
    assert_eq!(from(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]).unwrap(), None);
    const HERE: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://here:4318/");
    assert_eq!(from(&[HERE, ("OTEL_SDK_DISABLED", "true")]).unwrap(), None);
    const NO_TRACES: (&str, &str) = ("OTEL_TRACES_EXPORTER", "none");
    const NO_METRICS: (&str, &str) = ("OTEL_METRICS_EXPORTER", "none");
    assert_eq!(from(&[HERE, NO_TRACES, NO_METRICS]).unwrap(), None);

    let there = |target: Option<Target>| target.map(|target| target.endpoint);
    let options = from(&[HERE]).unwrap().unwrap();
    assert_eq!(
        there(options.traces).as_deref(),
        Some("http://here:4318/v1/traces")
    );
    assert_eq!(
        there(options.metrics).as_deref(),
        Some("http://here:4318/v1/metrics")
    );
    assert_eq!(options.service_name.as_deref(), Some("superstep"));
    assert!(!options.content);

    let options = from(&[
        HERE,
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://there/path"),
        ("OTEL_SERVICE_NAME", "desk"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
        ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "90"),
        ("SUPERSTEP_OTEL_CONTENT", "1"),
    ])
    .unwrap()
    .unwrap();
    let (traces, metrics) = (options.traces.unwrap(), options.metrics.unwrap());
    assert_eq!(traces.endpoint, "http://there/path", "taken as it is");
    assert_eq!(traces.timeout, Duration::from_millis(250));
    assert_eq!(metrics.endpoint, "http://here:4318/v1/metrics");
    assert_eq!(
        metrics.timeout,
        Duration::from_millis(90),
        "what is set for one goes first"
    );
    assert_eq!(options.service_name.as_deref(), Some("desk"));
    assert!(options.content);

    let options = from(&[HERE, NO_TRACES]).unwrap().unwrap();
    assert!(options.traces.is_none() && options.metrics.is_some());
    let options = from(&[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m/v1")])
        .unwrap()
        .unwrap();
    assert_eq!(
        (there(options.traces), there(options.metrics).as_deref()),
        (None, Some("http://m/v1"))
    );

    for (wrong, says) in [
        (
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "here:4318"),
            "http://localhost:4318",
        ),
        (("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), "only http/protobuf"),
        (("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"), "milliseconds"),
    ] {
        let error = from(&[HERE, wrong]).unwrap_err().to_string();
        assert!(
            error.contains(wrong.0) && error.contains(wrong.1) && error.contains(says),
            "{error}"
        );
    }
}
