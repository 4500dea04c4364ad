//! `superstep attach`: a person's LangGraph program, drawn and run; one that a server runs, by `attach_server`.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, IsTerminal};
use std::path::Path;
use std::time::Duration;

use serde_json::Value as Json;
use superstep::value::Object;
use superstep::{Interrupt, StreamMode, Value};
use superstep_nodes::agent_server::Attached;
use superstep_nodes::attach::{
    self, AttachError, AttachFaultCode, AttachOptions, AttachTarget, AttachedDescription, AttachedEvent,
    AttachedInput, AttachedProgram, AttachedRun, AttachedState, CodePlace, DrawnChannel, DrawnFrom,
    DrawnNode, EditedState, GraphDrawing, ProgramEdit, RunSpec, WayKind,
};
use superstep_nodes::{Access, Environment};
use superstep_workbench::ipc::{Ending, Streamed};
use superstep_workbench::wire::RunStop;
use superstep_workbench::{AtStop, ProgramPoints, Trust, WantedAccess};
use tokio_util::sync::CancellationToken;

use crate::args::attach::AttachArgs;
use crate::commands::attach_server::{self, NamedServer};
use crate::fault::{Fault, STOPPED};
use crate::graph::{around, permit};
use crate::out::{self, quoted};
use crate::progress::{self, Again};
use crate::report::{Report, show_edit, stop_on_ctrl_c};

/// A program that a command names, with what it wants to access.
pub(crate) struct NamedProgram {
    pub(crate) target: AttachTarget,
    pub(crate) environment: Environment,
    pub(crate) wanted: WantedAccess,
    options: AttachOptions,
}

impl NamedProgram {
    /// Finds a program and its interpreter; nothing is started.
    pub(crate) fn find(text: &str, variables: &[String]) -> Result<Self, Fault> {
        let target = AttachTarget::find(text, &std::env::current_dir()?)?;
        let environment = around(Some(target.root().to_owned()));
        let options = AttachOptions {
            variables: variables.to_vec(),
            ..AttachOptions::default()
        };
        let wanted = attach::wanted(&environment, &options)?;
        Ok(Self {
            wanted: wanted
                .into_iter()
                .map(|access| (access, BTreeSet::new()))
                .collect(),
            target,
            environment,
            options,
        })
    }

    /// Returns the project under which its grants are kept: that of the graphs in the same folder.
    pub(crate) fn project(&self) -> String {
        Trust::project_of(&self.target.root().join("langgraph.json"))
    }

    async fn start(self, everything: bool, import_limit: Duration) -> Result<AttachedProgram, Fault> {
        let name = self.target.named().to_owned();
        let allow = |wanted: &WantedAccess| {
            let each = |access: &Access| format!(" --allow {}", quoted(&access.key()));
            let options: String = wanted.keys().map(each).collect();
            format!("superstep trust {}{options}", quoted(&name))
        };
        let grants = permit(&self.project(), &name, self.wanted, everything, allow)?;
        let options = AttachOptions {
            import_limit,
            ..self.options
        };
        let environment = self.environment.with_grants(grants);
        Ok(AttachedProgram::start(self.target, &environment, &options).await?)
    }
}

impl From<AttachError> for Fault {
    fn from(error: AttachError) -> Self {
        let of_the_command_line = match &error {
            AttachError::NotStarted { .. }
            | AttachError::Hangs { .. }
            | AttachError::Ended { .. }
            | AttachError::Garbled { .. } => false,
            AttachError::Server(error) => error.is_of_request(),
            AttachError::Fault(fault) => matches!(
                fault.code,
                AttachFaultCode::NoFile
                    | AttachFaultCode::NoName
                    | AttachFaultCode::NotAGraph
                    | AttachFaultCode::FactoryArguments
                    | AttachFaultCode::NoCheckpoint
                    | AttachFaultCode::InvalidUpdate
            ),
            _ => true,
        };
        match of_the_command_line {
            true => Fault::usage(error.to_string()),
            false => Fault::failed(error.to_string()),
        }
    }
}

