//! Threads that no run is on: their states, their questions, and edits.

pub(crate) mod edit;
pub(crate) mod foreign;
pub(crate) mod lineage;
pub(crate) mod other_branches;
pub(crate) mod provenance;
pub(crate) mod questions;
pub(crate) mod routers;
pub(crate) mod snapshot;
pub(crate) mod threads;

pub use edit::{StateUpdate, Updated};
pub use foreign::{ForeignStep, ForeignWay, ForeignWork};
pub use lineage::Lineage;
pub use provenance::{AnswerGiven, PossibleRead, Provenance, TaskAnswers, ValueWrite, WriteOrigin, Writer};
pub use questions::{questions, waiting_questions, withdraw};
pub use snapshot::{StateSnapshot, TaskSnapshot, TaskState};

pub use crate::state::delta::{has_deltas, prune, prune_watched};
