//! Summaries: what a task or a run did, as the author of the graph words it in a template, in Markdown.

use std::sync::Arc;

use superstep::value::Object;
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait};
use superstep_document::{Diagnostic, Document};

use crate::base::secrets;
use crate::expression::{ExpressionError, Scope, Template};

/// The variable that is what the node writes, beside `state`, which is what it was given.
pub(crate) const UPDATE: &str = "update";

/// A node whose tasks are summarized.
pub(super) struct Summarized {
    node: Arc<dyn Node>,
    template: Template,
}

impl Summarized {
    /// Creates the node `id` with its summary.
    pub(super) fn new(id: &str, node: Arc<dyn Node>, template: &str) -> Result<Self, Diagnostic> {
        let template = Template::compile(template, format!("`summary` of node {id}")).map_err(|error| {
            let record = format!("node:{id}");
            Diagnostic::error("expression-syntax", record, error.message, error.remedy).at("/summary")
        })?;
        Ok(Self { node, template })
    }
}

#[async_trait]
impl Node for Summarized {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        let output = self.node.run(context.clone(), input.clone()).await?;
        if let Some(recorder) = context.recorder() {
            // Nothing that the summary reads is an input of the node.
            let scope = Scope::new(&input).with_context(context.context());
            let scope = scope.with(UPDATE, update(&output));
            // A summary never fails the work that it is about: what is wrong with it stands in its place.
            let summary = shown(self.template.render(&scope));
            recorder.summarize(&secrets::redact(&summary));
        }
        Ok(output)
    }
}

/// Returns the summary of a finished run, from its last state; `None` if the document has none.
pub fn run_summary(document: &Document, state: &Value) -> Option<String> {
    let template = Template::compile(document.summary()?, "`summary` of the graph");
    let summary = shown(template.and_then(|template| template.render(&Scope::new(state))));
    Some(secrets::redact(&summary).into_owned())
}

fn shown(rendered: Result<String, ExpressionError>) -> String {
    rendered.unwrap_or_else(|error| format!("*{}*", error.message))
}

/// Returns what an output writes, as one object; a later write of a key takes the place of an earlier one.
fn update(output: &NodeOutput) -> Value {
    match output {
        NodeOutput::Update(value) => value.clone(),
        NodeOutput::Command(command) => command.update.clone().unwrap_or_default(),
        NodeOutput::Many(outputs) => {
            let mut all = Object::new();
            for output in outputs {
                if let Value::Object(fields) = update(output) {
                    for (name, value) in fields.iter() {
                        all.insert(name.clone(), value.clone());
                    }
                }
            }
            Value::Object(all)
        }
        NodeOutput::Final { value, .. } => value.clone(),
    }
}
