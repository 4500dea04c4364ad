//! What is stored is damaged at random: bytes, rows, pages, ends of files. Nothing panics or hangs, and a reader gets
//! an error or a state, and a repair leaves what a check finds sound.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use rusqlite::types::Value as Cell;
use superstep::checkpoint::{
    Checkpoint, Commit, ListQuery, StorageError, TaskId, TaskWrites, ThreadQuery, Write, reserved,
};
use superstep::{Checkpointer, ThreadId, json};
use superstep_storage::Backend;
use superstep_storage_tests::probe::store;
use superstep_storage_tests::{Place, Random};
use superstep_suites::{Draft, id};

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts panics outside of the tests themselves: a backend may turn one into an error, and it is one all the same.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info
                .location()
                .is_some_and(|place| !place.file().contains("tests/it"))
            {
                PANICS.fetch_add(1, Ordering::Relaxed);
            }
            before(info);
        }));
    });
}

const THREADS: [&str; 2] = ["a", "b"];

/// Two threads with long lists, values of many sizes, a fork, a nested graph and writes of every kind.
async fn fill(saver: &dyn Checkpointer) -> Result<(), StorageError> {
    for thread in THREADS {
        for n in 0..70 {
            store(saver, thread, [0, 40, 3000][n % 3]).await?;
        }
        let task = |of: u64, channel: &str, idx| TaskWrites {
            checkpoint_id: id(of),
            task_id: TaskId::new(format!("task {of}")),
            task_path: "path".into(),
            writes: vec![Write {
                idx,
                channel: channel.into(),
                value: json!({"text": "so on ".repeat(400), "n": [1, 2.5, null, true]}),
            }],
        };
        let kinds = [
            (5, "log", 0),
            (6, reserved::INTERRUPT, -3),
            (7, reserved::ERROR, -1),
        ];
        let commit = |ns: &str, writes, put| Commit {
            claim: None,
            thread: thread.into(),
            ns: ns.into(),
            writes,
            put,
        };
        let writes = kinds
            .iter()
            .map(|(of, channel, idx)| task(*of, channel, *idx))
            .collect();
        saver.commit(commit("", writes, None)).await?;
        let past = saver.get(&thread.into(), "", Some(&id(20))).await?;
        let Some(past) = past else { continue };
        let fork = Draft::after(&past.checkpoint, id(900))
            .append("log", vec![json!("fork")])
            .sees("n", &["log"]);
        saver.commit(commit("", Vec::new(), Some(fork.put()))).await?;
        let nested = Draft::root(id(901))
            .set("x", json!({"deep": [[[1]]]}))
            .meta("run_id", "r")
            .put();
        saver.commit(commit("node:1", Vec::new(), Some(nested))).await?;
    }
    Ok(())
}

/// Everything that can be asked. Errors are fine; what is read is given back.
async fn ask_everything(saver: &dyn Checkpointer) -> Vec<(ThreadId, Checkpoint)> {
    let mut read = Vec::new();
    for thread in THREADS.map(ThreadId::from) {
        for n in [None, Some(1), Some(6), Some(35), Some(64), Some(70), Some(900)] {
            if let Ok(Some(tuple)) = saver.get(&thread, "", n.map(id).as_ref()).await {
                read.push((thread.clone(), tuple.checkpoint));
            }
            let _ = saver
                .values(&thread, "", n.map(id).as_ref(), &["log".into(), "noise".into()])
                .await;
        }
        let query = ListQuery::new().thread(thread.clone());
        if let Ok(tuples) = saver.list(&query).await {
            read.extend(tuples.into_iter().map(|tuple| (thread.clone(), tuple.checkpoint)));
        }
        let _ = saver.heads(&query).await;
        let _ = saver.breakdown(&thread).await;
    }
    let _ = saver.threads(&ThreadQuery::default()).await;
    let _ = saver.count_threads(&ThreadQuery::default()).await;
    let _ = saver.usage().await;
    let _ = saver.verify(false).await;
    read
}

