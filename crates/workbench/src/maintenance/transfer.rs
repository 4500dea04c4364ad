//! Threads in files: written to one, and read from one.

use std::io::{BufReader, BufWriter};
use std::sync::Arc;

use superstep::value::Object;
use superstep::{ThreadId, Value};
use superstep_storage::transfer::{self, TransferError};

use crate::Workbench;
use crate::base::files::{self, Staged};
use crate::base::problem::no_thread;
use crate::ledger::{Carried, RUN_RECORDS};
use crate::wire::{ExportThread, ImportThread, Problem, ThreadExported, ThreadView};
use superstep_document::text;

/// Converts an error about a file that a thread is written to or read from.
fn transfer_problem(error: TransferError, path: &std::path::Path) -> Problem {
    match error {
        TransferError::Storage(error) => error.into(),
        TransferError::NoThread(thread) => no_thread(thread.as_str()),
        TransferError::Taken(_) => {
            Problem::new("conflict", format!("{error}.")).remedy(text!("Delete the other thread first."))
        }
        TransferError::File { doing, cause } => {
            let doing = if doing == "read" {
                text!("read")
            } else {
                text!("write")
            };
            Problem::file(doing, path, &cause)
        }
        TransferError::Format { .. } => Problem::new(
            "broken-file",
            text!(
                "{path}: {error}.",
                path = path.display().to_string(),
                error = error.to_string()
            ),
        )
        .remedy(text!(
            "Choose a file that was exported from a thread, and export it again if it was cut off."
        )),
        TransferError::Stopped => Problem::new("stopped", text!("It was stopped. Nothing was changed.")),
    }
}

impl Workbench {
    pub(crate) async fn thread_export(
        self: &Arc<Self>,
        request: ExportThread,
    ) -> Result<ThreadExported, Problem> {
        let view = self.thread(&request.thread_id).await?;
        let path = files::absolute(&request.path)?;
        let wrong = |error: &std::io::Error| Problem::file(text!("write"), &path, error);
        let id = request.thread_id.clone();
        // What the runs have done by now is written first.
        let records = self
            .runs
            .records
            .keeper()
            .ask(move |ledger| ledger.carried(&id))
            .await?;
        let records = serde_json::to_value(records).unwrap_or_default();
        let about: Object = [
            ("title", view.title.as_str().into()),
            ("graph", view.graph_name.as_str().into()),
            (RUN_RECORDS, Value::from(records)),
        ]
        .into_iter()
        .collect();
        let (work, saver) = (self.job(request.work), self.saver());
        let staged = Staged::begin(&path).map_err(|error| wrong(&error))?;
        let mut out = BufWriter::new(&staged.file);
        let thread = ThreadId::from(request.thread_id.as_str());
        let checkpoints = transfer::export(&*saver, &thread, &about, &mut out, &|done, total| {
            work.at(done, total)
        })
        .await
        .map_err(|error| transfer_problem(error, &path))?;
        drop(out);
        let bytes = staged.file.metadata().map_err(|error| wrong(&error))?.len();
        staged.finish().map_err(|error| wrong(&error))?;
        Ok(ThreadExported {
            path: path.to_string_lossy().into_owned(),
            checkpoints,
            bytes,
        })
    }

    pub(crate) async fn thread_import(
        self: &Arc<Self>,
        request: ImportThread,
    ) -> Result<ThreadView, Problem> {
        let path = files::absolute(&request.path)?;
        let (work, saver) = (self.job(request.work), self.saver());
        let watch = |done, total| work.at(done, total);
        let open = || {
            superstep_nodes::files::open(&path).map_err(|error| Problem::file(text!("read"), &path, &error))
        };
        let mut input = BufReader::new(open()?);
        let came = match transfer::import(&*saver, &mut input, None, &watch).await {
            // It was exported from here, or imported before: it comes back beside the one that is there.
            Err(TransferError::Taken(_)) => {
                let name = ThreadId::from(uuid::Uuid::now_v7().to_string());
                let mut input = BufReader::new(open()?);
                transfer::import(&*saver, &mut input, Some(&name), &watch).await
            }
            came => came,
        };
        let came = came.map_err(|error| transfer_problem(error, &path))?;
        let text = |name: &str| {
            came.about
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let summary = saver.thread(&came.thread).await?;
        let Some(summary) = summary else {
            return Err(Problem::new(
                "broken-file",
                text!("{path} has no checkpoint.", path = path.display().to_string()),
            )
            .remedy(text!("Export the thread again.")));
        };
        let mut row = self.adopt(&summary).await?;
        if !text("title").is_empty() {
            row.title = text("title");
        }
        self.ledger.rename(&row, &self.database.place())?;
        let id = came.thread.as_str();
        if let Some(carried) = Carried::of(&came.about) {
            self.ledger.take_in(id, &carried)?;
        }
        self.publish_thread(id).await;
        self.publish_inbox(None);
        self.thread(id).await
    }
}
