//! The commands of evaluations: those of an open graph are listed and run, and threads become rows.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superstep_document::{Document, text};

use super::evaluator::{EvaluationSetup, Evaluator};
use super::file::{EvaluationFile, FOLDER};
use super::kept::KeptResults;
use super::rows::{append_row, row_of_test};
use super::summary::summarize;
use crate::Workbench;
use crate::base::blocking;
use crate::documents::GraphSource;
use crate::what_if::WorkbenchGraphs;
use crate::wire::{
    AddEvaluationRow, Empty, EvaluatedRow, EvaluationEntry, EvaluationList, EvaluationResult,
    EvaluationRowView, GraphRef, PastEvaluation, Problem, ReadEvaluationRow, RunEvaluation, RunModels,
};

/// Runs of an evaluation that an interface is given.
const MAX_ROWS_SHOWN: usize = 1_000;
/// Evaluations of the past that an interface is given.
const MAX_HISTORY: usize = 20;

/// Returns the file of an evaluation beside a graph.
fn file_of(source: &GraphSource, name: &str) -> Result<PathBuf, Problem> {
    let unknown = || {
        Problem::not_found(text!("There is no evaluation {name} beside the graph.", name))
            .remedy(text!("Load the list again."))
    };
    let graph = source.path.as_deref().ok_or_else(unknown)?;
    let files = EvaluationFile::files_beside(graph).map_err(|_| unknown())?;
    let named = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == name);
    files.into_iter().find(named).ok_or_else(unknown)
}

fn entry(path: &Path, document: &Document, data_dir: &Path) -> EvaluationEntry {
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let read = EvaluationFile::read(path).and_then(|file| {
        let rows = file.read_rows(path, document)?;
        Ok((file, rows))
    });
    match read {
        Ok((file, rows)) => {
            let mut history = KeptResults::runs_of(data_dir, path).unwrap_or_default();
            history.reverse();
            history.truncate(MAX_HISTORY);
            // Which rows turned is read where the evaluation runs.
            let variants = history
                .iter_mut()
                .flat_map(|past: &mut PastEvaluation| &mut past.variants);
            variants.for_each(|one| {
                one.worse.clear();
                one.better.clear();
            });
            EvaluationEntry {
                name,
                variants: file.variants().into_iter().map(|variant| variant.name).collect(),
                about: file.about,
                rows: u32::try_from(rows.len()).unwrap_or(u32::MAX),
                at_least: file.at_least,
                error: None,
                history,
            }
        }
        Err(problem) => EvaluationEntry {
            name,
            error: Some(problem.message),
            ..EvaluationEntry::default()
        },
    }
}

impl Workbench {
    pub(crate) async fn evaluation_list(
        self: &Arc<Self>,
        request: GraphRef,
    ) -> Result<EvaluationList, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let Some(path) = source.path else {
            return Ok(EvaluationList {
                folder: None,
                evaluations: Vec::new(),
            });
        };
        let data_dir = self.instance.data_dir().to_owned();
        blocking(move || {
            let folder = path.parent().unwrap_or(Path::new("")).join(FOLDER);
            let files = EvaluationFile::files_beside(&path);
            let files = files.map_err(|error| Problem::file(text!("list"), &folder, &error))?;
            let entries = files.iter().map(|file| entry(file, &source.document, &data_dir));
            Ok(EvaluationList {
                folder: Some(folder.display().to_string()),
                evaluations: entries.collect(),
            })
        })
        .await?
    }

    pub(crate) async fn evaluation_run(
        self: &Arc<Self>,
        request: RunEvaluation,
    ) -> Result<EvaluationResult, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let path = file_of(&source, &request.name)?;
        let job = self.job(request.work.clone());
        let (this, again) = (self.clone(), request.again);
        let (evaluator, kept) = blocking(move || {
            let file = EvaluationFile::read(&path)?;
            let rows = file.read_rows(&path, &source.document)?;
            let kept = KeptResults::open(this.instance.data_dir(), &path)?;
            let evaluator = Evaluator::new(EvaluationSetup {
                document: source.document.clone(),
                host: Arc::new(WorkbenchGraphs {
                    workbench: this,
                    source,
                }),
                models: RunModels::default(),
                file,
                path: &path,
                rows: (1..).zip(rows).collect(),
                only: Vec::new(),
                again,
            })?;
            Ok::<_, Problem>((evaluator, kept))
        })
        .await??;
        let (ended, total) = (AtomicU64::new(0), evaluator.runs() as u64);
        let progress = |_: &EvaluatedRow| {
            job.at(ended.fetch_add(1, Ordering::Relaxed) + 1, total);
        };
        let mut rows = evaluator.run(&kept, job.stop(), &progress).await;
        let variants = summarize(&evaluator.variants(), &rows, &kept);
        let stopped = job.stop().is_cancelled();
        if !stopped {
            kept.keep_run(&PastEvaluation::now(variants.clone()));
        }
        rows.sort_by_key(|row| row.passed != Some(false));
        let left_out = rows.len().saturating_sub(MAX_ROWS_SHOWN);
        rows.truncate(MAX_ROWS_SHOWN);
        Ok(EvaluationResult {
            name: request.name,
            variants,
            rows,
            left_out: u32::try_from(left_out).unwrap_or(u32::MAX),
            stopped,
            judging: evaluator.judging().0,
        })
    }

    pub(crate) async fn evaluation_row(
        self: &Arc<Self>,
        request: ReadEvaluationRow,
    ) -> Result<EvaluationRowView, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let path = file_of(&source, &request.name)?;
        blocking(move || {
            let rows = EvaluationFile::read(&path)?.read_rows(&path, &source.document)?;
            let place = (request.row as usize).checked_sub(1);
            let row = place
                .and_then(|place| rows.into_iter().nth(place))
                .ok_or_else(|| {
                    Problem::not_found(text!("The data set has no row {row}.", row = request.row))
                        .remedy(text!("Load the list again."))
                })?;
            Ok(EvaluationRowView {
                name: row.name,
                inputs: row.inputs,
                expect: row.expect,
            })
        })
        .await?
    }

    pub(crate) async fn evaluation_add(
        self: &Arc<Self>,
        request: AddEvaluationRow,
    ) -> Result<Empty, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let path = file_of(&source, &request.name)?;
        let made = self
            .thread_as_test(&request.thread_id, request.checkpoint_id.as_deref())
            .await?;
        blocking(move || {
            let file = EvaluationFile::read(&path)?;
            let row = row_of_test(made.test(), request.row, &file.expected_keys(&source.document));
            append_row(&file.rows_file(&path), &row)?;
            Ok(Empty {})
        })
        .await?
    }
}
