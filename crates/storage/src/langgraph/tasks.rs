//! The tasks that begin at a checkpoint, as far as its database shows them: packets, nodes whose triggers are newer than what
//! they have seen, and every task that stored something.
//!
//! LangGraph makes the id of a task of its checkpoint, step, node and triggers. Where a row does not say whose it is, as
//! those of before 2026, the id of a node that is known is made again and compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sha1::{Digest, Sha1};
use superstep::checkpoint::{ForeignTask, TaskId};
use superstep::value::List;
use superstep::{Name, Value};

use super::record::Record;

const PULL: &str = "__pregel_pull";
const PUSH: &str = "__pregel_push";
const START: &str = "__start__";
/// Beginning of the path of a node's task, and of an edit's, as rows have them.
const PULLED: &str = "~__pregel_pull, ";
const EDITED: &str = "~__interrupt__";
const ARGS: &str = "args";
/// Entry of what was seen in which LangGraph notes, as `NODE|CHANNEL`, that a node is to take a delta channel's snapshot as
/// seen. The channel does not trigger it.
pub(super) const BUMPS: &str = "__snapshot_bumps__";
pub(super) const BRANCH_TO: &str = "branch:to:";

/// Returns the node that a trigger channel names.
pub(super) fn node_of(channel: &str) -> Option<&str> {
    if let Some(node) = channel.strip_prefix(BRANCH_TO) {
        return Some(node);
    }
    let kinds = ["branch:", "join:", "start:"];
    let rest = kinds.iter().find_map(|kind| channel.strip_prefix(kind))?;
    rest.rsplit(':')
        .next()
        .filter(|node| !node.is_empty() && !node.starts_with("__"))
}

/// Nodes of a namespace, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// The channels that triggered each.
    triggers: BTreeMap<Name, BTreeSet<Name>>,
    /// The same of other threads.
    others: BTreeMap<Name, BTreeSet<Name>>,
    /// Nodes by their tasks that ran a graph: the graph's namespace names both.
    graphs: BTreeMap<String, Name>,
}

/// Returns the nodes that a checkpoint names, with channels that trigger them.
fn triggers_of(record: &Record) -> Vec<(Name, Vec<Name>)> {
    let is_node = |node: &Name| !node.starts_with("__") || &**node == START;
    let bumps = record.seen.get(BUMPS);
    let seen = record.seen.iter().filter(|(node, _)| is_node(node));
    let mut found: Vec<(Name, Vec<Name>)> = seen
        .map(|(node, versions)| {
            let is_bump = |channel: &&Name| {
                bumps.is_some_and(|bumps| bumps.contains_key(format!("{node}|{channel}").as_str()))
            };
            let triggers = versions.keys().filter(|channel| !is_bump(channel));
            (node.clone(), triggers.cloned().collect())
        })
        .collect();
    for channel in record.versions.keys() {
        if let Some(node) = node_of(channel) {
            found.push((node.into(), vec![channel.clone()]));
        }
    }
    if record.has(START) {
        found.push((START.into(), vec![START.into()]));
    }
    found
}

impl Nodes {
    /// Adds the tasks and nodes that a checkpoint names.
    pub(super) fn learn(&mut self, record: &Record) {
        for (node, channels) in triggers_of(record) {
            self.triggers.entry(node).or_default().extend(channels);
        }
    }

    /// Adds the tasks that a checkpoint of another thread names; it may be of another program, and names tasks only.
    pub(super) fn learn_other(&mut self, record: &Record) {
        for (node, channels) in triggers_of(record) {
            self.others.entry(node).or_default().extend(channels);
        }
    }

    /// Adds the task that a namespace within this one names.
    pub(super) fn learn_graph(&mut self, ns: &str, nested: &str) {
        let rest = match ns {
            "" => Some(nested),
            ns => nested.strip_prefix(ns).and_then(|rest| rest.strip_prefix('|')),
        };
        let first = rest.and_then(|rest| rest.split('|').next()).unwrap_or_default();
        if let Some((node, task)) = first.rsplit_once(':') {
            self.graphs.insert(task.to_owned(), node.into());
        }
    }

    /// Returns the nodes that each channel has triggered.
    pub(super) fn leads(&self) -> BTreeMap<Name, Vec<Name>> {
        let mut leads: BTreeMap<Name, Vec<Name>> = BTreeMap::new();
        for (node, channels) in self.triggers.iter().filter(|(node, _)| &***node != START) {
            // A join is met by all of its nodes, and says so itself.
            for channel in channels.iter().filter(|channel| !channel.starts_with("join:")) {
                leads.entry(channel.clone()).or_default().push(node.clone());
            }
        }
        leads
    }

