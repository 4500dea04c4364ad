//! Nodes whose effect must not happen twice. That the node began is recorded before it does; when it runs again and the
//! record is of an earlier run, nobody knows how far that one came, and a person is asked instead of doing it again.

use std::sync::Arc;

use superstep::{BoxFuture, Node, NodeContext, NodeError, NodeOutput, Value};

use crate::durable::{Outcome, recorded};
use crate::secrets;

/// A node with the effect `once`.
pub(crate) struct Once {
    pub(crate) name: Arc<str>,
    pub(crate) node: Arc<dyn Node>,
}

/// The answers that are understood.
const AGAIN: &str = "again";
const DONE: &str = "done";

impl Once {
    /// `failure` is how the earlier run ended, when it was able to say so.
    fn question(&self, failure: &Value) -> Value {
        let ended = match failure.as_str() {
            Some(failure) => format!("It began in an earlier run and failed there:\n\n{failure}\n\nIt"),
            None => "It began in an earlier run and did not come to its end there: that run was stopped, or its process \
                     ended. It"
                .to_owned(),
        };
        let text = format!(
            "Did `{}` do its work?\n{ended} must not work twice. Look at what it changes, then say how to go on.",
            self.name
        );
        superstep::json!({
            "question": text,
            "schema": {"oneOf": [
                {"enum": [AGAIN, DONE]},
                {"type": "object", "properties": {"update": {"type": "object"}}, "required": ["update"], "additionalProperties": false},
            ]},
            "choices": [
                {"label": "It did not", "value": AGAIN, "description": "The node runs again."},
                {"label": "It did", "value": DONE, "description": "The run goes on without its result."},
            ],
            "context": {},
        })
    }
}

impl Node for Once {
    fn run(&self, context: NodeContext, input: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        Box::pin(async move {
            let run = Value::from(context.info().run_id.as_str());
            // Each time a person says that it runs again is a beginning of its own.
            while recorded(&context, "begin", run.clone()).await? != run {
                let failure = Outcome::begin(&context).end(Value::Null).await;
                let mut question = self.question(&failure);
                loop {
                    let answer = context.interrupt(question.clone())?;
                    match (answer.as_str(), answer.get("update")) {
                        (Some(AGAIN), _) => break,
                        (Some(DONE), _) => return Ok(NodeOutput::none()),
                        // Whoever looked knows what came of it.
                        (None, Some(update @ Value::Object(_))) => {
                            return Ok(NodeOutput::Update(update.clone()));
                        }
                        _ => {
                            let mut fields = question.as_object().cloned().unwrap_or_default();
                            fields.insert(
                                "refused",
                                "the answer is none of `again`, `done` and {\"update\": …}",
                            );
                            question = Value::Object(fields);
                        }
                    }
                }
            }
            let outcome = Outcome::begin(&context);
            match self.node.run(context, input).await {
                Err(NodeError::Failed(failure)) => {
                    let said = secrets::redact(&failure.to_string()).into_owned();
                    outcome.end(said.into()).await;
                    Err(NodeError::Failed(failure))
                }
                // The answer would find a node that began already, and could not be told from a broken one.
                Err(NodeError::Interrupt(_)) => Err(NodeError::new(
                    "EffectError",
                    format!(
                        "node {}: a node with the effect `once` cannot ask in the middle of its work. Ask in a node before it",
                        self.name
                    ),
                )),
                other => {
                    outcome.end(Value::Null).await;
                    other
                }
            }
        })
    }
}
