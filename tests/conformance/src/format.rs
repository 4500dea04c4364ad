//! How case files are written: a value is on one line where that has room, so that a diff shows what changed.

use serde_json::Value;

const COLUMNS: usize = 150;

/// Formats a case as the text of its file. Writing a case that was read changes nothing.
pub(crate) fn text(case: &Value) -> String {
    let mut out = String::new();
    write(case, 0, 0, &mut out);
    out.push('\n');
    out
}

fn write(value: &Value, depth: usize, column: usize, out: &mut String) {
    let line = one_line(value);
    let (open, close) = match value {
        Value::Object(fields) if !fields.is_empty() && (depth == 0 || column + line.len() > COLUMNS) => {
            ('{', '}')
        }
        Value::Array(items) if !items.is_empty() && column + line.len() > COLUMNS => ('[', ']'),
        _ => return out.push_str(&line),
    };
    out.push(open);
    let inner = " ".repeat(depth + 1);
    let mut first = true;
    let mut begin = |out: &mut String| {
        out.push_str(if std::mem::take(&mut first) { "\n" } else { ",\n" });
        out.push_str(&inner);
    };
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                begin(out);
                let label = format!("{}: ", Value::from(key.as_str()));
                out.push_str(&label);
                write(field, depth + 1, depth + 1 + label.len(), out);
            }
        }
        Value::Array(items) => {
            for item in items {
                begin(out);
                write(item, depth + 1, depth + 1, out);
            }
        }
        _ => {}
    }
    out.push('\n');
    out.push_str(&" ".repeat(depth));
    out.push(close);
}

fn one_line(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, field)| format!("{}: {}", Value::from(key.as_str()), one_line(field)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        plain => plain.to_string(),
    }
}
