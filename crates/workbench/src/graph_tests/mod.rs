//! Tests of graphs: made of threads, listed, run, and accepted. How a test is played and compared is known to
//! `superstep_nodes::testing`; what of a graph tests take is counted here.

mod coverage;
mod thread;
mod trial;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use superstep::{CheckpointId, ThreadId};
use superstep_document::text;
use superstep_nodes::models::{RECORDINGS, TestAnswers};
use superstep_nodes::testing::{FOLDER, GraphTest, Played};

pub use coverage::{Coverage, CoveredAnswer, CoveredNode, CoveredWay};
pub use thread::{TestedThread, ThreadTest, test_of_thread};
use trial::Reasons;
pub use trial::{TriedTest, test_file};

use crate::Workbench;
use crate::base::blocking;
use crate::base::files::write_over;
use crate::documents::GraphSource;
use crate::running::busy;
use crate::wire::{
    GraphRef, GraphTests, MakeTest, ModelRecording, Problem, RunModels, RunStatus, RunTest, TestEntry,
    TestMade, TestResult,
};

/// Returns the file of a graph, beside which its tests are.
fn file_of(source: &GraphSource) -> Result<PathBuf, Problem> {
    source.path.clone().ok_or_else(|| {
        Problem::invalid(text!(
            "{name} is in no file yet, and tests are kept beside the file of a graph.",
            name = &source.name
        ))
        .remedy(text!("Save the graph first."))
    })
}

/// Returns who answers for the models of a test: what is recorded beside the graph, if anything is.
fn models(graph: &Path) -> RunModels {
    let is_kept = graph
        .parent()
        .is_some_and(|folder| folder.join(RECORDINGS).exists());
    RunModels {
        scripted: None,
        recording: is_kept.then_some(ModelRecording::Replay),
    }
}

fn entry(path: &Path) -> TestEntry {
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    match GraphTest::read(path) {
        Ok(test) => TestEntry {
            name,
            about: test.about,
            inputs: count(test.inputs.len()),
            answers: count(test.answers.len()),
            error: None,
        },
        Err(error) => TestEntry {
            name,
            about: String::new(),
            inputs: 0,
            answers: 0,
            error: Some(error.to_string()),
        },
    }
}

/// A test that was played in a workbench.
struct PlayedHere {
    path: PathBuf,
    /// The text of its file.
    text: String,
    test: GraphTest,
    played: Played,
    result: TestResult,
}

