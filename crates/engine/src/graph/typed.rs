//! Rust types instead of JSON: a state declared as a struct, nodes and routers as closures over it, and a graph that
//! takes and gives structs.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use superstep::{ChannelSpec, END, Outcome, RunConfig, START, StateGraph, json, typed};
//!
//! superstep::state! {
//!     #[derive(Serialize, Deserialize)]
//!     struct Greeting {
//!         name: String,
//!         lines: Vec<String> = ChannelSpec::append(),
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let graph = StateGraph::of::<Greeting>()
//!     .node("greet", typed(async |_, state: Greeting| Ok(json!({"lines": format!("Hello, {}!", state.name)}))))
//!     .edge(START, "greet")
//!     .edge("greet", END)
//!     .compile()?
//!     .typed::<Greeting, Greeting>();
//! let input = Greeting { name: "Ada".into(), lines: vec![] };
//! let Outcome::Done(greeting) = graph.invoke(&input, RunConfig::default()).await? else { unreachable!() };
//! assert_eq!(greeting.lines, ["Hello, Ada!"]);
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::ids::Name;
use crate::channel::ChannelSpec;
use crate::graph::builder::StateGraph;
use crate::graph::compiled::Graph;
use crate::graph::context::NodeContext;
use crate::graph::node::{BoxFuture, Command, Node, NodeError, NodeOutput, Packet, Router, Target};
use crate::run::handle::Run;
use crate::stream::config::{Input, RunConfig, RunResult, RunStatus, StateRef};
use crate::stream::error::{RunError, UnknownInterruptReason};
use crate::stream::events::Interrupt;
use crate::value::Value;

/// A type that declares the keys of a state. [`state!`](crate::state) makes one from a struct.
pub trait State {
    /// The keys and their reducers.
    fn channels() -> Vec<(&'static str, ChannelSpec)>;
}

/// Declares a struct whose fields are the keys of a state.
///
/// A field takes the last value that was written to it, and what does not read as its type is refused, whoever writes it: a
/// node, an input or an edit. `= spec` gives it another [`ChannelSpec`], which checks nothing by itself. Derive what the
/// struct needs, `Serialize` and `Deserialize` among it. A key that nobody has written is absent: give such fields
/// `#[serde(default)]` or make them an `Option`.
///
/// As an input, a value of the struct sets all of its keys, also on a thread that has a state. Callers who go on with a
/// thread give an input type of its own with the keys that they set: `graph.typed::<Question, Chat>()`.
#[macro_export]
macro_rules! state {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[$field_meta:meta])* $field_vis:vis $field:ident : $type:ty $(= $spec:expr)? ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $( $(#[$field_meta])* $field_vis $field: $type, )*
        }

        impl $crate::State for $name {
            fn channels() -> ::std::vec::Vec<(&'static str, $crate::ChannelSpec)> {
                ::std::vec![$( (::std::stringify!($field), $crate::state!(@spec $type $(, $spec)?)), )*]
            }
        }
    };
    (@spec $type:ty, $spec:expr) => { $spec };
    (@spec $type:ty) => { $crate::ChannelSpec::last_value_of::<$type>() };
}

impl StateGraph {
    /// A graph with the keys of `S`. An update of a key that is not among them is refused: it is misspelt.
    pub fn of<S: State>() -> Self {
        let channels = S::channels();
        let keys: Vec<&str> = channels.iter().map(|(name, _)| *name).collect();
        let graph = Self::new().refuse_unknown_keys(move |key| {
            let keys = keys.join("`, `");
            format!("The state has no key `{key}`. Its keys are `{keys}`.")
        });
        let channels = channels.into_iter();
        channels.fold(graph, |graph, (name, spec)| graph.channel(name, spec))
    }
}

/// What a typed node may return: anything that serializes to an update, or a [`NodeOutput`] or [`Command`].
#[diagnostic::on_unimplemented(
    message = "a node cannot return `{Self}`",
    note = "return what serializes to an update of the state (`#[derive(Serialize)]`), a `Command` or a `NodeOutput`"
)]
pub trait IntoOutput {
    /// The output.
    fn into_output(self) -> Result<NodeOutput, NodeError>;
}

impl<T: Serialize + 'static> IntoOutput for T {
    fn into_output(self) -> Result<NodeOutput, NodeError> {
        let refuse = |error| {
            NodeError::new(
                "ValueError",
                format!("what the node returned is not JSON: {error}"),
            )
        };
        Value::encode(&self).map(NodeOutput::Update).map_err(refuse)
    }
}

