//! What programs ask of their node: questions, events, durable tasks, commands, modules.

use std::fs;

use serde_json::json;
use superstep::stream::Payload;
use superstep::{Graph, Input, RunConfig, StreamMode, Value, json as value};
use superstep_nodes::Environment;

use crate::support::{build, failure, no_keys, one_node, run, value as result};

fn script(state: serde_json::Value, source: &str) -> Graph {
    build(&one_node(state, "code", json!({"source": source})), &no_keys())
}

async fn questions(graph: &Graph, input: Input) -> Vec<Value> {
    let (_, done) = run(graph, input, &[]).await;
    done.unwrap()
        .interrupts
        .iter()
        .map(|asked| asked.value.clone())
        .collect()
}

fn customs(events: &[superstep::StreamEvent]) -> Vec<Value> {
    let custom = |event: &superstep::StreamEvent| match &event.payload {
        Payload::Custom(value, _) => Some(value.clone()),
        _ => None,
    };
    events.iter().filter_map(custom).collect()
}

#[tokio::test]
async fn a_question_stops_the_program_and_nothing_catches_it() {
    let source = "
        let caught = 0;
        const ask = async () => {
            try { return interrupt({really: state.n}) } catch { caught = 1; return 'caught' } finally { emit('finally') }
        };
        const first = await ask().catch(() => 'rejected');
        const second = interrupt('and?');
        return {said: [first, second, caught]};";
    let graph = script(json!({"n": {}, "said": {}}), source);
    let (events, done) = run(&graph, Input::value(value!({"n": 7})), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().interrupts[0].value, value!({"really": 7}));
    assert_eq!(customs(&events), Vec::<Value>::new(), "not even `finally` runs");
    assert_eq!(
        questions(&graph, Input::answer(value!("yes"))).await,
        [value!("and?")]
    );
    let (_, done) = run(&graph, Input::answer(value!({"a": 1})), &[]).await;
    assert_eq!(
        done.unwrap().value.get("said"),
        Some(&value!(["yes", {"a": 1}, 0]))
    );
}

#[tokio::test]
async fn durable_tasks_are_done_once() {
    let source = "
        const ids = [1, 2, 3];
        const rows = await Promise.all(ids.map(id => task('row', {id}, async ({id}, ctx) => {
            ctx.emit(`work ${id}`);
            await sleep(5 * (4 - id));
            return {id, at: [ctx.node, typeof ctx.interrupt]};
        })));
        let failed;
        try { await task('bad', () => { throw new RangeError('no such row') }) } catch (e) { failed = `${e.name}: ${e.message}` }
        const answer = interrupt('go on?');
        return {said: [rows, failed, answer]};";
    let graph = script(json!({"said": {}}), source);
    let (events, done) = run(&graph, Input::value(value!({})), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().interrupts.len(), 1);
    assert_eq!(customs(&events).len(), 3, "{events:?}");
    let (events, done) = run(&graph, Input::answer(value!("yes")), &[StreamMode::Custom]).await;
    assert_eq!(customs(&events), Vec::<Value>::new(), "recorded results are used");
    let result = done.unwrap().value.get("said").cloned().unwrap();
    assert_eq!(
        result.at(0).unwrap().at(2),
        Some(&value!({"id": 3, "at": ["n", "function"]}))
    );
    assert_eq!(result.at(1), Some(&value!("RangeError: no such row")));
    assert_eq!(result.at(2), Some(&value!("yes")));
}

#[tokio::test]
async fn tasks_that_the_time_limit_ends_do_not_hide_it() {
    let source = "await Promise.all(Array.from({length: 2000}, (_, n) => task('t', n, async () => { await sleep(60000) })))";
    let document = one_node(
        json!({"n": {}}),
        "code",
        json!({"source": source, "timeout_ms": 300}),
    );
    let message = failure(&document, value!({})).await;
    assert!(message.contains("was stopped after 300 ms"), "{message}");
}

#[tokio::test]
async fn a_task_may_ask_while_others_come_to_their_end() {
    let source = "
        const [a, b] = await Promise.all([
            task('ask', (_, ctx) => { try { return ctx.interrupt('who?') } catch { return 'caught' } }),
            task('work', async () => { await sleep(20); emit('worked'); return 2 }),
        ]);
        return {said: [a, b]};";
    let graph = script(json!({"said": {}}), source);
    let (events, done) = run(&graph, Input::value(value!({})), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().interrupts[0].value, value!("who?"));
    assert_eq!(customs(&events), [value!("worked")]);
    let (events, done) = run(&graph, Input::answer(value!("me")), &[StreamMode::Custom]).await;
    assert_eq!(done.unwrap().value.get("said"), Some(&value!(["me", 2])));
    assert_eq!(customs(&events), Vec::<Value>::new());
}

