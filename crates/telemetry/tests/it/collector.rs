//! A small OTLP receiver on a port of its own.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use prost::Message;

/// A span as it arrived.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) id: Vec<u8>,
    pub(crate) parent: Vec<u8>,
    pub(crate) trace: Vec<u8>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) error: Option<String>,
    pub(crate) name: String,
    /// It is a request to another program.
    pub(crate) is_client: bool,
    pub(crate) attributes: HashMap<String, String>,
}

impl Seen {
    pub(crate) fn field(&self, name: &str) -> String {
        self.attributes
            .get(&format!("superstep.{name}"))
            .cloned()
            .unwrap_or_default()
    }
    /// The name, and what distinguishes it from others of the name.
    pub(crate) fn label(&self) -> String {
        match &*self.name {
            "step" => format!("step {}", self.field("step")),
            "task" => format!("task {}", self.field("node")),
            "attempt" => format!("attempt {}", self.field("attempt")),
            other => other.to_owned(),
        }
    }
}

/// One number of a metric as it arrived: a sum, or a histogram with how many values it has.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) metric: String,
    pub(crate) unit: String,
    pub(crate) attributes: HashMap<String, String>,
    pub(crate) sum: f64,
    pub(crate) count: Option<u64>,
}

#[derive(Default)]
struct Got {
    traces: Vec<ExportTraceServiceRequest>,
    metrics: Vec<ExportMetricsServiceRequest>,
    headers: HashMap<String, String>,
}

pub(crate) struct Collector {
    address: SocketAddr,
    got: Arc<Mutex<Got>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let got = Arc::new(Mutex::new(Got::default()));
        let keep = got.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let keep = keep.clone();
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(connection);
                    while let Some((head, headers, body)) = request(&mut reader) {
                        let mut got = keep.lock().unwrap();
                        match &*head {
                            "POST /v1/traces HTTP/1.1" => got.traces.push(Message::decode(&*body).unwrap()),
                            "POST /v1/metrics HTTP/1.1" => got.metrics.push(Message::decode(&*body).unwrap()),
                            other => panic!("nobody takes {other}"),
                        }
                        got.headers = headers;
                        drop(got);
                        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                        reader.get_mut().write_all(answer).unwrap();
                    }
                });
            }
        });
        Self { address, got }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.got.lock().unwrap().headers.get(name).cloned()
    }

    pub(crate) fn resource(&self, name: &str) -> Option<String> {
        let got = self.got.lock().unwrap();
        let resource = got.traces.first()?.resource_spans.first()?.resource.clone()?;
        texts(&resource.attributes).remove(name)
    }

    pub(crate) fn spans(&self) -> Vec<Seen> {
        let got = self.got.lock().unwrap();
        got.traces
            .iter()
            .flat_map(|request| &request.resource_spans)
            .flat_map(|resource| &resource.scope_spans)
            .flat_map(|scope| &scope.spans)
            .map(|span| Seen {
                id: span.span_id.clone(),
                parent: span.parent_span_id.clone(),
                trace: span.trace_id.clone(),
                start: span.start_time_unix_nano,
                end: span.end_time_unix_nano,
                // 2 is "error".
                error: span
                    .status
                    .as_ref()
                    .filter(|status| status.code == 2)
                    .map(|status| status.message.clone()),
                name: span.name.clone(),
                // 3 is "client".
                is_client: span.kind == 3,
                attributes: texts(&span.attributes),
            })
            .collect()
    }
}

impl Collector {
    /// What each metric has come to; None if no metrics arrived.
    pub(crate) fn points(&self) -> Option<Vec<Point>> {
        let got = self.got.lock().unwrap();
        let newest = got.metrics.last()?;
        let metrics = newest
            .resource_metrics
            .iter()
            .flat_map(|resource| &resource.scope_metrics)
            .flat_map(|scope| &scope.metrics);
        let points = metrics.flat_map(|metric| {
            let point = |attributes: &[KeyValue], sum, count| Point {
                metric: metric.name.clone(),
                unit: metric.unit.clone(),
                attributes: texts(attributes),
                sum,
                count,
            };
            match metric.data.as_ref().unwrap() {
                metric::Data::Sum(sums) => {
                    assert!(sums.is_monotonic, "a counter never falls");
                    let number = |value: Option<number_data_point::Value>| match value.unwrap() {
                        number_data_point::Value::AsDouble(number) => number,
                        number_data_point::Value::AsInt(number) => number as f64,
                    };
                    sums.data_points
                        .iter()
                        .map(|sum| point(&sum.attributes, number(sum.value), None))
                        .collect::<Vec<_>>()
                }
                metric::Data::Histogram(histograms) => histograms
                    .data_points
                    .iter()
                    .map(|one| point(&one.attributes, one.sum.unwrap(), Some(one.count)))
                    .collect(),
                other => panic!("neither a counter nor a histogram: {other:?}"),
            }
        });
        Some(points.collect())
    }
}

fn texts(attributes: &[KeyValue]) -> HashMap<String, String> {
    let text = |field: &KeyValue| {
        let text = match field.value.as_ref()?.value.as_ref()? {
            any_value::Value::StringValue(text) => text.clone(),
            any_value::Value::IntValue(number) => number.to_string(),
            any_value::Value::ArrayValue(list) => {
                let texts = list.values.iter().filter_map(|one| match one.value.as_ref()? {
                    any_value::Value::StringValue(text) => Some(text.as_str()),
                    _ => None,
                });
                format!("[{}]", texts.collect::<Vec<_>>().join(", "))
            }
            other => format!("{other:?}"),
        };
        Some((field.key.clone(), text))
    };
    attributes.iter().filter_map(text).collect()
}

/// The next request: its first line, its headers, its body.
fn request(reader: &mut impl BufRead) -> Option<(String, HashMap<String, String>, Vec<u8>)> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        lines.push(line.to_owned());
    }
    let head = lines.remove(0);
    let headers: HashMap<String, String> = lines
        .iter()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    Read::read_exact(reader, &mut body).ok()?;
    Some((head, headers, body))
}
