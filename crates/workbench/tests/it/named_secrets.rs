//! Secrets that a person named: where their values come from, who gets them, and that they are nowhere to be read.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use superstep_acceptance::App;
use superstep_workbench::{NamedSecrets, Options, Secrets};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const VALUE: &str = "sk-named-5d2f90aa";

/// A keychain in memory, or none when it says why.
#[derive(Debug, Default)]
struct Keyring {
    kept: Mutex<BTreeMap<String, String>>,
    problem: Option<String>,
    /// Bytes of one entry, when there is a limit.
    longest: Option<usize>,
    /// A path where a folder is made once something is kept, so that no file can be written there.
    blocks: Option<std::path::PathBuf>,
}

impl Keyring {
    fn accounts(&self) -> Vec<String> {
        self.kept.lock().unwrap().keys().cloned().collect()
    }

    fn open(&self) -> Result<std::sync::MutexGuard<'_, BTreeMap<String, String>>, String> {
        match &self.problem {
            Some(problem) => Err(problem.clone()),
            None => Ok(self.kept.lock().unwrap()),
        }
    }
}

impl Secrets for Keyring {
    fn problem(&self) -> Option<String> {
        self.problem.clone()
    }
    fn longest(&self) -> usize {
        self.longest.unwrap_or(usize::MAX)
    }
    fn get(&self, name: &str) -> Result<Option<String>, String> {
        Ok(self.open()?.get(name).cloned())
    }
    fn set(&self, name: &str, secret: &str) -> Result<(), String> {
        if secret.len() > self.longest() {
            return Err("the entry is too long".into());
        }
        self.open()?.insert(name.into(), secret.into());
        if let Some(path) = &self.blocks {
            std::fs::create_dir_all(path).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
    fn remove(&self, name: &str) -> Result<(), String> {
        self.open()?.remove(name);
        Ok(())
    }
}

/// A server that repeats what it is asked; its address and the heads of the requests.
async fn echo() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut bytes = [0; 8192];
            let read = socket.read(&mut bytes).await.unwrap();
            let head = String::from_utf8_lossy(&bytes[..read]).into_owned();
            let body = json!({"you sent": head}).to_string();
            log.lock().unwrap().push(head);
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            socket.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (address, seen)
}

async fn caller(app: &App, address: &str, name: &str) -> String {
    app.draft(
        "Caller",
        json!({
            "key:out": {},
            "node:call": {"kind": "http", "config": {
                "url": format!("http://{address}/x"), "into": "out",
                "headers": {"Authorization": format!("Bearer ${{{name}}}")}}},
            "edge:1": {"from": "__start__", "to": "call"}
        }),
    )
    .await
}

fn view<'a>(list: &'a Value, name: &str) -> &'a Value {
    let secrets = list["secrets"].as_array().unwrap();
    secrets
        .iter()
        .find(|secret| secret["name"] == name)
        .unwrap_or_else(|| panic!("{name} is not in {list}"))
}

