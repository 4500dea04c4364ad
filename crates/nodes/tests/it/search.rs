//! Searching documents: every form of file, indexes that follow changes and outlive the program, rankings, places outside
//! of the project, and files that were made to break their reader.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value as Json, json};
use superstep::stream::Payload;
use superstep::{Input, StreamEvent, StreamMode};
use superstep_nodes::models::Providers;
use superstep_nodes::search::reader::ReaderProgram;
use superstep_nodes::search::{Embedder, Folders, Hits, IndexProgress, Mode, NGRAMS, Search, SearchError};
use superstep_nodes::{Access, Environment, Grants, ModelSettings, Registry};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::runtime::Handle;

use crate::exchange::read_request;
use crate::support::{document, one_node, run};

/// The other process that reads documents: this test, started by others.
#[test]
fn document_reader() {
    superstep_nodes::serve_as_asked();
}

fn program() -> ReaderProgram {
    let args = [
        "--exact",
        "search::document_reader",
        "--nocapture",
        "--test-threads",
        "1",
    ];
    ReaderProgram {
        path: std::env::current_exe().unwrap(),
        args: args.map(Into::into).to_vec(),
        patience: Duration::from_secs(4),
    }
}

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    dir
}

fn asking(place: &Path, query: &str) -> Search {
    Search {
        place: place.to_owned(),
        files: vec![],
        query: query.to_owned(),
        limit: 10,
        mode: Mode::Words,
        embedder: ngrams(),
        size: 2000,
        overlap: 0,
    }
}

fn ngrams() -> Embedder {
    let providers = Providers::new(std::sync::Arc::new(|_| None), std::sync::Arc::default());
    Embedder::of(NGRAMS, &std::sync::Arc::new(providers))
}

/// Searches, and says which files were read for it.
async fn search(
    folders: &std::sync::Arc<Folders>,
    search: Search,
) -> (Result<Hits, SearchError>, Vec<String>) {
    let (folders, runtime) = (folders.clone(), Handle::current());
    let work = tokio::task::spawn_blocking(move || {
        let read = Mutex::new(Vec::new());
        let progress = |progress: IndexProgress| {
            if progress.what == "reading" {
                read.lock().unwrap().push(progress.file);
            }
        };
        let found = folders.search(&search, &runtime, &progress, &|| false);
        (found, read.into_inner().unwrap())
    });
    work.await.unwrap()
}

/// A PDF with these objects, the first one its catalog.
fn pdf(objects: &[String]) -> Vec<u8> {
    let mut text = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(text.len());
        text.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let table = text.len();
    text.push_str(&format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1));
    for place in places {
        text.push_str(&format!("{place:010} 00000 n \n"));
    }
    text.push_str(&format!(
        "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    ));
    text.into_bytes()
}

/// A PDF with a page for each text.
fn manual(pages: &[&str]) -> Vec<u8> {
    let kids: String = (0..pages.len())
        .map(|page| format!("{} 0 R ", 4 + 2 * page))
        .collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!(
            "<< /Type /Pages /Kids [{kids}] /Count {} /MediaBox [0 0 400 400] >>",
            pages.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (page, text) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            5 + 2 * page
        ));
        let content = format!("BT /F1 12 Tf 20 300 Td ({text}) Tj ET");
        objects.push(format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ));
    }
    pdf(&objects)
}

