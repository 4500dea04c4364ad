//! JavaScript without a world around it: a function of the state, with limits on time, memory and stack.
//!
//! Each call gets a fresh QuickJS runtime, so nothing leaks from one task to another. There is no file, network,
//! process, timer or module to reach; `console.log` is the only way to say something besides the return value.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rquickjs::context::EvalOptions;
use rquickjs::function::{Func, Rest};
use rquickjs::{
    CatchResultExt, CaughtError, Coerced, Context, Ctx, Function, Module, Promise, Runtime, Value as Js,
};
use superstep::Value;

use crate::suggest;

/// Name of the user's code in stack traces.
const FILE: &str = "source";
/// Lines that stand before the user's first line.
const LINES_BEFORE: usize = 1;
/// Stack of the JavaScript program; small enough for any thread of the blocking pool.
const STACK: usize = 512 * 1024;
/// Lines of `console.log` that are passed on; the rest is counted.
const MAX_LOG_LINES: usize = 1000;

/// What a program may use up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Running time.
    pub timeout: Duration,
    /// Memory in bytes.
    pub memory: usize,
}

/// Why a program gave no result.
#[derive(Clone, Debug, PartialEq)]
pub enum CodeError {
    /// It is not JavaScript.
    Syntax {
        /// What is wrong.
        message: String,
        /// Line in the user's source.
        line: Option<usize>,
    },
    /// It threw.
    Thrown {
        /// `TypeError: …`
        message: String,
        /// Line in the user's source.
        line: Option<usize>,
    },
    /// It ran too long.
    Timeout(Duration),
    /// It used too much memory.
    Memory(usize),
    /// The run was cancelled.
    Cancelled,
    /// What it returned is not JSON.
    NotJson(String),
    /// QuickJS itself failed.
    Machine(String),
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |line: &Option<usize>| line.map_or_else(String::new, |line| format!(" (line {line})"));
        match self {
            CodeError::Syntax { message, line } => {
                write!(f, "the code cannot be read{}: {message}.", at(line))
            }
            CodeError::Thrown { message, line } => write!(f, "the code failed{}: {message}.", at(line)),
            CodeError::Timeout(limit) => write!(
                f,
                "the code was stopped after {} ms. Make it do less, or raise the time limit in the node's settings.",
                limit.as_millis()
            ),
            CodeError::Memory(limit) => write!(
                f,
                "the code used more than {} MB of memory. Make it keep less, or raise the memory limit in the node's settings.",
                limit / 1024 / 1024
            ),
            CodeError::Cancelled => f.write_str("the run was cancelled."),
            CodeError::NotJson(found) => {
                write!(
                    f,
                    "the code returned {found}. Return an object with state keys, or nothing to write nothing."
                )
            }
            CodeError::Machine(cause) => write!(f, "the JavaScript machine failed: {cause}."),
        }
    }
}

impl std::error::Error for CodeError {}

/// Compiles the function body without running anything.
pub fn check(source: &str) -> Result<(), CodeError> {
    let limits = Limits {
        timeout: Duration::from_millis(500),
        memory: 32 * 1024 * 1024,
    };
    in_context(limits, &Arc::new(AtomicBool::new(false)), |ctx| {
        Module::declare(ctx.clone(), FILE, wrapped(source))
            .catch(ctx)
            .map(drop)
            .map_err(|e| syntax(&e))
    })
}

/// Answers a request of a program, in JSON text; waits at most for the given time. What it refuses is thrown.
pub type Ask = Box<dyn Fn(&str, Duration) -> Result<String, String>>;

/// What a program may reach outside of the sandbox.
pub struct Outside<L> {
    /// Takes the lines of `console.log`.
    pub log: L,
    /// Answers requests to the store; without it the program finds no `store`.
    pub store: Option<Ask>,
}

