//! Runs that are read by the protocol, as a caller starts them.

use crate::graph::compiled::Graph;
use crate::protocol::GraphRunStream;
use crate::run::Loop;
use crate::run::handle::Run;
use crate::stream::config::Input;
use crate::stream::events::StreamMode;
use crate::stream::run_config::RunConfig;

impl Graph {
    /// Starts a run that is read by LangGraph's streaming protocol, version 3: nested graphs are always reported, and the modes
    /// of the configuration are reported beside those of the protocol. Needs a tokio runtime.
    pub fn stream_events(&self, input: Input, mut config: RunConfig) -> GraphRunStream {
        let always = [
            StreamMode::Values,
            StreamMode::Messages,
            StreamMode::Tasks,
            StreamMode::Attempts,
        ];
        let (cancel, asked) = (config.cancel.child_token(), std::mem::take(&mut config.modes));
        (config.cancel, config.subgraphs) = (cancel.clone(), true);
        let modes: Vec<StreamMode> = always.iter().chain(&asked).copied().collect();
        let (graph, clock) = (self.clone(), self.clock.clone());
        let run = Run::start(&modes, cancel.clone(), async move |emitter| {
            Loop::root(&graph, config, emitter.without_tools())?
                .run(input)
                .await
        });
        GraphRunStream::new(run, cancel, clock, asked)
    }
}