pub(crate) async fn attach(args: AttachArgs) -> Result<(), Fault> {
    let modes = modes(&args)?;
    if NamedServer::is_named_by(&args.program) {
        return attach_server::attach(args, modes).await;
    }
    if args.assistant.is_some() || !args.headers.is_empty() {
        return Err(Fault::usage(
            "--assistant and --header are for LangGraph servers. Give the address of one, such as http://127.0.0.1:2024.",
        ));
    }
    let named = NamedProgram::find(&args.program, &args.variables)?;
    let limit = Duration::from_secs(args.import_limit);
    let program = named.start(args.trust, limit).await?;
    let described = program.describe().await?;
    let root = program.target().root().to_owned();
    relay(program.printed());
    if let Some(port) = args.debugpy {
        wait_for_editor(&program, &described, port).await?;
    }
    if args.edit.is_some() {
        let edited = edit(&program, &args).await?;
        relay(program.printed());
        if !args.runs() {
            program.close().await;
            let checkpoint = edited.checkpoint.as_deref();
            let thread = args.thread.as_deref().unwrap_or_default();
            let again = again(&args, thread).whole();
            return show_edit(
                thread,
                checkpoint,
                &edited.as_node,
                &edited.next,
                args.json,
                &again,
            );
        }
    }
    if args.runs() {
        return run(Attached::Program(program), &described, args, modes).await;
    }
    if args.json {
        out::pretty(&described)?;
    } else {
        show(&described, &root)?;
    }
    relay(program.printed());
    program.close().await;
    Ok(())
}

/// Returns the stream modes that are wanted, when LangGraph has them.
fn modes(args: &AttachArgs) -> Result<Vec<StreamMode>, Fault> {
    let foreign = |mode: &StreamMode| {
        !matches!(
            mode,
            StreamMode::Values
                | StreamMode::Updates
                | StreamMode::Custom
                | StreamMode::Messages
                | StreamMode::Tasks
                | StreamMode::Checkpoints
                | StreamMode::Debug
        )
    };
    if let Some(mode) = args.stream.iter().find(|mode| foreign(mode)) {
        return Err(Fault::usage(format!(
            "LangGraph has no stream mode {}. It has values, updates, custom, messages, tasks, checkpoints and debug.",
            mode.as_str()
        )));
    }
    Ok(match (args.stream.is_empty(), args.json) {
        (false, _) => args.stream.clone(),
        (true, true) => vec![StreamMode::Updates],
        (true, false) => {
            let own = progress::MODES.iter().filter(|mode| !foreign(mode));
            own.copied().collect()
        }
    })
}

/// Shows what the program printed.
fn relay((lines, dropped): (Vec<String>, u64)) {
    if dropped > 0 {
        out::note(&format!(
            "  | ({} before these are left out)",
            out::count(dropped, "line")
        ));
    }
    for line in lines {
        out::note(&format!("  | {line}"));
    }
}

/// Edits the state of the thread.
async fn edit(program: &AttachedProgram, args: &AttachArgs) -> Result<EditedState, Fault> {
    let edit = ProgramEdit {
        thread: args.thread.clone().unwrap_or_default(),
        checkpoint: args.from.clone(),
        values: args.edit.clone().unwrap_or_default(),
        as_node: args.as_node.clone(),
        preview: args.preview,
        ..ProgramEdit::default()
    };
    Ok(program.edit_state(&edit).await?)
}

/// Says where an editor attaches to the program's code, and waits until one has.
async fn wait_for_editor(
    program: &AttachedProgram,
    described: &AttachedDescription,
    port: u16,
) -> Result<(), Fault> {
    let at = program.debug(Some(port), false).await?;
    out::note(&format!(
        "debugpy listens at {}:{}. In VS Code's launch.json, under \"configurations\":\n  {}\nThe program waits until an editor has attached.",
        at.host,
        at.port,
        at.launch(&described.drawing.name)
    ));
    tokio::select! {
        attached = program.debug(Some(port), true) => attached.map(drop).map_err(Fault::from),
        _ = tokio::signal::ctrl_c() => Err(Fault::quiet(STOPPED)),
    }
}

