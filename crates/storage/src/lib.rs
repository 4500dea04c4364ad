//! Checkpointer backends behind the engine's trait: SQLite by default.
