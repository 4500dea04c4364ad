//! `superstep update`: an edit of a thread's state, as a node.

use superstep::{RunError, ThreadId};
use superstep_workbench::session::{Edit, Write};

use crate::args::UpdateArgs;
use crate::claim::claimant;
use crate::commands::state::open;
use crate::fault::Fault;
use crate::handover::Handover;
use crate::input::check_values;
use crate::place::Store;
use crate::progress::Again;
use crate::report::show_edit;

pub(crate) async fn update(args: UpdateArgs) -> Result<(), Fault> {
    if let Some(there) = Handover::to(&args.reading.db, args.no_handover).await? {
        return there.update(args).await;
    }
    let store = Store::existing_here(&args.reading.db).await?.refuse_foreign()?;
    let thread = ThreadId::from(args.thread.as_str());
    let head = store.head(&thread).await?;
    if let Some(checkpoint) = &args.checkpoint {
        store.has(&thread, checkpoint).await?;
    }
    let (file, graph) = open(&store, args.graph.as_deref(), &thread, &head)?;
    let write = match args.values {
        Some(values) => {
            check_values(&file, &values, "The update")?;
            Write::Values(values, args.as_node.map(Into::into))
        }
        None => Write::SkippedStep,
    };
    let claim = claimant().claim(&*store.saver, &thread, args.take_over).await;
    let edit = Edit {
        write,
        checkpoint: args.checkpoint.map(Into::into),
        preview: args.preview,
    };
    let updated = edit.apply(&graph, &thread, claim, &file.origin()).await;
    let updated = updated.map_err(|error| match error {
        // Here an update that cannot be taken is what was typed, not what a node did.
        RunError::InvalidUpdate { message } => Fault::usage(message),
        other => other.into(),
    })?;
    show_edit(
        thread.as_str(),
        updated.checkpoint_id.as_deref(),
        &updated.as_node,
        &updated.next,
        args.reading.json,
        &Again::thread(thread.as_str(), &store.option).whole(),
    )
}
