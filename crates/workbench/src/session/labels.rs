//! Tags and metadata of runs, in the metadata of their checkpoints: an entry of metadata under its own key, as LangGraph
//! has it, and a tag as an entry of its own, so that storage can filter by both.

use superstep::checkpoint::CheckpointHead;
use superstep::value::Object;

use super::metadata::is_own;
use crate::wire::{Problem, RunLabels};
use superstep_document::text;

/// What the key of a tag begins with.
const TAG: &str = "tag:";
/// Tags of a run, and entries of its metadata, at most: each of its checkpoints holds them.
const MAX_LABELS: usize = 20;
/// Letters of a tag, or of a key.
const MAX_NAME: usize = 64;
/// Letters of a value.
const MAX_VALUE: usize = 512;

impl RunLabels {
    /// Reads them from the metadata of a checkpoint.
    pub fn of(metadata: &Object) -> Self {
        let mut labels = Self::default();
        for (key, value) in metadata.iter() {
            if let Some(tag) = key.strip_prefix(TAG) {
                if value.as_bool() == Some(true) {
                    labels.tags.push(tag.to_owned());
                }
            } else if let Some(text) = value.as_str()
                && !is_own(key)
            {
                labels.metadata.insert((**key).to_owned(), text.to_owned());
            }
        }
        labels.tags.sort();
        labels
    }

    /// Reads those of a checkpoint; none is `None`.
    pub fn of_checkpoint(head: &CheckpointHead) -> Option<Self> {
        Some(Self::of(&head.metadata.user)).filter(|labels| !labels.is_empty())
    }

    /// Puts them into the metadata of checkpoints, or into a filter of checkpoints.
    pub fn note(&self, metadata: &mut Object) {
        for (key, value) in &self.metadata {
            metadata.insert(key.as_str(), value.as_str());
        }
        for tag in &self.tags {
            metadata.insert(format!("{TAG}{tag}"), true);
        }
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.metadata.is_empty()
    }

    /// Adds them to those of before. An entry of metadata without a value takes the one of before away.
    pub fn or(self, before: Self) -> Self {
        let (mut tags, mut metadata) = (before.tags, before.metadata);
        tags.extend(self.tags);
        metadata.extend(self.metadata);
        metadata.retain(|_, value| !value.is_empty());
        Self { tags, metadata }
    }

    /// Checks them for a run, and leaves out what says nothing.
    pub fn checked(self) -> Result<Self, Problem> {
        let mut tags: Vec<String> = self.tags.iter().map(|tag| tag.trim().to_owned()).collect();
        tags.retain(|tag| !tag.is_empty());
        tags.sort();
        tags.dedup();
        let entries = self.metadata.into_iter();
        let metadata = entries
            .map(|(key, value)| (key.trim().to_owned(), value))
            .filter(|(key, value)| !key.is_empty() && !value.is_empty());
        let labels = Self {
            tags,
            metadata: metadata.collect(),
        };
        labels.fits()?;
        Ok(labels)
    }

    fn fits(&self) -> Result<(), Problem> {
        let long = |text: &str, most: usize| text.chars().nth(most).is_some();
        if self.tags.len() > MAX_LABELS || self.metadata.len() > MAX_LABELS {
            return Err(Problem::invalid(text!(
                "A run has at most {most} tags and {most} entries of metadata.",
                most = MAX_LABELS
            ))
            .remedy(text!(
                "Every checkpoint of the run holds them. Keep larger data in the state."
            )));
        }
        let mut names = self.tags.iter().chain(self.metadata.keys());
        if let Some(name) = names.find(|name| long(name, MAX_NAME) || name.contains(char::is_control)) {
            return Err(Problem::invalid(text!(
                "{name} cannot be a tag or a key of metadata.",
                name = format!("{name:?}")
            ))
            .remedy(text!(
                "Use at most {most} letters, without line breaks.",
                most = MAX_NAME
            )));
        }
        for (key, value) in &self.metadata {
            if is_own(key) || key.starts_with(TAG) {
                return Err(Problem::invalid(text!(
                    "Checkpoints have metadata of their own under the key {key}.",
                    key = format!("{key:?}")
                ))
                .remedy(text!("Choose another key.")));
            }
            if long(value, MAX_VALUE) {
                return Err(Problem::invalid(text!(
                    "The metadata value of {key} is too long.",
                    key = format!("{key:?}")
                ))
                .remedy(text!("Use at most {most} letters.", most = MAX_VALUE)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use superstep::Value;

    use super::*;

    fn labels(tags: &[&str], metadata: &[(&str, &str)]) -> RunLabels {
        RunLabels {
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            metadata: (metadata.iter())
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    #[test]
    fn a_checkpoint_says_them_beside_what_is_its_own() {
        let given = labels(&["eval", "nightly"], &[("customer", "acme")]);
        let mut metadata: Object = [
            ("graph", Value::from("Triage")),
            ("run_id", "r1".into()),
            ("by", "Ada".into()),
            ("scripted_models", "office::small".into()),
            ("graph_version", "0123".into()),
            ("thread_id", "t".into()),
            ("as_node", "pay".into()),
            ("retries", 3.into()),
        ]
        .into_iter()
        .collect();
        assert!(RunLabels::of(&metadata).is_empty());
        given.note(&mut metadata);
        assert_eq!(metadata.get("customer").and_then(Value::as_str), Some("acme"));
        assert_eq!(RunLabels::of(&metadata), given);
    }

    #[test]
    fn given_ones_join_those_of_before_and_an_empty_value_takes_one_away() {
        let before = labels(&["eval"], &[("customer", "acme"), ("city", "Oslo")]);
        let given = labels(
            &[" nightly ", "eval", ""],
            &[("customer", "globex"), ("city", "")],
        );
        assert_eq!(
            given.or(before).checked().unwrap(),
            labels(&["eval", "nightly"], &[("customer", "globex")])
        );
    }

    #[test]
    fn what_no_checkpoint_can_hold_is_refused() {
        let long = "x".repeat(MAX_NAME + 1);
        let huge = "x".repeat(MAX_VALUE + 1);
        let many: Vec<String> = (0..=MAX_LABELS).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for refused in [
            labels(&many, &[]),
            labels(&[&long], &[]),
            labels(&["a\nb"], &[]),
            labels(&[], &[("run_id", "mine")]),
            labels(&[], &[("source", "loop")]),
            labels(&[], &[("__key", "x")]),
            labels(&[], &[("tag:a", "x")]),
            labels(&[], &[("note", &huge)]),
        ] {
            assert_eq!(
                refused.clone().checked().unwrap_err().code,
                "invalid-request",
                "{refused:?}"
            );
        }
    }
}