#[tokio::test]
async fn promises_wait_for_what_is_asked_and_lost_errors_are_errors() {
    let order = "
        const order = [];
        await Promise.all([800, 10, 400].map(async ms => { await sleep(ms); order.push(ms) }));
        return {said: order};";
    let state = json!({"said": {}});
    assert_eq!(
        result(
            &one_node(
                state.clone(),
                "code",
                json!({"source": order, "timeout_ms": 10_000})
            ),
            value!({})
        )
        .await,
        value!({"said": [10, 400, 800]})
    );
    for (source, part) in [
        (
            "(async () => { throw new TypeError('nobody looks') })(); return {}",
            "nobody looks",
        ),
        ("await new Promise(() => {})", "nothing will ever settle"),
        (
            "await task('x', () => new Promise(() => {}))",
            "nothing will ever settle",
        ),
        (
            "sleep(5000); await new Promise(() => {})",
            "stopped after 60 ms of processor time and sleep",
        ),
        (
            "await sleep(5000)",
            "stopped after 60 ms of processor time and sleep",
        ),
        ("task('x', 1)", "there is no function"),
        ("progress('a lot')", "the options cannot be read"),
        ("emit(() => 1)", "a function cannot leave the program"),
        ("return new Send('x', 1)", "part of a Command"),
        ("await store.get('a', 'b')", "without a store"),
    ] {
        let graph = one_node(state.clone(), "code", json!({"source": source, "timeout_ms": 60}));
        let text = failure(&graph, value!({})).await;
        assert!(text.contains(part), "{source}: {text}");
    }
    let late = "const p = task('x', () => { throw new Error('late') }); await sleep(20);
        try { await p } catch (e) { return {said: e.message} }";
    assert_eq!(
        result(&one_node(state, "code", json!({"source": late})), value!({})).await,
        value!({"said": "late"})
    );
}

#[tokio::test]
async fn a_program_says_what_it_does_and_knows_where_it_is() {
    let source = "
        progress(1, 3); progress(3, 3, 'done'); emit({of: context.node}); message({type: 'ai', content: 'hi', id: 'm'});
        console.log(ctx.thread, config.configurable.thread_id, context.user.colour, config.metadata.langgraph_node);
        return {said: [context.step, context.attempt, ctx.run === config.run_id, Object.isFrozen(ctx)]};";
    let graph = script(json!({"said": {}}), source);
    let mut stream = graph.stream(
        Input::value(value!({})),
        RunConfig::on("t9")
            .modes([StreamMode::Custom, StreamMode::Messages])
            .metadata([("colour", Value::from("red"))].into_iter().collect()),
    );
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    assert_eq!(
        stream.finish().await.unwrap().value.get("said"),
        Some(&value!([1, 1, true, true]))
    );
    assert_eq!(
        customs(&events),
        [
            value!({"progress": {"done": 1.0, "total": 3.0}, "node": "n"}),
            value!({"progress": {"done": 3.0, "total": 3.0, "text": "done"}, "node": "n"}),
            value!({"of": "n"}),
            value!({"log": "t9 t9 red n", "node": "n"}),
        ]
    );
    assert!(events.iter().any(|event| matches!(&event.payload, Payload::Message(chunk, _) if chunk.get("content") == Some(&value!("hi")))));
}

#[tokio::test]
async fn commands_choose_where_to_go() {
    let graph = json!({
        "format": "superstep/1", "name": "c",
        "state": {"n": {"type": "integer"}, "seen": {"type": "array", "reducer": "append"}},
        "nodes": {
            "plan": {"kind": "code", "config": {"source": "return new Command({update: {n: 5}, goto: [new Send('work', {item: 'a'}), 'work', new Send('work', {item: 'b'})]})"}},
            "work": {"kind": "code", "config": {"source": "return [{seen: [state.item ?? state.n]}, new Command({update: {seen: ['more']}})]"}},
        },
        "edges": [{"from": "__start__", "to": "plan"}, {"from": "plan", "to": "work", "when": "false"}, {"from": "work", "to": "__end__"}],
    });
    let found = result(&graph, value!({})).await;
    let seen = found.get("seen").cloned().unwrap();
    let mut seen: Vec<String> = seen.as_array().unwrap().iter().map(ToString::to_string).collect();
    seen.sort();
    assert_eq!(seen, ["\"a\"", "\"b\"", "\"more\"", "\"more\"", "\"more\"", "5"]);
}

