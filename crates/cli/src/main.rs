//! The command line: graphs are checked and run, threads are read, edited and answered, without a window.
//!
//! It is thin. Documents, node kinds, engine and storage do the work; here arguments become calls, and what comes back
//! becomes text for people (on a terminal) or JSON for programs. Results go to stdout, everything else to stderr, so
//! that output can be piped. The exit code says how it ended; see [`fault`].

mod args;
mod claim;
mod commands;
mod confirm;
mod fault;
mod graph;
mod handover;
mod input;
mod listing;
mod moment;
mod out;
mod place;
mod progress;
mod report;
mod watch;

use std::process::ExitCode;

use superstep_telemetry::{Options, Telemetry};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use args::Command;
use fault::Fault;

/// Gives memory back after a load, which the allocator of glibc keeps in an arena for each thread.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A file is to become larger than the limit of the process; the same number on Linux and macOS.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;

fn main() -> ExitCode {
    superstep_workbench::serve_if_asked();
    superstep_workbench::keep_memory_private();
    let cli = match args::read_command_line() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    let telemetry = match Options::from_env().and_then(|asked| asked.map(Telemetry::start).transpose()) {
        Ok(telemetry) => telemetry,
        Err(error) => return Fault::failed(error.to_string()).report(),
    };
    tracing_subscriber::registry()
        .with(telemetry.as_ref().map(Telemetry::layer))
        .with(superstep_workbench::log("error"))
        .init();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let message = format!(
                "The program cannot start its threads: {error}. It may need more processes (`ulimit -u`) or open files (`ulimit -n`)."
            );
            return Fault::failed(message).report();
        }
    };
    let done = runtime.block_on(async {
        // Caught, it no longer ends the program without a word: the write that is too large fails, and says so.
        #[cfg(unix)]
        let _too_large = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ));
        dispatch(cli.command).await
    });
    // The command has done its work; that nobody took the traces is no reason to say it failed.
    if let Some(Err(error)) = telemetry.map(Telemetry::finish) {
        out::note(&format!("warning: {error}"));
    }
    // A node that hangs in blocking code must not keep the program from ending.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => fault.report(),
    }
}

/// Says why the command line cannot be used, or shows the help that it asks for.
fn refused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        let said = error.render();
        // What is repeated may come from a script that was handed it. Colours are for what is clean.
        match said.to_string() {
            text if out::is_clean(&text) => drop(error.print()),
            text => out::note(text.trim_end()),
        }
    } else {
        drop(error.print());
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(fault::USAGE))
}

async fn dispatch(command: Command) -> Result<(), Fault> {
    match command {
        Command::Check(args) => commands::check::check(&args).await,
        Command::Types(args) => commands::types::types(&args),
        Command::Run(args) => commands::run::run(args).await,
        Command::Resume(args) => commands::resume::resume(args).await,
        Command::Test(args) => commands::test::test(args).await,
        Command::Evaluate(args) => commands::evaluate::evaluate(args).await,
        Command::Attach(args) => commands::attach::attach(args).await,
        Command::Threads(args) => commands::threads::threads(args).await,
        Command::State(args) => commands::state::state(&args).await,
        Command::History(args) => commands::state::history(&args).await,
        Command::Why(args) => commands::explain::why(&args).await,
        Command::Explain(args) => commands::explain::explain(&args).await,
        Command::Effects(args) => commands::effects::effects(&args).await,
        Command::Preview(args) => commands::preview::preview(args).await,
        Command::Trace(args) => commands::trace::trace(&args).await,
        Command::Diff(args) => commands::diff::diff(&args).await,
        Command::WhatIf(args) => commands::what_if::what_if(args).await,
        Command::Find(args) => commands::search::find(args).await,
        Command::Probe(args) => commands::search::probe(args).await,
        Command::Reconsider(args) => commands::rules::reconsider(args).await,
        Command::Update(args) => commands::update::update(args).await,
        Command::Delete(args) => commands::threads::delete(&args).await,
        Command::Export(args) => commands::export::export(&args),
        Command::Store(args) => commands::store::store(args).await,
        Command::Mcp(args) => commands::mcp::mcp(args).await,
        Command::Trust(args) => commands::trust::trust(&args),
        Command::Serve(args) => commands::serve::serve(args).await,
    }
}
