//! JSON Schemas as values are checked against them: within bounds, because a schema may come from anybody.
//!
//! A schema that leads to itself in several ways is looked through once for each way, which takes a time that doubles with
//! every level of the value. What a check would take is counted before it is begun; each place of such a schema and each
//! part of the value are counted together only once, so the count itself is quick.

use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::Value as Json;

/// Most steps of a check.
const STEPS: u64 = 5_000_000;
/// Most pairs of a referenced schema and a part of the value that are counted.
const PAIRS: usize = 500_000;
/// References among themselves, at most, that need no count: one can only lead to itself once.
const HARMLESS: usize = 1;
/// Longest pattern. Larger ones take seconds to read.
const PATTERN: usize = 10_000;
/// Size of a value, in parts and bytes of text, that is checked at once.
const QUICK: usize = 2_000;
/// Size of a schema with its references followed, at most, that needs no count.
const SMALL: u64 = 10_000;

/// A schema that values are checked against.
#[derive(Debug)]
pub struct SchemaValidator {
    validator: Validator,
    /// None when every check is as quick as the schema and the value are small.
    count: Option<Box<StepCounter>>,
}

/// A violation of the schema by a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value, as a JSON Pointer.
    pub path: String,
    /// What is wrong.
    pub cause: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.path {
            "" => f.write_str(&self.cause),
            path => write!(f, "{} (at {path})", self.cause),
        }
    }
}

impl SchemaValidator {
    /// Compiles a schema; an error says why it is none.
    pub fn new(schema: &Json) -> Result<Self, String> {
        Self::of(schema, jsonschema::options())
    }

    /// Compiles a schema of what people fill in, whose formats are checked.
    pub fn form(schema: &Json) -> Result<Self, String> {
        Self::of(schema, jsonschema::options().should_validate_formats(true))
    }

    fn of(schema: &Json, options: jsonschema::ValidationOptions) -> Result<Self, String> {
        if has_long_pattern(schema) {
            return Err(format!("a pattern is longer than {PATTERN} characters"));
        }
        let validator = options.build(schema).map_err(|error| error.to_string())?;
        Ok(Self {
            validator,
            count: StepCounter::of(schema).map(Box::new),
        })
    }

    /// Returns whether the value fits. One that takes too long to check does not.
    pub fn fits(&self, value: &Json) -> bool {
        self.aside(value, || {
            self.too_much(value).is_none() && self.validator.is_valid(value)
        })
    }

    /// Returns the first thing that is wrong with the value.
    pub fn misfit(&self, value: &Json) -> Option<Violation> {
        self.misfits(value, 1).into_iter().next()
    }

    /// Returns the first few things that are wrong with the value, `most` at most.
    pub fn misfits(&self, value: &Json, most: usize) -> Vec<Violation> {
        self.aside(value, || self.found(value, most))
    }

    /// Checks where others do not wait for it: a check may take seconds, and the threads that runs and requests share are
    /// few. Where there is only one such thread, the check takes it.
    fn aside<T>(&self, value: &Json, check: impl FnOnce() -> T) -> T {
        use tokio::runtime::{Handle, RuntimeFlavor};
        let may_be_long = self.count.is_some() || size(value, QUICK) == 0;
        let several =
            || Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread);
        match may_be_long && several() {
            true => tokio::task::block_in_place(check),
            false => check(),
        }
    }

    fn found(&self, value: &Json, most: usize) -> Vec<Violation> {
        if let Some(misfit) = self.too_much(value) {
            return vec![misfit];
        }
        let errors = self.validator.iter_errors(value).take(most);
        let misfit = |error: jsonschema::ValidationError<'_>| Violation {
            path: error.instance_path().to_string(),
            cause: error.to_string(),
        };
        errors.map(misfit).collect()
    }

    fn too_much(&self, value: &Json) -> Option<Violation> {
        let steps = self.count.as_ref()?.steps(value);
        (steps > STEPS).then(|| Violation {
            path: String::new(),
            cause: format!(
                "the value cannot be checked in {STEPS} steps, because the schema leads to itself in several ways; \
                 let the branches of its `anyOf` or `oneOf` differ by type, or remove the schema"
            ),
        })
    }
}

