//! Serves the workbench for work on the interface and for browser tests:
//! `cargo run -p superstep-server --example serve -- --port 7878 --data /tmp/superstep --ui ui/dist [--token T]
//! [--examples graphs] [--origin http://localhost:1420]`. The command line's `serve` is the one for users.

use std::path::PathBuf;

use anyhow::{Context, bail};
use superstep_server::{ServeOptions, serve};
use superstep_workbench::{Options, Workbench};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    superstep_workbench::serve_if_asked();
    superstep_workbench::keep_memory_private();
    tracing_subscriber::registry()
        .with(superstep_workbench::log("warn"))
        .init();
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut options = ServeOptions {
        port: 7878,
        ui_dir: Some(repository.join("ui/dist")),
        ..ServeOptions::default()
    };
    let mut folders = Options::default().examples_dir(repository.join("graphs"));
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let value = args.next().with_context(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--port" => options.port = value.parse().context("--port is a number")?,
            "--ui" => options.ui_dir = Some(value.into()),
            "--token" => options.token = Some(value),
            "--origin" => options.allowed_origins.push(value),
            "--data" => folders.data_dir = value.into(),
            "--graphs" => folders.graphs_dir = Some(value.into()),
            "--examples" => folders.examples_dir = Some(value.into()),
            _ => bail!("unknown option {name}; see the head of this file"),
        }
    }
    if folders.data_dir.as_os_str().is_empty() {
        bail!("--data FOLDER is needed");
    }
    let workbench = Workbench::open(folders).await?;
    let stop = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    #[expect(clippy::print_stdout, reason = "the address is what this program is for")]
    serve(workbench, options, |served| println!("{}", served.url), stop).await
}
