//! What went wrong in a program, and where, in words for the person who wrote it.

use rquickjs::{CaughtError, Coerced, Ctx, Exception, Value as Js};

use super::{CodeError, FILE};
use crate::base::json::{read_json, without_halves};
use superstep_document::suggest;

pub(super) fn shown<'js>(ctx: &Ctx<'js>, value: Js<'js>) -> String {
    if let Some(text) = text_of(&value) {
        return text;
    }
    if let Some(exception) = value.as_exception() {
        return describe(exception);
    }
    match ctx.json_stringify(value.clone()) {
        Ok(Some(json)) => {
            let json = json.to_string().unwrap_or_default();
            String::from_utf8_lossy(&without_halves(json.as_bytes())).into_owned()
        }
        _ => {
            // A cyclic object throws while it is printed; the exception must not reach the user's code.
            ctx.catch();
            value
                .get::<Coerced<String>>()
                .map_or_else(|_| value.type_name().to_string(), |text| text.0)
        }
    }
}

/// Returns a text of a program. Where it was cut within a character, U+FFFD stands for the half.
fn text_of(value: &Js<'_>) -> Option<String> {
    let text = value.as_string()?;
    text.to_string().ok().or_else(|| {
        let json = value.ctx().json_stringify(value.clone()).ok()??;
        read_json(json.to_string().ok()?.as_bytes()).ok()
    })
}

/// Returns a text that an error has.
fn field(exception: &Exception<'_>, name: &str) -> Option<String> {
    let value = exception.as_object().get::<_, Js>(name).ok()?;
    text_of(&value).or_else(|| value.get::<Option<Coerced<String>>>().ok()?.map(|text| text.0))
}

fn describe(exception: &Exception<'_>) -> String {
    let name = field(exception, "name");
    let message = field(exception, "message").unwrap_or_default();
    match name {
        Some(name) if message.is_empty() => name,
        Some(name) => format!("{name}: {message}"),
        None => message,
    }
}

pub(super) fn syntax(error: &CaughtError<'_>) -> CodeError {
    match error {
        CaughtError::Exception(exception) => CodeError::Syntax {
            message: describe(exception),
            line: place(exception).1,
        },
        other => machine(other),
    }
}

/// Names that programs of other places have, and this one has not.
const ELSEWHERE: [&str; 7] = [
    "fetch",
    "require",
    "process",
    "setTimeout",
    "XMLHttpRequest",
    "window",
    "document",
];
/// Names that it has.
const HERE: [&str; 17] = [
    "state",
    "args",
    "ctx",
    "context",
    "config",
    "console",
    "interrupt",
    "emit",
    "progress",
    "task",
    "sleep",
    "Command",
    "JSON",
    "Math",
    "Object",
    "Array",
    "Date",
];

/// What is reported of a program that threw null.
pub(super) const NULL_THROWN: &str = "it threw null";

pub(super) fn thrown(error: &CaughtError<'_>) -> CodeError {
    match error {
        CaughtError::Exception(exception) => {
            let mut message = describe(exception);
            let unknown = message
                .strip_prefix("ReferenceError: ")
                .and_then(|rest| rest.strip_suffix(" is not defined"));
            if let Some(name) = unknown {
                if name == "setTimeout" {
                    message.push_str("; write `await sleep(milliseconds)`");
                } else if ELSEWHERE.contains(&name) {
                    message.push_str("; code nodes reach no network, files or processes");
                } else if name == "store" {
                    message.push_str("; this graph runs without a store");
                } else if let Some(near) = suggest::nearest(name, HERE) {
                    message.push_str(&format!("; did you mean `{near}`"));
                }
            }
            let (file, line) = place(exception);
            match file {
                Some(file) => CodeError::Thrown {
                    message: match line {
                        Some(line) => format!("{message} (in {file}, line {line})"),
                        None => format!("{message} (in {file})"),
                    },
                    line: None,
                },
                None => CodeError::Thrown { message, line },
            }
        }
        CaughtError::Value(value) => {
            let text = shown(value.ctx(), value.clone());
            CodeError::Thrown {
                message: format!("it threw {text}"),
                line: None,
            }
        }
        CaughtError::Error(error) => CodeError::Machine(error.to_string()),
    }
}

pub(super) fn machine(error: &CaughtError<'_>) -> CodeError {
    match error {
        CaughtError::Exception(exception) => CodeError::Machine(describe(exception)),
        other => CodeError::Machine(other.to_string()),
    }
}

/// Finds the innermost place in the user's code in a stack such as `at node (source:3:5)`: its file, unless it is the
/// program itself, and its line.
fn place(exception: &Exception<'_>) -> (Option<String>, Option<usize>) {
    let stack = field(exception, "stack").unwrap_or_default();
    let places = stack.lines().filter_map(|frame| {
        let frame = frame.trim().trim_start_matches("at ");
        let place = frame
            .rsplit_once('(')
            .map_or(frame, |(_, place)| place)
            .trim_end_matches(')');
        let mut parts = place.rsplitn(3, ':');
        let (last, middle, first) = (parts.next()?, parts.next()?, parts.next());
        // `file:line:column`, or `file:line`.
        let (file, line) = match first {
            Some(file) => (file, middle),
            None => (middle, last),
        };
        Some((file.to_owned(), line.parse::<usize>().ok()))
    });
    for (file, line) in places {
        if file == FILE {
            return (None, line);
        }
        if file.ends_with(".js") || file.ends_with(".mjs") {
            return (Some(file), line);
        }
    }
    (None, None)
}
