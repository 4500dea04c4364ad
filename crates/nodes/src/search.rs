//! Full-text search over a folder of Markdown: SQLite FTS5 in memory, one row per section.
//!
//! The index of a folder is kept between searches and rebuilt when a file was added, removed or changed (path, time,
//! size). A search never fails on what a user typed: only the words of the query reach FTS5.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use rusqlite::{Connection, params};

/// Largest file that is read.
const MAX_FILE: u64 = 1024 * 1024;
/// Most files of one folder.
const MAX_FILES: usize = 2000;
/// Largest sum of file sizes.
const MAX_TOTAL: u64 = 32 * 1024 * 1024;
/// Longest section; longer ones are split between paragraphs.
const MAX_SECTION: usize = 2000;
/// Words of a query that are used.
const MAX_WORDS: usize = 32;

/// A section that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// File, relative to the folder, with `/`.
    pub path: String,
    /// `Document › Section`.
    pub title: String,
    /// The section's text.
    pub text: String,
    /// Higher is better; BM25.
    pub score: f64,
}

/// Why a folder cannot be searched.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchError {
    /// The graph has no folder yet.
    NoGraphFolder,
    /// There is no such folder.
    Missing(PathBuf),
    /// It is not inside the graph's folder.
    Outside(String),
    /// Too many or too large files.
    TooLarge(PathBuf, String),
    /// Reading failed.
    Read(PathBuf, String),
    /// SQLite failed.
    Index(String),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::NoGraphFolder => {
                f.write_str("the graph is not saved yet, so it has no folder to search in. Save it first.")
            }
            SearchError::Missing(path) => {
                write!(
                    f,
                    "there is no folder {}. Create it, or correct the setting `folder`.",
                    path.display()
                )
            }
            SearchError::Outside(folder) => write!(
                f,
                "the folder {folder:?} is outside the graph's own folder. Name a folder inside it, without `..` and links."
            ),
            SearchError::TooLarge(path, why) => {
                write!(f, "{} is too large to search: {why}.", path.display())
            }
            SearchError::Read(path, cause) => write!(f, "{} cannot be read: {cause}.", path.display()),
            SearchError::Index(cause) => write!(f, "the search index failed: {cause}."),
        }
    }
}

impl std::error::Error for SearchError {}

/// The folder `folder` of the graph in `root`, proven to be inside it.
pub fn resolve(root: Option<&Path>, folder: &str) -> Result<PathBuf, SearchError> {
    let root = root.ok_or(SearchError::NoGraphFolder)?;
    let relative = Path::new(folder);
    let plain = relative.components().all(|part| {
        matches!(
            part,
            std::path::Component::Normal(_) | std::path::Component::CurDir
        )
    });
    if !plain || folder.contains('\\') {
        return Err(SearchError::Outside(folder.to_owned()));
    }
    let path = root.join(relative);
    let real_root = root
        .canonicalize()
        .map_err(|_| SearchError::Missing(root.to_owned()))?;
    let real = path
        .canonicalize()
        .map_err(|_| SearchError::Missing(path.clone()))?;
    if !real.starts_with(&real_root) {
        return Err(SearchError::Outside(folder.to_owned()));
    }
    if !real.is_dir() {
        return Err(SearchError::Missing(path));
    }
    Ok(real)
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStamp {
    path: PathBuf,
    modified: Option<SystemTime>,
    size: u64,
}

struct Index {
    stamps: Vec<FileStamp>,
    db: Connection,
}

/// Indexes by folder.
#[derive(Default)]
pub struct Folders {
    indexes: Mutex<HashMap<PathBuf, Arc<Mutex<Option<Index>>>>>,
}

impl fmt::Debug for Folders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Folders")
    }
}

impl Folders {
    /// The best `limit` sections of the Markdown files below `folder` (as [`resolve`] gave it). Blocks the thread.
    pub fn search(&self, folder: &Path, query: &str, limit: usize) -> Result<Vec<Hit>, SearchError> {
        let slot = {
            let mut indexes = self
                .indexes
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            indexes.entry(folder.to_owned()).or_default().clone()
        };
        let stamps = scan(folder)?;
        let mut index = slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if index.as_ref().is_none_or(|index| index.stamps != stamps) {
            *index = Some(build(folder, stamps)?);
        }
        match (index.as_ref(), match_expression(query)) {
            (Some(index), Some(words)) => lookup(&index.db, &words, limit),
            _ => Ok(Vec::new()),
        }
    }
}

