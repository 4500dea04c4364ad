//! Cuts documents where they cut themselves: at headings, between functions, between paragraphs.
//!
//! A chunk is a piece of the text as it stands there, so that its place can be named: bytes and lines.

use std::ops::Range;

use super::files::Form;

/// A piece of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chunk {
    /// `Document › Section`.
    pub(super) title: String,
    /// Its place in the text.
    pub(super) bytes: Range<usize>,
    /// First and last line, counted from one.
    pub(super) lines: (u32, u32),
}

/// Letters of a heading in titles. A title stands with each piece of its section, so what is longer would be stored and
/// embedded thousands of times; its words are found in the section itself.
const MAX_HEADING: usize = 200;
/// Letters of a title.
const MAX_TITLE: usize = 400;

/// Returns the beginning of a text that is longer than `most` letters, with `…`.
fn shortened(text: String, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// Sizes of chunks, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) most: usize,
    /// How much of a chunk the next one repeats, where a section had to be cut.
    pub(super) overlap: usize,
}

/// Cuts `text`, the file `name` or a page of it.
pub(super) fn chunks(name: &str, form: Form, page: Option<u32>, text: &str, size: Size) -> Vec<Chunk> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let plain = stem.replace(['-', '_'], " ");
    let sections = match form {
        Form::Markdown | Form::Html => headed(&plain, text),
        Form::Code => defined(file, text, size.most),
        Form::Plain | Form::Pdf => {
            let title = page.map_or_else(|| plain.clone(), |page| format!("{plain} › page {page}"));
            vec![(title, 0..text.len())]
        }
    };
    let lines = Lines::of(text);
    let mut found = Vec::new();
    for (title, section) in sections {
        for piece in pieces(text, section, size) {
            let body = &text[piece.clone()];
            let start = piece.start + body.len() - body.trim_start().len();
            let end = start + body.trim().len();
            if start < end {
                found.push(Chunk {
                    title: title.clone(),
                    bytes: start..end,
                    lines: (lines.at(start), lines.at(end - 1)),
                });
            }
        }
    }
    found
}

/// Positions at which lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect())
    }

    /// Returns the line of a byte, counted from one.
    fn at(&self, byte: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= byte)).unwrap_or(u32::MAX)
    }
}

/// Returns the lines with the byte at which each begins.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// Splits the text into sections at headings. The first heading of level one (or the file's name) is the document's
/// title. A heading with nothing below it is a section of its own; otherwise nobody would find its words.
fn headed(fallback: &str, text: &str) -> Vec<(String, Range<usize>)> {
    let mut document: Option<String> = None;
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut sections = Vec::new();
    let mut begun = 0;
    // The heading above the section that has begun: its place and level.
    let mut own: Option<(usize, usize)> = None;
    let mut fence: Option<&str> = None;
    let section = |own: Option<(usize, usize)>, begun: usize, end: usize, next: usize| match own {
        Some((heading, level)) if next <= level && text[begun..end].trim().is_empty() => heading..end,
        _ => begun..end,
    };
    let title = |document: &Option<String>, above: &[(usize, String)]| {
        let first = document.as_deref().unwrap_or(fallback);
        let below = above.iter().map(|(_, heading)| heading.as_str());
        let parts: Vec<&str> = std::iter::once(first).chain(below).collect();
        shortened(parts.join(" › "), MAX_TITLE)
    };
    for (at, line) in lines(text) {
        let start = line.trim_start();
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            Some(_) => {}
            None => {
                fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
                let level = line.chars().take_while(|c| *c == '#').count();
                if (1..=6).contains(&level) && line[level..].starts_with([' ', '\t']) {
                    sections.push((title(&document, &above), section(own, begun, at, level)));
                    let whole = line[level..].trim().trim_end_matches('#').trim();
                    let heading = shortened(whole.to_owned(), MAX_HEADING);
                    begun = match heading.len() == whole.len() {
                        true => at + line.len(),
                        false => at,
                    };
                    own = (!heading.is_empty()).then_some((at, level));
                    if level == 1 && document.is_none() {
                        document = Some(heading);
                    } else {
                        above.retain(|(higher, _)| *higher < level);
                        above.push((level, heading));
                    }
                }
            }
        }
    }
    sections.push((title(&document, &above), section(own, begun, text.len(), 0)));
    sections
}

