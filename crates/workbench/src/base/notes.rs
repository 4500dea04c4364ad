//! Notes that a person writes about a bookmark or a version.

use superstep_document::text;

use crate::wire::Problem;

/// Bytes of a note.
const MAX_NOTE: usize = 16 * 1024;

/// Returns a note without blank space around it, when it is not too long.
pub(crate) fn checked_note(note: &str) -> Result<String, Problem> {
    let note = note.trim();
    if note.len() > MAX_NOTE {
        return Err(
            Problem::invalid(text!("The note has more than {most} bytes.", most = MAX_NOTE))
                .remedy(text!("Shorten it.")),
        );
    }
    Ok(note.to_owned())
}
