//! Recorded exchanges with servers that are not ours. A test talks to a loopback server that plays back what the real
//! one answered, and holds what is sent against what was sent then. With `SUPERSTEP_RECORD=HOST:PORT` the loopback
//! server passes everything on to a real one, and the recording is rewritten.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Reads a request: its head and its body.
pub(crate) async fn read_request(socket: &mut TcpStream) -> (String, String) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let line = line.to_lowercase();
                Some(
                    line.strip_prefix("content-length:")?
                        .trim()
                        .parse::<usize>()
                        .unwrap(),
                )
            });
            if body.len() >= length.unwrap_or(0) {
                return (head.to_owned(), body.to_owned());
            }
        }
        let n = socket.read(&mut buffer).await.unwrap();
        assert!(n > 0, "the request is complete");
        bytes.extend_from_slice(&buffer[..n]);
    }
}

/// A server that plays back, or records.
pub(crate) struct Exchange {
    pub(crate) address: String,
    file: PathBuf,
    server: &'static str,
    seen: Arc<Mutex<Vec<Json>>>,
    recorded: Option<Vec<Json>>,
}

impl Exchange {
    /// The exchanges of `tests/exchanges/NAME.json`.
    pub(crate) async fn start(name: &str) -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/exchanges/{name}.json"));
        let real = std::env::var("SUPERSTEP_RECORD").ok();
        let recorded: Option<Vec<Json>> = match real {
            Some(_) => None,
            None => {
                let text =
                    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
                let mut recording: Json = serde_json::from_str(&text).unwrap();
                Some(serde_json::from_value(recording["exchanges"].take()).unwrap())
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, answers) = (seen.clone(), recorded.clone());
        tokio::spawn(async move {
            let mut place = 0;
            while let Ok((mut socket, _)) = listener.accept().await {
                let (head, body) = read_request(&mut socket).await;
                let response = match (&real, &answers) {
                    (Some(real), _) => asked(real, &head, &body).await,
                    (None, Some(answers)) => {
                        let answer = answers.get(place).expect("as many requests as then");
                        answer["response"].as_str().unwrap().to_owned()
                    }
                    (None, None) => unreachable!("there is a recording, or a server"),
                };
                place += 1;
                let line = head.lines().next().unwrap_or_default().to_owned();
                let body: Json = serde_json::from_str(&body).unwrap_or_default();
                log.lock()
                    .unwrap()
                    .push(json!({"request": {"line": line, "body": body}, "response": response}));
                socket.write_all(response.as_bytes()).await.unwrap();
                socket.shutdown().await.ok();
            }
        });
        Self {
            address,
            file,
            server: match name.starts_with("ollama") || name.starts_with("gemini") {
                true => "aimock 1.43.0, see tests/exchanges/README.md",
                false => "LiteLLM proxy 1.108.7, see tests/exchanges/README.md",
            },
            seen,
            recorded,
        }
    }

    /// What was sent, request by request.
    pub(crate) fn requests(&self) -> Vec<Json> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|exchange| exchange["request"].clone()).collect()
    }

    /// Everything that was recorded was asked for, in the same words; or the recording is written.
    pub(crate) fn finish(self) {
        let seen = self.seen.lock().unwrap();
        match &self.recorded {
            Some(recorded) => {
                let of = |all: &[Json]| all.iter().map(|one| one["request"].clone()).collect::<Vec<_>>();
                assert_eq!(of(&seen), of(recorded), "what is sent has changed: record again");
            }
            None => {
                let recording = json!({"server": self.server, "exchanges": *seen});
                let text = serde_json::to_string_pretty(&recording).unwrap();
                std::fs::write(&self.file, text + "\n").unwrap();
            }
        }
    }
}

/// Passes a request on, and gives the whole answer as it came.
async fn asked(real: &str, head: &str, body: &str) -> String {
    let mut lines = head.lines();
    let mut request = format!("{}\r\n", lines.next().unwrap_or_default());
    for line in lines {
        let name = line.split(':').next().unwrap_or_default().to_lowercase();
        if !matches!(name.as_str(), "host" | "connection" | "accept-encoding") {
            request.push_str(&format!("{line}\r\n"));
        }
    }
    request.push_str(&format!("Host: {real}\r\nConnection: close\r\n\r\n{body}"));
    let mut server = TcpStream::connect(real).await.unwrap();
    server.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}
