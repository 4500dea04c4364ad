//! What runs side by side: `superstep whatif` and `superstep evaluate`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use superstep_workbench::wire::{RunModels, WhatIfLimit};

use super::{Db, Models, RunContext};

/// Parses limits such as `seconds=60,tokens=20000,cost=0.5`.
fn limit(text: &str) -> Result<WhatIfLimit, String> {
    let mut limit = WhatIfLimit::default();
    for part in text.split(',') {
        let wrong = || format!("{part:?} is no limit: write seconds=60, tokens=20000 or cost=0.5");
        let (name, number) = part.split_once('=').ok_or_else(wrong)?;
        let positive = || {
            number
                .parse::<f64>()
                .ok()
                .filter(|n| n.is_finite() && *n > 0.0)
                .ok_or_else(wrong)
        };
        match name.trim() {
            "seconds" => limit.seconds = Some(positive()?),
            "cost" => limit.cost = Some(positive()?),
            "tokens" => limit.tokens = Some(number.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(wrong)?),
            _ => return Err(wrong()),
        }
    }
    Ok(limit)
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
FILE holds an object with `rows`; each row says what is to be different, and runs as a fork of the thread that never becomes
what the thread is now:
  {\"rows\": [
     {\"name\": \"as it is\"},
     {\"values\": {\"days\": 5}},
     {\"input\": {\"question\": \"Why?\"}},
     {\"settings\": {\"/nodes/reply/config/prompt\": \"Answer in one sentence.\"}},
     {\"model\": \"openai::gpt-4o-mini\"}],
   \"scorer\": {\"expression\": \"state.total < base.total\"},
   \"repeat\": 3, \"limit\": {\"seconds\": 60}, \"total\": {\"cost\": 0.5}}
A scorer sees `state` at the end of the row, `base` (what followed the moment) and `run` (`steps`, `tokens`, `cost`, `seconds`);
{\"model\": …, \"rubric\": …} lets a model grade. Nodes that work outside of the graph use their result where their input is the
same, and otherwise stop the row; {\"effects\": {\"NODE\": \"again\"}} lets one work.

Exit codes: 0 every row came to its end, 1 one failed, 3 one asked, was held before a node, or reached a limit, 130 Ctrl-C (what
has run is kept).

Examples:
  superstep whatif THREAD rows.json                          from where the thread is now
  superstep whatif THREAD rows.json --checkpoint ID --limit seconds=30 --total cost=0.50
  superstep whatif THREAD rows.json --json | jq '.results | max_by(.score) | .row'")]
pub(crate) struct WhatIfArgs {
    /// Thread
    pub(crate) thread: String,
    /// JSON file with the rows; - for stdin
    pub(crate) file: PathBuf,
    /// The moment: a checkpoint of the thread [default: now]
    #[arg(long, value_name = "ID")]
    pub(crate) checkpoint: Option<String>,
    /// The graph, if the thread does not say which or another one is meant
    #[arg(long, value_name = "PATH")]
    pub(crate) graph: Option<PathBuf>,
    /// What each row may use, e.g. seconds=60,tokens=20000,cost=0.5 [default: the file's, and 300 seconds]
    #[arg(long, value_name = "LIMITS", value_parser = limit)]
    pub(crate) limit: Option<WhatIfLimit>,
    /// What all rows together may use
    #[arg(long, value_name = "LIMITS", value_parser = limit)]
    pub(crate) total: Option<WhatIfLimit>,
    /// How often each row runs [default: the file's, and 1]
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<NonZeroU32>,
    /// Rows that run at once [default: the file's, and 2]
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<NonZeroU32>,
    /// Let this model answer wherever the graph names the scripted one
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Record what models answer beside the graph, or replay it without asking them
    #[arg(long, value_name = "HOW")]
    pub(crate) models: Option<Models>,
    #[command(flatten)]
    pub(crate) context: RunContext,
    /// Allow everything that the graph wants to touch, for these rows only
    #[arg(long)]
    pub(crate) trust: bool,
    /// Print the grid and its results as JSON when all rows have ended
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) db: Db,
}

impl WhatIfArgs {
    /// Returns the choice of who answers for the models, as far as the arguments make it.
    pub(crate) fn answering(&self) -> RunModels {
        RunModels {
            scripted: self.model.clone(),
            recording: self.models.map(Into::into),
        }
    }
}

/// Parses a part, as 0.9 or 90%.
fn part(text: &str) -> Result<f64, String> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    number
        .ok()
        .filter(|part| (0.0..=1.0).contains(part))
        .ok_or_else(|| format!("{text:?} is no part: write 0.9 or 90%"))
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
An evaluation is a file evaluations/NAME.json beside a graph.json. It names a file of rows, CSV or JSONL, and says how what
comes of a row is scored:
  {\"rows\": \"refunds.csv\",
   \"answers\": [{\"decision\": \"approve\"}],
   \"scores\": {\"outcome\": {\"key\": \"outcome\"},
              \"letter\": {\"key\": \"draft\", \"likeness\": 0.8},
              \"fair\": {\"expression\": \"state.amount <= state.price\"},
              \"kind\": {\"model\": \"openai::gpt-4o-mini\", \"rubric\": \"Is it kind?\", \"at_least\": 7}},
   \"variants\": [{\"name\": \"as it is\"},
                {\"name\": \"short\", \"settings\": {\"/nodes/draft/config/system\": \"Be brief.\"}}],
   \"at_least\": 0.9}
Every row runs on a thread of its own in memory. What came of it is kept in the data folder: an evaluation that was stopped goes
on where it was, and only what changed runs again. `person` answers what rows leave open: an expression, chance, or a model.

Exit codes: 0 every variant passes as much as --at-least says, 1 one does not, or a row failed where nobody says how many must
pass, 2 usage or no evaluation, 3 a limit was reached, 130 Ctrl-C (what has run is kept).

Examples:
  superstep evaluate graphs/refund-desk                     every evaluation of the graph
  superstep evaluate graphs/refund-desk/evaluations/letters.json --at-least 90%
  superstep evaluate letters.json --variant short --filter lamp --again
  superstep evaluate letters.json --limit seconds=30 --total cost=0.50 --csv letters.csv
  superstep evaluate letters.json --history                 how it came out before
  superstep evaluate letters.json --add THREAD              a row of what happened on a thread
  superstep evaluate letters.json --json | jq '.[0].variants[].rate'")]
pub(crate) struct EvaluateArgs {
    /// Evaluations, graph files, or folders in which graphs are looked for [default: this folder]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The graph [default: the graph.json of the folder that holds `evaluations`]
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    /// Only rows whose name contains these words
    #[arg(long, value_name = "WORDS")]
    pub(crate) filter: Option<String>,
    /// Only this variant; may be given several times
    #[arg(long = "variant", value_name = "NAME")]
    pub(crate) variants: Vec<String>,
    /// Run also the rows of which everything is as it was when they ran
    #[arg(long)]
    pub(crate) again: bool,
    /// How often each row runs [default: the file's, and 1]
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<NonZeroU32>,
    /// Rows that run at once [default: the file's, and 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) concurrency: Option<u32>,
    /// What each row may use, e.g. seconds=60,tokens=20000,cost=0.5 [default: the file's, and 300 seconds]
    #[arg(long, value_name = "LIMITS", value_parser = limit)]
    pub(crate) limit: Option<WhatIfLimit>,
    /// What all rows together may use
    #[arg(long, value_name = "LIMITS", value_parser = limit)]
    pub(crate) total: Option<WhatIfLimit>,
    /// The part of rows that must pass, as 0.9 or 90% [default: the file's]
    #[arg(long, value_name = "PART", value_parser = part)]
    pub(crate) at_least: Option<f64>,
    /// Let this model answer wherever the graph names the scripted one
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Record what models answer beside the graph, or replay it without asking them
    #[arg(long, value_name = "HOW")]
    pub(crate) models: Option<Models>,
    /// Allow everything that the graph wants to touch, for this time
    #[arg(long)]
    pub(crate) trust: bool,
    /// Print JSON: a list with {evaluation, graph, variants, judging, rows} for each evaluation
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a table of all runs to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Show how the evaluation came out before, and run nothing
    #[arg(long, conflicts_with_all = ["again", "csv", "add"])]
    pub(crate) history: bool,
    /// Add what happened on this thread as a row, and run nothing
    #[arg(long, value_name = "THREAD", conflicts_with_all = ["again", "csv"])]
    pub(crate) add: Option<String>,
    /// The moment of the thread to which the new row goes [default: now]
    #[arg(long, value_name = "ID", requires = "add")]
    pub(crate) checkpoint: Option<String>,
    /// The name of the new row [default: the thread]
    #[arg(long, value_name = "NAME", requires = "add")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) db: Db,
}

impl EvaluateArgs {
    /// Returns the choice of who answers for the models, as far as the arguments make it.
    pub(crate) fn answering(&self) -> RunModels {
        RunModels {
            scripted: self.model.clone(),
            recording: self.models.map(Into::into),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_others_refused() {
        let read = limit("seconds=60,tokens=2000,cost=0.5").unwrap();
        assert_eq!(
            (read.seconds, read.tokens, read.cost),
            (Some(60.0), Some(2000), Some(0.5))
        );
        for wrong in [
            "",
            "60",
            "seconds=0",
            "seconds=x",
            "tokens=1.5",
            "tokens=0",
            "cost=-1",
            "steps=3",
            "cost=inf",
        ] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_are_read_and_others_refused() {
        assert_eq!(part("0.9"), Ok(0.9));
        assert_eq!(part("90%"), Ok(0.9));
        assert_eq!(part("1"), Ok(1.0));
        for wrong in ["", "90", "-0.1", "101%", "many", "NaN"] {
            assert!(part(wrong).is_err(), "{wrong}");
        }
    }
}