#[tokio::test]
async fn every_form_is_found_and_named_by_its_place() {
    let html = "<html><head><title>x</title><script>var tandem = 1;</script></head><body><h1>Tandems</h1><p>A tandem has <b>two</b> saddles.</p><h2>Length</h2><p>It is long.</p></body></html>";
    let code = "use std::fs;\n\n/// Inflates a tube.\npub fn inflate(tube: &Tube) {\n    pump(tube);\n}\n";
    let dir = folder(&[
        (
            "guide.md",
            "# Guide\n\nIntro.\n\n## Chains\n\nOil the chain monthly.\n".as_bytes(),
        ),
        (
            "notes/plain.txt",
            "The bell rings.\n\nÜber den Berg mit der Klingel.\n".as_bytes(),
        ),
        ("web/page.html", html.as_bytes()),
        ("src/tube.rs", code.as_bytes()),
        (
            "manual.pdf",
            &manual(&["Unfold the handlebar first.", "Then lock the hinge."]),
        ),
        ("picture.png", b"\x89PNG chain"),
        ("broken.txt", b"chain\0chain"),
    ]);
    let folders = std::sync::Arc::new(Folders::default().read_by(Some(program())));
    let first = |query: &'static str| {
        let asked = asking(dir.path(), query);
        let folders = folders.clone();
        async move { search(&folders, asked).await.0.unwrap() }
    };
    let found = first("oil chain").await;
    assert_eq!(found.files, 6, "what has no known form is no file of the index");
    assert_eq!(
        found.problems,
        [("broken.txt".to_owned(), "it is no text".to_owned())]
    );
    let hit = &found.hits[0];
    assert_eq!(
        (hit.path.as_str(), hit.title.as_str(), hit.cite.as_str()),
        ("guide.md", "Guide › Chains", "guide.md:7")
    );
    let text = fs::read_to_string(dir.path().join("guide.md")).unwrap();
    assert_eq!(
        &text[hit.bytes.0..hit.bytes.1],
        hit.text,
        "the bytes are those of the file"
    );

    let bell = first("klingel").await;
    assert_eq!(bell.hits[0].cite, "notes/plain.txt:1-3");
    let tandem = first("tandem saddles").await;
    assert_eq!(
        (tandem.hits[0].path.as_str(), tandem.hits[0].title.as_str()),
        ("web/page.html", "Tandems")
    );
    assert!(tandem.hits[0].text.contains("two") && !tandem.hits[0].text.contains("var tandem"));
    let code = first("inflate").await;
    assert_eq!(code.hits[0].title, "tube.rs › pub fn inflate(tube: &Tube)");
    assert_eq!(code.hits[0].cite, "src/tube.rs:3-6");
    let page = first("hinge").await;
    assert_eq!(
        (
            page.hits[0].page,
            page.hits[0].cite.as_str(),
            page.hits[0].title.as_str()
        ),
        (Some(2), "manual.pdf, page 2", "manual › page 2")
    );
    assert!(page.hits[0].text.contains("lock the hinge"), "{:?}", page.hits[0]);

    let mut only = asking(dir.path(), "chain bell tandem");
    only.files = vec!["*.txt".to_owned()];
    let found = search(&folders, only).await.0.unwrap();
    assert!(!found.hits.is_empty() && found.hits.iter().all(|hit| hit.path.ends_with(".txt")));
    let one = search(&folders, asking(&dir.path().join("guide.md"), "chain"))
        .await
        .0
        .unwrap();
    assert_eq!(one.hits[0].cite, "guide.md:7", "a single file is a place too");
}

#[tokio::test]
async fn no_query_is_a_syntax_error() {
    let dir = folder(&[("a.md", b"# A\n\nalpha and NEAR beta\n")]);
    let folders = std::sync::Arc::new(Folders::default());
    for mode in [Mode::Words, Mode::Vectors, Mode::Both] {
        for query in [
            "\"",
            "a AND",
            "NEAR(",
            "text:x",
            "alpha*",
            "^",
            "(((",
            "col : 'x' -- ",
            "\u{0}",
            "",
            "   ",
            "'; DROP TABLE words; --",
            "-alpha",
            "+",
        ] {
            let asked = Search {
                mode,
                ..asking(dir.path(), query)
            };
            search(&folders, asked)
                .await
                .0
                .unwrap_or_else(|e| panic!("{query:?}: {e}"));
        }
    }
    let found = search(&folders, asking(dir.path(), "\"ALPHA\" OR"))
        .await
        .0
        .unwrap();
    assert_eq!(found.hits.len(), 1);
}

#[tokio::test]
async fn scripts_without_spaces_are_searched_by_pairs_of_signs() {
    let dir = folder(&[
        ("刹车.md", "# 刹车\n\n碟刹需要每年放气一次。\n".as_bytes()),
        ("轮胎.md", "# 轮胎\n\n轮胎需要气压。\n".as_bytes()),
    ]);
    let folders = std::sync::Arc::new(Folders::default());
    let found = search(&folders, asking(dir.path(), "碟刹怎么放气？"))
        .await
        .0
        .unwrap();
    assert_eq!(
        (found.hits[0].path.as_str(), found.hits[0].text.as_str()),
        ("刹车.md", "碟刹需要每年放气一次。")
    );
    assert_eq!(
        search(&folders, asking(dir.path(), "链条")).await.0.unwrap().hits,
        []
    );
}

