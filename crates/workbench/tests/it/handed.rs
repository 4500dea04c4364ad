//! What a program changes in the threads of another, over its socket: the other one's interfaces load them again.

use std::path::Path;

use serde_json::json;
use superstep::checkpoint::{Keep, Pruning};
use superstep::store::StoreConfig;
use superstep::{Checkpointer, Store};
use superstep_acceptance::App;
use superstep_workbench::Options;
use superstep_workbench::ipc::{self, Remote};
use superstep_workbench::wire::AppEvent;

use crate::threads::{begin, line, thread_of};

/// Whether the threads are reported to have changed.
async fn is_published(app: &mut App, dir: &Path) -> bool {
    let changed = |event: &AppEvent| matches!(event, AppEvent::Changed { threads: true, .. });
    app.settled(dir).await.iter().any(changed)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_program_changes_here_is_published_and_what_it_reads_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options::new(dir.path().to_owned()).storage("memory:".to_owned());
    let mut app = App::open_with(options).await;
    let graph = app.draft("Line", line()).await;
    let thread = thread_of(&mut app, begin(&graph)).await;
    let other = thread_of(&mut app, begin(&graph)).await;
    let remote = Remote::of(
        ipc::find(dir.path(), |_| true).await.unwrap(),
        StoreConfig::default(),
    );
    let maintenance = remote.maintenance().unwrap();
    let pruning = Pruning::threads([thread.as_str().into()], Keep::Latest);
    // The watch takes its first look.
    is_published(&mut app, dir.path()).await;

    remote.thread(&thread.as_str().into()).await.unwrap();
    maintenance.prune(&pruning.clone().dry_run()).await.unwrap();
    maintenance.verify(false).await.unwrap();
    Store::get(&remote, &["a"], "key").await.unwrap();
    assert!(!is_published(&mut app, dir.path()).await, "nothing was changed");

    maintenance.prune(&pruning).await.unwrap();
    assert!(
        is_published(&mut app, dir.path()).await,
        "the past of a thread was removed"
    );
    let left = app.ok("thread.checkpoints", json!({"threadId": thread})).await;
    assert_eq!(left["checkpoints"].as_array().unwrap().len(), 1);
    maintenance.verify(true).await.unwrap();
    assert!(
        is_published(&mut app, dir.path()).await,
        "something may have been repaired"
    );
    Store::put(&remote, &["a"], "key", superstep::json!({"n": 1}))
        .await
        .unwrap();
    assert!(is_published(&mut app, dir.path()).await, "an item was put");
    remote.delete_thread(&other.as_str().into()).await.unwrap();
    assert!(is_published(&mut app, dir.path()).await, "a thread was deleted");
}

#[test]
fn a_database_has_one_address_in_every_program() {
    let here = std::env::current_dir().unwrap();
    let absolute = |scheme: &str| format!("{scheme}:{}", here.join("none").display());
    for (url, address) in [
        ("sqlite:none", absolute("sqlite")),
        ("file:none", absolute("file")),
        ("memory:", "memory:".to_owned()),
    ] {
        assert_eq!(ipc::storage_of(url), address, "{url}");
    }
    let shown = ipc::storage_of("postgres://me:secret@host/threads");
    assert!(
        shown.contains("host/threads") && !shown.contains("secret"),
        "{shown}"
    );
}
