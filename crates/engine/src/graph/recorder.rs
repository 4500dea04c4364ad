//! What a task notes while it runs: the state keys that it reads, why it decides as it does, and what it does with items of
//! long-term memory.

use parking_lot::Mutex;

use crate::base::command::Target;
use crate::base::ids::Name;
use crate::checkpoint::memory_use::{MOST_USES, MemoryUse};
use crate::checkpoint::task_record::{
    Decision, KeysRead, LONGEST_SUMMARY, Reason, RecordedValue, TaskRecord, TriedCondition, shortened,
};
use crate::value::Value;

/// Notes of nodes and routers on what they read and why they decide as they do; given by
/// [`NodeContext::recorder`](crate::NodeContext::recorder) in runs with
/// [`RunConfig::record`](crate::RunConfig::record).
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Notes>);

#[derive(Debug, Default)]
struct Notes {
    record: TaskRecord,
    /// The node is done, and its edges decide.
    node_ended: bool,
    /// What was read for the decision that is being made.
    read: Vec<(Name, Option<Value>)>,
    reason: Option<Reason>,
}

impl Recorder {
    /// Says that each key is noted when the node reads it. Without it nobody knows what a node reads of its input.
    pub fn tracks_reads(&self) {
        let mut notes = self.0.lock();
        if notes.record.reads == KeysRead::Unknown && !notes.node_ended {
            notes.record.reads = KeysRead::Keys(Vec::new());
        }
    }

    /// Notes that a key of the state was read, and its value.
    pub fn read(&self, key: &str, value: Option<&Value>) {
        let mut notes = self.0.lock();
        let listed = match &notes.record.reads {
            KeysRead::Keys(keys) => keys.iter().find(|known| ***known == *key).cloned(),
            _ => None,
        };
        let noted = notes.read.iter().find(|(known, _)| **known == *key);
        let is_noted = noted.is_some();
        let is_listed = listed.is_some();
        let name = listed
            .or_else(|| noted.map(|(known, _)| known.clone()))
            .unwrap_or_else(|| key.into());
        // What edges read decides where the run goes on, not what the node wrote.
        let of_node = !notes.node_ended;
        if let KeysRead::Keys(keys) = &mut notes.record.reads
            && of_node
            && !is_listed
        {
            keys.push(name.clone());
        }
        if !is_noted {
            notes.read.push((name, value.cloned()));
        }
    }

    /// Notes that the state was used as a whole.
    pub fn read_all(&self) {
        let mut notes = self.0.lock();
        if notes.record.reads != KeysRead::Unknown && !notes.node_ended {
            notes.record.reads = KeysRead::All;
        }
    }

    /// Notes what decides, and the expression that gave it, if one did. The keys that were read since the last decision
    /// are its reasons.
    pub fn decided_by(&self, expression: Option<&Name>, result: &Value) {
        let mut notes = self.0.lock();
        let reason = notes.reason.get_or_insert_default();
        reason.expression = expression.map(shortened);
        reason.result = Some(result.into());
    }

    /// Notes a condition that was tried for a label, and whether it held; `None` for one that always holds.
    pub fn tried(&self, label: &Name, expression: Option<&Name>, held: bool) {
        let mut notes = self.0.lock();
        let reason = notes.reason.get_or_insert_default();
        reason.conditions.push(TriedCondition {
            label: label.clone(),
            expression: expression.map(shortened),
            held,
        });
    }

    /// Notes that the node did not run: its output is pinned.
    pub(crate) fn pinned(&self) {
        self.0.lock().record.pinned = true;
    }

    /// Notes in Markdown what the task did, for people who read the run. The last summary counts; of a long one the first
    /// 2,000 bytes are kept.
    pub fn summarize(&self, markdown: &str) {
        let summary = match markdown.len() > LONGEST_SUMMARY {
            true => format!(
                "{}…",
                &markdown[..markdown.floor_char_boundary(LONGEST_SUMMARY - '…'.len_utf8())]
            ),
            false => markdown.to_owned(),
        };
        self.0.lock().record.summary = (!summary.trim().is_empty()).then(|| summary.into());
    }

    /// Notes that an item of long-term memory was used. What repeats the same is noted once.
    pub(crate) fn used(&self, used: MemoryUse) {
        let record = &mut self.0.lock().record;
        // Writes count each: they say when the item became what it is.
        if !used.action.writes() && record.memory.iter().any(|known| used.repeats(known)) {
            return;
        }
        match record.memory.len() < MOST_USES {
            true => record.memory.push(used),
            false => record.memory_cut = true,
        }
    }

    /// Creates the recorder of the next attempt: it keeps what the failed one did with long-term memory, as that has
    /// been done, and drops what it read of the state.
    pub(crate) fn of_next_attempt(&self) -> Self {
        let failed = &self.0.lock().record;
        let record = TaskRecord {
            memory: failed.memory.clone(),
            memory_cut: failed.memory_cut,
            ..TaskRecord::default()
        };
        Self(Mutex::new(Notes {
            record,
            ..Notes::default()
        }))
    }

    /// Ends what the node itself decided: by a reason that it noted, or by a command that names targets.
    pub(crate) fn end_node<'a>(&self, targets: impl IntoIterator<Item = &'a Target>) {
        let decision = decision(None, targets);
        let mut notes = self.0.lock();
        notes.node_ended = true;
        if notes.reason.is_none() && !decision.to.is_empty() && !notes.read.is_empty() {
            // A program: what it had looked at is all that is known.
            notes.reason = Some(Reason::default());
        }
        if notes.reason.is_some() || !decision.to.is_empty() {
            notes.end(decision);
        } else {
            notes.read.clear();
        }
    }

    /// Ends the decision of an edge.
    pub(crate) fn end_edge(&self, edge: &Name, targets: &[Target]) {
        self.0.lock().end(decision(Some(edge), targets));
    }

    /// Takes what was noted. What was done with long-term memory stays for the next attempt. Of a node that does not note
    /// its reads, all keys that it was `given` count, where only some were.
    pub(crate) fn take(&self, given: Option<Vec<Name>>) -> TaskRecord {
        let mut notes = self.0.lock();
        let mut taken = std::mem::take(&mut *notes).record;
        if taken.reads == KeysRead::Unknown
            && !taken.pinned
            && let Some(keys) = given
        {
            taken.reads = KeysRead::Keys(keys);
        }
        notes.record.memory.clone_from(&taken.memory);
        notes.record.memory_cut = taken.memory_cut;
        taken
    }
}

fn decision<'a>(edge: Option<&Name>, targets: impl IntoIterator<Item = &'a Target>) -> Decision {
    let mut decision = Decision {
        edge: edge.cloned(),
        ..Decision::default()
    };
    for target in targets {
        let name = match target {
            Target::Node(name) => name,
            Target::Send(packet) => {
                decision.packets += 1;
                &packet.node
            }
        };
        // Packets go to one node most often.
        if decision.to.last() != Some(name) && !decision.to.contains(name) {
            decision.to.push(name.clone());
        }
    }
    decision
}

impl Notes {
    fn end(&mut self, mut decision: Decision) {
        let read = std::mem::take(&mut self.read);
        if let Some(mut reason) = self.reason.take() {
            let values = read.iter().map(|(key, value)| {
                let value = value.as_ref().unwrap_or(&Value::Null);
                (key.clone(), RecordedValue::from(value))
            });
            reason.values = values.collect();
            decision.reason = Some(reason);
        }
        self.record.decisions.push(decision.bounded());
    }
}
