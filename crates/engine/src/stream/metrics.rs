//! What a run costs: counts, estimated bytes, and where its time goes. Only measured when asked for.

use std::sync::Arc;
use std::time::Duration;

// Tokio's clock is the monotonic one, and the one that tests can stop.
use parking_lot::{Mutex, MutexGuard};
use tokio::time::Instant;

use crate::checkpoint::types::Commit;
use crate::value::Value;

/// The cost of a run. Bytes are estimates: they follow the size of the values and leave out what an allocator, an index
/// or a compression adds or saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunMetrics {
    /// Super-steps that ran nodes; the one that takes the input does not count.
    pub steps: u64,
    /// Tasks that ran to an end, whatever it was.
    pub tasks: u64,
    /// Writes of those tasks to state keys.
    pub writes: u64,
    /// Times that something was handed to the checkpointer.
    pub commits: u64,
    /// About how many bytes of JSON were handed to the checkpointer: a list that grew counts with what is new in it.
    pub checkpoint_bytes: u64,
    /// About how much memory the state took at its largest, after a step. Parts that two keys share count for both,
    /// and what running nodes or the checkpointer hold does not count.
    pub peak_state_bytes: u64,
    /// Time with at least one node or router at work; in a nested graph, all its time.
    pub in_nodes: Duration,
    /// Time in which nothing ran because the checkpointer was waited for.
    pub in_storage: Duration,
    /// Time in which nothing ran because the reader of the stream was waited for.
    pub in_readers: Duration,
    /// The rest of the time: planning, merging, making checkpoints and events.
    pub in_engine: Duration,
}

impl RunMetrics {
    /// Returns the whole time from the start of the run to its end, or to now.
    pub fn elapsed(&self) -> Duration {
        self.in_nodes + self.in_storage + self.in_readers + self.in_engine
    }
}

/// Tokens and money that a request of a node used, as the node
/// [reports](crate::NodeContext::report_usage) them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelUsage {
    /// Tokens that were sent.
    pub input_tokens: u64,
    /// Tokens that were answered.
    pub output_tokens: u64,
    /// What it cost, in US dollars; `None` when there is no price.
    pub cost: Option<f64>,
}

impl ModelUsage {
    /// Creates the usage of a request that sent and was answered these tokens, without a price.
    pub fn tokens(input: u64, output: u64) -> Self {
        Self {
            input_tokens: input,
            output_tokens: output,
            cost: None,
        }
    }
    /// Sets what the request cost, in US dollars.
    pub fn cost(mut self, dollars: impl Into<Option<f64>>) -> Self {
        self.cost = dollars.into();
        self
    }
}

/// The sum of what the nodes of a run reported, in all its graphs.
#[derive(Debug, Default)]
pub(crate) struct UsageSum(Mutex<Used>);

/// Tokens and money that a run has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Used {
    pub(crate) tokens: u64,
    pub(crate) cost: f64,
    /// Requests whose cost is not in the sum, because they had no price.
    pub(crate) unpriced: u64,
}

impl UsageSum {
    pub(crate) fn add(&self, usage: ModelUsage) {
        let mut used = self.0.lock();
        used.tokens = used
            .tokens
            .saturating_add(usage.input_tokens)
            .saturating_add(usage.output_tokens);
        match usage.cost.filter(|cost| cost.is_finite()) {
            // A sum of exact prices has no use for digits that only the arithmetic made: 0.7 + 0.1 reaches 0.8.
            Some(cost) => used.cost = ((used.cost + cost) * 1e12).round() / 1e12,
            None => used.unpriced += 1,
        }
    }
    pub(crate) fn read(&self) -> Used {
        *self.0.lock()
    }
}

/// Measures a run. Put one into [`RunConfig::metrics`](crate::RunConfig::metrics), keep a clone, and [`read`] it while
/// the run goes on, or after it ended or failed. Of several runs with the same meter it gives the sum.
///
/// [`read`]: Meter::read
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<MeterState>);