#[tokio::test]
async fn modules_come_from_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir_all(project.join("graphs/lib")).unwrap();
    fs::write(folder.path().join("secret.js"), "export const f = 1").unwrap();
    fs::write(
        project.join("shared.js"),
        "export const twice = n => 2 * n;\nexport const fail = () => { null.x };",
    )
    .unwrap();
    fs::write(
        project.join("graphs/lib/math.js"),
        "import { twice } from '../../shared.js';\nexport const four = n => twice(twice(n));\nexport { fail } from '../../shared.js';",
    )
    .unwrap();
    let environment = Environment::new(Some(project.join("graphs"))).in_project(project.clone());
    let with = async |source: &str| {
        let graph = build(
            &one_node(json!({"n": {}}), "code", json!({"source": source})),
            &environment,
        );
        run(&graph, Input::value(value!({"n": 2})), &[])
            .await
            .1
            .map(|done| done.value)
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        with("import { four } from './lib/math.js'\nreturn {n: four(state.n)}").await,
        Ok(value!({"n": 8}))
    );
    let whole = "import { four } from './lib/math.js';\nconst extra = await Promise.resolve(1);\nexport default function node(state, ctx) { return {n: four(state.n) + extra} }";
    assert_eq!(with(whole).await, Ok(value!({"n": 9})));
    assert_eq!(
        with("const { four } = await import('./lib/math.js');\nreturn {n: four(1)}").await,
        Ok(value!({"n": 4}))
    );
    for (source, part) in [
        (
            "import { fail } from './lib/math.js'\nfail()",
            "(in shared.js, line 2)",
        ),
        (
            "import { f } from '../../secret.js'",
            "outside of the project's folder",
        ),
        ("import fs from 'fs'", "files of the project only"),
        ("import './lib/none.js'", "no such file"),
        ("export const a = 1", "no default function"),
    ] {
        let text = with(source).await.unwrap_err();
        assert!(text.contains(part), "{source}: {text}");
    }
    fs::write(
        project.join("shared.js"),
        "export const twice = n => 3 * n; export const fail = 0",
    )
    .unwrap();
    assert_eq!(
        with(whole).await,
        Ok(value!({"n": 19})),
        "a changed file counts at once"
    );
}

#[tokio::test]
async fn names_with_a_meaning_in_javascript_are_only_names() {
    let state = json!({"in": {}, "out": {}});
    let source = "
        const copy = {...state.in}; Object.assign({}, state.in);
        return {out: [({}).polluted === undefined, Object.keys(state.in).length, copy.constructor, JSON.parse(JSON.stringify(state.in))]}";
    let graph = one_node(state.clone(), "code", json!({"source": source}));
    let hostile = serde_json::from_str::<Value>(
        r#"{"in": {"__proto__": {"polluted": 1}, "constructor": "c", "toJSON": "t", "then": 1, "hasOwnProperty": null}}"#,
    )
    .unwrap();
    let found = result(&graph, hostile.clone()).await;
    assert_eq!(found.get("out").unwrap().at(0), Some(&value!(true)));
    assert_eq!(found.get("out").unwrap().at(1), Some(&value!(5)));
    assert_eq!(found.get("out").unwrap().at(3), hostile.get("in"));
    // What one call does to the machine's own objects is gone in the next.
    let spoils =
        "Object.prototype.polluted = 1; Array.prototype.map = () => 'mine'; JSON.stringify = () => '{}';
        Promise.prototype.then = () => {}; globalThis.emit = null; return {out: [1].map(x => x)}";
    let graph = one_node(state.clone(), "code", json!({"source": spoils}));
    assert_eq!(
        result(&graph, value!({"in": 1})).await.get("out"),
        Some(&value!("mine"))
    );
    let graph = one_node(
        state,
        "code",
        json!({"source": "return {out: [({}).polluted === undefined, [1].map(x => x)]}"}),
    );
    assert_eq!(
        result(&graph, value!({"in": 1})).await.get("out"),
        Some(&value!([true, [1]]))
    );
}

#[tokio::test]
async fn the_language_has_what_the_pages_say_and_no_more() {
    let source = "
        const missing = ['Intl', 'URL', 'TextEncoder', 'structuredClone', 'fetch', 'setTimeout'];
        return {out: [
            missing.filter(name => typeof globalThis[name] !== 'undefined'),
            (1234.5).toLocaleString('de-DE', {style: 'currency', currency: 'EUR'}),
            ['z', 'ä', 'a'].sort((a, b) => a.localeCompare(b, 'de')),
            new Date(2024, 0, 31).toLocaleDateString('de-DE'),
        ]}";
    let graph = one_node(json!({"out": {}}), "code", json!({"source": source}));
    assert_eq!(
        result(&graph, value!({})).await.get("out"),
        Some(&value!([[], "1234.5", ["a", "z", "ä"], "01/31/2024"]))
    );
}
