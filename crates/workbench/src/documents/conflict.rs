//! A graph file with git's conflict marks: both sides as whole graphs, to be chosen from record by record.

use std::sync::Arc;

use superstep_document::{Diagnostic, Document};

use super::records;
use crate::Workbench;
use crate::wire::{ConflictSide, ConflictView, GraphRef, Problem};
use superstep_document::text;

/// The sides of a text with conflict marks.
#[derive(Debug, Default, PartialEq)]
struct ConflictSides {
    ours: String,
    theirs: String,
    base: Option<String>,
    ours_name: String,
    theirs_name: String,
}

/// Part of a conflict that a line belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Both,
    Ours,
    Base,
    Theirs,
}

impl ConflictSides {
    /// Parses the sides of a text; returns `None` when there are no marks, or when they do not fit together.
    fn of(text: &str) -> Option<Self> {
        let mut sides = ConflictSides::default();
        let mut base = String::new();
        let (mut part, mut conflicts, mut has_base) = (Part::Both, 0, false);
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\n', '\r']);
            part = match (part, mark(content)) {
                (Part::Both, Some(('<', name))) => {
                    conflicts += 1;
                    sides.ours_name = name.to_owned();
                    Part::Ours
                }
                (Part::Ours, Some(('|', _))) => {
                    has_base = true;
                    Part::Base
                }
                (Part::Ours | Part::Base, Some(('=', _))) => Part::Theirs,
                (Part::Theirs, Some(('>', name))) => {
                    sides.theirs_name = name.to_owned();
                    Part::Both
                }
                (_, Some(_)) => return None,
                (part, None) => {
                    if matches!(part, Part::Both | Part::Ours) {
                        sides.ours.push_str(line);
                    }
                    if matches!(part, Part::Both | Part::Theirs) {
                        sides.theirs.push_str(line);
                    }
                    if matches!(part, Part::Both | Part::Base) {
                        base.push_str(line);
                    }
                    part
                }
            };
        }
        sides.base = has_base.then_some(base);
        (conflicts > 0 && part == Part::Both).then_some(sides)
    }
}

/// Returns the sign and the name of a line that is a mark.
fn mark(line: &str) -> Option<(char, &str)> {
    let sign = line.chars().next().filter(|sign| "<|=>".contains(*sign))?;
    let rest = line.strip_prefix(&sign.to_string().repeat(7))?;
    match (sign, rest.strip_prefix(' ')) {
        (_, None) if rest.is_empty() => Some((sign, "")),
        ('=', _) => None,
        (_, Some(name)) => Some((sign, name.trim())),
        (_, None) => None,
    }
}

/// Returns the diagnostic for a file with conflict marks, in place of the mistake that the first mark is. Where a side is no
/// graph, there are no records to choose from: the text is corrected with its marks.
pub(super) fn diagnostic(document: &Document) -> Option<Diagnostic> {
    let sides = ConflictSides::of(document.source()?)?;
    let is_graph = |side: &str| {
        let (document, _) = Document::parse(side);
        document.source().is_none() && document.is_graph()
    };
    if ![&sides.ours, &sides.theirs]
        .into_iter()
        .all(|side| is_graph(side))
    {
        return None;
    }
    Some(Diagnostic::error(
        "conflict-marks",
        "doc",
        text!("Git could not merge this file: it holds two versions with conflict marks."),
        text!("Choose what is kept in the conflict view. Nothing is written before you save."),
    ))
}

impl Workbench {
    pub(crate) async fn graph_conflict(self: &Arc<Self>, request: GraphRef) -> Result<ConflictView, Problem> {
        let document = self.document(&request.graph_id)?.source().document;
        let sides = document.source().and_then(ConflictSides::of).ok_or_else(|| {
            Problem::not_found(text!("The file has no conflict marks."))
                .remedy(text!("Open the file again to see what it holds."))
        })?;
        let side = |name: &str, otherwise: &str, text: &str| {
            let (document, problems) = Document::parse(text);
            if document.source().is_some() {
                let why = problems
                    .first()
                    .map(|problem| problem.message.clone())
                    .unwrap_or_default();
                return Err(Problem::new(
                    "unreadable-file",
                    text!(
                        "The side “{side}” of the conflict is no graph. {why}",
                        side = named(name, otherwise),
                        why
                    ),
                )
                .remedy(text!("Correct the file in a text editor, or take one side with git checkout --ours or --theirs.")));
            }
            Ok(ConflictSide {
                name: named(name, otherwise).to_owned(),
                records: records(&document),
            })
        };
        Ok(ConflictView {
            ours: side(&sides.ours_name, "ours", &sides.ours)?,
            theirs: side(&sides.theirs_name, "theirs", &sides.theirs)?,
            base: sides.base.as_deref().and_then(|text| {
                let (document, _) = Document::parse(text);
                document.source().is_none().then(|| records(&document))
            }),
        })
    }
}

fn named<'a>(name: &'a str, otherwise: &'a str) -> &'a str {
    if name.is_empty() { otherwise } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_of_a_text_are_distinguished() {
        let text = "a\n<<<<<<< HEAD\nb\n||||||| 1234\nold\n=======\nc\n>>>>>>> topic\nd\n";
        let sides = ConflictSides::of(text).unwrap();
        assert_eq!(
            (sides.ours.as_str(), sides.theirs.as_str()),
            ("a\nb\nd\n", "a\nc\nd\n")
        );
        assert_eq!(sides.base.as_deref(), Some("a\nold\nd\n"));
        assert_eq!(
            (sides.ours_name.as_str(), sides.theirs_name.as_str()),
            ("HEAD", "topic")
        );
        let windows = text.replace('\n', "\r\n");
        assert_eq!(ConflictSides::of(&windows).unwrap().ours, "a\r\nb\r\nd\r\n");
    }

    #[test]
    fn marks_that_do_not_fit_together_are_no_conflict() {
        for text in [
            "a\n",
            "<<<<<<< HEAD\nb\n",
            "<<<<<<< HEAD\nb\n>>>>>>> x\n",
            "=======\n",
            "<<<<<<< a\n<<<<<<< b\n=======\n>>>>>>> c\n",
            "{\"a\": \"<<<<<<< HEAD\"}\n",
            "<<<<<<<HEAD\nb\n=======\nc\n>>>>>>> x\n",
        ] {
            assert_eq!(ConflictSides::of(text), None, "{text:?}");
        }
    }
}
