//! The sandbox on its own: the other end of the line is played here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use superstep::{Value, json};

use super::inputs::Argument;
use super::machine::{MAX_LOG_LINES, Program, ProgramLine, Received, returned, run};
use super::*;
use crate::programs::requests::{Ending, Event, Notice, Output, ProgramReply, ProgramRequest, RequestBody};

const LIMITS: Limits = Limits {
    timeout: Duration::from_millis(1000),
    patience: Duration::from_mins(5),
    memory: 64 * 1024 * 1024,
};
/// Takes some milliseconds of a processor, and makes the machine look at its limits.
const WORK: &str = "for (let n = 0; n < 50000; n++);";

struct Played {
    say: Box<dyn Fn(ProgramRequest) -> bool>,
    notices: mpsc::Receiver<Notice>,
}

impl ProgramLine for Played {
    fn request(&self, request: ProgramRequest) -> bool {
        (self.say)(request)
    }
    fn receive(&self, wait: Duration) -> Result<Received, mpsc::RecvTimeoutError> {
        self.notices.recv_timeout(wait).map(Received::Notice)
    }
    fn want(&self, _: usize, _: &str) -> bool {
        false
    }
}

/// Runs a program whose requests `answer` answers.
fn play(
    source: &str,
    state: Value,
    limits: Limits,
    stop: &Arc<AtomicBool>,
    answer: impl Fn(ProgramRequest) -> Option<ProgramReply> + 'static,
) -> Result<Ending<Output>, CodeError> {
    play_late(source, state, limits, stop, move |request| {
        answer(request).map(|reply| (Duration::ZERO, reply))
    })
}

/// The same, with the time that each answer takes.
fn play_late(
    source: &str,
    state: Value,
    limits: Limits,
    stop: &Arc<AtomicBool>,
    answer: impl Fn(ProgramRequest) -> Option<(Duration, ProgramReply)> + 'static,
) -> Result<Ending<Output>, CodeError> {
    let (tell, notices) = mpsc::channel();
    let say = Box::new(move |request: ProgramRequest| {
        let id = request.id;
        if let Some((late, reply)) = answer(request) {
            let tell = tell.clone();
            let answer = move || drop(tell.send(Notice::Answer(id, reply)));
            match late.is_zero() {
                true => answer(),
                false => drop(thread::spawn(move || {
                    thread::sleep(late);
                    answer();
                })),
            }
        }
        true
    });
    let program = Program {
        source: &JavaScriptSource::new(source, "state, ctx"),
        given: &[Argument::Value(state)],
        files: None,
        place: r#"{"context": {"node": "n"}, "config": {}, "store": true}"#,
    };
    let mut ended = None;
    run(&program, limits, stop, Box::new(Played { say, notices }), |end| {
        ended = Some(end)
    });
    ended.expect("it says how it ended").and_then(returned)
}