fn has_long_pattern(schema: &Json) -> bool {
    let mut left = vec![schema];
    while let Some(part) = left.pop() {
        match part {
            Json::Object(words) => {
                let pattern = words.get("pattern").and_then(Json::as_str);
                let named = words.get("patternProperties").and_then(Json::as_object);
                let mut all = pattern.into_iter().chain(
                    named
                        .into_iter()
                        .flat_map(|named| named.keys().map(String::as_str)),
                );
                if all.any(|pattern| pattern.len() > PATTERN) {
                    return true;
                }
                let schemas = words.iter().filter(|(word, _)| !PLAIN.contains(&word.as_str()));
                left.extend(schemas.map(|(_, part)| part));
            }
            Json::Array(parts) => left.extend(parts),
            _ => {}
        }
    }
    false
}

/// Returns what remains of `left` after the size of the value; nothing is looked at once it is used up.
fn size(value: &Json, left: usize) -> usize {
    let left = left.saturating_sub(1);
    match value {
        _ if left == 0 => 0,
        Json::String(text) => left.saturating_sub(text.len()),
        Json::Array(items) => items.iter().fold(left, |left, item| size(item, left)),
        Json::Object(fields) => fields.iter().fold(left, |left, (name, field)| {
            size(field, left.saturating_sub(name.len()))
        }),
        _ => left,
    }
}

/// Keywords that hold schemas of the same value.
const HERE: [&str; 6] = ["allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas"];
/// More of them.
const HERE_TOO: [&str; 3] = ["then", "else", "dependencies"];
/// Keywords that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords that look a second time at what is beside them.
const AGAIN: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
/// Keywords whose content is no schema.
const PLAIN: [&str; 5] = ["enum", "const", "default", "examples", "required"];

/// Counter of the steps of checks.
#[derive(Debug)]
struct StepCounter {
    schema: Json,
    /// Pointers to what has a name, by that name.
    names: HashMap<String, String>,
}

impl StepCounter {
    /// Creates the counter; None for a schema that needs no count.
    fn of(schema: &Json) -> Option<Self> {
        let mut names = HashMap::new();
        let (mut references, mut again) = (0, 0);
        let mut left = vec![(String::new(), schema)];
        while let Some((pointer, part)) = left.pop() {
            for (name, part) in members(part) {
                let word = name.as_deref().unwrap_or_default();
                if REFERENCES.contains(&word) && part.is_string() {
                    references += 1;
                }
                again += usize::from(AGAIN.contains(&word));
                if let ("$anchor" | "$dynamicAnchor", Some(anchor)) = (word, part.as_str()) {
                    names.insert(format!("#{anchor}"), pointer.clone());
                } else if let ("$id", Some(id)) = (word, part.as_str()) {
                    names.insert(id.to_owned(), pointer.clone());
                }
                if PLAIN.contains(&word) {
                    continue;
                }
                let step = name.as_deref().map(superstep_document::escape_pointer);
                let below = format!("{pointer}/{}", step.unwrap_or_default());
                left.push((below, part));
            }
        }
        if references == 0 && again <= 1 {
            return None;
        }
        let count = Self {
            schema: schema.clone(),
            names,
        };
        let needs = again > 1 || count.is_tangled();
        needs.then_some(count)
    }

    /// Returns whether more than one reference leads back to itself, or following them makes the schema large.
    fn is_tangled(&self) -> bool {
        let mut walk = Walk {
            count: self,
            sizes: HashMap::new(),
            circles: 0,
        };
        let size = walk.size(&self.schema);
        walk.circles > HARMLESS || size > SMALL
    }