#[tokio::test]
async fn only_what_changed_is_read_again_also_by_the_next_program() {
    let files: Vec<(String, String)> = (0..200)
        .map(|n| {
            (
                format!("d{}/f{n}.md", n % 7),
                format!("# F{n}\n\nword{n} shared\n"),
            )
        })
        .collect();
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let dir = folder(&files);
    // Files that were written just now are looked at again; these were written long ago.
    let aged = std::time::SystemTime::now() - Duration::from_secs(3600);
    for (name, _) in &files {
        fs::File::options()
            .write(true)
            .open(dir.path().join(name))
            .unwrap()
            .set_modified(aged)
            .unwrap();
    }
    let kept = tempfile::tempdir().unwrap();
    let folders = || std::sync::Arc::new(Folders::default().kept_in(kept.path().join("indexes")));
    let first = folders();
    let (found, read) = search(&first, asking(dir.path(), "word17")).await;
    assert_eq!(
        (found.unwrap().hits[0].path.as_str(), read.len()),
        ("d3/f17.md", 200)
    );
    let (_, read) = search(&first, asking(dir.path(), "shared")).await;
    assert_eq!(read, Vec::<String>::new());
    drop(first);

    let next = folders();
    fs::write(dir.path().join("d3/f17.md"), "# New\n\nreplaced\n").unwrap();
    fs::write(dir.path().join("added.md"), "replaced too\n").unwrap();
    fs::remove_file(dir.path().join("d0/f0.md")).unwrap();
    let (found, read) = search(&next, asking(dir.path(), "word17 word0 replaced")).await;
    let paths: Vec<String> = found.unwrap().hits.into_iter().map(|hit| hit.path).collect();
    assert_eq!(read, ["added.md", "d3/f17.md"]);
    assert_eq!(paths.len(), 2, "{paths:?}");
    drop(next);

    // A touched file is read and known; an index that is broken is rebuilt.
    let index = fs::read_dir(kept.path().join("indexes"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let index = index
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "db"))
        .unwrap();
    fs::write(
        &index,
        "this is no database, and long enough to be looked at as one ".repeat(40),
    )
    .unwrap();
    let (found, read) = search(&folders(), asking(dir.path(), "replaced")).await;
    assert_eq!((found.unwrap().hits.len(), read.len()), (2, 200));
}

#[tokio::test]
async fn places_that_are_as_good_as_each_other_come_in_the_order_of_the_file() {
    let dir = folder(&[
        ("b.md", "one shared word\n\n".repeat(40).as_bytes()),
        ("a.md", b"nothing"),
    ]);
    let mut asked = asking(dir.path(), "shared");
    asked.size = 200;
    let folders = std::sync::Arc::new(Folders::default());
    let found = search(&folders, asked).await.0.unwrap();
    let lines: Vec<_> = found.hits.iter().map(|hit| hit.lines).collect();
    assert!(lines.len() > 2, "{lines:?}");
    let scores: Vec<_> = found.hits.iter().map(|hit| hit.score).collect();
    assert_eq!(scores[0], scores[1], "{scores:?}");
    assert!(lines[0] < lines[1], "{lines:?}");
}

#[tokio::test]
async fn indexes_of_places_that_nobody_searches_any_more_are_removed() {
    let dir = folder(&[("a.md", b"word")]);
    let kept = folder(&[
        ("old.db", b""),
        ("old.db-wal", b""),
        ("old.txt", b""),
        ("recent.db", b""),
    ]);
    let days = |days: u64| std::time::SystemTime::now() - Duration::from_secs(days * 86_400);
    for (name, written) in [
        ("old.db", 91),
        ("old.db-wal", 91),
        ("old.txt", 91),
        ("recent.db", 89),
    ] {
        let file = fs::File::options()
            .write(true)
            .open(kept.path().join(name))
            .unwrap();
        file.set_modified(days(written)).unwrap();
    }
    let folders = std::sync::Arc::new(Folders::default().kept_in(kept.path().to_owned()));
    search(&folders, asking(dir.path(), "word")).await.0.unwrap();
    let there = ["old.db", "old.db-wal", "old.txt", "recent.db"].map(|name| kept.path().join(name).exists());
    assert_eq!(there, [false, false, true, true]);
}

