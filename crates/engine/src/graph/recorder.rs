//! What a task notes while it runs: the state keys that it reads, why it decides as it does, and what it does with items of
//! long-term memory. The record is made in the form in which it is stored, and is a
//! [`TaskRecord`](crate::checkpoint::TaskRecord) when somebody reads it: a run makes one for each task, and hardly any is read.

use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::base::command::Target;
use crate::base::ids::Name;
use crate::checkpoint::memory_use::{MAX_USES, MemoryUse};
use crate::checkpoint::task_record::{MAX_ENTRIES, MAX_SUMMARY, RecordedValue, key, shortened};
use crate::value::{List, Object, Value};

/// Notes of nodes and routers on what they read and why they decide as they do; given by
/// [`NodeContext::recorder`](crate::NodeContext::recorder) in runs with
/// [`RunConfig::record`](crate::RunConfig::record).
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Notes>);

#[derive(Debug, Default)]
struct Notes {
    /// The record of the node's task before, with which this one shares what is the same: a loop decides a thousand times
    /// by the same expression.
    before: Option<Value>,
    reads: NotedReads,
    /// Each in its stored form, but for the values that it read.
    decisions: SmallVec<[Value; 2]>,
    /// The values that the decisions read.
    values: SmallVec<[ReadValue; 2]>,
    memory: Vec<MemoryUse>,
    /// Some of `memory` was left out: there were too many uses.
    memory_cut: bool,
    /// The node did not run.
    pinned: bool,
    summary: Option<Name>,
    /// The node is done, and its edges decide.
    node_ended: bool,
    next: NextDecision,
}

/// State keys that the node read.
#[derive(Debug, Default)]
enum NotedReads {
    #[default]
    Unknown,
    All,
    Keys(SmallVec<[Name; 2]>),
}

/// A value that was read for a decision.
#[derive(Debug)]
struct ReadValue {
    key: Name,
    /// None where the state does not have the key.
    value: Option<Value>,
    stored: Value,
}

/// The decision that is being made.
#[derive(Debug, Default)]
struct NextDecision {
    /// What was read for it.
    read: SmallVec<[(Name, Option<Value>); 2]>,
    reason: Option<NotedReason>,
}

#[derive(Debug, Default)]
struct NotedReason {
    expression: Option<Name>,
    result: Option<Value>,
    conditions: Vec<Value>,
    /// Some of `conditions` was left out.
    cut: bool,
}

/// Places that a decision led to.
#[derive(Default)]
struct Destinations {
    /// The nodes, each once.
    to: SmallVec<[Name; 1]>,
    packets: u64,
    /// Some of `to` was left out.
    cut: bool,
}

impl Recorder {
    /// Creates the recorder of a task, given the record of the task of the same node before it.
    pub(crate) fn after(before: Option<Value>) -> Self {
        Self(Mutex::new(Notes {
            before,
            ..Notes::default()
        }))
    }

    /// Says that each key is noted when the node reads it. Without it nobody knows what a node reads of its input.
    pub fn tracks_reads(&self) {
        let notes = &mut *self.0.lock();
        if matches!(notes.reads, NotedReads::Unknown) && !notes.node_ended {
            notes.reads = NotedReads::Keys(SmallVec::new());
        }
    }

