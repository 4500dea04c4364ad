//! `serve`: it says where it listens, answers there, and ends on Ctrl-C.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use crate::User;

#[test]
fn it_prints_its_address_answers_and_stops() {
    let user = User::new();
    std::fs::create_dir(user.dir.path().join("ui")).unwrap();
    std::fs::write(user.dir.path().join("ui/index.html"), "<title>hello</title>").unwrap();
    let mut child = user
        .command(&["serve", "--port", "0", "--ui", "ui"])
        // On the command line every user of the machine could read it.
        .env("SUPERSTEP_TOKEN", "secret")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.next().unwrap().unwrap();
    let port: u16 = url
        .strip_prefix("http://127.0.0.1:")
        .unwrap()
        .strip_suffix("/#token=secret")
        .unwrap()
        .parse()
        .unwrap();
    let request = |head: &str, body: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let length = body.len();
        let text = format!(
            "{head} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {length}\r\n"
        );
        stream
            .write_all(format!("{text}Authorization: Bearer secret\r\n\r\n{body}").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let info = request("POST /rpc/app.info", "{}");
    assert!(info.starts_with("HTTP/1.1 200"), "{info}");
    assert!(
        info.contains(user.dir.path().join("data").to_str().unwrap()),
        "the same data folder as every command: {info}"
    );
    assert!(request("GET /", "").contains("<title>hello</title>"));
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let missing = user.expect(2, &["serve", "--ui", "nowhere"]);
    assert!(
        missing.err.contains("there is no index.html there"),
        "{}",
        missing.err
    );
}
