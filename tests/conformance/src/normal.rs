//! Makes two records comparable, and nothing looser than that.
//!
//! Checkpoint, task, message and question ids become numbers by first appearance; times go; versions become ranks. Of
//! the events of one step only those that depend on which task is faster lose their order. Writes along edges of one
//! task, joins and names of what ran are sets.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

const NULL_TASK: &str = "00000000-0000-0000-0000-000000000000";

/// Converts the record to comparable form.
pub fn normalise(record: Value) -> Value {
    let mut names = Names::default();
    let Value::Array(entries) = record else {
        return record;
    };
    entries.into_iter().map(|entry| names.entry(entry)).collect()
}

/// Ids by first appearance.
#[derive(Default)]
struct Names {
    known: HashMap<String, String>,
    ids: usize,
    questions: usize,
}

/// Returns the length of the id that `text` begins with: a UUID, or the 32 digits of a question.
fn id_length(text: &[u8]) -> Option<usize> {
    let hex = |range: std::ops::Range<usize>| {
        text.get(range).is_some_and(|part| {
            part.iter()
                .all(|c| c.is_ascii_digit() || (b'a'..=b'f').contains(c))
        })
    };
    let uuid = hex(0..8)
        && [8, 13, 18, 23]
            .iter()
            .all(|place| text.get(*place) == Some(&b'-'))
        && hex(9..13)
        && hex(14..18)
        && hex(19..23)
        && hex(24..36);
    if uuid {
        Some(36)
    } else {
        (hex(0..32) && !hex(32..33)).then_some(32)
    }
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 19
        && bytes[4] == b'-'
        && bytes[10] == b'T'
        && bytes[13] == b':'
        && bytes[0].is_ascii_digit()
}

impl Names {
    /// Returns the text with ids replaced; unknown ones are numbered, or masked if `learn` is false. Durations are left
    /// out.
    fn rename(&mut self, text: &str, learn: bool) -> String {
        if let Some((before, after)) = text.split_once(" (elapsed: ")
            && let Some((_, after)) = after.split_once("s)")
        {
            return format!("{before}{after}");
        }
        if text.len() < 32 {
            return text.to_owned();
        }
        let bytes = text.as_bytes();
        let (mut out, mut from, mut place) = (String::new(), 0, 0);
        while place < bytes.len() {
            match id_length(&bytes[place..]) {
                Some(length) if &text[place..place + length] != NULL_TASK => {
                    out.push_str(&text[from..place]);
                    out.push_str(&self.name(&text[place..place + length], learn));
                    place += length;
                    from = place;
                }
                Some(length) => place += length,
                None => place += 1,
            }
        }
        out.push_str(&text[from..]);
        out
    }

    fn name(&mut self, id: &str, learn: bool) -> String {
        if let Some(known) = self.known.get(id) {
            return known.clone();
        }
        if !learn {
            return "<?>".into();
        }
        let name = if id.len() == 32 {
            self.questions += 1;
            format!("<q{}>", self.questions)
        } else {
            self.ids += 1;
            format!("<{}>", self.ids)
        };
        self.known.insert(id.to_owned(), name.clone());
        name
    }

    fn value(&mut self, value: &Value, learn: bool) -> Value {
        match value {
            Value::String(text) => self.rename(text, learn).into(),
            Value::Array(items) => items.iter().map(|item| self.value(item, learn)).collect(),
            Value::Object(fields) => {
                let mut keys: Vec<&String> = fields.keys().collect();
                keys.sort();
                let mut out = Map::new();
                for key in keys {
                    let field = &fields[key];
                    let time = matches!(key.as_str(), "created_at" | "timestamp" | "ts");
                    if time && field.as_str().is_some_and(is_time) {
                        continue;
                    }
                    // Some of LangGraph's forms show this field when it is not set, some do not.
                    if key == "response_schema" && field.is_null() {
                        continue;
                    }
                    let mut field = self.value(field, learn);
                    // Questions of one moment come in the order in which tasks reached them.
                    if key == "__interrupt__" && field.as_array().is_some_and(|list| list.len() > 1) {
                        sort(&mut field, |one| one.to_string());
                    }
                    out.insert(self.rename(key, learn), field);
                }
                out.into()
            }
            plain => plain.clone(),
        }
    }

