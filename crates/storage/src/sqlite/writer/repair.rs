//! Puts right what a check found: what cannot be read goes, what builds on it stands alone, counts are taken again.

use superstep::Integrity;

use super::*;

impl Writer {
    pub(super) fn repair(&mut self, progress: &Progress) -> Result<Integrity, Fault> {
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
        for (thread, gone) in &findings.unreadable {
            if self.checkpoints_of(thread)? == gone.len() as u64 {
                self.delete(thread, &|_| Ok(()))?;
            } else {
                self.remove(thread, gone, &|_| Ok(()))?;
            }
        }
        // The counts may have been what was wrong, so they are not settled but taken again.
        self.forget();
        self.count_again()?;
        let mut integrity = findings.into_integrity();
        integrity.repaired = true;
        Ok(integrity)
    }

    /// Removes what nothing refers to and writes down how often parts are referred to.
    fn count_again(&mut self) -> Result<(), Fault> {
        let found = self.view().reachable()?;
        self.conn
            .execute_batch("DELETE FROM writes WHERE checkpoint NOT IN (SELECT seq FROM checkpoints)")?;
        let stray = |table: &str, known: &dyn Fn(i64) -> bool| -> Result<(), Fault> {
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
