//! A run of an attached LangGraph program: its process runs it, and what it says is taken like the events of a run of ours.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::{Metadata, Source};
use superstep::run::RunStatus as Ended;
use superstep::stream::{CheckpointEvent, Payload, TaskEnd, TaskStart};
use superstep::value::Object;
use superstep::{Failure, Interrupt, Name, RunError, RunResult, StreamEvent, Value};
use superstep_document::text;
use superstep_nodes::attach::{
    AttachError, AttachFaultCode, AttachedEvent, AttachedInput, AttachedRun, AttachedState, RunSpec,
};

use super::program_points::ProgramPoints;
use super::reader::{RunReader, RunStream};
use crate::Workbench;
use crate::base::values::{MAX_TITLE, first_text};
use crate::documents::seen::{Attachment, no_program};
use crate::ledger::ThreadRow;
use crate::running::StopHandle;
use crate::wire::{AppEvent, Json, Problem, RunAction, RunStop, RunView, StartRun};

/// Kinds of events that are asked for.
const MODES: [&str; 4] = ["tasks", "checkpoints", "messages", "custom"];
/// How often is looked whether the run is to stop after its step.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Workbench {
    /// Runs the attached program on a thread of its own database.
    pub(super) async fn run_attached(self: &Arc<Self>, mut request: StartRun) -> Result<RunView, Problem> {
        self.is_of_program(&request).await?;
        let known = request.thread_id.clone();
        let thread_id = known.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        // Before the thread is taken: a program is not started again while it runs one.
        if !self.runs.is_taken(&thread_id) {
            self.current_program().await?;
        }
        let attachment = self.attached().ok_or_else(no_program)?;
        let answers = match &request.action {
            RunAction::Resume { answers, .. } => answers.clone(),
            _ => BTreeMap::new(),
        };
        let slot = self.reserve_attached(&thread_id, answers.keys().cloned().collect())?;
        if let RunAction::Resume { checkpoint_id, .. } = &request.action {
            let at = checkpoint_id.as_deref().map(Into::into);
            let asked_at = self.waiting_for(&thread_id, at.as_ref(), &answers).await?;
            (self.runs).with(&thread_id, |active| active.asked_at = Some(asked_at.to_string()));
        }
        let context = match request.context.take() {
            Some(context) => Some(context),
            None => self.ledger.context(&thread_id)?,
        };
        let title = match self.ledger.thread(&thread_id)? {
            Some(row) => row.title,
            None => match &request.action {
                RunAction::Input { input, .. } => first_text(&Value::from(input.clone()), MAX_TITLE),
                _ => None,
            }
            .unwrap_or_else(|| attachment.document_name()),
        };
        let mut points = points_of(&request, &attachment)?;
        if points.watches() {
            let checkpoint = request.action.checkpoint();
            let state = attachment.program.state(&thread_id, checkpoint).await;
            points.begin(state.map(|state| state.values).unwrap_or_default());
        }
        let spec = spec_of(&thread_id, &request, context.as_ref(), &attachment, &points)?;
        let run = self.new_run(&thread_id);
        let row = ThreadRow {
            thread_id: thread_id.clone(),
            title,
            graph_name: attachment.document_name(),
            graph_key: attachment.named.clone(),
            created_at: run.started_at.clone(),
        };
        self.ledger.thread_began(&row, &self.database.place())?;
        self.ledger.keep_context(&thread_id, context.as_ref())?;
        self.ledger.run_began(&run)?;
        self.note_answers(&thread_id, answers).await?;
        self.runs.with(&thread_id, |active| active.running = true);
        let started = run.view();
        let log = self.runs.records.begin(&thread_id, &run.run_id);
        log.emit(AppEvent::Run { run: started.clone() }, |event| {
            self.hub.publish(event)
        });
        let stream = AttachedStream {
            run: attachment.program.run(&spec),
            spec,
            points,
            ended: None,
            stopped: None,
            thread: thread_id.clone(),
            stop: slot.stop.clone(),
            stopping: false,
            waiting: VecDeque::new(),
            attachment: attachment.clone(),
        };
        let document = Arc::new(attachment.document());
        tokio::spawn(RunReader::new(self.clone(), slot, run, log, document, None).read(stream));
        self.publish_inbox(Some(&thread_id));
        Ok(started)
    }

    /// Refuses a request that is about another graph than the program's.
    async fn is_of_program(&self, request: &StartRun) -> Result<(), Problem> {
        let seen = self.seen().await?;
        let own = seen.as_ref().and_then(|seen| seen.attached());
        match (&request.graph_id, own) {
            (Some(graph), Some(own)) if *graph != own.id => Err(Problem::invalid(text!(
                "Only the graph of the attached program can be run."
            ))
            .remedy(text!("Run that, or open your own threads again."))),
            _ => Ok(()),
        }?;
        // Any of a server's graphs would run on any of its threads.
        let (Some(thread), Some(_)) = (&request.thread_id, self.attached().and_then(|own| own.given()))
        else {
            return Ok(());
        };
        match self.seen_of(thread).await? {
            Some((seen, place)) if !seen.graphs[place].is_attached() => Err(Problem::invalid(text!(
                "The thread is of {name}, and another graph of its server is attached.",
                name = &seen.graphs[place].name
            ))
            .remedy(text!(
                "Open the address of the server with the name of that graph behind it."
            ))),
            _ => Ok(()),
        }
    }
}

