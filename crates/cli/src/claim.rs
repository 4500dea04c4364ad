//! This process as the holder of claims on threads.

use superstep_workbench::Claimant;

use crate::place::data_dir;

/// How a person calls this program.
const PROGRAM: &str = "the superstep command";

/// Says that this process is alive. It says so in the data folder, or among temporary files where there is none: a command
/// on another database makes none.
pub(crate) fn claimant() -> Claimant {
    Claimant::enter(data_dir().ok().as_deref(), PROGRAM)
}
