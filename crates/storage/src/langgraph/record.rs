//! A stored checkpoint, read without its values.

use std::collections::BTreeMap;

use superstep::checkpoint::{ChannelVersions, Metadata, Source, VersionsSeen};
use superstep::value::Object;
use superstep::{Name, Value};

use super::cipher::encrypted;
use super::classes::unreadable;
use super::encoded;
use super::msgpack;
use super::rows::Blob;
use super::tasks::packet;

/// The key of metadata that says what of a checkpoint cannot be read.
pub(super) const DAMAGE: &str = "damage";

/// The channel of packets for the next step.
pub(super) const PACKETS: &str = "__pregel_tasks";

/// A value as it is stored within a checkpoint.
#[derive(Clone, Debug)]
enum Part {
    /// Bytes of the checkpoint, from one place to another.
    Msgpack(usize, usize),
    Json(serde_json::Value),
    /// Stored beside the checkpoint.
    Beside(Blob),
}

/// Stored checkpoint, its values still encoded.
#[derive(Debug, Default)]
pub(super) struct Record {
    bytes: Vec<u8>,
    pub(super) ts: String,
    /// 1 and 2 of before 2025, 4 of later ones.
    pub(super) format: i64,
    values: Vec<(Name, Part)>,
    /// Values of channels that only trigger nodes.
    triggers: Vec<(Name, Part)>,
    packets: Vec<Part>,
    pub(super) versions: BTreeMap<Name, u64>,
    pub(super) seen: BTreeMap<Name, BTreeMap<Name, u64>>,
    pub(super) updated: Option<Vec<Name>>,
    /// Its versions are plain numbers.
    is_numbered: bool,
    /// What cannot be read of it.
    pub(super) damage: Option<String>,
}

impl Record {
    /// Reads what was stored; what cannot be read is noted as damage.
    pub(super) fn read(kind: &str, bytes: Vec<u8>) -> Self {
        let mut record = Self::default();
        let read = match kind {
            "msgpack" => record.read_msgpack(&bytes),
            "json" => encoded::parse(&bytes).and_then(|json| record.read_json(json)),
            _ if kind.contains('+') => Err(encrypted(kind)),
            "pickle" => Err("it is pickled, which is never followed".to_owned()),
            other => Err(format!("its encoding {other:?} is not known")),
        };
        record.damage = read.err();
        record.bytes = bytes;
        record.take_packets();
        record
    }

    /// Adds values that are stored beside the checkpoint, and packets that its parent's tasks stored for it.
    pub(super) fn add_blobs(&mut self, blobs: Vec<Blob>, sends: Vec<Blob>) {
        // What is stored in both places is what is beside it, as for the library.
        self.values
            .retain(|(name, _)| blobs.iter().all(|blob| blob.channel != *name));
        let beside = blobs
            .into_iter()
            .map(|blob| (blob.channel.clone(), Part::Beside(blob)));
        self.values.extend(beside);
        self.take_packets();
        if self.packets.is_empty() {
            self.packets = sends.into_iter().map(Part::Beside).collect();
        }
    }

    /// Takes the packets apart, where they are the value of a channel.
    fn take_packets(&mut self) {
        let found = self.values.iter().find(|(name, _)| &**name == PACKETS);
        let (true, Some((_, part))) = (self.packets.is_empty(), found) else {
            return;
        };
        self.packets = match part {
            Part::Msgpack(start, end) => {
                let base = self.bytes.as_ptr().addr();
                let items = self.bytes.get(*start..*end).map(msgpack::items);
                let items = items.and_then(Result::ok).unwrap_or_default().into_iter();
                let place = |item: &[u8]| item.as_ptr().addr() - base;
                items
                    .map(|item| Part::Msgpack(place(item), place(item) + item.len()))
                    .collect()
            }
            Part::Json(serde_json::Value::Array(items)) => items.iter().cloned().map(Part::Json).collect(),
            Part::Json(_) => Vec::new(),
            Part::Beside(blob) => match (&*blob.kind, &blob.bytes) {
                ("msgpack", Some(Ok(bytes))) => {
                    let items = msgpack::items(bytes).unwrap_or_default().into_iter();
                    let part = |item: &[u8]| {
                        Part::Beside(Blob {
                            size: item.len() as u64,
                            bytes: Some(Ok(item.into())),
                            ..blob.clone()
                        })
                    };
                    items.map(part).collect()
                }
                ("json", Some(Ok(bytes))) => match encoded::parse(bytes) {
                    Ok(serde_json::Value::Array(items)) => items.into_iter().map(Part::Json).collect(),
                    _ => Vec::new(),
                },
                _ => Vec::new(),
            },
        };
    }