/// Returns the command that goes on with the thread.
fn again(args: &AttachArgs, thread: &str) -> Again {
    let mut command = format!("superstep attach {}", quoted(&args.program));
    let assistant = args.assistant.iter().map(|name| ("--assistant", name));
    let headers = args.headers.iter().map(|header| ("--header", header));
    for (option, value) in assistant.chain(headers) {
        command.push_str(&format!(" {option} {}", quoted(value)));
    }
    Again {
        command: format!("{command} --thread {} --resume", quoted(thread)),
        option: String::new(),
        takes_names: false,
    }
}

/// Runs the graph, answers what can be answered, and says how it ended.
pub(super) async fn run(
    program: Attached,
    described: &AttachedDescription,
    args: AttachArgs,
    modes: Vec<StreamMode>,
) -> Result<(), Fault> {
    let machine = args.json || !args.stream.is_empty();
    let thread = args
        .thread
        .clone()
        .unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    let saver = described.drawing.checkpointer.as_str();
    let durable = program.program().is_none_or(AttachedProgram::has_checkpointer)
        && !saver.is_some_and(|saver| saver.contains("memory"));
    let drawing = &described.drawing;
    let mut points = ProgramPoints::new(
        &args.breaks,
        &args.interrupt_before,
        &args.interrupt_after,
        drawing,
    )?;
    let mut report = Report::of(machine, modes, &thread, again(&args, &thread), durable);
    if !machine {
        let server = program
            .server()
            .map(|server| server.server().address().to_string());
        out::note(&headline(described, server.as_deref()));
    }
    report.begin(&uuid::Uuid::now_v7().to_string())?;
    let mut answers = Answers::of(&args);
    let mut spec = first(&args, &thread, report.modes(), &points);
    if points.watches() {
        let state = program.state(&thread, spec.checkpoint.as_deref()).await?;
        points.begin(state.values);
    }
    if let (None, false) = (&args.run, answers.given.is_empty()) {
        let state = program.state(&thread, None).await?;
        let Some(given) = answers.next(&questions(&state), machine) else {
            return Err(Fault::usage(format!(
                "Thread {thread} has no question that waits."
            )));
        };
        spec.input = AttachedInput::Answers(given);
    }
    let cancel = CancellationToken::new();
    stop_on_ctrl_c(cancel.clone());
    loop {
        let ended = follow(&program, program.run(&spec), &mut report, &cancel).await;
        relay(program.printed());
        let state = match ended {
            Ok(state) => state,
            Err(error) => return report.ended(failed(error, cancel.is_cancelled())),
        };
        report.end_speech();
        // A server says less of a stop than its program, and takes no conditions.
        let is_at_point = state.status == "breakpoint" && program.program().is_some();
        let at = if is_at_point {
            points.at(&state)
        } else {
            AtStop::default()
        };
        if is_at_point {
            log(&mut report, at.logged);
            if at.stop.is_none() && !cancel.is_cancelled() {
                spec = spec.going_on(points.steps(&state));
                continue;
            }
        }
        match answers.next(&questions(&state), machine) {
            Some(given) => {
                spec.input = AttachedInput::Answers(given);
                spec.checkpoint = None;
            }
            None => {
                program.close().await;
                return report.ended(result(state, at.stop));
            }
        }
    }
}

/// Shows what breakpoints log.
fn log(report: &mut Report, values: Vec<Value>) {
    if !report.modes().contains(&StreamMode::Custom) {
        return;
    }
    for data in values {
        report.show(&Streamed {
            event: StreamMode::Custom.as_str().to_owned(),
            ns: Vec::new(),
            data,
            step: None,
        });
    }
}

