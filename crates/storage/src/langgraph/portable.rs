//! Checkpoints in the form in which a thread of our own has them, so that a graph with the same nodes goes on from a copy:
//! the tasks under the ids that the program gave them, questions and answers where our engine looks for them, and the
//! triggers and packets of files of before 2025 under the names of today.

use std::collections::{BTreeMap, HashMap};

use superstep::checkpoint::{
    CheckpointTuple, ListQuery, PendingWrite, TASK_IDS, TaskId, TaskStatus, Write, reserved, write_index,
};
use superstep::value::{List, Object};
use superstep::{Name, Value};

use super::record::PACKETS;
use super::rows::{Fault, Wanted};
use super::tasks::{BRANCH_TO, BUMPS, node_of, packet_path};
use super::view::{Loaded, ThreadView};

/// Makes the id of a question as our engine does: of where it was asked, and of how many the task asked before.
fn question_id(ns: &str, before: usize) -> String {
    let text = match before {
        0 => ns.to_owned(),
        before => format!("{ns}|{before}"),
    };
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(text.as_bytes()))
}

/// Returns the pending writes task by task, with what has become of each.
fn by_task(writes: &[PendingWrite]) -> impl Iterator<Item = (&TaskId, &[PendingWrite], TaskStatus)> {
    let statuses = TaskStatus::of_all(writes);
    let tasks = writes.chunk_by(|a, b| a.task_id == b.task_id);
    tasks.map(move |own| {
        let task = &own[0].task_id;
        (task, own, statuses.get(task).copied().unwrap_or_default())
    })
}

fn value_at<'a>(own: &'a [PendingWrite], channel: &str) -> Option<&'a Value> {
    let found = own.iter().find(|row| *row.write.channel == *channel);
    found.map(|row| &row.write.value)
}

/// Returns the answers that a task has taken.
fn answers(own: &[PendingWrite]) -> List {
    let stored = value_at(own, reserved::RESUME).and_then(Value::as_array);
    stored.cloned().unwrap_or_default()
}

fn questions(own: &[PendingWrite]) -> List {
    let stored = value_at(own, reserved::INTERRUPT).and_then(Value::as_array);
    stored.cloned().unwrap_or_default()
}

fn has_id(question: &Value, id: &str) -> bool {
    question.get("id").and_then(Value::as_str) == Some(id)
}

/// Gives later questions of a task ids of their own: for LangGraph all have the id of the first.
fn number_questions(loaded: &Loaded, writes: &mut [PendingWrite]) {
    let mut asked: HashMap<TaskId, usize> = HashMap::new();
    for (task, own, status) in by_task(writes) {
        // What a task has finished with was answered, and that answer counts, too.
        let before = answers(own).len().saturating_sub(usize::from(status.finished));
        if before > 0 && !task.is_null() {
            asked.insert(task.clone(), before);
        }
    }
    for row in writes
        .iter_mut()
        .filter(|row| &*row.write.channel == reserved::INTERRUPT)
    {
        let (Some(before), Value::Array(questions)) = (asked.get(&row.task_id), &row.write.value) else {
            continue;
        };
        let ns = loaded.ns_of(row.task_id.as_str());
        let (first, own) = (question_id(&ns, 0), question_id(&ns, *before));
        let numbered = questions.iter().map(|question| match question {
            Value::Object(asked) if has_id(question, &first) => {
                let mut asked = asked.clone();
                asked.insert("id", own.as_str());
                Value::Object(asked)
            }
            other => other.clone(),
        });
        row.write.value = Value::Array(numbered.collect());
    }
}

/// Names what writes of before 2025 trigger as the programs of today do.
fn name_targets(leads: &BTreeMap<Name, Vec<Name>>, writes: &mut Vec<PendingWrite>) {
    let trigger = |node: &str| Name::from(format!("{BRANCH_TO}{node}"));
    let mut more = Vec::new();
    for row in writes.iter_mut().filter(|row| !row.task_id.is_null()) {
        let channel = row.write.channel.clone();
        let is_named = ["branch:", "start:"].iter().any(|kind| channel.starts_with(kind));
        if let Some(node) = node_of(&channel).filter(|_| is_named) {
            row.write.channel = trigger(node);
            continue;
        }
        // The node's own name says that it ran; which others that triggers, those have said that have seen it.
        let mut targets = leads.get(&channel).into_iter().flatten();
        if let Some(first) = targets.next() {
            row.write.channel = trigger(first);
        }
        more.extend(targets.map(|node| {
            let mut other = row.clone();
            other.write.channel = trigger(node);
            other
        }));
    }
    for mut row in more {
        let own = writes.iter().filter(|known| known.task_id == row.task_id);
        row.write.idx = own.map(|known| known.write.idx).max().unwrap_or(-1) + 1;
        writes.push(row);
    }
    sort(writes);
}

/// Orders writes as checkpoints have them: by (task path, task id, index).
fn sort(writes: &mut [PendingWrite]) {
    writes.sort_by(|a, b| {
        (&a.task_path, &a.task_id, a.write.idx).cmp(&(&b.task_path, &b.task_id, b.write.idx))
    });
}

impl Loaded {
    /// Returns the ids of the tasks that begin here, by their paths as text.
    fn given_tasks(&self) -> Object {
        let mut given = Object::new();
        for task in self.tasks().iter().filter(|task| !task.name.is_empty()) {
            let path = match task.path.at(1).and_then(Value::as_i64) {
                Some(place) => packet_path(place),
                None => format!("~__pregel_pull, {}", task.name),
            };
            given.insert(path, &task.id);
        }
        // Tasks that others called have no other place than their rows.
        for (task, path) in self
            .paths()
            .filter(|(_, path)| path.starts_with("~__pregel_push, ~"))
        {
            given.insert(path, task);
        }
        given
    }
}

