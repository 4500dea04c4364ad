//! The desktop window's entry point.
// Without this, Windows opens a console beside the window.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

/// Gives memory back after a load, as in the command line and its server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    superstep_workbench::serve_if_asked();
    superstep_desktop::run();
}
