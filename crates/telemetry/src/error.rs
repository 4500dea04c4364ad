//! What can go wrong on the way to a collector.

/// Reason why nothing can be exported, or why something was not.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting that cannot be used.
    #[error("{name}={value} cannot be used: {why}")]
    Setting {
        /// The variable or option.
        name: String,
        /// Its value.
        value: String,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// The exporter could not be built.
    #[error("traces and metrics cannot be sent: {0}")]
    Start(String),
    /// Something was lost on its way.
    #[error("{what} were not delivered to {endpoint}: {why}. Is a collector listening there?")]
    Delivery {
        /// Traces or metrics; traces if it is both.
        what: &'static str,
        /// Where they were to go.
        endpoint: String,
        /// What happened.
        why: String,
    },
}
