//! What runs cost, as metrics: the engine reports it once a run, and the SDK adds it up and sends the sums now and then.

use std::collections::HashMap;
use std::fmt::Debug;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

const SECONDS: [f64; 12] = [
    0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 300.0, 3600.0,
];
const KIB: f64 = 1024.0;
const BYTES: [f64; 6] = [
    KIB,
    16.0 * KIB,
    256.0 * KIB,
    4.0 * KIB * KIB,
    64.0 * KIB * KIB,
    KIB * KIB * KIB,
];

/// Counts, with the field of the event that each is read from, its unit and what it means.
const COUNTS: [(&str, &str, &str); 5] = [
    ("steps", "{step}", "Super-steps that ran nodes"),
    ("tasks", "{task}", "Tasks that ran to an end"),
    ("writes", "{write}", "Writes of tasks to state keys"),
    (
        "commits",
        "{commit}",
        "Times that something was handed to the checkpointer",
    ),
    (
        "checkpoint_bytes",
        "By",
        "Estimated bytes of JSON handed to the checkpointer",
    ),
];
/// What time is divided into.
const ACTIVITIES: [(&str, &str); 4] = [
    ("in_nodes", "nodes"),
    ("in_storage", "storage"),
    ("in_readers", "readers"),
    ("in_engine", "engine"),
];

/// Listens to the engine's event about the cost of a run.
pub(crate) struct Costs {
    duration: Histogram<f64>,
    state: Histogram<u64>,
    time: Counter<f64>,
    counts: [Counter<u64>; COUNTS.len()],
}

impl Costs {
    pub(crate) fn new(meter: &Meter) -> Self {
        Self {
            duration: meter
                .f64_histogram("superstep.run.duration")
                .with_unit("s")
                .with_description("From the start of a run to its end")
                .with_boundaries(SECONDS.to_vec())
                .build(),
            state: meter
                .u64_histogram("superstep.run.peak_state_bytes")
                .with_unit("By")
                .with_description("Estimated memory of a run's state at its largest")
                .with_boundaries(BYTES.to_vec())
                .build(),
            time: meter
                .f64_counter("superstep.run.time")
                .with_unit("s")
                .with_description(
                    "What the time of runs went to: nodes, storage, readers or the engine itself",
                )
                .build(),
            counts: COUNTS.map(|(field, unit, about)| {
                meter
                    .u64_counter(format!("superstep.run.{field}"))
                    .with_unit(unit)
                    .with_description(about)
                    .build()
            }),
        }
    }
}

impl<S: Subscriber> Layer<S> for Costs {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut cost = Cost::default();
        event.record(&mut cost);
        let mut how = vec![KeyValue::new("superstep.outcome", cost.text("outcome"))];
        let code = cost.text("error.code");
        if !code.is_empty() {
            how.push(KeyValue::new("error.type", code));
        }
        let mut whole = 0.0;
        for (field, activity) in ACTIVITIES {
            let seconds = cost.seconds.get(field).copied().unwrap_or_default();
            whole += seconds;
            let what = KeyValue::new("superstep.activity", activity);
            self.time.add(seconds, &[what]);
        }
        self.duration.record(whole, &how);
        self.state.record(cost.count("peak_state_bytes"), &[]);
        for ((field, ..), counter) in COUNTS.iter().zip(&self.counts) {
            counter.add(cost.count(field), &[]);
        }
    }
}

/// The fields of the event.
#[derive(Default)]
struct Cost {
    counts: HashMap<&'static str, u64>,
    seconds: HashMap<&'static str, f64>,
    texts: HashMap<&'static str, String>,
}

impl Cost {
    fn text(&self, field: &str) -> String {
        self.texts.get(field).cloned().unwrap_or_default()
    }
    fn count(&self, field: &str) -> u64 {
        self.counts.get(field).copied().unwrap_or_default()
    }
}

impl Visit for Cost {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.counts.insert(field.name(), value);
    }
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.seconds.insert(field.name(), value);
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.texts.insert(field.name(), value.to_owned());
    }
    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
