//! Changes of the store: items with their words and vectors.

use rusqlite::{OptionalExtension, params};
use superstep::Value;
use superstep::store::{NewVectors, Prepared, Written};

use super::super::fault::SqliteFault;
use super::super::store::{PUT_INDEX, SWEPT, bytes, joined, number};
use super::{ItemChanges, Writer};

impl Writer {
    pub(super) fn items(&mut self, changes: &ItemChanges) -> Result<(), SqliteFault> {
        let ItemChanges { batch, touched } = changes;
        self.wrote = true;
        let now = number(batch.now);
        for id in touched {
            // Its time to live may have been changed since it was read.
            let sql = "UPDATE store_items SET expires_at = min(?2, 9223372036854775807 - ttl) + ttl WHERE id = ?1 AND ttl IS NOT NULL";
            self.conn.prepare_cached(sql)?.execute([*id, now])?;
        }
        let embedding = match &batch.embedding {
            Some(name) if !batch.writes.is_empty() => Some(self.embedding(name)?),
            _ => None,
        };
        batch
            .writes
            .iter()
            .try_for_each(|write| self.item(batch, write, embedding))
    }

    fn embedding(&self, name: &str) -> Result<i64, SqliteFault> {
        let known = self
            .conn
            .prepare_cached("SELECT id FROM store_embeddings WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            return Ok(id);
        }
        self.conn
            .prepare_cached("INSERT INTO store_embeddings (name) VALUES (?1)")?
            .execute([name])?;
        Ok(self.conn.last_insert_rowid())
    }

    fn item(&self, batch: &Prepared, write: &Written, embedding: Option<i64>) -> Result<(), SqliteFault> {
        let namespace = joined(&write.namespace);
        let before: Option<(i64, i64, Option<i64>)> = self
            .conn
            .prepare_cached(
                "SELECT id, created_at, expires_at FROM store_items WHERE namespace = ?1 AND key = ?2",
            )?
            .query_row([&namespace, &write.key], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        if let Some((id, ..)) = before {
            self.unfound(id)?;
        }
        let Some(value) = &write.value else {
            if let Some((id, ..)) = before {
                self.conn
                    .prepare_cached("DELETE FROM store_items WHERE id = ?1")?
                    .execute([id])?;
            }
            return Ok(());
        };
        let text = Value::Object(value.clone()).to_string();
        let (now, ttl) = (number(batch.now), write.ttl.map(number));
        let expires = batch.expires(write.ttl).map(number);
        let id = match before {
            Some((id, created, expired)) => {
                let alive = batch.sees(expired.map(|at| u64::try_from(at).unwrap_or(0)));
                let created = if alive { created } else { now };
                let sql = "UPDATE store_items SET value = ?2, created_at = ?3, updated_at = ?4, ttl = ?5, \
                           expires_at = ?6 WHERE id = ?1";
                self.conn
                    .prepare_cached(sql)?
                    .execute(params![id, text, created, now, ttl, expires])?;
                id
            }
            None => {
                let sql = "INSERT INTO store_items (namespace, key, value, created_at, updated_at, ttl, expires_at) \
                           VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6)";
                self.conn
                    .prepare_cached(sql)?
                    .execute(params![namespace, write.key, text, now, ttl, expires])?;
                self.conn.last_insert_rowid()
            }
        };
        if !write.words.is_empty() {
            self.conn
                .prepare_cached("INSERT INTO store_words (rowid, words) VALUES (?1, ?2)")?
                .execute(params![id, write.words.join(" ")])?;
        }
        if let Some(said) = &write.index_paths {
            let said = serde_json::to_vec(said).unwrap_or_default();
            self.vector(id, self.embedding(PUT_INDEX)?, &said)?;
        }
        match embedding {
            Some(embedding) => self.vectors(id, embedding, &write.vectors),
            None => Ok(()),
        }
    }

    /// Stores the vectors of an item. One without vectors gets an empty one, which nothing finds: it was embedded.
    fn vectors(&self, id: i64, embedding: i64, vectors: &[Vec<f32>]) -> Result<(), SqliteFault> {
        if vectors.is_empty() {
            return self.vector(id, embedding, &[]);
        }
        vectors
            .iter()
            .try_for_each(|vector| self.vector(id, embedding, &bytes(vector)))
    }

    fn vector(&self, id: i64, embedding: i64, data: &[u8]) -> Result<(), SqliteFault> {
        let sql = "INSERT INTO store_vectors (item, embedding, data) VALUES (?1, ?2, ?3)";
        self.conn
            .prepare_cached(sql)?
            .execute(params![id, embedding, data])?;
        Ok(())
    }

    /// Gives items new vectors in place of all that they had.
    pub(super) fn replace_vectors(
        &mut self,
        embedding: &str,
        renewed: &[NewVectors],
    ) -> Result<u64, SqliteFault> {
        let (embedding, said) = (self.embedding(embedding)?, self.embedding(PUT_INDEX)?);
        let mut count = 0;
        for one in renewed {
            let id: Option<i64> = self
                .conn
                .prepare_cached(
                    "SELECT id FROM store_items WHERE namespace = ?1 AND key = ?2 AND updated_at = ?3",
                )?
                .query_row(
                    params![joined(&one.place.0), one.place.1, number(one.updated_at)],
                    |row| row.get(0),
                )
                .optional()?;
            let Some(id) = id else { continue };
            self.conn
                .prepare_cached("DELETE FROM store_vectors WHERE item = ?1 AND embedding <> ?2")?
                .execute([id, said])?;
            self.vectors(id, embedding, &one.vectors)?;
            count += 1;
        }
        self.wrote = true;
        Ok(count)
    }

    /// Removes the words and vectors of an item, so that no query finds it any more.
    fn unfound(&self, id: i64) -> Result<(), SqliteFault> {
        self.conn
            .prepare_cached("DELETE FROM store_words WHERE rowid = ?1")?
            .execute([id])?;
        self.conn
            .prepare_cached("DELETE FROM store_vectors WHERE item = ?1")?
            .execute([id])?;
        Ok(())
    }

    /// Removes some of what has expired: commits wait for the writer, so it is never busy with all of it.
    pub(super) fn sweep(&mut self, now: u64) -> Result<u64, SqliteFault> {
        let expired: Vec<i64> = self
            .conn
            .prepare_cached("SELECT id FROM store_items WHERE expires_at <= ?1 LIMIT ?2")?
            .query_map([number(now), number(SWEPT)], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        self.wrote = true;
        for id in &expired {
            self.unfound(*id)?;
            self.conn
                .prepare_cached("DELETE FROM store_items WHERE id = ?1")?
                .execute([id])?;
        }
        Ok(expired.len() as u64)
    }
}
