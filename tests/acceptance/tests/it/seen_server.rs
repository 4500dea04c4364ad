//! The PostgreSQL database of a LangGraph program, opened in the app by its address: recognized by its tables, its schemas listed,
//! its password shown nowhere.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use superstep_acceptance::App;
use superstep_test_servers::Postgres;

/// Executes what `pg_dump` wrote, with the tables in a schema.
fn restore(url: &str, schema: &str, folder: &Path) {
    let dump = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../crates/storage/tests/langgraph/postgres-1.2.24.sql");
    let text = fs::read_to_string(dump).unwrap();
    // Guards of newer dumps, which older clients do not know.
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict"));
    let text = lines
        .collect::<Vec<_>>()
        .join("\n")
        .replace("public.", &format!("\"{schema}\"."));
    let file = folder.join(format!("{schema}.sql"));
    fs::write(
        &file,
        format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\";\n{text}\n"),
    )
    .unwrap();
    run(url, &["-f", &file.display().to_string()]);
}

fn run(url: &str, args: &[&str]) {
    let done = Command::new("psql")
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url])
        .args(args)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The address of a database for a role with a password.
fn of_role(url: &str, role: &str) -> String {
    let (_, rest) = url.split_once("://").unwrap();
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("postgres://{role}@{host}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_opened_like_a_graph_and_its_password_is_shown_nowhere() {
    let Some(server) = Postgres::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let url = server.database();
    restore(&url, "public", dir.path());
    let app = App::open(&data).await;
    run(
        &url,
        &[
            "-c",
            "CREATE ROLE reader LOGIN PASSWORD 'hunter4'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;",
        ],
    );
    let reader = of_role(&url, "reader:hunter4");
    let schemas = app.ok("storage.schemas", json!({"url": reader})).await;
    assert_eq!(schemas["schemas"], json!(["public"]));
    let graph = app.ok("graph.open", json!({"path": reader})).await;
    assert_eq!(graph["seen"]["threads"], 4, "{graph}");
    let info = app.ok("storage.info", json!({})).await;
    assert_eq!(
        (&info["kind"], &info["onlyRead"]),
        (&json!("langgraph"), &json!(true))
    );
    for said in [graph.to_string(), info.to_string()] {
        assert!(!said.contains("hunter4"), "{said}");
    }
    // Only the file of the choice has it, which nobody else may read.
    let holding: Vec<String> = fs::read_dir(&data)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_file())
        .filter(|entry| {
            fs::read(entry.path())
                .unwrap()
                .windows(7)
                .any(|part| part == b"hunter4")
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(holding, ["database.json"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(data.join("database.json"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0);
    }

    // Opened again it is the same; its tables are gone, and none of ours are made in their place.
    drop(app);
    let app = App::open(&data).await;
    assert_eq!(app.ok("graph.seen", json!({})).await["seen"]["threads"], 4);
    drop(app);
    run(
        &url,
        &[
            "-c",
            "DROP TABLE checkpoints, checkpoint_blobs, checkpoint_writes;",
        ],
    );
    let app = App::open(&data).await;
    let info = app.ok("storage.info", json!({})).await;
    assert!(info["problem"].is_object(), "{info}");
    let refused = app.refused("graph.open", json!({"path": url})).await;
    assert!(
        refused.message.contains("no threads of a LangGraph program"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schemas_are_listed_and_what_is_not_langgraphs_is_said() {
    let Some(server) = Postgres::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let url = server.database();
    restore(&url, "north", dir.path());
    restore(&url, "south side", dir.path());
    let schemas = app
        .ok("storage.schemas", json!({"url": format!("langgraph:{url}")}))
        .await;
    assert_eq!(schemas["schemas"], json!(["north", "south side"]));
    let both = app.refused("graph.open", json!({"path": url})).await;
    assert!(both.message.contains("north, south side"), "{both}");
    let one = app
        .ok(
            "graph.open",
            json!({"path": format!("{url}?schema=south%20side")}),
        )
        .await;
    assert_eq!(one["seen"]["threads"], 4);

    // Ours alone.
    let ours = server.database();
    app.ok("storage.use", json!({"url": ours})).await;
    app.ok("storage.use", json!({})).await;
    let refused = app.refused("graph.open", json!({"path": ours})).await;
    assert!(
        refused.message.contains("threads of Superstep there"),
        "{refused}"
    );
    // A role that is unknown.
    let wrong = of_role(&url, "nobody-here:hunter4");
    let refused = app.refused("graph.open", json!({"path": wrong})).await;
    let said = format!("{refused} {:?}", refused.remedy);
    assert!(
        said.contains("nobody-here") && !said.contains("hunter4"),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_a_right_and_a_server_that_are_missing_are_each_said_in_words() {
    let Some(server) = Postgres::start() else { return };
    let dir = tempfile::tempdir().unwrap();
    let app = App::open(&dir.path().join("data")).await;
    let url = server.database();
    restore(&url, "public", dir.path());
    run(
        &url,
        &[
            "-c",
            "CREATE ROLE reader LOGIN PASSWORD 'hunter4'; GRANT SELECT ON checkpoints, checkpoint_blobs TO reader;",
        ],
    );
    let nowhere = of_role(&url, "reader:hunter4").replace("/test_", "/none_");
    for (command, address, word, remedy) in [
        (
            "graph.open",
            of_role(&url, "reader:hunter5"),
            "password authentication failed",
            "Check the user and the password",
        ),
        (
            "storage.schemas",
            of_role(&url, "reader:hunter5"),
            "password authentication failed",
            "Check the user and the password",
        ),
        (
            "graph.open",
            of_role(&url, "reader"),
            "password missing",
            "wants a password",
        ),
        (
            "graph.open",
            of_role(&url, "reader:hunter4"),
            "may not read LangGraph's table \"checkpoint_writes\"",
            "GRANT SELECT",
        ),
        (
            "graph.open",
            nowhere,
            "does not exist",
            "Check the name of the database",
        ),
    ] {
        let key = if command == "graph.open" { "path" } else { "url" };
        let refused = app.refused(command, json!({key: address})).await;
        let said = format!(
            "{} {}",
            refused.message,
            refused.remedy.clone().unwrap_or_default()
        );
        assert!(said.contains(word) && said.contains(remedy), "{word}: {said}");
        assert!(!said.contains("hunter"), "{said}");
    }
    // Rights and the server itself may go while the threads are shown.
    run(&url, &["-c", "GRANT SELECT ON checkpoint_writes TO reader;"]);
    let graph = app
        .ok("graph.open", json!({"path": of_role(&url, "reader:hunter4")}))
        .await;
    assert_eq!(graph["seen"]["threads"], 4);
    let snapshot = json!({"threadId": "done"});
    app.ok("thread.snapshot", snapshot.clone()).await;
    run(&url, &["-c", "REVOKE SELECT ON checkpoint_writes FROM reader;"]);
    let refused = app.refused("thread.snapshot", snapshot.clone()).await;
    let said = format!(
        "{} {}",
        refused.message,
        refused.remedy.clone().unwrap_or_default()
    );
    assert!(
        said.contains("permission denied for table checkpoint_writes") && said.contains("GRANT SELECT"),
        "{said}"
    );
    run(&url, &["-c", "GRANT SELECT ON checkpoint_writes TO reader;"]);
    server.stop();
    let refused = app.refused("thread.snapshot", snapshot.clone()).await;
    let said = format!(
        "{} {}",
        refused.message,
        refused.remedy.clone().unwrap_or_default()
    );
    assert!(
        said.contains("server runs and can be reached") && !said.contains("acknowledged"),
        "{said}"
    );
    server.restart();
    app.ok("thread.snapshot", snapshot).await;
}