/// Runs the function body with `state` and gives what it returns; `undefined` is `Null`. Blocks the thread.
pub fn run(
    source: &str,
    state: &Value,
    limits: Limits,
    stop: &Arc<AtomicBool>,
    outside: Outside<impl Fn(String) + 'static>,
) -> Result<Value, CodeError> {
    let deadline = Instant::now() + limits.timeout;
    in_context(limits, stop, |ctx| {
        console(ctx, outside.log).catch(ctx).map_err(|e| machine(&e))?;
        if let Some(ask) = outside.store {
            store(ctx, ask, deadline).catch(ctx).map_err(|e| machine(&e))?;
        }
        let json = serde_json::to_vec(state).map_err(|e| CodeError::Machine(e.to_string()))?;
        let state = ctx.json_parse(json).catch(ctx).map_err(|e| machine(&e))?;
        let mut options = EvalOptions::default();
        options.filename = Some(FILE.into());
        let text = format!("({})", wrapped(source).trim_end());
        let function: Function = ctx
            .eval_with_options(text, options)
            .catch(ctx)
            .map_err(|e| syntax(&e))?;
        let mut result: Js = function.call((state,)).catch(ctx).map_err(|e| thrown(&e))?;
        if let Some(promise) = result.as_promise().cloned() {
            result = settle(ctx, &promise)?;
        }
        if result.is_undefined() {
            return Ok(Value::Null);
        }
        let kind = result.type_name();
        let text = ctx.json_stringify(result).catch(ctx).map_err(|e| thrown(&e))?;
        let Some(text) = text else {
            return Err(CodeError::NotJson(format!("a {kind}")));
        };
        let text = text.to_string().catch(ctx).map_err(|e| machine(&e))?;
        serde_json::from_str(&text)
            .map_err(|e| CodeError::NotJson(format!("something that is not JSON ({e})")))
    })
}

/// An `async` body is allowed; without anything to wait for in the sandbox it settles at once or never.
fn settle<'js>(ctx: &Ctx<'js>, promise: &Promise<'js>) -> Result<Js<'js>, CodeError> {
    match promise.finish::<Js>() {
        Ok(value) => Ok(value),
        Err(rquickjs::Error::WouldBlock) => Err(CodeError::NotJson(
            "a promise that nothing will ever settle".into(),
        )),
        Err(e) => Err(thrown(&CaughtError::from_error(ctx, e))),
    }
}

fn wrapped(source: &str) -> String {
    // The body keeps its own lines; the closing brace is on a line of its own, so that a comment cannot swallow it.
    format!("function node(state) {{\n{source}\n}}\n")
}

fn in_context<T>(
    limits: Limits,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce(&Ctx<'_>) -> Result<T, CodeError>,
) -> Result<T, CodeError> {
    let fail = |e: rquickjs::Error| CodeError::Machine(e.to_string());
    let runtime = Runtime::new().map_err(fail)?;
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(STACK);
    let timed_out = Arc::new(AtomicBool::new(false));
    let deadline = Instant::now() + limits.timeout;
    {
        let (stop, timed_out) = (stop.clone(), timed_out.clone());
        runtime.set_interrupt_handler(Some(Box::new(move || {
            if Instant::now() >= deadline {
                timed_out.store(true, Ordering::Relaxed);
            }
            stop.load(Ordering::Relaxed) || timed_out.load(Ordering::Relaxed)
        })));
    }
    let context = Context::full(&runtime).map_err(fail)?;
    let result = context.with(|ctx| work(&ctx));
    match result {
        Err(_) if stop.load(Ordering::Relaxed) => Err(CodeError::Cancelled),
        Err(_) if timed_out.load(Ordering::Relaxed) => Err(CodeError::Timeout(limits.timeout)),
        Err(CodeError::Thrown { message, .. }) if message.contains("out of memory") => {
            Err(CodeError::Memory(limits.memory))
        }
        Err(CodeError::Machine(message)) if message.contains("memory") || message.contains("Allocat") => {
            Err(CodeError::Memory(limits.memory))
        }
        other => other,
    }
}

fn console<'js>(ctx: &Ctx<'js>, log: impl Fn(String) + 'static) -> rquickjs::Result<()> {
    let log = std::rc::Rc::new(log);
    let lines = std::rc::Rc::new(std::cell::Cell::new(0usize));
    let console = rquickjs::Object::new(ctx.clone())?;
    for method in ["log", "info", "debug", "warn", "error"] {
        let (log, lines) = (log.clone(), lines.clone());
        let write = move |ctx: Ctx<'js>, values: Rest<Js<'js>>| {
            lines.set(lines.get() + 1);
            if lines.get() > MAX_LOG_LINES {
                return;
            }
            let text = values
                .0
                .into_iter()
                .map(|value| shown(&ctx, value))
                .collect::<Vec<_>>()
                .join(" ");
            log(text);
            if lines.get() == MAX_LOG_LINES {
                log(format!("… only the first {MAX_LOG_LINES} lines are shown"));
            }
        };
        console.set(method, Func::from(write))?;
    }
    ctx.globals().set("console", console)
}

