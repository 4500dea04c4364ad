//! What a host asks: values by key and the list of threads.

use super::build::{Draft, id, stored, write};
use super::{Mismatch, Outcome, same, suite};
use superstep::checkpoint::{ListQuery, ThreadPlace, ThreadQuery, ThreadStatus};
use superstep::value::Object;
use superstep::{Checkpointer, Value, json};

suite! {
    "values: some keys of the newest and of any checkpoint" => values,
    "threads: search" => search,
    "threads: status" => status,
    "threads: metadata and idle time" => filters,
    "threads: pages and counts" => pages,
    "threads: pages while threads change" => changing,
    "values: long, nested and repeated ones" => long_values,
}

async fn values(saver: &dyn Checkpointer) -> Outcome {
    let first = Draft::root(id(1))
        .set("x", 1)
        .set("long", "text ".repeat(400))
        .append("log", vec![json!("a")])
        .clear("empty")
        .store(saver, "t", "")
        .await?;
    let second = Draft::after(&first, id(2))
        .set("x", 2)
        .append("log", vec![json!("b")]);
    second.store(saver, "t", "").await?;
    Draft::root(id(3))
        .set("x", "inner")
        .store(saver, "t", "sub")
        .await?;
    let keys = ["log".into(), "x".into(), "empty".into(), "unknown".into()];
    let read = async |ns: &str, at: Option<u64>| -> Result<Option<Vec<(String, Value)>>, Mismatch> {
        let found = saver.values(&"t".into(), ns, at.map(id).as_ref(), &keys).await?;
        Ok(found.map(|found| {
            found
                .iter()
                .map(|(key, value)| (key.to_string(), value.clone()))
                .collect()
        }))
    };
    let pair = |x: Value, log: Value| Some(vec![("log".to_owned(), log), ("x".to_owned(), x)]);
    same("newest", read("", None).await?, pair(json!(2), json!(["a", "b"])))?;
    same("first", read("", Some(1)).await?, pair(json!(1), json!(["a"])))?;
    let inner = Some(vec![("x".to_owned(), json!("inner"))]);
    same("inner", read("sub", None).await?, inner)?;
    same("no such checkpoint", read("", Some(9)).await?, None)?;
    same("no such namespace", read("other", None).await?, None)?;
    let none = saver.values(&"t".into(), "", None, &[]).await?;
    same("no keys", none.map(|found| found.len()), Some(0))?;
    let query = ListQuery::new().thread("t").ns("");
    let all = saver.heads_with(&query, &keys).await?;
    let heads: Vec<_> = all.iter().map(|(head, _)| head.clone()).collect();
    same("their heads", heads, saver.heads(&query).await?)?;
    let values = all
        .iter()
        .map(|(_, values)| ["log", "x", "long"].map(|key| values.get(key).cloned()));
    let expected = |x: Value, log: Value| [Some(log), Some(x), Some(Value::Null)];
    same(
        "of every checkpoint, the others null",
        values.collect::<Vec<_>>(),
        vec![
            expected(json!(2), json!(["a", "b"])),
            expected(json!(1), json!(["a"])),
        ],
    )
}

/// Creates threads of every status; ids grow with the number.
async fn people(saver: &dyn Checkpointer) -> Outcome {
    let named = [
        (1, "Anna 1", "idle"),
        (2, "anna 2", "asks"),
        (3, "Björn", "failed"),
        (4, "carl_%", "pending"),
        (5, "Anna 3", "idle"),
    ];
    for (n, thread, kind) in named {
        let root = Draft::root(id(n)).meta("graph", kind).meta("owner", n % 2);
        let root = root.store(saver, thread, "").await?;
        let head = Draft::after(&root, id(n + 10)).with(|checkpoint| {
            checkpoint.ts = format!("2026-11-2{n}T00:00:00.000+00:00");
            if kind != "pending" {
                checkpoint.next.clear();
            }
        });
        let head = head.store(saver, thread, "").await?;
        match kind {
            "asks" => {
                write(
                    saver,
                    thread,
                    &head,
                    "task",
                    "p",
                    &[(-3, "__interrupt__", json!(["q"]))],
                )
                .await?
            }
            "failed" => {
                write(
                    saver,
                    thread,
                    &head,
                    "task",
                    "p",
                    &[(-1, "__error__", json!("e"))],
                )
                .await?
            }
            _ => {}
        }
        // What an older checkpoint waits for says nothing about the thread.
        write(
            saver,
            thread,
            &root,
            "old",
            "p",
            &[(-3, "__interrupt__", json!(["q"]))],
        )
        .await?;
    }
    Draft::root(id(99)).store(saver, "Anna's inner", "sub").await?;
    Ok(())
}

