//! The compiled form: integer ids for channels and nodes, and for each channel the nodes it triggers.
//!
//! A super-step touches only what its tasks wrote and what those channels trigger, so its cost does not depend on
//! how many nodes the graph has.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use smallvec::SmallVec;

use crate::base::ids::Name;
use crate::channel::{ChannelSpec, Kind};
use crate::checkpoint::types::reserved::END;
use crate::graph::compiled::Graph;
use crate::graph::handler::{ErrorHandler, HandlerNode};
use crate::graph::node::{Node, Router};
use crate::graph::rules::Rules;
use crate::policy::cache::CachePolicy;
use crate::policy::effect::Effect;
use crate::policy::limits::Permits;
use crate::policy::pace::Pace;
use crate::value::{Object, Value};

/// What the name of a node's trigger channel begins with.
const TRIGGER: &str = "branch:to:";

/// Function that returns the message about a key that the state does not have.
pub(crate) type SayFn = Arc<dyn Fn(&str) -> String + Send + Sync>;

pub(crate) type ChannelIx = u32;
pub(crate) type NodeIx = u32;

pub(crate) struct ChannelPlan {
    pub(crate) name: Name,
    pub(crate) spec: ChannelSpec,
    /// May the input write it?
    pub(crate) is_input: bool,
    /// Nodes that a write to this channel may trigger.
    pub(crate) subscribers: SmallVec<[NodeIx; 4]>,
    /// For a barrier: the node behind it.
    pub(crate) join_target: Option<NodeIx>,
    /// For `branch:to:x`: x.
    pub(crate) branch_target: Option<NodeIx>,
}

pub(crate) struct BranchPlan {
    pub(crate) name: Name,
    pub(crate) router: Arc<dyn Router>,
    pub(crate) paths: Option<HashMap<Name, Name>>,
    pub(crate) default: Option<Name>,
    /// State keys the router is given; None for those of its node.
    pub(crate) input: Option<Vec<ChannelIx>>,
}

pub(crate) struct NodePlan {
    pub(crate) name: Name,
    /// None for START.
    pub(crate) node: Option<Arc<dyn Node>>,
    /// Does it wait until nothing else is triggered?
    pub(crate) deferred: bool,
    /// State keys it is given; None for the default.
    pub(crate) input: Option<Vec<ChannelIx>>,
    /// Channels that trigger it, sorted by name.
    pub(crate) triggers: Channels,
    /// Where they are among the triggers of all nodes.
    first_trigger: u32,
    pub(crate) branch_channel: ChannelIx,
    pub(crate) edges: Channels,
    pub(crate) joins: Vec<ChannelIx>,
    pub(crate) branches: Vec<BranchPlan>,
    /// Does an edge lead to END?
    pub(crate) ends: bool,
    /// The node that takes over when this one has failed.
    pub(crate) handler: Option<NodeIx>,
    /// What most nodes do not say.
    more: Option<Box<More>>,
    path_text: OnceLock<Name>,
    pub(crate) pace: Pace,
}

/// Settings that only some nodes have. Kept apart, so that the others take no memory for them: a large graph is
/// compiled in the time that writing it down takes.
#[derive(Default)]
pub(crate) struct More {
    /// Graphs that it runs.
    pub(crate) graphs: Vec<Graph>,
    pub(crate) rules: Rules,
    pub(crate) kind: Option<Name>,
    /// The node's own places, when their number is limited.
    pub(crate) places: Option<Arc<Permits>>,
    /// Nodes and END that its commands may lead to, as declared.
    pub(crate) destinations: Vec<Name>,
    /// State keys it may write, as declared; None when nothing is declared.
    pub(crate) writes: Option<Vec<ChannelIx>>,
    pub(crate) cache: Option<CachePolicy>,
    /// Accompanies the events of its tasks.
    pub(crate) metadata: Object,
    /// The super-steps after an input that may have it.
    pub(crate) max_visits: Option<u32>,
    /// What it does to the world outside, as declared.
    pub(crate) effect: Option<Effect>,
    /// The keys that the effect depends on; None for all that it is given.
    pub(crate) effect_keys: Option<Vec<Name>>,
}

