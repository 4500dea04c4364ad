//! `superstep serve`: the app for a browser on this machine.

use std::path::{Path, PathBuf};

use superstep_server::ServeOptions;
use superstep_workbench::{Options, Workbench};

use crate::args::ServeArgs;
use crate::fault::Fault;
use crate::{out, place};

pub(crate) async fn serve(args: ServeArgs) -> Result<(), Fault> {
    let ui_dir = folder(args.ui, "ui/dist", "index.html", "--ui")?;
    if ui_dir.is_none() {
        out::note(
            "The built interface (ui/dist) was not found; only commands and events are served. Build it, or name it with --ui.",
        );
    }
    let folders = Options::new(match args.data {
        Some(dir) => dir,
        None => place::data_dir()?,
    })
    .examples_dir(folder(args.examples, "graphs", "", "--examples")?)
    .storage(args.db.url());
    let workbench = Workbench::open(folders).await?;
    let options = ServeOptions {
        port: args.port,
        ui_dir,
        token: (args.token).or_else(|| std::env::var("SUPERSTEP_TOKEN").ok()),
        allowed_origins: args.origin,
    };
    let mut written = Ok(());
    let stop = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    // A server that is asked to stop has done what it should: Ctrl-C is its normal end.
    superstep_server::serve(
        workbench,
        options,
        |served| written = out::line(&served.url),
        stop,
    )
    .await
    .map_err(|error| Fault::failed(format!("{error:#}")))?;
    Ok(written?)
}

/// Returns the folder that was named, or the one that belongs to the program or to the folder it was started in.
fn folder(named: Option<PathBuf>, usual: &str, mark: &str, option: &str) -> Result<Option<PathBuf>, Fault> {
    let fits = |dir: &Path| {
        if mark.is_empty() {
            dir.is_dir()
        } else {
            dir.join(mark).is_file()
        }
    };
    if let Some(dir) = named {
        return match fits(&dir) {
            true => Ok(Some(dir)),
            false => Err(Fault::usage(format!(
                "{option} {}: there is no {} there.",
                dir.display(),
                if mark.is_empty() { "folder" } else { mark }
            ))),
        };
    }
    let program = std::env::current_exe().ok();
    let above = program
        .iter()
        .flat_map(|path| path.ancestors().skip(1))
        .map(Path::to_owned);
    let installed = program
        .iter()
        .filter_map(|path| Some(path.parent()?.parent()?.join("share/superstep")));
    let here = std::env::current_dir().ok();
    let found = here
        .into_iter()
        .chain(above)
        .chain(installed)
        .map(|dir| dir.join(usual))
        .find(|dir| fits(dir));
    Ok(found)
}