/// Returns the ids of the matching threads, and checks their count.
async fn names(saver: &dyn Checkpointer, query: ThreadQuery) -> Result<Vec<String>, Mismatch> {
    let found = saver.threads(&query).await?;
    let all = query.clone().after(None).limit(None);
    let all = saver.threads(&all).await?;
    same("count", saver.count_threads(&query).await?, all.len() as u64)?;
    for thread in &found {
        same("checkpoints", thread.checkpoints, 2)?;
        same("the oldest", thread.created.starts_with("2026-11-18T"), true)?;
    }
    Ok(found.into_iter().map(|found| found.thread.to_string()).collect())
}

async fn search(saver: &dyn Checkpointer) -> Outcome {
    people(saver).await?;
    let cases: [(&str, &[&str]); 7] = [
        ("anna", &["Anna 3", "anna 2", "Anna 1"]),
        ("ANNA 1", &["Anna 1"]),
        ("BJÖRN", &["Björn"]),
        ("_%", &["carl_%"]),
        ("%", &["carl_%"]),
        ("inner", &[]),
        ("", &["Anna 3", "carl_%", "Björn", "anna 2", "Anna 1"]),
    ];
    for (text, want) in cases {
        let query = ThreadQuery::new().search(text.to_owned());
        same(
            text,
            names(saver, query).await?,
            want.iter().map(|name| (*name).to_owned()).collect(),
        )?;
    }
    Ok(())
}

async fn status(saver: &dyn Checkpointer) -> Outcome {
    people(saver).await?;
    let cases: [(ThreadStatus, &[&str]); 4] = [
        (ThreadStatus::Idle, &["Anna 3", "Anna 1"]),
        (ThreadStatus::Interrupted, &["anna 2"]),
        (ThreadStatus::Error, &["Björn"]),
        (ThreadStatus::Pending, &["carl_%"]),
    ];
    for (status, want) in cases {
        let query = ThreadQuery::new().status(status);
        for thread in saver.threads(&query).await? {
            same("its own word", thread.status(), status)?;
        }
        let found = names(saver, query).await?;
        same(
            status.as_str(),
            found,
            want.iter().map(|name| (*name).to_owned()).collect(),
        )?;
    }
    Ok(())
}

async fn filters(saver: &dyn Checkpointer) -> Outcome {
    people(saver).await?;
    let by = |entries: &[(&str, Value)]| {
        ThreadQuery::new().filter(
            entries
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect::<Object>(),
        )
    };
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    same(
        "graph",
        names(saver, by(&[("graph", json!("idle"))])).await?,
        list(&["Anna 3", "Anna 1"]),
    )?;
    let both = by(&[("owner", json!(1)), ("step", json!(0))]);
    same(
        "owner and step",
        names(saver, both).await?,
        list(&["Anna 3", "Björn", "Anna 1"]),
    )?;
    same(
        "no such step",
        names(saver, by(&[("step", json!(7))])).await?,
        list(&[]),
    )?;
    let idle = ThreadQuery::new().idle_since("2026-11-23T00:00:00.000+00:00".to_owned());
    same("idle", names(saver, idle).await?, list(&["anna 2", "Anna 1"]))
}

async fn pages(saver: &dyn Checkpointer) -> Outcome {
    people(saver).await?;
    // A copy has the head of the thread that it was made of: equal heads are in the order of their names.
    saver.copy_thread(&"Björn".into(), &"Zoë".into()).await?;
    saver.copy_thread(&"Björn".into(), &"Adam".into()).await?;
    let all = names(saver, ThreadQuery::default()).await?;
    same("all", all.len(), 7)?;
    same(
        "equal heads",
        &all[2..5],
        &["Adam".to_owned(), "Björn".to_owned(), "Zoë".to_owned()],
    )?;
    for limit in [1, 2, 3, 100] {
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let query = ThreadQuery::new().after(after).limit(limit);
            let page = saver.threads(&query).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.place());
            seen.extend(page.into_iter().map(|found| found.thread.to_string()));
        }
        same("the pages together", &seen, &all)?;
    }
    let none = ThreadQuery::new().limit(0);
    same("none", saver.threads(&none).await?, Vec::new())?;
    same("counted all the same", saver.count_threads(&none).await?, 7)?;
    // A place stays one when its thread is gone.
    let place = ThreadPlace {
        head: id(13),
        thread: "Björn".into(),
    };
    saver.delete_thread(&"Björn".into()).await?;
    let query = ThreadQuery::new().after(place).search("z".to_owned());
    let found = saver.threads(&query).await?;
    same("after a thread that is gone", found.len(), 1)
}