/// All Markdown files below `folder`, sorted; links are not followed, hidden ones are skipped.
fn scan(folder: &Path) -> Result<Vec<FileStamp>, SearchError> {
    let mut stamps = Vec::new();
    let mut folders = vec![folder.to_owned()];
    let mut total = 0;
    while let Some(current) = folders.pop() {
        let failed = |e: std::io::Error| SearchError::Read(current.clone(), e.to_string());
        for entry in fs::read_dir(&current).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("md")) {
                let meta = entry.metadata().map_err(failed)?;
                if meta.len() > MAX_FILE {
                    return Err(SearchError::TooLarge(
                        path,
                        format!("a file may have {} MB", MAX_FILE / 1024 / 1024),
                    ));
                }
                total += meta.len();
                stamps.push(FileStamp {
                    path,
                    modified: meta.modified().ok(),
                    size: meta.len(),
                });
                if stamps.len() > MAX_FILES || total > MAX_TOTAL {
                    let why = format!(
                        "{MAX_FILES} files and {} MB are the limit",
                        MAX_TOTAL / 1024 / 1024
                    );
                    return Err(SearchError::TooLarge(folder.to_owned(), why));
                }
            }
        }
    }
    stamps.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(stamps)
}

fn build(folder: &Path, stamps: Vec<FileStamp>) -> Result<Index, SearchError> {
    let failed = |e: rusqlite::Error| SearchError::Index(e.to_string());
    let mut db = Connection::open_in_memory().map_err(failed)?;
    db.execute_batch(
        "CREATE VIRTUAL TABLE section USING fts5(
            path UNINDEXED, title UNINDEXED, text UNINDEXED, title_words, words,
            tokenize = \"porter unicode61 remove_diacritics 2\");",
    )
    .map_err(failed)?;
    let transaction = db.transaction().map_err(failed)?;
    {
        let mut insert = transaction
            .prepare(
                "INSERT INTO section (path, title, text, title_words, words) VALUES (?1, ?2, ?3, ?4, ?5)",
            )
            .map_err(failed)?;
        for stamp in &stamps {
            let bytes =
                fs::read(&stamp.path).map_err(|e| SearchError::Read(stamp.path.clone(), e.to_string()))?;
            let relative = stamp.path.strip_prefix(folder).unwrap_or(&stamp.path);
            let name = relative
                .iter()
                .map(|part| part.to_string_lossy())
                .collect::<Vec<_>>()
                .join("/");
            for section in sections(&name, &String::from_utf8_lossy(&bytes)) {
                insert
                    .execute(params![
                        name,
                        section.title,
                        section.text,
                        spaced(&section.title),
                        spaced(&section.text)
                    ])
                    .map_err(failed)?;
            }
        }
    }
    transaction.commit().map_err(failed)?;
    Ok(Index { stamps, db })
}

#[derive(Debug, PartialEq)]
struct Section {
    title: String,
    text: String,
}

/// Cuts a document at its headings. The first heading of level one (or the file's name) is the document's title.
fn sections(name: &str, markdown: &str) -> Vec<Section> {
    let mut document: Option<String> = None;
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut text = String::new();
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    let fallback = || {
        name.rsplit('/')
            .next()
            .unwrap_or(name)
            .trim_end_matches(".md")
            .replace(['-', '_'], " ")
    };
    let mut flush = |document: &Option<String>, path: &[(usize, String)], text: &mut String| {
        let body = text.trim();
        if !body.is_empty() {
            let title = document
                .iter()
                .cloned()
                .chain(document.is_none().then(fallback))
                .chain(path.iter().map(|(_, heading)| heading.clone()))
                .collect::<Vec<_>>()
                .join(" › ");
            for piece in pieces(body) {
                found.push(Section {
                    title: title.clone(),
                    text: piece,
                });
            }
        }
        text.clear();
    };
    for line in markdown.lines() {
        let start = line.trim_start();
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            Some(_) => {}
            None => {
                fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
                let level = line.chars().take_while(|c| *c == '#').count();
                if (1..=6).contains(&level) && line[level..].starts_with([' ', '\t']) {
                    flush(&document, &path, &mut text);
                    let heading = line[level..].trim().trim_end_matches('#').trim().to_owned();
                    if level == 1 && document.is_none() {
                        document = Some(heading);
                    } else {
                        path.retain(|(above, _)| *above < level);
                        path.push((level, heading));
                    }
                    continue;
                }
            }
        }
        text.push_str(line);
        text.push('\n');
    }
    flush(&document, &path, &mut text);
    found
}

