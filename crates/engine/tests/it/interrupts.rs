//! Questions, answers, breakpoints.

use superstep::StreamMode::*;
use superstep::graph::*;
use superstep::run::*;
use superstep::value::*;
use superstep::*;

use crate::support::*;

fn asks(calls: &Calls, name: &'static str, questions: usize) -> impl Node + use<> {
    let calls = calls.clone();
    move |context: NodeContext, _: Value| {
        calls.add(name);
        async move {
            let mut log = List::new();
            for k in 1..=questions {
                let answer = context.interrupt(format!("{name}-q{k}"))?;
                log.push(answer);
            }
            Ok(NodeOutput::update([("log", Value::Array(log))]))
        }
    }
}

#[tokio::test]
async fn a_question_stops_the_run_and_an_answer_continues_it() {
    let calls = Calls::default();
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("ask", asks(&calls, "ask", 1))
            .node("z", logs("z"))
            .edge(START, "a")
            .edge("a", "ask")
            .edge("ask", "z"),
    );
    let modes = [Updates, Values, Tasks, Checkpoints];
    let (lines, result) = stream(&graph, input(), RunConfig::on("1"), &modes).await;
    assert_eq!(
        lines[lines.len() - 5..],
        [
            "checkpoint 1 loop -> ask",
            "start ask",
            "interrupts [\"ask-q1\"]",
            "values {\"x\":1,\"log\":[\"a\"]} asks \"ask-q1\"",
            "end ask asks \"ask-q1\""
        ]
    );
    let result = result.unwrap();
    assert_eq!(result.status, RunStatus::Interrupted);
    assert_eq!(result.interrupts[0].id.as_str().len(), 32);
    let state = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        (state.next.join(","), state.interrupts.clone()),
        ("ask".into(), result.interrupts.clone())
    );

    // Asking again without an answer keeps the id.
    let again = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(again.interrupts, result.interrupts);

    let (lines, result) = stream(&graph, Input::answer(30), RunConfig::on("1"), &modes).await;
    assert_eq!(
        lines[..6],
        [
            "values {\"x\":1,\"log\":[\"a\"]}",
            "checkpoint 1 loop -> ask",
            "start ask",
            "updates {\"ask\":{\"log\":[30]}}",
            "end ask {\"log\":[30]}",
            "values {\"x\":1,\"log\":[\"a\",30]}",
        ]
    );
    assert_eq!(log_of(&result.unwrap().value), "a,30,z");
    assert_eq!(calls.of("ask"), 3);
    let after = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(
        after.status,
        RunStatus::Done,
        "resuming a finished thread does nothing"
    );
    assert_eq!(calls.of("ask"), 3);
}

