//! Logins, against the authorization server of the Python SDK.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use serde_json::{Value as Json, json};
use superstep::StreamMode;
use superstep::run::RunStatus;
use superstep_nodes::{Access, Grants, Logins, Registry, ServerFault};
use superstep_test_servers::{McpOverHttp, McpServers};

use super::{Project, calling, free, tools};
use crate::support::run;

/// Logins in memory.
#[derive(Debug, Default)]
struct Kept {
    logins: Mutex<HashMap<String, String>>,
    held: Arc<(Mutex<bool>, Condvar)>,
}

struct Held(Arc<(Mutex<bool>, Condvar)>);

impl Drop for Held {
    fn drop(&mut self) {
        *self.0.0.lock() = false;
        self.0.1.notify_one();
    }
}

impl Logins for Kept {
    fn problem(&self) -> Option<String> {
        None
    }
    fn get(&self, name: &str) -> Result<Option<String>, String> {
        Ok(self.logins.lock().get(name).cloned())
    }
    fn set(&self, name: &str, login: &str) -> Result<(), String> {
        self.logins.lock().insert(name.to_owned(), login.to_owned());
        Ok(())
    }
    fn remove(&self, name: &str) -> Result<(), String> {
        self.logins.lock().remove(name);
        Ok(())
    }
    fn hold(&self) -> Result<Box<dyn Send>, String> {
        let mut held = self.held.0.lock();
        while *held {
            self.held.1.wait(&mut held);
        }
        *held = true;
        Ok(Box::new(Held(self.held.clone())))
    }
}

/// A project with a server that wants a login.
struct Asking {
    project: Project,
    http: McpOverHttp,
    kept: Arc<Kept>,
}

impl Asking {
    fn new(servers: &McpServers) -> Self {
        Self::declared(servers, &json!({}))
    }

    fn declared(servers: &McpServers, more: &Json) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp_login.py");
        let http = servers.serving(&servers.interpreter(false), &[script, "PORT"]);
        let mut server = json!({"type": "http", "url": http.url()});
        for (name, value) in more.as_object().into_iter().flatten() {
            server[name] = value.clone();
        }
        let mut project = Project::new(&json!({"notes": server}));
        let kept = Arc::new(Kept::default());
        project.environment = project.environment.clone().with_logins(kept.clone());
        Self { project, http, kept }
    }

    fn at(&self, path: &str) -> String {
        self.http.url().replace("/mcp", path)
    }

    async fn control(&self, how: Json) {
        let sent = reqwest::Client::new()
            .post(self.at("/control"))
            .body(how.to_string())
            .send();
        assert!(sent.await.unwrap().status().is_success(), "{how}");
    }

    async fn seen(&self) -> Json {
        let text = reqwest::get(self.at("/seen"))
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Does what a person in front of a browser does.
    async fn sign_in(&self) -> Result<(), ServerFault> {
        let Project {
            registry,
            environment,
            ..
        } = &self.project;
        let waiting = registry.sign_in(environment, "notes").await?;
        let back = sent_back(waiting.address()).await;
        let done = tokio::spawn(waiting.finish());
        let page = reqwest::get(back).await.unwrap();
        let (is_good, text) = (page.status().is_success(), page.text().await.unwrap());
        let done = done.await.unwrap();
        assert_eq!(is_good, done.is_ok(), "the page says what came of it: {text}");
        done
    }

    /// Runs a graph that calls the tool.
    async fn run(&self) -> Result<String, String> {
        run_once(&self.project).await
    }
}

/// Runs a graph of a project in a program of its own: nothing but the logins is shared.
async fn run_once(project: &Project) -> Result<String, String> {
    let registry = Registry::standard();
    let graph = registry
        .build(
            &crate::support::document(&tools(&free("notes"))),
            &project.environment,
        )
        .unwrap_or_else(|problems| panic!("{problems:?}"))
        .graph
        .with_checkpointer(Arc::new(superstep::MemorySaver::new()));
    let (seen, result) = run(&graph, calling(&[("notes", json!({}))]), &[StreamMode::Debug]).await;
    assert_no_token(&format!("{seen:?}"));
    match result {
        Ok(output) => {
            assert_eq!(output.status, RunStatus::Done);
            let messages = Json::from(output.value.get("messages").unwrap());
            assert_no_token(&messages.to_string());
            Ok(messages[1]["content"].to_string())
        }
        Err(error) => {
            let error = format!("{error:?}");
            assert_no_token(&error);
            Err(error)
        }
    }
}

