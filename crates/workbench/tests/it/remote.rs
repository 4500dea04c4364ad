//! The threads and the memory of another program, over its socket: what every backend does, they do too.

use std::sync::{Arc, Mutex};

use superstep::store::StoreConfig;
use superstep::{Checkpointer, Store};
use superstep_acceptance::App;
use superstep_workbench::Options;
use superstep_workbench::ipc::{self, Remote};
use tempfile::TempDir;

/// Programs with threads in memory, each on a data folder of its own, for as long as a suite runs.
#[derive(Default)]
struct Programs(Mutex<Vec<(App, TempDir)>>);

impl Programs {
    async fn another(&self) -> Arc<Remote> {
        let dir = tempfile::tempdir().unwrap();
        let options = Options::new(dir.path().to_owned()).storage("memory:".to_owned());
        let app = App::open_with(options).await;
        let peer = ipc::find(dir.path(), |_| true).await.unwrap();
        self.0.lock().unwrap().push((app, dir));
        Arc::new(Remote::of(peer, StoreConfig::default()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_of_another_program_are_kept_as_by_any_backend() {
    let programs = Programs::default();
    let make = async || programs.another().await as Arc<dyn Checkpointer>;
    let report = superstep_suites::run(&make).await;
    let report = report.and(superstep_suites::run_maintenance(&make).await);
    let report = report.and(superstep_suites::run_claims(&make).await);
    assert!(report.is_ok(), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_program_refuses_is_reported_in_its_words() {
    let programs = Programs::default();
    let remote = programs.another().await;
    let put = Store::put(&*remote, &["a", ""], "key", superstep::json!({"n": 1})).await;
    let own = superstep::MemoryStore::new()
        .put(&["a", ""], "key", superstep::json!({"n": 1}))
        .await;
    assert_eq!(put.unwrap_err().to_string(), own.unwrap_err().to_string());
    Store::put(&*remote, &["a"], "key", superstep::json!({"n": 1.5}))
        .await
        .unwrap();
    let item = Store::get(&*remote, &["a"], "key").await.unwrap().unwrap();
    assert_eq!(item.value.get("n"), Some(&superstep::json!(1.5)));
    let (app, _dir) = programs.0.lock().unwrap().pop().unwrap();
    app.close().await;
    let gone = Store::get(&*remote, &["a"], "key").await.unwrap_err().to_string();
    assert!(gone.contains("does not answer any more"), "{gone}");
}