    /// Creates the record of a row in which a column holds something else than a checkpoint.
    pub(super) fn damaged(reason: String) -> Self {
        Self {
            damage: Some(reason),
            ..Self::default()
        }
    }

    fn read_msgpack(&mut self, bytes: &[u8]) -> Result<(), String> {
        let part = |inner: &[u8]| {
            let start = inner.as_ptr().addr() - bytes.as_ptr().addr();
            Part::Msgpack(start, start + inner.len())
        };
        let mut raw = BTreeMap::new();
        for (key, value) in msgpack::entries(bytes)? {
            raw.insert(key, value);
        }
        if let Some(values) = raw.get("channel_values").filter(|value| !msgpack::is_null(value)) {
            for (name, value) in msgpack::entries(values)? {
                self.values.push((name.into(), part(value)));
            }
        }
        if let Some(sends) = raw.get("pending_sends").filter(|value| !msgpack::is_null(value)) {
            self.packets = msgpack::items(sends)?.into_iter().map(part).collect();
        }
        let small = |key: &str| {
            raw.get(key)
                .map_or(Ok(Value::Null), |value| msgpack::decode(value))
        };
        let fields = ["v", "ts", "channel_versions", "versions_seen", "updated_channels"];
        let [format, ts, versions, seen, updated] = fields;
        self.fill(
            &small(format)?,
            &small(ts)?,
            &small(versions)?,
            &small(seen)?,
            &small(updated)?,
        )
    }

    fn read_json(&mut self, mut json: serde_json::Value) -> Result<(), String> {
        let object = json.as_object_mut().ok_or("it is no object")?;
        if let Some(serde_json::Value::Object(values)) = object.remove("channel_values") {
            self.values = (values.into_iter())
                .map(|(name, value)| (name.into(), Part::Json(value)))
                .collect();
        }
        if let Some(serde_json::Value::Array(sends)) = object.remove("pending_sends") {
            self.packets = sends.into_iter().map(Part::Json).collect();
        }
        let small = |key: &str| object.get(key).map_or(Value::Null, encoded::of_json);
        self.fill(
            &small("v"),
            &small("ts"),
            &small("channel_versions"),
            &small("versions_seen"),
            &small("updated_channels"),
        )
    }

    fn fill(
        &mut self,
        format: &Value,
        ts: &Value,
        versions: &Value,
        seen: &Value,
        updated: &Value,
    ) -> Result<(), String> {
        self.format = format.as_i64().unwrap_or(1);
        self.ts = ts.as_str().unwrap_or_default().to_owned();
        let ranks = Ranks::of(versions, seen);
        let empty = Object::new();
        let versions = versions.as_object().unwrap_or(&empty);
        self.is_numbered = versions.iter().all(|(_, version)| version.as_u64().is_some());
        self.versions = versions
            .iter()
            .map(|(name, version)| (name.clone(), ranks.number(version)))
            .collect();
        let seen = seen.as_object().unwrap_or(&empty);
        for (node, versions) in seen.iter() {
            let versions = versions.as_object().unwrap_or(&empty).iter();
            let versions = versions.map(|(name, version)| (name.clone(), ranks.number(version)));
            self.seen.insert(node.clone(), versions.collect());
        }
        self.updated = updated.as_array().map(|names| {
            let names = names.iter().filter_map(Value::as_str);
            names.map(Name::from).collect()
        });
        match self.versions.is_empty() && self.values.is_empty() && self.ts.is_empty() {
            true => Err("it has none of the fields of a checkpoint".to_owned()),
            false => Ok(()),
        }
    }