/// Returns the threads of all pages of two after a place.
async fn paged(
    saver: &dyn Checkpointer,
    mut after: Option<ThreadPlace>,
) -> Result<Vec<(String, u64)>, Mismatch> {
    let mut seen = Vec::new();
    loop {
        let query = ThreadQuery::new().after(after).limit(2);
        let page = saver.threads(&query).await?;
        let Some(last) = page.last() else { return Ok(seen) };
        after = Some(last.place());
        seen.extend(
            page.into_iter()
                .map(|found| (found.thread.to_string(), found.checkpoints)),
        );
    }
}

async fn changing(saver: &dyn Checkpointer) -> Outcome {
    let list = |named: &[(&str, u64)]| -> Vec<(String, u64)> {
        named
            .iter()
            .map(|(thread, count)| ((*thread).to_owned(), *count))
            .collect()
    };
    for (thread, n) in [("a", 10), ("b", 20), ("c", 30), ("d", 40), ("e", 50)] {
        Draft::root(id(n)).store(saver, thread, "").await?;
    }
    let all = list(&[("e", 1), ("d", 1), ("c", 1), ("b", 1), ("a", 1)]);
    same("all", paged(saver, None).await?, all)?;
    let first = saver.threads(&ThreadQuery::new().limit(2)).await?;
    let place = first.last().map(superstep::checkpoint::ThreadSummary::place);
    // One that becomes the newest is no longer behind a page; one with an older checkpoint stays where it is.
    Draft::root(id(60)).store(saver, "b", "").await?;
    Draft::root(id(5)).store(saver, "c", "").await?;
    Draft::root(id(15)).store(saver, "new", "").await?;
    // A nested graph's checkpoint moves no thread.
    Draft::root(id(70)).store(saver, "a", "sub").await?;
    let rest = list(&[("c", 2), ("new", 1), ("a", 1)]);
    same("behind the first page", paged(saver, place.clone()).await?, rest)?;
    let all = list(&[("b", 2), ("e", 1), ("d", 1), ("c", 2), ("new", 1), ("a", 1)]);
    same("after commits", paged(saver, None).await?, all)?;
    // The thread of the place and one behind it go; a thread that comes again is another one.
    saver.delete_thread(&"d".into()).await?;
    saver.delete_thread(&"c".into()).await?;
    Draft::root(id(1)).store(saver, "c", "").await?;
    saver.copy_thread(&"a".into(), &"again".into()).await?;
    let rest = list(&[("new", 1), ("a", 1), ("again", 1), ("c", 1)]);
    same("after deletions", paged(saver, place).await?, rest)?;
    let all = list(&[("b", 2), ("e", 1), ("new", 1), ("a", 1), ("again", 1), ("c", 1)]);
    same("from the beginning", paged(saver, None).await?, all)?;
    same("counted", saver.count_threads(&ThreadQuery::default()).await?, 6)
}

async fn long_values(saver: &dyn Checkpointer) -> Outcome {
    let text = "a long text that is the same everywhere, ".repeat(50);
    let document = json!({"title": "\u{0}1", "text": text, "parts": [text, [text, {"deep": text}]]});
    let mut last = Draft::root(id(1))
        .set("document", document.clone())
        .set("text", text.as_str())
        .set("many", vec![document.clone(); 40])
        .set(
            "\u{0}",
            json!(["\u{0}", "\u{0}\u{0}7", text.replace("same", "\u{0}same")]),
        )
        .append("log", vec![document.clone(), json!(text)])
        .store(saver, "t", "")
        .await?;
    stored(saver, "t", "", &last).await?;
    for n in 2..80 {
        let draft = match n % 4 {
            0 => Draft::after(&last, id(n)).append("log", vec![document.clone(), json!(n)]),
            1 => Draft::after(&last, id(n)).append("log", vec![json!(text.repeat(2)); 3]),
            2 => Draft::after(&last, id(n)).set("many", vec![json!([n, document.clone()]); 30]),
            _ => Draft::after(&last, id(n)).set("text", text.as_str()),
        };
        last = draft.store(saver, "t", "").await?;
        stored(saver, "t", "", &last).await?;
    }
    let rows = [
        (0, "log", json!([document.clone(), text])),
        (1, "text", json!(text)),
    ];
    write(saver, "t", &last, "task", "p", &rows).await?;
    let found = saver
        .get(&"t".into(), "", None)
        .await?
        .ok_or("the checkpoint is gone")?;
    let read: Vec<Value> = found
        .pending_writes
        .into_iter()
        .map(|pending| pending.write.value)
        .collect();
    same("writes", read, vec![json!([document, text]), json!(text)])
}
