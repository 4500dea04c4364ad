//! Searches documents: full text, vectors, and both together, over a folder or a file.
//!
//! A place is indexed when it is searched, and only what changed since the last time is read again. Where the host gives a
//! folder for them, indexes outlive the program. A search never fails on what a user typed, and not because of a file that
//! cannot be read; what was left out is reported.

mod chunk;
mod embed;
mod error;
mod files;
mod index;
mod location;
pub mod reader;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;

use chunk::Size;
pub use embed::{Embedder, NGRAMS};
pub use error::SearchError;
use files::Form;
use index::{Index, IndexWork, Ranked, Stored};
pub(crate) use location::access;
pub use location::{SearchPlace, resolve};
use reader::{Reader, ReaderProgram};

/// Indexes that nobody has used for so long are removed.
const FORGOTTEN: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Chunks of either ranking that take part when both are joined.
const CANDIDATES: usize = 60;
/// How much a rank counts for less than the one before it: the usual constant of reciprocal rank fusion.
const DAMPING: f64 = 60.0;

/// Method of finding documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = crate::base::config_schema::choice_list)]
pub enum Mode {
    /// By their words.
    #[default]
    Words,
    /// By their vectors.
    Vectors,
    /// By both: what stands high in either ranking comes first.
    Both,
}

/// Place, query and settings of a search.
#[derive(Clone, Debug)]
pub struct Search {
    /// Folder or file, as [`resolve`] gave it.
    pub place: PathBuf,
    /// Patterns of the files in it; all that can be read when there are none.
    pub files: Vec<String>,
    /// What is looked for.
    pub query: String,
    /// Most hits.
    pub limit: usize,
    /// How they are found.
    pub mode: Mode,
    /// What makes the vectors.
    pub embedder: Embedder,
    /// Largest chunk, in bytes.
    pub size: usize,
    /// How much of a chunk the next one repeats.
    pub overlap: usize,
}

/// A chunk that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// File, relative to the place, with `/`.
    pub path: String,
    /// `Document › Section`.
    pub title: String,
    /// The chunk's text.
    pub text: String,
    /// Higher is better: BM25, the cosine, or the joined ranks.
    pub score: f64,
    /// BM25, when its words were looked for and found.
    pub words: Option<f64>,
    /// The cosine of its vector and the query's, when vectors were compared.
    pub similarity: Option<f64>,
    /// The page, in a PDF.
    pub page: Option<u32>,
    /// First and last line of the file; of its text, for PDF and HTML.
    pub lines: (u32, u32),
    /// First byte, and the one after the last, of the file; of the page's text for PDF, of the text for HTML.
    pub bytes: (usize, usize),
    /// Its place for people: `guide.md:3-12`, `manual.pdf, page 4`.
    pub cite: String,
}

/// Results of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Files that are searched.
    pub files: usize,
    /// Files that could not be read, and why.
    pub problems: Vec<(String, String)>,
}

/// Progress of an indexing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexProgress {
    /// `reading` or `embedding`.
    pub what: &'static str,
    /// Files or chunks that are done.
    pub done: usize,
    /// Of how many.
    pub all: usize,
    /// The file that is being read.
    pub file: String,
}

/// The index of a place; `None` until it is opened.
type IndexSlot = Arc<Mutex<Option<Index>>>;

/// Indexes of places.
#[derive(Default)]
pub struct Folders {
    kept: Option<PathBuf>,
    reader: Option<ReaderProgram>,
    indexes: Mutex<HashMap<String, IndexSlot>>,
}

impl fmt::Debug for Folders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folders")
            .field("kept", &self.kept)
            .finish_non_exhaustive()
    }
}

impl Folders {
    /// Indexes that are kept as files in `folder`.
    pub fn kept_in(mut self, folder: PathBuf) -> Self {
        self.kept = Some(folder);
        self
    }

    /// Sets the program that reads PDF and HTML; see [`reader`]. Without one they are not searched.
    pub fn read_by(mut self, program: Option<ReaderProgram>) -> Self {
        self.reader = program;
        self
    }

    /// Indexes what has changed, and searches. Blocks the thread, on which `runtime` must not be working.
    pub fn search(
        &self,
        search: &Search,
        runtime: &Handle,
        progress: &dyn Fn(IndexProgress),
        stop: &dyn Fn() -> bool,
    ) -> Result<Hits, SearchError> {
        let chosen = files::patterns(&search.place, &search.files)?;
        let files = files::walk(&search.place, &chosen, stop)?;
        let size = Size {
            most: search.size,
            overlap: search.overlap,
        };
        let name = name_of(search, size);
        let slot = {
            let mut indexes = self.indexes.lock();
            indexes.entry(name.clone()).or_default().clone()
        };
        let mut slot = slot.lock();
        let index = match slot.as_mut() {
            Some(index) => index,
            None => slot.insert(Index::open(self.file(&name).as_deref(), size)?),
        };
        let mut work = IndexWork {
            reader: Reader::new(self.reader.as_ref()),
            progress,
            stop,
        };
        index.update(&files, &mut work)?;
        if search.mode != Mode::Words {
            index.embed(&search.embedder, runtime, &work)?;
        }
        find(index, search, runtime)
    }