    /// Returns whether a saver of JavaScript has stored it: for those versions are numbers still.
    pub(super) fn is_javascript(&self) -> bool {
        self.format >= 4 && self.is_numbered
    }

    fn part(&self, part: &Part) -> Value {
        match part {
            Part::Msgpack(start, end) => match self.bytes.get(*start..*end) {
                Some(bytes) => encoded::decode("msgpack", bytes),
                None => unreadable("it is outside of its checkpoint"),
            },
            Part::Json(json) => encoded::of_json(json),
            Part::Beside(blob) => match &blob.bytes {
                Some(Ok(bytes)) => encoded::decode(&blob.kind, bytes),
                Some(Err(reason)) => unreadable(reason.clone()),
                None => unreadable("it was not read"),
            },
        }
    }

    /// Returns the channels that have a value.
    pub(super) fn channels(&self) -> impl Iterator<Item = &Name> {
        self.values.iter().map(|(name, _)| name)
    }

    /// Takes the values of channels that only trigger nodes out of those that are shown.
    pub(super) fn leave_out(&mut self, channels: &[Name]) {
        let all = std::mem::take(&mut self.values).into_iter();
        (self.triggers, self.values) = all.partition(|(name, _)| channels.contains(name));
    }

    /// Decodes the values of channels that only trigger nodes.
    pub(super) fn triggers(&self) -> impl Iterator<Item = (&Name, Value)> {
        self.triggers.iter().map(|(name, part)| (name, self.part(part)))
    }

    /// Returns the bytes of the whole record.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes of each value, and whether it is stored beside the checkpoint.
    pub(super) fn sizes(&self) -> impl Iterator<Item = (&Name, u64, bool)> {
        self.values.iter().map(|(name, part)| match part {
            Part::Msgpack(start, end) => (name, (end - start) as u64, false),
            Part::Json(json) => (name, json.to_string().len() as u64, false),
            Part::Beside(blob) => (name, blob.size, true),
        })
    }

    /// Returns whether a channel has a value.
    pub(super) fn has(&self, channel: &str) -> bool {
        self.values.iter().any(|(name, _)| **name == *channel)
    }

    /// Decodes the value of a channel.
    pub(super) fn value(&self, channel: &str) -> Option<Value> {
        let (_, part) = self.values.iter().find(|(name, _)| **name == *channel)?;
        Some(match (self.part(part), channel) {
            (Value::Array(packets), PACKETS) => Value::Array(packets.iter().cloned().map(packet).collect()),
            (value, _) => value,
        })
    }

    /// Decodes the packets of the step that begins here.
    pub(super) fn packets(&self) -> impl Iterator<Item = Value> {
        self.packets.iter().map(|part| packet(self.part(part)))
    }

    pub(super) fn channel_versions(&self) -> ChannelVersions {
        self.versions
            .iter()
            .map(|(name, version)| (name.clone(), *version))
            .collect()
    }

    pub(super) fn versions_seen(&self) -> VersionsSeen {
        let seen = self.seen.iter();
        seen.map(|(node, versions)| {
            let versions = versions.iter().map(|(name, version)| (name.clone(), *version));
            (node.clone(), versions.collect::<ChannelVersions>())
        })
        .collect()
    }
}

/// Numbers for versions that are none: texts of a program's own are ranked by their order.
struct Ranks(Option<BTreeMap<String, u64>>);

/// Reads a version as LangGraph makes it: a number, or text that begins with one before a dot.
fn plain(version: &Value) -> Option<u64> {
    if let Some(number) = version.as_u64() {
        return Some(number);
    }
    if let Some(number) = version.as_f64().filter(|number| *number >= 0.0) {
        // Fractions keep their order.
        return Some((number * 1e6) as u64);
    }
    version.as_str()?.split('.').next()?.parse().ok()
}

