//! `superstep whatif`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use superstep_workbench::wire::{RunModels, WhatIfLimit};

use super::{Db, Models, RunContext};

/// Parses limits such as `seconds=60,tokens=20000,cost=0.5`.
pub(super) fn limit(text: &str) -> Result<WhatIfLimit, String> {
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
}
