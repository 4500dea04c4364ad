//! What the routers of a task saw, from what is stored: for asking what another expression would have decided there.

use crate::base::ids::Name;
use crate::graph::compiled::Graph;
use crate::graph::writes::{Writes, resolve};
use crate::state::view::router_view;
use crate::stream::error::StateError;
use crate::value::{Object, Value};

impl Graph {
    /// Returns the state that the conditional edges of a task saw: `state` is that of the checkpoint from which its
    /// step began, and `writes` are the task's own, by channel. Writes of other tasks of the step are not in it.
    ///
    /// # Errors
    ///
    /// A reducer of this graph does not take a write: the graph was another when the thread ran.
    pub fn seen_by_edges<'a>(
        &self,
        state: &Object,
        writes: impl IntoIterator<Item = (&'a Name, &'a Value)>,
    ) -> Result<Value, StateError> {
        let plan = &self.plan;
        let mut held: Vec<Option<Value>> = vec![None; plan.channels.len()];
        for (name, value) in state.iter() {
            if let Some(index) = plan.channel_named(name).filter(|index| plan.is_state_key(*index)) {
                held[index as usize] = Some(value.clone());
            }
        }
        let writes: Writes = writes
            .into_iter()
            .map(|(channel, value)| (resolve(plan, channel), value.clone()))
            .collect();
        Ok(router_view(plan, &held, &writes, "", None, None)?)
    }
}
