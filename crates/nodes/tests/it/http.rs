//! `http` nodes against a server on loopback.

use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use superstep::run::RunStatus;
use superstep::{Input, Value};
use superstep_nodes::{Access, Environment, Grants, Registry};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::exchange::read_request;
use crate::support::{build, document, no_keys, one_node, run};

/// Answers by path, and remembers what was asked.
struct Server {
    address: String,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (head, body) = read_request(&mut socket).await;
                let path = head.split(' ').nth(1).unwrap().to_owned();
                let times = {
                    let mut log = log.lock().unwrap();
                    log.push((head.clone(), body.clone()));
                    log.len()
                };
                let json = "Content-Type: application/json\r\n";
                let (status, extra, body) = match path.split('?').next().unwrap() {
                    "/json" => ("200 OK", json, r#"{"items": [{"n": 1}, {"n": 2}]}"#.to_owned()),
                    "/halves" => (
                        "200 OK",
                        json,
                        r#"{"t": "cut \ud83d", "\udc4d": "\ud83d\udc4d"}"#.to_owned(),
                    ),
                    "/broken" => ("200 OK", json, "{oops".to_owned()),
                    "/busy" if times < 3 => {
                        ("429 Too Many Requests", "Retry-After: 0\r\n", "later".to_owned())
                    }
                    "/wait" => (
                        "503 Service Unavailable",
                        "Retry-After: 3600\r\n",
                        "closed".to_owned(),
                    ),
                    "/missing" => ("404 Not Found", json, r#"{"why": "gone"}"#.to_owned()),
                    "/big" => ("200 OK", "", "x".repeat(5000)),
                    "/kilobyte" => ("200 OK", "", "x".repeat(1024)),
                    "/away" => (
                        "302 Found",
                        "Location: http://127.0.0.2:9/secret\r\n",
                        String::new(),
                    ),
                    "/slow" => {
                        tokio::spawn(async move {
                            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
                            drop(socket);
                        });
                        continue;
                    }
                    _ => ("200 OK", "", format!("{path} {body}")),
                };
                let answer = format!(
                    "HTTP/1.1 {status}\r\n{extra}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                socket.write_all(answer.as_bytes()).await.ok();
            }
        });
        Self { address, seen }
    }

    fn environment(&self) -> Environment {
        let host = Access::Host(self.address.clone());
        let key = Access::key_to("SHOP_KEY", &host);
        no_keys()
            .with_variables(|name| (name == "SHOP_KEY").then(|| "s3cret".to_owned()))
            .with_grants(Grants::these([host, key]))
    }

    fn config(&self, path: &str, more: Json) -> Json {
        let mut config = json!({"url": format!("http://{}{path}", self.address), "into": "out"});
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        config
    }

    fn graph(&self, path: &str, more: Json) -> Json {
        let state = json!({"out": {}, "q": {"type": "string"}, "id": {}});
        one_node(state, "http", self.config(path, more))
    }

    async fn out(&self, path: &str, more: Json, input: Value) -> Result<Value, String> {
        let graph = build(&self.graph(path, more), &self.environment());
        let (_, result) = run(&graph, Input::Value(input), &[]).await;
        let value = result.map_err(|e| e.to_string())?.value;
        Ok(value.get("out").cloned().unwrap_or_default())
    }
}

