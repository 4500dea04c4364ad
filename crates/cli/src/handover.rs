//! Requests for a folder of threads that another program of the user has open: that program does what they say, and what
//! happens is shown as if it happened here. A folder has one user, so there is no other way to its threads.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value as Json, json};
use superstep::{ThreadId, Value};
use superstep_workbench::ipc::{self, Ending, HandedGraph, HandedRun, Peer, Reported};
use superstep_workbench::wire::{
    EffectChoice, Inbox, RunAction, RunLabels, StartRun, ThreadList, ThreadView, Updated,
};
use tokio_util::sync::CancellationToken;

use crate::args::threads::ListArgs;
use crate::args::{DeleteArgs, Effects, ResumeArgs, RunArgs, Running, UpdateArgs};
use crate::confirm::confirm_deletion;
use crate::fault::Fault;
use crate::graph::GraphFile;
use crate::input::{Answered, context, given, no_input};
use crate::listing::{GraphFilter, Row, word};
use crate::out::{self, quoted};
use crate::place::{self, Store, program_of};
use crate::progress::{Again, json};
use crate::report::{Report, left_unanswered, show_edit, stop_on_ctrl_c};

/// Threads of a page.
const PAGE: u32 = 1000;

/// A program that has the threads open, and takes requests.
#[derive(Debug)]
pub(crate) struct Handover {
    program: Peer,
    /// The option that names the database again.
    option: String,
}

/// Builds the request for a run that is sent to the other program.
fn handed_run(
    thread: &str,
    action: RunAction,
    graph: Option<HandedGraph>,
    known: Option<&ThreadView>,
    args: &Running,
    modes: Vec<String>,
) -> HandedRun {
    let kept = known.and_then(|known| known.models.clone()).unwrap_or_default();
    let labels = Some(args.labels()).filter(|labels| *labels != RunLabels::default());
    let before = known.and_then(|known| known.labels.clone()).unwrap_or_default();
    HandedRun {
        start: StartRun {
            graph_id: None,
            thread_id: Some(thread.to_owned()),
            action,
            break_before: args.interrupt_before.clone(),
            break_after: args.interrupt_after.clone(),
            breakpoints: args.breaks.clone(),
            step_task: args.step_task.clone(),
            single_step: false,
            step_into: false,
            effects: BTreeMap::new(),
            recursion_limit: args.recursion_limit,
            models: Some(args.models().or(kept)),
            labels: labels.map(|labels| labels.or(before)),
            pinned: Some(
                args.pins
                    .iter()
                    .map(|(node, output)| (node.clone(), json(output)))
                    .collect(),
            ),
            context: args.context.values.as_ref().map(json),
            take_over: args.take_over,
            graph_version: args.graph_version.map(Into::into),
            renamed: args.renamed.iter().cloned().collect(),
        },
        graph,
        modes,
        max_concurrency: args.max_concurrency,
        effects: args.effects.map(|effects| match effects {
            Effects::Reuse => EffectChoice::Reuse,
            Effects::Again => EffectChoice::Again,
            Effects::Stop => EffectChoice::Stop,
        }),
    }
}

impl Handover {
    /// Returns the program that requests for this storage are handed to; `None` when this program handles them.
    pub(crate) async fn to(db: &crate::args::Db, refused: bool) -> Result<Option<Self>, Fault> {
        let (url, option) = Store::named(db)?;
        if refused {
            return Ok(None);
        }
        Ok(program_of(&url).await.map(|program| Self { program, option }))
    }

    async fn ask<T: serde::de::DeserializeOwned>(&self, command: &str, request: Json) -> Result<T, Fault> {
        let answer = self.program.call(command, request).await?;
        serde_json::from_value(answer).map_err(|error| {
            Fault::failed(format!(
                "The answer of {} is not understood: {error}. Start it again in this version.",
                self.program.hello().program
            ))
        })
    }

