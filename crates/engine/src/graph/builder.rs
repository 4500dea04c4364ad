//! The builder: a graph is declared by chaining, and everything that is wrong with it is reported by `compile`, at once.

use std::sync::Arc;

use crate::base::ids::Name;
use crate::base::timeout::Timeout;
use crate::channel::{ChannelSpec, Managed};
use crate::graph::compiled::Graph;
use crate::graph::context_schema::ContextSchema;
use crate::graph::handler::ErrorHandler;
use crate::graph::node::{Node, Router};
use crate::graph::options::NodeOptions;
use crate::graph::schema::{KeyDecl, Schema};
use crate::policy::breakpoint::Breakpoint;
use crate::policy::cache::CachePolicy;
use crate::policy::retry::RetryPolicy;
use crate::stream::error::CompileError;

/// A graph under construction.
#[derive(Default)]
pub struct StateGraph {
    pub(crate) schema: Schema,
    pub(crate) context: Option<ContextSchema>,
    pub(crate) default_retry: Vec<RetryPolicy>,
    pub(crate) default_timeout: Option<Timeout>,
    pub(crate) default_cache: Option<CachePolicy>,
    pub(crate) default_error_handler: Option<Arc<dyn ErrorHandler>>,
    pub(crate) nodes: Vec<NodeDecl>,
    pub(crate) edges: Vec<(Name, Name)>,
    pub(crate) joins: Vec<(Vec<Name>, Name)>,
    pub(crate) branches: Vec<(Name, Branch)>,
    pub(crate) invariants: Vec<Breakpoint>,
}

pub(crate) struct NodeDecl {
    pub(crate) name: Name,
    pub(crate) node: Arc<dyn Node>,
    /// None for the defaults, which most nodes have: a large graph is built out of these.
    pub(crate) options: Option<Box<NodeOptions>>,
}

/// A conditional edge: a router, and what its labels mean.
pub struct Branch {
    pub(crate) name: Option<Name>,
    pub(crate) router: Arc<dyn Router>,
    pub(crate) paths: Vec<(Name, Name)>,
    pub(crate) default: Option<Name>,
    pub(crate) input: Option<Vec<Name>>,
}

impl Branch {
    /// Creates a branch. Without paths, the router's answers are node names. A closure over a Rust type is made a router by
    /// [`choose`](crate::choose): `Branch::new(choose(|state: Order| …))`. One without it is taken as a closure over JSON,
    /// which has two arguments, `(NodeContext, Value)`, and the compiler says so.
    pub fn new(router: impl Router) -> Self {
        Self {
            name: None,
            router: Arc::new(router),
            paths: Vec::new(),
            default: None,
            input: None,
        }
    }
    /// Sets the name, for messages. Two branches of one node need different ones.
    pub fn named(mut self, name: impl Into<Name>) -> Self {
        self.name = Some(name.into());
        self
    }
    /// Adds a path: `label` leads to `target`.
    pub fn path(mut self, label: impl Into<Name>, target: impl Into<Name>) -> Self {
        self.paths.push((label.into(), target.into()));
        self
    }
    /// Sets the only keys that the router is given. Otherwise it is given what its node is given, in addition to what
    /// its node returned.
    pub fn input<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.input = Some(names(keys));
        self
    }
    /// Sets the target of labels without a path.
    pub fn default(mut self, target: impl Into<Name>) -> Self {
        self.default = Some(target.into());
        self
    }
}

fn names<T: Into<Name>>(items: impl IntoIterator<Item = T>) -> Vec<Name> {
    items.into_iter().map(Into::into).collect()
}

