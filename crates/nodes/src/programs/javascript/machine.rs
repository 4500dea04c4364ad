//! The QuickJS machine: one for each call, driven until the call's promise is settled.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use rquickjs::function::{Args, Func, Rest};
use rquickjs::promise::PromiseState;
use rquickjs::{
    CatchResultExt, CaughtError, Context, Ctx, Exception, Function, Module, Object, Promise, Runtime,
    Value as Js,
};

use super::errors::{NULL_THROWN, machine, shown, syntax, thrown};
use super::inputs::{Argument, given};
use super::machine_pool::ReadyMachine;
use super::modules::{Files, Imports};
use super::program_time::ProgramTime;
use super::source::{self, JavaScriptSource};
use super::{CodeError, FILE, Limits};
use crate::base::json::read_json;
use crate::programs::requests::{Ending, NODE, Notice, Output, ProgramReply, ProgramRequest, RequestBody};

/// Stack of the JavaScript program; small enough for any thread of the blocking pool.
const STACK: usize = 512 * 1024;
/// Lines of `console.log` that are passed on; the rest is counted.
pub(super) const MAX_LOG_LINES: usize = 1000;
/// How often a waiting program looks whether it has been stopped.
const GLANCE: Duration = Duration::from_millis(50);

/// A function to be called.
pub(super) struct Program<'a> {
    /// What it is written as.
    pub(super) source: &'a JavaScriptSource,
    /// Its arguments; `ctx` follows them.
    pub(super) given: &'a [Argument],
    /// What it may import.
    pub(super) files: Option<Files>,
    /// `context`, `config` and whether there is a `store`, as JSON.
    pub(super) place: &'a str,
}

/// The way from a program to its node and back.
pub(super) trait ProgramLine {
    /// Passes on what the program says; false when nobody listens any more.
    fn request(&self, request: ProgramRequest) -> bool;
    /// Receives the next message for the program.
    fn receive(&self, wait: Duration) -> Result<Received, RecvTimeoutError>;
    /// Asks for a part of an argument that was not sent with the call.
    fn want(&self, argument: usize, name: &str) -> bool;
}

/// Message for a program.
#[derive(Debug)]
pub(super) enum Received {
    /// A word for the program itself.
    Notice(Notice),
    /// The part of an argument that it wanted, as JSON.
    Part(Vec<u8>),
}

/// Compiles the program, with its parameters in case it is the body of a function, without running anything.
pub fn check(source: &str, parameters: &str) -> Result<(), CodeError> {
    let limits = Limits::new(Duration::from_millis(500), 32 * 1024 * 1024);
    let runtime = Runtime::new().map_err(failed)?;
    let context = Context::full(&runtime).map_err(failed)?;
    bounded(&runtime, limits, &Arc::default(), Imports::Unread, |_| {
        context.with(|ctx| {
            Module::declare(ctx.clone(), FILE, source::module(source, parameters))
                .catch(&ctx)
                .map(drop)
                .map_err(|e| syntax(&e))
        })
    })
}

/// Runs a program to its end, and gives what it returned as the JSON of an [`Output`]. Blocks the thread, also after
/// `end` was called: the machine is taken down and the next one made when nobody waits any more.
pub(super) fn run(
    program: &Program<'_>,
    limits: Limits,
    stop: &Arc<AtomicBool>,
    line: Box<dyn ProgramLine>,
    end: impl FnOnce(Result<Ending<String>, CodeError>),
) {
    match ReadyMachine::take() {
        Ok(fresh) => {
            let ended = run_in(&fresh, program, limits, stop, line);
            end(ended.map_err(|error| without_memory(error, program, limits)));
            drop(fresh);
            ReadyMachine::prepare();
        }
        Err(error) => end(Err(failed(error))),
    }
}

/// Returns the actual error of a program that threw null: the machine throws null if there is no memory left even for
/// the error that reports it. A program that throws null itself may have meant it.
fn without_memory(error: CodeError, program: &Program<'_>, limits: Limits) -> CodeError {
    match &error {
        CodeError::Thrown { message, .. }
            if message == NULL_THROWN && !program.source.parts().0.contains("throw") =>
        {
            CodeError::Memory(limits.memory)
        }
        _ => error,
    }
}