    async fn thread(&self, thread: &str) -> Result<Option<ThreadView>, Fault> {
        let asked = self.program.call("thread.get", json!({"threadId": thread}));
        match asked.await {
            Ok(view) => Ok(serde_json::from_value(view).ok()),
            Err(problem) if problem.code == "not-found" => Ok(None),
            Err(problem) => Err(problem.into()),
        }
    }

    /// Runs `superstep threads show` in the other program.
    pub(crate) async fn row(&self, thread: &str) -> Result<Row, Fault> {
        Ok(row(self.known(thread).await?))
    }

    /// Runs `superstep threads list` in the other program.
    pub(crate) async fn list(&self, args: &ListArgs) -> Result<Vec<Row>, Fault> {
        let mut request = json!({"limit": PAGE});
        if let Some(status) = args.status {
            request["status"] = word(status).into();
        }
        if let Some(search) = &args.search {
            request["search"] = search.as_str().into();
        }
        request["labels"] = serde_json::to_value(args.labels()).unwrap_or_default();
        let graph = match &args.graph {
            Some(graph) => {
                let has = async |wanted| self.has_thread_of(wanted).await;
                Some(GraphFilter::read(graph, has).await?)
            }
            None => None,
        };
        let (mut rows, mut begun) = (Vec::new(), args.after.is_none());
        let most = args.limit.map_or(usize::MAX, Into::into);
        loop {
            let page: ThreadList = self.ask("thread.list", request.clone()).await?;
            for view in page.threads {
                let is_last = args.after.as_ref() == Some(&view.thread_id);
                let fits = |graph: &GraphFilter| graph.fits(view.graph_path.as_deref(), &view.graph_name);
                if begun && graph.as_ref().is_none_or(fits) {
                    rows.push(row(view));
                }
                begun |= is_last;
                if rows.len() == most {
                    return Ok(rows);
                }
            }
            match page.next {
                Some(next) => request["after"] = next.into(),
                None => return Ok(rows),
            }
        }
    }

    /// Checks whether the other program has a thread of a graph.
    async fn has_thread_of(&self, wanted: GraphFilter) -> Result<bool, Fault> {
        let mut request = json!({"limit": PAGE});
        loop {
            let page: ThreadList = self.ask("thread.list", request.clone()).await?;
            let mut threads = page.threads.iter();
            if threads.any(|view| wanted.fits(view.graph_path.as_deref(), &view.graph_name)) {
                return Ok(true);
            }
            match page.next {
                Some(next) => request["after"] = next.into(),
                None => return Ok(false),
            }
        }
    }

    /// Runs `superstep delete` in the other program.
    pub(crate) async fn delete(&self, args: &DeleteArgs) -> Result<(), Fault> {
        let mut checkpoints = 0;
        for thread in &args.threads {
            checkpoints += u64::from(self.known(thread).await?.checkpoints);
        }
        confirm_deletion(args, checkpoints)?;
        for thread in &args.threads {
            let request = json!({"threadId": thread, "takeOver": args.take_over});
            let _: Json = self.ask("thread.delete", request).await?;
            out::note(&format!("Deleted {thread}."));
        }
        Ok(())
    }

    async fn known(&self, thread: &str) -> Result<ThreadView, Fault> {
        let found = self.thread(thread).await?;
        found.ok_or_else(|| {
            Fault::usage(format!(
                "There is no thread {thread} in {}.",
                self.program.hello().storage
            ))
        })
    }

