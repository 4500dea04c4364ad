//! A request to a model by itself, for the prompt playground: a graph of one `model` node, with the settings of the node
//! that asked first and the messages that a person wrote, run as a node test is. So scripts, recorded answers, keys,
//! permissions and prices are what they are in a run.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, json};
use superstep::stream::{Payload, TaskEnd};
use superstep::value::Object;
use superstep::{Input, MemorySaver, Name, Run, RunConfig, RunError, StreamMode, Value};
use superstep_document::Document;

use crate::Workbench;
use crate::base::blocking;
use crate::documents::GraphSource;
use crate::runs::tokens;
use crate::session::replacing;
use crate::wire::{AppEvent, AskModel, Json, ModelAsked, ModelRecording, Problem, RunModels};
use superstep_document::text;

/// Name of the thread, which lives in memory for as long as the request.
const THREAD: &str = "playground";
/// State keys of the graph.
const MESSAGES: &str = "playground_messages";
const ANSWER: &str = "playground_answer";
const USAGE: &str = "playground_usage";
/// The node, where the request names none.
const NODE: &str = "playground";
/// Settings of a node that decide what is sent: the request says them.
const ASKED: [&str; 6] = [
    "temperature",
    "max_tokens",
    "reasoning",
    "output",
    "tools",
    "tool_choice",
];

/// Builds the settings of the single node.
fn settings(own: Map<String, Json>, request: &AskModel) -> Map<String, Json> {
    let mut config = own;
    for name in ["system", "prompt", "images", "tools_of", "resources"]
        .iter()
        .chain(&ASKED)
    {
        config.remove(*name);
    }
    for name in ASKED {
        if let Some(value) = request.request.get(name).filter(|value| !value.is_null()) {
            config.insert(name.into(), value.clone());
        }
    }
    let recording = match request.recording {
        Some(ModelRecording::Replay) => "replay",
        _ => "off",
    };
    let settings = [
        ("model", request.model.as_str()),
        ("messages", MESSAGES),
        ("into", ANSWER),
        ("usage_into", USAGE),
        ("recording", recording),
    ];
    config.extend(settings.map(|(name, value)| (name.to_owned(), value.into())));
    // What does not fit is shown, not asked again.
    config.insert("repairs".into(), 0.into());
    config
}

/// Builds the graph of the request, and returns it with the name of its node.
fn graph_of(source: &Document, request: &AskModel) -> Result<(Document, String), Problem> {
    let asked = (request.node.as_deref()).and_then(|name| source.nodes().find(|(id, _)| *id == name));
    let asked = asked.filter(|(_, spec)| spec.kind == "model");
    let (name, own) = asked.map_or_else(
        || (NODE.to_owned(), Map::new()),
        |(id, spec)| (id.to_owned(), spec.config),
    );
    let node = json!({"kind": "model", "config": settings(own, request)});
    let messages = json!({"type": "array", "reducer": "add_messages"});
    let answer = match request
        .request
        .get("output")
        .is_some_and(|output| !output.is_null())
    {
        true => json!({}),
        false => messages,
    };
    let keys = source
        .records()
        .filter(|(id, _)| *id == "doc" || id.starts_with("key:"));
    let records = keys.map(|(id, record)| (id.to_owned(), record.clone())).chain([
        (format!("key:{MESSAGES}"), json!({"type": "array"})),
        (format!("key:{ANSWER}"), answer),
        (format!("key:{USAGE}"), json!({"type": "object"})),
        (format!("node:{name}"), node),
    ]);
    let document = Document::from_records(records).map_err(|error| {
        Problem::new(
            "internal",
            text!(
                "The request could not be made into a graph: {error}.",
                error = error.to_string()
            ),
        )
    })?;
    Ok((document, name))
}