impl Workbench {
    pub(crate) async fn test_list(self: &Arc<Self>, request: GraphRef) -> Result<GraphTests, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let Some(path) = source.path else {
            return Ok(GraphTests {
                folder: None,
                tests: Vec::new(),
            });
        };
        blocking(move || {
            let folder = path.parent().unwrap_or(Path::new("")).join(FOLDER);
            let files = GraphTest::files_beside(&path);
            let files = files.map_err(|error| Problem::file(text!("list"), &folder, &error))?;
            Ok(GraphTests {
                folder: Some(folder.display().to_string()),
                tests: files.iter().map(|file| entry(file)).collect(),
            })
        })
        .await?
    }

    pub(crate) async fn test_make(self: &Arc<Self>, request: MakeTest) -> Result<TestMade, Problem> {
        let thread_id = request.thread_id.as_str();
        let source = match &request.graph_id {
            Some(graph) => self.document(graph)?.source(),
            None => self.source_by_key(&self.key_of_thread(thread_id).await?)?,
        };
        let path = file_of(&source)?;
        let job = self.job(request.work.clone());
        let made = self
            .thread_as_test(thread_id, request.checkpoint_id.as_deref())
            .await?;
        let (name, file) = made.name(&path, request.name.as_deref())?;
        let answers = made.answers(&path, &name)?;
        let models = RunModels {
            recording: Some(ModelRecording::Replay),
            ..models(&path)
        };
        let (this, of, with) = (self.clone(), source.clone(), answers.clone());
        let graph = blocking(move || this.build_tested(&of, with, &models)).await??;
        let mut tried = tokio::select! {
            tried = made.tried(graph, &source.document) => tried,
            () = job.stop().cancelled() => return Err(stopped()),
        };
        self.forget_exchanges(tried.task_ids());
        tried.choose(request.about, request.must_hold.as_ref(), request.holds);
        if request.leave_out {
            tried.leave_out();
        }
        if request.write {
            tried.write(&file, &answers)?;
        }
        Ok(tried.view(name, &file, &answers, request.write))
    }

    /// Reads the test that a thread is.
    pub(crate) async fn thread_as_test(
        self: &Arc<Self>,
        thread_id: &str,
        checkpoint: Option<&str>,
    ) -> Result<ThreadTest, Problem> {
        if self.thread(thread_id).await?.status == RunStatus::Running {
            return Err(busy(text!("Thread {thread_id} is running.", thread_id)));
        }
        let checkpoint = checkpoint.map(CheckpointId::from);
        // What a thread did is read with the graph that did it.
        let built = self.reading_graph(thread_id).await?.ok_or_else(|| {
            Problem::invalid(text!(
                "Thread {thread_id} cannot be made a test: its graph cannot be built here.",
                thread_id
            ))
            .remedy(text!(
                "Correct the graph, or choose a thread of a graph that runs here."
            ))
        })?;
        let thread = ThreadId::from(thread_id);
        let saver = self.saver();
        thread::read(
            TestedThread {
                graph: &built.graph,
                document: &built.source.document,
                saver: &*saver,
                thread: &thread,
                checkpoint: checkpoint.as_ref(),
            },
            Some(&*self.ledger),
        )
        .await
    }

    pub(crate) async fn test_run(self: &Arc<Self>, request: RunTest) -> Result<TestResult, Problem> {
        Ok(self.played(request).await?.result)
    }

    pub(crate) async fn test_accept(self: &Arc<Self>, request: RunTest) -> Result<TestResult, Problem> {
        let mut played = self.played(request).await?;
        if !played.result.acceptable {
            return match played.result.passed {
                true => Ok(played.result),
                false => Err(Problem::invalid(text!(
                    "What came of {name} cannot be accepted: the test says something else than the graph does.",
                    name = &played.result.name
                ))
                .remedy(text!("Correct the test's inputs, answers, edits or expressions."))),
            };
        }
        played.test.accept(played.played.outcome);
        let new = played.test.to_text();
        let is_written = write_over(&played.path, new.as_bytes(), Some(played.text.as_bytes()))
            .map_err(|error| Problem::file(text!("write"), &played.path, &error))?;
        match is_written {
            true => Ok(TestResult {
                passed: true,
                differences: Vec::new(),
                acceptable: false,
                ..played.result
            }),
            false => Err(Problem::new(
                "conflict",
                text!(
                    "{path} was changed by another program meanwhile.",
                    path = played.path.display().to_string()
                ),
            )
            .remedy(text!("Run the test again."))),
        }
    }

    /// Plays a test of an open document.
    async fn played(self: &Arc<Self>, request: RunTest) -> Result<PlayedHere, Problem> {
        let source = self.document(&request.graph_id)?.source();
        let graph = file_of(&source)?;
        let path = test_file(&graph, &request.name)?;
        let job = self.job(request.work);
        let (this, of, file, name) = (self.clone(), source.clone(), path.clone(), request.name.clone());
        let (test, text, built) = blocking(move || {
            let (test, text) = GraphTest::read_with_text(&file).map_err(|error| {
                Problem::invalid(error.to_string())
                    .remedy(text!("Correct the file, or delete it and make the test again."))
            })?;
            let folder = graph.parent().unwrap_or(Path::new(""));
            let answers = TestAnswers::of(&name, folder);
            let answers = answers.map_err(|error| Problem::invalid(error.to_string()))?;
            let built = this.build_tested(&of, Arc::new(answers), &models(&graph))?;
            Ok::<_, Problem>((test, text, built))
        })
        .await??;
        let began = Instant::now();
        let played = tokio::select! {
            played = test.play(built, &source.document) => played,
            () = job.stop().cancelled() => return Err(stopped()),
        };
        self.forget_exchanges(&played.task_ids);
        let millis = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
        let divergences = test.divergences(&played);
        let result = TestResult {
            name: request.name,
            passed: divergences.is_empty(),
            millis,
            differences: Reasons::of(&source.document).differences(&divergences, &played),
            acceptable: GraphTest::is_acceptable(&divergences),
        };
        Ok(PlayedHere {
            path,
            text,
            test,
            played,
            result,
        })
    }

    /// Forgets what tasks of a test asked models: nobody looks at it.
    fn forget_exchanges(&self, tasks: &[String]) {
        for task in tasks {
            drop(self.registry.exchanges().take(task));
        }
    }
}

fn stopped() -> Problem {
    superstep::RunError::Cancelled.into()
}
