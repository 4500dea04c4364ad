//! The state's schema: which keys there are, and who reads and writes them.
//!
//! Keys are laid out once, at compile time: first those of the state, in the order of their declaration, then the
//! managed ones, which nodes can read and nobody writes. What comes after them is the engine's own.

use crate::base::ids::Name;
use crate::channel::{ChannelSpec, Kind, Managed};
use crate::graph::plan::{ChannelIx, Plan, SayFn};
use crate::stream::error::{GraphPlace, GraphProblem};

/// The channel that holds a state which is one value.
pub(crate) const ROOT: &str = "__root__";

/// Declarations of a graph under construction about its state.
#[derive(Default)]
pub(crate) struct Schema {
    pub(crate) keys: Vec<KeyDecl>,
    pub(crate) managed: Vec<(Name, Managed)>,
    pub(crate) root: Option<ChannelSpec>,
    pub(crate) input: Option<Vec<Name>>,
    pub(crate) output: Option<Vec<Name>>,
    pub(crate) unknown: Option<SayFn>,
}

pub(crate) struct KeyDecl {
    pub(crate) name: Name,
    pub(crate) spec: ChannelSpec,
    /// Neither input nor output nor given to nodes, unless they name it.
    pub(crate) private: bool,
}

impl Schema {
    /// Adds the keys to the plan and says what is wrong with them.
    pub(crate) fn lay_out(self, plan: &mut Plan, problems: &mut Vec<GraphProblem>) {
        plan.unknown_key.clone_from(&self.unknown);
        let mut problem = |code, key: &Name, message: String, remedy: &str| {
            problems.push(GraphProblem {
                code,
                message,
                remedy: remedy.into(),
                place: GraphPlace::Channel(key.clone()),
            });
        };
        if self.root.is_some() {
            return self.lay_out_root(plan, &mut problem);
        }
        let shared = add_keys(self.keys, plan, &mut problem);
        add_managed(self.managed, plan, &mut problem);
        plan.note_kinds(&mut problem);

        let mut resolve = |keys: Vec<Name>, what| resolved(plan, &keys, what, &mut problem);
        let input = self.input.map(|keys| resolve(keys, "input"));
        let output = self.output.map(|keys| resolve(keys, "output"));
        for index in input.as_ref().unwrap_or(&shared) {
            plan.channels[*index as usize].is_input = true;
        }
        let has_private = shared.len() < plan.state_keys;
        plan.output_keys = output.or_else(|| has_private.then(|| shared.clone()));
        if has_private || plan.readable_keys > plan.state_keys {
            let managed = plan.state_keys as ChannelIx..plan.readable_keys as ChannelIx;
            plan.node_keys = Some(shared.into_iter().chain(managed).collect());
        }
    }