/// Repairs, and says what is wrong with the repair.
async fn repair(saver: &dyn Checkpointer) -> Result<(), String> {
    let found = match saver.verify(true).await {
        // What cannot even be opened or walked through is for a backup.
        Err(_) => return Ok(()),
        Ok(found) => found,
    };
    let beyond = found
        .damage
        .iter()
        .filter(|damage| damage.repair.is_none())
        .count();
    let left = saver
        .verify(false)
        .await
        .map_err(|error| format!("after a repair: {error}"))?;
    if left.damage.len() > beyond {
        return Err(format!("the repair of {:?} left {:?}", found.damage, left.damage));
    }
    if beyond > 0 {
        return Ok(());
    }
    for thread in THREADS {
        let query = ListQuery::new().thread(thread);
        saver
            .list(&query)
            .await
            .map_err(|error| format!("after the repair of {:?}: {error}", found.damage))?;
    }
    for thread in THREADS {
        store(saver, thread, 10)
            .await
            .map_err(|error| format!("a repaired thread does not go on: {error}"))?;
    }
    Ok(())
}

/// One damaged copy is opened, read, repaired and read again.
async fn survive(backend: Backend, url: &str, what: &str) -> Vec<(ThreadId, Checkpoint)> {
    let seen = PANICS.load(Ordering::Relaxed);
    let url = url.to_owned();
    let work = async move {
        let Ok(saver) = superstep_storage_tests::open(&url).await else {
            return (Vec::new(), Ok(()));
        };
        let read = ask_everything(&*saver).await;
        (read, repair(&*saver).await)
    };
    let (read, repaired) = tokio::time::timeout(Duration::from_secs(30), work)
        .await
        .unwrap_or_else(|_| panic!("{backend:?} hangs after {what}"));
    assert_eq!(
        PANICS.load(Ordering::Relaxed),
        seen,
        "{backend:?} panics after {what}"
    );
    if let Err(wrong) = repaired {
        panic!("{backend:?} after {what}: {wrong}");
    }
    read
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("our folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copies");
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("our folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.metadata().is_ok_and(|about| about.len() > 0) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn spoil(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    let place = random.below(bytes.len().max(1) as u64) as usize;
    match random.below(6) {
        0 => {
            bytes.truncate(place);
            format!("the end from byte {place} on is lost")
        }
        1 => {
            let page = place / 4096 * 4096;
            let end = (page + 4096).min(bytes.len());
            bytes[page..end].fill(0);
            format!("page {} is zero", page / 4096)
        }
        2 => {
            let end = (place + 1 + random.below(60) as usize).min(bytes.len());
            bytes.drain(place..end);
            format!("bytes {place}..{end} are missing")
        }
        3 => {
            let more: Vec<u8> = (0..random.below(80)).map(|_| random.below(256) as u8).collect();
            let what = format!("{} bytes too many at {place}", more.len());
            bytes.splice(place..place, more);
            what
        }
        _ => {
            let count = 1 + random.below(4);
            for _ in 0..count {
                let place = random.below(bytes.len().max(1) as u64) as usize;
                if let Some(byte) = bytes.get_mut(place) {
                    *byte ^= 1 << random.below(8);
                }
            }
            format!("{count} bits differ")
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_with_wrong_bytes() {
    count_panics();
    for (backend, checked) in [(Backend::Sqlite, false), (Backend::File, true)] {
        let place = Place::of(backend).expect("it needs no server");
        let saver = place.open().await.expect("opens");
        fill(&*saver).await.expect("fills");
        let whole = ask_everything(&*saver).await;
        drop(saver);
        let copies = tempfile::tempdir().expect("a folder");
        let mut random = Random::new(7);
        for n in 0..20 {
            let folder = copies.path().join(n.to_string());
            copy(place.folder(), &folder);
            let found = files(&folder);
            let file = &found[random.below(found.len() as u64) as usize];
            let mut bytes = std::fs::read(file).expect("readable");
            let what = format!("{n}: {} of {}", spoil(&mut bytes, &mut random), file.display());
            std::fs::write(file, bytes).expect("writable");
            let url = place.url.replace(
                &place.folder().display().to_string(),
                &folder.display().to_string(),
            );
            let read = survive(backend, &url, &what).await;
            if checked {
                // With a checksum on each record, what is read is what was written.
                for (thread, checkpoint) in read {
                    let same = whole.iter().any(|(of, was)| *of == thread && *was == checkpoint);
                    assert!(
                        same,
                        "{backend:?} after {what}: thread {thread} reads {checkpoint:?}"
                    );
                }
            }
            std::fs::remove_dir_all(&folder).expect("ours");
        }
    }
}

/// The tables of the database with their columns, whatever its schema.
fn columns(conn: &rusqlite::Connection) -> Vec<(String, String)> {
    let sql = "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
               WHERE t.type = 'table' AND t.sql NOT LIKE '%VIRTUAL%' AND t.name NOT LIKE 'sqlite%'";
    let mut statement = conn.prepare(sql).expect("a query");
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("runs");
    rows.map(|row| row.expect("reads")).collect()
}

fn spoil_cell(cell: Cell, random: &mut Random) -> Cell {
    match (cell, random.below(6)) {
        (_, 0) => Cell::Null,
        (_, 1) => Cell::Blob((0..random.below(40)).map(|_| random.below(256) as u8).collect()),
        (_, 2) => Cell::Integer([-1, 0, 1, 7, i64::MAX, i64::MIN][random.below(6) as usize]),
        (Cell::Integer(n), _) => Cell::Integer(n.wrapping_add(random.below(9) as i64 - 4)),
        (Cell::Text(text), _) => {
            let mut bytes = text.into_bytes();
            spoil(&mut bytes, random);
            Cell::Text(String::from_utf8_lossy(&bytes).into_owned())
        }
        (Cell::Blob(mut bytes), _) => {
            spoil(&mut bytes, random);
            Cell::Blob(bytes)
        }
        (other, _) => other,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_with_wrong_values() {
    count_panics();
    let place = Place::of(Backend::Sqlite).expect("it needs no server");
    let saver: Arc<dyn Checkpointer> = place.open().await.expect("opens");
    fill(&*saver).await.expect("fills");
    drop(saver);
    let copies = tempfile::tempdir().expect("a folder");
    let mut random = Random::new(11);
    let mut spoiled = 0;
    for n in 0..70 {
        let file = copies.path().join(format!("{n}.db"));
        std::fs::copy(place.folder().join("threads.db"), &file).expect("copies");
        let conn = rusqlite::Connection::open(&file).expect("opens");
        let columns = columns(&conn);
        let (table, column) = &columns[random.below(columns.len() as u64) as usize];
        let rows: i64 = conn
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
            .expect("counts");
        if rows == 0 {
            continue;
        }
        let row = random.below(rows.unsigned_abs());
        let found: rusqlite::Result<(i64, Cell)> = conn.query_row(
            &format!("SELECT rowid, {column} FROM {table} LIMIT 1 OFFSET {row}"),
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        );
        let Ok((rowid, cell)) = found else { continue };
        let (what, done) = if random.percent(15) {
            let sql = format!("DELETE FROM {table} WHERE rowid = ?1");
            (
                format!("{n}: row {row} of {table} is gone"),
                conn.execute(&sql, [rowid]),
            )
        } else {
            let cell = spoil_cell(cell, &mut random);
            let sql = format!("UPDATE {table} SET {column} = ?2 WHERE rowid = ?1");
            let what = format!("{n}: {column} of row {row} of {table} is {cell:?}");
            (what, conn.execute(&sql, rusqlite::params![rowid, cell]))
        };
        drop(conn);
        // The tables themselves refuse some of it.
        if done.is_ok() {
            spoiled += 1;
            survive(Backend::Sqlite, &format!("sqlite:{}", file.display()), &what).await;
        }
        std::fs::remove_file(&file).expect("ours");
    }
    assert!(spoiled > 25, "only {spoiled} rows could be spoiled");
}
