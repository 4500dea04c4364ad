//! A Rust engine for stateful agent graphs with LangGraph's execution model.
