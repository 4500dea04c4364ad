//! A `memory` node at work.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use superstep::store::{StoreOp, StoreQuery};
use superstep::value::{List, Object, REMOVE_ALL};
use superstep::{Node, NodeContext, NodeError, NodeOutput, Value, async_trait, overwrite};
use superstep_document::Reducer;

use super::count::{kind, scale, tokens};
use super::trim::{self, Trim, call_ids};
use crate::expression::{Expression, Scope};
use crate::kinds::inner_model::InnerModelNode;
use crate::kinds::store::{Namespace, asked};
use crate::programs::requests::shown;
use crate::state::reads::{read, track_reads};

/// Facts that a model is shown before it finds new ones.
const KNOWN: usize = 50;

pub(super) enum MemoryWork {
    Trim(Trim),
    Delete(Delete),
    Summarise(Summarise),
    Extract(Extract),
}

pub(super) struct Delete {
    pub(super) ids: Option<Expression>,
    pub(super) types: Vec<String>,
    pub(super) keep_last: usize,
}

pub(super) struct Summarise {
    pub(super) keep_last: usize,
    pub(super) above: Option<usize>,
    pub(super) by_provider: bool,
    pub(super) summary: Option<String>,
    pub(super) asking: InnerModelNode,
}

pub(super) struct Extract {
    pub(super) namespace: Namespace,
    pub(super) asking: InnerModelNode,
}

pub(super) struct MemoryNode {
    pub(super) name: Arc<str>,
    pub(super) messages: String,
    pub(super) reducer: Reducer,
    pub(super) into: Option<(Reducer, String)>,
    pub(super) work: MemoryWork,
}

/// Creates an update after which a key holds this list, whatever is in it.
fn replaced(reducer: Reducer, list: Vec<Value>) -> Value {
    match reducer {
        Reducer::AddMessages => {
            let all = superstep::json!({"type": "remove", "id": REMOVE_ALL, "content": ""});
            Value::Array(std::iter::once(all).chain(list).collect())
        }
        Reducer::Overwrite => Value::Array(list.into_iter().collect()),
        _ => overwrite(Value::Array(list.into_iter().collect())),
    }
}