fn pieces(body: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for paragraph in body.split("\n\n") {
        let full = pieces
            .last()
            .is_some_and(|last| !last.is_empty() && last.len() + paragraph.len() > MAX_SECTION);
        if full {
            pieces.push(String::new());
        }
        if let Some(last) = pieces.last_mut() {
            if !last.is_empty() {
                last.push_str("\n\n");
            }
            last.push_str(paragraph);
        }
    }
    pieces
}

/// Words that say nothing about what is looked for; ignored unless the query has no others.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "could", "did", "do", "does", "for", "from",
    "had", "has", "have", "how", "i", "if", "in", "is", "it", "its", "me", "my", "of", "on", "or", "our",
    "should", "so", "that", "the", "their", "then", "there", "they", "this", "to", "was", "we", "were",
    "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// Is this a sign of a script that is written without spaces between words?
fn unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// The text as it is indexed: Chinese and Japanese signs stand alone, because nothing else tells their words apart.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    for c in text.chars() {
        if unspaced(c) {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    spaced
}

/// The words of the query, each quoted, any of which may match; `None` when there is no word. Of a run of Chinese or
/// Japanese signs, each pair of neighbours is a word.
fn match_expression(query: &str) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for part in query.split(|c: char| !c.is_alphanumeric()) {
        let signs: Vec<char> = part.chars().collect();
        for run in signs.chunk_by(|a, b| unspaced(*a) == unspaced(*b)) {
            match run {
                [one] if unspaced(*one) => words.push(one.to_string()),
                [first, ..] if unspaced(*first) => {
                    words.extend(run.windows(2).map(|pair| format!("{} {}", pair[0], pair[1])));
                }
                run => words.push(run.iter().collect::<String>().to_lowercase()),
            }
        }
    }
    let telling: Vec<&String> = words
        .iter()
        .filter(|word| !COMMON.contains(&word.as_str()))
        .collect();
    let mut chosen = if telling.is_empty() {
        words.iter().collect()
    } else {
        telling
    };
    let mut seen = std::collections::HashSet::new();
    chosen.retain(|word| seen.insert(word.as_str()));
    chosen.truncate(MAX_WORDS);
    (!chosen.is_empty()).then(|| {
        chosen
            .iter()
            .map(|word| format!("\"{word}\""))
            .collect::<Vec<_>>()
            .join(" OR ")
    })
}