impl Attachment {
    pub(crate) fn document_name(&self) -> String {
        crate::session::name_of(&self.document(), None)
    }
}

fn spec_of(
    thread: &str,
    request: &StartRun,
    context: Option<&Json>,
    attachment: &Attachment,
    points: &ProgramPoints,
) -> Result<RunSpec, Problem> {
    let input = match &request.action {
        RunAction::Input { input, .. } if attachment.takes_whole() => {
            AttachedInput::Given(input.get("input").cloned().unwrap_or_default().into())
        }
        RunAction::Input { input, .. } => AttachedInput::Given(input.clone().into()),
        RunAction::Resume { answers, .. } => {
            let answers = answers.iter();
            let answers: Object = answers
                .map(|(id, answer)| (id.as_str(), Value::from(answer.clone())))
                .collect();
            AttachedInput::Answers(answers.into())
        }
        RunAction::Replay { within: Some(_), .. } => {
            return Err(Problem::invalid(text!(
                "An attached program is not run again from within a nested graph."
            ))
            .remedy(text!("Run it again from a checkpoint of the outermost graph.")));
        }
        RunAction::Continue | RunAction::Replay { .. } => AttachedInput::GoOn,
    };
    Ok(RunSpec {
        checkpoint: request.action.checkpoint().map(str::to_owned),
        context: context.map(|context| context.clone().into()),
        modes: MODES.map(str::to_owned).to_vec(),
        break_before: points.stops_before(),
        break_after: points.stops_after(),
        recursion_limit: request.recursion_limit,
        ..RunSpec::new(thread, input)
    })
}

/// Collects where a run stops.
fn points_of(request: &StartRun, attachment: &Attachment) -> Result<ProgramPoints, Problem> {
    // A server says too little of a stop for conditions.
    if attachment.program.program().is_none() {
        return Ok(ProgramPoints::default());
    }
    let mut after = request.break_after.clone();
    if request.single_step {
        after.push("*".to_owned());
    }
    ProgramPoints::new(
        &request.breakpoints,
        &request.break_before,
        &after,
        attachment.drawing(),
    )
}

/// Events of a run of an attached program.
struct AttachedStream {
    /// The stretch that runs; a run has another one for each breakpoint that does not stop it.
    run: AttachedRun,
    spec: RunSpec,
    points: ProgramPoints,
    ended: Option<Result<AttachedState, AttachError>>,
    stopped: Option<RunStop>,
    thread: String,
    stop: StopHandle,
    stopping: bool,
    waiting: VecDeque<StreamEvent>,
    /// The program stays while it runs.
    attachment: Arc<Attachment>,
}

impl RunStream for AttachedStream {
    const STORES_LATER: bool = true;