#[tokio::test]
async fn what_was_read_before_a_stop_is_kept() {
    let files: Vec<(String, String)> = (0..300)
        .map(|n| (format!("f{n:03}.md"), format!("word{n}\n")))
        .collect();
    let files: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_bytes()))
        .collect();
    let dir = folder(&files);
    let aged = std::time::SystemTime::now() - Duration::from_secs(3600);
    for (name, _) in &files {
        fs::File::options()
            .write(true)
            .open(dir.path().join(name))
            .unwrap()
            .set_modified(aged)
            .unwrap();
    }
    let folders = std::sync::Arc::new(Folders::default());
    let (shared, runtime, asked) = (folders.clone(), Handle::current(), asking(dir.path(), "word1"));
    let stopped = tokio::task::spawn_blocking(move || {
        let read = AtomicUsize::new(0);
        let progress = |_| {
            read.fetch_add(1, Ordering::Relaxed);
        };
        shared.search(&asked, &runtime, &progress, &|| {
            read.load(Ordering::Relaxed) > 100
        })
    });
    assert_eq!(stopped.await.unwrap(), Err(SearchError::Stopped));
    let (found, read) = search(&folders, asking(dir.path(), "word299")).await;
    assert_eq!(found.unwrap().hits[0].path, "f299.md");
    assert_eq!(read.len(), 200);
}

#[tokio::test]
async fn rankings_join() {
    let dir = folder(&[
        (
            "a.md",
            b"# Invoices\n\nUnpaid invoices are sent again after two weeks.\n",
        ),
        ("b.md", b"# Trains\n\nThe train is late because of snow.\n"),
        (
            "c.md",
            b"# Paying\n\nAn invoice that was not paid: remind by letter.\n",
        ),
    ]);
    let folders = std::sync::Arc::new(Folders::default());
    let by = |mode, query: &'static str| Search {
        mode,
        ..asking(dir.path(), query)
    };
    let typo = by(Mode::Words, "invocies");
    assert_eq!(
        search(&folders, typo).await.0.unwrap().hits,
        [],
        "words are taken as they are"
    );
    let near = search(&folders, by(Mode::Vectors, "invocies")).await.0.unwrap();
    assert_eq!(near.hits[0].path, "a.md", "spelling is near");
    assert!(near.hits[0].similarity.unwrap() > 0.1 && near.hits[0].words.is_none());
    let both = search(&folders, by(Mode::Both, "unpaid invoice"))
        .await
        .0
        .unwrap();
    let paths: Vec<&str> = both.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths[0], "a.md");
    let best = &both.hits[0];
    assert!(best.words.is_some() && best.similarity.is_some(), "{best:?}");
    assert!(
        (best.score - 2.0 / 61.0).abs() < 1e-5,
        "first in both rankings: {}",
        best.score
    );
    assert!(both.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
}

/// A server that makes embeddings as OpenAI's protocol has them: a dimension for each meaning that it knows.
async fn embeddings() -> (String, std::sync::Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    let asked = std::sync::Arc::new(AtomicUsize::new(0));
    let texts = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let (_, body) = read_request(&mut socket).await;
            let body: Json = serde_json::from_str(&body).unwrap();
            let inputs = body["input"].as_array().unwrap();
            texts.fetch_add(inputs.len(), Ordering::SeqCst);
            let vector = |text: &str| {
                let means = |words: &[&str]| {
                    f64::from(u8::from(
                        words.iter().any(|word| text.to_lowercase().contains(word)),
                    ))
                };
                json!([means(&["car", "automobile"]), means(&["rain", "umbrella"]), 0.01])
            };
            let data: Vec<Json> = inputs
                .iter()
                .enumerate()
                .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text.as_str().unwrap())}))
                .collect();
            let body = json!({"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}).to_string();
            let text = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            socket.write_all(text.as_bytes()).await.unwrap();
            socket.shutdown().await.ok();
        }
    });
    (url, asked)
}