#[derive(Debug, Default)]
struct MeterState {
    measured: Mutex<Measured>,
    /// Made for one run, to report what it cost. The meter inside is the user's, and gets the same.
    of_run: Option<Option<Meter>>,
}

#[derive(Debug, Default)]
struct Measured {
    metrics: RunMetrics,
    /// How many of each activity go on now.
    going: [u32; 4],
    since: Option<Instant>,
}

/// Activity that time is spent on. When several go on at once, the first of the list gets the time.
#[derive(Clone, Copy)]
pub(crate) enum Activity {
    Node,
    Storage,
    Reader,
    Run,
}

impl Measured {
    /// Credits the time since the last change to what went on.
    fn turn(&mut self) {
        let now = Instant::now();
        let spent = self
            .since
            .replace(now)
            .map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let metrics = &mut self.metrics;
        let credited = match self.going.iter().position(|going| *going > 0) {
            Some(0) => &mut metrics.in_nodes,
            Some(1) => &mut metrics.in_storage,
            Some(2) => &mut metrics.in_readers,
            Some(_) => &mut metrics.in_engine,
            None => return,
        };
        *credited += spent;
    }
}

impl Meter {
    /// Creates a meter that has measured nothing yet.
    pub fn new() -> Self {
        Self::default()
    }
    /// Reads what was measured until now.
    pub fn read(&self) -> RunMetrics {
        let mut measured = self.lock();
        measured.turn();
        measured.metrics
    }

    /// Creates a meter for one run that somebody wants a report of; `given` goes on counting beside it.
    pub(crate) fn of_run(given: Option<Meter>) -> Self {
        Self(Arc::new(MeterState {
            measured: Mutex::default(),
            of_run: Some(given),
        }))
    }
    /// Returns whether the measurements of this meter are reported.
    pub(crate) fn is_reported(&self) -> bool {
        self.0.of_run.is_some()
    }
    /// Returns the meter that the user gave the run.
    pub(crate) fn given(&self) -> Option<&Meter> {
        match &self.0.of_run {
            Some(given) => given.as_ref(),
            None => Some(self),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Measured> {
        self.0.measured.lock()
    }
    /// Changes this meter, and the user's beside it.
    fn each(&self, change: impl Fn(&mut Measured)) {
        change(&mut self.lock());
        if let (true, Some(given)) = (self.is_reported(), self.given()) {
            change(&mut given.lock());
        }
    }

    /// Enters an activity, which goes on until the guard is dropped.
    pub(crate) fn enter(&self, activity: Activity) -> Busy {
        self.each(|measured| {
            measured.turn();
            measured.going[activity as usize] += 1;
        });
        Busy {
            meter: self.clone(),
            activity,
        }
    }
    pub(crate) fn count(&self, add: impl Fn(&mut RunMetrics)) {
        self.each(|measured| add(&mut measured.metrics));
    }
    pub(crate) fn commit(&self, commit: &Commit) {
        let bytes = commit_bytes(commit) as u64;
        self.count(|metrics| {
            metrics.commits += 1;
            metrics.checkpoint_bytes += bytes;
        });
    }
}

/// Held while an activity goes on.
pub(crate) struct Busy {
    meter: Meter,
    activity: Activity,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.meter.each(|measured| {
            measured.turn();
            measured.going[self.activity as usize] -= 1;
        });
    }
}

/// Sizes of the channels' values, so that a step sizes again only what it changed.
#[derive(Default)]
pub(crate) struct StateSize {
    /// The size of each value, and how many items it has if it is a list.
    channels: Vec<(usize, usize)>,
    total: usize,
}

impl StateSize {
    /// Returns the size of the value of a channel, in bytes.
    pub(crate) fn of(&self, channel: usize) -> usize {
        self.channels.get(channel).map_or(0, |(bytes, _)| *bytes)
    }
    /// Sets the new value of a channel. `kept` is how many items a list has in common with the one before it, when it
    /// only grew.
    pub(crate) fn set(&mut self, channel: usize, value: Option<&Value>, kept: Option<usize>) {
        if self.channels.len() <= channel {
            self.channels.resize(channel + 1, (0, 0));
        }
        let (before, items_before) = self.channels[channel];
        let (now, items) = match value {
            Some(Value::Array(items)) if before > 0 && kept == Some(items_before) => {
                let new: usize = items.skip(items_before).iter().map(weight).sum();
                (before + new, items.len())
            }
            Some(Value::Array(items)) => (items.iter().map(weight).sum::<usize>() + IN_MEMORY, items.len()),
            Some(value) => (weight(value), 0),
            None => (0, 0),
        };
        self.total = self.total - before + now;
        self.channels[channel] = (now, items);
    }
    /// Returns the size of all values together.
    pub(crate) fn total(&self) -> usize {
        self.total
    }
}

/// What one value takes beside its text: in memory the value and the counts of what it shares, in JSON its signs.
const IN_MEMORY: usize = size_of::<Value>() + 2 * size_of::<usize>();
const IN_JSON: usize = 2;

/// Estimates how many bytes a value takes in memory.
pub(crate) fn weight(value: &Value) -> usize {
    size(value, IN_MEMORY)
}

fn size(value: &Value, each: usize) -> usize {
    each + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| size(item, each)).sum(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| each + key.len() + size(value, each))
            .sum(),
    }
}