fn no_file_holds(folder: &Path, text: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            no_file_holds(&path, text);
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let holds = bytes.windows(text.len()).any(|part| part == text.as_bytes());
            assert!(!holds, "{}", path.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_reaches_the_node_that_was_allowed_it_and_is_read_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let keyring = Arc::new(Keyring::default());
    let mut app = App::open_with(Options::new(data.clone()).secrets(keyring.clone())).await;
    let (address, seen) = echo().await;
    let name = "SUPERSTEP_IT_NAMED";
    let graph = caller(&app, &address, name).await;
    let wanted = app
        .ok(
            "secrets.list",
            json!({"graphId": graph, "names": ["OTHER", "no name"]}),
        )
        .await;
    assert_eq!(view(&wanted, name), &json!({"name": name, "kept": false}));
    assert_eq!(view(&wanted, "OTHER"), &json!({"name": "OTHER", "kept": false}));
    assert_eq!(wanted["secrets"].as_array().unwrap().len(), 2, "{wanted}");

    let list = app
        .ok(
            "secrets.set",
            json!({"name": name, "value": format!(" {VALUE}\n")}),
        )
        .await;
    assert_eq!(
        view(&list, name),
        &json!({"name": name, "from": "keychain", "kept": true})
    );
    assert!(!list.to_string().contains(VALUE), "{list}");
    let account = format!("secret:{name}");
    assert_eq!(
        keyring.kept.lock().unwrap().get(&account).map(String::as_str),
        Some(VALUE)
    );

    // A graph that nobody trusts gets nothing: it is refused with what it wants.
    let start = json!({"graphId": graph, "action": {"type": "input", "input": {}}});
    let refused = app.refused("run.start", start.clone()).await;
    assert_eq!(refused.code, "trust-needed");
    let wants = serde_json::to_value(&refused.trust).unwrap()["wants"].to_string();
    assert!(wants.contains(&format!("{name}@{address}")), "{wants}");
    let grant =
        |accesses: Value| json!({"project": refused.trust.as_ref().unwrap().project, "accesses": accesses});
    let server = json!({"what": "host", "name": address});
    app.ok("trust.grant", grant(json!([server]))).await;
    assert_eq!(app.refused("run.start", start.clone()).await.code, "trust-needed");
    assert!(seen.lock().unwrap().is_empty(), "nothing was sent");

    let key = json!({"what": "key", "name": format!("{name}@{address}")});
    app.ok("trust.grant", grant(json!([server, key]))).await;
    let (run, happened) = app.run(start).await;
    assert_eq!(run["status"], "done", "{run}");
    let sent = seen.lock().unwrap().join("\n").to_lowercase();
    assert!(sent.contains(&format!("authorization: bearer {VALUE}")), "{sent}");
    // The server repeats it; it is in no event, state, export or file.
    assert!(!format!("{happened:?}").contains(VALUE));
    let thread = run["threadId"].as_str().unwrap();
    let state = app.state(thread, None).await.to_string();
    assert!(
        state.contains("Bearer [secret]") && !state.contains(VALUE),
        "{state}"
    );
    let file = dir.path().join("thread.json");
    app.ok("thread.export", json!({"threadId": thread, "path": file}))
        .await;
    assert!(file.is_file());
    app.close().await;
    no_file_holds(dir.path(), VALUE);
    let names = std::fs::read_to_string(data.join(NamedSecrets::FILE)).unwrap();
    assert!(names.contains(name), "{names}");

    // Another program of the data folder finds it by its name, and not after it was removed.
    let other = NamedSecrets::of(&data, keyring.clone());
    assert_eq!(other.variable(name).as_deref(), Some(VALUE));
    let app = App::open_with(Options::new(data.clone()).secrets(keyring.clone())).await;
    let changed = json!({"name": name, "value": "another-value"});
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    app.ok("secrets.set", changed).await;
    assert_eq!(other.variable(name).as_deref(), Some("another-value"));
    let left = app.ok("secrets.remove", json!({"name": name})).await;
    assert_eq!(left["secrets"], json!([]));
    assert_eq!(other.variable(name), None);
    assert!(keyring.kept.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_environment_comes_first_and_then_what_was_entered_until_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = Arc::new(Keyring::default());
    let app = App::open_with(Options::new(dir.path().to_owned()).secrets(keyring.clone())).await;
    // Cargo gives tests a variable of this name.
    let given = "CARGO_MANIFEST_DIR";
    let set = |name: &str, value: &str, keep: &str| json!({"name": name, "value": value, "keep": keep});
    let list = app.ok("secrets.set", set(given, VALUE, "keychain")).await;
    assert_eq!(
        view(&list, given),
        &json!({"name": given, "from": "environment", "kept": true})
    );
    let own = NamedSecrets::of(dir.path(), keyring.clone());
    assert_eq!(own.variable(given), std::env::var(given).ok());

    let list = app
        .ok("secrets.set", set("SUPERSTEP_IT_A", "in-keychain", "keychain"))
        .await;
    assert_eq!(view(&list, "SUPERSTEP_IT_A")["from"], "keychain");
    let list = app
        .ok("secrets.set", set("SUPERSTEP_IT_A", "in-memory", "untilClosed"))
        .await;
    assert_eq!(view(&list, "SUPERSTEP_IT_A")["from"], "untilClosed");
    let kept = keyring.kept.lock().unwrap().get("secret:SUPERSTEP_IT_A").cloned();
    assert_eq!(
        kept.as_deref(),
        Some("in-keychain"),
        "the keychain's comes back later"
    );
    // A value in the keychain takes the place of one in memory, which nobody would see any more.
    let list = app
        .ok("secrets.set", set("SUPERSTEP_IT_A", "newest", "keychain"))
        .await;
    assert_eq!(view(&list, "SUPERSTEP_IT_A")["from"], "keychain");
    let list = app.ok("secrets.remove", json!({"name": "SUPERSTEP_IT_A"})).await;
    assert_eq!(list["secrets"].as_array().unwrap().len(), 1);

    for (name, value) in [("A B", "x"), ("1A", "x"), ("", "x"), ("A=B", "x"), ("A", "  ")] {
        let refused = app.refused("secrets.set", set(name, value, "keychain")).await;
        assert_eq!(refused.code, "invalid-request", "{name:?} {value:?}");
    }
}

#[tokio::test]
async fn without_a_keychain_a_person_is_shown_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = Arc::new(Keyring {
        problem: Some("no keychain service answers here".to_owned()),
        ..Keyring::default()
    });
    let app = App::open_with(Options::new(dir.path().to_owned()).secrets(keyring)).await;
    let name = "SUPERSTEP_IT_NONE";
    let list = app.ok("secrets.list", json!({"names": [name]})).await;
    assert_eq!(list["keychainProblem"], "no keychain service answers here");
    let refused = app
        .refused("secrets.set", json!({"name": name, "value": VALUE}))
        .await;
    assert_eq!(refused.code, "keychain");
    assert!(
        refused.message.to_string().contains("no keychain service"),
        "{refused:?}"
    );
    let remedy = refused.remedy.unwrap().to_string();
    assert!(
        remedy.contains("until Superstep is closed") && remedy.contains("environment variable"),
        "{remedy}"
    );
    assert!(
        !dir.path().join(NamedSecrets::FILE).exists(),
        "no name of what was not stored"
    );
    let kept = json!({"name": name, "value": VALUE, "keep": "untilClosed"});
    let list = app.ok("secrets.set", kept).await;
    assert_eq!(
        view(&list, name),
        &json!({"name": name, "from": "untilClosed", "kept": true})
    );
    app.close().await;
    no_file_holds(dir.path(), VALUE);
}

#[tokio::test]
async fn a_secret_whose_name_cannot_be_written_leaves_nothing_in_the_keychain() {
    for value in ["sk-not-kept-4711".to_owned(), "sk-not-kept-4711".repeat(100)] {
        let dir = tempfile::tempdir().unwrap();
        let keyring = Arc::new(Keyring {
            longest: Some(1_280),
            blocks: Some(dir.path().join(NamedSecrets::FILE)),
            ..Keyring::default()
        });
        let app = App::open_with(Options::new(dir.path().to_owned()).secrets(keyring.clone())).await;
        let secret = json!({"name": "SUPERSTEP_IT_NAMELESS", "value": value, "keep": "keychain"});
        app.refused("secrets.set", secret).await;
        assert_eq!(keyring.accounts(), Vec::<String>::new(), "{} bytes", value.len());
    }
}

#[tokio::test]
async fn a_secret_of_several_lines_keeps_them_and_may_need_several_entries() {
    let dir = tempfile::tempdir().unwrap();
    let keyring = Arc::new(Keyring {
        longest: Some(1_280),
        ..Keyring::default()
    });
    let app = App::open_with(Options::new(dir.path().to_owned()).secrets(keyring.clone())).await;
    let own = NamedSecrets::of(dir.path(), keyring.clone());
    let name = "SUPERSTEP_IT_LINES";
    let set = |value: &str, keep: &str| json!({"name": name, "value": value, "keep": keep});
    let line = "\u{e9}ntered-line-4711-abcdefghijklmnopqrstuvwxyz-0123456789";
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----",
        format!("{line}\n").repeat(60)
    );
    let pasted = format!("\n {}\r\n\r\n", pem.replace('\n', "\r\n"));
    for keep in ["untilClosed", "keychain"] {
        app.ok("secrets.set", set(&pasted, keep)).await;
        app.ok("secrets.set", set("{\r\n  \"client\": 1\r\n}\r\n", keep))
            .await;
    }
    assert_eq!(own.variable(name).as_deref(), Some("{\n  \"client\": 1\n}"));
    assert_eq!(keyring.accounts(), [format!("secret:{name}")]);

    // A key ends in a line break, as the programs that read it want.
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let list = app.ok("secrets.set", set(&pasted, "keychain")).await;
    assert_eq!(view(&list, name)["from"], "keychain");
    assert_eq!(own.variable(name), Some(format!("{pem}\n")));
    assert_eq!(
        keyring.accounts(),
        [1, 2, 3].map(|part| format!("secret:{name}:{part}")),
        "no entry is left of what it replaces"
    );
    app.close().await;
    no_file_holds(dir.path(), line);

    // Half a key is none.
    keyring.kept.lock().unwrap().remove(&format!("secret:{name}:2"));
    let app = App::open_with(Options::new(dir.path().to_owned()).secrets(keyring.clone())).await;
    let list = app.ok("secrets.list", json!({})).await;
    assert_eq!(view(&list, name), &json!({"name": name, "kept": true}));
    app.ok("secrets.remove", json!({"name": name})).await;
    assert!(keyring.accounts().is_empty());

    let longest = "x".repeat(16 * 1024);
    app.ok("secrets.set", set(&longest, "keychain")).await;
    let refused = app
        .refused("secrets.set", set(&format!("{longest}x"), "keychain"))
        .await;
    assert!(refused.remedy.unwrap().contains("16384"));
}