    async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if self.ended.is_some() {
                return None;
            }
            tokio::select! {
                event = self.run.next() => match event {
                    Some(event) => self.waiting.extend(converted(&self.thread, event)),
                    None if self.goes_on() => {}
                    None => return None,
                },
                () = self.attachment.program.prints(), if !self.attachment.program.has_ended() => {
                    let (lines, _) = self.attachment.program.printed();
                    let events = lines.into_iter().map(|line| event_of(&[], Payload::Custom(line.into(), None)));
                    self.waiting.extend(events);
                }
                () = self.stop.cancel.cancelled(), if !self.stopping => {
                    self.stopping = true;
                    self.run.stop();
                }
                () = tokio::time::sleep(LOOK_EVERY), if !self.stopping => {
                    if self.stop.drain.requested().is_some() {
                        self.stopping = true;
                        self.run.drain();
                    }
                }
            }
        }
    }

    async fn finish(mut self) -> (Result<RunResult, RunError>, Option<RunStop>) {
        let (cancelled, drained) = (self.stop.cancel.is_cancelled(), self.stop.drain.requested());
        let ended = match self.ended.take() {
            Some(ended) => ended,
            None => self.run.ended().await,
        };
        let result = match ended {
            Ok(state) => Ok(result_of(state)),
            Err(error) => Err(match (error.fault(), drained) {
                // A node that did not stop was ended with the program.
                (None, _) if cancelled && !matches!(error, AttachError::Server(_)) => RunError::Cancelled,
                (Some(fault), Some(reason)) if fault.code == AttachFaultCode::Cancelled && !cancelled => {
                    RunError::Drained { reason }
                }
                _ => error_of(&error),
            }),
        };
        (result, self.stopped)
    }
}

impl AttachedStream {
    /// Looks why the stretch has ended, and begins another one where no breakpoint stops the run.
    fn goes_on(&mut self) -> bool {
        let ended = self.run.take_ended();
        if let Ok(state) = &ended
            && state.status == "breakpoint"
            && !self.stopping
            && self.attachment.program.program().is_some()
        {
            let at = self.points.at(state);
            let logged = at.logged.into_iter();
            (self.waiting).extend(logged.map(|value| event_of(&[], Payload::Custom(value, None))));
            if at.stop.is_none() {
                self.spec = self.spec.clone().going_on(self.points.steps(state));
                self.run = self.attachment.program.run(&self.spec);
                return true;
            }
            self.stopped = at.stop;
        }
        self.ended = Some(ended);
        !self.waiting.is_empty()
    }
}

fn result_of(state: AttachedState) -> RunResult {
    let status = match &*state.status {
        "interrupted" => Ended::Interrupted,
        "breakpoint" => Ended::Breakpoint,
        _ => Ended::Done,
    };
    RunResult {
        value: state.values,
        status,
        interrupts: state.interrupts.iter().filter_map(Interrupt::from_json).collect(),
        checkpoint_id: state
            .config
            .and_then(|place| place.checkpoint_id)
            .map(|id| id.as_str().into()),
        stopped: None,
        metrics: None,
    }
}

fn error_of(error: &AttachError) -> RunError {
    let Some(fault) = error.fault() else {
        return RunError::InvalidRequest {
            message: error.to_string(),
        };
    };
    let line = match (&fault.file, fault.line) {
        (Some(file), Some(line)) => format!(" ({}:{line})", file.display()),
        _ => String::new(),
    };
    let message = format!("{}{line}", fault.message);
    match (fault.code, &fault.node) {
        (AttachFaultCode::Cancelled, _) => RunError::Cancelled,
        (AttachFaultCode::EmptyInput, _) => RunError::EmptyInput { message },
        (AttachFaultCode::InvalidUpdate, _) => RunError::InvalidUpdate { message },
        (_, Some(node)) => {
            let (class, said) = message.split_once(": ").unwrap_or(("Error", &message));
            RunError::Node {
                node: node.as_str().into(),
                task_id: fault.task.as_deref().unwrap_or_default().into(),
                failure: Failure::new(class, said),
            }
        }
        _ => RunError::InvalidRequest { message },
    }
}

fn event_of(ns: &[String], payload: Payload) -> StreamEvent {
    StreamEvent {
        seq: 0,
        ns: ns.into(),
        payload,
    }
}

fn names(value: Option<&Value>) -> Vec<Name> {
    let items = value
        .and_then(Value::as_array)
        .into_iter()
        .flat_map(|list| list.iter());
    items.filter_map(Value::as_str).map(Name::from).collect()
}

fn text_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    let mut at = value;
    for name in path {
        at = at.get(name)?;
    }
    at.as_str()
}

/// Puts what the program says into the form of our own streams; what has none is left out.
fn converted(thread: &str, event: AttachedEvent) -> Option<StreamEvent> {
    let AttachedEvent {
        event: mode,
        ns,
        data,
        step,
    } = event;
    let payload = match &*mode {
        "tasks" => task_of(&data, step.unwrap_or_default())?,
        "checkpoints" => Payload::Checkpoint(Box::new(checkpoint_of(thread, &ns, data, step)?)),
        "messages" => {
            let pair = data.as_array()?;
            Payload::Message(pair.get(0)?.clone(), pair.get(1)?.clone())
        }
        "custom" => Payload::Custom(data, None),
        _ => return None,
    };
    Some(event_of(&ns, payload))
}

