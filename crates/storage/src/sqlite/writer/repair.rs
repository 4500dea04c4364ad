//! Puts right what a check found: what cannot be read goes, what builds on it stands alone, counts are taken again.

use superstep::checkpoint::Integrity;
use superstep::store::StoreConfig;

use super::super::store::{COLUMNS, Stored};
use super::*;
use crate::base::quarantine::{QUARANTINE, quarantined};

/// The index of words, empty; as the migration makes it.
const WORDS: &str = "DROP TABLE store_words;
    CREATE VIRTUAL TABLE store_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii')";

impl Writer {
    pub(super) fn repair(
        &mut self,
        progress: &Progress,
        cutting: &StoreConfig,
    ) -> Result<Integrity, SqliteFault> {
        let findings = self.view().check(progress)?;
        if findings.integrity.is_sound() {
            return Ok(findings.integrity);
        }
        self.wrote = true;
        if findings.indices {
            self.conn.execute_batch("REINDEX")?;
        }
        for thread in &findings.nameless {
            self.conn
                .prepare_cached("INSERT INTO threads (id, name) VALUES (?1, 'recovered ' || ?1)")?
                .execute([thread])?;
        }
        for seq in &findings.parentless {
            self.conn
                .prepare_cached("UPDATE checkpoints SET parent = NULL WHERE seq = ?1")?
                .execute([seq])?;
        }
        for row in &findings.writes {
            self.conn
                .prepare_cached("DELETE FROM writes WHERE id = ?1")?
                .execute([row])?;
        }
        for seq in &findings.short_writes {
            self.conn
                .prepare_cached("UPDATE checkpoints SET tasks = NULL WHERE seq = ?1")?
                .execute([seq])?;
        }
        for (thread, gone) in &findings.unreadable {
            if self.checkpoints_of(thread)? == gone.len() as u64 {
                self.delete(thread, &|_| Ok(()))?;
            } else {
                self.remove(thread, gone, &|_| Ok(()))?;
            }
        }
        for row in &findings.items {
            self.quarantine(*row)?;
        }
        if findings.words {
            self.cut_words(cutting)?;
        }
        if findings.steps {
            step_index::refill(&self.conn)?;
        }
        if findings.waiting {
            waiting::refill(&self.conn)?;
        }
        // The counts may have been what was wrong, so they are not settled but taken again.
        self.forget();
        self.count_again()?;
        let mut integrity = findings.into_integrity();
        integrity.repaired = true;
        Ok(integrity)
    }

    /// Moves an item that cannot be read out of the way of those that look for it, with what was stored as text.
    fn quarantine(&mut self, row: i64) -> Result<(), SqliteFault> {
        let (namespace, key, text): (Option<String>, Option<String>, String) = self.conn.query_row(
            "SELECT CAST(namespace AS TEXT), CAST(key AS TEXT), CAST(value AS BLOB) FROM store_items WHERE id = ?1",
            [row],
            |row| {
                let text = String::from_utf8_lossy(row.get_ref(2)?.as_bytes()?).into_owned();
                Ok((row.get(0).ok().flatten(), row.get(1).ok().flatten(), text))
            },
        )?;
        let namespace = format!(
            "{QUARANTINE}.{}",
            namespace.unwrap_or_else(|| "unknown".to_owned())
        );
        let key = key.unwrap_or_else(|| format!("row {row}"));
        self.conn
            .prepare_cached("DELETE FROM store_vectors WHERE item = ?1")?
            .execute([row])?;
        // A key of an item that was quarantined before is made another one; the row's number is nobody else's.
        self.conn
            .prepare_cached(
                "UPDATE store_items SET namespace = ?2, value = ?4, ttl = NULL, expires_at = NULL,
                 created_at = CAST(created_at AS INTEGER), updated_at = CAST(updated_at AS INTEGER),
                 key = CASE WHEN EXISTS (SELECT 1 FROM store_items WHERE namespace = ?2 AND key = ?3)
                       THEN ?3 || ' (' || ?1 || ')' ELSE ?3 END WHERE id = ?1",
            )?
            .execute(params![
                row,
                namespace,
                key,
                Value::Object(quarantined(&text)).to_string()
            ])?;
        Ok(())
    }

    /// Makes the index of words again. What a put said about its words is not stored, so each item is found as one whose
    /// put said nothing.
    fn cut_words(&mut self, cutting: &StoreConfig) -> Result<(), SqliteFault> {
        let emptied = self
            .conn
            .execute_batch("INSERT INTO store_words (store_words) VALUES ('delete-all')");
        if emptied.is_err() {
            self.conn.execute_batch(WORDS)?;
        }
        let mut statement = self.conn.prepare(&format!("SELECT {COLUMNS} FROM store_items"))?;
        let mut insert = self
            .conn
            .prepare("INSERT INTO store_words (rowid, words) VALUES (?1, ?2)")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let words = cutting.words_of(&Stored::read(row)?.item.value);
            if !words.is_empty() {
                insert.execute(params![row.get::<_, i64>(0)?, words.join(" ")])?;
            }
        }
        Ok(())
    }

    /// Removes what nothing refers to and writes down how often parts are referred to.
    fn count_again(&mut self) -> Result<(), SqliteFault> {
        let found = self.view().reachable()?;
        self.conn
            .execute_batch("DELETE FROM writes WHERE checkpoint NOT IN (SELECT seq FROM checkpoints)")?;
        let stray = |table: &str, known: &dyn Fn(i64) -> bool| -> Result<(), SqliteFault> {
            let mut rows: Vec<i64> = self
                .conn
                .prepare(&format!("SELECT id FROM {table}"))?
                .query_map([], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            rows.retain(|row| !known(*row));
            let mut statement = self.conn.prepare(&format!("DELETE FROM {table} WHERE id = ?1"))?;
            for row in rows {
                statement.execute([row])?;
            }
            Ok(())
        };
        stray("items", &|row| found.items.contains(&row))?;
        stray("metas", &|row| found.metas.contains(&row))?;
        stray("parts", &|row| found.parts.contains_key(&row))?;
        self.conn.execute_batch("DELETE FROM shares")?;
        let mut statement = self
            .conn
            .prepare("INSERT INTO shares (part, more) SELECT id, ?2 FROM parts WHERE id = ?1")?;
        for (part, count) in &found.parts {
            if *count > 1 {
                statement.execute([part, &(count - 1)])?;
            }
        }
        Ok(())
    }
}