    /// Runs `superstep run` in the other program.
    pub(crate) async fn run(self, file: GraphFile, mut args: RunArgs) -> Result<(), Fault> {
        args.running.context.values = context(&file, &args.running.context)?;
        let known = match &args.thread {
            Some(thread) => self.thread(thread).await?,
            None => None,
        };
        let input = given(&file, args.input, args.example.as_deref())?;
        let action = match (input, &known, args.checkpoint) {
            (Some(input), known, checkpoint_id) => {
                if let (Some(known), None) = (known, &checkpoint_id) {
                    let head = known.head.as_deref().unwrap_or_default();
                    left_unanswered(&known.thread_id, head, known.questions.into(), &self.option);
                }
                RunAction::Input {
                    input: json(&input),
                    checkpoint_id,
                }
            }
            (None, Some(_), Some(checkpoint_id)) => RunAction::Replay {
                checkpoint_id,
                within: None,
            },
            (None, Some(_), None) => RunAction::Continue,
            (None, None, _) => {
                return Err(no_input(
                    &file,
                    args.thread.as_deref().map(ThreadId::from).as_ref(),
                ));
            }
        };
        let thread = args.thread.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let graph = handed(&file);
        self.drive(thread, action, Some(graph), known.as_ref(), &args.running)
            .await
    }

    /// Runs `superstep resume` in the other program.
    pub(crate) async fn resume(self, mut args: ResumeArgs) -> Result<(), Fault> {
        let known = self.known(&args.thread).await?;
        if args.running.context.set.is_some() {
            let path = args.graph.clone().or(known.graph_path.clone().map(PathBuf::from));
            let path = path.ok_or_else(|| {
                Fault::usage(format!(
                    "The graph of thread {} is in no file. Give the context with --context, or name a file with --graph.",
                    args.thread
                ))
            })?;
            args.running.context.values = context(&GraphFile::read(&path)?, &args.running.context)?;
        }
        let own = superstep_workbench::person(&place::data_dir()?);
        if let Some(name) = args.name.as_ref().filter(|name| Some(*name) != own.as_ref()) {
            return Err(Fault::usage(format!(
                "{} answers for the person of its settings, not for {name}. Answer there, or close it and do this again.",
                self.program.hello().program
            )));
        }
        let answers = match Answered::of(&args)? {
            Some(Answered::Each(answers)) => {
                let answers = answers.iter();
                Some(
                    answers
                        .map(|(id, answer)| (id.to_string(), json(answer)))
                        .collect(),
                )
            }
            Some(Answered::One(answer, id)) => {
                let id = match id {
                    Some(id) => id,
                    None => self.only_question(&known, args.checkpoint.as_deref()).await?,
                };
                Some(BTreeMap::from([(id, json(&answer))]))
            }
            None => None,
        };
        let action = match (answers, args.checkpoint) {
            (Some(answers), checkpoint_id) => RunAction::Resume {
                answers,
                checkpoint_id,
            },
            (None, Some(checkpoint_id)) => RunAction::Replay {
                checkpoint_id,
                within: None,
            },
            (None, None) => RunAction::Continue,
        };
        let file = args.graph.as_deref().map(GraphFile::read).transpose()?;
        let graph = file.as_ref().map(handed);
        self.drive(args.thread, action, graph, Some(&known), &args.running)
            .await
    }

    /// Returns the question that an answer without an id is for.
    async fn only_question(&self, thread: &ThreadView, at: Option<&str>) -> Result<String, Fault> {
        let inbox: Inbox = self
            .ask("inbox.list", json!({"threadId": thread.thread_id}))
            .await?;
        let at = at.or(thread.head.as_deref());
        let mut asked = (inbox.questions.into_iter())
            .filter(|question| at.is_none_or(|at| question.checkpoint_id == at))
            .map(|question| question.interrupt_id);
        match (asked.next(), asked.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(Fault::usage(format!(
                "Thread {} asks no question, or somebody has answered it already.",
                thread.thread_id
            ))),
            (Some(first), Some(second)) => Err(Fault::usage(format!(
                "Several questions wait, {first} and {second} among them. Say with --id which one is answered."
            ))),
        }
    }