impl StateGraph {
    /// Creates an empty graph.
    pub fn new() -> Self {
        Self::default()
    }
    /// Declares a state key. A key may be declared again in the same way; a reducer wins over the plain last value.
    pub fn channel(self, name: impl Into<Name>, spec: ChannelSpec) -> Self {
        self.key(KeyDecl {
            name: name.into(),
            spec,
            private: false,
        })
    }
    /// Declares a key for nodes to pass something on: it is in the state and in streams, but neither in the input nor
    /// in the output, and nodes see it only when their options name it.
    pub fn private_channel(self, name: impl Into<Name>, spec: ChannelSpec) -> Self {
        self.key(KeyDecl {
            name: name.into(),
            spec,
            private: true,
        })
    }
    fn key(mut self, key: KeyDecl) -> Self {
        self.schema.keys.push(key);
        self
    }
    /// Sets the state to be one value rather than an object of keys: nodes are given it and return it bare.
    pub fn root(mut self, spec: ChannelSpec) -> Self {
        self.schema.root = Some(spec);
        self
    }
    /// Declares a key that the engine computes for every step. It is never in the output nor in checkpoints.
    pub fn managed(mut self, name: impl Into<Name>, managed: Managed) -> Self {
        self.schema.managed.push((name.into(), managed));
        self
    }
    /// Refuses updates of keys that the state does not have; without this they are ignored. `say` returns advice to the
    /// writer. The input may have any keys.
    pub fn refuse_unknown_keys(mut self, say: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.schema.unknown = Some(Arc::new(say));
        self
    }
    /// Declares the [context](crate::RunConfig::context) of its runs. Without this a context is passed on as it is given.
    pub fn context(mut self, schema: ContextSchema) -> Self {
        self.context = Some(schema);
        self
    }
    /// Adds a node.
    #[doc(alias = "add_node")]
    pub fn node(self, name: impl Into<Name>, node: impl Node) -> Self {
        self.node_arc(name, Arc::new(node))
    }
    /// Adds a node that is already shared.
    pub fn node_arc(mut self, name: impl Into<Name>, node: Arc<dyn Node>) -> Self {
        self.nodes.push(NodeDecl {
            name: name.into(),
            node,
            options: None,
        });
        self
    }
    /// Adds a node with options of its own.
    #[doc(alias = "add_node")]
    pub fn node_with(mut self, name: impl Into<Name>, node: Arc<dyn Node>, options: NodeOptions) -> Self {
        self.nodes.push(NodeDecl {
            name: name.into(),
            node,
            options: Some(Box::new(options)),
        });
        self
    }
    /// Adds an edge: `to` runs after `from`.
    #[doc(alias = "add_edge")]
    pub fn edge(mut self, from: impl Into<Name>, to: impl Into<Name>) -> Self {
        self.edges.push((from.into(), to.into()));
        self
    }
    /// Adds a join: `to` runs once when all of `from` have finished.
    #[doc(alias = "add_edge")]
    pub fn join<T: Into<Name>>(mut self, from: impl IntoIterator<Item = T>, to: impl Into<Name>) -> Self {
        self.joins.push((names(from), to.into()));
        self
    }
    /// Adds a conditional edge.
    #[doc(alias = "add_conditional_edges")]
    pub fn branch(mut self, from: impl Into<Name>, branch: Branch) -> Self {
        self.branches.push((from.into(), branch));
        self
    }
    /// Sets the keys that input may set; all but private ones when not called.
    pub fn input_keys<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.schema.input = Some(names(keys));
        self
    }
    /// Sets the keys that `invoke` returns; all but private ones when not called. Streams show every key.
    pub fn output_keys<T: Into<Name>>(mut self, keys: impl IntoIterator<Item = T>) -> Self {
        self.schema.output = Some(names(keys));
        self
    }

    /// Adds a retry policy for nodes that have none of their own. If called several times, the first policy that
    /// accepts a failure decides about it.
    pub fn default_retry(mut self, policy: RetryPolicy) -> Self {
        self.default_retry.push(policy);
        self
    }
    /// Sets the timeout of nodes that have none of their own.
    pub fn default_timeout(mut self, timeout: Timeout) -> Self {
        self.default_timeout = Some(timeout);
        self
    }

    /// Sets the cache policy of nodes that have none of their own.
    pub fn default_cache(mut self, policy: CachePolicy) -> Self {
        self.default_cache = Some(policy);
        self
    }
    /// Takes over when a node without an error handler of its own has failed for good.
    pub fn default_error_handler(mut self, handler: impl ErrorHandler) -> Self {
        self.default_error_handler = Some(Arc::new(handler));
        self
    }

    /// Adds an [invariant](Breakpoint::invariant): a condition that must hold in every run of this graph, also where it runs
    /// inside another.
    pub fn invariant(mut self, invariant: Breakpoint) -> Self {
        self.invariants.push(invariant);
        self
    }

    /// Checks everything and builds the runnable graph. O(nodes + edges).
    pub fn compile(mut self) -> Result<Graph, CompileError> {
        let context = self.context.take();
        let invariants = std::mem::take(&mut self.invariants).into();
        let plan = crate::graph::compile::compile(self)?;
        Ok(Graph {
            context,
            invariants,
            ..Graph::new(plan)
        })
    }
}
