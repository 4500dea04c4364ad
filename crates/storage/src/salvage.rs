//! What becomes of an item of the store that cannot be read: it is set aside in a namespace of its own, with what was
//! stored as text. Whoever looks for it finds nothing, and nothing is lost.

use superstep::Object;

/// First label of the namespaces in which such items are; the item's own labels follow.
pub(crate) const ASIDE: &str = "damaged";

/// What a repair does with one.
pub(crate) const SET_ASIDE: &str =
    "the item is moved below the namespace `damaged`, with what was stored as text";

/// The value of an item that is set aside.
pub(crate) fn aside(text: &str) -> Object {
    [("stored", text)].into_iter().collect()
}