impl Ranks {
    fn of(versions: &Value, seen: &Value) -> Self {
        let objects = |value: &Value| value.as_object().cloned().unwrap_or_default();
        let mut all: Vec<Value> = objects(versions)
            .iter()
            .map(|(_, version)| version.clone())
            .collect();
        for (_, versions) in objects(seen).iter() {
            all.extend(objects(versions).iter().map(|(_, version)| version.clone()));
        }
        if all
            .iter()
            .all(|version| plain(version).is_some() || version.is_null())
        {
            return Self(None);
        }
        let mut texts: Vec<String> = all.iter().map(ToString::to_string).collect();
        texts.sort();
        texts.dedup();
        Self(Some((1..).zip(texts).map(|(rank, text)| (text, rank)).collect()))
    }

    fn number(&self, version: &Value) -> u64 {
        match &self.0 {
            None => plain(version).unwrap_or(0),
            Some(ranks) => ranks.get(&version.to_string()).copied().unwrap_or(0),
        }
    }
}

/// Reads the metadata of a checkpoint; what cannot be read, of it or of the checkpoint, is noted in it.
pub(super) fn metadata(stored: Option<Result<&[u8], String>>, damage: Option<&str>) -> Metadata {
    let read = match stored {
        None => Ok(Value::Object(Object::new())),
        Some(bytes) => bytes.and_then(|bytes| encoded::parse(bytes).map(|json| encoded::of_json(&json))),
    };
    let mut reasons: Vec<String> = damage.map(str::to_owned).into_iter().collect();
    let mut fields = Object::new();
    match read {
        Ok(Value::Object(object)) => fields = object,
        Ok(_) => reasons.push("its metadata is no object".to_owned()),
        Err(reason) => reasons.push(format!("its metadata: {reason}")),
    }
    let source = match fields.get("source").and_then(Value::as_str) {
        Some("input") => Source::Input,
        Some("update") => Source::Update,
        Some("fork") => Source::Fork,
        _ => Source::Loop,
    };
    let step = fields.get("step").and_then(Value::as_i64).unwrap_or(0);
    let parents = fields
        .get("parents")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut user: Object = (fields.iter())
        .filter(|(key, _)| !matches!(&***key, "source" | "step" | "parents"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !reasons.is_empty() {
        user.insert(DAMAGE, reasons.join("; "));
    }
    Metadata {
        source,
        step,
        parents,
        user,
    }
}

#[cfg(test)]
mod tests {
    use superstep::json;

    use super::*;

    #[test]
    fn versions_of_any_kind_keep_their_order() {
        let numbers = |versions: Value| {
            let ranks = Ranks::of(&versions, &json!({}));
            let versions = versions.as_object().cloned().unwrap();
            versions
                .iter()
                .map(|(_, version)| ranks.number(version))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            numbers(json!({"a": "00000000000000000000000000000002.0.98", "b": 3, "c": null})),
            [2, 3, 0]
        );
        assert_eq!(numbers(json!({"a": 1.5, "b": 1.25})), [1_500_000, 1_250_000]);
        let own = numbers(json!({"a": "v-b", "b": "v-a", "c": "v-c"}));
        assert!(own[1] < own[0] && own[0] < own[2], "{own:?}");
    }

    #[test]
    fn metadata_of_any_kind_is_read() {
        let of = |text: &str| metadata(Some(Ok(text.as_bytes())), None);
        let read =
            of(r#"{"source": "update", "step": 3, "parents": {"": "x"}, "customer": "c", "score": NaN}"#);
        assert_eq!((read.source, read.step), (Source::Update, 3));
        assert_eq!(
            read.user,
            *json!({"customer": "c", "score": null}).as_object().unwrap()
        );
        for broken in ["{", "[1]", ""] {
            assert!(of(broken).user.contains_key(DAMAGE), "{broken}");
        }
        assert!(metadata(None, None).user.is_empty());
        let named = metadata(Some(Err("it is an integer".to_owned())), Some("it ends early"));
        assert_eq!(
            named.user.get(DAMAGE).and_then(Value::as_str),
            Some("it ends early; its metadata: it is an integer")
        );
    }
}