/// Ids, versions and names that every record has beside its values.
const RECORD: usize = 64;

fn commit_bytes(commit: &Commit) -> usize {
    let writes = commit.writes.iter().flat_map(|task| &task.writes);
    let mut bytes: usize = writes
        .map(|write| RECORD + write.channel.len() + size(&write.value, IN_JSON))
        .sum();
    if let Some(put) = &commit.put {
        bytes += RECORD;
        for change in &put.changes {
            bytes += RECORD + change.channel.len();
            bytes += match put.checkpoint.channel_values.get(&change.channel) {
                Some(Value::Array(items)) => {
                    let new = items.skip(change.appended_from.unwrap_or(0));
                    new.iter().map(|item| size(item, IN_JSON)).sum()
                }
                Some(value) => size(value, IN_JSON),
                None => 0,
            };
        }
        bytes += put.seen.iter().map(|name| RECORD + name.len()).sum::<usize>();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn usage_adds_up_and_counts_what_has_no_price() {
        let sum = UsageSum::default();
        sum.add(ModelUsage::tokens(10, 2).cost(0.7));
        sum.add(ModelUsage::tokens(5, 1).cost(0.1));
        sum.add(ModelUsage::tokens(100, 0));
        sum.add(ModelUsage::tokens(0, 0).cost(f64::NAN));
        let used = Used {
            tokens: 118,
            cost: 0.8,
            unpriced: 2,
        };
        assert_eq!(sum.read(), used);
    }

    #[test]
    fn a_list_is_weighed_by_what_came_when_it_grew_and_whole_otherwise() {
        let long = "x".repeat(1000);
        let weighed = |list: &Value| {
            let mut size = StateSize::default();
            size.set(0, Some(list), None);
            size.total()
        };
        let (two, three, one) = (json!([long, long]), json!([long, long, "y"]), json!(["y"]));
        let mut size = StateSize::default();
        size.set(0, Some(&two), None);
        size.set(0, Some(&three), Some(2));
        assert_eq!(size.total(), weighed(&three));
        size.set(0, Some(&one), None);
        assert_eq!(size.total(), weighed(&one), "it was replaced");
        size.set(0, Some(&three), Some(1));
        size.set(0, Some(&two), Some(1));
        assert!(size.total() > 2000, "what is kept is another number of items");
        size.set(0, None, None);
        assert_eq!(size.total(), 0);
    }
}