    /// Returns whether a channel only triggers nodes, in a checkpoint of this format.
    pub(super) fn is_trigger(&self, channel: &str, format: i64) -> bool {
        let named = ["branch:", "join:", "start:"];
        named.iter().any(|kind| channel.starts_with(kind))
            || (format < 4 && self.triggers.contains_key(channel))
    }
}

/// A checkpoint whose tasks are looked for.
pub(super) struct Step<'a> {
    pub(super) record: &'a Record,
    pub(super) ns: &'a str,
    pub(super) id: &'a str,
    /// The step of its tasks.
    pub(super) number: i64,
    /// Its rows' tasks, each once, with its path where the row has one.
    pub(super) stored: &'a [(String, String)],
    pub(super) nodes: &'a Nodes,
    /// Nodes of tasks that asked something, by their ids, where the question says so.
    pub(super) asked: &'a BTreeMap<String, Name>,
}

/// Formats 16 bytes as LangGraph writes ids.
fn uuid_of(bytes: [u8; 16]) -> String {
    uuid::Uuid::from_bytes(bytes).hyphenated().to_string()
}

/// Makes the id of version 5 that a name has below another id.
fn named_uuid(space: &uuid::Uuid, name: &str) -> String {
    let mut bytes = [0; 16];
    let hash = Sha1::new().chain_update(space.as_bytes()).chain_update(name);
    bytes.copy_from_slice(&hash.finalize()[..16]);
    let id = uuid::Builder::from_sha1_bytes(bytes).into_uuid();
    id.hyphenated().to_string()
}

/// Brings a packet of JavaScript into the form of the others: `{node, args}` into `{node, arg}`.
pub(super) fn packet(value: Value) -> Value {
    match value {
        Value::Object(mut packet) if packet.contains_key("node") && packet.contains_key(ARGS) => {
            if let Some(given) = packet.remove(ARGS) {
                packet.insert("arg", given);
            }
            Value::Object(packet)
        }
        other => other,
    }
}