/// Splits the text into sections at definitions at the margin, with the comments and attributes above them. Tiny
/// neighbours are joined.
fn defined(file: &str, text: &str, most: usize) -> Vec<(String, Range<usize>)> {
    let mut starts: Vec<(usize, String)> = Vec::new();
    // Where the comments and attributes begin that stand right above.
    let mut lead: Option<usize> = None;
    for (at, line) in lines(text) {
        let body = line.trim_end();
        if body.is_empty() {
            lead = None;
        } else if is_definition(body) {
            let title: String = body.trim_end_matches(['{', ':', ' ']).chars().take(100).collect();
            starts.push((lead.take().unwrap_or(at), format!("{file} › {title}")));
        } else if ["//", "#", "/*", " *", "@", "--", ";;"]
            .iter()
            .any(|mark| body.starts_with(mark))
        {
            lead.get_or_insert(at);
        } else {
            lead = None;
        }
    }
    let first = starts.first().map_or(text.len(), |(at, _)| *at);
    let mut sections = vec![(file.to_owned(), 0..first)];
    for (place, (at, title)) in starts.iter().enumerate() {
        let end = starts.get(place + 1).map_or(text.len(), |(next, _)| *next);
        match sections.last_mut() {
            Some((_, last)) if place > 0 && last.len() + (end - at) <= most / 8 => last.end = end,
            _ => sections.push((title.clone(), *at..end)),
        }
    }
    sections
}

/// Returns whether a line at the margin begins a function, a type or the like.
fn is_definition(line: &str) -> bool {
    const BEFORE: &[&str] = &[
        "pub",
        "pub(crate)",
        "pub(super)",
        "export",
        "default",
        "async",
        "static",
        "public",
        "private",
        "protected",
        "internal",
        "abstract",
        "final",
        "unsafe",
        "extern",
        "declare",
        "open",
        "sealed",
        "data",
        "local",
        "inline",
    ];
    const BEGINS: &[&str] = &[
        "fn",
        "def",
        "class",
        "struct",
        "enum",
        "trait",
        "impl",
        "mod",
        "interface",
        "type",
        "func",
        "function",
        "module",
        "namespace",
        "union",
        "macro_rules!",
        "fun",
        "object",
        "record",
        "sub",
        "proc",
        "defmodule",
        "defp",
        "instance",
        "const",
        "let",
        "var",
        "create",
        "message",
        "service",
    ];
    if line.starts_with([' ', '\t', '}', ')', ']', '/', '#', '*', '-', '@']) {
        return false;
    }
    let mut words = line.split([' ', '<', '(']).filter(|word| !word.is_empty());
    let first = words.find(|word| !BEFORE.contains(word)).unwrap_or_default();
    BEGINS.contains(&first.to_ascii_lowercase().trim_end_matches('*'))
        || (line.ends_with('{') && line.contains('('))
}