impl IntoOutput for NodeOutput {
    fn into_output(self) -> Result<NodeOutput, NodeError> {
        Ok(self)
    }
}

impl IntoOutput for Command {
    fn into_output(self) -> Result<NodeOutput, NodeError> {
        Ok(NodeOutput::Command(self))
    }
}

/// Where a router or a command may lead: a name, a [`Target`], or several.
///
/// Names and packets are mixed as targets: `vec![Target::send("check", item), "log".into()]`, or as a tuple:
/// `("log", Target::send("check", item))`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says not where to go",
    note = "give a name, a `Target`, a `Vec`, an array, an `Option` or a tuple of them; to mix names and packets, make a \
            `Vec<Target>` with `\"name\".into()` and `Target::send(node, input)`"
)]
pub trait IntoTargets {
    /// The targets.
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

fn read<T: DeserializeOwned + 'static>(value: &Value) -> Result<T, NodeError> {
    value.decode().map_err(|error| {
        let name = std::any::type_name::<T>();
        let name = name.rsplit("::").next().unwrap_or(name);
        NodeError::new(
            "ValueError",
            format!("the state does not read as `{name}`: {error}"),
        )
    })
}

struct Typed<F, I>(Arc<F>, PhantomData<fn(I)>);

impl<F, I, O, Fut> Node for Typed<F, I>
where
    F: Fn(NodeContext, I) -> Fut + Send + Sync + 'static,
    I: DeserializeOwned + Send + 'static,
    O: IntoOutput,
    Fut: Future<Output = Result<O, NodeError>> + Send + 'static,
{
    fn run(&self, context: NodeContext, input: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        let work = read(&input).map(|input| (self.0)(context, input));
        Box::pin(async move { work?.await?.into_output() })
    }
}

/// A node from an async closure over a Rust type. It returns an update as anything that serializes, a [`NodeOutput`] or a
/// [`Command`].
pub fn typed<I, O, Fut>(work: impl Fn(NodeContext, I) -> Fut + Send + Sync + 'static) -> impl Node
where
    I: DeserializeOwned + Send + 'static,
    O: IntoOutput,
    Fut: Future<Output = Result<O, NodeError>> + Send + 'static,
{
    Typed(Arc::new(work), PhantomData)
}

/// A node from an async closure over a Rust type and something that it uses, such as a client or a pool: each task is given
/// a clone of that.
///
/// ```
/// use superstep::{ChannelSpec, END, RunConfig, START, StateGraph, json, typed_with};
/// # #[derive(Clone)] struct Client;
/// # impl Client { async fn ask(&self, question: &str) -> Result<String, std::io::Error> { Ok(question.to_uppercase()) } }
/// # #[derive(serde::Deserialize)] struct Chat { question: String }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let client = Client;
/// let graph = StateGraph::new()
///     .channel("question", ChannelSpec::last_value())
///     .channel("answer", ChannelSpec::last_value())
///     .node("ask", typed_with(client, async |client: Client, _, chat: Chat| {
///         Ok(json!({"answer": client.ask(&chat.question).await?}))
///     }))
///     .edge(START, "ask")
///     .edge("ask", END)
///     .compile()?;
/// # let input = superstep::Input::value(json!({"question": "hi"}));
/// # let result = graph.invoke(input, RunConfig::default()).await?;
/// # assert_eq!(result.value.get("answer"), Some(&json!("HI")));
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
///
/// A closure that captures instead has to clone what it captures for each task, outside of its `async` block:
/// `move |_, chat: Chat| { let client = client.clone(); async move { … } }`. The same holds for [`TaskFn`](crate::TaskFn).
pub fn typed_with<U, I, O, Fut>(
    uses: U,
    work: impl Fn(U, NodeContext, I) -> Fut + Send + Sync + 'static,
) -> impl Node
where
    U: Clone + Send + Sync + 'static,
    I: DeserializeOwned + Send + 'static,
    O: IntoOutput,
    Fut: Future<Output = Result<O, NodeError>> + Send + 'static,
{
    typed(move |context, input| work(uses.clone(), context, input))
}

/// A router from a closure over a Rust type. It returns a name, a [`Target`], or several.
pub fn choose<S, T>(decide: impl Fn(S) -> T + Send + Sync + 'static) -> impl Router
where
    S: DeserializeOwned + Send + 'static,
    T: IntoTargets,
{
    move |_: NodeContext, state: Value| {
        let targets = read(&state).map(|state| decide(state).into_targets());
        async move { targets }
    }
}

/// How a typed run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome<O> {
    /// Nothing is left to run: the output.
    Done(O),
    /// These questions wait for answers.
    Asked(Vec<Interrupt>),
    /// It stopped at a breakpoint.
    Breakpoint,
}

impl<O> Outcome<O> {
    /// The output of a run that is done.
    pub fn done(self) -> Option<O> {
        match self {
            Outcome::Done(output) => Some(output),
            _ => None,
        }
    }
}

/// A graph that takes an `I` and gives an `O`. Everything else of [`Graph`] is there too.
pub struct TypedGraph<I, O> {
    graph: Graph,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O> Clone for TypedGraph<I, O> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph.clone(),
            types: PhantomData,
        }
    }
}