fn lookup(db: &Connection, words: &str, limit: usize) -> Result<Vec<Hit>, SearchError> {
    let failed = |e: rusqlite::Error| SearchError::Index(e.to_string());
    let mut statement = db
        .prepare_cached(
            "SELECT path, title, text, -bm25(section, 0.0, 0.0, 0.0, 3.0, 1.0) AS score FROM section
             WHERE section MATCH ?1 ORDER BY score DESC, path, rowid LIMIT ?2",
        )
        .map_err(failed)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement
        .query_map(params![words, limit], |row| {
            let score: f64 = row.get(3)?;
            Ok(Hit {
                path: row.get(0)?,
                title: row.get(1)?,
                text: row.get(2)?,
                score: (score * 1000.0).round() / 1000.0,
            })
        })
        .map_err(failed)?;
    rows.collect::<Result<_, _>>().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn sections_are_found_by_words_and_ranked() {
        let dir = folder(&[
            (
                "brakes.md",
                "# Brakes\n\nIntro.\n\n## Disc brakes\n\nBleed the brakes once a year.\n\n## Rim brakes\n\nReplace pads.\n",
            ),
            (
                "deep/tyres.md",
                "# Tyres\n\nA tyre needs pressure. The brakes do not.\n",
            ),
            ("notes.txt", "brakes brakes brakes"),
        ]);
        let folders = Folders::default();
        let hits = folders
            .search(dir.path(), "How do I bleed my disc brake?", 10)
            .unwrap();
        assert_eq!(
            (hits[0].path.as_str(), hits[0].title.as_str()),
            ("brakes.md", "Brakes › Disc brakes")
        );
        assert!(hits.iter().all(|hit| hit.path != "notes.txt"), "only Markdown");
        assert!(
            hits.windows(2).all(|pair| pair[0].score >= pair[1].score),
            "best first"
        );
        let tyres = folders.search(dir.path(), "pressure", 10).unwrap();
        assert_eq!(tyres[0].path, "deep/tyres.md");
        assert_eq!(
            folders.search(dir.path(), "brakes", 1).unwrap().len(),
            1,
            "the limit holds"
        );
        assert_eq!(folders.search(dir.path(), "zebra", 5).unwrap(), []);
    }

    #[test]
    fn no_query_is_a_syntax_error() {
        let dir = folder(&[("a.md", "# A\n\nalpha and NEAR beta\n")]);
        let folders = Folders::default();
        for query in [
            "\"",
            "a AND",
            "NEAR(",
            "text:x",
            "alpha*",
            "^",
            "(((",
            "col : 'x' -- ",
            "\u{0}",
            "",
            "   ",
            "'; DROP TABLE section; --",
            "-alpha",
            "+",
        ] {
            folders
                .search(dir.path(), query, 3)
                .unwrap_or_else(|e| panic!("{query:?}: {e}"));
        }
        assert_eq!(folders.search(dir.path(), "\"ALPHA\" OR", 3).unwrap().len(), 1);
    }

    #[test]
    fn scripts_without_spaces_are_searched_by_pairs_of_signs() {
        let dir = folder(&[
            ("刹车.md", "# 刹车\n\n碟刹需要每年放气一次。\n"),
            ("轮胎.md", "# 轮胎\n\n轮胎需要气压。\n"),
        ]);
        let folders = Folders::default();
        let hits = folders.search(dir.path(), "碟刹怎么放气？", 5).unwrap();
        assert_eq!(hits[0].path, "刹车.md");
        assert_eq!(
            hits[0].text, "碟刹需要每年放气一次。",
            "the text is given as it is written"
        );
        assert_eq!(folders.search(dir.path(), "链条", 5).unwrap(), []);
        assert_eq!(
            match_expression("E-bike 电池abc").unwrap(),
            "\"e\" OR \"bike\" OR \"电 池\" OR \"abc\""
        );
    }

    #[test]
    fn a_changed_folder_is_indexed_again() {
        let dir = folder(&[("a.md", "# A\n\none\n")]);
        let folders = Folders::default();
        assert_eq!(folders.search(dir.path(), "two", 3).unwrap(), []);
        fs::write(dir.path().join("b.md"), "two two").unwrap();
        let hits = folders.search(dir.path(), "two", 3).unwrap();
        assert_eq!(
            (hits.len(), hits[0].title.as_str()),
            (1, "b"),
            "a file without heading is titled by its name"
        );
        fs::write(dir.path().join("a.md"), "# A\n\ntwo at last\n").unwrap();
        assert_eq!(folders.search(dir.path(), "two", 3).unwrap().len(), 2);
        fs::remove_file(dir.path().join("b.md")).unwrap();
        assert_eq!(folders.search(dir.path(), "two", 3).unwrap().len(), 1);
    }

    #[test]
    fn headings_in_code_are_no_headings_and_long_sections_are_split() {
        let found = sections(
            "x.md",
            "# T\n\n```\n# not a heading\n```\n## S ##\n### D\nbody\n## Next\nmore\n",
        );
        let titles: Vec<_> = found.iter().map(|s| s.title.as_str()).collect();
        assert_eq!(titles, ["T", "T › S › D", "T › Next"]);
        assert!(found[0].text.contains("# not a heading"));
        let long = format!("# L\n\n{}", "word word word.\n\n".repeat(400));
        let split = sections("l.md", &long);
        assert!(
            split.len() > 1 && split.iter().all(|s| s.text.len() <= MAX_SECTION + 20),
            "{}",
            split.len()
        );
    }

    #[test]
    fn only_folders_inside_the_graph_are_reached() {
        let dir = folder(&[("graph/docs/a.md", "x"), ("secret/b.md", "y")]);
        let root = dir.path().join("graph");
        assert!(resolve(Some(&root), "docs").is_ok());
        assert!(resolve(Some(&root), "./docs").is_ok());
        for outside in ["../secret", "docs/../../secret", "/etc", "..", "..\\secret"] {
            assert!(
                matches!(resolve(Some(&root), outside), Err(SearchError::Outside(_))),
                "{outside}"
            );
        }
        assert!(matches!(
            resolve(Some(&root), "nowhere"),
            Err(SearchError::Missing(_))
        ));
        assert!(matches!(resolve(None, "docs"), Err(SearchError::NoGraphFolder)));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(dir.path().join("secret"), root.join("link")).unwrap();
            assert!(
                matches!(resolve(Some(&root), "link"), Err(SearchError::Outside(_))),
                "a link leads outside"
            );
            std::os::unix::fs::symlink(dir.path().join("secret/b.md"), root.join("docs/b.md")).unwrap();
            let hits = Folders::default().search(&root.join("docs"), "y", 5).unwrap();
            assert_eq!(hits, [], "links to files are not followed");
        }
    }
}
