//! The dictionary of channel and node names. Names are never removed, so what is known of it cannot be stale.

use std::collections::{HashMap, HashSet};

use parking_lot::RwLock;
use superstep::Name;

use super::fault::PostgresFault;
use super::server::Session;

#[derive(Debug, Default)]
pub(super) struct Names(RwLock<KnownNames>);

#[derive(Debug, Default)]
struct KnownNames {
    names: HashMap<i64, Name>,
    rows: HashMap<Name, i64>,
}

impl Names {
    /// Returns the name with this row number, if it is known here.
    pub(super) fn name(&self, row: i64) -> Option<Name> {
        let known = self.0.read();
        known.names.get(&row).cloned()
    }

    /// Returns the name with this row number, after [`Names::learn`].
    pub(super) fn expect(&self, row: i64) -> Result<Name, String> {
        self.name(row)
            .ok_or_else(|| format!("it uses name {row}, which is missing"))
    }

    /// Returns the row number of a name, after [`Names::make`].
    pub(super) fn row(&self, name: &Name) -> Option<i64> {
        let known = self.0.read();
        known.rows.get(name).copied()
    }

    fn keep(&self, row: i64, name: &Name) {
        let mut known = self.0.write();
        known.names.insert(row, name.clone());
        known.rows.insert(name.clone(), row);
    }

    /// Looks up the rows that are not known here. One that does not exist stays unknown.
    pub(super) async fn learn(
        &self,
        session: &mut Session,
        rows: impl IntoIterator<Item = i64>,
    ) -> Result<(), PostgresFault> {
        let missing: HashSet<i64> = rows.into_iter().filter(|row| self.name(*row).is_none()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let missing: Vec<i64> = missing.into_iter().collect();
        let found = session
            .query(
                "SELECT id::bigint, name FROM names WHERE id = ANY($1::bigint[])",
                &[&missing],
            )
            .await?;
        for row in found {
            self.keep(row.try_get(0)?, &plain(row.try_get(1)?));
        }
        Ok(())
    }

    /// Makes the names that are new. That is harmless by itself: nothing refers to them yet.
    pub(super) async fn make(
        &self,
        session: &mut Session,
        names: HashSet<Name>,
    ) -> Result<(), PostgresFault> {
        let missing: Vec<String> = names
            .iter()
            .filter(|name| self.row(name).is_none())
            .map(|name| escaped(name))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        session
            .execute(
                "INSERT INTO names (name) SELECT unnest($1::text[]) EXCEPT SELECT name FROM names
                 ON CONFLICT DO NOTHING",
                &[&missing],
            )
            .await?;
        let found = session
            .query(
                "SELECT id::bigint, name FROM names WHERE name = ANY($1)",
                &[&missing],
            )
            .await?;
        for row in found {
            self.keep(row.try_get(0)?, &plain(row.try_get(1)?));
        }
        Ok(())
    }
}

/// Escapes a name for PostgreSQL, whose text cannot hold U+0000: that becomes U+0001 twice, and U+0001 is followed by
/// U+0002.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '\0' => text.push_str("\u{1}\u{1}"),
            '\u{1}' => text.push_str("\u{1}\u{2}"),
            c => text.push(c),
        }
    }
    text
}

fn plain(text: &str) -> Name {
    if !text.contains('\u{1}') {
        return text.into();
    }
    let (mut name, mut chars) = (String::with_capacity(text.len()), text.chars());
    while let Some(c) = chars.next() {
        match c {
            '\u{1}' => name.push(if chars.next() == Some('\u{1}') {
                '\0'
            } else {
                '\u{1}'
            }),
            c => name.push(c),
        }
    }
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_comes_back() {
        for name in [
            "",
            "messages",
            "\0",
            "\u{1}",
            "a\0\u{1}\0b\u{2}",
            "\u{1}\u{1}\u{2}",
        ] {
            let text = escaped(name);
            assert!(!text.contains('\0'), "{text:?}");
            assert_eq!(&*plain(&text), name);
        }
    }
}