impl<I, O> fmt::Debug for TypedGraph<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.graph.fmt(f)
    }
}

impl<I, O> Deref for TypedGraph<I, O> {
    type Target = Graph;
    fn deref(&self) -> &Graph {
        &self.graph
    }
}

impl Graph {
    /// The graph with Rust types for its input and output.
    pub fn typed<I, O>(self) -> TypedGraph<I, O>
    where
        I: Serialize + 'static,
        O: DeserializeOwned + 'static,
    {
        TypedGraph {
            graph: self,
            types: PhantomData,
        }
    }
}

impl<I: Serialize + 'static, O: DeserializeOwned + 'static> TypedGraph<I, O> {
    /// Runs an input.
    pub async fn invoke(&self, input: &I, config: RunConfig) -> Result<Outcome<O>, RunError> {
        outcome(self.graph.invoke(input_of(input)?, config).await?)
    }

    /// Answers the question that waits, and runs on. For several questions, give a map of their ids to answers. Where no
    /// question waits this is an error, and nothing runs.
    pub async fn resume(&self, answer: impl Into<Value>, config: RunConfig) -> Result<Outcome<O>, RunError> {
        if let (Some(thread), None) = (&config.thread, &config.checkpoint_id) {
            let state = self.graph.get_state(&StateRef::live(thread.clone())).await?;
            if state.interrupts.is_empty() {
                return Err(RunError::UnknownInterrupt {
                    reason: UnknownInterruptReason::NotPending,
                    interrupts: Vec::new(),
                    pending: Vec::new(),
                });
            }
        }
        let config = RunConfig {
            strict_resume: true,
            ..config
        };
        outcome(self.graph.invoke(Input::resume(answer), config).await?)
    }

    /// Goes on where the thread stopped.
    pub async fn go_on(&self, config: RunConfig) -> Result<Outcome<O>, RunError> {
        outcome(self.graph.invoke(Input::Resume, config).await?)
    }

    /// Runs several inputs at once; results in input order.
    pub async fn batch(&self, inputs: &[I], config: RunConfig) -> Vec<Result<Outcome<O>, RunError>> {
        let runs = inputs.iter().map(|input| self.invoke(input, config.clone()));
        futures::future::join_all(runs).await
    }

    /// Runs an input in the background and streams what happens.
    pub fn stream(&self, input: &I, config: RunConfig) -> Result<Run, RunError> {
        Ok(self.graph.stream(input_of(input)?, config))
    }

    /// The state of a thread, read as any type.
    pub async fn state<S: DeserializeOwned + 'static>(&self, at: &StateRef) -> Result<S, RunError> {
        let state = self.graph.get_state(at).await?;
        state.values.decode().map_err(|error| {
            RunError::invalid_request(format!(
                "the state of thread {} does not read so: {error}",
                at.thread
            ))
        })
    }
}

fn input_of<I: Serialize + 'static>(input: &I) -> Result<Input, RunError> {
    let value = Value::encode(input);
    let value =
        value.map_err(|error| RunError::invalid_request(format!("the input is not JSON: {error}")))?;
    Ok(Input::Value(value))
}

fn outcome<O: DeserializeOwned + 'static>(result: RunResult) -> Result<Outcome<O>, RunError> {
    Ok(match result.status {
        RunStatus::Interrupted => Outcome::Asked(result.interrupts),
        RunStatus::Breakpoint => Outcome::Breakpoint,
        RunStatus::Done => Outcome::Done(result.value.decode().map_err(|error| {
            RunError::invalid_request(format!("the output does not read as its type: {error}"))
        })?),
    })
}