fn retrieval(place: &str, extra: Json) -> Json {
    let mut config =
        json!({"folder": place, "query": "state.question", "into": "found", "text_into": "context"});
    config
        .as_object_mut()
        .unwrap()
        .extend(extra.as_object().cloned().unwrap_or_default());
    one_node(
        json!({"question": {"type": "string"}, "found": {"type": "array"}, "context": {"type": "string"}}),
        "retrieve",
        config,
    )
}

async fn retrieved(
    graph: &Json,
    environment: &Environment,
    question: &str,
) -> (Vec<StreamEvent>, Result<Json, String>) {
    let registry = Registry::standard().with_folders(Folders::default().read_by(Some(program())));
    let built = registry.build(&document(graph), environment).unwrap();
    let input = superstep::json!({"question": question});
    let (events, result) = run(&built.graph, Input::value(input), &[StreamMode::Custom]).await;
    (
        events,
        result
            .map(|result| Json::from(&result.value))
            .map_err(|e| e.to_string()),
    )
}

#[tokio::test]
async fn vectors_of_a_model_know_meaning_and_are_asked_for_once() {
    let (url, asked) = embeddings().await;
    let dir = folder(&[
        ("docs/a.md", b"# Garage\n\nThe automobile is washed weekly.\n"),
        ("docs/b.md", b"# Weather\n\nTake an umbrella.\n"),
    ]);
    let models: ModelSettings =
        serde_json::from_value(json!({"connections": {"mine": {"provider": "openai", "base_url": url}}}))
            .unwrap();
    let environment = Environment::new(Some(dir.path().to_owned()))
        .with_variables(|_| None)
        .with_models(models);
    let graph = retrieval("docs", json!({"mode": "both", "embedding": "mine::meanings"}));
    let accesses = Registry::standard().accesses(&document(&graph), &environment);
    assert_eq!(
        accesses["node:n"],
        [Access::Connection("mine".into())].into(),
        "a person is shown what it asks"
    );
    let (_, denied) = retrieved(&graph, &environment, "a car").await;
    assert!(denied.unwrap_err().contains("the model connection mine"));
    assert_eq!(asked.load(Ordering::SeqCst), 0);

    let environment = environment.with_grants(Grants::these([Access::Connection("mine".into())]));
    let registry = Registry::standard();
    let built = registry.build(&document(&graph), &environment).unwrap();
    for (question, first) in [("a car", "a.md"), ("Will there be rain?", "b.md")] {
        let input = superstep::json!({"question": question});
        let value = run(&built.graph, Input::value(input), &[]).await.1.unwrap().value;
        let found = Json::from(value.get("found").unwrap());
        assert_eq!(found[0]["path"], first, "{found}");
        assert!(found[0]["similarity"].as_f64().unwrap() > 0.9 && found[0].get("words").is_none());
    }
    assert_eq!(asked.load(Ordering::SeqCst), 4, "two documents and two questions");
}

#[tokio::test]
async fn a_place_outside_needs_a_grant() {
    let dir = folder(&[
        ("project/docs/a.md", b"inside\n"),
        ("elsewhere/b.md", b"outside world\n"),
    ]);
    let root = dir.path().canonicalize().unwrap();
    let elsewhere = root.join("elsewhere").display().to_string();
    let graph = retrieval(&elsewhere, json!({}));
    let environment = Environment::new(Some(root.join("project")));
    let access = Access::Folder(elsewhere.clone());
    let accesses = Registry::standard().accesses(&document(&graph), &environment);
    assert_eq!(accesses["node:n"], [access.clone()].into());
    let (_, refused) = retrieved(&graph, &environment, "world").await;
    assert!(refused.unwrap_err().contains(&format!("the folder {elsewhere}")));
    let (_, found) = retrieved(
        &graph,
        &environment.clone().with_grants(Grants::these([access])),
        "world",
    )
    .await;
    let found = found.unwrap();
    assert_eq!(found["found"][0]["path"], "b.md");
    assert_eq!(found["found"][0]["lines"], json!([1, 1]));
    assert_eq!(found["found"][0]["bytes"], json!([0, 13]));
    assert_eq!(found["context"], "[1] b (b.md:1)\noutside world");
    let inside = retrieval(&root.join("project/docs").display().to_string(), json!({}));
    assert_eq!(
        Registry::standard().accesses(&document(&inside), &environment),
        Default::default()
    );
    assert!(retrieved(&inside, &environment, "inside").await.1.is_ok());
}

