//! The kinds that come with Superstep, one module each.

pub mod agent;
pub mod ask;
pub mod assign;
pub mod code;
pub mod delay;
mod durable;
pub mod graph;
pub mod http;
mod http_request;
pub(crate) mod inner_model;
pub mod map;
pub mod memory;
pub mod model;
pub mod note;
mod python_function;
pub mod retrieve;
pub mod router;
pub mod state_types;
pub mod store;
pub mod tools;

use crate::registry::Registry;
use agent::Agent;
use ask::Ask;
use assign::Assign;
use code::Code;
use delay::Delay;
pub use durable::is_own_record;
use graph::GraphKind;
use http::Http;
use map::MapKind;
use memory::Memory;
use model::Model;
use note::Note;
use retrieve::Retrieve;
use router::RouterKind;
use store::StoreKind;
use tools::Tools;

impl Default for Registry {
    fn default() -> Self {
        Self::standard()
    }
}

impl Registry {
    /// Creates a registry of the kinds that come with Superstep.
    pub fn standard() -> Self {
        Self::empty()
            .with(Assign)
            .with(RouterKind)
            .with(Delay)
            .with(Model)
            .with(Tools)
            .with(Agent)
            .with(Memory)
            .with(Code::default())
            .with(Http)
            .with(MapKind)
            .with(Ask)
            .with(Note)
            .with(Retrieve)
            .with(StoreKind)
            .with(GraphKind)
    }
}
