//! What would be done again: `superstep effects`.

use std::path::PathBuf;

use clap::Args;

use super::Reading;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Lists the nodes that worked on the world outside after a moment, on any branch, and that a run from there would let work again:
how each ended, whether it may be repeated, and whether its result can be used instead (see `run --effects`). Nothing runs.

Examples:
  superstep effects THREAD@3                  a run from step 3 of the newest branch
  superstep effects THREAD@CHECKPOINT
  superstep effects THREAD@3 --json | jq -r '.effects[] | select(.effect == \"once\").node'")]
#[command(mut_arg("json", |json| json.help("Print JSON: {effects, questionsLeft}")))]
pub(crate) struct EffectsArgs {
    /// Where the run would begin: THREAD, THREAD@STEP, THREAD@CHECKPOINT or a link
    #[arg(value_name = "MOMENT")]
    pub(crate) moment: String,
    /// Graph file, when the thread's own is not there any more
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}