static NOTHING_MORE: LazyLock<More> = LazyLock::new(More::default);

/// A few channels, nodes or places: most nodes have one or two of each.
pub(crate) type Channels = SmallVec<[ChannelIx; 4]>;

/// Numbers of channels or nodes by name.
pub(crate) type NameIndex = HashMap<Name, u32, foldhash::fast::RandomState>;

/// State keys that are shown.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    All,
    Keys(Vec<ChannelIx>),
    /// As a bare value.
    Key(ChannelIx),
}

impl Shown {
    pub(crate) fn has(&self, plan: &Plan, channel: ChannelIx) -> bool {
        match self {
            Shown::All => plan.is_state_key(channel),
            Shown::Keys(keys) => keys.contains(&channel),
            Shown::Key(key) => *key == channel,
        }
    }
}

#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) channels: Vec<ChannelPlan>,
    /// Channels by name, without the trigger channels: those are found by their node.
    channel_index: NameIndex,
    pub(crate) nodes: Vec<NodePlan>,
    pub(crate) node_index: NameIndex,
    /// Error handlers, numbered after the nodes. No edge leads to them, and only an edit finds them by name.
    pub(crate) handlers: Vec<NodePlan>,
    /// Channels `0..state_keys` are the state, in declaration order.
    pub(crate) state_keys: usize,
    /// Channels `state_keys..readable_keys` are computed by the engine: nodes can read them like state keys.
    pub(crate) readable_keys: usize,
    /// Does a state key vanish in a step that does not write it?
    pub(crate) fades: bool,
    /// Is the state one value, and no object of keys?
    pub(crate) is_root: bool,
    pub(crate) has_untracked: bool,
    /// Nodes that a thread may come to only so often.
    pub(crate) bounded: Vec<NodeIx>,
    /// Handlers of those that lead elsewhere once they were visited as often as they may be.
    pub(crate) limit_handlers: HashMap<NodeIx, NodeIx>,
    /// Does a node change the world outside?
    pub(crate) acts: bool,
    /// Refuses updates of keys that are none; None ignores them.
    pub(crate) unknown_key: Option<SayFn>,
    /// Keys whose values are rebuilt from writes.
    pub(crate) deltas: Vec<ChannelIx>,
    /// What nodes are given that do not say what they need; None for every state key.
    pub(crate) node_keys: Option<Vec<ChannelIx>>,
    /// Of a workflow: what it hands to its next run.
    pub(crate) previous_channel: Option<ChannelIx>,
    pub(crate) start_channel: ChannelIx,
    pub(crate) tasks_channel: ChannelIx,
    /// What `invoke` returns; None for every state key.
    pub(crate) output_keys: Option<Vec<ChannelIx>>,
}

impl Plan {
    /// Reserves room for a number of nodes, each with a trigger channel.
    pub(crate) fn reserve(&mut self, nodes: usize) {
        self.channels.reserve(nodes + 2);
        self.nodes.reserve(nodes + 1);
        self.node_index.reserve(nodes + 1);
    }

    /// Returns the node with this name, or the error handler that events and histories show under it.
    pub(crate) fn node_or_handler(&self, name: &str) -> Option<NodeIx> {
        let handler = || {
            let place = self.handlers.iter().position(|node| &*node.name == name)?;
            NodeIx::try_from(self.nodes.len() + place).ok()
        };
        self.node_index.get(name).copied().or_else(handler)
    }

    /// Returns the channel with this name.
    pub(crate) fn channel_named(&self, name: &str) -> Option<ChannelIx> {
        if let Some(index) = self.channel_index.get(name) {
            return Some(*index);
        }
        let node = self.node_index.get(name.strip_prefix(TRIGGER)?)?;
        Some(self.node(*node).branch_channel).filter(|_| *node > 0)
    }

    /// Returns whether the user's code runs as soon as there is an input: as a router of START, or as an entry point.
    pub(crate) fn start_routes(&self) -> bool {
        let start = self.nodes.first().filter(|first| first.is_start());
        start.is_none_or(|start| !start.branches.is_empty())
    }

    pub(crate) fn add_channel(&mut self, name: Name, spec: ChannelSpec) -> ChannelIx {
        let index = self.channels.len() as ChannelIx;
        self.channel_index.insert(name.clone(), index);
        self.push_channel(name, spec)
    }

