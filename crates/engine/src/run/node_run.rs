//! One node alone: what it does to a state, without a run around it. For tests of nodes, and to try one out.

use crate::base::ids::{CheckpointId, Name};
use crate::checkpoint::types::reserved::END;
use crate::graph::compiled::Graph;
use crate::graph::context::{DetachedTask, NodeContext, interrupt_id};
use crate::graph::node::Interrupted;
use crate::graph::plan::Shown;
use crate::graph::task::derived_task_id;
use crate::graph::writes::Writes;
use crate::run::handle::Run;
use crate::state::live::Live;
use crate::state::view;
use crate::stream::emit::Emitter;
use crate::stream::error::RunError;
use crate::stream::events::{Interrupt, Payload, StreamMode, Update};
use crate::stream::run_config::RunConfig;
use crate::task::{self, End, TaskWork};
use crate::value::Value;

/// The result of a node that ran alone.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRun {
    /// What it wrote to state keys; `{"$writes": [...]}` for a key written more than once.
    pub update: Value,
    /// Where it leads, by its edges, routers and commands; packets included.
    pub next: Vec<Name>,
    /// Questions for which there was no answer. Then the node wrote nothing.
    pub asked: Vec<Interrupt>,
}

impl Graph {
    /// Runs one node on a state: once, with its edges and routers, but without a thread, retries, timeouts, cache or
    /// error handler. Nothing is stored.
    ///
    /// `state` is the whole state; the node is given the keys that it would be given in a run. Its questions take
    /// `answers` in order.
    pub async fn run_node(
        &self,
        node: &str,
        state: impl Into<Value>,
        answers: Vec<Value>,
    ) -> Result<NodeRun, RunError> {
        self.alone(node, state.into(), answers, RunConfig::default(), Emitter::none())
            .await
    }

    /// Runs one node on several states at once, like [`run_node`](Self::run_node); results in the order of the states.
    pub async fn batch_node(&self, node: &str, states: Vec<Value>) -> Vec<Result<NodeRun, RunError>> {
        let runs = states
            .into_iter()
            .map(|state| self.run_node(node, state, Vec::new()));
        futures::future::join_all(runs).await
    }

    /// Starts one node on a state, like [`run_node`](Self::run_node), and streams what it emits: messages, events of
    /// its own, and its update. Needs a tokio runtime. Dropping the `Run` stops it.
    pub fn stream_node(
        &self,
        node: &str,
        state: impl Into<Value>,
        answers: Vec<Value>,
        mut config: RunConfig,
    ) -> Run<NodeRun> {
        let (graph, node, state) = (self.clone(), node.to_owned(), state.into());
        let cancel = config.cancel.child_token();
        config.cancel = cancel.clone();
        Run::start(&config.modes.clone(), cancel, async move |emitter| {
            graph.alone(&node, state, answers, config, emitter).await
        })
    }

    async fn alone(
        &self,
        node: &str,
        state: Value,
        answers: Vec<Value>,
        config: RunConfig,
        emitter: Emitter,
    ) -> Result<NodeRun, RunError> {
        let plan = &self.plan;
        let Some(index) = plan.node_index.get(node).copied() else {
            let known: Vec<&str> = self.node_names().map(|name| &**name).collect();
            return Err(RunError::invalid_request(format!(
                "Node {node} does not exist\nThe nodes are {}, and END is `{END}`.",
                known.join(", ")
            )));
        };
        let spec = plan.node(index);
        let mut live = Live::fresh(plan.clone());
        live.set_state(&state)?;
        let input = view::input_view(plan, &live.state, spec.input.as_deref());
        let checkpoint = CheckpointId::new("");
        let task_id = derived_task_id(&checkpoint, 0, 0);
        let task = DetachedTask {
            node: index,
            id: &task_id,
            checkpoint: &checkpoint,
            step: 0,
            answers,
        };
        let context = NodeContext::detached(self, config, task, emitter.clone());
        let task_ns = context.info().checkpoint_ns.clone();
        let work = TaskWork {
            state: live.state.clone(),
            input,
            call: None,
            instead: None,
        };
        let outcome = work.run(&context, None).await;
        let done = |writes: &Writes, asked| NodeRun {
            update: task::result_view(plan, writes),
            next: task::targets(plan, writes),
            asked,
        };
        match outcome.end {
            End::Done => {
                emitter
                    .send_if(StreamMode::Updates, || {
                        Payload::Update(Update {
                            node: spec.name.clone(),
                            value: task::update_view(plan, &outcome.writes, &Shown::All),
                            cached: false,
                        })
                    })
                    .await;
                Ok(done(&outcome.writes, Vec::new()))
            }
            End::Interrupted(asked) => {
                let asked = match asked {
                    Interrupted::Question { question, index } => vec![Interrupt {
                        id: interrupt_id(&task_ns, index),
                        value: question,
                    }],
                    Interrupted::Nested(questions) => questions,
                };
                Ok(done(&Writes::new(), asked))
            }
            End::Failed(failure) => Err(RunError::Node {
                node: spec.name.clone(),
                task_id,
                failure,
            }),
            End::Parent(_) => Err(RunError::invalid_request(format!(
                "`{node}` returned a command for the graph around this one\nRun the node in that graph."
            ))),
            End::Drained(_) | End::Cancelled => Err(RunError::Cancelled),
        }
    }
}