/// Creates the request of the first stretch.
fn first(args: &AttachArgs, thread: &str, modes: &[StreamMode], points: &ProgramPoints) -> RunSpec {
    let input = match &args.run {
        Some(input) => AttachedInput::Given(input.clone()),
        None => AttachedInput::GoOn,
    };
    RunSpec {
        // An edit has made the newest.
        checkpoint: args.from.clone().filter(|_| args.edit.is_none()),
        context: args.context.clone(),
        modes: modes.iter().map(|mode| mode.as_str().to_owned()).collect(),
        break_before: points.stops_before(),
        break_after: points.stops_after(),
        recursion_limit: args.recursion_limit,
        ..RunSpec::new(thread, input)
    }
}

/// Shows the events of a stretch until it ends.
async fn follow(
    program: &Attached,
    mut run: AttachedRun,
    report: &mut Report,
    cancel: &CancellationToken,
) -> Result<AttachedState, AttachError> {
    let mut stopping = false;
    loop {
        tokio::select! {
            event = run.next() => match event {
                Some(event) => {
                    if !report.show(&streamed(event)) && !stopping {
                        stopping = true;
                        run.stop();
                    }
                }
                None => return run.ended().await,
            },
            () = program.prints() => {
                report.end_speech();
                relay(program.printed());
            }
            () = cancel.cancelled(), if !stopping => {
                stopping = true;
                run.stop();
            }
        }
    }
}

fn streamed(event: AttachedEvent) -> Streamed {
    Streamed {
        event: event.event,
        ns: event.ns,
        data: event.data,
        step: event.step,
    }
}

fn result(state: AttachedState, stop: Option<RunStop>) -> Ending {
    Ending::Result {
        status: state.status,
        values: state.values,
        interrupts: state.interrupts,
        checkpoint: state.config.and_then(|place| place.checkpoint_id),
        stop,
    }
}

fn failed(error: AttachError, cancelled: bool) -> Ending {
    let fault = error.fault();
    let code = match (&error, fault) {
        (AttachError::Server(error), _) => error.code(),
        // A node that did not stop was ended with the program.
        (_, None) if cancelled => "cancelled",
        (_, None) => "program-ended",
        (_, Some(fault)) => fault.code.as_str(),
    };
    let node = fault.and_then(|fault| fault.node.clone());
    let message = match &node {
        Some(node) => format!("{node} failed: {error}"),
        None => error.to_string(),
    };
    Ending::Failed {
        code: code.to_owned(),
        message,
        task: fault.and_then(|fault| fault.task.clone()),
        node,
        checkpoint: None,
        same_input: false,
    }
}

fn questions(state: &AttachedState) -> Vec<Interrupt> {
    state.interrupts.iter().filter_map(Interrupt::from_json).collect()
}

/// The answers that were given on the command line, and then those of the person at the terminal.
struct Answers {
    given: VecDeque<Value>,
    /// The question that the first one is for.
    id: Option<String>,
}

impl Answers {
    fn of(args: &AttachArgs) -> Self {
        let text = args.text.iter().map(|text| Value::from(text.as_str()));
        Self {
            given: args.answers.iter().cloned().chain(text).collect(),
            id: args.id.clone(),
        }
    }

    /// Returns answers to the questions by their ids; `None` when nobody answers.
    fn next(&mut self, questions: &[Interrupt], machine: bool) -> Option<Value> {
        let mut answers = Object::new();
        if questions.is_empty() {
            return None;
        }
        if let Some(id) = self.id.take_if(|_| !self.given.is_empty()) {
            answers.insert(id.as_str(), self.given.pop_front()?);
        } else {
            for question in questions {
                if let Some(answer) = self.given.pop_front() {
                    answers.insert(&*question.id.to_string(), answer);
                }
            }
        }
        if answers.is_empty() && !machine && std::io::stdin().is_terminal() {
            for question in questions {
                progress::asked(question);
                let answer = read_answer()?;
                answers.insert(&*question.id.to_string(), answer);
            }
        }
        (!answers.is_empty()).then(|| answers.into())
    }
}