/// Tokens and codes of the server begin so.
fn assert_no_token(text: &str) {
    for begin in ["access-", "refresh-", "code-"] {
        assert!(!text.contains(begin), "{text}");
    }
}

/// Returns where the authorization server sends the browser.
async fn sent_back(address: &str) -> String {
    let browser = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let page = browser.get(address).send().await.unwrap();
    let back = page
        .headers()
        .get("location")
        .map(|to| to.to_str().unwrap().to_owned());
    match back {
        Some(back) => back,
        None => panic!("{}: {}", page.status(), page.text().await.unwrap()),
    }
}

fn port_of(address: &str) -> u16 {
    let url = reqwest::Url::parse(address).unwrap();
    let (_, back) = url
        .query_pairs()
        .find(|(name, _)| name == "redirect_uri")
        .unwrap();
    reqwest::Url::parse(&back).unwrap().port().unwrap()
}

/// Waits until nobody listens any more: what closes a port may be about to.
async fn closed(port: u16) {
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

fn grants(seen: &Json) -> Vec<&str> {
    let all = seen["token"].as_array().unwrap().iter();
    all.map(|asked| asked["grant_type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_person_signs_in_and_out() {
    let Some(servers) = McpServers::find() else { return };
    let asking = Asking::new(&servers);
    let error = asking.run().await.unwrap_err();
    assert!(
        error.contains("McpLoginError")
            && error.contains("the MCP server `notes` asks for a login. Sign in")
            && error.contains("superstep mcp login notes"),
        "{error}"
    );
    let Project {
        registry,
        environment,
        ..
    } = &asking.project;
    let fault = registry.offered_tools(environment, "notes").await.unwrap_err();
    assert!(fault.wants_login.is_some(), "{fault:?}");
    assert!(!registry.is_signed_in(environment, "notes"));

    asking.sign_in().await.unwrap();
    assert!(registry.is_signed_in(environment, "notes"));
    let offered = registry.offered_tools(environment, "notes").await.unwrap();
    assert_eq!(offered[0].name, "notes");
    assert_eq!(asking.run().await.unwrap(), "\"one note\"");
    let seen = asking.seen().await;
    assert_eq!(seen["authorize"][0]["resource"], asking.http.url(), "{seen}");
    assert_eq!(seen["authorize"][0]["scopes"], json!(["notes", "offline_access"]));
    assert_eq!(seen["token"][0]["resource"], asking.http.url());
    assert_eq!(grants(&seen), ["authorization_code"]);
    assert_eq!(seen["register"], 1);

    // Another project knows nothing of it, and neither do its files.
    let other = Project::new(&json!({"notes": {"url": asking.http.url()}}));
    let environment_of_other = other.environment.clone().with_logins(asking.kept.clone());
    assert!(!registry.is_signed_in(&environment_of_other, "notes"));
    for file in std::fs::read_dir(asking.project.path()).unwrap() {
        assert_no_token(&std::fs::read_to_string(file.unwrap().path()).unwrap());
    }

    registry.sign_out(environment, "notes").await.unwrap();
    assert!(asking.kept.logins.lock().is_empty());
    let error = asking.run().await.unwrap_err();
    assert!(error.contains("asks for a login"), "{error}");
    let fault = registry.offered_tools(environment, "notes").await;
    assert!(
        fault.is_err_and(|fault| fault.wants_login.is_some()),
        "the connection goes on without it"
    );
}

#[tokio::test]
async fn who_is_denied_has_no_login_and_no_port_stays_open() {
    let Some(servers) = McpServers::find() else { return };
    let asking = Asking::new(&servers);
    asking.control(json!({"deny": true})).await;
    let Project {
        registry,
        environment,
        ..
    } = &asking.project;
    let waiting = registry.sign_in(environment, "notes").await.unwrap();
    let port = port_of(waiting.address());
    let back = sent_back(waiting.address()).await;
    let done = tokio::spawn(waiting.finish());
    let page = reqwest::get(back).await.unwrap();
    assert_eq!(page.status(), 400);
    let fault = done.await.unwrap().unwrap_err();
    assert!(fault.message.contains("failed: The person said no."), "{fault:?}");
    assert!(asking.kept.logins.lock().is_empty());
    closed(port).await;

    // Nobody waits any more, and the page comes too late.
    asking.control(json!({"deny": false})).await;
    let waiting = registry.sign_in(environment, "notes").await.unwrap();
    let port = port_of(waiting.address());
    let back = sent_back(waiting.address()).await;
    let done = tokio::spawn(waiting.finish());
    done.abort();
    closed(port).await;
    assert!(reqwest::get(back).await.is_err());
    assert_eq!(asking.seen().await["token"], json!([]));
}

#[tokio::test]
async fn only_the_page_that_was_opened_can_answer() {
    let Some(servers) = McpServers::find() else { return };
    let asking = Asking::new(&servers);
    let Project {
        registry,
        environment,
        ..
    } = &asking.project;
    let waiting = registry.sign_in(environment, "notes").await.unwrap();
    let back = sent_back(waiting.address()).await;
    let done = tokio::spawn(waiting.finish());
    // One that never says what it wants keeps nobody waiting.
    let port = reqwest::Url::parse(&back).unwrap().port().unwrap();
    let _silent = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let stray = [
        format!("http://127.0.0.1:{port}/callback?code=code-x&state=guessed"),
        format!("http://127.0.0.1:{port}/callback?code=code-x"),
        format!("http://127.0.0.1:{port}/callback?error=access_denied&state="),
        back.replace("/callback", "/other"),
        format!("http://127.0.0.1:{port}/favicon.ico"),
    ];
    for address in stray {
        assert_eq!(reqwest::get(&address).await.unwrap().status(), 404, "{address}");
    }
    assert_eq!(asking.seen().await["token"], json!([]), "nothing was asked for");
    assert!(reqwest::get(back).await.unwrap().status().is_success());
    done.await.unwrap().unwrap();
    assert_eq!(asking.run().await.unwrap(), "\"one note\"");
}

#[tokio::test]
async fn a_token_that_has_ended_is_renewed_once_for_all() {
    let Some(servers) = McpServers::find() else { return };
    let asking = Asking::new(&servers);
    asking.control(json!({"lifetime": 0})).await;
    asking.sign_in().await.unwrap();
    asking.control(json!({"lifetime": 3600})).await;
    // Each refresh token is good for one use.
    let runs = (0..4).map(|_| asking.run());
    for answer in futures::future::join_all(runs).await {
        assert_eq!(answer.unwrap(), "\"one note\"");
    }
    let seen = asking.seen().await;
    assert_eq!(grants(&seen), ["authorization_code", "refresh_token"]);
    assert_eq!(seen["token"][1]["resource"], asking.http.url());

    // One that the server takes no more is renewed as well, by whoever is first told.
    asking.control(json!({"revoke": ["access"]})).await;
    let runs = (0..4).map(|_| asking.run());
    for answer in futures::future::join_all(runs).await {
        assert_eq!(answer.unwrap(), "\"one note\"");
    }
    assert_eq!(grants(&asking.seen().await).len(), 3);
}

#[tokio::test]
async fn a_login_that_cannot_be_renewed_says_so() {
    let Some(servers) = McpServers::find() else { return };
    let ended = "the login to the MCP server `notes` has expired or was revoked. Sign in";
    for (begin, then) in [
        (json!({}), json!({"revoke": ["access", "refresh"]})),
        (json!({"lose_refresh": true}), json!({"revoke": ["access"]})),
        (json!({"lifetime": 0}), json!({"revoke": ["refresh"]})),
        (
            json!({"lifetime": 0}),
            json!({"forget_clients": true, "revoke": ["access"]}),
        ),
    ] {
        let asking = Asking::new(&servers);
        asking.control(begin.clone()).await;
        asking.sign_in().await.unwrap();
        asking.control(then.clone()).await;
        for _ in 0..2 {
            let error = asking.run().await.unwrap_err();
            assert!(
                error.contains("McpLoginError") && error.contains(ended),
                "{begin} {then}: {error}"
            );
        }
        asking.sign_in().await.unwrap();
        assert_eq!(asking.run().await.unwrap(), "\"one note\"", "{begin} {then}");
    }
    // A server that is not well says nothing of the login.
    let asking = Asking::new(&servers);
    asking.control(json!({"lifetime": 0})).await;
    asking.sign_in().await.unwrap();
    asking
        .control(json!({"lifetime": 3600, "hide": ["/token"]}))
        .await;
    let error = asking.run().await.unwrap_err();
    assert!(error.contains("could not be renewed"), "{error}");
    asking.control(json!({"hide": []})).await;
    assert_eq!(asking.run().await.unwrap(), "\"one note\"");
}

#[tokio::test]
async fn servers_that_say_little_of_their_login_are_understood() {
    let Some(servers) = McpServers::find() else { return };
    let (resource, server) = (
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
    );
    for hidden in [
        json!([resource]),
        json!(["challenge"]),
        json!(["challenge", resource]),
        json!(["challenge", resource, server]),
    ] {
        let asking = Asking::new(&servers);
        // Without any metadata, programs still register themselves at the usual place.
        asking.control(json!({"hide": hidden})).await;
        let fault = asking
            .project
            .registry
            .offered_tools(&asking.project.environment, "notes");
        assert!(fault.await.unwrap_err().wants_login.is_some(), "{hidden}");
        asking
            .sign_in()
            .await
            .unwrap_or_else(|fault| panic!("{hidden}: {fault:?}"));
        assert_eq!(asking.run().await.unwrap(), "\"one note\"", "{hidden}");
    }
    // One that names an authorization server which says nothing is not asked in its place.
    let asking = Asking::new(&servers);
    asking.control(json!({"hide": [server]})).await;
    let fault = asking.sign_in().await.unwrap_err();
    assert!(
        fault.message.contains("none published usable metadata"),
        "{fault:?}"
    );
}

#[tokio::test]
async fn another_issuer_is_given_nothing() {
    let Some(servers) = McpServers::find() else { return };
    let asking = Asking::new(&servers);
    asking
        .control(json!({"issuer": "https://elsewhere.example"}))
        .await;
    let fault = asking.sign_in().await.unwrap_err();
    assert!(fault.message.contains("issuer"), "{fault:?}");
    asking
        .control(json!({"issuer": null, "iss": "https://elsewhere.example"}))
        .await;
    let fault = asking.sign_in().await.unwrap_err();
    assert!(
        fault.message.contains("issuer mismatch") && fault.message.contains("elsewhere.example"),
        "{fault:?}"
    );
    let seen = asking.seen().await;
    assert_eq!(seen["token"], json!([]));
    let own = asking.at("");
    asking.control(json!({"iss": own})).await;
    asking.sign_in().await.unwrap();
}

#[tokio::test]
async fn what_a_server_wants_later_is_asked_for_at_the_next_sign_in() {
    let Some(servers) = McpServers::find() else { return };
    let asking = Asking::new(&servers);
    asking.sign_in().await.unwrap();
    // Not every server says what it wants.
    asking
        .control(json!({"require": ["notes", "write"], "name_scopes": false}))
        .await;
    let error = asking.run().await.unwrap_err();
    assert!(
        error.contains("McpLoginError") && error.contains("is not enough for this"),
        "{error}"
    );
    asking.control(json!({"name_scopes": true})).await;
    let error = asking.run().await.unwrap_err();
    assert!(
        error.contains("McpLoginError") && error.contains("does not include") && error.contains("write"),
        "{error}"
    );
    asking.sign_in().await.unwrap();
    let seen = asking.seen().await;
    let mut scopes: Vec<&str> = seen["authorize"][1]["scopes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scope| scope.as_str().unwrap())
        .collect();
    scopes.sort_unstable();
    assert_eq!(scopes, ["notes", "offline_access", "write"]);
    assert_eq!(asking.run().await.unwrap(), "\"one note\"");
}

#[tokio::test]
async fn authorization_servers_are_reached_within_the_grants() {
    let Some(servers) = McpServers::find() else { return };
    let mut asking = Asking::new(&servers);
    let own = reqwest::Url::parse(&asking.http.url()).unwrap().port().unwrap();
    let allowed = Grants::these([Access::Mcp("notes".into()), Access::host("127.0.0.1", Some(own))]);
    asking.project.environment = asking.project.environment.clone().with_grants(allowed);
    asking.control(json!({"servers": ["http://127.0.0.1:9"]})).await;
    let fault = asking.sign_in().await.unwrap_err();
    assert_eq!(
        fault.denied,
        Some(Access::host("127.0.0.1", Some(9))),
        "{fault:?}"
    );
    asking.control(json!({"servers": null})).await;
    asking.sign_in().await.unwrap();
    // Renewing a token is no exception, nor is a run that may reach nothing.
    asking.control(json!({"revoke": ["access"]})).await;
    asking.project.environment = asking.project.environment.clone().with_grants(Grants::none());
    assert!(asking.run().await.unwrap_err().contains("AccessDenied"));
    assert_eq!(grants(&asking.seen().await), ["authorization_code"]);
}

#[tokio::test]
async fn a_program_that_was_registered_by_hand_is_known_by_its_name() {
    let Some(servers) = McpServers::find() else { return };
    let asking = Asking::new(&servers);
    asking.control(json!({"register": false})).await;
    let fault = asking.sign_in().await.unwrap_err();
    assert!(
        fault.message.contains("registers no programs by itself") && fault.message.contains("clientId"),
        "{fault:?}"
    );
    let by_hand =
        json!({"oauth": {"clientId": "by-hand", "clientSecret": "${HAND_SECRET}", "scopes": "notes"}});
    let mut asking = Asking::declared(&servers, &by_hand);
    asking.project.environment = asking.project.environment.clone().with_secrets(Arc::new(|name| {
        (name == "HAND_SECRET").then(|| "hand-secret-4711".to_owned())
    }));
    // The address that it was registered with names no port.
    asking.control(json!({"register": false, "lifetime": 0})).await;
    let waiting = asking
        .project
        .registry
        .sign_in(&asking.project.environment, "notes")
        .await
        .unwrap();
    let port = port_of(waiting.address());
    let client = json!({"client_id": "by-hand", "client_secret": "hand-secret-4711", "scope": "notes",
        "token_endpoint_auth_method": "client_secret_post", "grant_types": ["authorization_code", "refresh_token"],
        "redirect_uris": [format!("http://127.0.0.1:{port}/callback")]});
    asking.control(json!({ "client": client })).await;
    let back = sent_back(waiting.address()).await;
    let done = tokio::spawn(waiting.finish());
    reqwest::get(back).await.unwrap();
    done.await.unwrap().unwrap();
    // Its secret is known when the token is renewed, too.
    asking.control(json!({"lifetime": 3600})).await;
    assert_eq!(asking.run().await.unwrap(), "\"one note\"");
    let seen = asking.seen().await;
    assert_eq!((grants(&seen).len(), &seen["register"]), (2, &json!(0)));
    assert_eq!(seen["authorize"][0]["scopes"], json!(["notes"]));
}

#[tokio::test]
async fn a_header_of_the_project_says_who_asks() {
    let Some(servers) = McpServers::find() else { return };
    let mut asking = Asking::declared(
        &servers,
        &json!({"headers": {"authorization": "Bearer of-the-project"}}),
    );
    let error = asking.run().await.unwrap_err();
    assert!(
        error.contains("401") && error.contains("does not take the header Authorization"),
        "{error}"
    );
    let fault = asking.sign_in().await.unwrap_err();
    assert!(fault.message.contains("Authorization"), "{fault:?}");
    let mut sent = asking.seen().await["mcp"].as_array().unwrap().clone();
    sent.dedup();
    assert_eq!(sent, ["Bearer of-the-project"]);
    asking.project.declare(&json!({"notes": {"command": "python3"}}));
    asking.project.environment = asking.project.environment.clone().with_grants(Grants::all());
    let fault = asking.sign_in().await.unwrap_err();
    assert!(fault.message.contains("it is a program"), "{fault:?}");
}
