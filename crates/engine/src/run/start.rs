//! Runs as a caller starts them.

use crate::base::ids::Name;
use crate::graph::compiled::Graph;
use crate::run::handle::Run;
use crate::run::steps::Loop;
use crate::stream::emit::Emitter;
use crate::stream::error::RunError;
use crate::stream::request::{Input, RunResult};
use crate::stream::run_config::RunConfig;

impl Graph {
    /// Runs until there is nothing left to do, a question waits, or a breakpoint stops it.
    pub async fn invoke(&self, input: Input, config: RunConfig) -> Result<RunResult, RunError> {
        Loop::root(self, config, Emitter::none())?.run(input).await
    }

    /// Runs several inputs at once, each on a thread of its own when `config` names none; results in input order.
    pub async fn batch(&self, inputs: Vec<Input>, config: RunConfig) -> Vec<Result<RunResult, RunError>> {
        futures::future::join_all(inputs.into_iter().map(|input| self.invoke(input, config.clone()))).await
    }

    /// Starts a run in the background and streams what happens. Needs a tokio runtime. Dropping the `Run` stops it.
    ///
    /// After a task has failed, what ended just as quickly is emitted and nothing after that, although the others of its step
    /// end and are kept.
    pub fn stream(&self, input: Input, mut config: RunConfig) -> Run {
        let cancel = config.cancel.child_token();
        config.cancel = cancel.clone();
        let graph = self.clone();
        Run::start(&config.modes.clone(), cancel, async move |emitter| {
            let emitter = emitter.with_tools(config.tool_messages);
            Loop::root(&graph, config, emitter)?.run(input).await
        })
    }

    /// Forgets the kept results of these nodes; of all when none is named. Unknown names are passed over.
    pub async fn clear_cache<T: AsRef<str>>(
        &self,
        nodes: impl IntoIterator<Item = T>,
    ) -> Result<(), RunError> {
        let Some(cache) = &self.cache else {
            return Err(RunError::invalid_request(
                "No cache is set for this graph. Cannot clear cache. Call `with_cache` on the graph.",
            ));
        };
        let nodes: Vec<T> = nodes.into_iter().collect();
        let wanted = |name: &Name| nodes.is_empty() || nodes.iter().any(|node| node.as_ref() == &**name);
        let nodes = self.plan.nodes.iter().filter(|node| wanted(&node.name));
        let places: Vec<Name> = nodes
            .filter_map(|node| Some(node.more().cache.as_ref()?.place(&node.name)))
            .collect();
        Ok(cache.clear(&places).await?)
    }
}