/// Reads an answer from the terminal: JSON, or else text; nothing when the line is empty.
fn read_answer() -> Option<Value> {
    out::note_part("  Your answer (JSON or text; nothing to leave it): ");
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    let read = serde_json::from_str::<Json>(line).map(Value::from);
    Some(read.unwrap_or_else(|_| line.into()))
}

/// Returns a line about the graph and what it runs on.
fn headline(described: &AttachedDescription, server: Option<&str>) -> String {
    let versions = &described.versions;
    let langgraph = versions.langgraph.as_deref().unwrap_or("of an unknown release");
    if let Some(server) = server {
        return format!(
            "graph {}: {}; LangGraph {langgraph} at {server}",
            described.drawing.name,
            out::count(described.drawing.nodes.len() as u64, "node")
        );
    }
    format!(
        "graph {}: {}; LangGraph {langgraph}, Python {} ({})",
        described.drawing.name,
        out::count(described.drawing.nodes.len() as u64, "node"),
        versions.python,
        described.interpreter.display()
    )
}

/// Prints the drawing.
fn show(described: &AttachedDescription, root: &Path) -> Result<(), Fault> {
    out::note(&headline(described, None));
    if let Some(place) = &described.made_by {
        out::note(&format!("Made by {} ({}).", place.name, code(place, root)));
    }
    if described.compiled_here {
        out::note("The program does not compile it; that was done to attach it.");
    }
    if described.drawing.source == DrawnFrom::GetGraph {
        out::note(
            "It has no builder, so it is drawn as LangGraph does: joins, conditions and reducers are not known.",
        );
    }
    let mut tables = Tables::default();
    tables.add(&described.drawing, "", root);
    out::table(&["NODE", "CODE", "HOW"], &tables.nodes)?;
    tables.print_ways()?;
    if !tables.channels.is_empty() {
        out::lines("")?;
        out::table(&["KEY", "TYPE", "REDUCER", "HOW"], &tables.channels)?;
    }
    let drawing = &described.drawing;
    for (when, nodes) in [("before", &drawing.break_before), ("after", &drawing.break_after)] {
        if !nodes.is_empty() {
            out::note(&format!("It always stops {when}: {}.", nodes.join(", ")));
        }
    }
    match drawing.checkpointer.as_str() {
        Some(saver) => out::note(&format!("Its threads are kept by {saver}.")),
        None => out::note("It has no checkpointer: its threads are in memory while it is attached."),
    }
    for lacking in &described.lacking {
        out::note(&format!("Not all is known: {lacking}."));
    }
    Ok(())
}

/// Rows of the tables of a graph and those within it.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) nodes: Vec<Vec<String>>,
    ways: Vec<Vec<String>>,
    pub(super) channels: Vec<Vec<String>>,
}

impl Tables {
    /// Prints the ways, if there are any.
    pub(super) fn print_ways(&self) -> Result<(), Fault> {
        if !self.ways.is_empty() {
            out::lines("")?;
            out::table(&["WAY", "TAKEN BY"], &self.ways)?;
        }
        Ok(())
    }

