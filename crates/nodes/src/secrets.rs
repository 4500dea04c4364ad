//! What nobody is to read: values of keys and of environment variables that graphs are given. Each is noted where it is
//! first read, and taken out of everything that comes back from outside: answers, errors, output of programs, log lines.
//!
//! The list belongs to the process and not to a graph, because a log line does not say which graph it is about.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::{LazyLock, PoisonError, RwLock};

use superstep::{BoxFuture, Command, Node, NodeContext, NodeError, NodeOutput, Object, Value};

/// What stands where a secret was.
pub const HIDDEN: &str = "[secret]";

/// Shorter values are in too many words to be taken out of them.
const SHORTEST: usize = 6;

static KNOWN: LazyLock<RwLock<BTreeSet<String>>> = LazyLock::new(RwLock::default);

/// JSON text may hold JSON text: the arguments of a tool call within a frame of an answer within a file of events.
const NESTED: usize = 3;

/// Notes a secret, also as it stands in JSON text and in addresses.
pub fn note(secret: &str) {
    let secret = secret.trim();
    if secret.len() < SHORTEST {
        return;
    }
    let known = KNOWN
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .contains(secret);
    if known {
        return;
    }
    let in_json = |text: &String| {
        let json = serde_json::Value::from(text.as_str()).to_string();
        json[1..json.len() - 1].to_owned()
    };
    let forms = std::iter::successors(Some(secret.to_owned()), |form| Some(in_json(form)));
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.extend(forms.take(1 + NESTED));
    known.insert(crate::expression::encoded(secret));
}

/// The text without secrets.
pub fn redact(text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let mut text = Cow::Borrowed(text);
    // From the back, so that a longer secret goes before the one that it begins with.
    for secret in known.iter().rev() {
        if text.contains(secret.as_str()) {
            text = Cow::Owned(text.replace(secret.as_str(), HIDDEN));
        }
    }
    text
}

/// The value without secrets, names of fields included.
pub fn redact_value(value: &Value) -> Value {
    match value {
        Value::String(text) => match redact(text) {
            Cow::Borrowed(_) => value.clone(),
            Cow::Owned(text) => text.into(),
        },
        Value::Array(items) => Value::Array(items.iter().map(redact_value).collect()),
        Value::Object(fields) => {
            let field = |(name, field): (&std::sync::Arc<str>, &Value)| {
                (redact(name).into_owned(), redact_value(field))
            };
            Value::Object(fields.iter().map(field).collect::<Object>())
        }
        other => other.clone(),
    }
}

fn redact_output(output: NodeOutput) -> NodeOutput {
    match output {
        NodeOutput::Update(value) => NodeOutput::Update(redact_value(&value)),
        NodeOutput::Command(command) => NodeOutput::Command(Command {
            update: command.update.as_ref().map(redact_value),
            ..command
        }),
        NodeOutput::Many(outputs) => NodeOutput::Many(outputs.into_iter().map(redact_output).collect()),
        NodeOutput::Final { value, save } => NodeOutput::Final {
            value: redact_value(&value),
            save: redact_value(&save),
        },
    }
}

/// A node that touches the outside: whatever it brings back goes through here.
pub(crate) struct Redacted(pub(crate) std::sync::Arc<dyn Node>);

impl Node for Redacted {
    fn run(&self, context: NodeContext, input: Value) -> BoxFuture<'_, Result<NodeOutput, NodeError>> {
        Box::pin(async move {
            match self.0.run(context, input).await {
                Ok(output) => Ok(redact_output(output)),
                Err(NodeError::Failed(mut failure)) => {
                    failure.message = redact(&failure.message).into_owned();
                    Err(NodeError::Failed(failure))
                }
                Err(other) => Err(other),
            }
        })
    }
}

/// Takes secrets out of log lines; each write is one line or several whole ones.
#[derive(Clone, Copy, Debug)]
pub struct RedactedLog<W>(
    /// Where the lines go.
    pub W,
);

impl<W: Write> Write for RedactedLog<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(redact(&text).as_bytes())?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_of_text_values_and_logs() {
        note("marked-7f3a\"quoted\"");
        note("marked-7f3a");
        note("ab");
        let text = "a marked-7f3a\"quoted\" b marked-7f3a. ab %22 marked-7f3a%22quoted%22";
        assert_eq!(redact(text), "a [secret] b [secret]. ab %22 [secret]");
        let value = superstep::json!({"k-marked-7f3a": [1, "x marked-7f3a"], "n": null});
        assert_eq!(
            redact_value(&value),
            superstep::json!({"k-[secret]": [1, "x [secret]"], "n": null})
        );
        let json = serde_json::json!({"t": "marked-7f3a\"quoted\""}).to_string();
        assert_eq!(redact(&json), r#"{"t":"[secret]"}"#);
        let in_json = serde_json::json!({"frame": json}).to_string();
        assert_eq!(redact(&in_json), r#"{"frame":"{\"t\":\"[secret]\"}"}"#);
        let mut log = RedactedLog(Vec::new());
        log.write_all(b"key=marked-7f3a\n").unwrap();
        assert_eq!(log.0, b"key=[secret]\n");
        assert!(matches!(redact("nothing here"), Cow::Borrowed(_)));
    }
}