    /// Returns the schema that a reference means. One that is not found here may mean any, so it means them all.
    fn referred(&self, reference: &str) -> &Json {
        let pointer = match self.names.get(reference) {
            Some(pointer) => pointer.clone(),
            None => decoded(reference.strip_prefix('#').unwrap_or_default()),
        };
        self.schema.pointer(&pointer).unwrap_or(&self.schema)
    }

    fn steps(&self, value: &Json) -> u64 {
        let mut pairs = HashMap::new();
        self.of_pair(&self.schema, value, &mut pairs)
    }

    fn of_pair(&self, schema: &Json, value: &Json, pairs: &mut Pairs) -> u64 {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.of_one(schema, value, pairs))
    }

    fn of_one(&self, schema: &Json, value: &Json, pairs: &mut Pairs) -> u64 {
        let Json::Object(words) = schema else { return 1 };
        let mut here: u64 = 0;
        for word in HERE.iter().chain(&HERE_TOO) {
            let Some(part) = words.get(*word) else { continue };
            let below = match part {
                Json::Array(parts) => parts.iter().collect(),
                Json::Object(parts) if matches!(*word, "dependentSchemas" | "dependencies") => {
                    parts.values().collect()
                }
                part => vec![part],
            };
            for part in below {
                here = here.saturating_add(self.of_pair(part, value, pairs));
            }
        }
        for word in REFERENCES {
            if let Some(reference) = words.get(word).and_then(Json::as_str) {
                here = here.saturating_add(self.of_reference(reference, value, pairs));
            }
        }
        if AGAIN.iter().any(|word| words.contains_key(*word)) {
            here = here.saturating_mul(2);
        }
        let mut total = here.saturating_add(1);
        let mut add = |part: &Json, value: &Json| {
            total = total.saturating_add(self.of_pair(part, value, pairs));
        };
        let each: &[&str] = match value {
            Json::Object(_) => &["additionalProperties", "unevaluatedProperties", "propertyNames"],
            Json::Array(_) => &["items", "additionalItems", "contains", "unevaluatedItems"],
            _ => &[],
        };
        let parts: Vec<&Json> = match value {
            Json::Object(fields) => {
                let known = words.get("properties").and_then(Json::as_object);
                for (name, field) in fields {
                    if let Some(part) = known.and_then(|known| known.get(name)) {
                        add(part, field);
                    }
                }
                for part in words
                    .get("patternProperties")
                    .and_then(Json::as_object)
                    .into_iter()
                    .flatten()
                {
                    fields.values().for_each(|field| add(part.1, field));
                }
                fields.values().collect()
            }
            Json::Array(items) => {
                for word in ["prefixItems", "items"] {
                    if let Some(Json::Array(parts)) = words.get(word) {
                        parts.iter().zip(items).for_each(|(part, item)| add(part, item));
                    }
                }
                items.iter().collect()
            }
            _ => Vec::new(),
        };
        for part in each.iter().filter_map(|word| words.get(*word)) {
            parts.iter().for_each(|value| add(part, value));
        }
        total
    }

    fn of_reference(&self, reference: &str, value: &Json, pairs: &mut Pairs) -> u64 {
        let schema = self.referred(reference);
        let pair = (
            std::ptr::from_ref(schema) as usize,
            std::ptr::from_ref(value) as usize,
        );
        if let Some(known) = pairs.get(&pair) {
            return *known;
        }
        if pairs.len() >= PAIRS {
            return u64::MAX;
        }
        // Who comes here again before it is known goes in a circle.
        pairs.insert(pair, u64::MAX);
        let steps = self.of_pair(schema, value, pairs);
        pairs.insert(pair, steps);
        steps
    }
}

/// Steps by the places of a schema and of a part of the value in memory.
type Pairs = HashMap<(usize, usize), u64>;

/// Walk along the references of a schema.
struct Walk<'a> {
    count: &'a StepCounter,
    /// Size and circles of a schema by its place in memory; none while it is walked through.
    sizes: HashMap<usize, Option<(u64, usize)>>,
    circles: usize,
}