impl ThreadView<'_> {
    /// Returns the whole checkpoint as a thread of our own has it: with the channels that trigger nodes.
    pub(super) fn portable(&self, loaded: &Loaded) -> Result<CheckpointTuple, Fault> {
        let mut tuple = self.tuple(loaded)?;
        let checkpoint = &mut tuple.checkpoint;
        let shown = checkpoint.channel_values.iter();
        let mut values: BTreeMap<Name, Value> =
            shown.map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, value) in loaded.triggers() {
            values.insert(name.clone(), listed(value));
        }
        if loaded.is_old() {
            let packets: List = loaded.packets().collect();
            if !packets.is_empty() {
                values.insert(PACKETS.into(), Value::Array(packets));
            }
            // Another one at every step: the packets, or that there are none, are always new.
            let version = checkpoint.metadata.next_step().saturating_add(1);
            let version = u64::try_from(version).unwrap_or(0).max(1);
            checkpoint.channel_versions.insert(PACKETS.into(), version);
        }
        checkpoint.channel_values = values.into_iter().collect();
        // Without it everything counts as changed, which a graph finds out by the versions.
        checkpoint.updated_channels = loaded.all_updated();
        // What a delta channel's snapshot has moved is nothing that a node has seen.
        let seen = checkpoint.versions_seen.iter();
        let seen = seen.filter(|(node, _)| &***node != BUMPS);
        checkpoint.versions_seen = seen.map(|(node, seen)| (node.clone(), seen.clone())).collect();
        checkpoint.metadata.user.insert(TASK_IDS, loaded.given_tasks());
        let writes = &mut tuple.pending_writes;
        name_targets(loaded.leads(), writes);
        number_questions(loaded, writes);
        self.hand_over(loaded, writes)?;
        Ok(tuple)
    }

    /// Gives the task that asked the answer which its program was given and had not come to use when it ended.
    fn hand_over(&self, loaded: &Loaded, writes: &mut Vec<PendingWrite>) -> Result<(), Fault> {
        let asking = by_task(writes).find_map(|(task, own, status)| {
            let (ns, answers) = (loaded.ns_of(task.as_str()), answers(own));
            let id = question_id(&ns, answers.len());
            let asks = status.interrupted && questions(own).iter().any(|question| has_id(question, &id));
            asks.then(|| (own[0].clone(), answers))
        });
        let Some((row, mut given)) = asking else {
            return Ok(());
        };
        let Some(answer) = self.unused_answer(loaded)? else {
            return Ok(());
        };
        given.push(answer);
        writes.retain(|known| known.task_id != row.task_id || &*known.write.channel != reserved::RESUME);
        writes.push(PendingWrite {
            write: Write {
                idx: write_index(reserved::RESUME, 0),
                channel: reserved::RESUME.into(),
                value: Value::Array(given),
            },
            ..row
        });
        sort(writes);
        Ok(())
    }

    /// Returns the answer that was stored for the one question of a step and that no task has taken. LangGraph stores it at
    /// the outermost graph, and leaves it there when a task takes it.
    fn unused_answer(&self, loaded: &Loaded) -> Result<Option<Value>, Fault> {
        let outermost = match &**loaded.place().0 {
            "" => None,
            _ => match loaded.outermost() {
                Some(id) => self.one("", Some(&id), Wanted::All)?,
                None => return Ok(None),
            },
        };
        let outermost = outermost.as_ref().unwrap_or(loaded);
        let rows = outermost.writes();
        let is_answer =
            |row: &&PendingWrite| row.task_id.is_null() && &*row.write.channel == reserved::RESUME;
        let Some(answer) = rows.iter().find(is_answer).map(|row| row.write.value.clone()) else {
            return Ok(None);
        };
        let waiting = by_task(&rows).filter(|(.., status)| status.interrupted);
        if waiting.map(|(_, own, _)| questions(own).len()).sum::<usize>() != 1 {
            return Ok(None);
        }
        let took = |rows: &[PendingWrite]| {
            by_task(rows).any(|(task, own, _)| !task.is_null() && answers(own).iter().last() == Some(&answer))
        };
        if took(&rows) {
            return Ok(None);
        }
        let places: Vec<String> = outermost
            .tasks()
            .iter()
            .map(|task| outermost.ns_of(task.id.as_str()))
            .collect();
        for ns in self.namespaces()? {
            let is_within = |place: &String| {
                let rest = ns.strip_prefix(place.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('|'))
            };
            if !places.iter().any(is_within) {
                continue;
            }
            let mut is_taken = false;
            self.walk(&ns, &ListQuery::new(), Wanted::All, |nested| {
                is_taken |= took(&nested.writes());
                Ok(!is_taken)
            })?;
            if is_taken {
                return Ok(None);
            }
        }
        Ok(Some(answer))
    }
}

/// Returns the value of a trigger with lists in the place of sets: the names of the nodes that a join has met.
fn listed(value: Value) -> Value {
    if let Value::Array(items) = value {
        return Value::Array(items.iter().cloned().map(listed).collect());
    }
    match value.get("items").and_then(Value::as_array) {
        Some(items) => {
            let mut names: Vec<Value> = items.iter().cloned().collect();
            names.sort_by_key(ToString::to_string);
            Value::Array(names.into_iter().collect())
        }
        None => value,
    }
}
