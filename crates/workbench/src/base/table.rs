//! Tables that are read in spreadsheets (CSV, RFC 4180).

use std::fmt::Write as _;

/// Writes a line. What a question, a model or a state says is not to be run as a formula by who opens the table.
pub(crate) fn write_cells<'a>(csv: &mut String, cells: impl IntoIterator<Item = &'a str>) {
    for (at, cell) in cells.into_iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let guard = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) {
            "'"
        } else {
            ""
        };
        let _ = write!(csv, "{comma}\"{guard}{}\"", cell.replace('"', "\"\""));
    }
    csv.push_str("\r\n");
}
