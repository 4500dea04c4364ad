//! Threads: titles, graphs, bookmarks, and the database that each is in.

use std::collections::{HashMap, HashSet};

use rusqlite::{OptionalExtension, params};

use super::answer_chain::{EntryOf, append_all};
use super::{Ledger, list};
use crate::wire::Problem;

/// Record of a thread in the ledger.
#[derive(Clone, Debug)]
pub(crate) struct ThreadRow {
    pub(crate) thread_id: String,
    pub(crate) title: String,
    pub(crate) graph_name: String,
    pub(crate) graph_key: String,
    pub(crate) created_at: String,
}

/// Name that a person gave a checkpoint, and what they wrote about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bookmark {
    pub(crate) name: String,
    /// Text of any number of lines; empty for none.
    pub(crate) note: String,
}

impl Ledger {
    /// Remembers a thread of the database at `place`; one that is known keeps its title and its beginning.
    pub(crate) fn thread_began(&self, row: &ThreadRow, place: &str) -> Result<(), Problem> {
        self.with(|c| {
            c.prepare_cached(
                "INSERT INTO threads (thread_id, title, graph_name, graph_key, created_at, place)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (thread_id) DO UPDATE SET graph_name = ?3, graph_key = ?4, place = ?6",
            )?
            .execute(params![
                row.thread_id,
                row.title,
                row.graph_name,
                row.graph_key,
                row.created_at,
                place
            ])?;
            Ok(())
        })
    }

    pub(crate) fn rename(&self, row: &ThreadRow, place: &str) -> Result<(), Problem> {
        self.thread_began(row, place)?;
        self.with(|c| {
            c.execute(
                "UPDATE threads SET title = ?2 WHERE thread_id = ?1",
                params![row.thread_id, row.title],
            )?;
            Ok(())
        })
    }

