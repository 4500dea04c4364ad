//! Nothing: its manifest names the features that all programs of the workspace agree on.