    /// Reads a key of the state, and notes it with its value.
    pub fn read<'s>(&self, state: &'s Value, key: &str) -> Option<&'s Value> {
        let entry = state.as_object().and_then(|state| state.entry(key));
        let notes = &mut *self.0.lock();
        let new_name = || entry.map_or_else(|| key.into(), |(name, _)| name.clone());
        // What edges read decides where the run goes on, not what the node wrote.
        if let NotedReads::Keys(keys) = &mut notes.reads
            && !notes.node_ended
            && !keys.iter().any(|known| **known == *key)
        {
            keys.push(new_name());
        }
        let read = &mut notes.next.read;
        if !read.iter().any(|(known, _)| **known == *key) {
            read.push((new_name(), entry.map(|(_, value)| value.clone())));
        }
        entry.map(|(_, value)| value)
    }

    /// Notes that the state was used as a whole.
    pub fn read_all(&self) {
        let notes = &mut *self.0.lock();
        if matches!(notes.reads, NotedReads::Keys(_)) && !notes.node_ended {
            notes.reads = NotedReads::All;
        }
    }

    /// Notes what decides, and the expression that gave it, if one did. The keys that were read since the last decision
    /// are its reasons.
    pub fn decided_by(&self, expression: Option<&Name>, result: &Value) {
        let notes = &mut *self.0.lock();
        let reason = notes.next.reason.get_or_insert_default();
        reason.expression = expression.map(shortened);
        reason.result = Some(stored(result));
    }

    /// Notes a condition that was tried for a label, and whether it held; `None` for one that always holds.
    pub fn tried(&self, label: &Name, expression: Option<&Name>, held: bool) {
        let notes = &mut *self.0.lock();
        let reason = notes.next.reason.get_or_insert_default();
        if reason.conditions.len() == MAX_ENTRIES {
            reason.cut = true;
            return;
        }
        let entries = [
            Some((key!("label").clone(), label.clone().into())),
            expression.map(|expression| (key!("expression").clone(), shortened(expression).into())),
            Some((key!("held").clone(), held.into())),
        ];
        reason.conditions.push(Object::of_present(entries).into());
    }

    /// Notes that the node did not run: its output is pinned.
    pub(crate) fn pinned(&self) {
        self.0.lock().pinned = true;
    }

    /// Notes in Markdown what the task did, for people who read the run. The last summary counts; of a long one the first
    /// 2,000 bytes are kept.
    pub fn summarize(&self, markdown: &str) {
        let summary = match markdown.len() > MAX_SUMMARY {
            true => format!(
                "{}…",
                &markdown[..markdown.floor_char_boundary(MAX_SUMMARY - '…'.len_utf8())]
            ),
            false => markdown.to_owned(),
        };
        self.0.lock().summary = (!summary.trim().is_empty()).then(|| summary.into());
    }

    /// Notes that an item of long-term memory was used. What repeats the same is noted once.
    pub(crate) fn used(&self, used: MemoryUse) {
        let notes = &mut *self.0.lock();
        // Writes count each: they say when the item became what it is.
        if !used.action.writes() && notes.memory.iter().any(|known| used.repeats(known)) {
            return;
        }
        match notes.memory.len() < MAX_USES {
            true => notes.memory.push(used),
            false => notes.memory_cut = true,
        }
    }

    /// Creates the recorder of the next attempt: it keeps what the failed one did with long-term memory, as that has
    /// been done, and drops what it read of the state.
    pub(crate) fn of_next_attempt(&self) -> Self {
        let failed = &*self.0.lock();
        Self(Mutex::new(Notes {
            before: failed.before.clone(),
            memory: failed.memory.clone(),
            memory_cut: failed.memory_cut,
            ..Notes::default()
        }))
    }

    /// Ends what the node itself decided: by a reason that it noted, or by a command that names targets.
    pub(crate) fn end_node<'a>(&self, targets: impl IntoIterator<Item = &'a Target>) {
        let led = &Destinations::of(targets);
        let notes = &mut *self.0.lock();
        notes.node_ended = true;
        if notes.next.reason.is_none() && !led.to.is_empty() && !notes.next.read.is_empty() {
            // A program: what it had looked at is all that is known.
            notes.next.reason = Some(NotedReason::default());
        }
        if notes.next.reason.is_some() || !led.to.is_empty() {
            notes.end(None, led);
        } else {
            notes.next.read.clear();
        }
    }

    /// Ends the decision of an edge.
    pub(crate) fn end_edge(&self, edge: &Name, targets: &[Target]) {
        self.0.lock().end(Some(edge), &Destinations::of(targets));
    }

    /// Takes what was noted, in its stored form; `None` when it is nothing. What was done with long-term memory stays for
    /// the next attempt. Of a node that does not note its reads, all keys that it was `given` count, where only some were.
    pub(crate) fn take(&self, given: impl FnOnce() -> Option<Vec<Name>>) -> Option<Value> {
        let notes = &mut *self.0.lock();
        let record = notes.record(given);
        notes.reads = NotedReads::Unknown;
        notes.decisions.clear();
        notes.values.clear();
        notes.pinned = false;
        notes.node_ended = false;
        notes.next = NextDecision::default();
        record
    }
}