impl Workbench {
    pub(crate) async fn model_ask(self: &Arc<Self>, request: AskModel) -> Result<ModelAsked, Problem> {
        let open = self.document(&request.graph_id)?.source();
        let (document, node) = graph_of(&open.document, &request)?;
        let source = GraphSource { document, ..open };
        let mut state = match &request.at {
            Some(at) => self.state_at(at).await?,
            None => Object::new(),
        };
        for (name, value) in &request.state {
            state.insert(name.as_str(), Value::from(value.clone()));
        }
        let messages = request.request.get("messages").cloned().unwrap_or_default();
        state.insert(MESSAGES, Value::from(messages));
        let input = replacing(&source.document, &state, |_| true);
        let context = match &request.at {
            Some(at) => self.ledger.context(&at.thread_id)?,
            None => None,
        };
        let (this, asked) = (self.clone(), node.clone());
        let graph = blocking(move || this.build_node_test(&source, &asked, &RunModels::default())).await??;
        let work = self.job(Some(request.work.clone()));
        let config = RunConfig::on(THREAD)
            .modes([StreamMode::Tasks, StreamMode::Messages])
            .interrupt_after([Name::from(node.as_str())])
            .context(Value::from(context.unwrap_or_default()))
            .cancel(work.stop().clone());
        let graph = graph.with_checkpointer(Arc::new(MemorySaver::new()));
        let began = Instant::now();
        let run = graph.stream(Input::Value(input), config);
        let ended = self.answered(run, &request.work).await;
        let millis = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
        let Some(task) = ended? else {
            return Err(Problem::new("internal", text!("The model was not asked.")));
        };
        let result = |name: &str| task.result.get(name).map(Json::from);
        Ok(ModelAsked {
            // A list of one message, as the reducer takes it, or the message.
            value: result(ANSWER).map(|value| match value {
                Json::Array(mut list) if list.len() == 1 => list.remove(0),
                value => value,
            }),
            usage: result(USAGE),
            exchanges: self.taken_exchanges(task.id.as_str()),
            error: task.error,
            millis,
        })
    }

    /// Reads the run to its end and passes on what the model says.
    async fn answered(&self, mut run: Run, work: &str) -> Result<Option<TaskEnd>, RunError> {
        let (mut ended, mut at_work) = (None, None);
        while let Some(event) = run.next().await {
            match event.payload {
                Payload::TaskStart(task) => at_work = Some(task.id),
                Payload::TaskEnd(task) => ended = Some(task),
                Payload::Message(message, _) => {
                    for piece in tokens::pieces(&message) {
                        self.hub.publish(AppEvent::Answer {
                            work: work.to_owned(),
                            piece,
                        });
                    }
                }
                _ => {}
            }
        }
        let over = run.finish().await;
        if ended.is_none() {
            // What was sent is not kept.
            at_work
                .iter()
                .for_each(|id: &superstep::checkpoint::TaskId| drop(self.taken_exchanges(id.as_str())));
        }
        match (over, ended) {
            (Err(RunError::Cancelled), _) => Err(RunError::Cancelled),
            // What failed is reported of the task.
            (_, Some(task)) => Ok(Some(task)),
            (Err(error), None) => Err(error),
            (Ok(_), None) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(node: Option<&str>, request: Json) -> AskModel {
        serde_json::from_value(json!({
            "graphId": "g", "node": node, "model": "openai::small", "request": request, "work": "w",
        }))
        .unwrap()
    }

    fn document() -> Document {
        let text = json!({
            "format": "superstep/1", "name": "n", "state": {"topic": {"type": "string"}},
            "nodes": {
                "write": {"kind": "model", "config": {"model": "scripted", "prompt": "On {{ state.topic }}",
                    "into": "topic", "temperature": 0.2, "timeout_s": 9, "script": [{"say": "{{ state.topic }}"}]}},
                "other": {"kind": "assign", "config": {"set": {}}},
            },
            "edges": [{"from": "__start__", "to": "write"}],
        });
        Document::parse(&text.to_string()).0
    }

    #[test]
    fn the_request_takes_the_place_of_what_the_node_would_send() {
        let asked = request(
            Some("write"),
            json!({"messages": [], "max_tokens": 7, "tool_choice": null}),
        );
        let (made, node) = graph_of(&document(), &asked).unwrap();
        assert_eq!(node, "write");
        assert_eq!(
            made.node_ids().collect::<Vec<_>>(),
            ["write"],
            "no other node is needed"
        );
        let config = &made.record("node:write").unwrap()["config"];
        assert_eq!(config["model"], "openai::small");
        assert_eq!(
            (&config["max_tokens"], &config["timeout_s"]),
            (&json!(7), &json!(9))
        );
        for gone in ["prompt", "temperature", "tool_choice"] {
            assert!(config.get(gone).is_none(), "{gone} is not sent: {config}");
        }
        assert_eq!(config["recording"], "off");
        assert!(made.record("key:topic").is_some(), "a script sees the state");
    }

    #[test]
    fn what_is_no_model_node_lends_no_settings() {
        for node in [None, Some("other"), Some("gone")] {
            let (made, name) = graph_of(&document(), &request(node, json!({"messages": []}))).unwrap();
            assert_eq!(name, NODE);
            assert!(
                made.record("node:playground").unwrap()["config"]
                    .get("script")
                    .is_none()
            );
        }
    }
}
