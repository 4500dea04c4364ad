//! Patches: the only way a document changes.
//!
//! An op says what a record was and what it becomes, so a patch can be refused when the document has moved on, and
//! turned round to undo it. The TypeScript side follows the same rules and runs the same fixtures (`tests/patches`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::document::{Document, Section};
use crate::json::{identical, same};

/// One step: the record `id` goes from `from` to `to`; null means absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PatchOp {
    /// Record id.
    pub id: String,
    /// What it was.
    #[serde(default)]
    pub from: Json,
    /// What it becomes.
    #[serde(default)]
    pub to: Json,
    /// Place among the records of its section where it is inserted, or from which it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
}

/// Steps that are applied together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Patch {
    /// In order.
    pub ops: Vec<PatchOp>,
}

/// Reason why a patch was refused. The document is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PatchError {
    /// The record is not what the patch was made for.
    #[error("`{id}` has changed since this edit was made. Look at it again and repeat the edit.")]
    Conflict {
        /// The record.
        id: String,
        /// What it is; null when absent.
        current: Json,
    },
    /// There are no such records.
    #[error("`{id}` names no record: ids are `doc`, `key:NAME`, `node:NAME`, `edge:ID` and `layout:NODE`.")]
    UnknownRecord {
        /// The id.
        id: String,
    },
    /// The head must stay an object, and the sections are not part of it.
    #[error("the head of the document cannot become this: {reason}")]
    BadHead {
        /// Why.
        reason: String,
    },
    /// The file has something else where these records belong.
    #[error(
        "`{id}` has no place: `{field}` of the file is not a list of records. Remove `{field}` from the head first."
    )]
    Blocked {
        /// The record.
        id: String,
        /// The field of the file.
        field: &'static str,
    },
}

impl PatchError {
    /// Returns a stable code in kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            PatchError::Conflict { .. } => "conflict",
            PatchError::UnknownRecord { .. } => "unknown-record",
            PatchError::BadHead { .. } => "bad-head",
            PatchError::Blocked { .. } => "blocked",
        }
    }
}

impl Patch {
    /// Returns the patch that undoes this one. It is exact for a patch that [`Document::apply`] has completed.
    pub fn reversed(&self) -> Patch {
        let reverse = |op: &PatchOp| PatchOp {
            id: op.id.clone(),
            from: op.to.clone(),
            to: op.from.clone(),
            at: op.at,
        };
        Patch {
            ops: self.ops.iter().rev().map(reverse).collect(),
        }
    }

    /// Creates the patch that turns `before` into `after`, as small as the order of records allows.
    pub fn between(before: &Document, after: &Document) -> Patch {
        let mut ops = Vec::new();
        let op = |id: &str, from: &Json, to: &Json, at| PatchOp {
            id: id.into(),
            from: from.clone(),
            to: to.clone(),
            at,
        };
        let heads = [before, after].map(|document| document.record("doc").unwrap_or(&Json::Null));
        let mut head = None;
        // Order of members is content here: it is what the file looks like.
        if !identical(heads[0], heads[1]) {
            head = Some(op("doc", heads[0], heads[1], None));
        }
        for section in Section::ALL {
            let (old, new) = (before.section(section), after.section(section));
            let kept = |id: &String| old.contains_key(id) && new.contains_key(id);
            let ordered = old
                .keys()
                .filter(|id| kept(id))
                .eq(new.keys().filter(|id| kept(id)));
            for (index, (id, value)) in old.iter().enumerate().rev() {
                if !ordered || !new.contains_key(id) {
                    ops.push(op(id, value, &Json::Null, Some(index)));
                }
            }
            for (index, (id, value)) in new.iter().enumerate() {
                match old.get(id).filter(|_| ordered) {
                    Some(was) if identical(was, value) => {}
                    Some(was) => ops.push(op(id, was, value, None)),
                    None => ops.push(op(id, &Json::Null, value, Some(index))),
                }
            }
        }
        // A section that the head blocks must be empty before the head says so, and the other way round.
        if let Some(head) = head {
            let misfit = Section::ALL
                .iter()
                .any(|section| head.to.get(section.field()).is_some());
            ops.insert(if misfit { ops.len() } else { 0 }, head);
        }
        Patch { ops }
    }
}