/// Returns the stored form of a value that was read.
fn stored(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        _ => RecordedValue::from(value).to_value(),
    }
}

/// Returns whether two values that were read are the same. Lists and objects are not compared, which could take long.
fn is_same(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(Value::Array(one)), Some(Value::Array(other))) => one.same(other),
        (Some(Value::Object(one)), Some(Value::Object(other))) => one.same(other),
        _ => one == other,
    }
}

/// Returns the names as a list: the one `before`, if it has the same.
fn names_after<'a>(before: Option<&Value>, names: impl ExactSizeIterator<Item = &'a Name> + Clone) -> Value {
    if let Some(list @ Value::Array(known)) = before
        && known.len() == names.len()
        && (known.iter().zip(names.clone()))
            .all(|(known, name)| matches!(known, Value::String(known) if known == name))
    {
        return list.clone();
    }
    names.cloned().map(Value::String).collect::<List>().into()
}

/// An entry of an object that is stored, or was stored before.
enum StoredEntry<'a> {
    Text(&'a Name),
    Value(Value),
}

impl StoredEntry<'_> {
    fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text(name), Value::String(known)) => *name == known,
            (Self::Text(_), _) => false,
            (Self::Value(value), known) => value == known,
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Text(name) => Value::String(name.clone()),
            Self::Value(value) => value,
        }
    }
}

/// Entries of an object in their order; what is the same as before is not even copied.
#[derive(Default)]
struct StoredEntries<'a>(SmallVec<[(&'static Name, StoredEntry<'a>); 8]>);

impl<'a> StoredEntries<'a> {
    fn add(&mut self, key: &'static Name, entry: Option<StoredEntry<'a>>) {
        if let Some(entry) = entry {
            self.0.push((key, entry));
        }
    }

    /// Returns the object that they make: the one `before`, if it has the same.
    fn into_object(self, before: Option<&Value>) -> Value {
        let is_entry = |((known, value), (key, entry)): ((&Name, &Value), &(&Name, StoredEntry<'_>))| {
            known == *key && entry.is(value)
        };
        if let Some(object @ Value::Object(known)) = before
            && known.len() == self.0.len()
            && known.iter().zip(&self.0).all(is_entry)
        {
            return object.clone();
        }
        Object::of_distinct((self.0.into_iter()).map(|(key, entry)| (key.clone(), entry.into_value()))).into()
    }
}

impl Destinations {
    fn of<'a>(targets: impl IntoIterator<Item = &'a Target>) -> Self {
        let mut led = Self::default();
        for target in targets {
            let name = match target {
                Target::Node(name) => name,
                Target::Send(packet) => {
                    led.packets += 1;
                    &packet.node
                }
            };
            // Packets go to one node most often.
            if led.to.last() == Some(name) || led.to.contains(name) {
                continue;
            }
            match led.to.len() < MAX_ENTRIES {
                true => led.to.push(name.clone()),
                false => led.cut = true,
            }
        }
        led
    }

    /// Returns the nodes as they are stored: one alone, which most decisions have, is no list.
    fn entry(&self) -> Option<StoredEntry<'_>> {
        match &*self.to {
            [] => None,
            [one] => Some(StoredEntry::Text(one)),
            all => Some(StoredEntry::Value(names_after(None, all.iter()))),
        }
    }
}