    /// Adds a graph; names of nodes begin with the path to it.
    pub(super) fn add(&mut self, drawing: &GraphDrawing, path: &str, root: &Path) {
        let named = |name: &str| match name {
            "__start__" => format!("{path}START"),
            "__end__" => format!("{path}END"),
            name => format!("{path}{name}"),
        };
        for way in &drawing.ways {
            let by = match way.kind {
                WayKind::Edge => "edge".to_owned(),
                WayKind::Branch => format!("condition {}", way.branch.as_deref().unwrap_or_default()),
                WayKind::Command => "command".to_owned(),
            };
            let label = way.label.as_ref().map(|label| format!(" [{label}]"));
            let guessed = if way.guessed { "?" } else { "" };
            let way = format!("{} -> {}{guessed}", named(&way.from), named(&way.to));
            let by = format!("{}{}", by.trim_end(), label.unwrap_or_default());
            self.ways.push(vec![way, by]);
        }
        for join in &drawing.joins {
            let from: Vec<String> = join.from.iter().map(|name| named(name)).collect();
            let way = format!("{} -> {}", from.join(" + "), named(&join.to));
            self.ways.push(vec![way, "join, when all have come".to_owned()]);
        }
        for branch in drawing.branches.iter().filter(|branch| branch.open) {
            let way = format!("{} -> anywhere?", named(&branch.from));
            self.ways.push(vec![way, format!("condition {}", branch.name)]);
        }
        for channel in &drawing.channels {
            self.channels.push(channel_row(channel, path));
        }
        for node in &drawing.nodes {
            self.nodes
                .push(vec![named(&node.name), code(&node.function, root), how(node)]);
            if let Some(graph) = &node.graph {
                self.add(graph, &format!("{path}{}/", node.name), root);
            }
        }
    }
}

/// Formats what is special about a node.
fn how(node: &DrawnNode) -> String {
    let mut parts = Vec::new();
    match &node.graph {
        Some(graph) if node.called => parts.push(format!("calls the graph {}", graph.name)),
        Some(graph) => parts.push(format!("is the graph {}", graph.name)),
        None => {}
    }
    if node.recursive {
        parts.push("runs a graph that it is in".to_owned());
    }
    if let Some(remote) = &node.remote {
        parts.push(format!("runs a graph elsewhere ({remote})"));
    }
    if let Some(failed) = &node.handler_of {
        parts.push(format!("takes over from {failed}"));
    }
    if node.defer {
        parts.push("deferred".to_owned());
    }
    if let Some(attempts) = node.retry {
        parts.push(out::count(attempts, "attempt"));
    }
    if let Some(seconds) = node.timeout_s {
        parts.push(format!("at most {seconds} s"));
    }
    if node.cache {
        parts.push("cached".to_owned());
    }
    if let Some(input) = &node.input {
        parts.push(format!("takes {input}"));
    }
    if !node.tasks.is_empty() {
        let names: Vec<&str> = node.tasks.iter().map(|task| task.name.as_str()).collect();
        parts.push(format!("tasks {}", names.join(", ")));
    }
    parts.join(", ")
}

/// Formats the place of code: within the project by its file and line, elsewhere by its module.
fn code(place: &CodePlace, root: &Path) -> String {
    let name = match &place.class {
        Some(class) => class.rsplit('.').next().unwrap_or(class),
        None => &place.name,
    };
    let own = place
        .file
        .as_deref()
        .and_then(|file| file.strip_prefix(root).ok());
    let library = |file: &Path| file.iter().any(|part| part == "site-packages");
    match (own.filter(|file| !library(file)), place.line, &place.module) {
        (Some(file), Some(line), _) => format!("{}:{line} {name}", file.display()),
        (_, _, Some(module)) => format!("{module}.{name}"),
        _ => name.to_owned(),
    }
}

fn channel_row(channel: &DrawnChannel, path: &str) -> Vec<String> {
    let reducer = channel.reducer.as_ref().map(|reducer| match &reducer.module {
        Some(module) if module != "superstep_attached" => format!("{module}.{}", reducer.name),
        _ => reducer.name.clone(),
    });
    let mut how = Vec::new();
    if channel.managed {
        how.push("given by LangGraph");
    } else {
        if !channel.input {
            how.push("no input");
        }
        if !channel.output {
            how.push("no output");
        }
        if !matches!(&*channel.channel, "" | "LastValue" | "BinaryOperatorAggregate") {
            how.push(&channel.channel);
        }
    }
    vec![
        format!("{path}{}", channel.name),
        channel.of.clone().unwrap_or_default(),
        reducer.unwrap_or_default(),
        how.join(", "),
    ]
}