/// Returns the text of a message.
fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.to_string(),
        Some(Value::Array(blocks)) => {
            let texts = blocks
                .iter()
                .filter_map(|block| block.as_str().or_else(|| block.get("text")?.as_str()));
            texts.collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

/// Converts a conversation to text that a model reads.
fn transcript(messages: &[Value]) -> String {
    let mut lines = String::new();
    for message in messages {
        let called: Vec<&str> = message
            .get("tool_calls")
            .and_then(Value::as_array)
            .into_iter()
            .flat_map(List::iter)
            .filter_map(|call| call.get("name")?.as_str())
            .collect();
        let text = text(message);
        if !text.is_empty() {
            lines.push_str(&format!("{}: {text}\n", kind(message)));
        }
        if !called.is_empty() {
            lines.push_str(&format!("{} called {}\n", kind(message), called.join(", ")));
        }
    }
    lines
}

/// Returns the state with the values that prompts see besides it.
fn with(input: &Value, transcript: String, known: Value) -> Value {
    let mut state = input.as_object().cloned().unwrap_or_default();
    state.insert("transcript", transcript);
    state.insert("known", known);
    Value::Object(state)
}

impl MemoryNode {
    fn update(&self, list: Vec<Value>) -> NodeOutput {
        NodeOutput::update([(self.messages.as_str(), replaced(self.reducer, list))])
    }

    fn trim(&self, trim: &Trim, messages: &[Value]) -> NodeOutput {
        let kept = trim.kept(messages);
        match &self.into {
            Some((reducer, into)) => NodeOutput::update([(into.as_str(), replaced(*reducer, kept))]),
            None if kept.as_slice() == messages => NodeOutput::none(),
            None => self.update(kept),
        }
    }

    fn delete(
        &self,
        delete: &Delete,
        context: &NodeContext,
        messages: &[Value],
        input: &Value,
    ) -> Result<NodeOutput, NodeError> {
        let ids = match &delete.ids {
            Some(ids) => Some(ids.list(&Scope::of(context, input))?),
            None => None,
        };
        let stays = trim::last(messages, delete.keep_last);
        let goes = |(at, message): (usize, &Value)| {
            let named = ids.as_ref().is_none_or(|ids| {
                message
                    .get("id")
                    .is_some_and(|id| ids.iter().any(|named| named == id))
            });
            let typed = delete.types.is_empty() || delete.types.iter().any(|ty| ty == kind(message));
            at < stays && named && typed
        };
        let gone: Vec<bool> = messages.iter().enumerate().map(goes).collect();
        // Calls and their answers go together: providers refuse one without the other. An answer belongs to the last
        // call with its id: servers use one again.
        let mut last_call: HashMap<&str, usize> = HashMap::new();
        let mut callers = Vec::with_capacity(messages.len());
        for (at, message) in messages.iter().enumerate() {
            last_call.extend(call_ids(message).map(|id| (id, at)));
            let answered = message.get("tool_call_id").and_then(Value::as_str);
            callers.push(answered.and_then(|id| last_call.get(id).copied()));
        }
        let mut lost: HashSet<usize> = (0..messages.len()).filter(|at| gone[*at]).collect();
        let of_gone = callers.iter().zip(&gone).filter(|(_, gone)| **gone);
        lost.extend(of_gone.filter_map(|(caller, _)| *caller));
        let keeps = |(at, message): (usize, &Value)| {
            let torn = lost.contains(&at) || callers[at].is_some_and(|caller| lost.contains(&caller));
            (!torn).then(|| message.clone())
        };
        let kept: Vec<Value> = messages.iter().enumerate().filter_map(keeps).collect();
        Ok(match kept.len() == messages.len() {
            true => NodeOutput::none(),
            false => self.update(kept),
        })
    }

    async fn summarise(
        &self,
        summarise: &Summarise,
        context: &NodeContext,
        messages: &[Value],
        input: &Value,
    ) -> Result<NodeOutput, NodeError> {
        let count = messages.iter().map(tokens).sum::<usize>() as f64;
        let factor = if summarise.by_provider {
            scale(messages)
        } else {
            1.0
        };
        if summarise
            .above
            .is_some_and(|above| count * factor <= above as f64)
        {
            return Ok(NodeOutput::none());
        }
        let id = format!("summary-{}", self.name);
        let is_summary = |message: &Value| message.get("id").and_then(Value::as_str) == Some(id.as_str());
        let from = trim::last(messages, summarise.keep_last);
        let (old, recent) = messages.split_at(from);
        // Instructions at the beginning stay as they are.
        let stays = old
            .iter()
            .take_while(|message| kind(message) == "system" && !is_summary(message))
            .count();
        let (instructions, old) = old.split_at(stays);
        let old_messages: Vec<Value> = old
            .iter()
            .filter(|message| !is_summary(message))
            .cloned()
            .collect();
        if old_messages.is_empty() {
            return Ok(NodeOutput::none());
        }
        let known = match &summarise.summary {
            Some(key) => read(context, input, key).cloned().unwrap_or_default(),
            None => old
                .iter()
                .find(|message| is_summary(message))
                .map(text)
                .unwrap_or_default()
                .into(),
        };
        let summary = summarise
            .asking
            .ask(context, with(input, transcript(&old_messages), known))
            .await?;
        let mut kept = instructions.to_vec();
        let mut update = Object::new();
        match &summarise.summary {
            Some(key) => drop(update.insert(key.as_str(), summary)),
            None => kept.push(superstep::json!({"type": "system", "id": id, "content": summary})),
        }
        kept.extend(recent.iter().cloned());
        update.insert(self.messages.as_str(), replaced(self.reducer, kept));
        Ok(NodeOutput::Update(Value::Object(update)))
    }

    async fn extract(
        &self,
        extract: &Extract,
        context: &NodeContext,
        messages: &[Value],
        input: &Value,
    ) -> Result<NodeOutput, NodeError> {
        let namespace = extract.namespace.render(&Scope::of(context, input))?;
        let query = StoreQuery::default().prefix(namespace.clone()).limit(KNOWN);
        let answers = asked(context, &self.name, vec![StoreOp::Search(query)]).await?;
        let known = answers.into_iter().next().map_or(Value::Null, shown);
        let facts = extract
            .asking
            .ask(context, with(input, transcript(messages), known))
            .await?;
        let labels: Vec<&str> = namespace.iter().map(String::as_str).collect();
        let mut puts = Vec::new();
        for fact in facts.as_array().into_iter().flat_map(List::iter) {
            let Some(fields) = fact.as_object() else { continue };
            let key = fields
                .get("key")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let value: Object = fields
                .iter()
                .filter(|(name, _)| &***name != "key")
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            let put = StoreOp::put(&labels, key, Value::Object(value))
                .map_err(|error| NodeError::new(error.class(), format!("node {}: {error}", self.name)))?;
            puts.push(put);
        }
        if !puts.is_empty() {
            asked(context, &self.name, puts).await?;
        }
        Ok(match &self.into {
            Some((reducer, into)) => {
                let facts = facts.as_array().cloned().unwrap_or_default();
                NodeOutput::update([(into.as_str(), replaced(*reducer, facts.iter().cloned().collect()))])
            }
            None => NodeOutput::none(),
        })
    }
}

#[async_trait]
impl Node for MemoryNode {
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        track_reads(&context);
        let list = read(&context, &input, &self.messages)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let messages: Vec<Value> = list.iter().cloned().collect();
        match &self.work {
            MemoryWork::Trim(trim) => Ok(self.trim(trim, &messages)),
            MemoryWork::Delete(delete) => self.delete(delete, &context, &messages, &input),
            MemoryWork::Summarise(summarise) => self.summarise(summarise, &context, &messages, &input).await,
            MemoryWork::Extract(extract) => self.extract(extract, &context, &messages, &input).await,
        }
    }
}
