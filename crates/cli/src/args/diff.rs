//! Two moments beside each other: `superstep diff`.

use std::path::PathBuf;

use clap::Args;

use super::Reading;

#[derive(Debug, Args)]
#[command(after_long_help = "\
A moment is a thread as it is now, a thread at a step of its newest branch, a thread at a checkpoint, or a link that the app
copied. Items of lists are compared by their `id` where they have one; one that stands elsewhere has moved. Long texts are
compared by words: [-taken out-]{+put in+}.

The ways to both are compared from where they parted, for two threads from their beginnings: < ran on the way to the first
moment only, > on the way to the second.

Examples:
  superstep diff t1 t2                            two threads as they are now
  superstep diff t1@3 t1                          what happened since step 3
  superstep diff t1@CHECKPOINT t1                 two branches: a checkpoint of one, the end of the other
  superstep diff t1 'superstep://thread/t2?at=CHECKPOINT'
  superstep diff t1 t2 --key messages
  superstep diff t1 t2 --json | jq '.differences[] | select(.change == \"changed\").pointer'")]
#[command(mut_arg("json", |json| json.help("Print JSON: {left, right, common_ancestor, paths, differences, equal_keys, truncated}")))]
pub(crate) struct DiffArgs {
    /// One moment: THREAD, THREAD@STEP, THREAD@CHECKPOINT or a link
    #[arg(value_name = "A")]
    pub(crate) left: String,
    /// The other
    #[arg(value_name = "B")]
    pub(crate) right: String,
    /// Only these state keys; may be given several times
    #[arg(long = "key", value_name = "KEY")]
    pub(crate) keys: Vec<String>,
    /// Graph file, when the threads' own is not there any more
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