fn run_in(
    fresh: &ReadyMachine,
    program: &Program<'_>,
    limits: Limits,
    stop: &Arc<AtomicBool>,
    line: Box<dyn ProgramLine>,
) -> Result<Ending<String>, CodeError> {
    bounded(
        &fresh.runtime,
        limits,
        stop,
        Imports::Of(program.files.clone()),
        |machine_| {
            fresh.context.with(|ctx| {
                let ctx = &ctx;
                let wire = Rc::new(ProgramConnection {
                    line,
                    machine: machine_.clone(),
                    later: RefCell::default(),
                    stopped: Cell::new(false),
                });
                console(ctx, &wire).catch(ctx).map_err(|e| machine(&e))?;
                let around = prelude(ctx, fresh, program.place, &wire)
                    .catch(ctx)
                    .map_err(|e| machine(&e))?;
                let driver = Driver { ctx, around, wire };
                let ended = driver.run(program);
                driver.report_reads();
                ended
            })
        },
    )
}

struct Driver<'a, 'js> {
    ctx: &'a Ctx<'js>,
    /// What the prelude gave.
    around: Object<'js>,
    wire: Rc<ProgramConnection>,
}

impl<'js> Driver<'_, 'js> {
    /// Calls the program's function and waits for what it returns.
    fn run(&self, program: &Program<'_>) -> Result<Ending<String>, CodeError> {
        let ctx = self.ctx;
        let module = program.source.declare(ctx).catch(ctx).map_err(|e| syntax(&e))?;
        let (module, loaded) = match module.eval().catch(ctx) {
            Ok(evaluated) => evaluated,
            Err(error) => return self.asks_or(thrown(&error)),
        };
        if self.settle(&loaded)?.is_none() {
            return Ok(Ending::Asks(None));
        }
        let Ok(function) = module
            .namespace()
            .and_then(|all| all.get::<_, Function>("default"))
        else {
            ctx.catch();
            return Err(CodeError::Syntax {
                message:
                    "the module has no default function: write `export default function node(state, ctx) {…}`"
                        .to_owned(),
                line: None,
            });
        };
        let mut args = Args::new(ctx.clone(), program.given.len() + 1);
        let later: Function = self.around.get("later").catch(ctx).map_err(|e| machine(&e))?;
        let wire = &self.wire;
        for (at, value) in program.given.iter().enumerate() {
            let wire = wire.clone();
            let part = move |name: &str| wire.part(at, name);
            let mut value = given(ctx, &later, value, Rc::new(part))?;
            if at == 0 {
                let watch: Function = self.around.get("watch").catch(ctx).map_err(|e| machine(&e))?;
                value = watch.call((value,)).catch(ctx).map_err(|e| machine(&e))?;
            }
            args.push_arg(value)
                .map_err(|e| CodeError::Machine(e.to_string()))?;
        }
        let own: Js = self.around.get("ctx").catch(ctx).map_err(|e| machine(&e))?;
        args.push_arg(own)
            .map_err(|e| CodeError::Machine(e.to_string()))?;
        let mut result: Js = match function.call_arg(args).catch(ctx) {
            Ok(result) => result,
            Err(error) if !self.wire.stopped.get() => return Err(thrown(&error)),
            // Tasks that are at work come to their end before the question is asked.
            Err(_) => Js::new_undefined(ctx.clone()),
        };
        let promise = match result.as_promise().cloned() {
            Some(promise) => promise,
            None => {
                let (promise, resolve, _) = ctx.promise().catch(ctx).map_err(|e| machine(&e))?;
                resolve
                    .call::<_, ()>((result,))
                    .catch(ctx)
                    .map_err(|e| machine(&e))?;
                promise
            }
        };
        match self.settle(&promise)? {
            Some(value) => result = value,
            None => return Ok(Ending::Asks(None)),
        }
        if self.wire.stopped.get() {
            return Ok(Ending::Asks(None));
        }
        self.output(result).map(Ending::Ok)
    }

    /// Says which fields of the state were looked at, in a run that records it. A program that was stopped may say nothing.
    fn report_reads(&self) {
        if let Ok(reads) = self.around.get::<_, Function>("reads") {
            let _ = reads.call::<_, ()>(());
        }
    }

    /// Runs until the promise is settled and everything that was asked is answered. `None` when it never will be,
    /// because the program was asked to stop.
    fn settle(&self, promise: &Promise<'js>) -> Result<Option<Js<'js>>, CodeError> {
        loop {
            while self.ctx.execute_pending_job() {
                self.wire.machine.alive()?;
            }
            self.wire.machine.alive()?;
            let state = promise.state();
            if state == PromiseState::Rejected {
                let error = match promise.result::<Js>() {
                    Some(Err(error)) => CaughtError::from_error(self.ctx, error),
                    _ => CaughtError::Error(rquickjs::Error::Unknown),
                };
                return self.asks_or(thrown(&error)).map(|_| None);
            }
            let count = |name: &str| -> Result<usize, CodeError> {
                let count: Function = self.around.get(name).catch(self.ctx).map_err(|e| machine(&e))?;
                count.call(()).catch(self.ctx).map_err(|e| machine(&e))
            };
            if count("busy")? == 0 {
                if state == PromiseState::Resolved {
                    if let Some(error) = self.wire.machine.unhandled.borrow_mut().drain(..).next() {
                        return self.asks_or(error).map(|_| None);
                    }
                    return match promise.result::<Js>() {
                        Some(Ok(value)) => Ok(Some(value)),
                        _ => Err(CodeError::Machine("a promise has no result".to_owned())),
                    };
                }
                if self.wire.stopped.get() {
                    return Ok(None);
                }
            }
            if !self.wire.is_waiting() {
                return match self.wire.stopped.get() {
                    true => Ok(None),
                    false => Err(CodeError::NotJson(
                        "a promise that nothing will ever settle".into(),
                    )),
                };
            }
            self.deliver()?;
        }
    }

    /// Returns the error, unless it resulted from a request to stop.
    fn asks_or(&self, error: CodeError) -> Result<Ending<String>, CodeError> {
        match self.wire.stopped.get() {
            true => Ok(Ending::Asks(None)),
            false => Err(error),
        }
    }

    /// Waits for the next notice, and passes it on.
    fn deliver(&self) -> Result<(), CodeError> {
        let notice = self.wire.next()?;
        let (name, id, reply) = match &notice {
            Notice::Answer(id, reply) => ("answer", id, Some(reply)),
            Notice::Work(id) => ("work", id, None),
        };
        if matches!(reply, Some(ProgramReply::Stop)) {
            self.wire.stopped.set(true);
        }
        let give: Function = self.around.get(name).catch(self.ctx).map_err(|e| machine(&e))?;
        let json = reply.map(json).transpose()?;
        match give.call::<_, ()>((*id, json)).catch(self.ctx) {
            // A task that was at work has been stopped; the others go on.
            Err(_) if self.wire.machine.unwound.take() => Ok(()),
            given => given.map_err(|e| thrown(&e)),
        }
    }

    fn output(&self, result: Js<'js>) -> Result<String, CodeError> {
        let kind = result.type_name();
        let output: Function = self
            .around
            .get("output")
            .catch(self.ctx)
            .map_err(|e| machine(&e))?;
        let text: Option<String> = output.call((result,)).catch(self.ctx).map_err(|e| thrown(&e))?;
        text.ok_or_else(|| CodeError::NotJson(format!("a {kind}")))
    }
}