/// Splits a section into pieces that are not too large, cut where it does the least harm.
fn pieces(text: &str, section: Range<usize>, size: Size) -> Vec<Range<usize>> {
    let most = size.most.max(64);
    let overlap = size.overlap.min(most / 2);
    let mut found = Vec::new();
    let mut start = section.start;
    while section.end - start > most {
        let limit = text.floor_char_boundary(start + most);
        let window = &text[start..limit];
        // A cut in the first half would make crumbs.
        let half = window.floor_char_boundary(most / 2);
        let after = |mark: &str| {
            window[half..]
                .rfind(mark)
                .map(|at| start + half + at + mark.len())
        };
        let cut = after("\n\n")
            .or_else(|| after("\n"))
            .or_else(|| after(". "))
            .or_else(|| after(" "))
            .unwrap_or(limit);
        found.push(start..cut);
        // What is repeated begins with a line, or else with a word.
        let again = text.ceil_char_boundary(cut - overlap);
        let repeated = &text[again..cut];
        let begin = match repeated.find('\n').or_else(|| repeated.find(' ')) {
            Some(at) if overlap > 0 => again + at + 1,
            _ => cut,
        };
        start = begin.max(start + 1);
        while !text.is_char_boundary(start) {
            start += 1;
        }
    }
    found.push(start..section.end);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size {
        most: 2000,
        overlap: 0,
    };

    fn cut(form: Form, text: &str, size: Size) -> Vec<(String, &str, (u32, u32))> {
        chunks("dir/my_file.rs", form, None, text, size)
            .into_iter()
            .map(|chunk| (chunk.title, &text[chunk.bytes], chunk.lines))
            .collect()
    }

    #[test]
    fn headings_begin_sections_except_in_code() {
        let text = "# T\n\n```\n# not a heading\n```\n## S ##\n### D\nbody\n\nmore\n## Next\nlast";
        assert_eq!(
            cut(Form::Markdown, text, SIZE),
            [
                ("T".to_owned(), "```\n# not a heading\n```", (3, 5)),
                ("T › S › D".to_owned(), "body\n\nmore", (8, 10)),
                ("T › Next".to_owned(), "last", (12, 12)),
            ]
        );
        assert_eq!(
            cut(Form::Markdown, "# T\n## A\n\n## B\n### C\n## D\nd\n## E", SIZE),
            [
                ("T › A".to_owned(), "## A", (2, 2)),
                ("T › B › C".to_owned(), "### C", (5, 5)),
                ("T › D".to_owned(), "d", (7, 7)),
                ("T › E".to_owned(), "## E", (8, 8)),
            ],
            "a heading with nothing below it is found, one with others below is in their titles"
        );
        assert_eq!(cut(Form::Markdown, "no heading", SIZE)[0].0, "my file");
        assert_eq!(cut(Form::Markdown, "  \n\n", SIZE), []);
    }

    #[test]
    fn a_heading_without_an_end_is_text_of_its_section() {
        for text in [
            format!("# {}", "a".repeat(3_900_000)),
            format!("# {}\n{}", "ä b ".repeat(50_000), "text\n\n".repeat(40_000)),
            format!("<h1>{}", "a".repeat(100_000)),
        ] {
            let found = chunks(
                "a.md",
                Form::Markdown,
                None,
                &text,
                Size {
                    most: 2000,
                    overlap: 200,
                },
            );
            let titles: usize = found.iter().map(|chunk| chunk.title.len()).sum();
            let bodies: usize = found.iter().map(|chunk| chunk.bytes.len()).sum();
            assert!(bodies >= text.trim().len() - 2 * found.len(), "nothing is lost");
            assert!(titles <= found.len() * (MAX_TITLE * 4 + 3), "{titles}");
        }
        let deep: String = (1..=6)
            .map(|level| format!("{} {}\n", "#".repeat(level), "t".repeat(199)))
            .collect();
        let many = format!("{deep}{}", "###### x\n".repeat(100_000));
        let found = cut(Form::Markdown, &many, SIZE);
        assert!(
            found
                .iter()
                .all(|(title, ..)| title.chars().count() <= MAX_TITLE + 1)
        );
    }

    #[test]
    fn functions_are_chunks_with_what_stands_above_them() {
        let filler = "    work();\n".repeat(40);
        let text = format!(
            "use a;\n\n/// Reads.\n#[inline]\npub fn read(x: u8) -> u8 {{\n{filler}}}\n\nimpl<T> Thing<T> {{\n{filler}}}\n\nfn a() {{}}\nfn b() {{}}\n"
        );
        let found = cut(Form::Code, &text, SIZE);
        let titles: Vec<&str> = found.iter().map(|(title, ..)| title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "my_file.rs",
                "my_file.rs › pub fn read(x: u8) -> u8",
                "my_file.rs › impl<T> Thing<T>",
                "my_file.rs › fn a() {}"
            ]
        );
        assert!(found[1].1.starts_with("/// Reads.\n#[inline]"));
        assert_eq!(found[3].1, "fn a() {}\nfn b() {}");
        for line in [
            "def f(x):",
            "class A:",
            "export default async function f() {",
            "int main(int c) {",
            "func (t T) F() {",
            "CREATE TABLE x (",
            "export const x = () => {",
        ] {
            assert!(is_definition(line), "{line}");
        }
        for line in [
            "}",
            "return x",
            "import x",
            "# def f",
            "    def inner(self):",
            "x = 3",
        ] {
            assert!(!is_definition(line), "{line}");
        }
    }

    #[test]
    fn long_sections_are_cut_between_paragraphs_and_repeat_a_little() {
        let text = (0..400)
            .map(|n| format!("Paragraph {n} says a word or two.\n\n"))
            .collect::<String>();
        let found = cut(Form::Plain, &text, SIZE);
        assert!(found.len() > 5);
        for (_, piece, _) in &found {
            assert!(
                piece.len() <= 2000 && piece.starts_with("Paragraph") && piece.ends_with("two."),
                "{piece}"
            );
        }
        let overlapping = Size { overlap: 200, ..SIZE };
        let again = cut(Form::Plain, &text, overlapping);
        for pair in again.windows(2) {
            let next = pair[1].1.lines().next().unwrap();
            assert!(pair[0].1.contains(next), "the next one repeats {next:?}");
        }
        // No spaces, many bytes a sign: still cut, still whole signs, nothing lost.
        let dense = "刹车需要放气".repeat(2000);
        let found = cut(
            Form::Plain,
            &dense,
            Size {
                most: 500,
                overlap: 0,
            },
        );
        assert_eq!(
            found.iter().map(|(_, piece, _)| *piece).collect::<String>(),
            dense
        );
        let repeated = cut(
            Form::Plain,
            &dense,
            Size {
                most: 64,
                overlap: 64,
            },
        );
        assert!(repeated.len() < dense.len(), "it ends");
    }

    #[test]
    fn every_piece_names_its_place() {
        let text = "first\n\nsecond line\nthird ü line\n";
        for chunk in chunks("a.txt", Form::Plain, None, text, Size { most: 64, overlap: 8 }) {
            let before = text[..chunk.bytes.start].matches('\n').count() + 1;
            assert_eq!(chunk.lines.0 as usize, before);
        }
        let page = chunks("m.pdf", Form::Pdf, Some(3), "text", SIZE);
        assert_eq!(page[0].title, "m › page 3");
    }
}
