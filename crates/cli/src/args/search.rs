//! The query desk: `superstep find`, `superstep probe` and `superstep reconsider`.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;

use super::Reading;
use super::threads::Status;

/// Parses a time as people write it: a day, a time in UTC, or how long ago. Checkpoints have theirs in the same form, so
/// that the texts can be compared.
pub(crate) fn moment(text: &str) -> Result<String, String> {
    let wrong = || {
        format!(
            "{text:?} is no time: write 2026-01-31, 2026-01-31T14:00:00Z, or 30m, 12h, 7d for how long ago"
        )
    };
    if let Some((number, unit)) = text.split_at_checked(text.len().saturating_sub(1))
        && let Ok(number) = number.parse::<u64>()
    {
        let minutes = match unit {
            "m" => 1,
            "h" => 60,
            "d" => 24 * 60,
            _ => return Err(wrong()),
        };
        let ago = number.saturating_mul(minutes).saturating_mul(60_000);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        return Ok(superstep::run::iso8601(now.saturating_sub(ago)));
    }
    let shown = text.strip_suffix('Z').unwrap_or(text);
    let pattern = "dddd-dd-ddTdd:dd:dd.ddd".chars();
    let fits = pattern.zip(shown.chars()).all(|(wanted, c)| match wanted {
        'd' => c.is_ascii_digit(),
        wanted => c == wanted,
    });
    // A day, a minute, a second or a thousandth of it.
    let part = |from: usize| {
        shown
            .get(from..from + 2)
            .map_or(0, |part| part.parse().unwrap_or(u8::MAX))
    };
    let possible =
        (1..=12).contains(&part(5)) && (1..=31).contains(&part(8)) && part(11) < 24 && part(14) < 60;
    let whole = matches!(shown.len(), 10 | 16 | 19 | 23);
    let zone = text.ends_with('Z') == (shown.len() > 10);
    (fits && whole && possible && zone)
        .then(|| shown.to_owned())
        .ok_or_else(wrong)
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Words are found at the beginning of words, in any case, in what a step wrote into the state, in titles, questions and errors;
a phrase stands in double quotes. Every condition that is given must hold. Expressions read `state`, `task.node` and `run.step`.
Only the outermost graph of a thread is searched.

Examples:
  superstep find refund                                     steps that wrote the word
  superstep find '\"brake disc\" squeals'
  superstep find --where 'state.retries > 2'                the first step after which it is true
  superstep find --passed refund,escalate --since 7d        threads that went through escalate after refund
  superstep find --at-end 'state.order.total > 100' --status done --column state.order.total
  superstep find --graph-version 3f9a --cost-from 0.5       moments of a version, in threads that cost that much
  superstep find refund --json | jq -r '.moments[].thread_id'")]
#[command(mut_arg("json", |json| json.help("Print JSON: {moments, searched, more}")))]
pub(crate) struct FindArgs {
    /// Words
    #[arg(value_name = "WORDS")]
    pub(crate) words: Vec<String>,
    /// Expression: the first step after which it is true
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) first_where: Option<String>,
    /// Expression that is true of the newest checkpoint
    #[arg(long, value_name = "EXPR")]
    pub(crate) at_end: Option<String>,
    /// Nodes that ran, each in a later step than the one before
    #[arg(long, value_name = "NODE", value_delimiter = ',')]
    pub(crate) passed: Vec<String>,
    /// Only threads with this status
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<Status>,
    /// Only moments from then on: 2026-01-31, 2026-01-31T14:00:00Z, or 30m, 12h, 7d ago
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<String>,
    /// Only moments before then
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<String>,
    /// Only threads of this graph: its file or folder, or its name
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    /// Only moments that this version of a graph made: its id, or the beginning of it
    #[arg(long, value_name = "VERSION")]
    pub(crate) graph_version: Option<String>,
    /// Only threads whose runs have cost this much, in one currency, as far as their traces are kept
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) cost_from: Option<f64>,
    /// Expression whose value is printed with each moment; may be given several times
    #[arg(long = "column", value_name = "EXPR")]
    pub(crate) columns: Vec<String>,
    /// Largest number of moments
    #[arg(long, value_name = "N", default_value = "100")]
    pub(crate) limit: NonZeroU32,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
The expression reads `state` after the step, `before` it, `writes` of the node, `task.count` and `run.step`. A line is printed
for each step in which the node ran to its end, in every thread, the newest thread first. An edge is written FROM->TO (END for
the end); a line is printed for each step that took it.

Examples:
  superstep probe check state.total
  superstep probe check 'state.total - before.total' --since 7d
  superstep probe 'check->retry' state.retries
  superstep probe pay writes.amount --json | jq '[.visits[].value] | add'")]
#[command(mut_arg("json", |json| json.help("Print JSON: {visits, searched, more}")))]
pub(crate) struct ProbeArgs {
    /// The node, or an edge: FROM->TO, or with --graph its id
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
    /// The expression
    #[arg(value_name = "EXPRESSION")]
    pub(crate) expression: String,
    /// Only visits from then on: 2026-01-31, 2026-01-31T14:00:00Z, or 30m, 12h, 7d ago
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<String>,
    /// Only threads of this graph: its file or folder, or its name
    #[arg(long, value_name = "GRAPH")]
    pub(crate) graph: Option<PathBuf>,
    /// Largest number of visits [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<NonZeroU32>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
The expression is evaluated on the state that the edge saw at each of its stored decisions. A line is printed for each that would
change: where the edge led, and where it would lead. What cannot be evaluated, and what was not recorded, is counted.

Examples:
  superstep reconsider graphs/desk 'check->retry' 'state.retries > 3'
  superstep reconsider graphs/desk 'check->?' 'state.verdict if state.sure else \"ask\"' --since 7d
  superstep reconsider graphs/desk 'check->retry' 'state.retries > 3' --json | jq '.changed | length'")]
#[command(mut_arg("json", |json| json.help("Print JSON: {decisions, changed, threads, not_recorded, unknown, reason}")))]
pub(crate) struct ReconsiderArgs {
    /// Graph file, or a folder that holds a graph.json
    #[arg(value_name = "GRAPH")]
    pub(crate) graph: PathBuf,
    /// The edge, by its id: FROM->TO, or FROM->? for a route
    #[arg(value_name = "EDGE")]
    pub(crate) edge: String,
    /// The expression in place of its own
    #[arg(value_name = "EXPRESSION")]
    pub(crate) expression: String,
    /// Only decisions from then on: 2026-01-31, 2026-01-31T14:00:00Z, or 30m, 12h, 7d ago
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_days_moments_or_how_long_ago() {
        for text in [
            "2026-01-31",
            "2026-01-31T14:00Z",
            "2026-01-31T14:00:05Z",
            "2026-01-31T14:00:05.123Z",
        ] {
            assert_eq!(moment(text).as_deref(), Ok(text.trim_end_matches('Z')));
        }
        assert!(moment("7d").expect("a time") < moment("12h").expect("a time"));
        assert!(moment("12h").expect("a time") < moment("30m").expect("a time"));
        for wrong in [
            "",
            "d",
            "7",
            "7w",
            "2026-13-01",
            "2026-01-31T14:00:05",
            "2026-01-31T25:00Z",
            "yesterday",
            "€",
        ] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }
}