    fn seen(&mut self, value: &Value) -> Value {
        self.value(value, true)
    }

    /// Formats a value with ids that are not known yet masked.
    fn masked(&mut self, value: &Value) -> String {
        self.value(value, false).to_string()
    }

    fn entry(&mut self, entry: Value) -> Value {
        let Value::Object(mut fields) = entry else {
            return entry;
        };
        let mut out = Map::new();
        if let Some(Value::Array(events)) = fields.remove("events") {
            let events: Vec<Event> = events.into_iter().filter_map(Event::read).collect();
            let mut lines = Vec::new();
            self.events(events, 0, &mut lines);
            out.insert("events".into(), lines.into());
        }
        if let Some(Value::Array(scopes)) = fields.remove("by_name") {
            out.insert("by_name".into(), self.by_name(scopes));
        }
        let threads = fields.remove("threads");
        for (key, value) in &mut fields {
            if matches!(key.as_str(), "ran" | "notes") {
                sort(value, |one| one.to_string());
            }
            let value = self.seen(value);
            out.insert(key.clone(), value);
        }
        if let Some(Value::Object(threads)) = threads {
            let mut seen = Map::new();
            for (thread, record) in threads {
                let history = self.seen(&record["history"]);
                let stored = self.stored(&record["stored"]);
                seen.insert(thread, json!({"history": history, "stored": stored}));
            }
            out.insert("threads".into(), seen.into());
        }
        out.into()
    }

    /// Sorts what each graph of a run projects, where several tasks raced: each projection by itself, and only states
    /// in order.
    fn by_name(&mut self, scopes: Vec<Value>) -> Value {
        let mut keyed: Vec<(String, Vec<Value>, Vec<Value>)> = Vec::new();
        for mut scope in scopes {
            let Value::Array(mut items) = scope[1].take() else {
                continue;
            };
            items.sort_by_cached_key(|item| {
                let name = item[0].as_str().unwrap_or_default().to_owned();
                let content = if name == "values" {
                    String::new()
                } else {
                    self.masked(&item[1])
                };
                (name, content)
            });
            let Value::Array(path) = scope[0].take() else {
                continue;
            };
            let key = self.masked(&json!([path, items]));
            keyed.push((key, path, items));
        }
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        keyed
            .into_iter()
            .map(|(_, path, items)| self.seen(&json!([path, items])))
            .collect()
    }

    /// Converts stored checkpoints, by namespace.
    fn stored(&mut self, spaces: &Value) -> Value {
        let mut left: Vec<(&String, &Value)> = spaces.as_object().into_iter().flatten().collect();
        let mut out = Map::new();
        // By name; what a name holds of ids that no space before it showed does not count, but what is stored there does.
        while let Some(next) = (0..left.len()).min_by_key(|place| {
            let (ns, space) = left[*place];
            (self.rename(ns, false), self.masked(space))
        }) {
            let (ns, space) = left.remove(next);
            let ns = self.rename(ns, true);
            let mut ranks: Vec<u64> = Vec::new();
            for one in space.as_array().into_iter().flatten() {
                versions(&one["channel_versions"], &mut ranks);
                for seen in one["versions_seen"].as_object().into_iter().flatten() {
                    versions(seen.1, &mut ranks);
                }
            }
            ranks.sort_unstable();
            ranks.dedup();
            let rank = |value: &Value| -> Value {
                let fields = value.as_object().into_iter().flatten();
                fields
                    .map(|(name, version)| {
                        let place = ranks
                            .binary_search(&version.as_u64().unwrap_or_default())
                            .unwrap_or_default();
                        (name.clone(), Value::from(format!("v{}", place + 1)))
                    })
                    .collect()
            };
            let checkpoints = space.as_array().into_iter().flatten().map(|one| {
                let mut one = one.clone();
                one["channel_versions"] = rank(&one["channel_versions"]);
                one["versions_seen"] = one["versions_seen"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(node, seen)| (node.clone(), rank(seen)))
                    .collect();
                barriers(&mut one["channel_values"]);
                let writes = self.writes(one["writes"].take());
                if let Value::Object(fields) = &mut one {
                    fields.remove("writes");
                }
                let mut one = self.seen(&one);
                one["writes"] = writes;
                one
            });
            out.insert(ns, checkpoints.collect::<Vec<_>>().into());
        }
        out.into()
    }

