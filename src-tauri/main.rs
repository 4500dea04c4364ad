//! The desktop window's entry point.
// Without this, Windows opens a console beside the window.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() {
    superstep_workbench::serve_if_asked();
    superstep_desktop::run();
}