    /// Adds the channel that triggers a node.
    pub(crate) fn add_trigger(&mut self, node: NodeIx, spec: ChannelSpec) {
        let target = &self.nodes[node as usize].name;
        let mut name = String::with_capacity(TRIGGER.len() + target.len());
        name.push_str(TRIGGER);
        name.push_str(target);
        let channel = self.push_channel(name.into(), spec);
        self.channels[channel as usize].branch_target = Some(node);
        self.nodes[node as usize].branch_channel = channel;
        self.subscribe(node, channel);
    }

    fn push_channel(&mut self, name: Name, spec: ChannelSpec) -> ChannelIx {
        let index = self.channels.len() as ChannelIx;
        self.channels.push(ChannelPlan {
            name,
            spec,
            is_input: false,
            subscribers: SmallVec::new(),
            join_target: None,
            branch_target: None,
        });
        index
    }

    pub(crate) fn add_node(&mut self, name: Name, node: Option<Arc<dyn Node>>) -> &mut NodePlan {
        let index = self.nodes.len() as NodeIx;
        self.node_index.insert(name.clone(), index);
        self.nodes.push(NodePlan::new(name, node));
        &mut self.nodes[index as usize]
    }

    /// Adds a handler, after the last node.
    pub(crate) fn add_handler(&mut self, name: Name, handler: Arc<dyn ErrorHandler>, rules: Rules) -> NodeIx {
        let index = (self.nodes.len() + self.handlers.len()) as NodeIx;
        let node = Arc::new(HandlerNode(handler));
        let mut plan = NodePlan::new(name, Some(node));
        plan.say(More {
            rules,
            ..More::default()
        });
        self.handlers.push(plan);
        index
    }

    pub(crate) fn subscribe(&mut self, node: NodeIx, channel: ChannelIx) {
        self.channels[channel as usize].subscribers.push(node);
        self.nodes[node as usize].triggers.push(channel);
    }

    pub(crate) fn finish(mut self) -> Self {
        let mut keys = self.channels[..self.state_keys].iter();
        self.fades = keys.any(|key| key.spec.kind.is_transient());
        let mut triggers = 0;
        for node in &mut self.nodes {
            let channels = &self.channels;
            once(&mut node.edges);
            node.first_trigger = triggers;
            triggers += node.triggers.len() as u32;
            if node.triggers.len() > 1 {
                node.triggers
                    .sort_by(|a, b| channels[*a as usize].name.cmp(&channels[*b as usize].name));
            }
        }
        self
    }

    /// Returns the names of the channels that trigger a node, sorted.
    pub(crate) fn trigger_names(&self, node: NodeIx) -> impl Iterator<Item = &Name> {
        let triggers = self.node(node).triggers.iter();
        triggers.map(|channel| &self.channel(*channel).name)
    }

    /// Returns the settings of tasks that have none of their own: in a workflow, those of its entry point.
    pub(crate) fn of_calls(&self) -> Option<&More> {
        self.previous_channel.map(|_| self.node(0).more())
    }

    /// Returns the range of a node's triggers among those of all nodes.
    pub(crate) fn triggers_of(&self, node: NodeIx) -> Range<usize> {
        let node = self.node(node);
        let first = node.first_trigger as usize;
        first..first + node.triggers.len()
    }

    /// Returns the number of triggers of all nodes.
    pub(crate) fn trigger_count(&self) -> usize {
        let end = |node: &NodePlan| node.first_trigger as usize + node.triggers.len();
        self.nodes.last().map_or(0, end)
    }

    pub(crate) fn channel(&self, index: ChannelIx) -> &ChannelPlan {
        &self.channels[index as usize]
    }

    pub(crate) fn node(&self, index: NodeIx) -> &NodePlan {
        match (index as usize).checked_sub(self.nodes.len()) {
            None => &self.nodes[index as usize],
            Some(handler) => &self.handlers[handler],
        }
    }

    pub(crate) fn is_state_key(&self, channel: ChannelIx) -> bool {
        (channel as usize) < self.state_keys
    }