impl Walk<'_> {
    fn size(&mut self, schema: &Json) -> u64 {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            let mut size: u64 = 1;
            for (name, part) in members(schema) {
                let word = name.as_deref().unwrap_or_default();
                if let (true, Some(reference)) = (REFERENCES.contains(&word), part.as_str()) {
                    size = size.saturating_add(self.referred(reference));
                } else if !PLAIN.contains(&word) && word != "$defs" && word != "definitions" {
                    size = size.saturating_add(self.size(part));
                }
            }
            size
        })
    }

    fn referred(&mut self, reference: &str) -> u64 {
        let schema = self.count.referred(reference);
        let place = std::ptr::from_ref(schema) as usize;
        match self.sizes.get(&place) {
            Some(Some((size, circles))) => {
                self.circles = self.circles.saturating_add(*circles);
                return *size;
            }
            Some(None) => {
                self.circles += 1;
                return 1;
            }
            None => {}
        }
        self.sizes.insert(place, None);
        let before = self.circles;
        let size = self.size(schema);
        self.sizes.insert(place, Some((size, self.circles - before)));
        size
    }
}

/// Returns the parts of a schema with their names or places.
fn members(schema: &Json) -> Vec<(Option<String>, &Json)> {
    match schema {
        Json::Object(words) => words
            .iter()
            .map(|(name, part)| (Some(name.clone()), part))
            .collect(),
        Json::Array(parts) => {
            let place = |(place, part): (usize, _)| (Some(place.to_string()), part);
            parts.iter().enumerate().map(place).collect()
        }
        _ => Vec::new(),
    }
}