/// Adds values that were read for a decision to those of the record; gives those that have another value there already.
fn add_values(values: &mut SmallVec<[ReadValue; 2]>, read: &[(Name, Option<Value>)]) -> Option<Object> {
    let to_stored = |value: &Option<Value>| value.as_ref().map_or(Value::Null, stored);
    let known = |values: &[ReadValue], key: &Name| values.iter().position(|known| known.key == *key);
    let is_other = |(key, value): &(Name, Option<Value>)| {
        known(values, key).is_some_and(|place| !is_same(values[place].value.as_ref(), value.as_ref()))
    };
    if read.iter().any(is_other) {
        // The node decided by the state before its own writes, or they are lists that nobody compares.
        let own = read.iter().map(|(key, value)| (key.clone(), to_stored(value)));
        return Some(Object::of_distinct(own));
    }
    for (key, value) in read {
        if known(values, key).is_none() {
            values.push(ReadValue {
                key: key.clone(),
                value: value.clone(),
                stored: to_stored(value),
            });
        }
    }
    None
}

impl Notes {
    fn end(&mut self, edge: Option<&Name>, led: &Destinations) {
        let before = self.before.as_ref().and_then(|record| record.get("decisions"));
        let before = before.and_then(|list| list.at(self.decisions.len()));
        let NextDecision { read, reason } = &mut self.next;
        let mut cut = led.cut;
        let mut entries = StoredEntries::default();
        entries.add(key!("edge"), edge.map(StoredEntry::Text));
        entries.add(key!("to"), led.entry());
        entries.add(
            key!("packets"),
            (led.packets > 0).then(|| StoredEntry::Value(led.packets.into())),
        );
        if let Some(reason) = reason.take() {
            entries.add(
                key!("expression"),
                reason
                    .expression
                    .map(|expression| StoredEntry::Value(expression.into())),
            );
            entries.add(key!("result"), reason.result.map(StoredEntry::Value));
            if !read.is_empty() {
                cut |= read.len() > MAX_ENTRIES;
                read.truncate(MAX_ENTRIES);
                let values = match add_values(&mut self.values, read) {
                    Some(own) => own.into(),
                    None => names_after(
                        before.and_then(|before| before.get("values")),
                        read.iter().map(|(key, _)| key),
                    ),
                };
                entries.add(key!("values"), Some(StoredEntry::Value(values)));
            }
            if !reason.conditions.is_empty() {
                cut |= reason.cut;
                let conditions: List = reason.conditions.into_iter().collect();
                entries.add(key!("conditions"), Some(StoredEntry::Value(conditions.into())));
            }
        }
        entries.add(key!("cut"), cut.then(|| StoredEntry::Value(true.into())));
        self.decisions.push(entries.into_object(before));
        self.next.read.clear();
    }

