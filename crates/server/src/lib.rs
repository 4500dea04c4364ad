//! HTTP host of the workbench and of the built interface.
