//! Pinned outputs of nodes: kept by graph, beside its breakpoints, and used in the runs of every window on it. They are no
//! part of the document: data of somebody's runs must not travel with the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use superstep::Value;
use superstep::checkpoint::reserved::is_control;
use superstep::checkpoint::{PendingWrite, records_of};
use superstep::value::Object;

use crate::Workbench;
use crate::base::{blocking, values};
use crate::threads::is_state_key;
use crate::wire::{AppEvent, Json, PinnedTask, Pins, Problem, ReadPins, SetPin};
use superstep_document::text;

/// Bytes of JSON of a pinned output.
const MAX_PIN: usize = 4 * 1024 * 1024;

fn shown(graph: String, pins: BTreeMap<String, Json>) -> Pins {
    let view = |(node, output)| (node, values::view(&Value::from(output)));
    Pins {
        graph,
        nodes: pins.into_iter().map(view).collect(),
    }
}

/// Returns what a task wrote into the state. If it wrote a key several times, the last write counts.
fn output_of(task: &PinnedTask, writes: &[PendingWrite]) -> Result<Json, Problem> {
    let own: Vec<&PendingWrite> = (writes.iter())
        .filter(|write| write.task_id.as_str() == task.task_id)
        .collect();
    let decides = records_of(writes)
        .filter(|(id, _)| id.as_str() == task.task_id)
        .any(|(_, record)| (record.decisions.iter()).any(|one| one.edge.is_none() && !one.to.is_empty()));
    if decides {
        return Err(Problem::invalid(text!(
            "This node chose itself where the run goes on, which cannot be pinned."
        ))
        .remedy(text!("Pin the output of a node whose edges decide.")));
    }
    let is_output = |write: &&&PendingWrite| !is_control(&write.write.channel);
    if own.iter().filter(is_output).count() == 0 {
        return Err(Problem::invalid(text!("The task has no output yet."))
            .remedy(text!("Choose a task that has finished.")));
    }
    let state: Object = (own.iter().map(|write| &write.write))
        .filter(|write| !is_control(&write.channel) && is_state_key(&write.channel))
        .map(|write| (write.channel.clone(), write.value.clone()))
        .collect();
    Ok(Json::from(&Value::Object(state)))
}

impl Workbench {
    pub(crate) async fn pins_get(self: &Arc<Self>, request: ReadPins) -> Result<Pins, Problem> {
        let this = self.clone();
        blocking(move || {
            let graph = this.ledger.followed(&request.graph)?;
            let pins = this.ledger.pins(&graph)?;
            Ok(shown(graph, pins))
        })
        .await?
    }

    pub(crate) async fn pins_set(self: &Arc<Self>, request: SetPin) -> Result<Pins, Problem> {
        if request.graph.is_empty() || request.node.is_empty() {
            return Err(Problem::invalid(text!("The pin names no graph or no node."))
                .remedy(text!("Name the graph's file, or the id of a draft, and a node.")));
        }
        let output = match (&request.output, &request.from) {
            (Some(output), _) => Some(output.clone()),
            (None, Some(task)) => {
                let checkpoint = task.checkpoint_id.as_str().into();
                let writes = self.writes_at(&task.thread_id, &checkpoint).await?;
                Some(output_of(task, &writes)?)
            }
            (None, None) => None,
        };
        if let Some(output) = &output {
            if !output.is_object() {
                return Err(
                    Problem::invalid(text!("A pinned output must be an object of state keys."))
                        .remedy(text!("Give an object such as {\"key\": value}.")),
                );
            }
            if output.to_string().len() > MAX_PIN {
                return Err(Problem::invalid(text!("The output is too large to be pinned."))
                    .remedy(text!("Pin the output of a node that writes less.")));
            }
        }
        let this = self.clone();
        blocking(move || {
            let graph = this.ledger.followed(&request.graph)?;
            match &request.renamed {
                Some(name) => this.ledger.rename_pin(&graph, &request.node, name)?,
                None => this.ledger.set_pin(&graph, &request.node, output.as_ref())?,
            }
            let pins = shown(graph.clone(), this.ledger.pins(&graph)?);
            this.hub.publish(AppEvent::Pins { pins: pins.clone() });
            Ok(pins)
        })
        .await?
    }
}