/// Decodes a pointer from its form in an address.
fn decoded(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((&byte, more)) = rest.split_first() {
        rest = more;
        let digits = more.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &more[2..];
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::base::processor::ThreadClock;

    fn nested(depth: usize) -> Json {
        (0..depth).fold(json!([]), |inner, _| json!([inner]))
    }

    /// Returns a schema of three branches that all go on in the same way.
    fn tangled() -> Json {
        let again = json!({"type": "array", "items": {"$ref": "#/$defs/t"}});
        json!({"$ref": "#/$defs/t", "$defs": {"t": {"anyOf": [again, again, again]}}})
    }

    #[test]
    fn everything_in_a_value_counts_for_its_size() {
        assert_eq!(size(&json!([1, [2, 3], "four"]), 100), 100 - 5 - 1 - 4);
        assert_eq!(size(&json!({"four": {"a": [1]}}), 100), 100 - 3 - 1 - 4 - 1);
        assert_eq!(size(&json!([[[[1]]]]), 4), 0);
    }

    #[test]
    fn a_schema_that_leads_to_itself_in_several_ways_does_not_take_for_ever() {
        let clock = ThreadClock::start();
        let shape = SchemaValidator::new(&tangled()).unwrap();
        assert_eq!(shape.misfit(&nested(5)), None);
        let mut wrong = json!(1);
        for _ in 0..20 {
            wrong = json!([wrong]);
        }
        for value in [nested(20), nested(100), wrong] {
            let misfit = shape.misfit(&value).unwrap();
            assert!(misfit.cause.contains("cannot be checked"), "{misfit}");
            assert!(!shape.fits(&value));
        }
        // By a name, by doubling without a circle, and by looking again.
        let mut doubling = json!({"t0": {"type": "integer"}});
        for n in 1..60 {
            let below = json!({"$ref": format!("#/$defs/t{}", n - 1)});
            doubling[format!("t{n}")] = json!({"anyOf": [below, below]});
        }
        let again = json!({"type": "array", "items": {"$ref": "#a"}});
        let mut looking = json!({"type": "integer"});
        for _ in 0..40 {
            looking = json!({"allOf": [looking], "unevaluatedProperties": false});
        }
        for (schema, value) in [
            (json!({"$ref": "#/$defs/t59", "$defs": doubling}), json!("x")),
            (
                json!({"$ref": "#a", "$defs": {"t": {"$anchor": "a", "oneOf": [again, again]}}}),
                nested(40),
            ),
            (looking, json!({})),
            (
                json!({"$ref": "#/$defs/t", "$defs": {
                    "t": {"anyOf": [{"$ref": "#/$defs/u"}, {"$ref": "#/$defs/u"}]},
                    "u": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}),
                nested(60),
            ),
        ] {
            let misfit = SchemaValidator::new(&schema).unwrap().misfit(&value).unwrap();
            assert!(misfit.cause.contains("cannot be checked"), "{schema}: {misfit}");
        }
        assert!(clock.elapsed() < Duration::from_secs(20));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_long_check_does_not_hold_up_others() {
        let again = json!({"type": "array", "items": {"$ref": "#/$defs/t"}});
        let tangled = json!({"$ref": "#/$defs/t", "$defs": {"t": {"anyOf": [again, again]}}});
        let value = json!((0..3_000).map(|_| nested(4)).collect::<Vec<_>>());
        let shape = SchemaValidator::new(&tangled).unwrap();
        // Both on the only thread of the runtime.
        let turns = Arc::new(AtomicUsize::new(0));
        let counted = turns.clone();
        let other = tokio::spawn(async move {
            loop {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        let check = tokio::spawn(async move {
            // On a busy computer the other thread may get no processor during the first one.
            (0..50).any(|_| {
                let before = turns.load(Ordering::Relaxed);
                assert_eq!(shape.misfit(&value), None);
                turns.load(Ordering::Relaxed) > before
            })
        });
        assert!(check.await.unwrap(), "others have no turn during a check");
        other.abort();
    }

    #[test]
    fn a_very_long_pattern_is_refused_before_it_is_read() {
        let long = "a|".repeat(500_000);
        let clock = ThreadClock::start();
        for schema in [
            json!({"items": {"anyOf": [{"type": "string", "pattern": long}]}}),
            json!({"patternProperties": { (long.clone()): {} }}),
        ] {
            let message = SchemaValidator::new(&schema).unwrap_err();
            assert!(message.contains("10000 characters"), "{message}");
        }
        assert!(clock.elapsed() < Duration::from_secs(1));
        assert!(
            SchemaValidator::new(&json!({"properties": {"pattern": {"const": {"pattern": long}}}})).is_ok()
        );
    }

    #[test]
    fn usual_schemas_are_checked_however_large_the_value_is() {
        let any = json!({"$defs": {"json": {"anyOf": [
            {"type": ["null", "boolean", "number", "string"]},
            {"type": "array", "items": {"$ref": "#/$defs/json"}},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}}]}}, "$ref": "#/$defs/json"});
        let tree =
            json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}});
        let leaf = (0..100).fold(json!(7), |inner, n| match n % 2 {
            0 => json!([inner, n]),
            _ => json!({"a": inner, "b": n}),
        });
        let wide: Vec<Json> = (0..20_000).map(|n| json!({"n": n, "t": ["x"]})).collect();
        let shape = SchemaValidator::new(&any).unwrap();
        assert!(shape.count.is_some() && shape.fits(&leaf) && shape.fits(&json!(wide)));
        let deep = (0..100).fold(json!({}), |inner, _| json!({"children": [inner]}));
        let shape = SchemaValidator::new(&tree).unwrap();
        assert!(shape.count.is_none(), "it leads to itself in one way");
        assert!(shape.fits(&deep));
        let wrong = (0..100).fold(json!(7), |inner, _| json!({"children": [inner]}));
        assert!(shape.misfit(&wrong).unwrap().path.ends_with("/children/0"));
        assert!(SchemaValidator::new(&json!({"type": "wrong"})).is_err());
        let date = json!({"type": "string", "format": "date"});
        assert!(
            SchemaValidator::new(&date).unwrap().fits(&json!("x"))
                && !SchemaValidator::form(&date).unwrap().fits(&json!("x"))
        );
    }
}
