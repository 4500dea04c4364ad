//! Switches of tests: how a run behaves where its result must not depend on it, or as LangGraph does.

pub use crate::policy::schedule::Schedule;
use crate::stream::run_config::RunConfig;

/// The switches of tests in a run's configuration.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Testing {
    /// The order in which completions of a super-step are dealt with.
    pub(crate) schedule: Option<Schedule>,
    /// An input command is used twice where there is no checkpoint yet.
    pub(crate) double_command: bool,
}

/// Deals with the tasks of each super-step in this order when they have ended.
pub fn scheduled(mut config: RunConfig, schedule: impl Into<Option<Schedule>>) -> RunConfig {
    config.testing.schedule = schedule.into();
    config
}

/// Uses an input command twice where there is no checkpoint yet, as LangGraph does: once immediately, and once more as
/// the input of START.
pub fn double_command(mut config: RunConfig) -> RunConfig {
    config.testing.double_command = true;
    config
}
