//! The engine's suite on a real PostgreSQL server, and what only a server can do to us.

use std::sync::Arc;

use superstep::{Checkpointer, Store, conformance};
use superstep_storage::PostgresSaver;
use superstep_test_servers::Postgres;

fn accepted(backend: &str, report: &conformance::Report) {
    println!("{backend}\n{report}");
    assert!(report.is_ok(), "{backend} does not pass:\n{report}");
    assert!(
        report.passed.len() > 50,
        "the suite has shrunk: {} cases",
        report.passed.len()
    );
}

/// A schema of its own for each case.
struct Schemas<'a> {
    server: &'a Postgres,
    next: std::sync::atomic::AtomicUsize,
}

impl<'a> Schemas<'a> {
    fn new(server: &'a Postgres) -> Self {
        Self {
            server,
            next: Default::default(),
        }
    }

    fn url(&self) -> String {
        let n = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        format!("{}?schema=case_{n}", self.server.url())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn suite() {
    let Some(server) = Postgres::start() else { return };
    let schemas = Schemas::new(&server);
    let report = conformance::run(async || {
        Arc::new(PostgresSaver::open(&schemas.url()).await.expect("opens")) as Arc<dyn Checkpointer>
    });
    accepted("postgres", &report.await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn store_suite() {
    let Some(server) = Postgres::start() else { return };
    let schemas = Schemas::new(&server);
    let report = conformance::store::run(async |config| {
        let saver = PostgresSaver::open(&schemas.url()).await.expect("opens");
        Arc::new(saver.store(config)) as Arc<dyn Store>
    });
    let report = report.await;
    println!("postgres\n{report}");
    assert!(report.is_ok(), "{report}");
    assert!(report.passed.len() > 40, "the suite has shrunk: {report}");
}