    /// Adds the channel of a state that is one value.
    fn lay_out_root(self, plan: &mut Plan, problem: &mut impl FnMut(&'static str, &Name, String, &str)) {
        let Some(spec) = self.root else { return };
        let others = self.keys.iter().map(|key| &key.name);
        for name in others.chain(self.managed.iter().map(|(name, _)| name)) {
            problem(
                "root-with-keys",
                name,
                format!("The state is one value, so it cannot have the key '{name}' as well."),
                "Declare either `root` or keys.",
            );
        }
        plan.add_channel(ROOT.into(), spec);
        plan.is_root = true;
        plan.channels[0].is_input = true;
        plan.state_keys = 1;
        plan.readable_keys = 1;
        plan.note_kinds(problem);
    }
}

/// Adds the channels of keys; answers with those that are given to nodes and callers.
fn add_keys(
    keys: Vec<KeyDecl>,
    plan: &mut Plan,
    problem: &mut impl FnMut(&'static str, &Name, String, &str),
) -> Vec<ChannelIx> {
    let mut shared = Vec::new();
    for key in keys {
        if !may_be_named(&key.name) {
            let message = match &*key.name {
                "__pregel_tasks" => format!(
                    "Channel '{}' is reserved and cannot be used in the graph.",
                    key.name
                ),
                name => format!("Channel name '{name}' is reserved"),
            };
            problem("reserved-name", &key.name, message, "Choose another key.");
            continue;
        }
        let index = match plan.channel_named(&key.name) {
            None => plan.add_channel(key.name.clone(), key.spec),
            Some(index) => {
                let declared = plan.channels[index as usize].spec.clone();
                match declared.join(key.spec) {
                    Some(joined) => plan.channels[index as usize].spec = joined,
                    None => problem(
                        "duplicate-channel",
                        &key.name,
                        format!("Channel '{}' already exists with a different type", key.name),
                        "Declare the key once, or with the same reducer everywhere.",
                    ),
                }
                index
            }
        };
        // Declared as private and as shared, a key is shared.
        if !key.private && !shared.contains(&index) {
            shared.push(index);
        }
    }
    plan.state_keys = plan.channels.len();
    shared
}

/// Adds managed values, which nodes read beside the keys.
fn add_managed(
    managed: Vec<(Name, Managed)>,
    plan: &mut Plan,
    problem: &mut impl FnMut(&'static str, &Name, String, &str),
) {
    for (name, managed) in managed {
        if !may_be_named(&name) || plan.channel_named(&name).is_some() {
            let message = format!("Channel '{name}' already exists with a different type");
            problem(
                "duplicate-channel",
                &name,
                message,
                "Choose another name for the managed value.",
            );
        } else {
            plan.add_channel(name, ChannelSpec::of(Kind::Managed(managed)));
        }
    }
    plan.readable_keys = plan.channels.len();
}

/// Returns the channels of the keys that the input or the output names.
fn resolved(
    plan: &Plan,
    keys: &[Name],
    what: &str,
    problem: &mut impl FnMut(&'static str, &Name, String, &str),
) -> Vec<ChannelIx> {
    let mut indexes = Vec::new();
    let mut managed: Vec<&Name> = Vec::new();
    for key in keys {
        match plan.channel_named(key) {
            Some(index) if plan.is_state_key(index) => indexes.push(index),
            Some(_) => managed.push(key),
            None => problem(
                "unknown-key",
                key,
                format!("The {what} names `{key}`, which is not a state key."),
                "Declare the key or remove it.",
            ),
        }
    }
    if let Some(first) = managed.first() {
        let names: Vec<&str> = managed.iter().map(|name| &***name).collect();
        let message = format!(
            "Invalid managed channels detected in {what}: {}. Managed channels are not permitted in Input/Output \
             schema.",
            names.join(", ")
        );
        problem(
            "managed-key",
            first,
            message,
            "Remove the managed value; nodes can read it.",
        );
    }
    indexes
}

impl Plan {
    /// Notes which keys need more than a step's own work, so that a step without such keys does not look for them.
    fn note_kinds(&mut self, problem: &mut impl FnMut(&'static str, &Name, String, &str)) {
        for (index, channel) in (0..).zip(&self.channels) {
            if channel.spec.kind.is_transient() && channel.spec.default.is_some() {
                problem(
                    "default-on-channel",
                    &channel.name,
                    format!(
                        "Key '{}' is empty before it is written, so it has no default.",
                        channel.name
                    ),
                    "Remove the default, or keep the value.",
                );
            }
            match &channel.spec.kind {
                Kind::Untracked { .. } => self.has_untracked = true,
                Kind::Delta(spec) => {
                    self.deltas.push(index);
                    if spec.frequency == 0 {
                        let message = "snapshot_frequency must be a positive int, got 0".to_owned();
                        problem("delta-frequency", &channel.name, message, "Give at least 1.");
                    }
                }
                _ => {}
            }
        }
    }
}

/// Names of state keys: not those of the engine, of trigger channels, or of what a run is configured with.
fn may_be_named(name: &str) -> bool {
    !is_reserved(name)
        && !name.starts_with("branch:to:")
        && !name.starts_with("join:")
        && !matches!(name, "|" | ":")
}

/// Names that begin with two underscores belong to the engine, and some others to the configuration of runs.
pub(crate) fn is_reserved(name: &str) -> bool {
    const CONFIGURATION: [&str; 4] = ["checkpoint_id", "checkpoint_map", "checkpoint_ns", "configurable"];
    name.starts_with("__") || CONFIGURATION.contains(&name)
}