    /// Returns the record in its stored form; `None` when nothing was noted.
    fn record(&mut self, given: impl FnOnce() -> Option<Vec<Name>>) -> Option<Value> {
        let before = |part: &str| self.before.as_ref()?.get(part);
        let names = |names: &[Name]| StoredEntry::Value(names_after(before("reads"), names.iter()));
        let reads = match &self.reads {
            NotedReads::All => Some(StoredEntry::Value("*".into())),
            NotedReads::Keys(keys) => Some(names(keys)),
            NotedReads::Unknown if self.pinned => None,
            NotedReads::Unknown => given().map(|keys| names(&keys)),
        };
        let mut entries = StoredEntries::default();
        entries.add(key!("reads"), reads);
        if !self.decisions.is_empty() {
            let decisions = match before("decisions") {
                Some(same @ Value::Array(before)) if before.iter().eq(&self.decisions) => same.clone(),
                _ => self.decisions.drain(..).collect::<List>().into(),
            };
            entries.add(key!("decisions"), Some(StoredEntry::Value(decisions)));
        }
        if !self.values.is_empty() {
            let values = self.values.drain(..).map(|read| (read.key, read.stored));
            entries.add(
                key!("values"),
                Some(StoredEntry::Value(Object::of_distinct(values).into())),
            );
        }
        if !self.memory.is_empty() {
            let memory: List = self.memory.iter().map(MemoryUse::to_value).collect();
            entries.add(key!("memory"), Some(StoredEntry::Value(memory.into())));
        }
        let flag = |is: bool| is.then(|| StoredEntry::Value(true.into()));
        entries.add(key!("memory_cut"), flag(self.memory_cut));
        entries.add(key!("pinned"), flag(self.pinned));
        entries.add(
            key!("summary"),
            self.summary
                .take()
                .map(|summary| StoredEntry::Value(summary.into())),
        );
        (!entries.0.is_empty()).then(|| entries.into_object(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::command::Packet;
    use crate::checkpoint::memory_use::MemoryAction;
    use crate::checkpoint::task_record::{
        Decision, KeysRead, MAX_RECORDED_VALUE, Reason, TaskRecord, TriedCondition,
    };
    use crate::json;

    fn taken(recorder: &Recorder) -> TaskRecord {
        TaskRecord::from_value(&recorder.take(|| None).expect("something was noted"))
    }

    fn condition(label: &str, expression: Option<&Name>, held: bool) -> TriedCondition {
        TriedCondition {
            label: label.into(),
            expression: expression.cloned(),
            held,
        }
    }

    fn target(name: &str) -> Target {
        Target::Node(name.into())
    }

    #[test]
    fn a_record_is_read_as_it_was_noted() {
        let recorder = Recorder::default();
        let long = "y".repeat(500);
        let state = json!({"x": {"value": 1}, "y": long});
        recorder.tracks_reads();
        assert_eq!(recorder.read(&state, "x"), Some(&json!({"value": 1})));
        assert_eq!(recorder.read(&state, "y"), Some(&json!(long)));
        assert_eq!(recorder.read(&state, "x"), Some(&json!({"value": 1})));
        let uses = [
            (MemoryAction::Read, None),
            (MemoryAction::Found, Some(json!({"text": "x".repeat(500)}))),
            (MemoryAction::Written, Some(json!({"text": "tea"}))),
            (MemoryAction::Removed, None),
        ];
        let uses = uses.map(|(action, value)| MemoryUse {
            action,
            namespace: vec!["people".into(), "ada".into()],
            key: "likes".into(),
            value: value.as_ref().map(RecordedValue::from),
            at: 1_700_000_000_000,
        });
        uses.iter().cloned().for_each(|used| recorder.used(used));
        recorder.summarize("**Two** were found");
        // It says nothing of where to go.
        recorder.end_node([]);

        let expression = "state.x > 1".into();
        assert_eq!(recorder.read(&state, "z"), None);
        assert_eq!(recorder.read(&state, "y"), Some(&json!(long)));
        recorder.tried(&"yes".into(), Some(&expression), false);
        recorder.tried(&"no".into(), None, true);
        recorder.decided_by(Some(&expression), &true.into());
        let packet = |n: i64| {
            Target::Send(Packet {
                node: "b".into(),
                arg: n.into(),
                timeout: None,
            })
        };
        recorder.end_edge(&"a->b".into(), &[packet(1), packet(2), target("c")]);
        recorder.end_edge(&"a->d".into(), &[]);

        let wanted = TaskRecord {
            reads: KeysRead::Keys(vec!["x".into(), "y".into()]),
            decisions: vec![
                Decision {
                    edge: Some("a->b".into()),
                    to: vec!["b".into(), "c".into()],
                    packets: 2,
                    reason: Some(Reason {
                        expression: Some(expression.clone()),
                        result: Some((&json!(true)).into()),
                        values: vec![
                            ("z".into(), (&json!(null)).into()),
                            ("y".into(), (&json!(long)).into()),
                        ],
                        conditions: vec![
                            condition("yes", Some(&expression), false),
                            condition("no", None, true),
                        ],
                    }),
                    cut: false,
                },
                Decision {
                    edge: Some("a->d".into()),
                    ..Decision::default()
                },
            ],
            memory: uses.to_vec(),
            memory_cut: false,
            pinned: false,
            summary: Some("**Two** were found".into()),
        };
        assert_eq!(taken(&recorder), wanted);
        // What was done with long-term memory stays for the next attempt, and nothing else.
        let again = TaskRecord {
            memory: wanted.memory,
            ..TaskRecord::default()
        };
        assert_eq!(taken(&recorder), again);
        assert_eq!(taken(&recorder.of_next_attempt()), again);
    }

    #[test]
    fn the_keys_that_are_read_are_known_only_where_they_are_tracked() {
        let state = json!({"*": 1, "x": 2});
        let of = |names: &[&str]| KeysRead::Keys(names.iter().copied().map(Name::from).collect());
        let cases: [(&[&str], _); 4] = [
            (&[], of(&[])),
            (&["x"], of(&["x"])),
            (&["*"], of(&["*"])),
            (&["*", "x", "y", "*"], of(&["*", "x", "y"])),
        ];
        for (read, wanted) in cases {
            let recorder = Recorder::default();
            recorder.tracks_reads();
            for key in read {
                recorder.read(&state, key);
            }
            assert_eq!(taken(&recorder).reads, wanted);
        }
        let all = Recorder::default();
        all.tracks_reads();
        all.read(&state, "x");
        all.read_all();
        assert_eq!(taken(&all).reads, KeysRead::All);

        let unknown = Recorder::default();
        unknown.read(&state, "x");
        unknown.read_all();
        assert_eq!(unknown.take(|| None), None);
        let given = unknown.take(|| Some(vec!["given".into()]));
        assert_eq!(given, Some(json!({"reads": ["given"]})));
        unknown.pinned();
        assert_eq!(
            unknown.take(|| Some(vec!["given".into()])),
            Some(json!({"pinned": true}))
        );
    }

    #[test]
    fn each_decision_has_the_values_that_it_read() {
        let recorder = Recorder::default();
        recorder.end_node([]);
        let decide = |state: &Value, keys: &[&str]| {
            keys.iter().for_each(|key| {
                recorder.read(state, key);
            });
            recorder.decided_by(None, &true.into());
            recorder.end_edge(&"edge".into(), &[target("b")]);
        };
        let list = json!([1, 2]);
        let state = json!({"n": 1, "list": list});
        decide(&state, &["n"]);
        decide(&state, &["n"]);
        decide(&json!({"n": 1.0}), &["n"]);
        decide(&state, &["list"]);
        decide(&json!({"list": [1, 2]}), &["list"]);
        decide(&json!({"n": 2, "other": 3}), &["other", "n"]);
        decide(&state, &["n", "list"]);
        decide(&state, &["list", "n"]);
        decide(&state, &[]);
        let stored = recorder.take(|| None).unwrap_or_default();
        let decisions = stored.get("decisions").and_then(Value::as_array).cloned();
        let values: Vec<String> = (decisions.iter().flat_map(List::iter))
            .map(|decision| decision.get("values").map_or_else(String::new, Value::to_string))
            .collect();
        assert_eq!(
            values,
            [
                r#"["n"]"#,
                r#"["n"]"#,
                r#"{"n":1.0}"#,
                r#"["list"]"#,
                r#"{"list":[1,2]}"#,
                r#"{"other":3,"n":2}"#,
                r#"["n","list"]"#,
                r#"["list","n"]"#,
                "",
            ]
        );
        assert_eq!(stored.get("values"), Some(&json!({"n": 1, "list": list})));
        let read: Vec<_> = TaskRecord::from_value(&stored)
            .decisions
            .into_iter()
            .map(|decision| decision.reason.map(|reason| reason.values))
            .collect();
        let one = |key: &str, value: &Value| (Name::from(key), RecordedValue::from(value));
        let (n, list) = (one("n", &json!(1)), one("list", &list));
        assert_eq!(
            read,
            [
                vec![n.clone()],
                vec![n.clone()],
                vec![one("n", &json!(1.0))],
                vec![list.clone()],
                vec![list.clone()],
                vec![one("other", &json!(3)), one("n", &json!(2))],
                vec![n.clone(), list.clone()],
                vec![list, n],
                vec![],
            ]
            .map(Some)
        );
        assert!(stored.to_string().contains(r#""to":"b""#), "one node is no list");
    }

    #[test]
    fn what_repeats_is_shared_with_the_record_before() {
        let decide = |recorder: &Recorder, n: i64| {
            let state = json!({"n": n});
            recorder.tracks_reads();
            recorder.read(&state, "n");
            recorder.end_node([]);
            for (edge, to) in [("again", vec![target("b")]), ("done", vec![])] {
                recorder.read(&state, "n");
                recorder.decided_by(Some(&"state.n < 3".into()), &(n < 3).into());
                recorder.end_edge(&edge.into(), &to);
            }
        };
        let record = |before: Option<&Value>, n| {
            let recorder = Recorder::after(before.cloned());
            decide(&recorder, n);
            let alone = Recorder::default();
            decide(&alone, n);
            let record = recorder.take(|| None).unwrap_or_default();
            assert_eq!(
                alone.take(|| None).as_ref(),
                Some(&record),
                "sharing changes nothing"
            );
            record
        };
        let part = |record: &Value, part: &str| {
            record
                .get(part)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let one = record(None, 1);
        let two = record(Some(&one), 2);
        for shared in ["reads", "decisions"] {
            assert!(part(&one, shared).same(&part(&two, shared)), "{shared}");
        }
        assert_eq!(two.get("values"), Some(&json!({"n": 2})));
        let three = record(Some(&two), 3);
        assert!(part(&two, "reads").same(&part(&three, "reads")));
        assert_ne!(part(&two, "decisions"), part(&three, "decisions"));
        // Of one decision that is the same, that one.
        let recorder = Recorder::after(Some(two.clone()));
        decide(&recorder, 1);
        recorder.end_edge(&"more".into(), &[]);
        let more = recorder.take(|| None).unwrap_or_default();
        let of = |record: &Value, place: usize| {
            part(record, "decisions")
                .get(place)
                .and_then(Value::as_object)
                .cloned()
        };
        assert!(
            of(&two, 1)
                .zip(of(&more, 1))
                .is_some_and(|(two, more)| two.same(&more))
        );
        assert_eq!(part(&more, "decisions").len(), 3);
    }

    #[test]
    fn a_decision_is_at_most_a_few_kilobytes() {
        let recorder = Recorder::default();
        recorder.end_node([]);
        let long = "x".repeat(MAX_RECORDED_VALUE - 2);
        let state: Object = (0..100).map(|n| (format!("k{n}"), long.clone())).collect();
        let state = Value::Object(state);
        (0..100).for_each(|n| {
            recorder.read(&state, &format!("k{n}"));
        });
        recorder.decided_by(None, &true.into());
        let targets: Vec<Target> = (0..10_000).map(|n| target(&format!("n{n}"))).collect();
        recorder.end_edge(&"edge".into(), &targets);
        (0..100).for_each(|n| recorder.tried(&format!("label {n}").into(), None, false));
        recorder.end_edge(&"conditions".into(), &[]);

        let stored = recorder.take(|| None).unwrap_or_default();
        let length = stored.to_string().len();
        assert!(
            (1000..=2 * 4096).contains(&length),
            "{length} bytes of two decisions"
        );
        let decisions = TaskRecord::from_value(&stored).decisions;
        assert!(decisions.iter().all(|decision| decision.cut));
        assert_eq!(decisions[0].to.len(), MAX_ENTRIES);
        let reasons: Vec<_> = decisions.iter().flat_map(|decision| &decision.reason).collect();
        assert_eq!(reasons[0].values.len(), MAX_ENTRIES);
        assert_eq!(reasons[1].conditions.len(), MAX_ENTRIES);
    }
}