fn run_with(source: &str, state: Value, limits: Limits) -> (Result<Value, CodeError>, Vec<String>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let result = play(source, state, limits, &Arc::default(), move |request| {
        if let RequestBody::Log(line) | RequestBody::LogAt(_, line) = request.request {
            sink.lock().unwrap().push(line);
        }
        None
    });
    let result = result.map(|end| match end {
        Ending::Ok(Output::Update(value)) => value,
        other => panic!("{other:?}"),
    });
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
fn a_text_that_is_cut_within_a_character_goes_wherever_texts_go() {
    let state = || json!({"s": "Great work 👍 thanks"});
    let half = "const half = state.s.slice(0, 12);";
    let cut = "Great work \u{fffd}";
    assert_eq!(
        ok(
            &format!("{half} return {{[half]: [half, state.s.slice(12)]}}"),
            state()
        ),
        json!({cut: [cut, "\u{fffd} thanks"]})
    );
    let sent = Arc::new(Mutex::new(Vec::new()));
    let seen = sent.clone();
    let source = format!(
        "{half} emit({{[half]: half}}); console.log(half, {{a: half}}); progress(1, 2, half);\n\
         const found = await interrupt({{question: half}});\n\
         return {{found: await task(half, [half], () => half)}}"
    );
    let ended = play(&source, state(), LIMITS, &Arc::default(), move |request| {
        seen.lock().unwrap().push(format!("{:?}", request.request));
        match request.request {
            RequestBody::Task { .. } => Some(ProgramReply::Ok(Value::Null)),
            RequestBody::Interrupt(asked) => Some(ProgramReply::Ok(asked)),
            _ => None,
        }
    });
    let seen = sent.lock().unwrap().join("\n");
    assert!(!format!("{ended:?}").contains("cannot be read"), "{ended:?}");
    for part in ["Emit", "Log", "Progress", "Interrupt", "Task"] {
        let said = seen.lines().find(|line| line.starts_with(part));
        assert!(said.is_some_and(|said| said.contains(cut)), "{part}: {seen}");
    }
    for (thrown, message) in [
        ("throw new Error(half)", format!("Error: {cut}")),
        ("throw half", format!("it threw {cut}")),
        ("throw {half}", format!("it threw {{\"half\":\"{cut}\"}}")),
        (
            "const e = new Error('x'); e.name = half; throw e",
            format!("{cut}: x"),
        ),
    ] {
        match run_with(&format!("{half} {thrown}"), state(), LIMITS).0 {
            Err(CodeError::Thrown { message: said, .. }) => assert_eq!(said, message),
            other => panic!("{thrown}: {other:?}"),
        }
    }
}

#[test]
fn syntax_is_checked_without_running() {
    assert_eq!(check("return {a: 1}", "state"), Ok(()));
    assert_eq!(
        check("while (true) {}", "state"),
        Ok(()),
        "an endless loop is compiled, not run"
    );
    let Err(CodeError::Syntax { line, .. }) = check("let a = 1\nlet a = 2", "state") else {
        panic!("a double declaration is an error")
    };
    assert_eq!(line, Some(2));
    assert!(matches!(
        check("return {", "state"),
        Err(CodeError::Syntax { .. })
    ));
}

#[test]
fn limits_hold() {
    let short = Limits {
        timeout: Duration::from_millis(30),
        ..LIMITS
    };
    let worked = CodeError::Timeout {
        limit: short.timeout,
        slept: false,
    };
    assert_eq!(
        run_with("while (true) {}", json!({}), short).0,
        Err(worked.clone())
    );
    assert_eq!(
        run_with(
            "try { while (true) {} } catch (e) { return {} }",
            json!({}),
            short
        )
        .0,
        Err(worked)
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
    // At some limits there is no room left for the error either, and the machine throws null instead.
    for more in 0..64 {
        let small = Limits {
            memory: 4 * 1024 * 1024 + more * 16,
            ..LIMITS
        };
        let ended = run_with(greedy, json!({}), small).0;
        assert_eq!(ended, Err(CodeError::Memory(small.memory)), "{more}");
    }
    let CodeError::Thrown { message, .. } = err("throw null") else {
        panic!()
    };
    assert_eq!(message, "it threw null", "a program may throw it itself");
    let CodeError::Thrown { message, .. } = err("function f() { return f() + 1 } return f()") else {
        panic!()
    };
    assert!(message.contains("stack"), "{message}");
}

/// Limits of which a program meets none, unless the time counts in which it is held up.
fn brief() -> (Limits, Duration) {
    let limits = Limits {
        timeout: Duration::from_millis(200),
        ..LIMITS
    };
    (limits, limits.timeout * 2)
}

fn update(end: Result<Ending<Output>, CodeError>) -> Result<Value, CodeError> {
    end.map(|end| match end {
        Ending::Ok(Output::Update(value)) => value,
        other => panic!("{other:?}"),
    })
}

#[test]
fn time_without_a_processor_does_not_count() {
    // The thread is held up as it would be if others had all processors.
    let (limits, held) = brief();
    let source = format!("emit(1); {WORK} return {{n: 1}}");
    let ended = play(&source, json!({}), limits, &Arc::default(), move |_| {
        thread::sleep(held);
        None
    });
    assert_eq!(update(ended), Ok(json!({"n": 1})));
    // Held up or not, what does not end is stopped.
    let ended = play(
        "emit(1); for (;;);",
        json!({}),
        limits,
        &Arc::default(),
        move |_| {
            thread::sleep(held);
            None
        },
    );
    let error = update(ended).unwrap_err();
    assert!(
        matches!(error, CodeError::Timeout { slept: false, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("200 ms of processor time."), "{error}");
}

#[test]
fn waiting_for_the_node_does_not_count() {
    let (limits, late) = brief();
    for source in [
        "await store.get('a', 'b');",
        "interrupt('what?');",
        "await Promise.all([store.get('a', 'b'), sleep(1)]);",
    ] {
        let source = format!("{source} {WORK} return {{n: 1}}");
        let ended = play_late(&source, json!({}), limits, &Arc::default(), move |_| {
            Some((late, ProgramReply::Ok(Value::Null)))
        });
        assert_eq!(update(ended), Ok(json!({"n": 1})), "{source}");
    }
}

#[test]
fn sleep_counts_for_as_long_as_it_was_asked_for() {
    let (limits, late) = brief();
    let answered = |source: &str, late: Duration| {
        let ended = play_late(source, json!({}), limits, &Arc::default(), move |_| {
            Some((late, ProgramReply::Ok(Value::Null)))
        });
        update(ended)
    };
    let slept = Err(CodeError::Timeout {
        limit: limits.timeout,
        slept: true,
    });
    let done = Ok(json!({"n": 1}));
    assert_eq!(
        answered("await sleep(100); return {n: 1}", late),
        done,
        "the computer is busy when it should wake up"
    );
    let at_once = "await Promise.all(Array.from({length: 9}, () => sleep(100))); return {n: 1}";
    assert_eq!(answered(at_once, Duration::ZERO), done, "not one after the other");
    let each = "for (let n = 0; n < 9; n++) await sleep(100); return {n: 1}";
    assert_eq!(answered(each, Duration::ZERO), slept);
    let ended = play("await sleep(1e6)", json!({}), limits, &Arc::default(), |_| None);
    let error = update(ended).unwrap_err();
    assert!(
        error.to_string().contains("200 ms of processor time and sleep."),
        "{error}"
    );
    // What it does not wait for does not stop it.
    let race = "await Promise.race([sleep(1e6), store.get('a', 'b')]); return {n: 1}";
    let ended = play_late(race, json!({}), limits, &Arc::default(), move |asked| {
        let sleeps = matches!(asked.request, RequestBody::Sleep(_));
        (!sleeps).then_some((late, ProgramReply::Ok(Value::Null)))
    });
    assert_eq!(update(ended), done);
}

#[test]
fn what_waits_for_ever_is_stopped() {
    let limits = Limits {
        patience: Duration::from_millis(200),
        ..LIMITS
    };
    for source in [
        "await store.get('a', 'b')",
        "interrupt('what?')",
        "try { interrupt('what?') } catch { } for (;;) await null",
        "await task('work', () => 1)",
    ] {
        let ended = play(source, json!({}), limits, &Arc::default(), |_| None);
        let error = update(ended).unwrap_err();
        assert_eq!(error, CodeError::Unfinished(limits.patience), "{source}");
        assert!(error.to_string().contains("had not ended after 0.2 s"), "{error}");
    }
}

#[test]
fn cancelling_stops_a_running_program() {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    let long = Limits {
        timeout: Duration::from_secs(60),
        ..LIMITS
    };
    // The program itself pulls the brake, so the test needs no clock.
    let source = "console.log('go'); while (true) {}";
    let result = play(source, json!({}), long, &stop, move |_| {
        seen.store(true, Ordering::Relaxed);
        None
    });
    assert!(matches!(result, Err(CodeError::Cancelled)));
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
fn results_that_are_not_json() {
    assert!(matches!(err("return () => 1"), CodeError::NotJson(_)));
    assert!(matches!(err("return {a: 10n}"), CodeError::Thrown { .. }));
    assert!(matches!(
        err("return new Promise(() => {})"),
        CodeError::NotJson(_)
    ));
}

/// Returns a state whose `big` is made when the program looks at it.
fn large() -> Value {
    let items: Vec<Value> = (0..500).map(|n| json!({"n": n, "text": "some words"})).collect();
    json!({"a": 1, "big": items, "other": {"list": items}, "z": null})
}

#[test]
fn large_parts_of_a_state_are_like_others() {
    for (source, want) in [
        (
            "return {n: state.big[499].n + state.big.length}",
            json!({"n": 999}),
        ),
        ("return Object.keys(state)", json!(["a", "big", "other", "z"])),
        ("return {same: state.big === state.big}", json!({"same": true})),
        ("state.big[0].n = 7; return {n: state.big[0].n}", json!({"n": 7})),
        (
            "state.big = 'x'; return {big: state.big, own: Object.keys(state).length}",
            json!({"big": "x", "own": 4}),
        ),
        (
            "delete state.big; return {has: 'big' in state, big: state.big === undefined}",
            json!({"has": false, "big": true}),
        ),
        (
            "const {big, ...rest} = state; return {n: big.length, rest: Object.keys(rest)}",
            json!({"n": 500, "rest": ["a", "other", "z"]}),
        ),
        (
            "const copy = {...state, a: 2}; return {n: copy.big.length + copy.other.list.length + copy.a}",
            json!({"n": 1002}),
        ),
        (
            "Object.freeze(state); return {n: state.big.length + state.big.length}",
            json!({"n": 1000}),
        ),
        (
            "Object.freeze(state); try { state.big = 1 } catch (e) { return {refused: e.name} }",
            json!({"refused": "TypeError"}),
        ),
        (
            "const child = Object.create(state); child.big = 1; return {child: child.big, state: state.big.length}",
            json!({"child": 1, "state": 500}),
        ),
        (
            "state.big; return Object.getOwnPropertyDescriptor(state, 'big').writable",
            json!(true),
        ),
    ] {
        assert_eq!(ok(source, large()), want, "{source}");
    }
    assert_eq!(ok("return state", large()), large());
}

#[test]
fn nothing_is_left_from_the_call_before() {
    // All on this thread, which makes the next machine when a call has ended.
    for _ in 0..3 {
        let found = ok(
            "const found = [globalThis.left, Array.prototype.left, ({}).left, typeof JSON.parse, typeof Reflect.defineProperty, typeof state.big.map];
             globalThis.left = Array.prototype.left = Object.prototype.left = 'left';
             JSON.parse = Reflect.defineProperty = Promise = undefined; delete globalThis.Map;
             return found.map(one => one ?? null)",
            large(),
        );
        assert_eq!(
            found,
            json!([null, null, null, "function", "function", "function"])
        );
    }
}

#[test]
fn a_program_is_read_once_and_called_on_many_threads() {
    let source = JavaScriptSource::new("return {n: state.n + 1}", "state, ctx");
    let call = |n: i64| {
        let (_tell, notices) = mpsc::channel();
        let program = Program {
            source: &source,
            given: &[Argument::Value(json!({"n": n}))],
            files: None,
            place: r#"{"context": {"node": "n"}, "config": {}, "store": false}"#,
        };
        let mut ended = None;
        let line = Box::new(Played {
            say: Box::new(|_| true),
            notices,
        });
        run(&program, LIMITS, &Arc::default(), line, |end| ended = Some(end));
        match ended.unwrap().and_then(returned).unwrap() {
            Ending::Ok(Output::Update(value)) => value,
            other => panic!("{other:?}"),
        }
    };
    std::thread::scope(|scope| {
        for n in 0..20 {
            let call = &call;
            scope.spawn(move || {
                for m in 0..5 {
                    assert_eq!(call(n * 5 + m), json!({"n": n * 5 + m + 1}));
                }
            });
        }
    });
}

/// A worker process for these tests: this test, started by others.
#[test]
fn worker() {
    use crate::programs::helper::HelperWork;
    if let Some(Ok(HelperWork::JavaScript)) = HelperWork::asked() {
        std::process::exit(i32::from(!work()));
    }
}

#[cfg(unix)]
async fn start() -> worker::JavaScriptWorker {
    let args = ["--exact", "programs::javascript::tests::worker", "--nocapture"];
    let program = crate::programs::helper::HelperProgram {
        path: std::env::current_exe().unwrap(),
        args: args.map(Into::into).to_vec(),
    };
    let started = worker::JavaScriptWorker::start(&program, workers::ProcessCount::new(&Arc::default()));
    started.await.unwrap()
}

#[cfg(unix)]
fn call_of(source: &str, limits: Limits) -> JavaScriptCall {
    JavaScriptCall {
        source: JavaScriptSource::new(source, "state, ctx"),
        given: vec![json!({})],
        files: None,
        limits,
        place: json!({"context": {}, "config": {}, "store": true}),
    }
}

/// A function of the language that looks at no limit.
#[cfg(unix)]
const ENDLESS: &str = "return Array(2 ** 32 - 1).join('ab').length";

#[cfg(unix)]
#[tokio::test]
async fn a_worker_whose_program_nobody_ends_ends_by_itself() {
    use std::os::unix::process::ExitStatusExt;
    let status = start().await.abandon(&call_of(ENDLESS, LIMITS)).await.unwrap();
    let killed = rustix::process::Signal::XCPU.as_raw();
    assert_eq!(status.signal(), Some(killed), "{status}");
    assert!(!status.core_dumped(), "{status}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_is_ended_for_what_it_works_and_not_for_the_time_that_passes() {
    use tokio::sync::mpsc;
    let mut worker = start().await;
    let (limits, late) = brief();
    let (events, mut asked) = mpsc::channel(64);
    let (tell, mut notices) = mpsc::unbounded_channel();
    let source = format!("await store.get('a', 'b'); {WORK} return {{n: 1}}");
    tokio::spawn(async move {
        let Some(Event::Request(request)) = asked.recv().await else {
            panic!("it asks")
        };
        // Longer than its limit, and than the half of a second that it has to end by itself.
        tokio::time::sleep(late + Duration::from_secs(1)).await;
        let answer = Notice::Answer(request.id, ProgramReply::Ok(Value::Null));
        tell.send(answer).unwrap();
        while asked.recv().await.is_some() {}
    });
    let ended = worker.run(&call_of(&source, limits), &mut notices, &events).await;
    let Ok(ended) = ended else {
        panic!("it is answered")
    };
    assert_eq!(update(ended), Ok(json!({"n": 1})));
    let call = call_of(ENDLESS, limits);
    let ended = worker.run(&call, &mut notices, &events).await;
    let Err(worker::CallFailure::During(error)) = ended else {
        panic!("it is not run once more, in another process")
    };
    assert!(
        matches!(error, CodeError::Timeout { slept: false, .. }),
        "{error}"
    );
}