/// Parses the result of a program.
pub(super) fn returned(end: Ending<impl AsRef<[u8]>>) -> Result<Ending<Output>, CodeError> {
    Ok(match end {
        Ending::Ok(json) => Ending::Ok(
            read_json(json.as_ref())
                .map_err(|e| CodeError::NotJson(format!("something that is not JSON ({e})")))?,
        ),
        Ending::Error(fault) => Ending::Error(fault),
        Ending::Asks(question) => Ending::Asks(question),
    })
}

fn json(reply: &ProgramReply) -> Result<String, CodeError> {
    serde_json::to_string(reply).map_err(|e| CodeError::Machine(e.to_string()))
}

/// Conditions that stop a program, and the errors it left behind.
struct Machine {
    stop: Arc<AtomicBool>,
    time: ProgramTime,
    /// Set to stop what runs now, in a way that nothing can catch.
    unwind: Cell<bool>,
    /// That has happened.
    unwound: Cell<bool>,
    /// Errors that nobody has waited for.
    unhandled: RefCell<Vec<CodeError>>,
}

impl Machine {
    fn alive(&self) -> Result<(), CodeError> {
        if self.stop.load(Ordering::Relaxed) || self.time.is_up() {
            return Err(CodeError::Cancelled);
        }
        Ok(())
    }
}

