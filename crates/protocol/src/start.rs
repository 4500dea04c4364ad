//! Runs that are read by the protocol, as a caller starts them.

use superstep::{Graph, Input, RunConfig, StreamMode};

use super::run::GraphRunStream;

/// Graphs whose runs can be read by the protocol.
pub trait StreamEvents {
    /// Starts a run that is read by LangGraph's streaming protocol, version 3: nested graphs are always reported, and the
    /// modes of the configuration are reported beside those of the protocol. Needs a tokio runtime.
    fn stream_events(&self, input: Input, config: RunConfig) -> GraphRunStream;
}

impl StreamEvents for Graph {
    fn stream_events(&self, input: Input, mut config: RunConfig) -> GraphRunStream {
        let always = [
            StreamMode::Values,
            StreamMode::Messages,
            StreamMode::Tasks,
            StreamMode::Attempts,
        ];
        let (cancel, asked) = (config.cancel.child_token(), std::mem::take(&mut config.modes));
        let modes = always.into_iter().chain(asked.iter().copied());
        let config = config
            .cancel(cancel.clone())
            .subgraphs(true)
            .tool_messages(false)
            .modes(modes);
        GraphRunStream::new(self.stream(input, config), cancel, self.clock().clone(), asked)
    }
}