impl Step<'_> {
    /// Makes the ids that a task has, by the hash of today, by that of before 2025, and by that of JavaScript.
    fn ids(&self, node: &str, kind: &str, rest: &[String]) -> Option<[String; 3]> {
        let checkpoint = uuid::Uuid::parse_str(self.id).ok()?;
        let javascript = self.javascript_id(&checkpoint, node, kind, rest);
        let mut text = checkpoint.as_bytes().to_vec();
        if !self.ns.is_empty() {
            text.extend(self.ns.as_bytes());
            text.push(b'|');
        }
        text.extend(node.as_bytes());
        text.extend(self.number.to_string().as_bytes());
        for part in [node, kind].into_iter().chain(rest.iter().map(String::as_str)) {
            text.extend(part.as_bytes());
        }
        let today = uuid_of(xxhash_rust::xxh3::xxh3_128(&text).to_be_bytes());
        let mut before = [0; 16];
        before.copy_from_slice(&Sha1::digest(&text)[..16]);
        Some([today, uuid_of(before), javascript])
    }

    /// Makes the id that a task has in JavaScript: of the text of a list as JSON, and with the one channel that triggered it.
    fn javascript_id(&self, checkpoint: &uuid::Uuid, node: &str, kind: &str, rest: &[String]) -> String {
        let place = match self.ns {
            "" => node.to_owned(),
            ns => format!("{ns}|{node}"),
        };
        let step = self.number.to_string();
        let list = match (kind, rest) {
            (PUSH, [index]) => serde_json::json!([place, step, node, kind, index]),
            _ => serde_json::json!([place, step, node, kind, rest]),
        };
        named_uuid(checkpoint, &list.to_string())
    }

    /// Makes the ids under which edits of the state are stored, which are no tasks.
    fn edits(&self) -> Vec<String> {
        let Ok(checkpoint) = uuid::Uuid::parse_str(self.id) else {
            return Vec::new();
        };
        let id = |name: &str| named_uuid(&checkpoint, name);
        vec![id("__interrupt__"), id("__input__")]
    }

    /// Returns whether something was stored for a task.
    fn has_rows(&self, id: &str) -> bool {
        self.stored.iter().any(|(stored, _)| stored == id)
    }

    /// Chooses the id under which something is stored, or else the one that the program makes.
    fn choose(&self, ids: Option<[String; 3]>, fallback: impl FnOnce() -> String) -> String {
        let Some(ids) = ids else { return fallback() };
        let stored = ids.iter().position(|id| self.has_rows(id));
        let made = if self.record.is_javascript() { 2 } else { 0 };
        let [today, before, javascript] = ids;
        match stored.unwrap_or(made) {
            0 => today,
            1 => before,
            _ => javascript,
        }
    }

    /// Returns the lists of triggers from which the id of a node's task may be made, the likeliest first.
    fn triggers(&self, node: &str, known: Option<&BTreeSet<Name>>) -> Vec<Vec<String>> {
        let all: Vec<String> = known
            .into_iter()
            .flatten()
            .map(|channel| channel.to_string())
            .collect();
        let is_newer = |channel: &&String| self.is_newer(node, channel);
        let newer: Vec<String> = all.iter().filter(is_newer).cloned().collect();
        // Of a node that waits for others this one may never have had a version.
        let mut named = all.clone();
        named.push(format!("{BRANCH_TO}{node}"));
        named.sort();
        named.dedup();
        let mut lists = match (self.record.format, node) {
            // One channel has triggered it; a node's own comes first.
            (4.., _) if self.record.is_javascript() => {
                let own = format!("{BRANCH_TO}{node}");
                let mut newer = newer;
                newer.sort_by_key(|channel| *channel != own);
                newer.into_iter().map(|channel| vec![channel]).collect()
            }
            (4.., START) => vec![all.clone()],
            // An entry point has no other trigger than the input.
            (4.., _) if all.iter().any(|channel| channel == START) => vec![all.clone()],
            (4.., _) => vec![named, all.clone(), newer],
            _ => vec![newer, all.clone()],
        };
        lists.extend(all.into_iter().map(|channel| vec![channel]));
        lists.retain(|list| !list.is_empty());
        lists
    }

    fn is_newer(&self, node: &str, channel: &str) -> bool {
        let version = self.record.versions.get(channel).copied().unwrap_or(0);
        let seen = self
            .record
            .seen
            .get(node)
            .and_then(|seen| seen.get(channel))
            .copied();
        self.is_available(channel) && seen.is_none_or(|seen| version > seen)
    }

    /// Returns whether a channel can trigger a node: it has a value, and where it waits for several nodes all have come.
    fn is_available(&self, channel: &str) -> bool {
        if !self.record.has(channel) {
            return false;
        }
        let waits = channel.starts_with(BRANCH_TO) || channel.starts_with("join:");
        let Some(value) = self.record.value(channel).filter(|_| waits) else {
            return true;
        };
        // A node that is put off waits with its trigger until everything else has ended.
        let (value, ended) = match &value {
            Value::Array(pair)
                if pair.len() == 2 && pair.get(1).is_some_and(|end| end.as_bool().is_some()) =>
            {
                let ended = pair.get(1).and_then(Value::as_bool) == Some(true);
                (pair.get(0).cloned().unwrap_or_default(), ended)
            }
            _ => (value, true),
        };
        let Some(names) = channel
            .strip_prefix("join:")
            .and_then(|rest| rest.rsplit_once(':'))
        else {
            return ended;
        };
        let came = value
            .get("items")
            .unwrap_or(&value)
            .as_array()
            .map_or(0, List::len);
        ended && came == names.0.split('+').count()
    }

    /// Finds the node whose task has this id.
    fn named(&self, id: &str) -> Option<Name> {
        let is_it = |node: &Name, known: &BTreeSet<Name>| {
            let lists = self.triggers(node, Some(known));
            lists.iter().any(|list| {
                let ids = self.ids(node, PULL, list);
                ids.is_some_and(|ids| ids.iter().any(|own| own == id))
            })
        };
        if let Some(node) = self.asked.get(id).or_else(|| self.nodes.graphs.get(id)) {
            return Some(node.clone());
        }
        let known = self.nodes.triggers.iter().chain(&self.nodes.others);
        let found = known.into_iter().find(|(node, known)| is_it(node, known));
        found.map(|(node, _)| node.clone())
    }

    fn packets(&self) -> Vec<ForeignTask> {
        let packet = |(place, packet): (usize, Value)| {
            let node: Name = packet
                .get("node")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .into();
            let path = push_path(place);
            let by_path = self.stored.iter().find(|(_, stored)| is_packet(stored, place));
            let id = match by_path {
                Some((id, _)) => id.clone(),
                None => {
                    let ids = self.ids(&node, PUSH, &[place.to_string()]);
                    self.choose(ids, || format!("packet {place}"))
                }
            };
            ForeignTask {
                id: TaskId::from(id),
                name: node,
                path: Value::Array([PUSH.into(), Value::from(path)].into_iter().collect()),
                packet: Some(packet.get("arg").cloned().unwrap_or_default()),
                graph: None,
            }
        };
        self.record.packets().enumerate().map(packet).collect()
    }

    /// Returns whether the input goes to an entry point, which takes it itself: no task of the name of the input's channel hands it
    /// on, as in graphs.
    fn has_entry_point(&self) -> bool {
        let others = || self.nodes.triggers.iter().filter(|(node, _)| ***node != *START);
        let mut stored = self
            .stored
            .iter()
            .filter_map(|(_, path)| path.strip_prefix(PULLED));
        others().any(|(_, channels)| channels.contains(START))
            // Before its first run has ended only the rows say so: of a graph nothing but its start is due then.
            || (self.record.seen.keys().all(|node| node.starts_with("__") && **node != *START)
                && self.record.versions.keys().all(|channel| **channel == *START)
                && stored.clone().count() > 0
                && stored.all(|node| node != START))
    }

    /// Finds the tasks: packets in their order, then nodes by name.
    pub(super) fn tasks(&self) -> Vec<ForeignTask> {
        let mut tasks = self.packets();
        let mut due: BTreeMap<Name, Option<String>> = BTreeMap::new();
        let has_entry_point = self.has_entry_point();
        for (node, channels) in &self.nodes.triggers {
            if has_entry_point && **node == *START {
                continue;
            }
            if channels.iter().any(|channel| self.is_newer(node, channel)) {
                due.insert(node.clone(), None);
            }
        }
        let edits = self.edits();
        let mut unnamed = Vec::new();
        for (id, path) in self.stored {
            let is_known = tasks.iter().any(|task| task.id.as_str() == id) || edits.contains(id);
            // Calls are part of the task that made them, and several edits at once are no tasks.
            if is_known || path.starts_with("~__pregel_push") || path.starts_with(EDITED) {
                continue;
            }
            let node = path.strip_prefix(PULLED).map(Name::from);
            match node.or_else(|| self.named(id)) {
                Some(node) => drop(due.insert(node, Some(id.clone()))),
                None => unnamed.push(id.clone()),
            }
        }
        // One that is due and has stored nothing is the one whose rows do not say whose they are.
        let mut open = due.iter_mut().filter(|(_, id)| id.is_none());
        if let ([id], Some((_, place)), None) = (&unnamed[..], open.next(), open.next()) {
            *place = Some(id.clone());
            unnamed.clear();
        }
        for (node, id) in due {
            let id = id.unwrap_or_else(|| {
                let lists = self.triggers(&node, self.nodes.triggers.get(&node));
                let ids = lists.first().and_then(|list| self.ids(&node, PULL, list));
                self.choose(ids, || format!("task of {node}"))
            });
            tasks.push(pull(id, node));
        }
        tasks.extend(unnamed.into_iter().map(|id| pull(id, "".into())));
        tasks
    }
}