#[tokio::test]
async fn answers_are_taken_and_values_stay_values() {
    let server = Server::start().await;
    let input = || superstep::json!({"q": "a/../b?x=1&y=ø", "id": 7});
    let out = server
        .out(
            "/json",
            json!({"take": "answer.body['items']|map(attribute='n')|list"}),
            input(),
        )
        .await;
    assert_eq!(out, Ok(superstep::json!([1, 2])));
    let out = server
        .out(
            "/o/{{ state.id }}/{{ state.q }}?first={{ state.q }}",
            json!({"query": {"q": "{{ state.q }}", "none": ""}}),
            input(),
        )
        .await
        .unwrap();
    let path = "/o/7/a%2F..%2Fb%3Fx%3D1%26y%3D%C3%B8?first=a%2F..%2Fb%3Fx%3D1%26y%3D%C3%B8&q=a%2F..%2Fb%3Fx%3D1%26y%3D%C3%B8 ";
    assert_eq!(out.as_str(), Some(path));
    let climbing = server
        .out("/o/{{ state.q }}/x", json!({}), superstep::json!({"q": ".."}))
        .await;
    assert!(climbing.unwrap_err().contains("climbs"));
    let post = json!({"method": "POST", "body": "{'n': state.id}", "headers": {"X-Who": "for {{ state.q }}"}, "key_variable": "SHOP_KEY"});
    let out = server
        .out("/p", post, superstep::json!({"q": "Ada", "id": 2}))
        .await
        .unwrap();
    assert_eq!(out.as_str(), Some("/p {\"n\":2}"));
    let head = server.seen.lock().unwrap().last().unwrap().0.to_lowercase();
    assert!(
        head.contains("x-who: for ada") && head.contains("authorization: bearer s3cret"),
        "{head}"
    );
    assert!(!head.contains("idempotency-key"), "nothing is promised: {head}");
    let answer = server
        .out(
            "/missing",
            json!({"on_status": "data", "take": "answer.status ~ answer.body.why"}),
            input(),
        )
        .await;
    assert_eq!(answer, Ok(superstep::json!("404gone")));
    let whole = server.out("/kilobyte", json!({"max_kb": 1}), input()).await;
    assert_eq!(whole, Ok("x".repeat(1024).into()), "the limit is included");
}

#[tokio::test]
async fn half_a_character_in_an_answer_costs_that_character() {
    let server = Server::start().await;
    let out = server
        .out("/halves", json!({"take": "answer.body"}), superstep::json!({}))
        .await;
    assert_eq!(out, Ok(superstep::json!({"t": "cut \u{fffd}", "\u{fffd}": "👍"})));
}