    /// Converts pending writes to `[task, channel, value]`, in reading order.
    fn writes(&mut self, rows: Value) -> Value {
        let Value::Array(rows) = rows else {
            return json!([]);
        };
        let mut tasks: Vec<(String, Vec<Value>)> = Vec::new();
        for row in rows {
            let task = row["task"].as_str().unwrap_or_default().to_owned();
            match tasks.iter_mut().find(|(known, _)| *known == task) {
                Some((_, rows)) => rows.push(row),
                None => tasks.push((task, vec![row])),
            }
        }
        let mut keyed: Vec<(String, String, Vec<Value>)> = Vec::new();
        for (task, mut rows) in tasks {
            rows.sort_by_key(|row| row["idx"].as_i64());
            // Edges of one node have no order among themselves, and neither have its joins.
            for prefix in ["branch:to:", "join:"] {
                let is_one = |row: &Value| {
                    row["channel"]
                        .as_str()
                        .is_some_and(|name| name.starts_with(prefix))
                };
                for rows in rows.chunk_by_mut(|a, b| is_one(a) && is_one(b)) {
                    rows.sort_by_key(|row| row["channel"].as_str().map(str::to_owned));
                }
            }
            let path = rows[0]["path"].as_str().unwrap_or_default().to_owned();
            let path = self.rename(&path, true);
            let content: Vec<Value> = rows
                .iter()
                .map(|row| json!([row["channel"], row["value"]]))
                .collect();
            keyed.push((path, self.masked(&Value::from(content)), rows));
            let _ = task;
        }
        keyed.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        let rows: Vec<Value> = keyed
            .into_iter()
            .flat_map(|(_, _, rows)| rows)
            .map(|row| self.seen(&json!([row["task"], row["path"], row["channel"], row["value"]])))
            .collect();
        rows.into()
    }

    /// Converts events of one namespace and of those below it.
    fn events(&mut self, events: Vec<Event>, depth: usize, out: &mut Vec<Value>) {
        let mut step: Vec<Event> = Vec::new();
        let (mut started, mut nodes) = (0, 0);
        for event in events {
            // Where several nodes run, what one of them calls begins whenever that node gets there.
            let races = event.is_call() && nodes > 1;
            if event.ns.len() > depth || !event.is_barrier() || races {
                step.push(event);
                continue;
            }
            let ended = !step.is_empty();
            self.step(std::mem::take(&mut step), depth, started, out);
            started = if event.is_start() { started + 1 } else { 0 };
            nodes = match (event.is_start(), ended) {
                (false, _) => 0,
                (true, true) => usize::from(!event.is_call()),
                (true, false) => nodes + usize::from(!event.is_call()),
            };
            out.push(self.event(&event));
        }
        self.step(step, depth, started, out);
    }

    /// Converts the events between two barriers.
    fn step(&mut self, events: Vec<Event>, depth: usize, started: usize, out: &mut Vec<Value>) {
        if started == 1 {
            // A single task: nothing races.
            for run in chunks(events, depth) {
                if run[0].ns.len() > depth {
                    self.events(run, depth + 1, out);
                } else {
                    out.extend(run.iter().map(|event| self.event(event)).collect::<Vec<_>>());
                }
            }
            return;
        }
        let mut own: Vec<Event> = Vec::new();
        let mut below: Vec<(String, Vec<Event>)> = Vec::new();
        for event in events {
            match event.ns.get(depth) {
                None => own.push(event),
                Some(segment) => match below.iter_mut().find(|(known, _)| known == segment) {
                    Some((_, list)) => list.push(event),
                    None => below.push((segment.clone(), vec![event])),
                },
            }
        }
        let mut keyed: Vec<(String, Vec<Event>)> = below
            .into_iter()
            .map(|(segment, list)| {
                let inner: Vec<Value> = list
                    .iter()
                    .map(|event| json!([event.ns, event.mode, event.payload]))
                    .collect();
                (self.rename(&segment, false) + &self.masked(&inner.into()), list)
            })
            .collect();
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        for (_, list) in keyed {
            self.events(list, depth + 1, out);
        }
        // Mode by mode, because the questions of equal tasks are distinguished once their ends have named them.
        own.sort_by(|a, b| a.mode.cmp(&b.mode));
        for events in own.chunk_by_mut(|a, b| a.mode == b.mode) {
            events.sort_by_cached_key(|event| self.masked(&event.payload));
            out.extend(events.iter().map(|event| self.event(event)));
        }
    }