/// The line of a running program.
struct ProgramConnection {
    line: Box<dyn ProgramLine>,
    machine: Rc<Machine>,
    /// Notices that came while it waited for something else.
    later: RefCell<VecDeque<Notice>>,
    /// Was a function of the program asked not to go on?
    stopped: Cell<bool>,
}

impl ProgramConnection {
    fn next(&self) -> Result<Notice, CodeError> {
        let kept = self.later.borrow_mut().pop_front();
        if let Some(notice) = kept {
            return Ok(notice);
        }
        loop {
            // A part that nobody waits for any more is none of its business.
            if let Received::Notice(notice) = self.receive(false)? {
                return Ok(notice);
            }
        }
    }

    /// Waits for the answer to one request; other messages are kept.
    fn answer(&self, wanted: u64) -> Result<ProgramReply, CodeError> {
        loop {
            match self.receive(false)? {
                Received::Notice(Notice::Answer(id, reply)) if id == wanted => return Ok(reply),
                Received::Notice(other) => self.later.borrow_mut().push_back(other),
                Received::Part(_) => {}
            }
        }
    }

    /// Fetches a part of an argument that the program looks at.
    fn part(&self, argument: usize, name: &str) -> Result<Vec<u8>, CodeError> {
        if !self.line.want(argument, name) {
            return Err(CodeError::Cancelled);
        }
        loop {
            match self.receive(true)? {
                Received::Part(json) => return Ok(json),
                Received::Notice(other) => self.later.borrow_mut().push_back(other),
            }
        }
    }

    fn receive(&self, is_part: bool) -> Result<Received, CodeError> {
        let time = &self.machine.time;
        let wait = time.begin_wait(is_part);
        loop {
            self.machine.alive()?;
            let left = time.remaining(&wait).ok_or(CodeError::Cancelled)?;
            let received = self.line.receive(left.min(GLANCE));
            time.end_wait();
            match received {
                Ok(received) => {
                    if let Received::Notice(notice) = &received {
                        time.note_notice(notice);
                    }
                    return Ok(received);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(CodeError::Cancelled),
            }
        }
    }

    /// Returns whether anything will come for the program, or has come.
    fn is_waiting(&self) -> bool {
        !self.later.borrow().is_empty() || self.machine.time.is_waiting()
    }

    fn request(&self, request: ProgramRequest) -> bool {
        self.machine.time.note_request(&request);
        self.line.request(request)
    }
}

fn failed(error: rquickjs::Error) -> CodeError {
    CodeError::Machine(error.to_string())
}

/// Runs `work` in a machine within its limits.
fn bounded<T>(
    runtime: &Runtime,
    limits: Limits,
    stop: &Arc<AtomicBool>,
    imports: Imports,
    work: impl FnOnce(&Rc<Machine>) -> Result<T, CodeError>,
) -> Result<T, CodeError> {
    let machine = Rc::new(Machine {
        stop: stop.clone(),
        time: ProgramTime::start(limits),
        unwind: Cell::new(false),
        unwound: Cell::new(false),
        unhandled: RefCell::default(),
    });
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(STACK);
    runtime.set_loader(imports.clone(), imports);
    let watched = machine.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || {
        watched.time.check();
        if watched.unwind.take() {
            watched.unwound.set(true);
            return true;
        }
        watched.alive().is_err()
    })));
    let watched = machine.clone();
    runtime.set_host_promise_rejection_tracker(Some(Box::new(move |_, _, reason, handled| {
        let exception = reason.as_exception().cloned();
        let error = thrown(&exception.map_or(CaughtError::Value(reason), CaughtError::Exception));
        let mut unhandled = watched.unhandled.borrow_mut();
        if !handled {
            unhandled.push(error);
        } else if let Some(at) = unhandled.iter().position(|known| *known == error) {
            unhandled.remove(at);
        }
    })));
    let worked = work(&machine);
    match (worked, machine.time.error()) {
        (Err(_), _) if stop.load(Ordering::Relaxed) => Err(CodeError::Cancelled),
        (Err(_), Some(error)) => Err(error),
        (Err(CodeError::Thrown { message, .. }), None) if message.contains("out of memory") => {
            Err(CodeError::Memory(limits.memory))
        }
        (Err(CodeError::Machine(message)), None)
            if message.contains("memory") || message.contains("Allocat") =>
        {
            Err(CodeError::Memory(limits.memory))
        }
        (other, _) => other,
    }
}

