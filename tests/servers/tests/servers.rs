//! The servers come up, come back after an end of any kind, and leave nothing behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use superstep_test_servers::{Postgres, Redis};

fn port(url: &str) -> u16 {
    let address = url.rsplit_once('@').expect("a password").1;
    let port = address.split(['/', ':']).nth(1).expect("a port");
    port.parse().expect("a number")
}

fn listens(url: &str) -> bool {
    TcpStream::connect(("127.0.0.1", port(url))).is_ok()
}

fn folders(server: &str, of: u32) -> Vec<PathBuf> {
    // A server's folder is its working folder; its parent is the process that started it.
    let processes = std::fs::read_dir("/proc").expect("Linux").flatten();
    processes
        .filter(|process| {
            let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
            after.split_whitespace().nth(1) == Some(&of.to_string())
        })
        .filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok())
        .filter(|folder| folder.to_string_lossy().contains(&format!("superstep-{server}-")))
        .collect()
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what} takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn postgres_comes_back_after_a_stop_and_a_crash_and_goes_with_its_guard() {
    let Some(postgres) = Postgres::start() else { return };
    assert!(listens(postgres.url()));
    let database = postgres.database();
    assert!(database.ends_with("/test_0"), "{database}");
    postgres.stop();
    assert!(!listens(postgres.url()));
    postgres.restart();
    assert!(listens(postgres.url()));
    postgres.kill();
    // Its processes notice one after the other that the first of them is gone, and hold the port until then.
    wait_until("the end of a killed server", || !listens(postgres.url()));
    postgres.restart();
    assert!(listens(postgres.url()));
    assert!(
        postgres.database().ends_with("/test_1"),
        "it takes commands again"
    );
    let url = postgres.url().to_owned();
    drop(postgres);
    wait_until("the end of a server with its guard", || !listens(&url));
}

#[test]
fn redis_keeps_what_it_acknowledged_through_a_crash() {
    let Some(redis) = Redis::start() else { return };
    let say = |words: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port(redis.url()))).expect("connects");
        let password = redis.url().split([':', '@']).nth(2).expect("a password");
        write!(stream, "AUTH {password}\r\n{words}\r\n").expect("sends");
        let mut lines = BufReader::new(stream)
            .lines()
            .map(|line| line.expect("an answer"));
        assert_eq!(lines.next().as_deref(), Some("+OK"));
        let first = lines.next().expect("an answer");
        if first.starts_with('$') {
            lines.next().expect("a value")
        } else {
            first
        }
    };
    assert_eq!(say("SET key kept"), "+OK");
    redis.kill();
    assert!(!listens(redis.url()));
    redis.restart();
    assert_eq!(say("GET key"), "kept");
    redis.restart();
    assert_eq!(say("GET key"), "kept");
}

/// Not a test: what `a_killed_test_leaves_nothing_behind` starts and kills.
#[test]
#[ignore = "the process that another test kills"]
fn victim() {
    let servers = (Postgres::start(), Redis::start());
    let (Some(postgres), Some(redis)) = &servers else {
        return;
    };
    println!("\nstarted {} {}", postgres.url(), redis.url());
    // Until it is killed.
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn a_killed_test_leaves_nothing_behind() {
    if std::env::var_os("SUPERSTEP_WITHOUT_SERVERS").is_some_and(|value| value == "1") {
        return;
    }
    let mut child = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "victim", "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let started = lines
        .map(|line| line.expect("text"))
        .find(|line| line.starts_with("started "))
        .expect("it says where its servers are");
    let urls: Vec<&str> = started.split(' ').skip(1).collect();
    assert!(urls.iter().all(|url| listens(url)), "{started}");
    let folders: Vec<PathBuf> = [folders("postgres", child.id()), folders("redis", child.id())].concat();
    assert!(folders.len() >= 2, "{folders:?}");
    child.kill().expect("can be killed");
    child.wait().expect("ends");
    for url in urls {
        wait_until("the server's end", || !listens(url));
    }
    for folder in folders {
        wait_until("cleaning up", || !folder.exists());
    }
}
