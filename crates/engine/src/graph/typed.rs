//! Rust types instead of JSON: a state declared as a struct, nodes and routers as closures over it, and a graph that
//! takes and gives structs.
//!
//! ```
//! use superstep::{ChannelSpec, END, Outcome, RunConfig, START, StateGraph, json, typed};
//!
//! superstep::state! {
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

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::command::{Command, IntoTargets};
use crate::channel::ChannelSpec;
use crate::graph::builder::StateGraph;
use crate::graph::context::NodeContext;
use crate::graph::node::{Node, NodeError, NodeOutput, Router};
use crate::value::Value;

/// A type that declares the keys of a state. [`state!`](macro@crate::state) makes one from a struct.
pub trait State {
    /// Returns the keys and their reducers.
    fn channels() -> Vec<(&'static str, ChannelSpec)>;
}

/// Declares a struct whose fields are the keys of a state.
///
/// A field takes the last value that was written to it, and what does not read as its type is refused, no matter who writes it: a
/// node, an input or an edit. `= spec` gives it another [`ChannelSpec`], which checks nothing by itself.
///
/// A struct without attributes derives `Clone`, `Debug`, `Default`, `Serialize` and `Deserialize`, and a key that nobody has
/// written has its type's default. One with attributes derives what they say, `Serialize` and `Deserialize` among it; there a
/// key that nobody has written is absent: give such fields `#[serde(default)]` or make them an `Option`.
///
/// As an input, a value of the struct sets all of its keys, also on a thread that has a state. Callers who go on with a
/// thread give an input type of its own with the keys that they set: `graph.typed::<Question, Chat>()`.
#[macro_export]
macro_rules! state {
    ($vis:vis struct $name:ident { $($fields:tt)* }) => {
        $crate::state! {
            #[derive(Clone, Debug, Default, $crate::value::__serde::Serialize, $crate::value::__serde::Deserialize)]
            #[serde(default, crate = "superstep::value::__serde")]
            $vis struct $name { $($fields)* }
        }
    };
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
    /// Creates a graph with the keys of `S`. An update of any other key is refused as misspelt.
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

/// Values that a typed node may return: anything that serializes to an update, or a [`NodeOutput`] or [`Command`].
#[diagnostic::on_unimplemented(
    message = "a node cannot return `{Self}`",
    note = "return what serializes to an update of the state (`#[derive(Serialize)]`), a `Command` or a `NodeOutput`"
)]
pub trait IntoOutput {
    /// Converts the value into the node's output.
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

#[async_trait]
impl<F, I, O, Fut> Node for Typed<F, I>
where
    F: Fn(NodeContext, I) -> Fut + Send + Sync + 'static,
    I: DeserializeOwned + Send + 'static,
    O: IntoOutput,
    Fut: Future<Output = Result<O, NodeError>> + Send + 'static,
{
    async fn run(&self, context: NodeContext, input: Value) -> Result<NodeOutput, NodeError> {
        (self.0)(context, read(&input)?).await?.into_output()
    }
}

/// Creates a node from an async closure over a Rust type. It returns an update as anything that serializes, a
/// [`NodeOutput`] or a [`Command`].
pub fn typed<I, O, Fut>(work: impl Fn(NodeContext, I) -> Fut + Send + Sync + 'static) -> impl Node
where
    I: DeserializeOwned + Send + 'static,
    O: IntoOutput,
    Fut: Future<Output = Result<O, NodeError>> + Send + 'static,
{
    Typed(Arc::new(work), PhantomData)
}

/// Creates a node from an async closure over a Rust type and something that it uses, such as a client or a pool: each
/// task is given a clone of that.
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
/// `move |_, chat: Chat| { let client = client.clone(); async move { … } }`. The same holds for [`TaskFn`](crate::graph::TaskFn).
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

/// Creates a router from a closure over a Rust type. It returns a name, a [`Target`](crate::Target), or several.
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