fn task_of(data: &Value, step: i64) -> Option<Payload> {
    let (id, name) = (text_at(data, &["id"])?, text_at(data, &["name"])?);
    if data.get("result").is_none() && data.get("error").is_none() {
        return Some(Payload::TaskStart(TaskStart {
            id: id.into(),
            name: name.into(),
            input: data.get("input").cloned().unwrap_or_default(),
            triggers: names(data.get("triggers")),
            metadata: Object::new(),
            step,
        }));
    }
    let asked = data.get("interrupts").and_then(Value::as_array);
    let asked = asked.into_iter().flat_map(|list| list.iter());
    Some(Payload::TaskEnd(TaskEnd {
        id: id.into(),
        name: name.into(),
        error: text_at(data, &["error"]).map(str::to_owned),
        failure: None,
        record: None,
        result: data.get("result").cloned().unwrap_or_default(),
        interrupts: asked.filter_map(Interrupt::from_json).collect(),
        step,
        targets: Vec::new(),
    }))
}

fn checkpoint_of(thread: &str, ns: &[String], data: Value, step: Option<i64>) -> Option<CheckpointEvent> {
    let place = ["configurable", "checkpoint_id"];
    let id = text_at(data.get("config")?, &place)?;
    let parent = data
        .get("parent_config")
        .and_then(|parent| text_at(parent, &place));
    let metadata = data.get("metadata").cloned().unwrap_or_default();
    let source = match text_at(&metadata, &["source"]) {
        Some("input") => Source::Input,
        Some("update") => Source::Update,
        Some("fork") => Source::Fork,
        _ => Source::Loop,
    };
    let of_metadata = metadata.get("step").and_then(Value::as_i64);
    Some(CheckpointEvent {
        thread: thread.into(),
        ns: ns.join("|").into(),
        id: id.into(),
        parent: parent.map(Into::into),
        values: data.get("values").cloned().unwrap_or_default(),
        metadata: Metadata {
            source,
            step: of_metadata.or(step).unwrap_or_default(),
            parents: Object::new(),
            user: Object::new(),
        },
        next: names(data.get("next")),
        tasks: data
            .get("tasks")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default(),
        configurable: Object::new(),
        parent_read: false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(mode: &str, data: Json) -> Option<Payload> {
        let event = AttachedEvent {
            event: mode.to_owned(),
            ns: Vec::new(),
            data: data.into(),
            step: Some(3),
        };
        converted("t", event).map(|event| event.payload)
    }

    #[test]
    fn events_of_a_program_become_those_of_our_own_runs() {
        let start = json!({"id": "1", "name": "a", "input": {"n": 1}, "triggers": ["x"]});
        assert!(
            matches!(event("tasks", start), Some(Payload::TaskStart(task)) if task.step == 3 && &*task.name == "a")
        );
        let end = json!({"id": "1", "name": "a", "error": null, "result": {"n": 2},
            "interrupts": [{"id": "q", "value": "Sure?"}]});
        assert!(
            matches!(event("tasks", end), Some(Payload::TaskEnd(task)) if task.interrupts.len() == 1 && task.error.is_none())
        );
        let failed = json!({"id": "1", "name": "a", "error": "ValueError: no", "interrupts": []});
        assert!(matches!(event("tasks", failed), Some(Payload::TaskEnd(task)) if task.error.is_some()));
        let checkpoint = json!({"config": {"configurable": {"checkpoint_id": "c2"}},
            "parent_config": {"configurable": {"checkpoint_id": "c1"}},
            "metadata": {"source": "input", "step": -1}, "next": ["a"], "values": {}, "tasks": []});
        let Some(Payload::Checkpoint(made)) = event("checkpoints", checkpoint) else {
            panic!("a checkpoint is one");
        };
        assert_eq!((made.id.as_str(), made.metadata.step), ("c2", -1));
        assert_eq!(made.parent.as_ref().map(|id| id.as_str()), Some("c1"));
    }

    #[test]
    fn what_is_no_event_is_left_out() {
        for (mode, data) in [
            ("tasks", json!(1)),
            ("tasks", json!({"id": 1, "name": "a"})),
            ("checkpoints", json!({"config": {}})),
            ("checkpoints", json!([])),
            ("messages", json!({})),
            ("messages", json!([1])),
            ("values", json!({})),
        ] {
            assert_eq!(event(mode, data.clone()), None, "{mode} {data}");
        }
    }
}
