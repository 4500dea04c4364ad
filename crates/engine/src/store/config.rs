//! What a store is opened with.

use std::sync::Arc;
use std::time::Duration;

use super::embed::{Embedding, HashedNgrams};
use crate::base::clock::{Clock, SystemClock};

/// Settings of a store, whatever backend keeps it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoreConfig {
    /// When items expire.
    pub ttl: TtlConfig,
    /// Finds items by meaning, when given. Without it a query finds items by their words.
    pub index: Option<VectorIndex>,
    /// What is searched by words: paths into values, see [`Path`](super::Path). The index has fields of its own.
    pub fields: Vec<String>,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            ttl: TtlConfig::default(),
            index: None,
            fields: vec!["$".to_owned()],
            clock: Arc::new(SystemClock),
        }
    }
}

impl StoreConfig {
    /// Sets when items expire.
    pub fn ttl(mut self, ttl: TtlConfig) -> Self {
        self.ttl = ttl;
        self
    }
    /// Finds items by meaning with this index.
    pub fn index(mut self, index: impl Into<Option<VectorIndex>>) -> Self {
        self.index = index.into();
        self
    }
    /// Sets the paths that are searched by words.
    pub fn fields(mut self, fields: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.fields = fields.into_iter().map(Into::into).collect();
        self
    }
    /// Sets where the time comes from.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

/// Settings for when items expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TtlConfig {
    /// The time to live of items whose put does not say; none means forever.
    pub default: Option<Duration>,
    /// Reading an item gives it its full time again, unless the read says otherwise.
    pub refresh_on_read: bool,
    /// Items that have expired are not seen any more, whether or not they have been swept away.
    pub omit_expired: bool,
}

impl Default for TtlConfig {
    fn default() -> Self {
        Self {
            default: None,
            refresh_on_read: true,
            omit_expired: true,
        }
    }
}

impl TtlConfig {
    /// Sets the time to live of items whose put names none.
    pub fn default_ttl(mut self, ttl: impl Into<Option<Duration>>) -> Self {
        self.default = ttl.into();
        self
    }
    /// Gives an item its full time again when it is read, or does not.
    pub fn refresh_on_read(mut self, refresh: bool) -> Self {
        self.refresh_on_read = refresh;
        self
    }
    /// Hides items that have expired before they are swept away, or shows them.
    pub fn omit_expired(mut self, omit: bool) -> Self {
        self.omit_expired = omit;
        self
    }
}

/// Index that finds items by meaning.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VectorIndex {
    /// The length of its vectors.
    pub dims: usize,
    /// What is embedded when a put does not say: paths into values. A path that gives several texts gives several
    /// vectors, and the best of them counts.
    pub fields: Vec<String>,
    /// Turns texts into vectors.
    pub embed: Arc<dyn Embedding>,
}

/// Whole values, by the embedding that needs neither model nor network: it compares spelling, not meaning.
impl Default for VectorIndex {
    fn default() -> Self {
        Self::new(Arc::new(HashedNgrams::default()))
    }
}

impl VectorIndex {
    /// Creates an index of whole values.
    pub fn new(embed: Arc<dyn Embedding>) -> Self {
        Self {
            dims: embed.dims(),
            fields: vec!["$".to_owned()],
            embed,
        }
    }
    /// Sets the paths that are indexed.
    pub fn fields<T: Into<String>>(mut self, fields: impl IntoIterator<Item = T>) -> Self {
        self.fields = fields.into_iter().map(Into::into).collect();
        self
    }
}
