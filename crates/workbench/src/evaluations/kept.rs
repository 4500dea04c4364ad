//! Results of evaluations, kept in the data folder: a line for each row that ended, and one for each evaluation.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use superstep_nodes::files;

use crate::base::files::make_data_dir;
use crate::wire::{EvaluatedRow, EvaluatedVariant, PastEvaluation, Problem};

/// The folder of results in the data folder.
const FOLDER: &str = "evaluations";

impl PastEvaluation {
    /// Returns an evaluation that has just ended.
    pub fn now(variants: Vec<EvaluatedVariant>) -> Self {
        Self {
            at: crate::base::files::now(),
            variants,
        }
    }
}

impl EvaluatedRow {
    /// Returns whether a limit or a stop kept it from its end.
    pub fn is_cut(&self) -> bool {
        self.status == "limit" || self.status == "stopped"
    }

    /// Returns whether it came to an end of its own, and would be the same again.
    fn is_whole(&self) -> bool {
        self.status == "done" || self.status == "interrupted"
    }
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KeptLine<R, E> {
    Row(R),
    Run(E),
}

type OwnedLine = KeptLine<EvaluatedRow, PastEvaluation>;

/// The results of one evaluation, of now and of before.
#[derive(Debug, Default)]
pub struct KeptResults {
    path: PathBuf,
    /// By what they depend on.
    known: HashMap<String, EvaluatedRow>,
    /// The last ones by variant, case and repetition.
    last: HashMap<(String, String, u32), EvaluatedRow>,
    runs: Vec<PastEvaluation>,
    file: Option<Mutex<File>>,
}

impl KeptResults {
    /// Opens the results of the evaluation at `evaluation` in a data folder. Lines that cannot be read, as the last one of a
    /// program that was killed, are passed over.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(data_dir: &Path, evaluation: &Path) -> Result<Self, Problem> {
        let path = place(data_dir, evaluation);
        let unusable = |error| unusable(&path, &error);
        let folder = path.parent().unwrap_or(data_dir);
        make_data_dir(data_dir)
            .and_then(|()| fs::create_dir_all(folder))
            .map_err(unusable)?;
        let mut kept = Self::read(&path)?;
        kept.file = Some(Mutex::new(open_at_end(&path).map_err(unusable)?));
        Ok(kept)
    }

    /// Reads how the evaluation at `evaluation` came out before, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn runs_of(data_dir: &Path, evaluation: &Path) -> Result<Vec<PastEvaluation>, Problem> {
        Ok(Self::read(&place(data_dir, evaluation))?.runs)
    }

    fn read(path: &Path) -> Result<Self, Problem> {
        let text = match files::read_own(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unusable(path, &error)),
        };
        let mut kept = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(OwnedLine::Row(row)) => kept.take(row),
                Ok(OwnedLine::Run(run)) => kept.runs.push(run),
                Err(_) => {}
            }
        }
        Ok(kept)
    }

    fn take(&mut self, row: EvaluatedRow) {
        let of = (row.variant.clone(), row.case.clone(), row.repeat);
        self.last.insert(of, row.clone());
        if row.is_whole() {
            self.known.insert(row.key.clone(), row);
        }
    }

    /// Returns the result of a row whose everything is as it was.
    pub(super) fn find(&self, key: &str) -> Option<&EvaluatedRow> {
        self.known.get(key)
    }

    /// Returns the last result of a row in a variant, on whatever graph.
    pub(super) fn before(&self, now: &EvaluatedRow) -> Option<&EvaluatedRow> {
        self.last
            .get(&(now.variant.clone(), now.case.clone(), now.repeat))
    }

    /// Returns where the results are kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the result of a row.
    pub(super) fn keep(&self, row: &EvaluatedRow) {
        self.write(&KeptLine::<_, ()>::Row(row));
    }

    /// Keeps an evaluation that has ended.
    pub fn keep_run(&self, run: &PastEvaluation) {
        self.write(&KeptLine::<(), _>::Run(run));
    }

    /// Writes a line in one piece: other programs may write into the same file.
    fn write(&self, line: &impl Serialize) {
        let Some(file) = &self.file else { return };
        let written = serde_json::to_string(line)
            .map_err(io::Error::from)
            .and_then(|line| file.lock().write_all(format!("{line}\n").as_bytes()));
        if let Err(error) = written {
            tracing::warn!(%error, path = %self.path.display(), "a result of an evaluation was not kept");
        }
    }
}

/// Returns where the results of an evaluation are kept. Two evaluations of one name have places of their own.
fn place(data_dir: &Path, evaluation: &Path) -> PathBuf {
    let whole = evaluation
        .canonicalize()
        .unwrap_or_else(|_| evaluation.to_owned());
    let hash = xxhash_rust::xxh3::xxh3_64(whole.to_string_lossy().as_bytes());
    let name = evaluation.file_stem().unwrap_or_default().to_string_lossy();
    data_dir.join(FOLDER).join(format!("{name}-{hash:016x}.jsonl"))
}

fn unusable(path: &Path, error: &io::Error) -> Problem {
    Problem::new(
        "evaluation-results",
        format!("The results in {} cannot be kept: {error}.", path.display()),
    )
    .remedy("Check the data folder and its space. The file may be deleted: the rows run again then.")
}

/// Opens a file for lines at its end, after one that was not finished as well.
fn open_at_end(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(path)?;
    if file.seek(SeekFrom::End(0))? > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_and_a_cut_line_costs_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let evaluation = folder.path().join("e.json");
        let row = |key: &str, status: &str| EvaluatedRow {
            key: key.to_owned(),
            case: "c".to_owned(),
            variant: "v".to_owned(),
            status: status.to_owned(),
            repeat: 1,
            ..EvaluatedRow::default()
        };
        let kept = KeptResults::open(folder.path(), &evaluation).unwrap();
        kept.keep(&row("a", "done"));
        kept.keep(&row("b", "failed"));
        let path = kept.path().to_owned();
        drop(kept);
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"row\": {\"key\": \"x").unwrap();
        drop(file);
        let kept = KeptResults::open(folder.path(), &evaluation).unwrap();
        kept.keep(&row("d", "done"));
        let kept = KeptResults::open(folder.path(), &evaluation).unwrap();
        assert_eq!(kept.find("a"), Some(&row("a", "done")));
        assert_eq!(kept.find("b"), None, "a failure may not come again");
        assert_eq!(kept.find("d"), Some(&row("d", "done")));
        assert_eq!(kept.before(&row("z", "done")).unwrap().key, "d");
    }
}
