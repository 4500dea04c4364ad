//! What is stored as a change of something else: it must mean the same where that is something else, and what is added
//! is looked at as closely as what came first.

use superstep::checkpoint::{Commit, Keep, Pruning, Put, TaskId, TaskWrites, Write};
use superstep::{Checkpointer, Value, json};
use superstep_storage::Backend;
use superstep_storage_tests::Place;
use superstep_suites::{Draft, id};

async fn again(place: &Place, saver: std::sync::Arc<dyn Checkpointer>) -> std::sync::Arc<dyn Checkpointer> {
    if place.url == "memory:" {
        return saver;
    }
    drop(saver);
    place.open().await.expect("opens again")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_does_not_build_on_what_stood_there_before() {
    for &backend in Backend::ALL {
        let Some(place) = Place::of(backend) else { continue };
        let saver = place.open().await.expect("opens");
        // The same id, and something else in it.
        let root = Draft::root(id(1)).set("x", "a").set("log", json!(["a", "b"]));
        let root = root.store(&*saver, "a", "").await.expect("stores");
        let next = Draft::after(&root, id(2)).append("log", vec![json!("c")]);
        let next = next.store(&*saver, "a", "").await.expect("stores");
        let last = Draft::after(&next, id(3)).append("log", vec![json!("d")]);
        let last = last.store(&*saver, "a", "").await.expect("stores");
        let other = Draft::root(id(1)).set("x", "other").set("log", json!(["x", "y"]));
        let other = other.store(&*saver, "b", "").await.expect("stores");
        saver.copy_thread(&"a".into(), &"b".into()).await.expect("copies");
        let saver = again(&place, saver).await;
        for wanted in [&other, &next, &last] {
            let found = saver.get(&"b".into(), "", Some(&wanted.id)).await.expect("reads");
            assert_eq!(
                &found.expect("there").checkpoint,
                wanted,
                "{backend:?} {}",
                wanted.id
            );
        }
        assert!(
            saver.verify(false).await.expect("checks").is_sound(),
            "{backend:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_added_to_a_list_can_be_read_back_or_is_refused() {
    for &backend in Backend::ALL {
        let Some(place) = Place::of(backend) else { continue };
        let mut saver = place.open().await.expect("opens");
        let root = Draft::root(id(1)).set("log", json!(["a"]));
        let mut last = root.store(&*saver, "t", "").await.expect("stores");
        for (n, levels) in [(2, 3), (3, 115), (4, 119), (5, 130), (6, 200), (7, 1)] {
            let deep = (0..levels).fold(json!(n), |value, _| Value::from(vec![value]));
            let next = Draft::after(&last, id(n)).append("log", vec![deep]);
            match next.store(&*saver, "t", "").await {
                Ok(stored) => last = stored,
                Err(error) => {
                    assert!(levels > 110, "{backend:?}: {levels}: {error}");
                    assert!(error.to_string().contains("nested"), "{backend:?}: {error}");
                }
            }
            saver = again(&place, saver).await;
            let found = saver.get(&"t".into(), "", None).await.expect("reads");
            assert_eq!(found.expect("there").checkpoint, last, "{backend:?}: {levels}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_program_took_away_is_not_built_on() {
    for &backend in Backend::ALL.iter().filter(|backend| backend.is_shared()) {
        let Some(place) = Place::of(backend) else { continue };
        let (own, other) = (
            place.open().await.expect("opens"),
            place.open().await.expect("opens"),
        );
        for (thread, goes_on) in [("goes on", true), ("is late", false)] {
            let mut last = Draft::root(id(1)).set("x", "a").set("log", json!([]));
            let mut made = Vec::new();
            for n in 2..8 {
                let stored = last.store(&*own, thread, "").await.expect("stores");
                last = Draft::after(&stored, id(n)).append("log", vec![json!(n)]);
                made.push(stored);
            }
            // Also the one that this program is about to go on from, and remembers.
            let pruning = Pruning::threads([thread.into()], Keep::Nothing).retain([made[2].id.clone()]);
            other.prune(&pruning).await.expect("prunes");
            let mut there = vec![made[2].clone()];
            if goes_on {
                there.push(last.store(&*own, thread, "").await.expect("stores"));
            } else {
                let task = TaskWrites {
                    checkpoint_id: made[5].id.clone(),
                    task_id: TaskId::new("task"),
                    task_path: "node".into(),
                    writes: vec![Write {
                        idx: 0,
                        channel: "x".into(),
                        value: json!("late"),
                    }],
                };
                let commit = Commit {
                    claim: None,
                    thread: thread.into(),
                    ns: "".into(),
                    put: None,
                    writes: vec![task],
                };
                let refused = own.commit(commit).await;
                assert!(refused.is_err(), "{backend:?}: its checkpoint is gone");
            }
            for wanted in &there {
                let found = other
                    .get(&thread.into(), "", Some(&wanted.id))
                    .await
                    .expect("reads");
                assert_eq!(&found.expect("there").checkpoint, wanted, "{backend:?}");
            }
            assert!(
                other.verify(false).await.expect("checks").is_sound(),
                "{backend:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_program_stored_again_is_not_taken_for_what_was_there() {
    for &backend in Backend::ALL.iter().filter(|backend| backend.is_shared()) {
        let Some(place) = Place::of(backend) else { continue };
        let (own, other) = (
            place.open().await.expect("opens"),
            place.open().await.expect("opens"),
        );
        let commit = |put: &Put| Commit {
            claim: None,
            thread: "t".into(),
            ns: "".into(),
            writes: Vec::new(),
            put: Some(put.clone()),
        };
        let mut puts = vec![Draft::root(id(1)).set("x", "a").set("log", json!([])).put()];
        for n in 2..6 {
            let next = Draft::after(&puts[puts.len() - 1].checkpoint, id(n)).append("log", vec![json!(n)]);
            puts.push(next.put());
        }
        let last = puts.pop().expect("there");
        for put in &puts {
            own.commit(commit(put)).await.expect("stores");
        }
        // As an import does: the same checkpoints, in other rows.
        other.delete_thread(&"t".into()).await.expect("deletes");
        for put in &puts {
            other.commit(commit(put)).await.expect("stores");
        }
        own.commit(commit(&last)).await.expect("stores");
        for Put { checkpoint, .. } in puts.iter().chain([&last]) {
            let found = other
                .get(&"t".into(), "", Some(&checkpoint.id))
                .await
                .expect("reads");
            assert_eq!(&found.expect("there").checkpoint, checkpoint, "{backend:?}");
        }
        assert!(
            other.verify(false).await.expect("checks").is_sound(),
            "{backend:?}"
        );
    }
}
