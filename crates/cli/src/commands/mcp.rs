//! `superstep mcp`: logins to the MCP servers of a project.

use std::path::Path;

use superstep_nodes::{Environment, Registry, ServerFault};
use superstep_workbench::{Trust, show_address};

use crate::args::mcp::{LoginArgs, McpArgs, McpCommand, ServerArgs};
use crate::fault::Fault;
use crate::graph::around;
use crate::out::{self, plain, quoted};
use crate::place;

pub(crate) async fn mcp(args: McpArgs) -> Result<(), Fault> {
    match args.command {
        McpCommand::Login(args) => login(&args).await,
        McpCommand::Logout(args) => logout(&args).await,
    }
}

/// Returns the environment of the project, within what was allowed in it.
fn environment(args: &ServerArgs) -> Result<Environment, Fault> {
    let folder = args.project.canonicalize().map_err(|error| {
        Fault::usage(format!(
            "The folder {} cannot be read: {error}. Check the path.",
            args.project.display()
        ))
    })?;
    // As of any graph in it.
    let project = Trust::project_of(&folder.join("graph.json"));
    let grants = Trust::of(&place::data_dir()?).grants(&project);
    Ok(around(Some(folder)).with_grants(grants))
}

fn refused(fault: &ServerFault, folder: &Path) -> Fault {
    Fault::usage(match &fault.denied {
        None => fault.message.clone(),
        Some(access) => format!(
            "{}. If you know why, allow it with `superstep trust {} --allow {}`, which names a graph of the folder.",
            fault.message,
            quoted(&folder.to_string_lossy()),
            quoted(&access.key())
        ),
    })
}

async fn login(args: &LoginArgs) -> Result<(), Fault> {
    let server = &args.server.server;
    let environment = environment(&args.server)?;
    let refused = |fault: ServerFault| refused(&fault, &args.server.project);
    let begun = Registry::standard().sign_in(&environment, server).await;
    let begun = begun.map_err(refused)?;
    let address = begun.address().to_owned();
    out::note(&format!(
        "Sign in to {} on this page: {}",
        plain(server),
        plain(&address)
    ));
    if !args.no_browser
        && let Err(error) = show_address(&address)
    {
        out::note(&format!(
            "No browser was opened: {error}. Open the page by yourself."
        ));
    }
    begun.finish().await.map_err(refused)?;
    out::note(&format!("Signed in to {}.", plain(server)));
    Ok(())
}

async fn logout(args: &ServerArgs) -> Result<(), Fault> {
    let environment = environment(args)?;
    let registry = Registry::standard();
    let had = registry.is_signed_in(&environment, &args.server);
    let forgotten = registry.sign_out(&environment, &args.server).await;
    forgotten.map_err(|fault| refused(&fault, &args.project))?;
    let server = plain(&args.server);
    out::note(&match had {
        true => format!("Signed out of {server}."),
        false => format!("There was no login to {server}."),
    });
    Ok(())
}
