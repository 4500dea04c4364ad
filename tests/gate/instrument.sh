#!/bin/sh
# RUSTC_WORKSPACE_WRAPPER: compiles the crates of the workspace with the compiler's counters, which a killed process keeps, too.
rustc=$1
shift
exec "$rustc" "$@" -C instrument-coverage -C llvm-args=-runtime-counter-relocation