fn store<'js>(ctx: &Ctx<'js>, ask: Ask, deadline: Instant) -> rquickjs::Result<()> {
    let ask = Func::from(move |ctx: Ctx<'js>, request: String| {
        let left = deadline.saturating_duration_since(Instant::now());
        ask(&request, left)
            .map_err(|said| rquickjs::Exception::throw_message(&ctx, &format!("store: {said}")))
    });
    let install: Function = ctx.eval(crate::memory::PRELUDE)?;
    install.call((ask,))
}

fn shown<'js>(ctx: &Ctx<'js>, value: Js<'js>) -> String {
    if let Some(text) = value.as_string().and_then(|text| text.to_string().ok()) {
        return text;
    }
    if let Some(exception) = value.as_exception() {
        return describe(exception);
    }
    match ctx.json_stringify(value.clone()) {
        Ok(Some(text)) => text.to_string().unwrap_or_default(),
        _ => {
            // A cyclic object throws while it is printed; the exception must not reach the user's code.
            ctx.catch();
            value
                .get::<Coerced<String>>()
                .map_or_else(|_| value.type_name().to_string(), |text| text.0)
        }
    }
}

fn describe(exception: &rquickjs::Exception<'_>) -> String {
    let name = exception
        .as_object()
        .get::<_, Option<String>>("name")
        .ok()
        .flatten();
    let message = exception.message().unwrap_or_default();
    match name {
        Some(name) if message.is_empty() => name,
        Some(name) => format!("{name}: {message}"),
        None => message,
    }
}

fn syntax(error: &CaughtError<'_>) -> CodeError {
    match error {
        CaughtError::Exception(exception) => CodeError::Syntax {
            message: describe(exception),
            line: line_of(exception),
        },
        other => machine(other),
    }
}

fn thrown(error: &CaughtError<'_>) -> CodeError {
    match error {
        CaughtError::Exception(exception) => {
            let mut message = describe(exception);
            let unknown = message
                .strip_prefix("ReferenceError: ")
                .and_then(|rest| rest.strip_suffix(" is not defined"));
            if let Some(name) = unknown {
                let globals = [
                    "state", "console", "JSON", "Math", "Object", "Array", "String", "Number", "Date",
                    "RegExp",
                ];
                let outside = [
                    "fetch",
                    "require",
                    "process",
                    "setTimeout",
                    "XMLHttpRequest",
                    "window",
                    "document",
                ];
                if outside.contains(&name) {
                    message.push_str("; code nodes reach no network, files, timers or modules");
                } else if name == "store" {
                    message.push_str("; this graph runs without a store");
                } else if let Some(near) = suggest::nearest(name, globals) {
                    message.push_str(&format!("; did you mean `{near}`"));
                }
            }
            CodeError::Thrown {
                message,
                line: line_of(exception),
            }
        }
        CaughtError::Value(value) => {
            let text = shown(value.ctx(), value.clone());
            CodeError::Thrown {
                message: format!("it threw {text}"),
                line: None,
            }
        }
        CaughtError::Error(error) => CodeError::Machine(error.to_string()),
    }
}

fn machine(error: &CaughtError<'_>) -> CodeError {
    match error {
        CaughtError::Exception(exception) => CodeError::Machine(describe(exception)),
        other => CodeError::Machine(other.to_string()),
    }
}

