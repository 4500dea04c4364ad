//! Long-term memory by hand: found, read, changed, removed, and never over somebody else's change.

use serde_json::{Value, json};
use superstep_acceptance::App;

/// A graph that remembers who asked, in the namespace of the person.
fn records() -> Value {
    json!({
        "key:who": {"type": "string"},
        "key:likes": {"type": "string"},
        "node:remember": {"kind": "store", "config": {
            "do": "put", "namespace": ["people", "{{ state.who }}"], "key": "likes",
            "value": "{'drink': state.likes}",
        }},
        "edge:1": {"from": "__start__", "to": "remember"},
        "edge:2": {"from": "remember", "to": "__end__"}
    })
}

fn keys(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| {
            format!(
                "{}/{}",
                item["namespace"]
                    .as_array()
                    .unwrap()
                    .last()
                    .unwrap()
                    .as_str()
                    .unwrap(),
                item["key"].as_str().unwrap()
            )
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_graphs_remember_is_listed_changed_and_removed_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let empty = app.ok("store.namespaces", json!({})).await;
    assert_eq!(empty, json!({"namespaces": [], "more": false}));

    let graph = app.draft("Memory", records()).await;
    for (who, likes) in [("ada", "green tea"), ("ben", "coffee")] {
        let input =
            json!({"graphId": graph, "action": {"type": "input", "input": {"who": who, "likes": likes}}});
        assert_eq!(app.run(input).await.0["status"], "done");
    }
    let spaces = app.ok("store.namespaces", json!({})).await;
    assert_eq!(
        spaces["namespaces"],
        json!([["people", "ada"], ["people", "ben"]])
    );
    let all = app.ok("store.items", json!({"namespace": ["people"]})).await;
    assert_eq!(
        (keys(&all), &all["more"]),
        (vec!["ben/likes".into(), "ada/likes".into()], &json!(false))
    );
    let first = app
        .ok("store.items", json!({"namespace": ["people"], "limit": 1}))
        .await;
    assert_eq!((keys(&first).len(), &first["more"]), (1, &json!(true)));
    let found = app
        .ok("store.items", json!({"namespace": [], "query": "tea"}))
        .await;
    assert_eq!(keys(&found), ["ada/likes"]);

    let ada = json!({"namespace": ["people", "ada"], "key": "likes"});
    let read = app.ok("store.get", ada.clone()).await;
    assert_eq!(read["value"]["value"], json!({"drink": "green tea"}));

    let change = |value: Value, replaces: Value| json!({"namespace": ["people", "ada"], "key": "likes", "value": value, "replaces": replaces});
    let changed = app
        .ok(
            "store.put",
            change(json!({"drink": "mate"}), read["updatedAt"].clone()),
        )
        .await;
    assert_eq!(changed["value"]["value"], json!({"drink": "mate"}));
    assert_eq!(changed["createdAt"], read["createdAt"]);

    // Whoever looked before that change, or believes that there is none, does not undo it.
    let late = app
        .refused(
            "store.put",
            change(json!({}), json!("2020-01-01T00:00:00.000+00:00")),
        )
        .await;
    assert_eq!(late.code, "conflict");
    let twice = app.refused("store.put", change(json!({}), Value::Null)).await;
    assert_eq!(twice.code, "conflict");
    let text = app
        .refused("store.put", change(json!("text"), changed["updatedAt"].clone()))
        .await;
    assert!(text.message.contains("a store keeps objects"), "{}", text.message);
    let place = json!({"namespace": ["a.b"], "key": "k", "value": {}});
    assert!(app.refused("store.put", place).await.message.contains("period"));
    assert_eq!(
        app.ok("store.get", ada.clone()).await["value"]["value"],
        json!({"drink": "mate"})
    );

    app.ok("store.delete", ada.clone()).await;
    assert_eq!(app.refused("store.get", ada.clone()).await.code, "not-found");
    let stale = app
        .refused("store.put", change(json!({}), changed["updatedAt"].clone()))
        .await;
    assert_eq!(
        stale.code, "not-found",
        "an item that is gone is not brought back by a late edit"
    );
    let again = app
        .ok("store.put", change(json!({"drink": "mate"}), Value::Null))
        .await;
    assert_eq!(again["value"]["value"], json!({"drink": "mate"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_expired_takes_no_space_after_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let mut app = App::open(dir.path()).await;
    let mut records = records();
    // A tenth of a second.
    records["node:remember"]["config"]["ttl_minutes"] = (0.1 / 60.0).into();
    let graph = app.draft("Memory", records).await;
    let input =
        json!({"graphId": graph, "action": {"type": "input", "input": {"who": "ada", "likes": "tea"}}});
    assert_eq!(app.run(input).await.0["status"], "done");
    let seen = async |app: &App| {
        let items = app.ok("store.items", json!({"namespace": ["people"]})).await;
        items["items"].as_array().unwrap().len()
    };
    while seen(&app).await > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let stored = async |app: &App| {
        app.ok("storage.verify", json!({})).await["items"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(stored(&app).await, 1, "nobody sees it, and it is still there");
    app.close().await;

    let app = App::open(dir.path()).await;
    let gone = async {
        while stored(&app).await > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), gone)
        .await
        .expect("it is removed soon");
}