fn pull(id: String, name: Name) -> ForeignTask {
    ForeignTask {
        id: TaskId::from(id),
        path: Value::Array([PULL.into(), Value::String(name.clone())].into_iter().collect()),
        name,
        packet: None,
        graph: None,
    }
}

/// Returns the path of a packet's task as text.
pub(super) fn packet_path(place: i64) -> String {
    format!("~__pregel_push, {place:010}, {:010}", 0)
}

fn push_path(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// Returns whether a stored path is that of a packet of the step.
fn is_packet(path: &str, place: usize) -> bool {
    let own = format!("~__pregel_push, {place:010}");
    path.strip_prefix(&own)
        .is_some_and(|rest| rest.is_empty() || rest == ", 0000000000")
}

/// Returns the paths of tasks as rows have them, by task: for rows that have none.
pub(super) fn paths(tasks: &[ForeignTask]) -> HashMap<&str, Name> {
    let path = |task: &ForeignTask| -> Name {
        match task.path.at(1) {
            Some(Value::Number(place)) => packet_path(place.as_i64().unwrap_or(0)).into(),
            _ if task.name.is_empty() => "".into(),
            _ => format!("~__pregel_pull, {}", task.name).into(),
        }
    };
    tasks.iter().map(|task| (task.id.as_str(), path(task))).collect()
}
