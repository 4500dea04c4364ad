//! What a node's output writes: state, then where it leads.

use crate::base::command::{Command, CommandGraph, Target};
use crate::base::ids::Name;
use crate::channel::packet;
use crate::checkpoint::types::reserved::{END, START};
use crate::graph::context::NodeContext;
use crate::graph::node::{NodeError, NodeOutput, ParentCommand};
use crate::graph::plan::{BranchPlan, NodeIx, Plan};
use crate::graph::writes::{Channel, Writes};
use crate::state::entries::{UpdateAuthor, add_command_writes, add_writes};
use crate::state::view::router_view;
use crate::value::Value;

/// Writes a node's output: state, commands, static edges, joins, then what its routers decide.
pub(crate) async fn write(
    plan: &Plan,
    state: &[Option<Value>],
    node: NodeIx,
    output: NodeOutput,
    context: &NodeContext,
    writes: &mut Writes,
) -> Result<(), NodeError> {
    let spec = plan.node(node);
    // A router sees what its node returned below the state, unless the node returned a command.
    let returned = match &output {
        NodeOutput::Update(Value::Object(returned)) if !spec.branches.is_empty() => Some(returned.clone()),
        _ => None,
    };
    let recorder = context.recorder();
    if let Some(recorder) = recorder {
        recorder.end_node(output.targets());
    }
    write_output(plan, node, output, writes)?;
    for channel in &spec.edges {
        writes.push((Channel::Known(*channel), Value::Null));
    }
    for channel in &spec.joins {
        writes.push((Channel::Known(*channel), Value::String(spec.name.clone())));
    }
    for branch in &spec.branches {
        let fresh = match &branch.input {
            Some(keys) => router_view(plan, state, writes, &spec.name, None, Some(keys))?,
            None => router_view(
                plan,
                state,
                writes,
                &spec.name,
                returned.as_ref(),
                spec.input.as_deref(),
            )?,
        };
        // Where a router leads is checked as a whole before any of it is written.
        let mut targets = branch.router.route(context.clone(), fresh).await?;
        follow_labels(branch, &spec.name, &mut targets)?;
        check_targets(&targets)?;
        if let Some(recorder) = recorder {
            recorder.end_edge(&branch.name, &targets);
        }
        for target in targets {
            goto(plan, target, writes);
        }
    }
    Ok(())
}

/// Puts the targets in the place of the labels that the router of an edge with paths gave.
#[inline]
fn follow_labels(branch: &BranchPlan, node: &Name, targets: &mut [Target]) -> Result<(), NodeError> {
    let Some(paths) = &branch.paths else {
        return Ok(());
    };
    for target in targets {
        let Target::Node(label) = target else {
            continue;
        };
        let Some(found) = paths.get(label).or(branch.default.as_ref()) else {
            let mut known: Vec<&str> = paths.keys().map(|label| &**label).collect();
            known.sort_unstable();
            return Err(NodeError::new(
                "KeyError",
                format!(
                    "'{label}': the conditional edge `{}` of `{node}` has no path with this label. Its labels are {}. \
                     Add the path or a default.",
                    branch.name,
                    known.join(", ")
                ),
            ));
        };
        *label = found.clone();
    }
    Ok(())
}

/// Refuses the places that no router leads to.
#[inline]
fn check_targets(targets: &[Target]) -> Result<(), NodeError> {
    if (targets.iter())
        .any(|target| matches!(target, Target::Node(name) if &**name == START || name.is_empty()))
    {
        return Err(NodeError::new(
            "ValueError",
            "Branch did not return a valid destination",
        ));
    }
    if (targets.iter()).any(|target| matches!(target, Target::Send(send) if &*send.node == END)) {
        return Err(NodeError::new(
            "InvalidUpdateError",
            "Cannot send a packet to the END node",
        ));
    }
    Ok(())
}

/// Writes the updates of a node's output, then the targets of its commands.
fn write_output(plan: &Plan, node: NodeIx, output: NodeOutput, writes: &mut Writes) -> Result<(), NodeError> {
    let mut targets = Vec::new();
    write_updates(plan, node, output, writes, &mut targets)?;
    for target in targets {
        goto(plan, target, writes);
    }
    Ok(())
}

fn write_updates(
    plan: &Plan,
    node: NodeIx,
    output: NodeOutput,
    writes: &mut Writes,
    targets: &mut Vec<Target>,
) -> Result<(), NodeError> {
    let spec = plan.node(node);
    let writer = if spec.is_start() {
        UpdateAuthor::Input
    } else {
        UpdateAuthor::Node(&spec.name)
    };
    let refused = |message| NodeError::new("InvalidUpdateError", message);
    if let Some(previous) = plan.previous_channel {
        let (value, save) = match output {
            NodeOutput::Update(value) => (value.clone(), value),
            NodeOutput::Final { value, save } => (value, save),
            NodeOutput::Command(Command {
                update, resume: None, ..
            }) => {
                let value = update.unwrap_or_default();
                (value.clone(), value)
            }
            _ => {
                return Err(refused(format!(
                    "`{}` is an entry point: it returns one value.",
                    spec.name
                )));
            }
        };
        writes.push((Channel::Known(0), value));
        writes.push((Channel::Known(previous), save));
        return Ok(());
    }
    match output {
        NodeOutput::Final { .. } => Err(refused(format!(
            "Node `{}` returned a final value, which only an entry point can. Return an update.",
            spec.name
        ))),
        NodeOutput::Update(update) => add_writes(plan, writer, &update, writes).map_err(refused),
        NodeOutput::Command(command) if command.graph == CommandGraph::Parent => {
            Err(NodeError::Parent(ParentCommand {
                command: Box::new(Command {
                    graph: CommandGraph::Current,
                    ..command
                }),
                arrived: false,
            }))
        }
        NodeOutput::Command(Command { update, goto, .. }) => {
            targets.extend(goto);
            match update {
                Some(update) => add_command_writes(plan, writer, &update, writes).map_err(refused),
                None => Ok(()),
            }
        }
        NodeOutput::Many(items) => items
            .into_iter()
            .try_for_each(|item| write_updates(plan, node, item, writes, targets)),
    }
}

/// Writes what leads to `target`: the trigger of a node, or a packet in the queue. A name that no node has is kept
/// among the task's writes, where it says why nothing followed.
pub(crate) fn goto(plan: &Plan, target: Target, writes: &mut Writes) {
    match target {
        Target::Node(name) if &*name == END => {}
        Target::Node(name) => match plan.node_index.get(&name) {
            // The one node of a workflow has no trigger that a command could write.
            Some(node) if &*name != START && plan.previous_channel.is_none() => {
                writes.push((Channel::Known(plan.node(*node).branch_channel), Value::Null));
            }
            _ => writes.push((Channel::Named(format!("branch:to:{name}").into()), Value::Null)),
        },
        Target::Send(send) => writes.push((Channel::Known(plan.tasks_channel), packet(&send))),
    }
}
