//! Runs: what starts one, how it is configured, and what it comes to.

pub(crate) mod handle;
pub(crate) mod node_run;
mod start;
pub(crate) mod steps;
pub(crate) mod typed;

pub use handle::Run;
pub use node_run::NodeRun;
pub use typed::{Outcome, TypedGraph};

pub use crate::base::clock::{Clock, SystemClock, iso8601};
pub use crate::base::failure::Failure;
pub use crate::policy::bounds::{Bound, Bounds};
pub use crate::policy::breakpoint::{
    Breakpoint, BreakpointHit, BreakpointLimit, BreakpointPlace, Condition, HitRule, LogText, WhenBroken,
};
pub use crate::policy::effect::{EffectDone, EffectPolicy, EffectSource, EffectState};
pub use crate::stream::error::{RunError, StateError, TimeoutScope, UnknownInterruptReason};
pub use crate::stream::request::{
    Drain, Durability, Input, Output, RunResult, RunStatus, StateRef, StepTask,
};
pub use crate::stream::run_config::{RunConfig, is_own_metadata};
