//! Parts that a graph shares with the caller: stores and caches, by value or behind an [`Arc`].

use std::sync::Arc;

use crate::checkpoint::checkpointer::Checkpointer;
use crate::policy::cache::NodeCache;
use crate::store::Store;

/// Something that a graph keeps as a `T`: a value, an [`Arc`] of one, or an `Arc<dyn …>`.
#[diagnostic::on_unimplemented(
    message = "a graph cannot keep `{Self}` as its `{T}`",
    note = "give a value such as `MemorySaver::new()`, or an `Arc` of one to use it elsewhere too"
)]
pub trait IntoShared<T: ?Sized> {
    /// Converts it into the shared part.
    fn into_shared(self) -> Arc<T>;
}

macro_rules! shared {
    ($part:ident) => {
        impl<P: $part + 'static> IntoShared<dyn $part> for P {
            fn into_shared(self) -> Arc<dyn $part> {
                Arc::new(self)
            }
        }

        impl<P: $part + 'static> IntoShared<dyn $part> for Arc<P> {
            fn into_shared(self) -> Arc<dyn $part> {
                self
            }
        }

        impl IntoShared<dyn $part> for Arc<dyn $part> {
            fn into_shared(self) -> Arc<dyn $part> {
                self
            }
        }
    };
}

shared!(Checkpointer);
shared!(NodeCache);
shared!(Store);