#[tokio::test]
async fn what_is_left_out_is_reported() {
    let dir = folder(&[
        ("docs/a.md", b"fine words\n"),
        ("docs/b.pdf", b"no PDF"),
        ("docs/c.txt", b"\0"),
    ]);
    let environment = Environment::new(Some(dir.path().to_owned()));
    let (events, found) = retrieved(&retrieval("docs", json!({})), &environment, "words").await;
    assert_eq!(found.unwrap()["found"][0]["path"], "a.md");
    let emitted: Vec<Json> = events
        .iter()
        .filter_map(|event| match &event.payload {
            Payload::Custom(value, _) => Some(Json::from(value)),
            _ => None,
        })
        .filter(|value| value["type"] == "left_out")
        .collect();
    assert_eq!(
        (&emitted[0]["files"], &emitted[0]["count"]),
        (&json!(3), &json!(2)),
        "{emitted:?}"
    );
    let named = emitted[0]["named"].to_string();
    assert!(
        named.contains("b.pdf") && named.contains("no PDF that can be read"),
        "{named}"
    );
}

/// Each of these takes down a program that reads it without care.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let page = |resources: &str, content: &str| {
        vec![
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 9 9] >>".to_owned(),
            format!("<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << {resources} >> >>"),
            format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        ]
    };
    let mut calls_itself = page("/XObject << /X 5 0 R >>", "/X Do");
    calls_itself.push("<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>\nstream\n/X Do\nendstream".to_owned());
    let mut own_parent = page("", "BT ET");
    own_parent[1] = "<< /Type /Pages /Kids [3 0 R] /Count 1 /Parent 2 0 R >>".to_owned();
    own_parent[2] = "<< /Type /Page /Parent 3 0 R /Contents 4 0 R >>".to_owned();
    let mut own_kid = page("", "BT ET");
    own_kid[1] = "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>".to_owned();
    let mut no_box = page("", "BT ET");
    no_box[1] = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned();
    let deep =
        |open: &str, close: &str, times: usize| format!("{}x{}", open.repeat(times), close.repeat(times));
    let mut deep_array = page("", "BT ET");
    deep_array[3] = deep("[", "]", 200_000);
    let good = manual(&["fine"]);
    vec![
        ("bomb.pdf", include_bytes!("../hostile/bomb.pdf").to_vec()),
        ("calls-itself.pdf", pdf(&calls_itself)),
        ("own-parent.pdf", pdf(&own_parent)),
        ("own-kid.pdf", pdf(&own_kid)),
        ("no-box.pdf", pdf(&no_box)),
        ("deep.pdf", pdf(&deep_array)),
        ("half.pdf", good[..good.len() / 2].to_vec()),
        ("empty.pdf", Vec::new()),
        ("noise.pdf", (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()),
        ("head.pdf", b"%PDF-1.7\nxref\n0 99999999\ntrailer << /Size 99999999 /Root 1 0 R /Prev 0 >>\nstartxref\n9\n%%EOF".to_vec()),
        ("deep.html", deep("<div>", "</div>", 300_000).into_bytes()),
        ("tables.html", deep("<table><tr><td>", "</td></tr></table>", 2_000).into_bytes()),
        ("lists.html", deep("<ul><li>", "", 50_000).into_bytes()),
        ("open.html", "<".repeat(1_000_000).into_bytes()),
        ("bytes.html", vec![0xff; 100_000]),
        ("attributes.html", format!("<p {}>x", "a=b ".repeat(200_000)).into_bytes()),
        ("long-line.md", vec![b'a'; 3_000_000]),
        ("headings.md", "# a\n".repeat(100_000).into_bytes()),
        ("deep-headings.md", "###### a\n###### a\n".repeat(50_000).into_bytes()),
        ("fences.md", "```\n".repeat(100_000).into_bytes()),
        ("definitions.rs", "fn a(\n".repeat(100_000).into_bytes()),
        ("bidi.txt", "\u{202e}\u{feff}\u{0}".repeat(1000).into_bytes()),
    ]
}

