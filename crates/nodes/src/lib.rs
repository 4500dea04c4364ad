//! Node kinds and their registry; turns a graph document into an engine graph.