/// The innermost line of the user's source in a stack such as `at node (source:3:5)`.
fn line_of(exception: &rquickjs::Exception<'_>) -> Option<usize> {
    let stack = exception.stack()?;
    let line: usize = stack
        .lines()
        .find_map(|frame| frame.split_once(&format!("{FILE}:")).map(|(_, rest)| rest))
        .and_then(|rest| rest.split([':', ')']).next())
        .and_then(|digits| digits.trim().parse().ok())?;
    line.checked_sub(LINES_BEFORE).filter(|line| *line > 0)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use superstep::json;

    use super::*;

    const LIMITS: Limits = Limits {
        timeout: Duration::from_millis(1000),
        memory: 64 * 1024 * 1024,
    };

    fn run_with(source: &str, state: Value, limits: Limits) -> (Result<Value, CodeError>, Vec<String>) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        let result = run(
            source,
            &state,
            limits,
            &Arc::new(AtomicBool::new(false)),
            Outside {
                log: move |line| sink.lock().unwrap().push(line),
                store: None,
            },
        );
        let lines = lines.lock().unwrap().clone();
        (result, lines)
    }
    fn ok(source: &str, state: Value) -> Value {
        run_with(source, state, LIMITS)
            .0
            .unwrap_or_else(|e| panic!("{source}: {e}"))
    }
    fn err(source: &str) -> CodeError {
        run_with(source, json!({}), LIMITS).0.unwrap_err()
    }

    #[test]
    fn a_function_of_the_state() {
        assert_eq!(ok("return {n: state.n + 1}", json!({"n": 1})), json!({"n": 2}));
        assert_eq!(
            ok("return {half: state.n / 2}", json!({"n": 1})),
            json!({"half": 0.5})
        );
        assert_eq!(
            ok(
                "const x = state.list.map(i => ({i}));\nreturn {x} // done",
                json!({"list": [1, 2]})
            ),
            json!({"x": [{"i": 1}, {"i": 2}]})
        );
        assert_eq!(
            ok("state.n", json!({"n": 1})),
            Value::Null,
            "no return, no writes"
        );
        assert_eq!(
            ok(
                "return (async () => ({a: await Promise.resolve(1)}))()",
                json!({})
            ),
            json!({"a": 1})
        );
    }

    #[test]
    fn errors_name_the_users_line() {
        let CodeError::Thrown { message, line } = err("const a = 1;\nconst b = state.x.y;\nreturn {}") else {
            panic!()
        };
        assert_eq!(line, Some(2), "{message}");
        assert!(message.contains("TypeError"), "{message}");
        let CodeError::Thrown { message, line } = err("\n\nthrow new Error('no stock')") else {
            panic!()
        };
        assert_eq!((message.as_str(), line), ("Error: no stock", Some(3)));
        let CodeError::Thrown { message, .. } = err("throw {code: 7}") else {
            panic!()
        };
        assert!(message.contains("{\"code\":7}"), "{message}");
        let CodeError::Thrown { message, .. } = err("return fetch('http://x')") else {
            panic!()
        };
        assert!(message.contains("reach no network"), "{message}");
        let CodeError::Syntax { line, message } = err("const a = 1;\nreturn {a:::1}") else {
            panic!()
        };
        assert_eq!(line, Some(2), "{message}");
    }

    #[test]
    fn syntax_is_checked_without_running() {
        assert_eq!(check("return {a: 1}"), Ok(()));
        assert_eq!(
            check("while (true) {}"),
            Ok(()),
            "an endless loop is compiled, not run"
        );
        let Err(CodeError::Syntax { line, .. }) = check("let a = 1\nlet a = 2") else {
            panic!("a double declaration is an error")
        };
        assert_eq!(line, Some(2));
        assert!(matches!(check("return {"), Err(CodeError::Syntax { .. })));
    }

    #[test]
    fn limits_hold() {
        let short = Limits {
            timeout: Duration::from_millis(30),
            ..LIMITS
        };
        assert_eq!(
            run_with("while (true) {}", json!({}), short).0,
            Err(CodeError::Timeout(short.timeout))
        );
        assert_eq!(
            run_with(
                "try { while (true) {} } catch (e) { return {} }",
                json!({}),
                short
            )
            .0,
            Err(CodeError::Timeout(short.timeout))
        );
        let small = Limits {
            memory: 4 * 1024 * 1024,
            ..LIMITS
        };
        let greedy = "const a = []; while (true) a.push('x'.repeat(1000) + a.length)";
        assert_eq!(
            run_with(greedy, json!({}), small).0,
            Err(CodeError::Memory(small.memory))
        );
        let CodeError::Thrown { message, .. } = err("function f() { return f() + 1 } return f()") else {
            panic!()
        };
        assert!(message.contains("stack"), "{message}");
    }

    #[test]
    fn cancelling_stops_a_running_program() {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        // The program itself pulls the brake, so the test needs no clock.
        let result = run(
            "console.log('go'); while (true) {}",
            &json!({}),
            Limits {
                timeout: Duration::from_secs(60),
                ..LIMITS
            },
            &stop,
            Outside {
                log: move |_| seen.store(true, Ordering::Relaxed),
                store: None,
            },
        );
        assert_eq!(result, Err(CodeError::Cancelled));
    }

    #[test]
    fn console_shows_values_and_is_bounded() {
        let (_, lines) = run_with(
            "console.log('a', 1, {b: [true]}); console.warn(undefined); const c = {}; c.c = c; console.log(c)",
            json!({}),
            LIMITS,
        );
        assert_eq!(lines, ["a 1 {\"b\":[true]}", "undefined", "[object Object]"]);
        let (_, lines) = run_with("for (let i = 0; i < 5000; i++) console.log(i)", json!({}), LIMITS);
        assert_eq!(lines.len(), MAX_LOG_LINES + 1);
    }

    #[test]
    fn nothing_outside_can_be_reached() {
        let found = ok(
            "return {found: ['fetch', 'require', 'process', 'std', 'os', 'setTimeout', 'Deno', 'WebAssembly'].filter(n => n in globalThis)}",
            json!({}),
        );
        assert_eq!(found, json!({"found": []}));
        assert!(matches!(
            err("return import('os').then(() => 1)"),
            CodeError::Thrown { .. }
        ));
    }

    #[test]
    fn the_store_is_reached_and_its_refusals_are_thrown() {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        let ask: Ask = Box::new(move |request, _| {
            seen.lock().unwrap().push(request.to_owned());
            match request.contains("refuse") {
                true => Err("no.".to_owned()),
                false => Ok("{\"found\":1}".to_owned()),
            }
        });
        let outside = Outside {
            log: |_| {},
            store: Some(ask),
        };
        let source = "store.put('a', 7, {x: 1}, {ttl: null});\nstore.delete(['a', 'b'], 'k');\n\
                      const got = await store.get(['a'], 'k');\nlet said;\n\
                      try { store.search([], {query: 'refuse'}) } catch (e) { said = e.message }\n\
                      return {got, said, names: store.listNamespaces({maxDepth: 1}), frozen: Object.isFrozen(store)}";
        let source = format!("return (async () => {{ {source} }})()");
        let result = run(
            &source,
            &json!({}),
            LIMITS,
            &Arc::new(AtomicBool::new(false)),
            outside,
        )
        .unwrap();
        let want = json!({"got": {"found": 1}, "said": "store: no.", "names": {"found": 1}, "frozen": true});
        assert_eq!(result, want);
        let requests = requests.lock().unwrap();
        assert_eq!(
            requests[0],
            r#"{"ttl":null,"op":"put","namespace":["a"],"key":"7","value":{"x":1}}"#
        );
        assert_eq!(
            requests[4],
            r#"{"maxDepth":1,"op":"listNamespaces","prefix":[],"suffix":[]}"#
        );
        let CodeError::Thrown { message, .. } = err("return store.get('a', 'k')") else {
            panic!("there is no store")
        };
        assert!(message.contains("without a store"), "{message}");
    }

    #[test]
    fn results_that_are_not_json() {
        assert!(matches!(err("return () => 1"), CodeError::NotJson(_)));
        assert!(matches!(err("return {a: 10n}"), CodeError::Thrown { .. }));
        assert!(matches!(
            err("return new Promise(() => {})"),
            CodeError::NotJson(_)
        ));
    }
}