    pub(crate) fn is_managed(&self, channel: ChannelIx) -> bool {
        (self.state_keys..self.readable_keys).contains(&(channel as usize))
    }

    /// Returns a packet as it is stored: untracked keys at the top of its input are left out.
    pub(crate) fn without_untracked(&self, packet: &Value) -> Value {
        let is_untracked = |key: &str| {
            self.channel_named(key)
                .is_some_and(|index| matches!(self.channel(index).spec.kind, Kind::Untracked { .. }))
        };
        let (Value::Object(packet), Some(Value::Object(arg))) = (packet, packet.get("arg")) else {
            return packet.clone();
        };
        let kept = arg.iter().filter(|(key, _)| !is_untracked(key));
        let kept: Object = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut packet = packet.clone();
        packet.insert("arg", kept);
        Value::Object(packet)
    }
}

/// Keeps the first of equal channels.
fn once(channels: &mut Channels) {
    // Nearly every node has a few edges, which are looked through sooner than hashed.
    const FEW: usize = 8;
    if channels.len() > FEW {
        let mut seen: HashSet<ChannelIx, foldhash::fast::RandomState> = HashSet::default();
        channels.retain(|channel| seen.insert(*channel));
        return;
    }
    let mut kept = 0;
    for index in 0..channels.len() {
        let channel = channels[index];
        if !channels[..kept].contains(&channel) {
            channels[kept] = channel;
            kept += 1;
        }
    }
    channels.truncate(kept);
}

/// The plan as text: one line per node with what triggers it and where it leads.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for channel in &self.channels[..self.readable_keys] {
            writeln!(f, "key {}: {}", channel.name, channel.spec.reducer_name())?;
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let triggers: Vec<&str> = self.trigger_names(index as NodeIx).map(|name| &**name).collect();
            let deferred = if node.deferred { " (deferred)" } else { "" };
            writeln!(f, "node {}{deferred} <- {}", node.name, triggers.join(", "))?;
            for channel in node.edges.iter().chain(&node.joins) {
                writeln!(f, "  -> {}", self.channel(*channel).name)?;
            }
            if node.ends {
                writeln!(f, "  -> {END}")?;
            }
            for branch in &node.branches {
                let mut paths: Vec<_> = branch
                    .paths
                    .iter()
                    .flatten()
                    .map(|(l, t)| format!("{l} -> {t}"))
                    .collect();
                paths.sort();
                let default = branch.default.iter().map(|t| format!("otherwise -> {t}"));
                let paths: Vec<_> = paths.into_iter().chain(default).collect();
                writeln!(
                    f,
                    "  ? {}: {}",
                    branch.name,
                    if paths.is_empty() {
                        "any node".into()
                    } else {
                        paths.join(", ")
                    }
                )?;
            }
            if !node.more().destinations.is_empty() {
                writeln!(f, "  ! {}", node.more().destinations.join(", "))?;
            }
        }
        Ok(())
    }
}

impl NodePlan {
    /// Returns the path of the node's task when it was triggered, as text that sorts.
    pub(crate) fn path_text(&self) -> Name {
        let make = || format!("~__pregel_pull, {}", self.name).into();
        self.path_text.get_or_init(make).clone()
    }

    fn new(name: Name, node: Option<Arc<dyn Node>>) -> Self {
        Self {
            name,
            node,
            deferred: false,
            input: None,
            triggers: Channels::new(),
            first_trigger: 0,
            branch_channel: 0,
            edges: Channels::new(),
            joins: Vec::new(),
            branches: Vec::new(),
            ends: false,
            handler: None,
            more: None,
            path_text: OnceLock::new(),
            pace: Pace::default(),
        }
    }

    pub(crate) fn more(&self) -> &More {
        self.more.as_deref().unwrap_or_else(|| &NOTHING_MORE)
    }

    /// Returns the node's effect on the world outside, if it may change something there.
    pub(crate) fn outside(&self) -> Option<Effect> {
        self.more().effect.filter(|effect| effect.is_outside())
    }

    pub(crate) fn say(&mut self, more: More) {
        self.more = Some(Box::new(more));
    }

    pub(crate) fn is_start(&self) -> bool {
        self.node.is_none()
    }
}