#[tokio::test]
async fn files_that_are_made_to_break_their_reader_are_left_out_and_the_rest_is_found() {
    let files = hostile();
    let mut all: Vec<(&str, &[u8])> = files
        .iter()
        .map(|(name, bytes)| (*name, bytes.as_slice()))
        .collect();
    let good = manual(&["The last page of the good one."]);
    all.push(("zz-good.pdf", &good));
    all.push(("zz-good.html", b"<h1>Good</h1><p>page of the good one</p>"));
    let dir = folder(&all);
    let folders = std::sync::Arc::new(Folders::default().read_by(Some(program())));
    let found = search(&folders, asking(dir.path(), "good page")).await.0.unwrap();
    let paths: Vec<&str> = found.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert!(
        paths.contains(&"zz-good.pdf") && paths.contains(&"zz-good.html"),
        "{paths:?}"
    );
    let left_out: Vec<&str> = found.problems.iter().map(|(name, _)| name.as_str()).collect();
    for name in [
        "bomb.pdf",
        "calls-itself.pdf",
        "own-parent.pdf",
        "half.pdf",
        "empty.pdf",
        "noise.pdf",
        "head.pdf",
        "bidi.txt",
    ] {
        assert!(left_out.contains(&name), "{name}: {:?}", found.problems);
    }
}

#[tokio::test]
async fn a_program_that_reads_nothing_says_so() {
    let dir = folder(&[
        ("a.pdf", &manual(&["text"])),
        ("b.html", b"<p>text</p>"),
        ("c.md", b"text\n"),
    ]);
    let without = std::sync::Arc::new(Folders::default());
    let found = search(&without, asking(dir.path(), "text")).await.0.unwrap();
    assert_eq!(found.hits.len(), 1);
    assert!(
        found
            .problems
            .iter()
            .all(|(_, cause)| cause.contains("reads no PDF")),
        "{:?}",
        found.problems
    );
    // One that dies at once, one that never answers.
    for (path, args) in [("/bin/false", vec![]), ("/bin/sleep", vec!["60".into()])] {
        let program = ReaderProgram {
            path: PathBuf::from(path),
            args,
            patience: Duration::from_millis(300),
        };
        let folders = std::sync::Arc::new(Folders::default().read_by(Some(program)));
        let found = search(&folders, asking(dir.path(), "text")).await.0.unwrap();
        assert_eq!((found.hits.len(), found.problems.len()), (1, 2), "{path}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_reader_that_gets_no_processor_is_waited_for() {
    let dir = folder(&[("a.html", b"<p>text</p>")]);
    // It takes longer than it may, and does nothing meanwhile, as on a computer that does something else.
    let script = r#"sleep 3; printf '\n\036{"pages":[{"text":"text"}]}\n'; cat >/dev/null"#;
    let program = ReaderProgram {
        path: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        patience: Duration::from_secs(2),
    };
    let folders = std::sync::Arc::new(Folders::default().read_by(Some(program)));
    let found = search(&folders, asking(dir.path(), "text")).await.0.unwrap();
    assert_eq!(
        (found.hits.len(), found.problems.len()),
        (1, 0),
        "{:?}",
        found.problems
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_reader_that_works_for_too_long_is_ended_by_its_processor_time() {
    let dir = folder(&[("a.html", b"<p>text</p>"), ("b.md", b"text\n")]);
    let program = ReaderProgram {
        path: "/bin/sh".into(),
        args: vec!["-c".into(), "ulimit -S -t 1; while :; do :; done".into()],
        patience: Duration::from_secs(60),
    };
    let folders = std::sync::Arc::new(Folders::default().read_by(Some(program)));
    let found = search(&folders, asking(dir.path(), "text")).await.0.unwrap();
    assert_eq!(found.hits.len(), 1);
    let [(_, cause)] = &found.problems[..] else {
        panic!("{:?}", found.problems);
    };
    assert!(cause.contains("of a processor"), "{cause}");
}
