//! Packets, targets and commands: where a graph goes on, and with what.

use crate::base::ids::Name;
use crate::base::timeout::Timeout;
use crate::value::Value;

/// A `Send`: run `node` in the next super-step with exactly this input.
#[derive(Clone, Debug, PartialEq)]
#[doc(alias = "Send")]
pub struct Packet {
    /// The target node.
    pub node: Name,
    /// Its raw input.
    pub arg: Value,
    /// How long its task may take; the node's own timeout when None.
    pub timeout: Option<Timeout>,
}

/// Destination that a run goes to next.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A node by name, or `END`.
    Node(Name),
    /// A packet with its own input.
    Send(Packet),
}

impl<T: Into<Name>> From<T> for Target {
    fn from(name: T) -> Self {
        Target::Node(name.into())
    }
}

impl From<Packet> for Target {
    fn from(packet: Packet) -> Self {
        Target::Send(packet)
    }
}

impl Target {
    /// Creates a target that is a node, by name.
    pub fn node(name: impl Into<Name>) -> Self {
        Target::Node(name.into())
    }
    /// Creates a target that is a packet.
    pub fn send(node: impl Into<Name>, arg: impl Into<Value>) -> Self {
        Target::Send(Packet {
            node: node.into(),
            arg: arg.into(),
            timeout: None,
        })
    }
    /// Creates a target that is a packet whose task has a timeout of its own.
    pub fn send_within(node: impl Into<Name>, arg: impl Into<Value>, timeout: Timeout) -> Self {
        Target::Send(Packet {
            node: node.into(),
            arg: arg.into(),
            timeout: Some(timeout),
        })
    }
}

/// Update the state and choose where to go, in one return value; also an input that answers or redirects a thread.
///
/// ```
/// use superstep::{Command, Target, json};
///
/// let both = Command::goto("review").update(json!({"tries": 1}));
/// let fan_out = Command::goto(vec![Target::send("check", json!(1)), "log".into()]);
/// let hand_over = Command::goto("billing").update(json!({"by": "triage"})).to_parent();
/// let answer = Command::answer("yes").update(json!({"note": "seen"}));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// State update, as a node would return it.
    pub update: Option<Value>,
    /// Targets, in addition to the node's edges.
    pub goto: Vec<Target>,
    /// As input only: the answer, or a map of interrupt ids to answers.
    pub resume: Option<Value>,
    /// From a node only: which graph it is for.
    pub graph: CommandGraph,
}

impl Command {
    /// Creates a command that leads to a node, a packet or several of both.
    pub fn goto(targets: impl IntoTargets) -> Self {
        Self {
            goto: targets.into_targets(),
            ..Self::default()
        }
    }
    /// Creates an input that answers the waiting question, or several by a map of their ids to answers.
    pub fn answer(answer: impl Into<Value>) -> Self {
        Self {
            resume: Some(answer.into()),
            ..Self::default()
        }
    }
    /// Sets a state update, in the form that a node would return.
    pub fn update(mut self, update: impl Into<Value>) -> Self {
        self.update = Some(update.into());
        self
    }
    /// Adds further targets.
    pub fn and_goto(mut self, targets: impl IntoTargets) -> Self {
        self.goto.extend(targets.into_targets());
        self
    }
    /// Sets the graph around the node's own as the one that the command is for.
    pub fn to_parent(mut self) -> Self {
        self.graph = CommandGraph::Parent;
        self
    }
}

/// Graph that a node's command is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandGraph {
    /// The graph of the node.
    #[default]
    Current,
    /// The graph around it: this graph stops, and the node that runs it ends with the command.
    Parent,
}

/// Destinations of a router or a command: a name, a [`Target`], or several.
///
/// Names and packets are mixed as targets: `vec![Target::send("check", item), "log".into()]`, or as a tuple:
/// `("log", Target::send("check", item))`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says not where to go",
    note = "give a name, a `Target`, a `Vec`, an array, an `Option` or a tuple of them; to mix names and packets, make a \
            `Vec<Target>` with `\"name\".into()` and `Target::send(node, input)`"
)]
pub trait IntoTargets {
    /// Converts the value into targets.
    fn into_targets(self) -> Vec<Target>;
}

impl IntoTargets for Target {
    fn into_targets(self) -> Vec<Target> {
        vec![self]
    }
}

macro_rules! names {
    ($($name:ty),*) => {
        $(impl IntoTargets for $name {
            fn into_targets(self) -> Vec<Target> {
                vec![Target::node(self)]
            }
        })*
    };
}

names!(&str, String, Name);

impl IntoTargets for Packet {
    fn into_targets(self) -> Vec<Target> {
        vec![self.into()]
    }
}

impl<T: IntoTargets> IntoTargets for Option<T> {
    fn into_targets(self) -> Vec<Target> {
        self.map(T::into_targets).unwrap_or_default()
    }
}

impl<T: IntoTargets, const N: usize> IntoTargets for [T; N] {
    fn into_targets(self) -> Vec<Target> {
        self.into_iter().flat_map(T::into_targets).collect()
    }
}

impl<A: IntoTargets, B: IntoTargets> IntoTargets for (A, B) {
    fn into_targets(self) -> Vec<Target> {
        let (first, second) = self;
        first
            .into_targets()
            .into_iter()
            .chain(second.into_targets())
            .collect()
    }
}

impl<T: IntoTargets> IntoTargets for Vec<T> {
    fn into_targets(self) -> Vec<Target> {
        self.into_iter().flat_map(T::into_targets).collect()
    }
}
