//! Evaluations: the rows of a data set run through variants of a graph, scored and counted.
//!
//! The file of an evaluation is in the folder [`FOLDER`] beside the graph's. A row runs on a thread of its own in memory, as a
//! test does. What came of it is kept in the data folder under what it depends on (the graph with its files, the models, the
//! row, the scores), so an evaluation that was stopped goes on where it was, and only what changed runs again.

mod commands;
mod evaluator;
mod file;
mod kept;
mod person;
mod rows;
mod summary;
mod table;

pub use evaluator::{EvaluationSetup, Evaluator};
pub use file::{EvaluationFile, EvaluationVariant, FOLDER, RowScorer};
pub use kept::KeptResults;
pub use person::{SimulatedPerson, WeighedAnswer};
pub use rows::{EvaluationRow, append_row, row_of_test};
pub use summary::{summarize, wilson};
pub use table::write_table;
