//! Ids and times as columns.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Value as Sql, ValueRef};

use crate::codec::text::{millis, uuid_bytes};

/// An id as a column: 16 bytes when it is a canonical UUID, its text otherwise.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct IdColumn(pub(super) String);

impl ToSql for IdColumn {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(id_column(&self.0))
    }
}

/// Converts an id to its column value.
pub(super) fn id_column(text: &str) -> ToSqlOutput<'_> {
    match uuid_bytes(text) {
        Some(bytes) => ToSqlOutput::Owned(Sql::Blob(bytes.to_vec())),
        None => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
    }
}

impl FromSql for IdColumn {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Blob(bytes) => uuid::Uuid::from_slice(bytes)
                .map(|id| IdColumn(id.to_string()))
                .map_err(|e| FromSqlError::Other(Box::new(e))),
            ValueRef::Text(_) => Ok(IdColumn(value.as_str()?.to_owned())),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// Converts a timestamp to a column value: milliseconds when they give the same text back.
pub(super) fn time_column(ts: &str) -> Sql {
    match millis(ts) {
        Some(ms) => Sql::Integer(ms),
        None => Sql::Text(ts.to_owned()),
    }
}

/// Returns the text of a timestamp column.
pub(super) fn time_text(column: ValueRef<'_>) -> FromSqlResult<String> {
    match column {
        ValueRef::Integer(ms) => u64::try_from(ms)
            .map(superstep::run::iso8601)
            .map_err(|_| FromSqlError::OutOfRange(ms)),
        other => Ok(other.as_str()?.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_ids_keep_their_text() {
        for ms in [0, 951_827_696_789, 1_795_224_600_123, 253_402_300_799_999] {
            assert_eq!(time_column(&superstep::run::iso8601(ms)), Sql::Integer(ms as i64));
        }
        for odd in [
            "",
            "yesterday",
            "2026-11-21T09:30:00Z",
            "2026-13-41T09:30:00.123+00:00",
        ] {
            assert_eq!(
                time_column(odd),
                Sql::Text(odd.to_owned()),
                "{odd:?} is not in the usual form"
            );
        }
        for id in [
            "0190a000-0000-7000-8000-000000000001",
            "0190A000-0000-7000-8000-000000000001",
            "cp-1",
            "",
        ] {
            let column = match id_column(id) {
                ToSqlOutput::Owned(owned) => owned,
                ToSqlOutput::Borrowed(borrowed) => borrowed.try_into().expect("text"),
                _ => panic!("an id column is a plain value"),
            };
            assert_eq!(
                IdColumn::column_result((&column).into()).expect("own column").0,
                id
            );
        }
    }
}