    /// Returns the records of these threads, by thread.
    pub(crate) fn threads(&self, thread_ids: &[&str]) -> Result<HashMap<String, ThreadRow>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT thread_id, title, graph_name, graph_key, created_at FROM threads
                 WHERE thread_id IN (SELECT value FROM json_each(?1))",
            )?;
            let rows = statement.query_map([list(thread_ids)], |row| {
                Ok(ThreadRow {
                    thread_id: row.get(0)?,
                    title: row.get(1)?,
                    graph_name: row.get(2)?,
                    graph_key: row.get(3)?,
                    created_at: row.get(4)?,
                })
            })?;
            rows.map(|row| row.map(|row| (row.thread_id.clone(), row)))
                .collect()
        })
    }

    pub(crate) fn thread(&self, thread_id: &str) -> Result<Option<ThreadRow>, Problem> {
        self.with(|c| {
            c.prepare_cached(
                "SELECT title, graph_name, graph_key, created_at FROM threads WHERE thread_id = ?1",
            )?
            .query_row([thread_id], |row| {
                Ok(ThreadRow {
                    thread_id: thread_id.to_owned(),
                    title: row.get(0)?,
                    graph_name: row.get(1)?,
                    graph_key: row.get(2)?,
                    created_at: row.get(3)?,
                })
            })
            .optional()
        })
    }

    /// Returns the titles of all threads, by thread.
    pub(crate) fn titles(&self) -> Result<Vec<(String, String)>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached("SELECT thread_id, title FROM threads")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })
    }

    pub(crate) fn delete_thread(&self, thread_id: &str) -> Result<(), Problem> {
        self.write(|transaction| {
            append_all(transaction, EntryOf::Gone, Some(thread_id))?;
            for table in [
                "threads",
                "runs",
                "tasks",
                "bookmarks",
                "exchanges",
                "attempts",
                "run_events",
                "spans",
                "asked",
                "answers",
                "snoozes",
                "what_ifs",
            ] {
                transaction.execute(&format!("DELETE FROM {table} WHERE thread_id = ?1"), [thread_id])?;
            }
            Ok(())
        })
    }

    /// Returns the threads that were begun in the database at a place, or seen there.
    pub(crate) fn threads_at(&self, place: &str) -> Result<Vec<String>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached("SELECT thread_id FROM threads WHERE place = ?1")?;
            let rows = statement.query_map([place], |row| row.get(0))?;
            rows.collect()
        })
    }

    /// Returns those of these threads that were begun or seen in a database at another place.
    pub(crate) fn threads_not_at(
        &self,
        place: &str,
        thread_ids: &[&str],
    ) -> Result<HashSet<String>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT thread_id FROM threads WHERE place NOT IN (?1, '')
                 AND thread_id IN (SELECT value FROM json_each(?2))",
            )?;
            let rows = statement.query_map([place, &list(thread_ids)], |row| row.get(0))?;
            rows.collect()
        })
    }

    /// Records that these threads are in the database at this place.
    pub(crate) fn placed(&self, place: &str, thread_ids: &[&str]) -> Result<(), Problem> {
        self.with(|c| {
            c.execute(
                "UPDATE threads SET place = ?1
                 WHERE place <> ?1 AND thread_id IN (SELECT value FROM json_each(?2))",
                [place, &list(thread_ids)],
            )?;
            Ok(())
        })
    }

    /// Returns whether the thread has ever stored anything. A thread that failed before it stored anything must still
    /// be shown.
    pub(crate) fn has_stored(&self, thread_id: &str) -> Result<bool, Problem> {
        self.with(|c| {
            c.prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM tasks WHERE thread_id = ?1)
                 OR EXISTS (SELECT 1 FROM runs WHERE thread_id = ?1 AND status IN ('done', 'asking', 'paused'))",
            )?
            .query_row([thread_id], |row| row.get(0))
        })
    }

    /// Records that a draft became a file: threads that ran the draft belong to the file now, and so do its breakpoints
    /// and pinned outputs.
    pub(crate) fn moved(&self, draft: &str, path: &str) -> Result<(), Problem> {
        self.with(|c| {
            let transaction = c.transaction()?;
            transaction.execute(
                "INSERT OR REPLACE INTO moved (draft, path) VALUES (?1, ?2)",
                [draft, path],
            )?;
            transaction.execute(
                "UPDATE OR REPLACE breakpoints SET graph = ?2 WHERE graph = ?1",
                [draft, path],
            )?;
            transaction.execute(
                "UPDATE OR REPLACE pins SET graph = ?2 WHERE graph = ?1",
                [draft, path],
            )?;
            transaction.commit()
        })
    }

    /// Returns the drafts that became this file.
    pub(crate) fn drafts_of(&self, path: &str) -> Result<Vec<String>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached("SELECT draft FROM moved WHERE path = ?1")?;
            let rows = statement.query_map([path], |row| row.get(0))?;
            rows.collect()
        })
    }

    /// Records a copy of a thread: with its own title, and with the times, bookmarks, exchanges, failed attempts,
    /// answers and events of the original.
    pub(crate) fn thread_copied(&self, from: &str, row: &ThreadRow, place: &str) -> Result<(), Problem> {
        self.thread_began(row, place)?;
        self.write(|transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO tasks (thread_id, checkpoint_id, task_id, node, millis, finished, targets, status)
                 SELECT ?2, checkpoint_id, task_id, node, millis, finished, targets, status FROM tasks WHERE thread_id = ?1",
                [from, &row.thread_id],
            )?;
            transaction.execute(
                "INSERT OR REPLACE INTO bookmarks (thread_id, checkpoint_id, name, note)
                 SELECT ?2, checkpoint_id, name, note FROM bookmarks WHERE thread_id = ?1",
                [from, &row.thread_id],
            )?;
            transaction.execute(
                "INSERT INTO exchanges (thread_id, task_id, size, body)
                 SELECT ?2, task_id, size, body FROM exchanges WHERE thread_id = ?1 ORDER BY id",
                [from, &row.thread_id],
            )?;
            transaction.execute(
                "INSERT OR REPLACE INTO attempts (thread_id, task_id, body)
                 SELECT ?2, task_id, body FROM attempts WHERE thread_id = ?1",
                [from, &row.thread_id],
            )?;
            transaction.execute(
                "INSERT INTO answers (thread_id, checkpoint_id, interrupt_id, node, question, answer, person, note,
                     at, due, instance, state, start)
                 SELECT ?2, checkpoint_id, interrupt_id, node, question, answer, person, note, at, due, '', state, ''
                 FROM answers WHERE thread_id = ?1 AND state NOT IN ('held', 'giving') ORDER BY id",
                [from, &row.thread_id],
            )?;
            append_all(transaction, EntryOf::Carried, Some(&row.thread_id))?;
            transaction.execute(
                "INSERT INTO run_events (thread_id, run_id, first, events, size, until, body)
                 SELECT ?2, run_id, first, events, size, until, body FROM run_events WHERE thread_id = ?1 ORDER BY id",
                [from, &row.thread_id],
            )?;
            Ok(())
        })
    }

    /// Names a checkpoint, or takes its name away.
    pub(crate) fn bookmark(
        &self,
        thread_id: &str,
        checkpoint_id: &str,
        bookmark: Option<&Bookmark>,
    ) -> Result<(), Problem> {
        self.with(|c| {
            match bookmark {
                Some(Bookmark { name, note }) => c.execute(
                    "INSERT OR REPLACE INTO bookmarks (thread_id, checkpoint_id, name, note) VALUES (?1, ?2, ?3, ?4)",
                    [thread_id, checkpoint_id, name, note],
                )?,
                None => c.execute(
                    "DELETE FROM bookmarks WHERE thread_id = ?1 AND checkpoint_id = ?2",
                    [thread_id, checkpoint_id],
                )?,
            };
            Ok(())
        })
    }

    /// Returns bookmarks by thread and checkpoint; only those of one thread when it is given.
    pub(crate) fn bookmarks(
        &self,
        thread_id: Option<&str>,
    ) -> Result<HashMap<String, HashMap<String, Bookmark>>, Problem> {
        self.with(|c| {
            let mut statement = c.prepare_cached(
                "SELECT thread_id, checkpoint_id, name, note FROM bookmarks WHERE ?1 IS NULL OR thread_id = ?1",
            )?;
            let mut rows = statement.query([thread_id])?;
            let mut found: HashMap<String, HashMap<String, Bookmark>> = HashMap::new();
            while let Some(row) = rows.next()? {
                let of_thread = found.entry(row.get(0)?).or_default();
                let bookmark = Bookmark {
                    name: row.get(2)?,
                    note: row.get(3)?,
                };
                of_thread.insert(row.get(1)?, bookmark);
            }
            Ok(found)
        })
    }

    /// Returns the current key of the graph that a thread's metadata names, also after a draft became a file.
    pub(crate) fn followed(&self, key: &str) -> Result<String, Problem> {
        if !key.starts_with("draft-") {
            return Ok(key.to_owned());
        }
        let path = self.with(|c| {
            c.prepare_cached("SELECT path FROM moved WHERE draft = ?1")?
                .query_row([key], |row| row.get::<_, String>(0))
                .optional()
        })?;
        Ok(path.unwrap_or_else(|| key.to_owned()))
    }
}
