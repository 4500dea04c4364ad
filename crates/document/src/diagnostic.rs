//! A problem of a document: what is wrong, where, and what to do. Shared with the node kinds, which check `config`.

use serde::Serialize;

use crate::words::Text;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The graph cannot run.
    Error,
    /// It runs, probably not as meant.
    Warning,
}

/// A problem with its place and remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Stable code in kebab-case.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: Text,
    /// What to do.
    pub remedy: Text,
    /// The record it belongs to: `doc`, `key:NAME`, `node:NAME`, `edge:ID` or `layout:NODE`.
    pub record: String,
    /// JSON Pointer inside the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
}

impl Diagnostic {
    /// Creates a problem that keeps the graph from running.
    pub fn error(
        code: &'static str,
        record: impl Into<String>,
        message: impl Into<Text>,
        remedy: impl Into<Text>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            remedy: remedy.into(),
            record: record.into(),
            pointer: None,
        }
    }

    /// Creates a problem with which the graph runs, but probably not as intended.
    pub fn warning(
        code: &'static str,
        record: impl Into<String>,
        message: impl Into<Text>,
        remedy: impl Into<Text>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, record, message, remedy)
        }
    }

    /// Sets the place of the problem inside its record.
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Returns whether the problem is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{severity}[{}] {}", self.code, self.record)?;
        if let Some(pointer) = &self.pointer {
            write!(f, " {pointer}")?;
        }
        write!(f, ": {} {}", self.message, self.remedy)
    }
}
