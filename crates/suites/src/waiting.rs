//! Questions that wait: which are listed, in which order, and what ends their waiting.

use super::build::{Draft, commit, id, pending, write, writes};
use super::{Mismatch, Outcome, same, suite};
use superstep::checkpoint::{
    Checkpoint, CheckpointAddress, Keep, ListQuery, PendingWrite, Pruning, TaskId, TaskWrites, ThreadQuery,
    ThreadStatus, Waiting, WaitingQuery, reserved, write_index,
};
use superstep::{Checkpointer, ThreadId, Value, json};

suite! {
    "waiting: listed oldest first, page by page" => pages,
    "waiting: what ends it and what begins it again" => states,
    "waiting: several tasks of one checkpoint" => several,
    "waiting: ends of other branches are said to be such" => branches,
    "waiting: questions of nested graphs are left out" => nested,
    "waiting: what is deleted asks no more" => deleted,
    "waiting: the questions of a copy wait too" => copied,
    "waiting: a repeated commit changes nothing" => repeated,
    "waiting: a thousand of them" => thousand,
    "writes: read without their checkpoint" => alone,
}

type Row = (i32, &'static str, Value);

fn row(channel: &'static str, value: Value) -> Row {
    (write_index(channel, 0), channel, value)
}

fn question() -> Row {
    row(reserved::INTERRUPT, json!([{"value": "how?", "id": "q"}]))
}

fn output() -> Row {
    row("x", json!(1))
}

fn withdrawal() -> Row {
    row(reserved::WITHDRAWN, json!({"why": "no longer needed"}))
}

fn again() -> Row {
    row(reserved::ASKED_AGAIN, Value::Null)
}

/// Returns what is listed, as (thread, id, tasks, is newest), and checks that the count, the heads and the threads
/// agree.
async fn listed(saver: &dyn Checkpointer) -> Result<Vec<(String, String, u32, bool)>, Mismatch> {
    let all = saver.waiting(&WaitingQuery::default()).await?;
    let tasks: u64 = all.iter().map(|one| u64::from(one.tasks)).sum();
    same("the count of questions", saver.count_waiting().await?, tasks)?;
    let root = ListQuery::new().ns("");
    let asked: u32 = saver
        .heads(&root)
        .await?
        .iter()
        .map(|head| head.interrupted)
        .sum();
    same("what heads say of them", u64::from(asked), tasks)?;
    let open = ThreadQuery::new().status(ThreadStatus::Interrupted);
    let newest = all.iter().filter(|one| one.is_newest).count() as u64;
    same("threads that wait", saver.count_threads(&open).await?, newest)?;
    Ok(all.into_iter().map(brief).collect())
}

fn brief(one: Waiting) -> (String, String, u32, bool) {
    (
        one.thread.to_string(),
        one.checkpoint.to_string(),
        one.tasks,
        one.is_newest,
    )
}

fn entry(thread: &str, n: u64, tasks: u32, is_newest: bool) -> (String, String, u32, bool) {
    (thread.to_owned(), id(n).to_string(), tasks, is_newest)
}

/// Creates a thread of one checkpoint whose task asks.
async fn asking(saver: &dyn Checkpointer, thread: &str, n: u64) -> Result<Checkpoint, Mismatch> {
    let cp = Draft::root(id(n)).set("x", 0).store(saver, thread, "").await?;
    write(saver, thread, &cp, "task", "p", &[question()]).await?;
    Ok(cp)
}

async fn pages(saver: &dyn Checkpointer) -> Outcome {
    same("nothing", listed(saver).await?, vec![])?;
    // Neither in the order of their ids nor in that of their threads; and two threads with the same id.
    for (thread, n) in [("d", 4), ("a", 3), ("c", 9), ("b", 3), ("e", 1), ("", 7)] {
        asking(saver, thread, n).await?;
    }
    Draft::root(id(2)).store(saver, "calm", "").await?;
    let want = [("e", 1), ("a", 3), ("b", 3), ("d", 4), ("", 7), ("c", 9)];
    let want: Vec<_> = want
        .map(|(thread, n)| entry(thread, n, 1, true))
        .into_iter()
        .collect();
    same("all of them", listed(saver).await?, want.clone())?;
    let first = saver.waiting(&WaitingQuery::default()).await?;
    same(
        "when it was asked",
        first.iter().map(|one| one.ts.as_str()).collect(),
        vec![Draft::root(id(1)).put().checkpoint.ts.as_str(); 6],
    )?;
    for limit in [1, 2, 3, 100] {
        let mut query = WaitingQuery::new().limit(limit);
        let mut found = Vec::new();
        loop {
            let page = saver.waiting(&query).await?;
            let Some(last) = page.last() else { break };
            query.after = Some((last.checkpoint.clone(), last.thread.clone()));
            if page.len() > limit {
                return Err(format!("a page of {limit} has {}", page.len()).into());
            }
            found.extend(page.into_iter().map(brief));
        }
        same(&format!("pages of {limit}"), found, want.clone())?;
    }
    let query = |thread: Option<&str>, after: Option<(u64, &str)>, limit: Option<usize>| {
        WaitingQuery::new()
            .thread(thread.map(ThreadId::from))
            .after(after.map(|(n, thread)| (id(n), ThreadId::from(thread))))
            .limit(limit)
    };
    let cases = [
        (query(None, None, Some(0)), vec![]),
        (query(Some("b"), None, None), vec![entry("b", 3, 1, true)]),
        (query(Some("calm"), None, None), vec![]),
        (query(Some("none such"), None, None), vec![]),
        (query(Some(""), None, None), vec![entry("", 7, 1, true)]),
        (
            query(Some("b"), Some((3, "a")), Some(5)),
            vec![entry("b", 3, 1, true)],
        ),
        (query(Some("b"), Some((3, "b")), None), vec![]),
        // A place in the list need not be taken by anything.
        (
            query(None, Some((3, "aa")), Some(1)),
            vec![entry("b", 3, 1, true)],
        ),
        (query(None, Some((8, "zzz")), None), vec![entry("c", 9, 1, true)]),
    ];
    for (query, want) in cases {
        let found = saver.waiting(&query).await?;
        same(
            &format!("{query:?}"),
            found.into_iter().map(brief).collect(),
            want,
        )?;
    }
    Ok(())
}

/// Returns what a task writes, commit by commit, and whether a question of it waits then.
fn rounds() -> [(&'static str, Vec<Vec<Row>>, bool); 16] {
    let error = || row(reserved::ERROR, json!("broken"));
    let answer = || row(reserved::RESUME, json!(["an answer"]));
    let effect = || row(reserved::EFFECT, json!({"key": "k"}));
    [
        ("asked", vec![vec![question()]], true),
        ("answered", vec![vec![question()], vec![answer()]], true),
        (
            "finished",
            vec![vec![question()], vec![answer()], vec![output()]],
            false,
        ),
        (
            "finished with nothing",
            vec![vec![question()], vec![row(reserved::NO_WRITES, Value::Null)]],
            false,
        ),
        ("failed", vec![vec![error()]], false),
        (
            "failed after it asked",
            vec![vec![question()], vec![error()]],
            true,
        ),
        ("withdrawn", vec![vec![question()], vec![withdrawal()]], false),
        ("withdrawn at once", vec![vec![question(), withdrawal()]], false),
        (
            "withdrawn before it asked",
            vec![vec![withdrawal()], vec![question()]],
            false,
        ),
        (
            "asked again",
            vec![vec![question()], vec![withdrawal()], vec![again()]],
            true,
        ),
        (
            "asked again at once",
            vec![vec![question(), withdrawal()], vec![question(), again()]],
            true,
        ),
        (
            "asked again and never withdrawn",
            vec![vec![question(), again()]],
            true,
        ),
        (
            "asked again, and withdrawn again",
            vec![
                vec![question()],
                vec![withdrawal()],
                vec![again()],
                vec![withdrawal()],
            ],
            false,
        ),
        (
            "asked again after it finished",
            vec![vec![question()], vec![output()], vec![question(), again()]],
            false,
        ),
        (
            "withdrawn without a question",
            vec![vec![withdrawal()], vec![again()]],
            false,
        ),
        (
            "with an effect",
            vec![vec![effect()], vec![question()], vec![effect()]],
            true,
        ),
    ]
}

async fn states(saver: &dyn Checkpointer) -> Outcome {
    let mut want = Vec::new();
    for (n, (what, writes, waits)) in (1..).zip(&rounds()) {
        let cp = Draft::root(id(n)).set("x", 0).store(saver, what, "").await?;
        for rows in writes {
            write(saver, what, &cp, "task", "p", rows).await?;
        }
        want.extend(waits.then(|| entry(what, n, 1, true)));
        same(what, listed(saver).await?, want.clone())?;
    }
    // What a run was given is no question.
    let cp = Draft::root(id(99)).store(saver, "null", "").await?;
    write(saver, "null", &cp, TaskId::null().as_str(), "", &[question()]).await?;
    same("the null task", listed(saver).await?, want)
}

async fn several(saver: &dyn Checkpointer) -> Outcome {
    let cp = Draft::root(id(1)).set("x", 0).store(saver, "t", "").await?;
    let count = async |tasks: u32| {
        let want = (tasks > 0).then(|| entry("t", 1, tasks, true));
        same("tasks that ask", listed(saver).await?, want.into_iter().collect())
    };
    let tasks = |names: &[&str], rows: &[Row]| -> Vec<TaskWrites> {
        let of = |name: &&str| writes(&cp, name, &format!("path {name}"), rows);
        names.iter().map(of).collect()
    };
    let store =
        async |tasks: Vec<TaskWrites>| Ok::<_, Mismatch>(saver.commit(commit("t", "", tasks, None)).await?);
    store(tasks(&["a", "b", "c", "d"], &[question()])).await?;
    count(4).await?;
    store(tasks(&["b"], &[output()])).await?;
    count(3).await?;
    store(tasks(&["a", "c"], &[withdrawal()])).await?;
    count(1).await?;
    store([tasks(&["c"], &[again()]), tasks(&["d"], &[output()])].concat()).await?;
    count(1).await?;
    // One commit of several units that undo each other.
    let commits = [
        tasks(&["e"], &[question()]),
        tasks(&["e"], &[withdrawal()]),
        tasks(&["e", "a"], &[again()]),
        tasks(&["c"], &[output()]),
    ];
    let commits = commits.map(|tasks| commit("t", "", tasks, None));
    saver.commit_all(commits.into()).await?;
    count(2).await?;
    store(tasks(&["a", "e"], &[output()])).await?;
    count(0).await
}

async fn branches(saver: &dyn Checkpointer) -> Outcome {
    let first = asking(saver, "t", 1).await?;
    same("alone", listed(saver).await?, vec![entry("t", 1, 1, true)])?;
    // A fork leaves the question where it is.
    let fork = Draft::after(&first, id(2))
        .set("x", 2)
        .store(saver, "t", "")
        .await?;
    same("left behind", listed(saver).await?, vec![entry("t", 1, 1, false)])?;
    write(saver, "t", &fork, "task", "p", &[question()]).await?;
    let both = vec![entry("t", 1, 1, false), entry("t", 2, 1, true)];
    same("on two branches", listed(saver).await?, both)?;
    // What is newest is the newest of the outermost graph.
    Draft::root(id(3)).store(saver, "t", "inner:1").await?;
    same(
        "beside a nested graph",
        listed(saver).await?,
        vec![entry("t", 1, 1, false), entry("t", 2, 1, true)],
    )?;
    write(saver, "t", &first, "task", "p", &[output()]).await?;
    same(
        "answered on one",
        listed(saver).await?,
        vec![entry("t", 2, 1, true)],
    )
}

async fn nested(saver: &dyn Checkpointer) -> Outcome {
    let inner = Draft::root(id(1)).store(saver, "t", "inner:1").await?;
    let asks = writes(&inner, "task", "p", &[question()]);
    saver.commit(commit("t", "inner:1", vec![asks], None)).await?;
    same("without an outermost graph", listed(saver).await?, vec![])?;
    let heads = saver.heads(&ListQuery::default()).await?;
    same("its head", heads.first().map(|head| head.interrupted), Some(1))?;
    // The task around it asks too, under an id that another namespace has as well.
    asking(saver, "t", 1).await?;
    same("with one", listed(saver).await?, vec![entry("t", 1, 1, true)])?;
    let asks_no_more = writes(&inner, "task", "p", &[output()]);
    saver
        .commit(commit("t", "inner:1", vec![asks_no_more], None))
        .await?;
    same("one of both", listed(saver).await?, vec![entry("t", 1, 1, true)])
}

async fn deleted(saver: &dyn Checkpointer) -> Outcome {
    asking(saver, "t", 1).await?;
    asking(saver, "t2", 2).await?;
    saver.delete_thread(&"t".into()).await?;
    same("one of two", listed(saver).await?, vec![entry("t2", 2, 1, true)])?;
    // The same place in the list again.
    let cp = Draft::root(id(1)).store(saver, "t", "").await?;
    same("made again", listed(saver).await?, vec![entry("t2", 2, 1, true)])?;
    write(saver, "t", &cp, "task", "p", &[question()]).await?;
    let both = vec![entry("t", 1, 1, true), entry("t2", 2, 1, true)];
    same("asked again", listed(saver).await?, both)?;
    for thread in ["t", "t2"] {
        saver.delete_thread(&thread.into()).await?;
    }
    same("none", listed(saver).await?, vec![])
}

async fn copied(saver: &dyn Checkpointer) -> Outcome {
    let first = asking(saver, "t", 1).await?;
    let second = Draft::after(&first, id(2))
        .set("x", 2)
        .store(saver, "t", "")
        .await?;
    let rows = [question(), row(reserved::EFFECT, json!({"key": "k"}))];
    write(saver, "t", &second, "a", "p", &rows).await?;
    write(saver, "t", &second, "b", "p", &[question(), withdrawal()]).await?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    let all = vec![
        entry("copy", 1, 1, false),
        entry("t", 1, 1, false),
        entry("copy", 2, 1, true),
        entry("t", 2, 1, true),
    ];
    same("both", listed(saver).await?, all.clone())?;
    // What the copy has stays as it is: an answer there, and a question there.
    write(saver, "copy", &first, "task", "p", &[output()]).await?;
    write(saver, "copy", &second, "b", "p", &[again()]).await?;
    let apart = vec![
        entry("t", 1, 1, false),
        entry("copy", 2, 2, true),
        entry("t", 2, 1, true),
    ];
    same("each by itself", listed(saver).await?, apart.clone())?;
    saver.copy_thread(&"t".into(), &"copy".into()).await?;
    same("copied again", listed(saver).await?, apart)?;
    // Into a thread that has something else.
    Draft::root(id(5)).store(saver, "other", "").await?;
    saver.copy_thread(&"copy".into(), &"other".into()).await?;
    let other = saver
        .waiting(&WaitingQuery::new().thread(ThreadId::from("other")))
        .await?;
    let other: Vec<_> = other.into_iter().map(brief).collect();
    same("into another", other, vec![entry("other", 2, 2, false)])?;
    saver.delete_thread(&"t".into()).await?;
    let left = vec![entry("copy", 2, 2, true), entry("other", 2, 2, false)];
    same("without the first", listed(saver).await?, left)
}

pub(super) async fn pruned(saver: &dyn Checkpointer) -> Outcome {
    let mut made: Vec<Checkpoint> = Vec::new();
    for n in 1..6_u64 {
        let draft = match made.last() {
            Some(last) => Draft::after(last, id(n)),
            None => Draft::root(id(n)),
        };
        let last = draft.set("x", n).store(saver, "t", "").await?;
        write(saver, "t", &last, "task", "p", &[question()]).await?;
        made.push(last);
    }
    asking(saver, "other", 3).await?;
    let pruning = Pruning::threads(["t".into()], Keep::Newest(2)).retain([id(1)]);
    saver.prune(&pruning.clone().dry_run()).await?;
    same("after a dry run", listed(saver).await?.len(), 6)?;
    saver.prune(&pruning).await?;
    let left = vec![
        entry("t", 1, 1, false),
        entry("other", 3, 1, true),
        entry("t", 4, 1, false),
        entry("t", 5, 1, true),
    ];
    same("what is left", listed(saver).await?, left)?;
    saver
        .prune(&Pruning::threads(["t".into()], Keep::Nothing))
        .await?;
    same(
        "nothing of it",
        listed(saver).await?,
        vec![entry("other", 3, 1, true)],
    )
}

async fn repeated(saver: &dyn Checkpointer) -> Outcome {
    let put = Draft::root(id(1)).set("x", 0).put();
    let cp = put.checkpoint.clone();
    let first = commit("t", "", vec![writes(&cp, "task", "p", &[question()])], Some(put));
    for _ in 0..3 {
        saver.commit(first.clone()).await?;
        same("asked", listed(saver).await?, vec![entry("t", 1, 1, true)])?;
    }
    let withdrawn = commit("t", "", vec![writes(&cp, "task", "p", &[withdrawal()])], None);
    for _ in 0..2 {
        saver.commit(withdrawn.clone()).await?;
        same("withdrawn", listed(saver).await?, vec![])?;
    }
    // The question of a task that comes once more does not make it wait.
    saver.commit(first.clone()).await?;
    same("asked as before", listed(saver).await?, vec![])?;
    let done = commit("t", "", vec![writes(&cp, "task", "p", &[output()])], None);
    saver.commit(done).await?;
    saver.commit(first).await?;
    same("finished", listed(saver).await?, vec![])
}

async fn thousand(saver: &dyn Checkpointer) -> Outcome {
    let mut commits = Vec::new();
    for n in 0..500_u64 {
        // Backwards, and every fifth does not ask.
        let put = Draft::root(id(1000 - n)).put();
        let asks = (n % 5 > 0).then(|| writes(&put.checkpoint, "task", "p", &[question()]));
        commits.push(commit(
            &format!("t{n:04}"),
            "",
            asks.into_iter().collect(),
            Some(put),
        ));
    }
    let put = Draft::root(id(2000)).put();
    let many = (0..600).map(|n| {
        writes(
            &put.checkpoint,
            &format!("task {n}"),
            &format!("path {n}"),
            &[question()],
        )
    });
    commits.push(commit("many", "", many.collect(), Some(put.clone())));
    for some in commits.chunks(50) {
        saver.commit_all(some.to_vec()).await?;
    }
    let all = listed(saver).await?;
    same("how many", all.len(), 401)?;
    same(
        "the last",
        all.last().cloned(),
        Some(entry("many", 2000, 600, true)),
    )?;
    same("in order", all.is_sorted_by(|a, b| a.1 < b.1), true)?;
    let page = WaitingQuery::new().after((id(900), "zzz".into())).limit(100);
    let page = saver.waiting(&page).await?;
    let page: Vec<_> = page.into_iter().map(brief).collect();
    let from = all.iter().position(|one| one.1 > id(900).to_string());
    let from = from.ok_or("none is left")?;
    same("the last page", page, all[from..].to_vec())?;
    let some = (0..600).map(|n| {
        writes(
            &put.checkpoint,
            &format!("task {n}"),
            &format!("path {n}"),
            &[output()],
        )
    });
    saver
        .commit(commit("many", "", some.skip(1).collect(), None))
        .await?;
    same(
        "what is left of many",
        listed(saver).await?.pop(),
        Some(entry("many", 2000, 1, true)),
    )
}

async fn alone(saver: &dyn Checkpointer) -> Outcome {
    let cp = Draft::root(id(1)).set("x", 0).store(saver, "t", "").await?;
    let inner = Draft::root(id(1)).store(saver, "t", "inner:1").await?;
    let read = async |thread: &str, ns: &str, n: u64| {
        saver.writes_of(CheckpointAddress::new(thread, ns, id(n))).await
    };
    same("of one without any", read("t", "", 1).await?, vec![])?;
    let rows = [
        question(),
        row(reserved::EFFECT, json!({"key": "k"})),
        again(),
        output(),
    ];
    write(saver, "t", &cp, "b", "path 1", &rows).await?;
    let long = json!("a text that is worth a place of its own, ".repeat(200));
    write(
        saver,
        "t",
        &cp,
        "a",
        "path 2",
        &[(0, "x", long.clone()), (1, "y", json!([long]))],
    )
    .await?;
    let task = writes(&inner, "a", "p", &[output()]);
    saver.commit(commit("t", "inner:1", vec![task], None)).await?;
    let of = async |ns: &str| {
        let found = saver.get(&"t".into(), ns, Some(&id(1))).await?;
        Ok::<Vec<PendingWrite>, Mismatch>(found.ok_or("the checkpoint is gone")?.pending_writes)
    };
    same("of the outermost graph", read("t", "", 1).await?, of("").await?)?;
    same("how many", pending(saver, "t", &cp).await?.len(), 6)?;
    same(
        "of a nested one",
        read("t", "inner:1", 1).await?,
        of("inner:1").await?,
    )?;
    for (thread, ns, n) in [("t", "", 2), ("u", "", 1), ("t", "none", 1)] {
        same("of one that is not stored", read(thread, ns, n).await?, vec![])?;
    }
    let places = [
        ("u", "", 1),
        ("t", "inner:1", 1),
        ("t", "", 2),
        ("t", "", 1),
        ("t", "", 1),
    ];
    let addresses = places.map(|(thread, ns, n)| CheckpointAddress::new(thread, ns, id(n)));
    let (inner, root) = (of("inner:1").await?, of("").await?);
    let wanted = vec![vec![], inner, vec![], root.clone(), root];
    same("of several", saver.writes(&addresses).await?, wanted)?;
    same("of none", saver.writes(&[]).await?.len(), 0)?;
    Ok(())
}