#[tokio::test]
async fn a_replay_with_another_value_of_a_key_that_it_does_not_read_is_the_same_request() {
    let server = Server::start().await;
    let mut graph = server.graph("/pay", json!({"method": "POST", "body": "{'n': state.id}"}));
    graph["nodes"]["n"]["effect"] = json!("once");
    let graph = build(&graph, &server.environment());
    let (_, first) = run(&graph, Input::Value(superstep::json!({"q": "a", "id": 1})), &[]).await;
    assert_eq!(first.unwrap().status, RunStatus::Done);
    let again = |values: Value| {
        let graph = &graph;
        async move {
            let all = superstep::checkpoint::ListQuery::default();
            let history = graph.get_state_history(&"t".into(), &all).await.unwrap();
            let before = history.iter().find(|state| state.next == ["n".into()]).unwrap();
            let update = superstep::StateUpdate {
                values,
                as_node: Some(superstep::START.into()),
                ..Default::default()
            };
            let edited = graph.update_state(&before.state_ref(), update).await.unwrap();
            let config = superstep::RunConfig::on("t")
                .checkpoint_id(edited.checkpoint_id)
                .effects(superstep::run::EffectPolicy::Reuse);
            graph.invoke(Input::Continue, config).await
        }
    };
    again(superstep::json!({"q": "b"})).await.unwrap();
    assert_eq!(server.seen.lock().unwrap().len(), 1);
    let other = again(superstep::json!({"id": 2})).await.unwrap_err();
    assert!(
        matches!(
            other,
            superstep::RunError::Effect {
                same_input: false,
                ..
            }
        ),
        "{other}"
    );
    assert_eq!(server.seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn failures_have_a_class_and_are_tried_again_when_that_helps() {
    let server = Server::start().await;
    let none = || superstep::json!({});
    for (path, more, class, words) in [
        ("/missing", json!({}), "HttpStatusError", "404"),
        ("/broken", json!({}), "HttpAnswerError", "says that it is JSON"),
        (
            "/big",
            json!({"max_kb": 1}),
            "HttpAnswerError",
            "larger than 1 kB. Raise `max_kb`",
        ),
        ("/slow", json!({"timeout_s": 1}), "HttpTimeoutError", "1 s"),
        ("/away", json!({}), "AccessDenied", "127.0.0.2:9"),
        ("/x", json!({"headers": {"X-A": "a\nb"}}), "HttpInputError", "X-A"),
        ("/x", json!({"key_variable": "NOBODY"}), "AccessDenied", "NOBODY"),
    ] {
        let error = server.out(path, more, none()).await.unwrap_err();
        assert!(error.contains(class) && error.contains(words), "{path}: {error}");
    }
    // The server asks for patience twice, then answers.
    server.seen.lock().unwrap().clear();
    let mut graph = server.graph("/busy", json!({}));
    graph["nodes"]["n"]["retry"] = json!({"attempts": 3, "initial_interval": 0, "jitter": false});
    let built = build(&graph, &server.environment());
    let (_, result) = run(&built, Input::Value(none()), &[]).await;
    assert_eq!(result.unwrap().status, RunStatus::Done);
    assert_eq!(server.seen.lock().unwrap().len(), 3);
    // A wait that is longer than the policy's longest is not waited for, and a 404 is not asked for again.
    for (path, words) in [("/wait", "503"), ("/missing", "404")] {
        server.seen.lock().unwrap().clear();
        let mut graph = server.graph(path, json!({}));
        graph["nodes"]["n"]["retry"] =
            json!({"attempts": 3, "initial_interval": 0, "max_interval": 10, "jitter": false});
        let (_, result) = run(&build(&graph, &server.environment()), Input::Value(none()), &[]).await;
        assert!(result.unwrap_err().to_string().contains(words));
        assert_eq!(server.seen.lock().unwrap().len(), 1, "{path}");
    }
}

#[tokio::test]
async fn a_node_says_whom_it_asks_and_asks_nobody_else() {
    let server = Server::start().await;
    let registry = Registry::standard();
    let accesses = |config: Json| {
        let graph = document(&one_node(json!({"out": {}, "url": {}}), "http", config));
        let found = registry.accesses(&graph, &no_keys());
        found
            .into_values()
            .flatten()
            .map(|access| format!("{access:?}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        accesses(json!({"url": "https://API.example.org/{{ state.url }}", "into": "out"})),
        ["Host(\"api.example.org\")"]
    );
    for any in ["{{ state.url }}", "https://{{ state.url }}.example.org/"] {
        assert_eq!(
            accesses(json!({"url": any, "into": "out"})),
            ["Host(\"*\")"],
            "{any}"
        );
    }
    let keyed = json!({"url": "https://a.org:8443", "key_variable": "K", "into": "out"});
    assert_eq!(accesses(keyed), ["Host(\"a.org:8443\")", "Key(\"K@a.org:8443\")"]);
    // The state's own address reaches only what is granted.
    let graph = one_node(
        json!({"out": {}, "url": {}}),
        "http",
        json!({"url": "{{ state.url }}", "into": "out"}),
    );
    let go = async |url: &str| {
        let input = superstep::json!({"url": url});
        let (_, result) = run(&build(&graph, &server.environment()), Input::Value(input), &[]).await;
        result
            .map(|done| done.value.get("out").cloned().unwrap_or_default())
            .map_err(|e| e.to_string())
    };
    assert_eq!(
        go(&format!("http://{}/a?b=c", server.address)).await,
        Ok(superstep::json!("/a?b=c "))
    );
    assert!(
        go("http://127.0.0.1:1/")
            .await
            .unwrap_err()
            .contains("AccessDenied")
    );
    assert!(go("file:///etc/passwd").await.is_err());
}

#[tokio::test]
async fn a_key_is_not_sent_to_a_server_that_was_allowed_for_something_else() {
    let (mine, other) = (Server::start().await, Server::start().await);
    // One node sends the key to the first server, another reads the second: both were allowed.
    let host = |server: &Server| Access::Host(server.address.clone());
    let granted = [
        host(&mine),
        host(&other),
        Access::key_to("SHOP_KEY", &host(&mine)),
        Access::Variable("SHOP_KEY".into()),
    ];
    let environment = mine.environment().with_grants(Grants::these(granted));
    let keyed = json!({"key_variable": "SHOP_KEY"});
    let changed = other.graph("/read", keyed.clone());
    let wanted: std::collections::BTreeSet<Access> = Registry::standard()
        .accesses(&document(&changed), &environment)
        .into_values()
        .flatten()
        .collect();
    let missing = environment.grants.missing(&wanted);
    assert_eq!(missing, [Access::key_to("SHOP_KEY", &host(&other))].into());
    // Where nobody looked before the run, the run does.
    let run_it = async |graph: Json| {
        let input = Input::Value(superstep::json!({}));
        run(&build(&graph, &environment), input, &[]).await.1.map(drop)
    };
    let error = run_it(changed).await.unwrap_err().to_string();
    assert!(
        error.contains("AccessDenied") && error.contains("SHOP_KEY, sent to"),
        "{error}"
    );
    assert!(other.seen.lock().unwrap().is_empty());
    run_it(mine.graph("/pay", keyed)).await.unwrap();
    assert!(mine.seen.lock().unwrap()[0].0.contains("Bearer s3cret"));
}

#[tokio::test]
async fn what_must_not_be_done_twice_carries_a_key() {
    let server = Server::start().await;
    for (effect, keyed) in [("idempotent", true), ("once", true), ("reads", false)] {
        server.seen.lock().unwrap().clear();
        let mut graph = server.graph("/p", json!({"method": "POST", "body": "1"}));
        graph["nodes"]["n"]["effect"] = json!(effect);
        let (_, result) = run(
            &build(&graph, &server.environment()),
            Input::Value(superstep::json!({})),
            &[],
        )
        .await;
        result.unwrap();
        let head = server.seen.lock().unwrap()[0].0.to_lowercase();
        assert_eq!(head.contains("idempotency-key: "), keyed, "{effect}: {head}");
    }
}

#[tokio::test]
async fn secrets_are_named_in_a_request_and_go_to_its_server_alone() {
    let server = Server::start().await;
    let host = Access::Host(server.address.clone());
    let secret = "n\u{e4}med s3cret/?&";
    let named = |granted: Vec<Access>| {
        no_keys()
            .with_variables(move |name| match name {
                "NAMED" => Some(secret.to_owned()),
                "PLAIN" => Some("plain-4711".to_owned()),
                _ => None,
            })
            .with_grants(Grants::these(granted))
    };
    let all = named(vec![
        host.clone(),
        Access::key_to("NAMED", &host),
        Access::key_to("PLAIN", &host),
        Access::key_to("ABSENT", &host),
    ]);
    let go = async |path: &str, more: Json, environment: &Environment, input: Value| {
        server.seen.lock().unwrap().clear();
        let graph = build(&server.graph(path, more), environment);
        let (_, result) = run(&graph, Input::Value(input), &[]).await;
        result
            .map(|done| done.value.get("out").cloned().unwrap_or_default().to_string())
            .map_err(|e| e.to_string())
    };
    let seen = || server.seen.lock().unwrap().last().cloned().unwrap_or_default();
    // A value of the state that is written like a reference is text.
    let input = || superstep::json!({"q": "${PLAIN}", "id": 7});
    let request = json!({
        "method": "POST",
        "query": {"key": "${NAMED}", "q": "{{ state.q }}"},
        "headers": {"Authorization": "Bearer ${PLAIN}", "X-State": "{{ state.q }} ${ABSENT:-none}"},
        "body": "{'token': 'is ${NAMED}', 'list': [state.q], 'n': state.id}"
    });
    let out = go("/bot${PLAIN}/{{ state.id }}", request, &all, input())
        .await
        .unwrap();
    let (head, body) = seen();
    let encoded = "n%C3%A4med+s3cret%2F%3F%26";
    assert!(
        head.starts_with(&format!("POST /botplain-4711/7?key={encoded}&q=%24%7BPLAIN%7D ")),
        "{head}"
    );
    let lower = head.to_lowercase();
    assert!(lower.contains("authorization: bearer plain-4711\r\n"), "{head}");
    assert!(lower.contains("x-state: ${plain} none\r\n"), "{head}");
    let sent: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(
        sent,
        json!({"token": format!("is {secret}"), "list": ["${PLAIN}"], "n": 7})
    );
    // The server repeats its path and the body: nothing of it comes back.
    assert!(
        out.contains("/bot[secret]/7") && !out.contains("plain-4711"),
        "{out}"
    );
    assert!(out.contains("is [secret]") && !out.contains("s3cret"), "{out}");

    // What it wants is listed with the server that each goes to, and is refused without a grant.
    let graph = server.graph("/x", json!({"headers": {"A": "${NAMED} ${PLAIN}"}}));
    let wanted: Vec<Access> = Registry::standard()
        .accesses(&document(&graph), &all)
        .into_values()
        .flatten()
        .collect();
    assert!(
        wanted.contains(&Access::key_to("NAMED", &host)) && wanted.contains(&Access::key_to("PLAIN", &host)),
        "{wanted:?}"
    );
    let untrusted = named(vec![host.clone(), Access::Variable("PLAIN".into())]);
    for more in [
        json!({"headers": {"A": "${PLAIN}"}}),
        json!({"query": {"a": "${PLAIN}"}}),
        json!({"method": "POST", "body": "'${PLAIN}'"}),
        json!({"headers": {"A": "${PLAIN:-default}"}}),
    ] {
        let error = go("/x", more.clone(), &untrusted, input()).await.unwrap_err();
        assert!(
            error.contains("AccessDenied") && error.contains("PLAIN"),
            "{more}: {error}"
        );
        assert!(server.seen.lock().unwrap().is_empty(), "{more}");
    }
    let error = go("/x/${PLAIN}", json!({}), &untrusted, input())
        .await
        .unwrap_err();
    assert!(error.contains("AccessDenied"), "{error}");

    // A secret without a value is missed by its name, before anything is sent.
    let error = go("/x", json!({"headers": {"A": "${ABSENT}"}}), &all, input())
        .await
        .unwrap_err();
    assert!(
        error.contains("SecretMissingError") && error.contains("ABSENT") && error.contains("Settings"),
        "{error}"
    );
    assert!(server.seen.lock().unwrap().is_empty());
    // What goes wrong in a template is said in its own words.
    let error = go(
        "/x",
        json!({"headers": {"A": "${PLAIN} {{ state.none.at.all }}"}}),
        &all,
        input(),
    )
    .await
    .unwrap_err();
    assert!(
        !error.contains("plain-4711") && !error.contains("ref0"),
        "{error}"
    );
}

#[tokio::test]
async fn a_secret_never_chooses_the_server() {
    let server = Server::start().await;
    let problems = |url: &str| {
        let graph = one_node(
            json!({"out": {}, "url": {}}),
            "http",
            json!({"url": url, "into": "out"}),
        );
        Registry::standard()
            .check(&document(&graph))
            .into_iter()
            .map(|problem| problem.code.to_string())
            .collect::<Vec<_>>()
    };
    for url in [
        "https://${NAMED}.example.org/",
        "https://u:${NAMED}@example.org/x",
    ] {
        assert!(problems(url).contains(&"http-url".to_owned()), "{url}");
    }
    assert!(!problems("https://example.org/${NAMED}").contains(&"http-url".to_owned()));
    // The state has the address: a secret behind it may not become part of the host.
    let environment = no_keys()
        .with_variables(|name| (name == "NAMED").then(|| "evil".to_owned()))
        .with_grants(Grants::these([
            Access::Host("*".into()),
            Access::Key("NAMED@*".into()),
        ]));
    let graph = one_node(
        json!({"out": {}, "url": {}}),
        "http",
        json!({"url": "{{ state.url }}${NAMED}", "into": "out"}),
    );
    let input = Input::Value(superstep::json!({"url": "https://example."}));
    let error = run(&build(&graph, &environment), input, &[]).await.1.unwrap_err();
    assert!(error.to_string().contains("part of the host"), "{error}");
    assert!(server.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_header_that_names_a_secret_of_several_lines_fails_with_what_to_do() {
    let server = Server::start().await;
    let host = Access::Host(server.address.clone());
    let key = "-----BEGIN PRIVATE KEY-----\nlined-4711-abcdef\n-----END PRIVATE KEY-----\n";
    let environment = no_keys()
        .with_secrets(Arc::new(move |name| (name == "PEM").then(|| key.to_owned())))
        .with_grants(Grants::these([host.clone(), Access::key_to("PEM", &host)]));
    for (more, header) in [
        (json!({"headers": {"X-Key": "a ${PEM}"}}), "X-Key"),
        (json!({"key_variable": "PEM"}), "Authorization"),
    ] {
        let graph = build(&server.graph("/x", more), &environment);
        let (_, result) = run(&graph, Input::Value(superstep::json!({})), &[]).await;
        let text = result.unwrap_err().to_string();
        for part in [
            "SecretLinesError",
            "the secret PEM has several lines",
            header,
            "`body`",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("4711"), "{text}");
    }
    assert!(server.seen.lock().unwrap().is_empty(), "nothing was sent");
}