#[tokio::test]
async fn several_questions_of_one_node_are_answered_in_order() {
    let calls = Calls::default();
    let graph = on_memory(base().node("two", asks(&calls, "two", 2)).edge(START, "two"));
    let first = graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let second = graph
        .invoke(Input::answer("A"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(second.interrupts[0].value, json!("two-q2"));
    assert_ne!(first.interrupts[0].id, second.interrupts[0].id);
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        live.interrupts, second.interrupts,
        "the answered question no longer waits"
    );
    let done = graph
        .invoke(Input::answer("B"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!((log_of(&done.value), calls.of("two")), ("A,B".into(), 3));
}

#[tokio::test]
async fn parallel_questions_are_answered_by_id_and_finished_siblings_are_kept() {
    let calls = Calls::default();
    let ok = calls.clone();
    let graph = on_memory(
        base()
            .node("i1", asks(&calls, "i1", 1))
            .node("i2", asks(&calls, "i2", 1))
            .node("ok", move |_: NodeContext, _: Value| {
                ok.add("ok");
                async { Ok(NodeOutput::from(json!({"log": ["ok"]}))) }
            })
            .node("z", logs("z"))
            .edge(START, "i1")
            .edge(START, "i2")
            .edge(START, "ok")
            .join(["i1", "i2", "ok"], "z"),
    );
    let (lines, result) = stream(&graph, input(), RunConfig::on("1"), &[Updates, Values]).await;
    assert_eq!(
        lines.last().unwrap(),
        r#"values {"x":1,"log":["ok"]}"#,
        "finished siblings are shown last"
    );
    let result = result.unwrap();
    assert_eq!(result.interrupts.len(), 2);
    assert_eq!(log_of(&result.value), "ok");
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        (live.next.join(","), log_of(&live.values)),
        ("i1,i2".into(), "ok".into())
    );

    let error = graph
        .invoke(Input::answer("R"), RunConfig::on("1"))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("When there are multiple pending interrupts, you must specify"),
        "{error}"
    );

    let id = |q: &str| {
        let found = result.interrupts.iter().find(|i| i.value == json!(q)).unwrap();
        found.id.as_str().to_owned()
    };
    let answers = |pairs: &[(String, &str)]| {
        Input::answer(
            pairs
                .iter()
                .map(|(k, v)| (k.as_str(), Value::from(*v)))
                .collect::<Object>(),
        )
    };
    let (lines, _) = stream(
        &graph,
        answers(&[(id("i1-q1"), "R1")]),
        RunConfig::on("1"),
        &[Updates],
    )
    .await;
    assert!(
        lines.contains(&r#"updates {"ok":{"log":["ok"]},"__metadata__":{"cached":true}}"#.to_owned()),
        "{lines:?}"
    );
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!((live.next.join(","), live.interrupts.len()), ("i2".into(), 1));
    let done = graph
        .invoke(Input::answer("R2"), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(log_of(&done.value), "R1,R2,ok,z");
    assert_eq!((calls.of("i1"), calls.of("i2"), calls.of("ok")), (2, 3, 1));
}

#[tokio::test]
async fn an_answer_survives_a_later_failure_of_its_node() {
    let calls = Calls::default();
    let counted = calls.clone();
    let node = move |context: NodeContext, _: Value| {
        let attempt = counted.add("n");
        async move {
            let answer = context.interrupt("sure?")?;
            if attempt == 2 {
                return Err(NodeError::new("RuntimeError", "after the answer"));
            }
            Ok(NodeOutput::update([("log", answer)]))
        }
    };
    let graph = on_memory(base().node("n", node).edge(START, "n"));
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    graph
        .invoke(Input::answer("yes"), RunConfig::on("1"))
        .await
        .unwrap_err();
    let live = graph.get_state(&StateRef::live("1")).await.unwrap();
    assert_eq!(
        (live.next.join(","), live.interrupts.len()),
        ("n".into(), 0),
        "answered, failed, not asking"
    );
    let done = graph.invoke(Input::Continue, RunConfig::on("1")).await.unwrap();
    assert_eq!(log_of(&done.value), "yes");
}

#[tokio::test]
async fn a_command_edits_and_answers_at_once() {
    let calls = Calls::default();
    let graph = on_memory(
        base()
            .node("a", logs("a"))
            .node("ask", asks(&calls, "ask", 1))
            .node("z", logs("z"))
            .edge(START, "a")
            .edge("a", "ask")
            .edge("ask", "z"),
    );
    graph.invoke(input(), RunConfig::on("1")).await.unwrap();
    let command = Command {
        resume: Some("v".into()),
        update: Some(json!({"log": ["CU"], "x": 9})),
        ..Default::default()
    };
    let (lines, _) = stream(&graph, Input::Command(command), RunConfig::on("1"), &[Values]).await;
    assert_eq!(
        lines,
        [
            r#"values {"x":9,"log":["a","CU"]}"#,
            r#"values {"x":9,"log":["a","CU","v"]}"#,
            r#"values {"x":9,"log":["a","CU","v","z"]}"#
        ]
    );
    let cp1 = graph.get_state(&at_step(&graph, "1", 1).await).await.unwrap();
    assert_eq!(
        log_of(&cp1.values),
        "a,CU",
        "the command's writes belong to the addressed view too"
    );

    let jump = Command {
        goto: vec![Target::node("a")],
        ..Default::default()
    };
    let done = graph
        .invoke(Input::Command(jump), RunConfig::on("1"))
        .await
        .unwrap();
    assert_eq!(
        (log_of(&done.value).as_str(), done.status),
        ("a,CU,v,z,a", RunStatus::Interrupted)
    );

    let empty = graph
        .invoke(Input::Command(Command::default()), RunConfig::on("1"))
        .await
        .unwrap_err();
    assert!(empty.to_string().contains("empty Command"), "{empty}");
}

#[tokio::test]
async fn breakpoints_stop_before_and_after_and_let_a_resume_pass() {
    let next = |graph: &Graph| {
        let graph = graph.clone();
        async move {
            graph
                .get_state(&StateRef::live("1"))
                .await
                .unwrap()
                .next
                .join(",")
        }
    };
    for (before, after, stops) in [
        (vec!["b"], vec![], vec!["b"]),
        (vec![], vec!["a"], vec!["b"]),
        (vec!["*"], vec![], vec!["a", "b", "c"]),
        (vec![], vec!["*"], vec!["b", "c", ""]),
        (vec!["b"], vec!["b"], vec!["b", "c"]),
    ] {
        let graph = on_memory(chain(&["a", "b", "c"]));
        let names = |list: &[&str]| list.iter().map(|n| Name::from(*n)).collect::<Vec<_>>();
        let config = || {
            RunConfig::on("1")
                .interrupt_before(names(&before))
                .interrupt_after(names(&after))
        };
        let mut result = graph.invoke(input(), config()).await.unwrap();
        for stop in &stops {
            assert_eq!(
                result.status,
                RunStatus::Breakpoint,
                "{before:?} {after:?} at {stop}"
            );
            assert_eq!(next(&graph).await, *stop, "{before:?} {after:?}");
            result = graph.invoke(Input::Continue, config()).await.unwrap();
        }
        assert_eq!(
            (result.status, log_of(&result.value)),
            (RunStatus::Done, "a,b,c".into())
        );
    }
    let graph = on_memory(chain(&["a", "b"]));
    let config = RunConfig::on("1").interrupt_before(["b"]);
    let (lines, _) = stream(&graph, input(), config, &[Updates]).await;
    assert_eq!(lines, [r#"updates {"a":{"log":["a"]}}"#, "interrupts []"]);
}

#[tokio::test]
async fn stepping_runs_exactly_one_super_step() {
    let graph = on_memory(chain(&["a", "b", "c"]));
    let step = || RunConfig::on("1").interrupt_after(["*"]);
    graph.invoke(input(), step()).await.unwrap();
    for want in ["a,b", "a,b,c"] {
        let result = graph.invoke(Input::Continue, step()).await.unwrap();
        assert_eq!(log_of(&result.value), want);
    }
}

#[tokio::test]
async fn null_answers_the_one_question_that_waits() {
    let ask = async |context: NodeContext, _: Value| {
        let answer = context.interrupt("q")?;
        Ok(NodeOutput::update([("x", json!([answer]))]))
    };
    let graph = StateGraph::new()
        .channel("x", ChannelSpec::last_value())
        .node("a", ask)
        .edge(START, "a")
        .compile()
        .unwrap()
        .with_checkpointer(std::sync::Arc::new(MemorySaver::new()));
    let nothing = || Input::answer(Value::Null);
    graph
        .invoke(Input::value(json!({})), RunConfig::on("1"))
        .await
        .unwrap();
    let done = graph.invoke(nothing(), RunConfig::on("1")).await.unwrap();
    assert_eq!(done.value.get("x"), Some(&json!([null])));
    let failed = graph.invoke(nothing(), RunConfig::on("1")).await;
    assert!(matches!(failed, Err(RunError::EmptyInput { .. })), "{failed:?}");
}