    /// Returns the file of an index; `None` if indexes are in memory or there is no place for them.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let folder = self.kept.as_ref()?;
        if let Err(e) = std::fs::create_dir_all(folder) {
            tracing::warn!(folder = %folder.display(), "search indexes are not kept: {e}");
            return None;
        }
        sweep(folder);
        Some(folder.join(format!("{name}.db")))
    }
}

/// Returns the name of an index: one for each place, choice of files and way of cutting.
fn name_of(search: &Search, size: Size) -> String {
    let text = format!("{:?} {:?} {size:?}", search.place, search.files);
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Removes indexes that nobody uses any longer.
fn sweep(folder: &Path) {
    let now = SystemTime::now();
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let used = entry.metadata().and_then(|facts| facts.modified());
        let old = used.is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age > FORGOTTEN));
        if old
            && entry
                .path()
                .extension()
                .is_some_and(|end| end.to_string_lossy().starts_with("db"))
        {
            // Another program may have been faster.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn find(index: &Index, search: &Search, runtime: &Handle) -> Result<Hits, SearchError> {
    let (files, problems) = index.problems()?;
    let mut found = Hits {
        hits: Vec::new(),
        files,
        problems,
    };
    let Some(words) = words::match_expression(&search.query) else {
        return Ok(found);
    };
    let candidates = match search.mode {
        Mode::Both => search.limit.max(CANDIDATES),
        Mode::Words | Mode::Vectors => search.limit,
    };
    let by_words = match search.mode {
        Mode::Vectors => Ranked::new(),
        Mode::Words | Mode::Both => index.by_words(&words, candidates)?,
    };
    let by_vector = match search.mode {
        Mode::Words => Ranked::new(),
        Mode::Vectors | Mode::Both => {
            let vectors = runtime.block_on(search.embedder.embed(vec![search.query.clone()]))?;
            let query = vectors.first().map(Vec::as_slice).unwrap_or_default();
            index.by_vector(search.embedder.name(), query, candidates)?
        }
    };
    let ranked = match search.mode {
        Mode::Words => by_words.clone(),
        Mode::Vectors => by_vector.clone(),
        Mode::Both => fused(&by_words, &by_vector),
    };
    let score_in = |ranking: &Ranked, id: i64| {
        let found = ranking.iter().find(|(other, _)| *other == id);
        found.map(|(_, score)| round(*score))
    };
    for (id, score) in ranked.into_iter().take(search.limit) {
        let Some(stored) = index.stored(id)? else { continue };
        found.hits.push(Hit {
            score: round(score),
            words: score_in(&by_words, id),
            similarity: score_in(&by_vector, id),
            cite: cite(&stored),
            path: stored.path,
            title: stored.title,
            text: stored.text,
            page: stored.page,
            lines: stored.lines,
            bytes: (stored.bytes.start, stored.bytes.end),
        });
    }
    Ok(found)
}

/// Merges two rankings by reciprocal rank fusion: the ranks count and not the scores, which cannot be compared.
fn fused(a: &Ranked, b: &Ranked) -> Ranked {
    let mut joined: Vec<(i64, f64)> = Vec::new();
    for ranking in [a, b] {
        for (rank, (id, _)) in ranking.iter().enumerate() {
            let worth = 1.0 / (DAMPING + rank as f64 + 1.0);
            match joined.iter_mut().find(|(known, _)| known == id) {
                Some((_, score)) => *score += worth,
                None => joined.push((*id, worth)),
            }
        }
    }
    // Stable: of equals, the one that the words found comes first.
    joined.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    joined
}

fn round(score: f64) -> f64 {
    match score.abs() < 0.1 {
        true => (score * 1e6).round() / 1e6,
        false => (score * 1e3).round() / 1e3,
    }
}

fn cite(stored: &Stored) -> String {
    match (stored.form, stored.page, stored.lines) {
        (Form::Pdf, Some(page), _) => format!("{}, page {page}", stored.path),
        (Form::Html | Form::Pdf, ..) => stored.path.clone(),
        (_, _, (first, last)) if first == last => format!("{}:{first}", stored.path),
        (_, _, (first, last)) => format!("{}:{first}-{last}", stored.path),
    }
}

/// Formats hits as a part of a prompt, numbered so that an answer can name them.
pub fn as_text(hits: &[Hit]) -> String {
    let one =
        |(place, hit): (usize, &Hit)| format!("[{}] {} ({})\n{}", place + 1, hit.title, hit.cite, hit.text);
    hits.iter().enumerate().map(one).collect::<Vec<_>>().join("\n\n")
}