    /// Runs `superstep update` in the other program.
    pub(crate) async fn update(self, args: UpdateArgs) -> Result<(), Fault> {
        if args.graph.is_some() {
            return Err(Fault::usage(format!(
                "{} edits the thread with its own graph. Leave --graph out, or close it and do this again.",
                self.program.hello().program
            )));
        }
        let mut request = json!({
            "threadId": args.thread, "values": args.values, "skipStep": args.skip_step, "preview": args.preview,
            "takeOver": args.take_over,
        });
        for (name, value) in [("checkpointId", &args.checkpoint), ("asNode", &args.as_node)] {
            if let Some(value) = value {
                request[name] = value.as_str().into();
            }
        }
        let updated: Updated = self.ask("thread.update", request).await?;
        show_edit(
            &args.thread,
            updated.checkpoint_id.as_deref(),
            &updated.as_node,
            &updated.next,
            args.reading.json,
            &Again::thread(&args.thread, &self.option).whole(),
        )
    }

    /// Hands a run over, shows it, and says how it ended.
    async fn drive(
        self,
        thread: String,
        action: RunAction,
        graph: Option<HandedGraph>,
        known: Option<&ThreadView>,
        args: &Running,
    ) -> Result<(), Fault> {
        if args.trust {
            return Err(Fault::usage(format!(
                "--trust holds for a run of this program only, and {} would run the graph. Allow what it wants with \
                 `superstep trust GRAPH`.",
                self.program.hello().program
            )));
        }
        let mut report = Report::new(args, &thread, &self.option, true);
        let modes = report.modes().iter().map(ToString::to_string).collect();
        let handed = handed_run(&thread, action, graph, known, args, modes);
        let (run, mut reports) = self.program.run(handed).await?;
        report.begin(&run.run_id)?;
        let cancel = CancellationToken::new();
        stop_on_ctrl_c(cancel.clone());
        let stop = async {
            cancel.cancelled().await;
            self.program.call("run.stop", json!({"threadId": thread})).await
        };
        let mut stop = std::pin::pin!(stop);
        let mut stopped = false;
        let ending = loop {
            let reported = tokio::select! {
                answer = &mut stop, if !stopped => {
                    stopped = true;
                    if let Err(problem) = answer {
                        out::note(&format!("superstep: {}", problem.message));
                    }
                    continue;
                }
                reported = reports.recv() => reported,
            };
            match reported {
                Some(Reported::Event { lost, event }) => {
                    if lost {
                        out::note("Some events are missing here: they came faster than they were taken.");
                    }
                    if !report.show(&event) {
                        cancel.cancel();
                    }
                }
                Some(Reported::Ended { ending }) => break ending,
                None => return Err(self.gone(&thread)),
            }
        };
        if let Ending::Result { interrupts, .. } = &ending
            && interrupts.iter().all(is_wait)
            && !interrupts.is_empty()
        {
            out::note(&format!(
                "{} goes on with it in time.",
                self.program.hello().program
            ));
        }
        report.ended(ending)
    }

    fn gone(&self, thread: &str) -> Fault {
        Fault::failed(format!(
            "{} does not answer any more. What was finished is kept; see how the thread stands with `superstep threads show \
             {}{}`.",
            self.program.hello().program,
            quoted(thread),
            self.option
        ))
    }
}

fn row(view: ThreadView) -> Row {
    let status = serde_json::to_value(view.status).unwrap_or_default();
    Row {
        thread: view.thread_id,
        status: status.as_str().unwrap_or_default().to_owned(),
        graph: view.graph_name,
        graph_path: view.graph_path.unwrap_or_default(),
        step: view.step.into(),
        next: view.next,
        newest: view.head,
        checkpoints: view.checkpoints.into(),
        questions: view.questions.into(),
        program: view.program,
        labels: view.labels.unwrap_or_default(),
        created: view.created_at,
        updated: view.updated_at,
    }
}

fn is_wait(question: &Value) -> bool {
    question
        .get("value")
        .is_some_and(superstep_nodes::kinds::ask::is_wait)
}

fn handed(file: &GraphFile) -> HandedGraph {
    HandedGraph {
        path: file.path.clone(),
        content: ipc::content_of(&file.document),
    }
}