fn prelude<'js>(
    ctx: &Ctx<'js>,
    fresh: &ReadyMachine,
    place: &str,
    wire: &Rc<ProgramConnection>,
) -> rquickjs::Result<Object<'js>> {
    let gone = |ctx: &Ctx<'js>| Exception::throw_message(ctx, "the node does not listen any more");
    let out = wire.clone();
    let send = move |ctx: Ctx<'js>, id: u64, scope: u64, request: String| {
        let request: RequestBody = read_json(request.as_bytes()).map_err(|error| {
            // The place in the text means nothing to the caller of a function.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            Exception::throw_type(&ctx, &format!("the options cannot be read: {message}"))
        })?;
        match out.request(ProgramRequest { id, scope, request }) {
            true => Ok(()),
            false => Err(gone(&ctx)),
        }
    };
    let back = wire.clone();
    let wait = move |ctx: Ctx<'js>, wanted: u64| {
        let reply = back.answer(wanted).map_err(|_| gone(&ctx))?;
        if matches!(reply, ProgramReply::Stop) {
            back.stopped.set(true);
            back.machine.unwind.set(true);
        }
        json(&reply).map_err(|_| gone(&ctx))
    };
    let install = fresh.prelude.clone().restore(ctx)?;
    let place = ctx.json_parse(place)?;
    install.call((Func::from(send), Func::from(wait), place))
}

fn console<'js>(ctx: &Ctx<'js>, wire: &Rc<ProgramConnection>) -> rquickjs::Result<()> {
    let lines = Rc::new(Cell::new(0usize));
    let console = Object::new(ctx.clone())?;
    for method in ["log", "info", "debug", "warn", "error"] {
        let (wire, lines) = (wire.clone(), lines.clone());
        let write = move |ctx: Ctx<'js>, values: Rest<Js<'js>>| {
            lines.set(lines.get() + 1);
            if lines.get() > MAX_LOG_LINES {
                return;
            }
            let log = |text: String| {
                // When nobody listens any more, the program is about to be stopped.
                let _ = wire.line.request(ProgramRequest {
                    id: 0,
                    scope: NODE,
                    request: match method {
                        "log" => RequestBody::Log(text),
                        level => RequestBody::LogAt(level.to_owned(), text),
                    },
                });
            };
            let texts: Vec<String> = values.0.into_iter().map(|value| shown(&ctx, value)).collect();
            log(texts.join(" "));
            if lines.get() == MAX_LOG_LINES {
                log(format!("… only the first {MAX_LOG_LINES} lines are shown"));
            }
        };
        console.set(method, Func::from(write))?;
    }
    ctx.globals().set("console", console)
}