    fn event(&mut self, event: &Event) -> Value {
        let ns: Vec<String> = event
            .shown
            .iter()
            .map(|segment| self.rename(segment, true))
            .collect();
        let payload = self.seen(&event.payload);
        if ns.is_empty() {
            json!([event.mode, payload])
        } else {
            json!([event.mode, payload, ns])
        }
    }
}

/// Splits at each change between this namespace and one below it.
fn chunks(events: Vec<Event>, depth: usize) -> Vec<Vec<Event>> {
    let mut runs: Vec<Vec<Event>> = Vec::new();
    for event in events {
        let segment = event.ns.get(depth).cloned();
        match runs.last_mut() {
            Some(run) if run[0].ns.get(depth).cloned() == segment => run.push(event),
            _ => runs.push(vec![event]),
        }
    }
    runs
}

fn versions(value: &Value, into: &mut Vec<u64>) {
    into.extend(
        value
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(_, version)| version.as_u64()),
    );
}

fn sort<K: Ord>(value: &mut Value, key: impl FnMut(&Value) -> K) {
    if let Value::Array(items) = value {
        items.sort_by_cached_key(key);
    }
}

/// Joins hold sets.
fn barriers(values: &mut Value) {
    let Value::Object(values) = values else { return };
    for (name, value) in values {
        if name.starts_with("join:") {
            sort(
                value
                    .pointer_mut("/0")
                    .filter(|first| first.is_array())
                    .unwrap_or(&mut Value::Null),
                |one| one.to_string(),
            );
            if value.pointer("/0").is_some_and(Value::is_string) {
                sort(value, |one| one.to_string());
            }
        }
    }
}

struct Event {
    /// The graph that it is about.
    ns: Vec<String>,
    /// The namespace that it shows.
    shown: Vec<String>,
    mode: String,
    payload: Value,
}

impl Event {
    fn read(event: Value) -> Option<Event> {
        let segments = |path: &Value| -> Option<Vec<String>> {
            let texts = path.as_array()?.iter().filter_map(Value::as_str);
            Some(texts.map(str::to_owned).collect())
        };
        let shown = segments(&event[0])?;
        // Where a graph begins and ends is reported at the root, among the events of that graph.
        let about = (event[1] == "lifecycle").then(|| segments(&event[2]["data"]["namespace"]));
        Some(Event {
            ns: about.flatten().unwrap_or_else(|| shown.clone()),
            shown,
            mode: event[1].as_str()?.to_owned(),
            payload: event[2].clone(),
        })
    }
    /// Returns the content of the event, without the wrapping of the protocol and without the envelope of `debug`.
    fn data(&self) -> &Value {
        let reported = self.payload.get("data").unwrap_or(&self.payload);
        match self.mode.as_str() {
            "debug" => &reported["payload"],
            _ => reported,
        }
    }
    fn is_start(&self) -> bool {
        matches!(self.mode.as_str(), "tasks" | "debug") && self.data().get("triggers").is_some()
    }
    /// Returns whether the event is the start of a task that another one called: it shows its arguments, by position
    /// and by name.
    fn is_call(&self) -> bool {
        let data = self.data();
        let pushed = data["triggers"] == json!(["__pregel_push"]);
        let arguments = data["input"].as_array().map(Vec::as_slice);
        pushed && matches!(arguments, Some([Value::Array(_), Value::Object(_)]))
    }
    /// Returns whether everything before the event comes before everything after it, whichever task is faster.
    fn is_barrier(&self) -> bool {
        match self.mode.as_str() {
            "values" => {
                let asks = self.payload.get("interrupts").and_then(Value::as_array);
                self.payload.get("__interrupt__").is_none() && asks.is_none_or(Vec::is_empty)
            }
            "checkpoints" => true,
            "debug" => self.payload.get("data").unwrap_or(&self.payload)["type"] != "task_result",
            "tasks" => self.is_start(),
            _ => false,
        }
    }
}