impl Document {
    /// Creates a document from records, as a client or an autosave holds them.
    pub fn from_records(records: impl IntoIterator<Item = (String, Json)>) -> Result<Self, PatchError> {
        let mut document = Self::text_only("");
        document.restore_source(None);
        for (id, value) in records {
            if id == "doc" {
                let from = Json::Object(document.head().clone());
                document.apply(&Patch {
                    ops: vec![PatchOp {
                        id,
                        from,
                        to: value,
                        at: None,
                    }],
                })?;
            } else {
                let op = PatchOp {
                    id,
                    from: Json::Null,
                    to: value,
                    at: None,
                };
                document.apply(&Patch { ops: vec![op] })?;
            }
        }
        Ok(document)
    }

    /// Applies all ops in order, or none of them. The answer is the same patch with every place filled in; it is the
    /// one to keep for undo.
    pub fn apply(&mut self, patch: &Patch) -> Result<Patch, PatchError> {
        let source = self.source().map(str::to_owned);
        let mut done = Patch {
            ops: Vec::with_capacity(patch.ops.len()),
        };
        for op in &patch.ops {
            match self.apply_op(op) {
                Ok(op) => done.ops.push(op),
                Err(error) => {
                    for op in done.reversed().ops {
                        // Taking back what was just done cannot meet a conflict.
                        let undone = self.apply_op(&op);
                        debug_assert!(undone.is_ok(), "{undone:?}");
                    }
                    self.restore_source(source);
                    return Err(error);
                }
            }
        }
        Ok(done)
    }

    fn apply_op(&mut self, op: &PatchOp) -> Result<PatchOp, PatchError> {
        let current = self.record(&op.id);
        let Some((section, _)) = Section::of(&op.id) else {
            return match current {
                Some(current) if same(current, &op.from) => {
                    let head = self.checked_head(&op.to)?;
                    self.set_head(head);
                    Ok(op.clone())
                }
                Some(current) => Err(PatchError::Conflict {
                    id: op.id.clone(),
                    current: current.clone(),
                }),
                None => Err(PatchError::UnknownRecord { id: op.id.clone() }),
            };
        };
        if !same(current.unwrap_or(&Json::Null), &op.from) {
            let current = current.cloned().unwrap_or_default();
            return Err(PatchError::Conflict {
                id: op.id.clone(),
                current,
            });
        }
        if self.head().contains_key(section.field()) {
            return Err(PatchError::Blocked {
                id: op.id.clone(),
                field: section.field(),
            });
        }
        let mut completed = op.clone();
        let records = self.section_mut(section);
        match (records.get_index_of(&op.id), op.to.is_null()) {
            // A record that holds null cannot be distinguished from an absent one; it is left alone.
            (_, true) if op.from.is_null() => {}
            (Some(index), true) => {
                records.shift_remove_index(index);
                completed.at = Some(index);
            }
            (Some(index), false) => records[index] = op.to.clone(),
            (None, true) => {}
            (None, false) => {
                let index = op.at.unwrap_or(records.len()).min(records.len());
                records.shift_insert(index, op.id.clone(), op.to.clone());
                completed.at = Some(index);
            }
        }
        self.touched();
        Ok(completed)
    }

    fn checked_head(&self, to: &Json) -> Result<Map<String, Json>, PatchError> {
        let bad = |reason: String| PatchError::BadHead { reason };
        let Json::Object(head) = to else {
            return Err(bad("it is not an object.".into()));
        };
        for section in Section::ALL {
            let field = section.field();
            let Some(value) = head.get(field) else { continue };
            let fits = if section == Section::Edges {
                value.is_array()
            } else {
                value.is_object()
            };
            if fits || !self.section(section).is_empty() {
                return Err(bad(format!(
                    "`{field}` is a section; its records are changed one by one."
                )));
            }
        }
        Ok(head.clone())
    }
}
